//! Copies of the slow cases that are two hundred times as fast, against servers that treat slow clients in different
//! ways.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::case::{Area, Case};
use crate::catalogue::{case, catalogue};
use crate::exchange::Patience;
use crate::finding::{CaseVerdict, Finding};
use crate::run::{CheckPlan, Help, check};
use crate::script::{Crowd, Rule, Step, Trickle};
use crate::target::Target;

/// What a server does to slow clients. Towards all other clients it behaves correctly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It waits for as long as they take.
    Waits,
    /// It closes the connection of any client that has not sent everything at once.
    HangsUp,
    /// It answers such a client with 408, and then closes.
    Refuses,
    /// It answers before it has received everything.
    Guesses,
    /// It serves one connection at a time, until it ends.
    ServesOne,
    /// It ends every connection after the first answer.
    SaysClose,
    /// It announces for how long it keeps a connection, and closes earlier.
    Lies,
    /// It answers 500 to any request that has an Accept field.
    Errs,
    /// It keeps every request until it can send the answers.
    Hoards,
}

/// This many octets of requests on one connection are a hoard.
const HOARD: usize = 2000;

fn serve(manner: Manner, memory: &'static AtomicU64) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            match manner {
                Manner::ServesOne => converse(client, manner, memory),
                _ => _ = thread::spawn(move || converse(client, manner, memory)),
            }
        }
    });
    address
}

fn converse(mut client: TcpStream, manner: Manner, memory: &AtomicU64) {
    let (mut asked, mut buffer, mut total) = (Vec::new(), [0; 4096], 0);
    while let Some(count) = client.read(&mut buffer).ok().filter(|count| *count > 0) {
        asked.extend_from_slice(&buffer[..count]);
        total += count;
        if manner == Manner::Hoards && total > HOARD {
            memory.fetch_max(1 << 30, Ordering::SeqCst);
        }
        while let Some((head, body, len)) = request(&asked) {
            let is_last = manner == Manner::SaysClose || head.contains("Connection: close");
            let status = if manner == Manner::Errs && head.contains("Accept:") { 500 } else { 200 };
            let more = match manner {
                _ if is_last => "Connection: close\r\n",
                Manner::Lies => "Keep-Alive: max=9, timeout=100\r\n",
                _ => "",
            };
            let length = body.len();
            let text =
                format!("HTTP/1.1 {status} So\r\nContent-Length: {length}\r\n{more}\r\n{body}");
            let is_lie = manner == Manner::Lies && head.contains("Accept:");
            if client.write_all(text.as_bytes()).is_err() || is_last || is_lie {
                return;
            }
            asked.drain(..len);
        }
        if !asked.is_empty() {
            let said: &[u8] = match manner {
                Manner::HangsUp => b"",
                Manner::Refuses => b"HTTP/1.1 408 Slow\r\nContent-Length: 0\r\n\r\n",
                Manner::Guesses => b"HTTP/1.1 200 So\r\nContent-Length: 0\r\n\r\n",
                _ => continue,
            };
            let _ = client.write_all(said);
            return;
        }
    }
}

/// The first request, if it is complete: its head, its body, and its length.
fn request(asked: &[u8]) -> Option<(String, String, usize)> {
    let head_len = asked.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&asked[..head_len]).into_owned();
    let length = head.split("Content-Length: ").nth(1).and_then(|it| it.split('\r').next());
    let len = head_len + length.map_or(0, |length| length.parse().unwrap());
    let body = String::from_utf8_lossy(asked.get(head_len..len)?).into_owned();
    Some((head, body, len))
}

/// How many times faster the copies are.
const QUICKER: u32 = 200;

fn leaked<T>(of: T) -> &'static T {
    Box::leak(Box::new(of))
}

fn quick_rule(rule: &Rule) -> Rule {
    let all = |rules: &[Rule]| &**leaked(rules.iter().map(quick_rule).collect::<Vec<_>>());
    match *rule {
        Rule::ActsWithin(limit) => Rule::ActsWithin(limit / QUICKER),
        Rule::All(rules) => Rule::All(all(rules)),
        Rule::Any(rules) => Rule::Any(all(rules)),
        other => other,
    }
}

fn quick_step(step: &Step) -> Step {
    match *step {
        Step::Trickle(it) => Step::Trickle(leaked(Trickle {
            every: it.every / QUICKER,
            limit: it.limit / QUICKER,
            ..*it
        })),
        Step::Idle(limit) => Step::Idle(limit / QUICKER),
        Step::Crowd(it) => Step::Crowd(leaked(Crowd {
            size: it.size.min(8),
            times: it.times.min(100),
            every: it.every / QUICKER,
            lasting: Duration::from_millis(300),
            honest_every: it.honest_every / 2,
            honest_limit: it.honest_limit / 5,
            ..*it
        })),
        other => other,
    }
}

