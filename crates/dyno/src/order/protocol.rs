//! What is spoken with the sides of a race: the same for all of them.

use std::num::NonZeroU16;

use clap::Args;
use lab::Refusal;
use lab::manner::{Manner, Protocol, unknown_protocol};
use requests::url::Url;
use serde::{Deserialize, Serialize};
use tls::{HTTP_1_1, HTTP_2};

use super::http2::streams;

/// The protocol of all sides.
#[derive(Args, Serialize, Deserialize)]
pub(crate) struct ProtocolFlags {
    /// Speak this protocol with all servers: http/1.1, http/1.1+tls, h2c or h2 (HTTP/2 without and within TLS).
    /// Servers that dyno starts get a certificate of dyno's: {cert} and {key} in a command are its files
    /// [http/1.1; http/1.1+tls if all servers are https://]
    #[arg(long, value_name = "NAME", value_parser = protocol)]
    protocol: Option<Protocol>,
    /// Speak HTTP/2 with all servers: the same as --protocol h2 for https://, otherwise as --protocol h2c
    #[arg(long, conflicts_with = "protocol")]
    http2: bool,
    /// With HTTP/2: requests at once on each connection, if the server allows as many [1]
    #[arg(long, value_name = "N", value_parser = streams)]
    streams: Option<NonZeroU16>,
}

pub(crate) fn protocol(text: &str) -> Result<Protocol, String> {
    Protocol::named(text).ok_or_else(|| unknown_protocol(text))
}

impl ProtocolFlags {
    /// Whether they say what is spoken.
    pub(crate) fn is_given(&self) -> bool {
        self.protocol.is_some() || self.http2 || self.streams.is_some()
    }

    /// What is spoken with these servers that run already, and with those that dyno starts, if `sides` are more.
    pub(crate) fn manner(
        &self,
        urls: &[&Url],
        sides: usize,
        resumed: u8,
    ) -> Result<Manner, Refusal> {
        let secured = urls.iter().find(|url| url.is_secure);
        let plain = urls.iter().find(|url| !url.is_secure);
        let protocol = match (self.protocol, self.http2) {
            (Some(protocol), _) => protocol,
            (None, true) if secured.is_some() => Protocol::H2,
            (None, true) => Protocol::H2c,
            (None, false) if plain.is_none() && urls.len() == sides => Protocol::Http1Tls,
            (None, false) => Protocol::Http1,
        };
        let is_stated = self.protocol.is_some() || self.http2;
        match (protocol.is_secured(), secured, plain) {
            (true, _, Some(url)) => {
                let says = format!(
                    "{} requires TLS, but {} is reached without it; write https://, or race the servers over \
                     another protocol",
                    protocol.meaning(),
                    url.host_field
                );
                return Err(Refusal::new(says));
            }
            (false, Some(url), _) if is_stated => {
                let says = format!(
                    "{} is used without TLS, but {} is reached by https://; write http://, or race the servers \
                     over another protocol",
                    protocol.meaning(),
                    url.host_field
                );
                return Err(Refusal::new(says));
            }
            _ => {}
        }
        if self.streams.is_some() && !protocol.is_http2() {
            return Err(Refusal::new(
                "--streams: only HTTP/2 has streams; add --http2, or leave --streams out",
            ));
        }
        let resumed = if protocol.is_secured() { resumed } else { 0 };
        Ok(Manner {
            streams: self.streams.unwrap_or(NonZeroU16::MIN),
            resumed,
            ..Manner::of(protocol)
        })
    }
}

/// The only name that is offered by ALPN.
pub(crate) fn alpn(protocol: Protocol) -> &'static str {
    if protocol.is_http2() { HTTP_2 } else { HTTP_1_1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use requests::url;

    #[test]
    fn sides_that_are_all_reached_by_https_are_raced_over_tls_and_mixed_ones_as_their_urls_say() {
        let manner = |urls: &[&str], sides: usize| {
            let urls: Vec<Url> = urls.iter().map(|text| url::parse(text).unwrap()).collect();
            let flags = ProtocolFlags { protocol: None, http2: false, streams: None };
            let manner = flags.manner(&urls.iter().collect::<Vec<_>>(), sides, 80).unwrap();
            (manner.protocol, manner.resumed)
        };
        let (plain, secured) = ("http://h:1/", "https://h:2/");
        assert_eq!(manner(&[secured, secured], 2), (Protocol::Http1Tls, 80));
        assert_eq!(manner(&[secured, plain], 2), (Protocol::Http1, 0));
        assert_eq!(manner(&[secured, secured], 3), (Protocol::Http1, 0), "one is started here");
        assert_eq!(manner(&[plain, plain], 2), (Protocol::Http1, 0));
        assert_eq!(manner(&[], 2), (Protocol::Http1, 0));
    }
}
