//! A gate's answer: one sentence, one table, and how to repeat it; for a terminal, a pull request, and programs. Every
//! gate that ends is a `FinishedGate`, also one that was refused or interrupted.

mod document;
pub(crate) mod json;
mod junit;
mod sentence;
#[cfg(test)]
pub(crate) mod tests;

use analysis::gate::{
    GateCourse, Gated, PairOf, Rule, Verdict, Weighed, Weighing, WhyUnclear, WhyWorse, weigh,
};
use lab::experiment::Experiment;
use lab::named;
use lab::record::{RunRecord, TrialRecord};

use crate::document::Document;
use crate::json::written;
use crate::paired::Ratio;
use crate::render::{self, Measure, Shown};
use crate::run::findings::Findings;
pub(crate) use sentence::sentence;

/// A gate that is over.
pub struct FinishedGate<'a> {
    pub weighing: &'a Weighing,
    /// Why it ended before there was anything to weigh, if it did, and what happened.
    pub early: Option<(Early, String)>,
    /// What base and head are, as a reader knows them.
    pub base: &'a str,
    pub head: &'a str,
    /// The clauses that the head breaks and the base keeps, by their names in the catalogue; or why that is not known.
    /// None where conformance is not gated.
    pub newly_broken: Option<Result<Vec<String>, String>>,
    /// The throughput of pairs of the base against itself, which were measured beforehand.
    pub equal: Vec<PairOf>,
    /// The command line.
    pub command: &'a str,
    /// The kept runs.
    pub runs: Vec<String>,
    /// The first of them, if anything was measured.
    pub run: Option<&'a RunRecord>,
    pub trials: &'a [TrialRecord],
    /// Where it is worse: where the CPU time of its answers goes, or why no profile says that.
    pub why: Option<Result<Findings<'a>, String>>,
}

/// Why a gate ended before its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// The head failed, and failed again when it was looked at again; the base did not.
    HeadFails,
    /// The pairs that the limit of time allows cannot show what is to be found.
    Limit,
    /// Too few pairs of the base against itself count.
    Disturbed,
    /// The flags, or the sides, are such that nothing can be compared.
    Refused,
    Interrupted,
}

named! {
    /// What a gate says, in one word.
    pub enum Word {
        NotWorse = "not_worse",
        Worse = "worse",
        CannotTell = "cannot_tell",
        Refused = "refused",
        Interrupted = "interrupted",
    }
}

/// What a comment begins with, so that the next one takes its place.
const MARKER: &str = "<!-- dyno gate -->";

impl Shown for FinishedGate<'_> {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&json::GateDocument::from(self))
    }

    /// For a pull request.
    fn markdown(&self) -> String {
        format!("{MARKER}\n{}", render::markdown(&self.document()))
    }

    fn junit(&self) -> Option<String> {
        Some(junit::of(self))
    }

    fn measures(&self) -> Option<Vec<Measure>> {
        Some(self.weighing.figures.iter().filter_map(measure).collect())
    }
}

impl FinishedGate<'_> {
    /// The answer in plain words.
    pub fn sentence(&self) -> String {
        match &self.early {
            Some((early, says)) => sentence::early(*early, says, self.weighing.rule),
            None => sentence(self.weighing, self.newly_broken.as_ref()),
        }
    }

    pub fn word(&self) -> Word {
        match self.ended() {
            Ok(Verdict::NotWorse) => Word::NotWorse,
            Ok(Verdict::Worse(_)) => Word::Worse,
            Ok(Verdict::CannotTell(_)) => Word::CannotTell,
            Err(word) => word,
        }
    }

    /// Why it cannot be told, for programs.
    fn unclear(&self) -> Option<&'static str> {
        match self.ended() {
            Ok(Verdict::CannotTell(why)) => Some(why.name()),
            Ok(Verdict::NotWorse | Verdict::Worse(_)) | Err(_) => None,
        }
    }

    /// What it found, also before its pairs; or why it found nothing.
    fn ended(&self) -> Result<Verdict, Word> {
        match self.early.as_ref().map(|(early, _)| early) {
            None => Ok(self.weighing.verdict),
            Some(Early::HeadFails) => Ok(Verdict::Worse(WhyWorse::Failed)),
            Some(Early::Limit) => Ok(Verdict::CannotTell(WhyUnclear::Limit)),
            Some(Early::Disturbed) => Ok(Verdict::CannotTell(WhyUnclear::Disturbed)),
            Some(Early::Refused) => Err(Word::Refused),
            Some(Early::Interrupted) => Err(Word::Interrupted),
        }
    }
}

/// What the pairs of a run say, if its rounds are pairs of which a figure is gated.
pub(crate) fn of_run(experiment: &Experiment, trials: &[TrialRecord]) -> Option<Weighing> {
    let pairs = experiment.pairs.as_ref().filter(|pairs| !pairs.figures.is_empty())?;
    let mut course = GateCourse::of(experiment)?;
    trials.iter().for_each(|trial| course.add(trial));
    let gated = pairs.figures.clone();
    let alpha = pairs.level * gated.len() as f64;
    let rule = Rule::of(pairs, alpha);
    Some(weigh(&[Gated { course: &course, gated, shown: Vec::new() }], rule, 0))
}

/// What disturbed the first pair of a load that does not count, if any.
pub fn disturbance(course: &GateCourse) -> Option<String> {
    course.disturbances().next().map(|found| found.says().into())
}

/// What a figure is of: `throughput/s, 16 connections`.
fn name(weighed: &Weighed) -> String {
    format!(
        "{}, {}",
        weighed.figure.heading(),
        crate::run::experiment_text::place_and_unit(weighed.point)
    )
}

/// The head's divided by the base's, if a pair counts.
fn measure(weighed: &Weighed) -> Option<Measure> {
    let Weighed { figure, point, finding, interval, bounds, .. } = weighed;
    let pairs = units::counted(finding.pairs as u64, "pair", "pairs");
    Some(Measure {
        of: format!("head ÷ base · {}", crate::run::experiment_text::place_and_unit(*point)),
        name: format!("{}_ratio", figure.name()),
        unit: "ratio",
        better: figure.better(),
        value: weighed.ratio.filter(|_| 0 < finding.pairs)?,
        ends: [
            interval.filter(|_| !bounds[0]).map(|(low, _)| low),
            interval.filter(|_| !bounds[1]).map(|(_, high)| high),
        ],
        says: format!("{}, {pairs}", json::answer(finding.answer)),
    })
}

/// The head's divided by the base's.
fn ratio(weighed: &Weighed) -> Option<Ratio> {
    let Weighed { interval, bounds, .. } = *weighed;
    Some(Ratio { value: weighed.ratio?, interval, bounds })
}
