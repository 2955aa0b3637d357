//! The answer in words: what a connection costs with which server, how many they held, and what gave way.

use analysis::{HeldSubject, Ramps, Sums, Verdict};
use lab::figure::{Figure, Unit};
use units::{count, counted};

use super::lines::{estimated, number, rss};
use crate::Findings;
use crate::number_format::Written;
use crate::sentence::unmeasured;

/// A paragraph about each workload that was held.
pub(crate) fn all(findings: &Findings<'_>) -> Vec<String> {
    let ramps = &findings.board.ramps;
    let about = |one: &Ramps| {
        let says = answer(findings, one);
        if 1 < ramps.len() { format!("{}: {says}", one.workload) } else { says }
    };
    ramps.iter().map(about).collect()
}

fn answer(findings: &Findings<'_>, ramps: &Ramps) -> String {
    let is_measured = |held: &&HeldSubject| 0 < held.measured && !held.is_reference;
    let measured: Vec<&HeldSubject> = ramps.subjects.iter().filter(is_measured).collect();
    if measured.is_empty() {
        return unmeasured(findings);
    }
    let texts = [costs(findings, &measured), gave_way(findings, &measured)];
    texts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// How many they hold, at which price: if there are few, all of them; if many, the lowest and the highest.
fn costs(findings: &Findings<'_>, subjects: &[&HeldSubject]) -> Option<String> {
    const FEW: usize = 4;
    let bytes = |held: &HeldSubject| held.price.memory.map_or(f64::MAX, |slope| slope.bytes);
    let mut priced: Vec<&HeldSubject> =
        subjects.iter().filter(|held| held.price.memory.is_some()).copied().collect();
    priced.sort_by(|one, other| bytes(one).total_cmp(&bytes(other)));
    if let [first, .., last] = priced.as_slice()
        && FEW < priced.len()
    {
        let (first, last) = (cost(findings, first)?, cost(findings, last)?);
        return Some(format!("Least memory: {first}. Most: {last}."));
    }
    let said: Vec<String> = priced.iter().filter_map(|held| cost(findings, held)).collect();
    (!said.is_empty()).then(|| format!("{}.", said.join("; ")))
}

/// `Cowboy holds 10,000 at 6.10 KiB each [6.01–6.20]`.
fn cost(findings: &Findings<'_>, held: &HeldSubject) -> Option<String> {
    let slope = held.price.memory?;
    let each = Written::slope(&slope);
    let many = held.price.reached.map(|many| estimated(Unit::Count, &many));
    let doubt = match held.verdict {
        None | Some(Verdict::Valid) => "",
        Some(Verdict::Suspect | Verdict::Invalid) => " (in doubt)",
    };
    Some(format!(
        "{}{doubt} holds {} connections at {} KiB{} each{}",
        findings.title(&held.subject),
        many.unwrap_or("no".into()),
        each.value,
        rss(&slope),
        each.between(),
    ))
}

/// What one server held, how late its messages were at the end, and what broke.
pub(crate) fn held(name: &str, held: &HeldSubject) -> String {
    let Some(last) = held.plateaus.last() else {
        return "Nothing was held: it was stopped before the first step.".into();
    };
    let open = last.estimate(Figure::Open).map_or(0.0, |open| open.value);
    let late = last.estimate(Figure::PushLateP99).map_or(String::new(), |late| {
        let time = units::time(late.value * 1e6);
        match late.is_bound {
            true => format!(", and 1 % of the messages came at least {time} late"),
            false => format!(", and 99 % of the messages came within {time} of when they were due"),
        }
    });
    let sum = |of: fn(&Sums) -> u64| held.plateaus.iter().map(|step| of(&step.sums)).sum::<u64>();
    let broken: Vec<String> = [
        (sum(|sums| sums.failed), "attempt to open one failed", "attempts to open one failed"),
        (sum(|sums| sums.lost), "was lost", "were lost"),
        (last.sums.silent, "was silent at the end", "were silent at the end"),
    ]
    .into_iter()
    .filter(|(times, ..)| 0 < *times)
    .map(|(times, one, many)| counted(times, one, many))
    .collect();
    let broken = match broken.as_slice() {
        [] => "none failed, was lost or fell silent".into(),
        broken => broken.join(", "),
    };
    let of = count(last.connections as u64);
    format!("{name} held {} of {of} connections{late}; {broken}.", number(Unit::Count, open))
}

/// The server that gave way first, and what it was.
fn gave_way(findings: &Findings<'_>, subjects: &[&HeldSubject]) -> Option<String> {
    let asked = subjects.iter().map(|held| held.connections).max()?;
    let first = subjects
        .iter()
        .filter_map(|held| Some((held.price.gave_way.as_ref()?, held)))
        .min_by_key(|(found, _)| found.connections);
    let all = number(Unit::Count, f64::from(asked));
    let Some((found, held)) = first else {
        return Some(format!("Nothing gave way up to {all} connections."));
    };
    let name = findings.title(&held.subject);
    let what = super::price::gave_way(found);
    Some(format!("On the way to {all} connections {name} gives way first, at {what}."))
}
