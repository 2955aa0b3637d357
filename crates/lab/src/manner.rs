//! How requests travel: the protocol, how many requests share a connection, and how often a TLS session is resumed. A
//! workload that is requested in one manner is a task: tables and charts compare servers within a task, never across.

use std::fmt;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use tls::{HTTP_1_1, HTTP_2, Offer, Resume, TlsOrder, Trust, Version};
use units::{named, nearest};
use wire::h2::Scheme;

/// More streams than this on one connection no server allows.
pub const STREAMS_MAX: u16 = 10_000;

named! {
    /// What is spoken on a connection.
    #[derive(Default, Serialize, Deserialize)]
    pub enum Protocol {
        #[default]
        #[serde(rename = "http/1.1")]
        Http1 = "http/1.1" => "HTTP/1.1",
        #[serde(rename = "http/1.1+tls")]
        Http1Tls = "http/1.1+tls" => "HTTP/1.1 over TLS",
        /// Begun with the preface at once (RFC 9113, 3.3).
        #[serde(rename = "h2c")]
        H2c = "h2c" => "HTTP/2 in cleartext",
        /// Chosen by ALPN.
        #[serde(rename = "h2")]
        H2 = "h2" => "HTTP/2 over TLS",
    }
}

impl Protocol {
    #[must_use]
    pub fn is_secured(self) -> bool {
        matches!(self, Protocol::Http1Tls | Protocol::H2)
    }

    #[must_use]
    pub fn is_http2(self) -> bool {
        matches!(self, Protocol::H2c | Protocol::H2)
    }

    /// What requests say of themselves over HTTP/2; none over HTTP/1.1.
    #[must_use]
    pub fn http2_scheme(self) -> Option<Scheme> {
        match self {
            Protocol::Http1 | Protocol::Http1Tls => None,
            Protocol::H2c => Some(Scheme::Http),
            Protocol::H2 => Some(Scheme::Https),
        }
    }
}

/// What is wrong with a name that is no protocol's, and which names there are.
#[must_use]
pub fn unknown_protocol(name: &str) -> String {
    let all = Protocol::ALL.map(Protocol::name);
    let near = nearest(name, all.into_iter()).map(|near| format!("; did you mean `{near}`?"));
    let shown = name.escape_debug();
    format!("`{shown}` is not a protocol; there are {}{}", all.join(", "), near.unwrap_or_default())
}

/// How the requests of a trial travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Manner {
    pub protocol: Protocol,
    /// Requests at once on each connection, if the server allows as many; 1 over HTTP/1.1.
    pub streams: NonZeroU16,
    /// Of a hundred connections, those that are to resume a TLS session.
    pub resumed: u8,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { protocol: Protocol::Http1, streams: NonZeroU16::MIN, resumed: 0 }
    }
}

impl Manner {
    #[must_use]
    pub fn of(protocol: Protocol) -> Manner {
        Manner { protocol, ..Manner::default() }
    }

    /// The TLS of its connections to a server that dyno starts: the same version, suite and group for all servers, and
    /// the certificate of this run alone.
    #[must_use]
    pub fn tls(self, host: &str, authority: &str) -> Option<TlsOrder> {
        self.protocol.is_secured().then(|| TlsOrder {
            host: host.into(),
            trust: Trust::Given(authority.into()),
            offer: Offer {
                version: Some(Version::V1_3),
                suites: vec![SUITE.into()],
                groups: vec![GROUP.into()],
                resume: Resume::of(self.resumed).unwrap_or(Resume::NEVER),
                alpn: if self.protocol.is_http2() { HTTP_2 } else { HTTP_1_1 }.into(),
            },
        })
    }
}

/// The only suite that the lab offers. Every server with TLS 1.3 has it (RFC 8446, 9.1).
pub const SUITE: &str = "TLS_AES_128_GCM_SHA256";
/// The only group that the lab offers for the key exchange.
pub const GROUP: &str = "x25519";

