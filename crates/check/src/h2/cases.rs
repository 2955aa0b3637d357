//! The cases of all areas.

use super::{
    base, compression, control, fields, flow, frames, headers, limits, requests, secured, settings,
    smuggling, streams,
};
use crate::case::Case;

/// In the order in which they are listed.
pub(crate) const CASES: &[&[Case]] = &[
    base::CASES,
    frames::CASES,
    settings::CASES,
    streams::CASES,
    flow::CASES,
    headers::CASES,
    compression::CASES,
    fields::CASES,
    requests::CASES,
    control::CASES,
    smuggling::CASES,
    limits::CASES,
    secured::CASES,
];
