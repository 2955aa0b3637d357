//! RFC 9110 and what of RFC 9112 is not syntax: methods, connections, expectations, answers, conditions, limits, slow clients.

use super::Line;

pub(super) const ONLY_WARN: &[&str] = &[];

pub(super) const TABLE: &[Line] = &[];
