//! A gate's answer: one sentence, one table, and how to repeat it; for a terminal, a pull request, and programs.

mod document;
pub(crate) mod json;
mod junit;
mod sentence;
#[cfg(test)]
mod tests;

use analysis::gate::{Course, Gated, Rule, Verdict, Weighed, Weighing, WhyUnclear, weigh};
use lab::experiment::Experiment;
use lab::record::{RunRecord, TrialRecord};

use crate::document::Document;
use crate::doubt;
use crate::render::{self, Screen};
pub(crate) use sentence::sentence;

/// A gate that is over.
pub struct FinishedGate<'a> {
    pub weighing: &'a Weighing,
    /// What base and head are, as a reader knows them.
    pub base: &'a str,
    pub head: &'a str,
    /// The clauses that the head breaks and the base keeps, by their names in the catalogue; or why that is not known.
    /// None where conformance is not gated.
    pub newly_broken: Option<Result<Vec<String>, String>>,
    /// The command line.
    pub command: &'a str,
    /// The kept runs.
    pub runs: Vec<String>,
    /// The first of them.
    pub run: &'a RunRecord,
    pub trials: &'a [TrialRecord],
}

/// What a comment begins with, so that the next one takes its place.
const MARKER: &str = "<!-- dyno gate -->";

impl FinishedGate<'_> {
    /// For a terminal.
    pub fn text(&self, screen: Screen) -> String {
        render::text(&self.document(), screen)
    }

    /// For a pull request.
    pub fn markdown(&self) -> String {
        format!("{MARKER}\n{}", render::markdown(&self.document()))
    }

    pub fn json(&self) -> serde_json::Result<String> {
        json::of(self)
    }

    pub fn junit(&self) -> String {
        junit::of(self)
    }

    fn document(&self) -> Document {
        document::document(self)
    }

    /// The answer in plain words.
    pub fn sentence(&self) -> String {
        let broken = self.newly_broken.as_ref().and_then(|it| it.as_ref().ok());
        sentence(self.weighing, broken.map_or(&[], Vec::as_slice))
    }
}

/// What the pairs of a run say, if its rounds are pairs of which a figure is gated.
pub(crate) fn of_run(experiment: &Experiment, trials: &[TrialRecord]) -> Option<Weighing> {
    let pairs = experiment.pairs.as_ref().filter(|pairs| !pairs.figures.is_empty())?;
    let mut course = Course::of(experiment)?;
    trials.iter().for_each(|trial| course.add(trial));
    let gated = pairs.figures.clone();
    let alpha = pairs.level * gated.len() as f64;
    let rule = Rule::of(pairs, alpha);
    Some(weigh(&[Gated { course: &course, gated, shown: Vec::new() }], rule, 0))
}

/// What disturbed the first pair of a load that does not count, if any.
pub fn disturbance(course: &Course) -> Option<String> {
    course.disturbances().next().map(doubt::says)
}

/// A verdict in one word, for programs.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NotWorse => "not_worse",
        Verdict::Worse(_) => "worse",
        Verdict::CannotTell(_) => "cannot_tell",
    }
}

/// Why it cannot be told, for programs.
fn unclear(weighing: &Weighing) -> Option<&'static str> {
    match weighing.verdict {
        Verdict::CannotTell(WhyUnclear::Disturbed) => Some("disturbed"),
        Verdict::CannotTell(WhyUnclear::Control) => Some("control"),
        Verdict::CannotTell(WhyUnclear::Figures) => Some("figures"),
        Verdict::NotWorse | Verdict::Worse(_) => None,
    }
}

/// What a figure is of: `throughput/s, 16 connections`.
fn name(weighed: &Weighed) -> String {
    format!("{}, {}", weighed.figure.heading(), crate::run::words::place_and_unit(weighed.point))
}