/// `over h2, 10 streams`.
impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "over {}", self.protocol)?;
        match self.streams.get() {
            1 if self.protocol.is_http2() => f.write_str(", 1 stream")?,
            1 => {}
            streams => write!(f, ", {streams} streams")?,
        }
        match self.resumed {
            0 => Ok(()),
            percent => write!(f, ", {percent} % resumed"),
        }
    }
}

/// A workload, requested in one manner: what a table is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    pub workload: String,
    pub manner: Manner,
}

impl Task {
    /// The task with this name. A name without a manner is of HTTP/1.1 in cleartext.
    #[must_use]
    pub fn named(name: &str) -> Task {
        let plain = || Task { workload: name.into(), manner: Manner::default() };
        let Some((workload, rest)) = name.split_once(" over ") else { return plain() };
        let mut parts = rest.split(", ");
        let Some(protocol) = parts.next().and_then(Protocol::named) else { return plain() };
        let mut manner = Manner::of(protocol);
        for part in parts {
            let streams = part.strip_suffix(" streams").or(part.strip_suffix(" stream"));
            let resumed = part.strip_suffix(" % resumed");
            match (streams.map(str::parse), resumed.map(str::parse)) {
                (Some(Ok(streams)), None) => manner.streams = streams,
                (None, Some(Ok(percent))) => manner.resumed = percent,
                _ => return plain(),
            }
        }
        Task { workload: workload.into(), manner }
    }
}

/// Its name, under which its trials are kept: `hello`, or `hello over h2, 10 streams`.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.workload)?;
        if self.manner == Manner::default() { Ok(()) } else { write!(f, " {}", self.manner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_known_by_its_name() {
        let streams = |count: u16| NonZeroU16::new(count).unwrap();
        for protocol in Protocol::ALL {
            assert_eq!(Protocol::named(protocol.name()), Some(protocol));
            for (count, resumed) in [(1, 0), (1, 100), (10, 0), (100, 80)] {
                let manner = Manner { protocol, streams: streams(count), resumed };
                let task = Task { workload: "echo-xml".into(), manner };
                assert_eq!(Task::named(&task.to_string()), task, "{task}");
            }
        }
        let name = |manner| Task { workload: "hello".into(), manner }.to_string();
        assert_eq!(name(Manner::default()), "hello");
        assert_eq!(name(Manner::of(Protocol::Http1Tls)), "hello over http/1.1+tls");
        assert_eq!(name(Manner::of(Protocol::H2c)), "hello over h2c, 1 stream");
        let ten = Manner { streams: streams(10), resumed: 100, ..Manner::of(Protocol::H2) };
        assert_eq!(name(ten), "hello over h2, 10 streams, 100 % resumed");
    }

    #[test]
    fn a_name_that_is_no_manner_is_a_workload() {
        for name in [
            "hello over",
            "hello over ftp",
            "hello over h2, many streams",
            "hello over h2, 0 streams",
            "a over h2, x",
            "hello over h2, 900 % resumed",
        ] {
            let task = Task::named(name);
            assert_eq!((task.workload.as_str(), task.manner), (name, Manner::default()));
        }
    }

    #[test]
    fn what_is_offered_is_the_same_to_all_servers() {
        assert_eq!(Manner::of(Protocol::H2c).tls("localhost", "x"), None);
        let order = Manner::of(Protocol::H2).tls("localhost", "x").unwrap();
        assert_eq!((order.offer.alpn.as_str(), order.offer.version), ("h2", Some(Version::V1_3)));
        assert_eq!(order.offer.suites, [tls::suite(SUITE).unwrap()]);
        assert_eq!(order.offer.groups, [tls::group(GROUP).unwrap()]);
        let resumed = Manner { resumed: 80, ..Manner::of(Protocol::Http1Tls) };
        let order = resumed.tls("localhost", "x").unwrap();
        assert_eq!((order.offer.alpn.as_str(), order.offer.resume.percent()), ("http/1.1", 80));
    }
}
