//! Every case against servers with different behaviour, and what it must say about them. A case must have been seen to
//! pass and to fail.

mod semantics;
mod socket;
mod syntax;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use check::{Case, CaseVerdict, CheckPlan, Finding, Patience, Protocol, case};

use crate::script::Act;
use crate::scripted::Scripted;
use crate::{SHORT, oracle, quick, run};

/// What cases must say about a server that plays this script to them.
pub(crate) struct Line {
    cases: &'static [&'static str],
    verdict: CaseVerdict,
    script: &'static [Act],
}

/// A server that plays this script keeps the clauses of these cases.
const fn keeps(cases: &'static [&'static str], script: &'static [Act]) -> Line {
    Line { cases, verdict: CaseVerdict::Pass, script }
}

/// Its behaviour is tolerable.
const fn bends(cases: &'static [&'static str], script: &'static [Act]) -> Line {
    Line { cases, verdict: CaseVerdict::Warn, script }
}

/// It breaks them.
const fn breaks(cases: &'static [&'static str], script: &'static [Act]) -> Line {
    Line { cases, verdict: CaseVerdict::Fail, script }
}

/// It has nothing that they could be about.
const fn lacks(cases: &'static [&'static str], script: &'static [Act]) -> Line {
    Line { cases, verdict: CaseVerdict::NotApplicable, script }
}

const TABLES: [&[Line]; 3] = [syntax::TABLE, semantics::TABLE, socket::TABLE];
/// Cases of which the worst is a warning.
const ONLY_WARN: [&[&str]; 3] = [syntax::ONLY_WARN, semantics::ONLY_WARN, socket::ONLY_WARN];
/// This many lines are played at a time; they mostly wait.
const TOGETHER: usize = 192;
/// After this many mistakes the rest is not listed.
const MISTAKES: usize = 20;
/// The patience for lines that were wrong and run again alone.
const LONG: Patience = Patience {
    connect: Duration::from_secs(10),
    answer: Duration::from_secs(5),
    settle: Duration::from_millis(600),
    announced: Duration::from_secs(5),
};

fn lines() -> impl Iterator<Item = (&'static str, &'static Line)> {
    let lines = TABLES.iter().copied().flatten();
    lines.flat_map(|line| line.cases.iter().map(move |id| (*id, line)))
}

fn asked(
    oracle: SocketAddr,
    case: &'static Case,
    script: &'static [Act],
    patience: Patience,
) -> (Finding, usize) {
    let server = Scripted::start(oracle, case, Box::new(move |_| script));
    let mut target = server.target();
    match case.protocol() {
        Protocol::Http => target.socket = None,
        Protocol::Http2 => target.is_http2 = true,
        Protocol::Socket => target.posts.clear(),
    }
    let plan = CheckPlan { rounds: 1, together: 1, patience, ..CheckPlan::new(target, vec![case]) };
    let report = run(&plan);
    (report.findings.into_iter().next().unwrap(), server.hits())
}

#[test]
fn every_case_tells_servers_that_keep_its_clause_from_those_that_break_it() {
    let (_oracle, address) = oracle();
    let lines: Vec<_> = lines().collect();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some((id, line)) = lines.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if mistake(address, id, line, SHORT).is_some() {
                        wrong.lock().unwrap().push((*id, *line));
                    }
                }
            });
        }
    });
    // Many at a time may be too many for a busy machine: a line that was wrong then must be wrong alone, too.
    let wrong = wrong.into_inner().unwrap();
    let again = wrong.into_iter().map(|(id, line)| mistake(address, id, line, LONG));
    let wrong: BTreeSet<String> = again.flatten().take(MISTAKES).collect();
    let shown: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), shown.join("\n"));
}

/// What is wrong with what a case says about a server that plays this script to it.
fn mistake(oracle: SocketAddr, id: &str, line: &Line, patience: Patience) -> Option<String> {
    let case = case(id).unwrap_or_else(|| panic!("{id} is in no catalogue"));
    let (finding, hits) = asked(oracle, case, line.script, patience);
    let (said, right) = (finding.verdict.name(), line.verdict.name());
    let played = format!("of {:?}, which came to it {hits} times", line.script);
    (said != right || hits == 0)
        .then(|| format!("{id}: {said} (expected {right}) {played}: {}", finding.why))
}

#[test]
fn every_case_has_been_seen_to_pass_and_to_fail() {
    let of = |verdict| -> BTreeSet<&str> {
        let lines = lines().filter(move |(_, line)| line.verdict == verdict);
        lines.map(|(id, _)| id).collect()
    };
    let lacked = of(CaseVerdict::NotApplicable);
    let (passed, warned, failed) =
        (of(CaseVerdict::Pass), of(CaseVerdict::Warn), of(CaseVerdict::Fail));
    let only_warn = |id: &str| ONLY_WARN.iter().any(|ids| ids.contains(&id));
    for case in quick().filter(|case| !case.steps.is_empty()) {
        assert!(passed.contains(case.id), "{} is in no table: add a line that keeps it", case.id);
        let worst = if only_warn(case.id) { &warned } else { &failed };
        assert!(worst.contains(case.id), "{} is in no table: add a line that breaks it", case.id);
        assert!(
            case.applies.is_empty() || lacked.contains(case.id),
            "{} need not apply: add a line of a server that lacks what it is about",
            case.id
        );
        // What a table of tolerances says must have been seen, too.
        assert!(
            case.warn.is_empty() || warned.contains(case.id),
            "{} can warn: add a line that bends it",
            case.id
        );
    }
}
