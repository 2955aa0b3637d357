//! Checks as test cases: a suite for each server, a test for each case.

use check::{CaseVerdict, FailOn, Finding};

use super::excerpt::{Cut, exchange};
use super::{CheckResult, CheckedServer};
use crate::conformance::entry;
use crate::document::Entry;
use crate::render::{End, Suite, Test, test_cases};

/// A failure that `fail_on` allows is no failure here either, so that both agree.
pub(super) fn junit(checked: &[CheckedServer], fail_on: FailOn) -> String {
    let suites: Vec<Suite> = checked.iter().map(|checked| suite(checked, fail_on)).collect();
    test_cases("dyno check", &suites)
}

fn suite(checked: &CheckedServer, fail_on: FailOn) -> Suite {
    let name = checked.name.clone();
    let (tests, took_s) = match &checked.result {
        Err(why) => {
            let end = End::Error(why.clone());
            (vec![Test { class: name.clone(), name: "is there".into(), end }], None)
        }
        Ok(CheckResult { report, .. }) => {
            let test = |finding| case(&name, finding, fail_on);
            (report.findings.iter().map(test).collect(), Some(report.took_ms as f64 / 1e3))
        }
    };
    Suite { name, tests, took_s }
}

fn case(suite: &str, finding: &Finding, fail_on: FailOn) -> Test {
    let (verdict, why) = (finding.verdict.name(), &finding.why);
    let is_failure = finding.is_broken() && fail_on.fails(&check::VerdictCounts::of([finding]));
    let end = match finding.verdict {
        CaseVerdict::NotApplicable | CaseVerdict::NotTestable => {
            End::Skipped(format!("{verdict}: {why}"))
        }
        _ if is_failure => {
            let kind = format!("{verdict} {}", finding.level.name());
            End::FailedWith([kind, why.clone(), evidence(finding)])
        }
        CaseVerdict::Pass if !finding.is_unstable() => End::Passed,
        _ => End::PassedWith(evidence(finding)),
    };
    Test {
        class: format!("{suite}.{}", finding.area.name()),
        name: format!("{} {}", finding.id, finding.title),
        end,
    }
}

fn evidence(finding: &Finding) -> String {
    let Entry { head, lines, .. } = entry(finding);
    let lines = lines.into_iter().map(|line| line.text);
    let all = std::iter::once(head).chain(lines).chain(exchange(finding, Cut::WHOLE));
    all.map(|line| line + "\n").collect()
}
