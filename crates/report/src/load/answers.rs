//! The statuses and sizes of a load's answers, in words and as JSON.

use std::collections::BTreeMap;

use load::{Answers, Tally};
use units::{bytes, count};

use super::FinishedLoad;
use crate::document::Fact;
use crate::json::json_type;

/// What answers had which status, and how large they were.
pub(super) fn facts(total: &Tally) -> Vec<Fact> {
    let answers = &total.answers;
    let Some((smallest, largest)) = answers.extremes_bytes() else { return Vec::new() };
    let each = match answers.mean_bytes() {
        Some(mean) if bytes(smallest) != bytes(largest) => format!(
            "{} to {} each, {} on average",
            bytes(smallest),
            bytes(largest),
            bytes(mean.round() as u64)
        ),
        Some(_) if smallest < largest => format!("about {} each", bytes(smallest)),
        Some(_) | None => format!("{} each", bytes(smallest)),
    };
    let with = match total.http2 {
        None => "status line and header fields included",
        Some(_) => "as frames, header fields included",
    };
    vec![
        Fact::new("statuses", listed(answers, |_| true)),
        Fact::new("sizes", format!("{each}, {with}")),
    ]
}

/// Which statuses came instead of the expected ones: ` (200 × 404 Not Found)`.
pub(super) fn instead(run: &FinishedLoad) -> String {
    let rules: Vec<_> = run.order.asks.iter().map(|ask| ask.expect.status).collect();
    let is_wrong = |status: u16| !rules.iter().any(|rule| rule.allows(status));
    let came = listed(&run.recording.total.answers, is_wrong);
    if came.is_empty() { came } else { format!(" ({came})") }
}

fn listed(answers: &Answers, belongs: impl Fn(u16) -> bool) -> String {
    let shown = answers.statuses().iter().filter(|(status, _)| belongs(*status));
    let counted = |&(status, times): &(u16, u64)| match meaning(status) {
        "" => format!("{} × {status}", count(times)),
        name => format!("{} × {status} {name}", count(times)),
    };
    shown.map(counted).collect::<Vec<_>>().join(", ")
}

/// RFC 9110, 15: the usual name of a status; nothing for one that has none there.
fn meaning(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

// `Answers` has the octets of all of them, so that it can be added up, and zeros where there is none; a reader wants the
// mean, and null.
json_type! {
    /// The statuses and sizes of whole answers to measured requests, right ones and wrong ones.
    pub(super) struct AnswersJson as "answers" of it: Answers {
        /// how many answers had each status
        statuses: BTreeMap<String, u64> =
            it.statuses().iter().map(|(status, times)| (status.to_string(), *times)).collect(),
        /// octets of the smallest answer, its head included; null without an answer
        smallest_bytes: Option<u64> = it.extremes_bytes().map(|(smallest, _)| smallest),
        /// octets of the largest one
        largest_bytes: Option<u64> = it.extremes_bytes().map(|(_, largest)| largest),
        /// octets of an answer, on average
        mean_bytes: Option<f64> = it.mean_bytes(),
    }
}
