//! Slow clients, and clients that do not read. These cases take minutes, so they are run only on request, and once.

use std::time::Duration;

use crate::answer::ReceivedAnswer;
use crate::case::{Area, Case, Level, Need, Scheduling, Tag, syntax};
use crate::script::Rule::{
    ActsWithin, All, Any, Class, GrewLess, HonestWithin, MemoryUnknown, Ok, Silent, Waits, When,
};
use crate::script::Step::{Idle, Receive, Send};
use crate::script::{Crowd, Step, Then, Trickle};
use crate::seen::Seen;

const BLANK: Case = Case {
    area: Area::Slow,
    clause: syntax("9.5"),
    level: Level::Ought,
    tags: &[Tag::Slow],
    twin: Some("H1-B01"),
    scheduling: Scheduling::Slow,
    ..Case::BLANK
};

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-SL1",
        title: "a head at an octet a second",
        limit: seconds(310),
        steps: &[Step::Trickle(&Trickle {
            head: b"GET {get} HTTP/1.1\r\nHost: {H}\r\nX-Slow: ",
            filler: b'a',
            every: seconds(1),
            limit: seconds(300),
        })],
        pass: &[All(&[Any(&[Silent, Class(4)]), ActsWithin(seconds(120))])],
        warn: &[Silent, Class(4), Class(5), Waits],
        demand: "a client that takes minutes for a head is cut off, with 408 or without an answer",
        doubt: "no sentence says how long a server may wait",
        ..BLANK
    },
    Case {
        id: "H1-SL2",
        title: "a body at an octet a second",
        needs: Need::Echo,
        twin: Some("H1-B03"),
        limit: seconds(610),
        steps: &[
            Send(b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 4000\r\n\r\n"),
            Step::Trickle(&Trickle {
                head: b"",
                filler: b'a',
                every: seconds(1),
                limit: seconds(600),
            }),
        ],
        pass: &[All(&[Any(&[Silent, Class(4)]), ActsWithin(seconds(300))])],
        warn: &[Silent, Class(4), Class(5), Waits],
        demand: "a client that takes many minutes for a body is cut off, with 408 or without an answer",
        doubt: "no sentence says how long a server may wait, and a body may be slow for good reasons",
        ..BLANK
    },
    Case {
        id: "H1-SL3",
        title: "512 half-asked connections, and an honest client",
        limit: seconds(60),
        steps: &[Step::Crowd(&Crowd {
            size: 512,
            ask: b"GET {get} HTTP/1.1\r\nHost: {H}\r\nX-Slow: ",
            times: 1,
            then: Then::Send(b'a'),
            every: seconds(1),
            lasting: seconds(20),
            honest_every: Duration::from_millis(100),
            honest_limit: seconds(5),
        })],
        answers: 0,
        pass: &[HonestWithin(seconds(1))],
        warn: &[HonestWithin(seconds(5))],
        demand: "slow clients do not keep the others from being answered",
        doubt: "late answers are answers",
        ..BLANK
    },
    Case {
        id: "H1-SL4",
        title: "answers read at an octet a second",
        tags: &[Tag::Slow, Tag::Size],
        limit: seconds(60),
        steps: &[Step::Crowd(&Crowd {
            size: 32,
            ask: b"GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n",
            times: 2000,
            then: Then::Sip,
            every: seconds(1),
            lasting: seconds(10),
            honest_every: Duration::ZERO,
            honest_limit: Duration::ZERO,
        })],
        answers: 0,
        // 32 connections of 1 MiB, and as much for a heap that is swept late.
        pass: &[GrewLess(64)],
        warn: &[MemoryUnknown],
        demand: "a server does not prepare answers for a client that does not read them: at most 1 MiB a connection",
        doubt: "of a server that others have started the memory is not known",
        ..BLANK
    },
    Case {
        id: "H1-SL5",
        title: "5,000 pipelined requests, and nothing read",
        clause: syntax("9.3.2"),
        tags: &[Tag::Slow, Tag::Size],
        limit: seconds(60),
        steps: &[Step::Crowd(&Crowd {
            size: 1,
            ask: b"GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n",
            times: 5000,
            then: Then::Nothing,
            every: Duration::from_millis(50),
            lasting: seconds(5),
            honest_every: Duration::ZERO,
            honest_limit: Duration::ZERO,
        })],
        answers: 0,
        pass: &[GrewLess(64)],
        warn: &[MemoryUnknown],
        demand: "a server does not take requests faster than it can send the answers: 64 MiB",
        doubt: "of a server that others have started the memory is not known",
        ..BLANK
    },
    Case {
        id: "H1-SL6",
        title: "an idle connection",
        weight: 1,
        limit: seconds(140),
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n"),
            Receive(Duration::ZERO),
            Idle(seconds(130)),
        ],
        applies: &[When("a connection that is kept", |seen| {
            seen.first().is_some_and(|answer| answer.is_success() && !answer.says_close())
        })],
        pass: &[All(&[Ok, When("open for as long as Keep-Alive says", is_truthful)])],
        warn: &[Ok],
        demand: "an idle connection is kept for as long as the server has said",
        doubt: "any side may end a connection at any time",
        ..BLANK
    },
];

/// Whether the connection lasted about as long as Keep-Alive announced; a server that announces nothing is not checked.
fn is_truthful(seen: &Seen) -> bool {
    let Some(said) = seen.first().and_then(timeout_s) else { return true };
    let latest = Duration::from_secs(said.saturating_mul(2).saturating_add(5));
    match seen.slow.acted {
        Some(after) => (Duration::from_secs(said.saturating_sub(1))..=latest).contains(&after),
        None => seen.slow.waited < latest,
    }
}

/// `Keep-Alive: timeout=5, max=100`
fn timeout_s(answer: &ReceivedAnswer) -> Option<u64> {
    let text = std::str::from_utf8(answer.field("keep-alive")?).ok()?.to_ascii_lowercase();
    let stated = text.split(',').find_map(|part| part.trim().strip_prefix("timeout="));
    stated?.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests;
