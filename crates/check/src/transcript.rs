//! A case in words: what it does step by step, and what it accepts. For readers of the catalogue.

use std::time::Duration;

use crate::case::Case;
use crate::h2::Act;
use crate::script::joined;
use crate::script::{Crowd, Step, Then, Trickle};

impl Case {
    /// What the client does, a line for each step; bytes are written out, with their placeholders.
    #[must_use]
    pub fn script(&self) -> Vec<String> {
        let lines = |step: &Step| match step {
            Step::Http2(acts) => acts.iter().map(Act::says).collect(),
            other => vec![described(other)],
        };
        self.steps.iter().flat_map(lines).collect()
    }

    #[must_use]
    pub fn expected(&self) -> String {
        joined(self.pass, ", or ")
    }

    /// What only warns; empty if nothing does.
    #[must_use]
    pub fn tolerated(&self) -> String {
        joined(self.warn, ", or ")
    }
}

fn described(step: &Step) -> String {
    match step {
        Step::Send(bytes) | Step::Raw(bytes) => format!("send {}", shown(bytes)),
        Step::Quote(bytes) => format!("send, with what the first answer said, {}", shown(bytes)),
        Step::Drip(bytes, pause) => {
            format!("send octet by octet, {} apart, {}", time(*pause), shown(bytes))
        }
        Step::Fill(octet, count) => format!("send {count} times {}", shown(&[*octet])),
        Step::Repeat(bytes, count) => format!("send {count} times {}", shown(bytes)),
        Step::Frames(first, len, count) => {
            format!("send {count} frames of {len} octets that begin with {}", shown(&[*first]))
        }
        Step::Receive(limit) if limit.is_zero() => "wait for one more answer".into(),
        Step::Receive(limit) => format!("wait for one more answer, for {} at most", time(*limit)),
        Step::ReceiveToEnd => "read until the connection ends".into(),
        Step::ReceivePong(payload) => format!("wait for the pong {}", shown(payload)),
        Step::HalfClose => "end our half of the connection".into(),
        Step::Trickle(trickle) => trickled(trickle),
        Step::Idle(limit) => {
            format!(
                "do nothing until the server closes the connection, for {} at most",
                time(*limit)
            )
        }
        Step::Crowd(crowd) => crowded(crowd),
        Step::Tls(hello) => hello.says(),
        Step::Http2(acts) => acts.iter().map(Act::says).collect::<Vec<_>>().join("; "),
    }
}

fn trickled(trickle: &Trickle) -> String {
    format!(
        "send octet by octet, {} apart, for {} at most, {} and then {} for ever",
        time(trickle.every),
        time(trickle.limit),
        shown(trickle.head),
        shown(&[trickle.filler])
    )
}

fn crowded(crowd: &Crowd) -> String {
    let then = match crowd.then {
        Then::Nothing => "do nothing".to_string(),
        Then::Sip => format!("read an octet every {}", time(crowd.every)),
        Then::Send(octet) => format!("send {} every {}", shown(&[octet]), time(crowd.every)),
    };
    format!(
        "{} clients at once send, {} times each, {} and then {then}, for {}",
        crowd.size,
        crowd.times,
        shown(crowd.ask),
        time(crowd.lasting)
    )
}

/// Bytes written so that they cannot be mistaken for anything else, cut to a readable length.
fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 400;
    let kept = bytes[..bytes.len().min(SHOWN)].escape_ascii().to_string().replace("\\\"", "\"");
    match bytes.len() - bytes.len().min(SHOWN) {
        0 => kept.replace("\\'", "'"),
        more => format!("{}… ({more} octets more)", kept.replace("\\'", "'")),
    }
}

fn time(time: Duration) -> String {
    match time.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        _ => format!("{} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{case, catalogue};

    #[test]
    fn every_case_can_be_read() {
        for case in catalogue() {
            assert!(
                case.script().iter().all(|step| step.is_ascii() || step.contains('…')),
                "{}",
                case.id
            );
            assert_eq!(case.warn.is_empty(), case.tolerated().is_empty(), "{}", case.id);
        }
    }

    #[test]
    fn a_script_has_its_bytes_and_holes() {
        let plain = case("H1-B01").map(Case::script).unwrap_or_default();
        assert_eq!(plain, [r"send GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"]);
        assert_eq!(described(&Step::Fill(0, 9)), r"send 9 times \x00");
        assert_eq!(described(&Step::Raw(b"\x81\"'")), r#"send \x81"'"#);
    }
}
