//! The flags of HTTP/2: how many streams a connection carries, and how the client behaves.

use std::num::NonZeroU16;

use clap::{Args, ValueEnum};
use lab::manner::STREAMS_MAX;
use lab::{Refusal, amounts};
use load::{Load, Protocol, Spread};
use wire::Limits;
use wire::h2::{H2Order, Windows};

use crate::one_of::one_of;

/// HTTP/2, and its parameters.
#[derive(Args)]
pub(crate) struct Http2Flags {
    /// Speak HTTP/2: with https:// ALPN offers nothing else, and with http:// the server must know it beforehand
    #[arg(long, conflicts_with = "http_1_0")]
    pub(crate) http2: bool,
    /// With --http2: requests at once on each connection, if the server allows as many [1]
    #[arg(long, value_name = "N", requires = "http2", value_parser = streams)]
    streams: Option<NonZeroU16>,
    /// With --http2: how many bytes of bodies the server may send before it must wait, on a stream and on a connection
    /// [2147483647:2147483647]
    #[arg(long, value_name = "STREAM:CONNECTION", requires = "http2", value_parser = windows)]
    h2_windows: Option<Windows>,
    /// With --http2: which connection carries the next request of a schedule [even]
    #[arg(long, value_name = "HOW", requires = "http2", value_parser = one_of(Spread::ALL, Spread::name, Spread::meaning))]
    spread: Option<Spread>,
    /// With --http2: how header fields are compressed [indexed]
    #[arg(long, value_name = "HOW", requires = "http2")]
    hpack: Option<HpackHow>,
}

/// Of a command that does not speak HTTP/2: the flag is known, so that its refusal says so.
#[derive(Args)]
pub(crate) struct WithoutHttp2 {
    #[arg(long = "http2", hide = true)]
    is_asked_for: bool,
}

impl WithoutHttp2 {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        match self.is_asked_for {
            true => Err(Refusal::new("--http2: connections are held over HTTP/1.1; leave it out")),
            false => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HpackHow {
    /// A repeated field is sent as an index into the dynamic table, as browsers do
    Indexed,
    /// Only the static table is used
    Static,
}

impl Http2Flags {
    /// What is spoken, and how requests are spread.
    pub(super) fn protocol(
        &self,
        limits: Limits,
        load: &Load,
        keep_alive: bool,
    ) -> Result<(Protocol, Spread), Refusal> {
        if !self.http2 {
            return Ok((Protocol::Http1, Spread::default()));
        }
        let has_streams = self.streams.is_some_and(|streams| 1 < streams.get());
        if has_streams && !keep_alive {
            return Err(Refusal::new(
                "--no-keepalive sends one request on each connection, so it has one stream; leave --streams out",
            ));
        }
        if has_streams && matches!(load, Load::Sessions { .. }) {
            return Err(Refusal::new(
                "--sessions sends the calls of a connection one after the other, so one stream is open at a time; \
                 leave --streams out, or load with --rate",
            ));
        }
        if self.spread.is_some() && !matches!(load, Load::Open { .. }) {
            return Err(Refusal::new(
                "--spread is for the requests of a schedule; add --rate, or leave --spread out",
            ));
        }
        let order = H2Order {
            streams: self.streams.unwrap_or(NonZeroU16::MIN),
            windows: self.h2_windows.unwrap_or_default(),
            indexed: self.hpack != Some(HpackHow::Static),
            limits,
        };
        Ok((Protocol::Http2(order), self.spread.unwrap_or_default()))
    }
}

pub(super) fn streams(text: &str) -> Result<NonZeroU16, String> {
    let streams = text.parse().ok().filter(|streams: &NonZeroU16| streams.get() <= STREAMS_MAX);
    streams.ok_or_else(|| format!("write a number from 1 to {STREAMS_MAX}"))
}

fn windows(text: &str) -> Result<Windows, String> {
    let size = |text: &str| match text.parse() {
        Ok(bytes) => Some(bytes),
        Err(_) => amounts::bytes(text).ok()?.try_into().ok(),
    };
    let both = text
        .split_once(':')
        .and_then(|(stream, connection)| Windows::new(size(stream)?, size(connection)?));
    both.ok_or_else(|| {
        "write two sizes, like 64KiB:1MiB or 65535:1048576; a stream's is 1 to 2147483647 bytes, a connection's 65535 \
         to 2147483647"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_http_2_does_not_have_are_refused() {
        for text in ["0", "-1", "1000000000", "10001", "many", ""] {
            assert!(streams(text).is_err(), "{text}");
        }
        assert_eq!(streams("100").unwrap().get(), 100);
        for text in [
            "1",
            "1:1",
            "0:65535",
            "65535:65534",
            "2147483648:65535",
            "a:b",
            ":",
            "2GiB:1MiB",
            "1MiB:1kB",
        ] {
            assert!(windows(text).is_err(), "{text}");
        }
        let read = windows("1:2147483647").unwrap();
        assert_eq!((read.stream(), read.connection()), (1, 2_147_483_647));
        let read = windows("64KiB:1048576").unwrap();
        assert_eq!((read.stream(), read.connection()), (65_536, 1_048_576));
    }
}
