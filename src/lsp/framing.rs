//! Messages on a byte stream: `Content-Length: n`, an empty line, `n` bytes of JSON.
//!
//! Header names are compared without case and other headers, a charset for one, are passed over.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A longer message, or a longer header line, is a client gone mad.
const LONGEST_MESSAGE: u64 = 1 << 30;
const LONGEST_HEADER: u64 = 1 << 16;

/// The next message's body, or `None` at the end of the stream. Lines that are no header are passed over, so that the
/// stream is found again behind garbage; a length that can't be right is an error, because nothing behind it can be.
pub(super) async fn read(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(LONGEST_HEADER).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        match (line.split_once(':'), length) {
            (Some((name, value)), _) if name.trim().eq_ignore_ascii_case("content-length") => {
                let wrong = || io::Error::new(io::ErrorKind::InvalidData, format!("`{line}` is no length"));
                let value: u64 = value.trim().parse().map_err(|_| wrong())?;
                length = Some(value).filter(|value| *value <= LONGEST_MESSAGE);
                length.ok_or_else(wrong)?;
            }
            (None, Some(length)) if line.is_empty() => return body(input, length).await,
            _ => {}
        }
    }
}

async fn body(input: &mut (impl AsyncBufRead + Unpin), length: u64) -> io::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    let read = input.take(length).read_to_end(&mut body).await?;
    Ok((read as u64 == length).then_some(body))
}

/// Writes one message and flushes.
pub(super) async fn write(output: &mut (impl AsyncWrite + Unpin), body: &[u8]) -> io::Result<()> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    output.write_all(&frame).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn bodies(mut input: &[u8]) -> Vec<String> {
        let mut bodies = Vec::new();
        while let Ok(Some(body)) = read(&mut input).await {
            bodies.push(String::from_utf8(body).unwrap());
        }
        bodies
    }

    #[tokio::test]
    async fn header_names_have_no_case_and_charsets_no_say() {
        let wire = b"content-length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=latin-9\r\n\r\n{}\
                     CONTENT-LENGTH:2\n\n[]";
        assert_eq!(bodies(wire).await, ["{}", "[]"]);
    }

    #[tokio::test]
    async fn garbage_between_messages_is_passed_over() {
        assert_eq!(
            bodies(b"Content-Length: 2\r\n\r\n{}garbage\r\n\r\nContent-Length: 2\r\n\r\n[]").await,
            ["{}", "[]"]
        );
    }

    #[tokio::test]
    async fn a_cut_message_ends_the_stream() {
        assert_eq!(bodies(b"Content-Length: 20\r\n\r\n{}").await, [""; 0]);
    }

    #[tokio::test]
    async fn a_length_that_is_none_is_an_error() {
        assert!(read(&mut &b"Content-Length: many\r\n\r\n{}"[..]).await.is_err());
        assert!(read(&mut &b"Content-Length: 99999999999999\r\n\r\n{}"[..]).await.is_err());
    }
}
