//! The server that the cases run against, and kube-rs's client for it.

use std::pin::pin;
use std::time::Duration;

use futures::future::{self, Either};
use futures::{Stream, StreamExt};
use kube::{Client, Config};

use crate::Failure;
use crate::options::Options;

/// The time in which a stream that has listed opens its watch.
const SETTLING: Duration = Duration::from_millis(300);

#[derive(Clone)]
pub struct Stage {
    pub client: Client,
}

impl Stage {
    pub fn connect(options: &Options) -> Result<Self, Failure> {
        let mut config = Config::new(options.server.parse::<http::Uri>()?);
        // The stage's certificate is its own; checking it would cost one handshake, not an event.
        config.accept_invalid_certs = true;
        let client = Client::try_from(config)?;
        Ok(Stage { client })
    }

    /// Has the stage send its events, once a watch is open: it waits for that itself. The request
    /// runs beside the caller, who must go on polling its stream, and would wait for ever if this
    /// failed quietly.
    pub fn start(&self) {
        let client = self.client.clone();
        tokio::spawn(async move {
            let request = http::Request::post("/bench/start").body(Vec::new());
            let request = request.expect("a path is all that it takes");
            if let Err(error) = client.request_text(request).await {
                eprintln!("kube-rs player: POST /bench/start: {error}");
                std::process::exit(1);
            }
        });
    }
}

/// Polls a stream until it has surely opened its watch, which has nothing to say yet.
pub async fn settle<S: Stream + Unpin>(stream: &mut S) -> Result<(), Failure> {
    let pause = pin!(tokio::time::sleep(SETTLING));
    match future::select(pause, stream.next()).await {
        Either::Left(_) => Ok(()),
        Either::Right(_) => Err(Failure::Broken("an event came before the start".into())),
    }
}
