//! What is asked of WebSocket: a file for each part of RFC 6455.

mod handshake;

use crate::case::Case;

/// In the order in which they are told.
pub(crate) const CASES: &[&[Case]] = &[handshake::CASES];
