//! What written documents say of differences. The names of `report` are those of the module above, which may be in it.

use analysis::Gate;
use load::Chance;
use serde_json::Value;

use super::simulated::{self, World};
use super::{Compared, Findings, OfCommand, Shown, Side};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Race,
    Run,
    Compare,
}

pub(crate) const KINDS: [(Kind, &str); 3] =
    [(Kind::Race, "race"), (Kind::Run, "run"), (Kind::Compare, "compare")];

/// What one document says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Pairs or groups of the headline figure that differ, by the place of the side or the row.
    pub(crate) headline: Vec<usize>,
    /// How many other figures differ.
    pub(crate) others: usize,
    /// The words and the figures say the same.
    pub(crate) agrees: bool,
}

impl Said {
    pub(crate) fn is_any(&self) -> bool {
        !self.headline.is_empty() || 0 < self.others
    }
}

/// What one simulated output says.
pub(crate) fn said(kind: Kind, world: World, chance: &mut Chance) -> Said {
    let (record, trials) = simulated::run(world, matches!(kind, Kind::Race), chance);
    let mut findings = Findings::of(&1, &record, &trials, Vec::new());
    match kind {
        Kind::Race => {
            findings.command = OfCommand::Race;
            race(&parsed(findings.json()))
        }
        Kind::Run => run(&parsed(findings.json())),
        Kind::Compare => {
            // A has equal rows.
            let (other, before) = simulated::run(World { truth: 1.0, ..world }, false, chance);
            let base = Findings::of(&2, &other, &before, Vec::new());
            let [a, b] = [&base, &findings].map(|findings| Side { findings, subject: None });
            // Any difference counts.
            let gate = Gate { tolerance: 0.0, ..Gate::default() };
            compare(&parsed(Compared::of(a, b, gate).json()))
        }
    }
}

fn parsed(text: serde_json::Result<String>) -> Value {
    text.and_then(|text| serde_json::from_str(&text)).expect("it is JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_stated(figure: &Value) -> bool {
    matches!(figure["finding"].as_str(), Some("better" | "worse" | "differs"))
}

/// The figures of pairs: of the first, and of all others, those that are said to differ.
fn of_pairs(pairs: &[Value]) -> Said {
    let mut said = Said { agrees: true, ..Said::default() };
    for (place, pair) in pairs.iter().enumerate() {
        for figure in list(&pair["figures"]).iter().filter(|figure| is_stated(figure)) {
            match figure["figure"] == "throughput_per_s" {
                true => said.headline.push(place),
                false => said.others += 1,
            }
            let outside =
                |end: &str, is_beyond: fn(f64) -> bool| figure[end].as_f64().is_some_and(is_beyond);
            said.agrees &=
                outside("ratio_low", |low| 1.0 < low) || outside("ratio_high", |high| high < 1.0);
        }
    }
    said
}

/// `dyno race --json`: each side against the first. Its sentence says that no difference is shown of exactly those sides
/// of which neither the throughput nor the p99 is said to differ.
fn race(document: &Value) -> Said {
    let pairs = list(&document["ratios"]);
    let mut said = of_pairs(pairs);
    let is_named = |figure: &Value| {
        is_stated(figure)
            && matches!(figure["figure"].as_str(), Some("throughput_per_s" | "response_p99_ms"))
    };
    let alike = pairs.iter().filter(|pair| !list(&pair["figures"]).iter().any(is_named)).count();
    let sentence = document["sentence"].as_str().unwrap_or_default();
    said.agrees &= sentence.matches("No difference is shown").count() == alike;
    said
}

/// `dyno report --format json`: the ranks. Its sentence names a fastest server where there are two groups.
fn run(document: &Value) -> Said {
    let mut said = Said::default();
    for ranks in list(&document["tables"][0]["ranks"]) {
        let groups = list(&ranks["groups"]);
        match ranks["figure"] == "throughput_per_s" {
            true => said.headline = (1..groups.len()).collect(),
            false => said.others = groups.len().saturating_sub(1),
        }
    }
    let sentence = document["sentence"].as_str().unwrap_or_default();
    said.agrees =
        sentence.contains("cannot tell which server is fastest") == said.headline.is_empty();
    said
}

/// `dyno compare --json`: each row of B against that of A. A row is not worse in the table where its figure cannot be
/// told below it.
fn compare(document: &Value) -> Said {
    let mut said = of_pairs(list(&document["rows"]));
    for (row, judged) in list(&document["rows"]).iter().zip(list(&document["gate"]["rows"])) {
        let figures = list(&row["figures"]).iter();
        let mut same = figures.filter(|figure| figure["figure"] == judged["figure"]);
        let is_worse = same.any(|figure| figure["finding"] == "worse");
        said.agrees &= is_worse == (judged["answer"] == "worse");
    }
    said
}
