//! The cases of HTTP/2 against known servers: the oracle keeps every clause, and servers that do the same whatever is
//! requested get next to nothing.

use std::net::SocketAddr;

use check::{
    Case, CaseVerdict, CheckPlan, Help, Report, Scheduling, Target, VerdictCounts, catalogue, check,
};

use crate::oracle;

/// The memory of a server within the test's own process is not known; floods are judged by what it answers.
struct Steady;

impl Help for Steady {
    fn memory(&self) -> Option<u64> {
        Some(1 << 20)
    }
}

fn cases() -> Vec<&'static Case> {
    let cases = catalogue().iter().filter(|case| case.protocol().is_http2());
    cases.filter(|case| case.scheduling != Scheduling::Slow).collect()
}

fn target(address: SocketAddr) -> Target {
    Target {
        get: "/hello".into(),
        posts: vec!["/user".into()],
        is_http2: true,
        ..Target::at(address)
    }
}

/// What did not pass.
fn amiss(report: &Report) -> Vec<String> {
    let is_amiss = |verdict| !matches!(verdict, CaseVerdict::Pass | CaseVerdict::NotApplicable);
    let amiss = report.findings.iter().filter(|finding| is_amiss(finding.verdict));
    amiss.map(|it| format!("{} {}: {} {:?}", it.id, it.verdict.name(), it.why, it.rounds)).collect()
}

#[test]
fn the_oracle_keeps_every_clause_of_http2() {
    let (oracle, address) = oracle();
    let report = check(&CheckPlan::new(target(address), cases()), &Steady, &mut |_| {});
    let tally = VerdictCounts::of(&report.findings);
    println!("{tally} in {} ms", report.took_ms);
    assert_eq!(amiss(&report), Vec::<String>::new());
    let _ = oracle.stop();
}
