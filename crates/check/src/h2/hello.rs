//! The first message of TLS, written by hand so that it can offer what no library offers any more; and what the server
//! answers to it, as far as that is not encrypted.

use std::time::Instant;

use rustix::event::PollFlags;

use super::talk::Stage;
use crate::case::Case;
use crate::exchange::{Line, unconnected, unix_s};
use crate::observation::{End, Observation};
use crate::target::Target;

/// What is offered: never TLS 1.3, whose answer is encrypted.
#[derive(Clone, Copy, Debug)]
pub struct Hello {
    /// The highest version: 0x0303 is TLS 1.2.
    pub(crate) version: u16,
    pub(crate) suites: &'static [u16],
    pub(crate) alpn: &'static str,
    /// Whether compression is offered, too.
    pub(crate) compression: bool,
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// The alert's number.
    pub(crate) alert: Option<u8>,
    /// The version that the server has chosen; none if it has sent no ServerHello.
    pub(crate) version: Option<u16>,
    pub(crate) suite: u16,
    pub(crate) compression: u8,
    pub(crate) alpn: Option<Vec<u8>>,
    /// Whether renegotiation is tied to the connection (RFC 5746).
    pub(crate) is_tied: bool,
}

const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;
const SNI: u16 = 0;
const GROUPS: u16 = 10;
const POINTS: u16 = 11;
const SIGNATURES: u16 = 13;
const ALPN: u16 = 16;
const RENEGOTIATION: u16 = 0xff01;

impl Hello {
    /// In words, for the catalogue.
    pub(crate) fn says(&self) -> String {
        let suites: Vec<String> = self.suites.iter().map(|suite| format!("{suite:04x}")).collect();
        let compression = if self.compression { ", with compression" } else { "" };
        format!(
            "send a ClientHello of {}, with the suites {} and ALPN `{}`{compression}",
            version_name(self.version),
            suites.join(" "),
            self.alpn
        )
    }

    fn octets(&self, host: Option<&str>) -> Vec<u8> {
        let mut extensions = Vec::new();
        let mut extension = |kind: u16, body: &[u8]| {
            extensions.extend_from_slice(&kind.to_be_bytes());
            push_long(&mut extensions, body);
        };
        if let Some(host) = host {
            let mut name = vec![0];
            push_long(&mut name, host.as_bytes());
            let mut list = Vec::new();
            push_long(&mut list, &name);
            extension(SNI, &list);
        }
        // The curves P-256 and X25519, uncompressed points, and the usual signatures.
        extension(GROUPS, &[0, 4, 0, 23, 0, 29]);
        extension(POINTS, &[1, 0]);
        extension(SIGNATURES, &[0, 12, 4, 3, 5, 3, 8, 4, 8, 5, 4, 1, 2, 1]);
        let mut names = vec![self.alpn.len() as u8];
        names.extend_from_slice(self.alpn.as_bytes());
        let mut list = Vec::new();
        push_long(&mut list, &names);
        extension(ALPN, &list);
        extension(RENEGOTIATION, &[0]);

        let mut body = self.version.to_be_bytes().to_vec();
        body.extend_from_slice(b"dyno checks what this server has");
        body.push(0);
        let suites: Vec<u8> = self.suites.iter().flat_map(|suite| suite.to_be_bytes()).collect();
        push_long(&mut body, &suites);
        body.extend_from_slice(if self.compression { &[2, 1, 0] } else { &[1, 0] });
        push_long(&mut body, &extensions);

        let mut message = vec![1, 0];
        push_long(&mut message, &body);
        let mut record = vec![HANDSHAKE, 3, 1];
        push_long(&mut record, &message);
        record
    }
}

/// Octets after their length in two octets.
fn push_long(out: &mut Vec<u8>, octets: &[u8]) {
    out.extend_from_slice(&(octets.len() as u16).to_be_bytes());
    out.extend_from_slice(octets);
}

pub(super) fn version_name(version: u16) -> String {
    match version {
        0x0301 => "TLS 1.0".into(),
        0x0302 => "TLS 1.1".into(),
        0x0303 => "TLS 1.2".into(),
        other => format!("version {other:#06x} of TLS"),
    }
}

