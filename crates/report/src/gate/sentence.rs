//! The answer in plain words.

use analysis::gate::{Answer, Unclear, Verdict, Weighed, Weighing, WhyUnclear, WhyWorse};
use units::{chosen, counted, percent};

use super::name;
use crate::doubt;
use crate::written::Written;

/// `newly_broken` are the cases that the head breaks and the base keeps.
pub(crate) fn sentence(weighing: &Weighing, newly_broken: &[String]) -> String {
    let detect = stated(weighing.rule.detect);
    let gated = || weighing.figures.iter().filter(|it| it.is_gated);
    let of = |answer: Answer| gated().filter(move |it| it.finding.answer == answer);
    let list = |all: Vec<String>| all.join("; ");
    match weighing.verdict {
        Verdict::NotWorse => format!(
            "Not worse: a head that is {detect} worse is ruled out; {}.",
            list(gated().map(ratio).collect())
        ),
        Verdict::Worse(WhyWorse::Figures) => {
            format!("Worse: {}.", list(of(Answer::Worse).map(ratio).collect()))
        }
        Verdict::Worse(WhyWorse::Failed) => {
            "Worse: the head did not start, died or answered wrongly, where the base was measured.".into()
        }
        Verdict::Worse(WhyWorse::Conformance) => {
            let cases = newly_broken.join(", ");
            format!("Worse: the head newly breaks {cases}.")
        }
        Verdict::CannotTell(WhyUnclear::Disturbed) => {
            let lost = weighing.tried - weighing.counted;
            let why = weighing.disturbances.first();
            let why = why.map_or(String::new(), |why| format!("; the first: {}", doubt::says(why)));
            let pairs = counted(weighing.tried as u64, "pair", "pairs");
            format!("Cannot tell: of {pairs} {lost} did not count{why}.")
        }
        Verdict::CannotTell(WhyUnclear::Control) => {
            "Cannot tell: two builds of the base differ as well, so this machine does it to equal code.".into()
        }
        Verdict::CannotTell(WhyUnclear::Figures) => {
            let open = gated().filter_map(|it| Some(format!("{}: {}", name(it), why(it)?)));
            format!("Cannot tell whether the head is {detect} worse; {}.", list(open.collect()))
        }
    }
}

/// A share that somebody chose.
pub(super) fn stated(share: f64) -> String {
    format!("{} %", chosen(100.0 * share))
}

/// `throughput/s, 16 connections: 0.91× [0.88–0.94]`.
fn ratio(weighed: &Weighed) -> String {
    format!("{}: {}", name(weighed), bare(weighed))
}

/// `0.91× [0.88–0.94]`.
pub(super) fn bare(weighed: &Weighed) -> String {
    let written = Written::bare(weighed.ratio, weighed.interval);
    format!("{}×{}", written.value, written.between())
}

/// Why a figure has no answer.
pub(super) fn why(weighed: &Weighed) -> Option<String> {
    let Answer::CannotTell(why) = weighed.finding.answer else { return None };
    let finding = weighed.finding;
    let counted = counted(finding.pairs as u64, "pair", "pairs");
    let pairs = match finding.units < finding.pairs {
        true => format!("{counted} of {} builds", finding.units),
        false => counted,
    };
    Some(match why {
        Unclear::FewPairs if finding.pairs == 0 => "no pair has it".into(),
        Unclear::FewPairs => format!("{pairs} are too few"),
        Unclear::Wide => match weighed.least {
            Some(least) => {
                format!("{pairs} lie so far apart that they show {}", percent(least))
            }
            None => format!("{pairs} lie too far apart"),
        },
        Unclear::Serial => format!("{pairs} are too like their neighbours"),
        Unclear::OnePair if finding.units < finding.pairs => {
            format!("of {pairs} one build decides")
        }
        Unclear::OnePair => format!("of {pairs} one decides"),
    })
}