/// A case with less time.
fn quick(case: &Case) -> Case {
    let rules = |rules: &[Rule]| &**leaked(rules.iter().map(quick_rule).collect::<Vec<_>>());
    Case {
        steps: leaked(case.steps.iter().map(quick_step).collect::<Vec<_>>()),
        pass: rules(case.pass),
        warn: rules(case.warn),
        ..*case
    }
}

/// These servers act at once if they act at all.
const SHORT: Patience = Patience {
    connect: Duration::from_secs(2),
    answer: Duration::from_millis(500),
    settle: Duration::from_millis(60),
    announced: Duration::from_millis(500),
};

struct Watcher(Option<&'static AtomicU64>);

impl Help for Watcher {
    fn memory(&self) -> Option<u64> {
        self.0.map(|memory| memory.load(Ordering::SeqCst))
    }
}

fn asked(case: &'static Case, manner: Manner, is_watched: bool) -> Finding {
    let memory = leaked(AtomicU64::new(1 << 20));
    let mut target = Target::at(serve(manner, memory));
    target.posts.push("/user".into());
    let order =
        CheckPlan { rounds: 2, together: 2, patience: SHORT, ..CheckPlan::new(target, vec![case]) };
    let report = check(&order, &Watcher(is_watched.then_some(memory)), &mut |_| {});
    report.findings.into_iter().next().unwrap()
}

fn slow(id: &str) -> &'static Case {
    leaked(quick(case(id).unwrap()))
}

/// Why a server that does this gets this verdict.
#[track_caller]
fn expect(id: &str, manner: Manner, verdict: CaseVerdict) -> String {
    let finding = asked(slow(id), manner, true);
    assert_eq!(finding.verdict, verdict, "{id} of a server that {manner:?}: {}", finding.why);
    assert_eq!(finding.rounds.len(), 1, "slow cases are asked once");
    finding.why
}

#[test]
fn slow_heads_and_bodies() {
    for id in ["H1-SL1", "H1-SL2"] {
        let why = expect(id, Manner::HangsUp, CaseVerdict::Pass);
        assert!(why.contains("closed, after"), "{why}");
        expect(id, Manner::Refuses, CaseVerdict::Pass);
        expect(id, Manner::Waits, CaseVerdict::Warn);
        expect(id, Manner::Guesses, CaseVerdict::Fail);
    }
}

#[test]
fn honest_clients_beside_a_slow_crowd() {
    let why = expect("H1-SL3", Manner::Waits, CaseVerdict::Pass);
    assert!(why.contains("8 slow connections were open"), "{why}");
    expect("H1-SL3", Manner::ServesOne, CaseVerdict::Fail);
    let strict = Case { pass: &[Rule::HonestWithin(Duration::ZERO)], ..*slow("H1-SL3") };
    assert_eq!(asked(leaked(strict), Manner::Waits, true).verdict, CaseVerdict::Warn);
}

#[test]
fn answers_that_are_hardly_read() {
    for id in ["H1-SL4", "H1-SL5"] {
        expect(id, Manner::Waits, CaseVerdict::Pass);
        expect(id, Manner::Hoards, CaseVerdict::Fail);
        assert_eq!(asked(slow(id), Manner::Waits, false).verdict, CaseVerdict::Warn);
    }
}

#[test]
fn an_idle_connection() {
    let why = expect("H1-SL6", Manner::Waits, CaseVerdict::Pass);
    assert!(why.contains("the connection stayed open, for"), "{why}");
    expect("H1-SL6", Manner::Lies, CaseVerdict::Warn);
    expect("H1-SL6", Manner::Errs, CaseVerdict::Fail);
    expect("H1-SL6", Manner::SaysClose, CaseVerdict::NotApplicable);
}

#[test]
fn every_slow_case_is_played_here() {
    let cases = catalogue().iter().filter(|case| case.area == Area::Slow);
    let ids: Vec<&str> = cases.map(|case| case.id).collect();
    assert_eq!(ids, ["H1-SL1", "H1-SL2", "H1-SL3", "H1-SL4", "H1-SL5", "H1-SL6"]);
}

#[test]
fn a_check_that_was_halted_keeps_nothing_waiting() {
    struct Halting(AtomicU64);
    impl Help for Halting {
        /// The server ends once the slow case has begun.
        fn is_halted(&self) -> bool {
            self.0.fetch_add(1, Ordering::SeqCst) > 6
        }
    }
    let case = leaked(Case { twin: None, ..*case("H1-SL6").unwrap() });
    let target = Target::at(serve(Manner::Waits, leaked(AtomicU64::new(0))));
    let order = CheckPlan { rounds: 1, ..CheckPlan::new(target, vec![case]) };
    let report = check(&order, &Halting(AtomicU64::new(0)), &mut |_| {});
    assert_eq!(report.findings[0].verdict, CaseVerdict::NotTestable);
    assert!(!report.cut_short.is_empty());
}
