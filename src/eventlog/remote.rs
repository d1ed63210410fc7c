//! What comes over the network, read forward like a file; and why it does not come, in a sentence.

use std::error::Error;
use std::io::{self, ErrorKind, Read};
use std::sync::LazyLock;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, channel};

/// Connecting takes no longer.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// No answer, and no further bytes of one, in this time.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// Blocks that come before they are asked for; each is below a MiB.
const AHEAD: usize = 16;

/// Drives all connections. TLS needs its provider chosen once, before the first connection.
static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    // The other outcome is that a provider was chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Builder::new_multi_thread().worker_threads(1).thread_name("network").enable_all().build()
});

pub(super) fn runtime() -> io::Result<&'static Runtime> {
    RUNTIME.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

/// Bytes that a task fetches ahead.
pub(super) struct Ahead<B> {
    blocks: Receiver<io::Result<B>>,
    block: Option<B>,
    at: usize,
}

/// Reads a stream forward.
pub(super) fn ahead<B, S>(stream: S) -> io::Result<Ahead<B>>
where
    B: AsRef<[u8]> + Send + 'static,
    S: Stream<Item = io::Result<B>> + Send + 'static,
{
    let (sender, blocks) = channel(AHEAD);
    runtime()?.spawn(async move {
        let mut stream = std::pin::pin!(stream);
        while let Some(block) = stream.next().await {
            let failed = block.is_err();
            // Nobody receives any more when the reader has seen enough.
            if sender.send(block).await.is_err() || failed {
                return;
            }
        }
    });
    Ok(Ahead { blocks, block: None, at: 0 })
}

impl<B: AsRef<[u8]>> Read for Ahead<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let rest = self.block.as_ref().and_then(|block| block.as_ref().get(self.at..)).unwrap_or_default();
            if !rest.is_empty() || buffer.is_empty() {
                let length = rest.len().min(buffer.len());
                buffer[..length].copy_from_slice(&rest[..length]);
                self.at += length;
                return Ok(length);
            }
            match self.blocks.blocking_recv() {
                Some(block) => (self.block, self.at) = (Some(block?), 0),
                None => return Ok(0),
            }
        }
    }
}

/// The error of a request that was answered with this status; `None` if it was answered well.
pub(super) fn status_error(status: u16) -> Option<io::Error> {
    Some(match status {
        200..300 => return None,
        401 => io::Error::new(ErrorKind::PermissionDenied, "access refused (401): it asks for credentials"),
        403 => io::Error::new(ErrorKind::PermissionDenied, "access refused (403): these credentials may not read it"),
        404 => io::Error::new(ErrorKind::NotFound, "not found (404)"),
        _ => io::Error::other(format!("the server answers with status {status}")),
    })
}

/// The one sentence in a chain of errors that says what happened.
pub(super) fn cause(error: &(dyn Error + 'static)) -> io::Error {
    let mut deepest = error;
    let mut next = Some(error);
    while let Some(error) = next {
        let of_reqwest = error.downcast_ref::<reqwest::Error>();
        if of_reqwest.is_some_and(reqwest::Error::is_timeout) {
            return io::Error::new(ErrorKind::TimedOut, "no answer in time");
        }
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(ErrorKind::ConnectionRefused) => {
                return io::Error::new(ErrorKind::ConnectionRefused, "connection refused: nothing listens there");
            }
            Some(ErrorKind::TimedOut) => return io::Error::new(ErrorKind::TimedOut, "no answer in time"),
            _ if error.to_string().starts_with("dns error") => {
                return io::Error::new(ErrorKind::NotFound, "there is no host of this name");
            }
            _ => {}
        }
        deepest = error;
        next = error.source();
    }
    let text = deepest.to_string();
    if let Some(error) = told_status(&text) {
        return error;
    }
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(200).collect();
    io::Error::other(short)
}

/// The error behind the text of a store's client: a status, and the store's own code for it if the answer has one.
fn told_status(text: &str) -> Option<io::Error> {
    let (_, rest) = text.split_once("status code: ")?;
    let error = status_error(rest.get(..3)?.parse().ok()?)?;
    let code = rest.split_once("<Code>").and_then(|(_, code)| code.split_once("</Code>")).map(|(code, _)| code);
    Some(match code {
        Some(code) if code.len() < 60 => io::Error::new(error.kind(), format!("{error}: {code}")),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_answers_is_told_in_short() {
        let told = |text: &str| told_status(text).map(|error| error.to_string());
        let body = "Server returned non-2xx status code: 404 Not Found: <Error><Code>NoSuchBucket</Code></Error>";
        assert_eq!(told(body).as_deref(), Some("not found (404): NoSuchBucket"));
        assert!(
            told("Server returned non-2xx status code: 403 Forbidden: ").unwrap().starts_with("access refused (403)")
        );
        assert_eq!(told("builder error"), None);
    }

    #[test]
    fn blocks_are_read_one_after_another_and_an_error_ends_them() {
        let blocks = [Ok(b"ab".to_vec()), Ok(Vec::new()), Ok(b"cd".to_vec()), Err(io::Error::other("gone"))];
        let mut reader = ahead(futures::stream::iter(blocks)).unwrap();
        let mut text = [0; 4];
        reader.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"abcd");
        assert_eq!(reader.read(&mut text).unwrap_err().to_string(), "gone");
    }
}
