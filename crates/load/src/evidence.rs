//! Failures with their bytes: what was sent, what was expected, what was received.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::failure::Failure;
use crate::written;

/// A failure with its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its class.
    pub failure: Failure,
    /// When the failure was noticed.
    pub at: Nanos,
    pub seq: u64,
    /// What was sent, up to a limit.
    #[serde(with = "written::bytes")]
    pub request: Vec<u8>,
    /// What was expected, in words and bytes.
    pub expected: String,
    /// What was received of the answer, from its beginning and up to a limit.
    #[serde(with = "written::bytes")]
    pub received: Vec<u8>,
    /// The answer came in several reads, and those before the last one were not kept: on a lane's first 4,096
    /// connections, only by an older dyno.
    pub lacks_beginning: bool,
    /// More bytes came than were kept.
    pub is_cut: bool,
}

impl Evidence {
    /// So many bytes of a request and of an answer are kept.
    pub const BYTES_MAX: usize = 4 << 10;
}

/// This many failures of a class are kept with their bytes.
pub(crate) const EVIDENCE_KEPT: usize = 3;