/// Sends it, and reads until the server has chosen or refused.
pub(crate) fn greet(hello: &Hello, case: &Case, stage: &Stage<'_>) -> Observation {
    let began = Instant::now();
    let bare = Target { tls: None, ..stage.target.clone() };
    let Ok(mut line) = Line::open(&bare, case.limit, stage.patience.connect) else {
        return unconnected();
    };
    let host = stage.target.tls.as_ref().map(|client| client.order().host.as_str());
    let name = host.filter(|host| host.parse::<std::net::IpAddr>().is_err());
    line.send(&hello.octets(name));
    let until = Instant::now() + stage.patience.answer;
    while line.end == End::Open && !Greeting::read(&line.received).is_decided() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || !line.turn(left, PollFlags::empty()) {
            break;
        }
    }
    let greeting = Greeting::read(&line.received);
    Observation {
        sent: line.sent,
        sent_len: line.sent_len,
        received: line.received,
        end: line.end,
        took: began.elapsed(),
        unix_s: unix_s(),
        is_owed: line.end == End::Open && !greeting.is_decided(),
        greeting: Some(greeting),
        ..unconnected()
    }
}

impl Greeting {
    fn is_decided(&self) -> bool {
        self.alert.is_some() || self.version.is_some()
    }

    /// What the first records say.
    fn read(mut received: &[u8]) -> Greeting {
        let (mut greeting, mut messages) = (Greeting::default(), Vec::new());
        while let Some((head, rest)) = received.split_at_checked(5) {
            let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
            let Some((body, after)) = rest.split_at_checked(length) else { break };
            match (head[0], body) {
                (ALERT, [_, number]) => greeting.alert = greeting.alert.or(Some(*number)),
                (HANDSHAKE, body) => messages.extend_from_slice(body),
                _ => break,
            }
            received = after;
        }
        if greeting.take(&messages).is_none() {
            greeting.version = None;
        }
        greeting
    }

    /// A ServerHello; none if it is not whole.
    fn take(&mut self, messages: &[u8]) -> Option<()> {
        let (head, rest) = messages.split_at_checked(4)?;
        let length = usize::from(head[1]) << 16 | usize::from(head[2]) << 8 | usize::from(head[3]);
        let mut body = rest.get(..length).filter(|_| head[0] == 2)?;
        self.version = Some(number(&mut body)?);
        let _random = cut(&mut body, 32)?;
        let session = usize::from(cut(&mut body, 1)?[0]);
        let _session = cut(&mut body, session)?;
        self.suite = number(&mut body)?;
        self.compression = cut(&mut body, 1)?[0];
        if body.is_empty() {
            return Some(());
        }
        let _all = number(&mut body)?;
        while !body.is_empty() {
            let (kind, length) = (number(&mut body)?, number(&mut body)?);
            let extension = cut(&mut body, usize::from(length))?;
            match kind {
                ALPN => self.alpn = extension.get(3..).map(<[u8]>::to_vec),
                RENEGOTIATION => self.is_tied = true,
                _ => {}
            }
        }
        Some(())
    }

    /// Whether HTTP/2 was agreed on.
    pub(crate) fn is_http2(&self) -> bool {
        self.alpn.as_deref() == Some(tls::HTTP_2.as_bytes())
    }

    /// In words.
    pub(crate) fn says(&self) -> String {
        let alpn = match &self.alpn {
            Some(name) => format!("ALPN `{}`", name.escape_ascii()),
            None => "no ALPN".into(),
        };
        match (self.version, self.alert) {
            (Some(version), _) => format!(
                "ServerHello of {} with the suite {:04x}, {alpn}",
                version_name(version),
                self.suite
            ),
            (None, Some(alert)) => format!("alert {alert}"),
            (None, None) => "neither ServerHello nor an alert".into(),
        }
    }
}

fn cut<'a>(octets: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = octets.split_at_checked(count)?;
    *octets = rest;
    Some(first)
}

fn number(octets: &mut &[u8]) -> Option<u16> {
    cut(octets, 2).map(|two| u16::from_be_bytes([two[0], two[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_once_they_are_whole() {
        let mut body = vec![3, 3];
        body.extend_from_slice(&[7; 32]);
        body.extend_from_slice(&[0, 0xc0, 0x2b, 0]);
        let extensions = b"\xff\x01\0\x01\0\0\x10\0\x05\0\x03\x02h2";
        push_long(&mut body, extensions);
        let mut message = vec![2, 0];
        push_long(&mut message, &body);
        let mut record = vec![HANDSHAKE, 3, 3];
        push_long(&mut record, &message);
        for cut in 0..record.len() {
            assert!(!Greeting::read(&record[..cut]).is_decided(), "{cut}");
        }
        let greeting = Greeting::read(&record);
        assert_eq!((greeting.version, greeting.suite), (Some(0x0303), 0xc02b));
        assert!(greeting.is_http2() && greeting.is_tied && greeting.compression == 0);
        assert_eq!(Greeting::read(b"\x15\x03\x03\0\x02\x02\x78").alert, Some(120));
        assert_eq!(Greeting::read(b"HTTP/1.1 400 Bad Request\r\n"), Greeting::default());
    }
}
