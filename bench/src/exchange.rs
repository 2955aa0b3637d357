//! The canned request of the floors, and the size of its answer. No parsing beyond that.

use anyhow::{Context, Result, bail};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The target of every generator: the oracle answers it with `Hello, world!`, nginx and the canned
/// server answer any target.
pub(crate) const PATH: &str = "/hello";

/// The only request; `fresh` asks the server to close after its answer.
pub(crate) fn request(address: SocketAddr, fresh: bool) -> Vec<u8> {
    let close = if fresh { "Connection: close\r\n" } else { "" };
    format!("GET {PATH} HTTP/1.1\r\nHost: {address}\r\n{close}\r\n").into_bytes()
}

/// Sends one request and counts the bytes of the answer: every later answer has as many.
pub(crate) fn answer_size(address: SocketAddr, request: &[u8]) -> Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(request)?;
    let mut answer = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let count = stream.read(&mut bytes).context("no whole answer within 5 s")?;
        answer.extend_from_slice(&bytes[..count]);
        match whole_size(&answer) {
            Some(size) if answer.len() >= size => return Ok(size),
            Some(_) | None if count == 0 => bail!("closed before its answer was whole"),
            Some(_) | None => {}
        }
    }
}

/// The size of head and body together, once the head is complete.
fn whole_size(answer: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let head = text.find("\r\n\r\n")? + 4;
    let length = text[..head].split("content-length:").nth(1)?;
    let body: usize = length.split("\r\n").next()?.trim().parse().ok()?;
    Some(head + body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_head_and_its_body() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n";
        assert_eq!(whole_size(head), Some(head.len() + 13));
        assert_eq!(whole_size(&head[..30]), None);
    }

    #[test]
    fn only_a_fresh_request_asks_to_close() {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        let asks = |fresh| String::from_utf8_lossy(&request(address, fresh)).contains("close");
        assert_eq!((asks(true), asks(false)), (true, false));
    }
}
