//! Failures with their bytes: what was sent, what was expected, what was received.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::failure::Failure;
use crate::written;

/// A failure with its bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// Its class.
    pub failure: Failure,
    /// When the failure was noticed.
    pub at: Nanos,
    pub seq: u64,
    /// What was sent, up to a limit; empty if the server failed before anything could be sent.
    #[serde(with = "written::bytes")]
    pub request: Vec<u8>,
    /// What was expected, in words and bytes.
    pub expected: String,
    /// What was received of the answer, from its beginning and up to a limit.
    #[serde(with = "written::bytes")]
    pub received: Vec<u8>,
    /// The answer came in several reads, and those before the last one were not kept: a lane keeps those of 4,096 answers
    /// at once.
    pub lacks_beginning: bool,
    /// More bytes came than were kept.
    pub is_cut: bool,
    /// The stream that carried it, if that was one of HTTP/2; then the request and the answer are shown as fields, one a
    /// line, an empty line, and the body.
    pub stream: Option<u32>,
    /// What was wrong, in words, where the class says less.
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
