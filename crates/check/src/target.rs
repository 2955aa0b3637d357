//! The server to check, and the paths of what it offers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tls::{Client, Stream};

/// A server, and the paths of what it offers.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// The value of the Host field: `localhost:8080`.
    pub authority: String,
    /// A page that answers GET with success.
    pub get: String,
    /// Pages that may take a POST and send its body back; the first that does so is used.
    pub posts: Vec<String>,
    /// A WebSocket, ideally one that sends messages back.
    pub socket: Option<String>,
    /// How connections are secured; none: not at all.
    pub tls: Option<Client>,
    /// Whether HTTP/2 is spoken, and not HTTP/1.1 and WebSocket.
    pub is_http2: bool,
}

impl Target {
    /// A server with a page at `/` and nothing else that is known.
    #[must_use]
    pub fn at(address: SocketAddr) -> Target {
        Target {
            address,
            authority: address.to_string(),
            get: "/".into(),
            posts: Vec::new(),
            socket: None,
            tls: None,
            is_http2: false,
        }
    }

    /// A connection over which data may flow: with TLS, its handshake is done within the same time.
    pub fn connect(&self, limit: Duration) -> io::Result<Stream> {
        self.secure(TcpStream::connect_timeout(&self.address, limit)?, limit)
    }

    /// TLS on a socket that is connected, if the target has it.
    pub(crate) fn secure(&self, socket: TcpStream, limit: Duration) -> io::Result<Stream> {
        match &self.tls {
            None => Ok(Stream::Plain(socket)),
            Some(client) => client.stream(socket, limit),
        }
    }

    /// What a server without TLS speaks, if its answer to a plain request is not HTTP/1.1. Nothing is known of one that
    /// says nothing for a second.
    #[must_use]
    pub fn other_protocol(&self) -> Option<&'static str> {
        const SOON: Duration = Duration::from_secs(1);
        if self.tls.is_some() {
            return None;
        }
        let request = b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: close\r\n\r\n";
        let mut stream = self.connect(SOON).ok()?;
        stream.socket().set_read_timeout(Some(SOON)).ok()?;
        stream.write_all(&self.fill(request, "")).ok()?;
        let mut first = [0; 9];
        stream.read_exact(&mut first[..2]).ok()?;
        // RFC 8446, 5.1: an alert or a handshake message, of any version.
        if let [0x15 | 0x16, 3, ..] = first {
            return Some("the server answers with a record of TLS; write https:// or wss://");
        }
        stream.read_exact(&mut first[2..]).ok()?;
        // RFC 9113, 4.1: SETTINGS or GOAWAY, on stream 0.
        let is_http2 = matches!(first, [0, _, _, 4 | 7, _, 0, 0, 0, 0]);
        (is_http2 && !self.is_http2)
            .then_some("the server answers in HTTP/2; add --http2 to check that")
    }

    /// Bytes with their placeholders filled.
    #[must_use]
    pub fn fill(&self, template: &[u8], post: &str) -> Vec<u8> {
        let joined = format!("{}{}", self.get, if self.get.contains('?') { '&' } else { '?' });
        let socket = self.socket.as_deref().unwrap_or("/");
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let placeholders: [(&str, &str); 6] = [
            ("{H}", &self.authority),
            ("{get}", &self.get),
            ("{get?}", &joined),
            ("{post}", post),
            ("{ws}", socket),
            ("{scheme}", scheme),
        ];
        filled(template, &placeholders.map(|(name, text)| (name, Some(text.as_bytes()))))
            .expect("each of these has a value")
    }
}

/// A template whose placeholders are filled; none if one of those in it has no value.
pub(crate) fn filled(template: &[u8], values: &[(&str, Option<&[u8]>)]) -> Option<Vec<u8>> {
    let (mut filled, mut rest) = (Vec::with_capacity(template.len() + 64), template);
    while let Some((first, after)) = rest.split_first() {
        match values.iter().find(|(placeholder, _)| rest.starts_with(placeholder.as_bytes())) {
            Some((placeholder, value)) => {
                filled.extend_from_slice((*value)?);
                rest = &rest[placeholder.len()..];
            }
            None => {
                filled.push(*first);
                rest = after;
            }
        }
    }
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(get: &str, template: &str) -> String {
        let mut target = Target::at(([127, 0, 0, 1], 80).into());
        target.get = get.into();
        String::from_utf8(target.fill(template.as_bytes(), "/user")).unwrap()
    }

    #[test]
    fn placeholders_are_filled_and_other_braces_are_left() {
        assert_eq!(filled("/", "GET {get?}q=1 {H}{n}{"), "GET /?q=1 127.0.0.1:80{n}{");
        assert_eq!(filled("/?a=b", "{get?}q=1 {post}"), "/?a=b&q=1 /user");
    }
}
