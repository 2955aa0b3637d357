//! What a load speaks on its connections, and what it offers with TLS, as facts by their flags: those of a file and
//! those of a kept load are made here alike, and two loads are compared in them.

use lab::record::{Fact, HTTP_1, PROTOCOL, STREAMS};
use load::{Order, Protocol};
use tls::Version;

use crate::http2::Http2OrderJson;
use crate::security::TlsOrderJson;

/// Whether there is TLS, and in which version.
pub(crate) const TLS: &str = "TLS (--tls)";
/// The load has none.
pub(crate) const NO_TLS: &str = "none";
const CERTIFICATES: &str = "certificates";
const UNVERIFIED: &str = "not verified (-k)";
const WINDOWS: &str = "windows (--h2-windows)";
const SPREAD: &str = "spread of requests (--spread)";
const HPACK: &str = "compression of fields (--hpack)";
const SUITES: &str = "TLS suites (--ciphers)";
const GROUPS: &str = "TLS groups (--groups)";
const RESUMED: &str = "TLS sessions to be resumed (--tls-resume)";
const ALL: [&str; 10] =
    [PROTOCOL, STREAMS, WINDOWS, SPREAD, HPACK, TLS, SUITES, GROUPS, RESUMED, CERTIFICATES];

/// The terms of a load that is to be kept.
#[must_use]
pub fn of(order: &Order) -> Vec<Fact> {
    let streams = match &order.protocol {
        Protocol::Http1 => None,
        Protocol::Http2(order) => Some(Http2OrderJson::from(order)),
    };
    let offered = order.tls.as_ref().map(|client| TlsOrderJson::from(client.order()));
    facts(streams.as_ref(), order.spread.name(), offered.as_ref())
}

/// The facts by which a reader may tell two loads apart; what only one of them could have is in no list of the other.
pub(crate) fn facts(
    streams: Option<&Http2OrderJson>,
    spread: &str,
    offered: Option<&TlsOrderJson>,
) -> Vec<Fact> {
    let protocol = if streams.is_some() { "HTTP/2" } else { HTTP_1 };
    let mut all = vec![(PROTOCOL, protocol.to_string())];
    if let Some(Http2OrderJson { streams, window_stream, window_connection, hpack }) = streams {
        let [stream, connection] =
            [*window_stream, *window_connection].map(|octets| units::count(octets.into()));
        all.extend([
            (STREAMS, streams.to_string()),
            (WINDOWS, format!("{stream} octets a stream, {connection} a connection")),
            (SPREAD, spread.into()),
            (HPACK, hpack.clone()),
        ]);
    }
    match offered {
        None => all.push((TLS, NO_TLS.into())),
        Some(TlsOrderJson { verified, offer, .. }) => {
            let list = |names: &[String]| match names {
                [] => "all".to_string(),
                names => names.join(", "),
            };
            all.extend([
                (TLS, offer.version.map_or("1.2 or 1.3", Version::name).into()),
                (SUITES, list(&offer.suites)),
                (GROUPS, list(&offer.groups)),
                (RESUMED, format!("{} %", offer.resume.percent())),
                (CERTIFICATES, if *verified { "verified" } else { UNVERIFIED }.into()),
            ]);
        }
    }
    all.into_iter().map(|(name, value)| Fact { name: name.into(), value }).collect()
}

/// Whether a fact with this name is one of these.
pub(crate) fn is_one(name: &str) -> bool {
    ALL.contains(&name)
}

/// Whether a load with these facts took certificates without verifying them.
pub(crate) fn is_unverified(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| (&fact.name[..], &fact.value[..]) == (CERTIFICATES, UNVERIFIED))
}
