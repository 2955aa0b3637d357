//! The catalogue against known servers: the oracle keeps every clause, scripted servers keep or break one, and servers
//! that do the same whatever is requested get next to nothing.
// A failed set-up should fail the test; what a control scored is worth printing.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod controls;
#[path = "../../../oracle/src/date.rs"]
mod date;
mod http2;
mod http2_fair;
mod life;
mod script;
mod scripted;
mod sockets;
mod tables;
#[path = "../../../units/tests/fixture/websocket.rs"]
mod websocket;

use std::net::SocketAddr;
use std::time::Duration;

use check::{
    Case, CaseVerdict, CheckPlan, Finding, Help, Patience, Report, Scheduling, Target,
    VerdictCounts, case, catalogue, check,
};
use oracle::{Config, Listen, Oracle};

/// No help: the server's memory is unknown, and it is not started again.
struct NoHelp;
impl Help for NoHelp {}

/// Starts a server again by doing this.
struct Revives<F>(F);
impl<F: Fn() + Sync> Help for Revives<F> {
    fn revive(&self) -> bool {
        (self.0)();
        true
    }
}

/// Scripted servers are fast; what they do not do at once they never do.
const SHORT: Patience = Patience {
    connect: Duration::from_secs(2),
    answer: Duration::from_secs(1),
    settle: Duration::from_millis(120),
    announced: Duration::from_secs(1),
};

/// All cases of HTTP/1.1 and WebSocket but the slow ones, whose shortened copies are tested where they are defined.
fn quick() -> impl Iterator<Item = &'static Case> {
    let cases = catalogue().iter().filter(|case| !case.protocol().is_http2());
    cases.filter(|case| case.scheduling != Scheduling::Slow)
}

fn oracle() -> (Oracle, SocketAddr) {
    let oracle = Oracle::start(Config::default()).unwrap();
    let Listen::Tcp(address) = *oracle.address() else { panic!("not TCP") };
    (oracle, address)
}

/// Cases for a server that is fast, so many times, within a time that is enough even on a busy machine.
fn plan(target: Target, cases: Vec<&'static Case>, rounds: usize) -> CheckPlan {
    let limit = Duration::from_secs(300);
    CheckPlan { rounds, limit, patience: SHORT, ..CheckPlan::new(target, cases) }
}

fn run(plan: &CheckPlan) -> Report {
    check(plan, &NoHelp, &mut |_| {})
}

fn some(ids: &[&str]) -> Vec<&'static Case> {
    ids.iter().map(|id| case(id).unwrap()).collect()
}

fn verdicts(report: &Report) -> Vec<CaseVerdict> {
    report.findings.iter().map(|finding| finding.verdict).collect()
}

fn points(report: &Report) -> f64 {
    let tally = VerdictCounts::of(&report.findings);
    println!("{tally}: {:.1} in {} ms {}", tally.points(), report.took_ms, report.cut_short);
    tally.points()
}

#[test]
fn the_oracle_keeps_every_clause() {
    let (_oracle, address) = oracle();
    let plan = CheckPlan::new(scripted::target(address), quick().collect());
    let report = run(&plan);
    // What it does not have at all, like ranges, it need not do correctly.
    let lacks = |finding: &Finding| {
        let can_lack = case(&finding.id).is_some_and(|case| !case.applies.is_empty());
        can_lack && finding.verdict == CaseVerdict::NotApplicable
    };
    let bad = report.findings.iter().filter(|it| it.verdict != CaseVerdict::Pass && !lacks(it));
    let bad: Vec<String> =
        bad.map(|it| format!("{} {}: {}", it.id, it.verdict.name(), it.why)).collect();
    let lacking = report.findings.iter().filter(|it| lacks(it)).count();
    println!(
        "{} cases, of which {lacking} do not apply, in {} ms",
        report.findings.len(),
        report.took_ms
    );
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert_eq!(report.rounds, 3);
}
