//! The lines of gates in a history, `dyno.gates/1`: what their pairs differed by, from which a later gate knows how far
//! pairs spread. A trend has no use for them: a difference is of two commits, and no level.

use std::collections::BTreeMap;

use analysis::gate::{Against, GateCourse, Weighed};
use lab::figure::Figure;
use lab::record::RunRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lines::{Commit, hash, machine_key};
use super::{KERNEL, fact};
use crate::gate::json;

const SCHEMA: &str = "dyno.gates/1";

/// One gated figure of one gate: a line of the file that `--history` names. `dyno trend` leaves such lines out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "gates")]
pub struct GateLine {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: String,
    /// when its load began: milliseconds since 1970
    began_unix_ms: i64,
    /// the base, as it was named
    base: String,
    /// its commit; null: it is in none
    base_commit: Option<String>,
    /// whether files differed from that commit
    base_is_dirty: Option<bool>,
    /// the head, as it was named
    head: String,
    /// its commit; null: it is in none
    head_commit: Option<String>,
    /// whether files differed from that commit
    head_is_dirty: Option<bool>,
    /// the machine: a hash of `machine_facts`
    machine: String,
    /// what makes this machine another one
    machine_facts: BTreeMap<String, String>,
    /// its kernel, which does not
    kernel: Option<String>,
    /// the dyno that measured
    dyno_version: String,
    /// a hash of what is gated and how it is loaded: only gates of one plan spread alike
    plan: String,
    /// the load: so many connections, or requests each second
    point: f64,
    /// which of these
    point_unit: String,
    /// the figure's name in figures.md
    figure: String,
    /// so many builds of base and of head took turns from pair to pair; null: all pairs are of one build
    builds: Option<usize>,
    /// what the pairs that count differ by, in their order: logarithms of ratios, above zero where the head is worse
    differences: Vec<f64>,
    /// their standard deviation; of several builds, that of the builds' means; null: there are fewer than two
    spread: Option<f64>,
    /// a head that is worse by so much was to be found
    detect_percent: f64,
    /// the probability that equal code is called worse, over all that is gated
    alpha_percent: f64,
    /// not_worse, worse, or cannot_tell_ and why
    answer: String,
}

/// A gate that is to be appended.
pub struct GateOf<'a> {
    /// Base and head, as they were named.
    pub titles: [&'a str; 2],
    pub commits: [Option<&'a Commit>; 2],
    pub plan: &'a str,
    pub alpha: f64,
    pub detect: f64,
}

/// No text of a line is longer.
const LONGEST: usize = 1_000;

/// No more differences than any rule looks at.
const DIFFERENCES: usize = 200;

/// Earlier gates than these say little about the machine of today.
const NEWEST: usize = 20;

/// What is gated and how, as a hash of the texts that say it.
#[must_use]
pub fn plan_key(texts: &[&str]) -> String {
    hash(texts.iter().copied())
}

/// The line of a gated figure, with its line end.
pub fn gate_line(
    gate: &GateOf<'_>,
    run: &RunRecord,
    course: &GateCourse,
    weighed: &Weighed,
) -> serde_json::Result<String> {
    let (machine, machine_facts) = machine_key(&run.facts);
    let [base, head] = gate.commits;
    let [named_base, named_head] = gate.titles.map(|it| it.chars().take(250).collect());
    let line = GateLine {
        schema: SCHEMA.into(),
        began_unix_ms: run.began_unix_ms,
        base: named_base,
        base_commit: base.map(|it| it.hash.clone()),
        base_is_dirty: base.map(|it| it.is_dirty),
        head: named_head,
        head_commit: head.map(|it| it.hash.clone()),
        head_is_dirty: head.map(|it| it.is_dirty),
        machine,
        machine_facts,
        kernel: fact(&run.facts, KERNEL).map(str::to_string),
        dyno_version: run.dyno.clone(),
        plan: gate.plan.into(),
        point: weighed.point.value(),
        point_unit: weighed.point.unit().into(),
        figure: weighed.figure.name().into(),
        builds: course.builds(),
        differences: course.differences(weighed.figure, Against::Head),
        spread: weighed.finding.known_spread(),
        detect_percent: 100.0 * gate.detect,
        alpha_percent: 100.0 * gate.alpha,
        answer: json::answer(weighed.finding.answer),
    };
    Ok(serde_json::to_string(&line)? + "\n")
}

/// Reads a line of a gate; none if it is another one, or none at all.
pub(super) fn read(bytes: &[u8]) -> Option<Result<GateLine, String>> {
    #[derive(Deserialize)]
    struct Named {
        schema: String,
    }
    let named: Named = serde_json::from_slice(bytes).ok()?;
    if named.schema != SCHEMA {
        return None;
    }
    let line = serde_json::from_slice::<GateLine>(bytes);
    let line = line.map_err(|error| super::reader::plain(&error.to_string()));
    Some(line.and_then(|line| line.wrong().map_or(Ok(line), Err)))
}

impl GateLine {
    fn wrong(&self) -> Option<String> {
        let texts = [&self.base, &self.head, &self.machine, &self.plan, &self.figure, &self.answer];
        if texts.iter().any(|text| LONGEST < text.len()) {
            return Some(format!("a text in it is longer than {LONGEST} bytes"));
        }
        let is_difference = |it: &f64| it.is_finite() && it.abs() < 50.0;
        if DIFFERENCES < self.differences.len() || !self.differences.iter().all(is_difference) {
            return Some("its differences are none of pairs".into());
        }
        (self.builds == Some(0)).then(|| "it has no builds".into())
    }

    /// Its differences of pairs that have builds of their own, or of all pairs if they are of one build.
    fn separate(&self) -> &[f64] {
        let count = self.builds.unwrap_or(usize::MAX).min(self.differences.len());
        &self.differences[..count]
    }
}

/// Which gates are like one that is to begin.
pub struct Like<'a> {
    pub machine: &'a str,
    pub plan: &'a str,
    /// Whether several builds of each side take turns.
    pub has_builds: bool,
}

/// What the pairs of the newest such gates differ by, of one figure.
#[must_use]
pub fn differences<'l>(lines: &'l [GateLine], like: &Like<'_>, figure: Figure) -> Vec<&'l [f64]> {
    let alike = lines.iter().filter(|line| {
        line.machine == like.machine
            && line.plan == like.plan
            && line.builds.is_some() == like.has_builds
            && line.figure == figure.name()
    });
    let mut like: Vec<&GateLine> = alike.collect();
    like.sort_by_key(|line| std::cmp::Reverse(line.began_unix_ms));
    like.into_iter().take(NEWEST).map(GateLine::separate).collect()
}

/// By time, and each line once, also where it is in several files.
pub(super) fn sorted(mut lines: Vec<GateLine>) -> Vec<GateLine> {
    let order =
        |line: &GateLine| (line.began_unix_ms, serde_json::to_string(line).unwrap_or_default());
    lines.sort_by_cached_key(order);
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests;
