//! Failures with their bytes: what was sent, what was expected, what was received.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::failure::Failure;
use crate::json_form;

/// One failure with its bytes.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[schemars(rename = "evidence")]
pub struct Evidence {
    /// the class of the failure
    #[serde(rename = "class")]
    #[schemars(with = "String")]
    pub failure: Failure,
    /// when it was known, from the start of the load
    #[serde(rename = "at_s", with = "json_form::seconds")]
    #[schemars(with = "f64")]
    pub at: Nanos,
    /// which request it was
    pub seq: u64,
    /// the request, in base64, up to a limit; empty if the server failed before anything could be sent
    #[serde(with = "json_form::bytes")]
    #[schemars(with = "String")]
    pub request: Vec<u8>,
    /// what was expected, in words
    pub expected: String,
    /// the beginning of the answer, in base64: up to 4 KiB, or 2 KiB if it came in several reads
    #[serde(with = "json_form::bytes")]
    #[schemars(with = "String")]
    pub received: Vec<u8>,
    /// it came in several reads, and its beginning was not kept: each thread keeps those of 4,096 answers at once
    pub lacks_beginning: bool,
    /// more came than was kept
    pub is_cut: bool,
    /// the stream of HTTP/2; then request and answer are fields, one a line, an empty line, and the body
    pub stream: Option<u32>,
    /// what was wrong, in words, where the class says less
    pub reason: Option<String>,
}

impl Evidence {
    /// So many bytes of a request and of an answer are kept.
    pub const BYTES_MAX: usize = 4 << 10;

    /// The earlier it is, the rather it is kept. No two rank alike, so that merging has one result in every order.
    pub(crate) fn rank(&self) -> (Nanos, u64, &Evidence) {
        (self.at, self.seq, self)
    }
}

/// What an answer is that begins like this, if it is none of the protocol that was spoken, and the way out.
pub(crate) fn other_protocol(received: &[u8]) -> Option<&'static str> {
    match received {
        // RFC 8446, 5.1: an alert or a handshake message, of any version.
        [0x15 | 0x16, 3, ..] => Some("the server answers with a record of TLS; write https://"),
        [b'H', b'T', b'T', b'P', b'/', ..] => {
            Some("the server answers in HTTP/1.1, not in HTTP/2; leave out --http2")
        }
        _ => None,
    }
}

/// This many failures of a class are kept with their bytes.
pub(crate) const EVIDENCE_KEPT: usize = 3;
