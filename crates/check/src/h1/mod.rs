//! The cases for HTTP/1.1: a file for each section of RFC 9112, and what RFC 9110 adds to it.

mod answers;
mod base;
mod chunked;
mod conditions;
mod connections;
mod expectations;
mod fields;
mod framing;
mod host;
mod limits;
mod methods;
mod refusal;
mod request_line;
mod robustness;
mod slow;

use crate::case::Case;

/// In the order in which they are listed.
pub(crate) const CASES: &[&[Case]] = &[
    base::CASES,
    request_line::CASES,
    host::CASES,
    fields::CASES,
    framing::CASES,
    chunked::CASES,
    robustness::CASES,
    methods::CASES,
    connections::CASES,
    expectations::CASES,
    answers::CASES,
    conditions::CASES,
    limits::CASES,
    slow::CASES,
];

/// The passive case: it sends nothing and judges every answer that was seen.
pub(crate) const PASSIVE: &str = "H1-V02";

/// Another case that sends nothing: it checks whether the server was there all the time.
pub(crate) const STAYING: &str = "H1-E06";
