//! What the command line says.

use crate::Failure;

pub const USAGE: &str = "usage: player --server URL --case CASE --objects M --events N \
                         [--page-size 500] [--resource pods|widgets]";

#[derive(Default)]
pub struct Options {
    pub server: String,
    pub case: String,
    pub resource: String,
    pub objects: usize,
    pub events: usize,
    /// Objects in a page of a LIST; 0: one body.
    pub page_size: u32,
}

impl Options {
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Options {
            resource: "pods".into(),
            page_size: 500,
            ..Options::default()
        };
        while let Some(flag) = args.next() {
            let value = args
                .next()
                .ok_or_else(|| Failure::Usage(format!("{flag} has no value")))?;
            match flag.as_str() {
                "--server" => options.server = value,
                "--case" => options.case = value,
                "--resource" => options.resource = value,
                "--objects" => options.objects = number(&flag, &value)?,
                "--events" => options.events = number(&flag, &value)?,
                "--page-size" => options.page_size = number(&flag, &value)?,
                _ => return Err(Failure::Usage(format!("no such argument: {flag}"))),
            }
        }
        if options.server.is_empty() || options.case.is_empty() {
            return Err(Failure::Usage("--server and --case are needed".into()));
        }
        Ok(options)
    }
}

fn number<N: std::str::FromStr>(flag: &str, value: &str) -> Result<N, Failure> {
    value
        .parse()
        .map_err(|_| Failure::Usage(format!("{flag} takes a number, not {value:?}")))
}
