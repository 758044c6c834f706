//! The kube-rs player of listwatch's benchmark: it runs one case against a stage server and prints
//! one JSON line that says what the case cost.

mod cases;
mod measure;
mod options;
mod stage;

use std::fmt;
use std::process::ExitCode;

use options::Options;

/// Why there is no result.
pub enum Failure {
    /// kube-rs, or this program, has no such case.
    Unsupported(String),
    /// The command line cannot be read.
    Usage(String),
    Broken(String),
}

impl<E: fmt::Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Broken(error.to_string())
    }
}

fn main() -> ExitCode {
    // One thread: on the default runtime of many threads the same work takes more CPU.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("kube-rs player: no runtime: {error}");
            return ExitCode::FAILURE;
        }
    };
    let options = Options::from_args(std::env::args().skip(1));
    let result = options.and_then(|options| runtime.block_on(cases::run(&options)));
    match result {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(Failure::Unsupported(why)) => {
            println!("{}", serde_json::json!({ "unsupported": why }));
            ExitCode::from(3)
        }
        Err(Failure::Usage(why)) => {
            eprintln!("kube-rs player: {why}\n{}", options::USAGE);
            ExitCode::from(2)
        }
        Err(Failure::Broken(why)) => {
            eprintln!("kube-rs player: {why}");
            ExitCode::FAILURE
        }
    }
}
