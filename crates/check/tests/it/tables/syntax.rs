//! RFC 9112: request lines, Host, fields, framing, chunks, and what happens after an error.

use super::{Line, bends, breaks, keeps};
use crate::script::Act::{Answer, Hear, Last, Pause, Reset};

pub(super) const ONLY_WARN: &[&str] = &[];

pub(super) const TABLE: &[Line] = &[
    keeps(&["H1-B01"], &[Answer(200, "")]),
    keeps(&["H1-B01"], &[Pause(200), Answer(200, "")]),
    breaks(&["H1-B01"], &[Answer(404, "")]),
    breaks(&["H1-B01"], &[Hear]),
    breaks(&["H1-B01"], &[Reset]),
    keeps(&["H1-B03", "H1-B04"], &[Answer(200, "hello")]),
    breaks(&["H1-B03", "H1-B04"], &[Answer(200, "hell")]),
    bends(&["H1-B04"], &[Last(411, "")]),
];
