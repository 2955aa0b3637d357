//! A gate as JUnit XML: a test for each figure that is gated, and one for the RFCs. What cannot be told is skipped.

use analysis::gate::{Answer, Weighed};

use super::{FinishedGate, Word, name, ratio, sentence};
use crate::check::junit::escaped;
use crate::paired::listed;

/// A test: its name, and how it ended.
struct Test {
    name: String,
    end: End,
}

enum End {
    Passed,
    Failed(String),
    Skipped(String),
    /// There was no comparison.
    Error(String),
}

pub(super) fn of(gate: &FinishedGate<'_>) -> String {
    let figures = gate.weighing.figures.iter().filter(|it| it.is_gated).map(figure);
    let mut tests: Vec<Test> = vec![whole(gate)];
    tests.extend(figures);
    tests.extend(conformance(gate));
    let count = |of: fn(&End) -> bool| tests.iter().filter(|test| of(&test.end)).count();
    let failures = count(|end| matches!(end, End::Failed(_)));
    let skipped = count(|end| matches!(end, End::Skipped(_)));
    let errors = count(|end| matches!(end, End::Error(_)));
    let cases: String = tests.iter().map(case).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dyno gate\">\n <testsuite name=\"dyno gate\" \
         tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n{cases} </testsuite>\n</testsuites>\n",
        tests.len()
    )
}

/// The gate as a whole, which may be worse for reasons that are in no figure.
fn whole(gate: &FinishedGate<'_>) -> Test {
    let says = gate.sentence();
    let end = match gate.word() {
        Word::Worse => End::Failed(says),
        Word::NotWorse => End::Passed,
        Word::CannotTell => End::Skipped(says),
        Word::Refused | Word::Interrupted => End::Error(says),
    };
    Test { name: "the head is not worse".into(), end }
}

fn figure(weighed: &Weighed) -> Test {
    let end = match weighed.finding.answer {
        Answer::NotWorse => End::Passed,
        Answer::Worse => End::Failed(listed("worse", ratio(weighed), None)),
        Answer::CannotTell(_) => End::Skipped(sentence::why(weighed).unwrap_or_default()),
    };
    Test { name: name(weighed), end }
}

fn conformance(gate: &FinishedGate<'_>) -> Option<Test> {
    let end = match gate.newly_broken.as_ref()? {
        Ok(cases) if cases.is_empty() => End::Passed,
        Ok(cases) => End::Failed(format!("newly broken: {}", cases.join(", "))),
        Err(why) => End::Skipped(why.clone()),
    };
    Some(Test { name: "no clause of the RFCs is newly broken".into(), end })
}

fn case(test: &Test) -> String {
    let head = format!("  <testcase classname=\"dyno.gate\" name=\"{}\"", escaped(&test.name));
    let (kind, says) = match &test.end {
        End::Passed => return format!("{head}/>\n"),
        End::Failed(says) => ("failure", says),
        End::Skipped(says) => ("skipped", says),
        End::Error(says) => ("error", says),
    };
    format!("{head}>\n   <{kind} message=\"{}\"/>\n  </testcase>\n", escaped(says))
}
