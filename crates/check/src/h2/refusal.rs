//! How a server of HTTP/2 may refuse, and what many cases begin with.

use super::frame::PROTOCOL_ERROR;
use super::sign::Sign::{Class, ConnectionError, Ends, Malformed, Refused, Status};
use crate::case::{Area, Case};
use crate::script::Rule::{self, Http2, When};
use crate::seen::Seen;

/// The acts of a case.
macro_rules! acts {
    ($($act:expr),* $(,)?) => {
        &[$crate::script::Step::Http2(&[$($act),*])]
    };
}
pub(super) use acts;

/// What ends the connection all the same.
pub(super) const ENDS: &[Rule] = &[Http2(Ends)];
/// Why it only warns.
pub(super) const ENDS_DOUBT: &str = "the connection ends, as it must; but another error code than those that fit, or \
    an end without GOAWAY, does not tell the client why";

/// What refuses a request all the same.
pub(super) const REFUSED: &[Rule] = &[Http2(Refused(1))];
/// Why it only warns.
pub(super) const REFUSED_DOUBT: &str = "it is refused, but the error code is none of those that fit, or the connection ended without saying why";

/// The frame was dropped: the connection goes on, and the stream has no second answer.
pub(super) const DROPPED: Rule = When("the frame dropped", |seen: &Seen| {
    let heard = seen.heard.as_ref();
    heard.is_some_and(|heard| heard.has_answered_probe() && heard.answers(1) <= 1)
});

/// What must be taken. It earns little, since a server that takes everything does that, too.
pub(super) const TAKEN: Case =
    Case { weight: 1, twin: Some(super::PLAIN), area: Area::Http2Requests, ..Case::BLANK };

/// A connection error.
pub(super) const CONNECTION: Case = Case {
    area: Area::Http2Frames,
    twin: Some(super::PLAIN),
    pass: &[Http2(ConnectionError(&[PROTOCOL_ERROR]))],
    warn: ENDS,
    doubt: ENDS_DOUBT,
    ..Case::BLANK
};

/// A request on stream 1 that is malformed.
pub(super) const MALFORMED: Case = Case {
    area: Area::Http2Fields,
    twin: Some(super::PLAIN),
    pass: &[Http2(Malformed(1))],
    warn: &[Http2(Refused(1)), Http2(Status(1, 404)), Http2(Class(1, 5))],
    doubt: "it is refused, but 404, 5xx or another error code does not tell the client that the request is malformed",
    ..Case::BLANK
};
