//! What a connection and its server agreed on.

use rustls::pki_types::CertificateDer;
use rustls::{CommonState, HandshakeKind, ProtocolVersion};

use crate::choice::{group_name, suite_name};
use crate::key::key_name;

/// What was agreed on, as far as it shapes what the connection costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// `1.3`.
    pub version: &'static str,
    /// By its IANA name.
    pub suite: &'static str,
    /// The group of the key exchange; none where there was none.
    pub group: Option<&'static str>,
    pub kind: Kind,
    /// The ALPN name that the server chose; none if it did not answer.
    pub alpn: Option<Vec<u8>>,
}

/// How the handshake went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// With the server's certificate.
    Full,
    /// With the server's certificate, after the server had asked for another group (RFC 8446, 4.1.4): a round trip
    /// more.
    Retried,
    /// A session was resumed: no certificate, no signature.
    Resumed,
}

impl Terms {
    /// The terms of a connection whose handshake is done.
    #[must_use]
    pub fn of(state: &CommonState) -> Terms {
        Terms {
            version: match state.protocol_version() {
                Some(ProtocolVersion::TLSv1_3) => "1.3",
                Some(ProtocolVersion::TLSv1_2) => "1.2",
                Some(_) | None => "another version",
            },
            suite: state.negotiated_cipher_suite().map_or("another suite", suite_name),
            group: state.negotiated_key_exchange_group().map(|group| group_name(group.name())),
            kind: match state.handshake_kind() {
                Some(HandshakeKind::Resumed) => Kind::Resumed,
                Some(HandshakeKind::FullWithHelloRetryRequest) => Kind::Retried,
                Some(HandshakeKind::Full) | None => Kind::Full,
            },
            alpn: state.alpn_protocol().map(<[u8]>::to_vec),
        }
    }

    /// The kind of key in the server's certificate.
    #[must_use]
    pub fn key(certificate: &CertificateDer<'_>) -> String {
        key_name(certificate)
    }
}
