//! Requests of HTTP, without retries.

use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::time::Duration;

use futures::TryStreamExt as _;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, Response, Url};

use super::remote::{self, CONNECT_TIMEOUT, READ_TIMEOUT, runtime};

/// Longest answer that is no log.
const MAX_ANSWER: usize = 256 << 20;
/// Longest word of a server that is shown.
const MAX_WORD: usize = 160;

/// An address without what may be secret: user, password and signature.
pub(super) fn shown(address: &str) -> PathBuf {
    let address = address.split(['?', '#']).next().unwrap_or(address);
    let Some((scheme, rest)) = address.split_once("://") else { return PathBuf::from(address) };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = if scheme.starts_with("http") { host.rsplit('@').next().unwrap_or(host) } else { host };
    PathBuf::from(format!("{scheme}://{host}{path}"))
}

/// An address as it is asked.
pub(super) fn parse(address: &str) -> io::Result<Url> {
    let url = Url::parse(address).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        let reason = "credentials do not belong in an address; for a History Server, SPARKLS_HISTORY_TOKEN or \
                      SPARKLS_HISTORY_USER and SPARKLS_HISTORY_PASSWORD hold them";
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    Ok(url)
}

/// A client whose requests end in time.
pub(super) fn client() -> io::Result<Client> {
    client_that_waits(READ_TIMEOUT)
}

fn client_that_waits(read: Duration) -> io::Result<Client> {
    runtime()?;
    let builder = Client::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(read);
    let agent = concat!("sparkls/", env!("CARGO_PKG_VERSION"));
    builder.user_agent(agent).build().map_err(|error| remote::cause(&error))
}

/// Sends a request; anything but a good answer is an error with the server's own word, if it is short.
pub(super) fn send(request: RequestBuilder) -> io::Result<Response> {
    answered(request)?
}

/// As [`send`], with the two ways to fail apart: outside that no answer came, inside that the server refuses.
pub(super) fn answered(request: RequestBuilder) -> io::Result<io::Result<Response>> {
    runtime()?.block_on(async {
        let answer = request.send().await.map_err(|error| remote::cause(&error))?;
        let Some(error) = remote::status_error(answer.status().as_u16()) else { return Ok(Ok(answer)) };
        if is_page(&answer) {
            return Ok(Err(error));
        }
        let word = answer.text().await.unwrap_or_default();
        let word = word.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let is_told = word.starts_with(['{', '<']) || word.is_empty() || word.len() > MAX_WORD;
        Ok(Err(if is_told { error } else { io::Error::new(error.kind(), format!("{error}: {word}")) }))
    })
}

/// Whether the answer is a page for browsers.
pub(super) fn is_page(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/html"))
}

/// All of an answer.
pub(super) fn whole(answer: Response) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream(answer)?.take(MAX_ANSWER as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// An answer, read forward.
pub(super) fn stream(answer: Response) -> io::Result<impl Read + Send + use<>> {
    remote::ahead(answer.bytes_stream().map_err(|error| remote::cause(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_answer_is_told_once_the_time_is_over() {
        // It takes connections and says nothing.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/log", listener.local_addr().unwrap());
        let client = client_that_waits(Duration::from_millis(100)).unwrap();
        let error = send(client.get(address)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::TimedOut, "no answer in time"));
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.incoming().take_while(Result::is_ok).count(), 1, "it is asked once");
    }
}
