//! Changes from run to run that are shown: of a server on one class of machines, by one dyno, under one load.

use std::collections::BTreeMap;

use analysis::{Comparison, compared_runs};
use report::run::ratio_text;

use crate::folder::Known;
use crate::ranking::{Shown, Terms};

/// A figure of a server that differs from that of the run before.
pub(crate) struct Change<'k> {
    pub(crate) before: Shown<'k>,
    pub(crate) now: Shown<'k>,
    pub(crate) comparison: Comparison,
}

/// All that is shown, oldest first. The comparisons of each run are decided together.
pub(crate) fn changes(known: &Known) -> Vec<Change<'_>> {
    let mut newest: BTreeMap<(Terms, &str, &str, &str), Shown<'_>> = BTreeMap::new();
    let mut pairs: BTreeMap<usize, Vec<[Shown<'_>; 2]>> = BTreeMap::new();
    for shown in known.rows().filter(Shown::can_be_numbered) {
        let key = (shown.terms(), &shown.row.server[..], shown.class(), &shown.run.dyno[..]);
        let is_pair = |before: &Shown<'_>| {
            before.place != shown.place && before.row.leading == shown.row.leading
        };
        if let Some(before) = newest.insert(key, shown).filter(is_pair) {
            pairs.entry(shown.place).or_default().push([before, shown]);
        }
    }
    let mut all = Vec::new();
    for pairs in pairs.into_values() {
        let sides = pairs.iter().map(|[before, now]| {
            (now.row.leading, before.row.rounds_of(before.place), now.row.rounds_of(now.place))
        });
        let compared = compared_runs(&sides.collect::<Vec<_>>()).into_iter();
        all.extend(pairs.into_iter().zip(compared).filter_map(|([before, now], made)| {
            let comparison = made.ok().filter(Comparison::is_shown)?;
            Some(Change { before, now, comparison })
        }));
    }
    all
}

/// `p99 of Quick, hello at 64 connections on …: 0.92× [0.88–0.97] since 2026-09 (version 1.2 → 1.3).`
pub(crate) fn sentence(change: &Change<'_>) -> String {
    let Change { before, now, comparison } = change;
    let (row, month) = (now.row, now.run.date());
    let version = match before.row.version == row.version {
        true => String::new(),
        false => format!(" (version {} → {})", before.row.version, row.version),
    };
    format!(
        "{} of {}, {} at {} on {}: {} since {}{version}.",
        comparison.figure.heading(),
        row.title,
        row.task,
        row.place,
        now.class(),
        ratio_text(comparison),
        month.get(..7).unwrap_or(&month)
    )
}
