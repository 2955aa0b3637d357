//! A gate as test cases: one for each figure that is gated, and one for the RFCs. What cannot be told is skipped.

use analysis::gate::{Answer, Weighed};

use super::{FinishedGate, Word, name, ratio, sentence};
use crate::paired::listed;
use crate::render::{End, Suite, Test, test_cases};

pub(super) fn of(gate: &FinishedGate<'_>) -> String {
    let figures = gate.weighing.figures.iter().filter(|it| it.is_gated).map(figure);
    let tests = std::iter::once(whole(gate)).chain(figures).chain(conformance(gate));
    let suite = Suite { name: "dyno gate".into(), tests: tests.collect(), took_s: None };
    test_cases("dyno gate", &[suite])
}

fn test(name: impl Into<String>, end: End) -> Test {
    Test { class: "dyno.gate".into(), name: name.into(), end }
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
    test("the head is not worse", end)
}

fn figure(weighed: &Weighed) -> Test {
    let end = match weighed.finding.answer {
        Answer::NotWorse => End::Passed,
        Answer::Worse => End::Failed(listed("worse", ratio(weighed), None)),
        Answer::CannotTell(_) => End::Skipped(sentence::why(weighed).unwrap_or_default()),
    };
    test(name(weighed), end)
}

fn conformance(gate: &FinishedGate<'_>) -> Option<Test> {
    let end = match gate.newly_broken.as_ref()? {
        Ok(cases) if cases.is_empty() => End::Passed,
        Ok(cases) => End::Failed(format!("newly broken: {}", cases.join(", "))),
        Err(why) => End::Skipped(why.clone()),
    };
    Some(test("no clause of the RFCs is newly broken", end))
}
