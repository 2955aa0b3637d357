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
    /// What was received of the answer, up to a limit.
    #[serde(with = "written::bytes")]
    pub received: Vec<u8>,
    /// The answer came in several pieces, and those before this one were not kept.
    pub lacks_beginning: bool,
    /// More bytes came than were kept.
    pub is_cut: bool,
}

/// This many failures of a class are kept with their bytes.
pub(crate) const EVIDENCE_KEPT: usize = 3;
