//! Applies a case's rules to what was seen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use crate::answer::ReceivedAnswer;
use crate::case::Case;
use crate::finding::CaseVerdict;
use crate::frame::may_close;
use crate::observation::{End, Observation};
use crate::script::Rule;
use crate::ws::HELLO;

/// What a case's rules say about an exchange.
pub(crate) fn judge(case: &Case, seen: &Observation) -> CaseVerdict {
    if !applies(case, seen) {
        CaseVerdict::NotApplicable
    } else if case.pass.iter().any(|rule| rule.holds(seen)) {
        CaseVerdict::Pass
    } else if case.warn.iter().any(|rule| rule.holds(seen)) {
        CaseVerdict::Warn
    } else {
        CaseVerdict::Fail
    }
}

/// Whether the server has what the case is about. Only a server that answers in good order may lack it: a server that
/// refuses everything, or answers nonsense, is not excused.
fn applies(case: &Case, seen: &Observation) -> bool {
    case.applies.is_empty() || case.applies.iter().any(|rule| rule.holds(seen)) || !is_decent(seen)
}

fn is_decent(seen: &Observation) -> bool {
    if seen.greeting.is_some() {
        return true;
    }
    if let Some(heard) = &seen.heard {
        return heard.is_decent();
    }
    let finals = &seen.reading.finals;
    let has_refused =
        |answer: &ReceivedAnswer| matches!(answer.status, 403 | 404 | 405 | 411 | 415 | 501);
    finals.iter().all(|answer| answer.is_whole && answer.flaws.is_empty())
        && finals.first().is_some_and(|answer| answer.is_success() || has_refused(answer))
}

impl Rule {
    /// Whether the rule is true of what was seen.
    pub fn holds(&self, seen: &Observation) -> bool {
        let first = seen.first();
        match self {
            Rule::Ok => first.is_some_and(ReceivedAnswer::is_success),
            Rule::Status(status) => first.is_some_and(|answer| answer.status == *status),
            Rule::Class(class) => first.is_some_and(|answer| answer.status / 100 == *class),
            Rule::Echo(content) => {
                first.is_some_and(|answer| answer.is_success() && answer.content == *content)
            }
            Rule::Silent => seen.reading.finals.is_empty() && seen.is_closed(),
            Rule::Waits => seen.is_unanswered() && seen.end == End::Open,
            Rule::Successes(count) => {
                seen.reading.finals.len() == *count
                    && seen.wholes().filter(|answer| answer.is_success()).count() == *count
            }
            Rule::Answers(count) => {
                seen.reading.finals.len() == *count && seen.wholes().count() == *count
            }
            Rule::Closes => seen.is_closed(),
            Rule::GrewLess(mib) => seen.grew.is_some_and(|grew| grew < mib << 20),
            Rule::MemoryUnknown => seen.grew.is_none(),
            Rule::ActsWithin(limit) => seen.slow.acted.is_some_and(|after| after <= *limit),
            Rule::HonestWithin(limit) => seen.slow.honest_p99().is_some_and(|time| time <= *limit),
            Rule::Opened => is_opened(seen),
            Rule::Pong(payload) => seen.has_pong(payload),
            Rule::Said(content) => seen.messages().iter().any(|message| message == content),
            Rule::Fails => fails(seen),
            Rule::FailsWith(code) => fails(seen) && seen.closes().contains(&Some(*code)),
            Rule::ClosesWith(code) => seen.closes().contains(&Some(*code)),
            Rule::SaysClose => !seen.closes().is_empty(),
            Rule::Http2(sign) => sign.holds(seen),
            Rule::All(rules) => rules.iter().all(|rule| rule.holds(seen)),
            Rule::Any(rules) => rules.iter().any(|rule| rule.holds(seen)),
            Rule::Not(rule) => !rule.holds(seen),
            Rule::When(_, question) => question(seen),
        }
    }
}

/// RFC 6455, 4.2.2: what the answer to an opening handshake must have.
fn is_opened(seen: &Observation) -> bool {
    let mut hash = Sha1::new();
    hash.update(key(&seen.sent));
    hash.update("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = STANDARD.encode(hash.finalize());
    seen.reading.finals.first().is_some_and(|answer| {
        answer.status == 101
            && answer.has_token("upgrade", "websocket")
            && answer.has_token("connection", "upgrade")
            && answer.field("sec-websocket-accept") == Some(accept.as_bytes())
    })
}

/// The key that our handshake sent.
fn key(sent: &[u8]) -> &[u8] {
    const NAME: &[u8] = b"Sec-WebSocket-Key: ";
    let mut lines = sent.split(|octet| *octet == b'\n');
    lines.find_map(|line| line.strip_prefix(NAME)).unwrap_or_default().trim_ascii()
}

/// RFC 6455, 7.1.7: a server that has served this WebSocket sends a Close that does not mean "normal", or ends the
/// connection. A Close with a code that no endpoint may send does not count.
fn fails(seen: &Observation) -> bool {
    let is_served = seen.is_switched() && seen.has_pong(HELLO);
    is_served
        && match seen.closes().first() {
            Some(Some(code)) => *code != 1000 && may_close(*code),
            Some(None) => true,
            None => seen.is_closed(),
        }
}
