//! Rows of several runs in one order: for each server its newest valid row; ties are groups, and what cannot be compared
//! has no number.

use std::collections::BTreeMap;

use analysis::{Verdict, groups_of_runs};
use lab::figure::{Better, Figure};

use crate::summary::{RowSummary, RunSummary};

/// A row, with its run.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'k> {
    /// The run's place among all.
    pub(crate) place: usize,
    pub(crate) run: &'k RunSummary,
    pub(crate) row: &'k RowSummary,
}

/// A row in the order.
pub(crate) struct Ranked<'k> {
    pub(crate) shown: Shown<'k>,
    /// First and last place of those that are not shown to differ from it; none: it has no number.
    pub(crate) rank: Option<(usize, usize)>,
    /// Why it has none.
    pub(crate) why: String,
}

/// What rows must have in common to be compared on a machine: the task, the load, the workload's file, the division.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Terms {
    pub(crate) task: String,
    unit: &'static str,
    /// The bits of numbers above zero have the order of the numbers.
    point_bits: u64,
    pub(crate) hash: String,
    place: String,
}

impl<'k> Shown<'k> {
    pub(crate) fn terms(&self) -> Terms {
        Terms {
            task: self.row.task.clone(),
            unit: self.row.point.unit(),
            point_bits: self.row.point.value().to_bits(),
            hash: self.row.workload_hash.clone(),
            place: self.row.place.clone(),
        }
    }

    pub(crate) fn class(&self) -> &'k str {
        &self.run.class.label
    }

    fn age(&self) -> (i64, &'k str) {
        (self.run.began_unix_ms, &self.run.id)
    }

    pub(crate) fn can_be_numbered(&self) -> bool {
        self.why_unnumbered().is_empty()
    }

    /// Whether its figure is compared with those of others.
    fn is_weighed(&self, figure: Figure) -> bool {
        let is_suspect = self.row.verdict == Verdict::Suspect
            && !self.row.is_reference
            && self.run.differences == 0
            && !self.run.is_quick
            && 1 < self.row.rounds.len();
        self.row.leading == figure && (is_suspect || self.can_be_numbered())
    }

    /// Why it has no number; empty if it has one.
    fn why_unnumbered(&self) -> String {
        let or = |text: &str| match self.row.reason.is_empty() {
            true => text.into(),
            false => self.row.reason.clone(),
        };
        match self.row.verdict {
            _ if self.row.is_reference => "it does not compete".into(),
            _ if 0 < self.run.differences => "its file claims what its counts do not give".into(),
            _ if self.run.is_quick => "a quick run: times and rounds were reduced".into(),
            Verdict::Suspect => or("suspect"),
            Verdict::Invalid => or("invalid"),
            Verdict::Valid if !self.row.is_ranked => or("it did not keep up with the load"),
            Verdict::Valid if self.row.rounds.len() < 2 => "a single round".into(),
            Verdict::Valid => String::new(),
        }
    }
}

/// For each server its newest row that can be numbered, or, if none can, its newest row.
pub(crate) fn newest<'k>(all: impl IntoIterator<Item = Shown<'k>>) -> Vec<Shown<'k>> {
    let mut best: BTreeMap<&str, Shown<'k>> = BTreeMap::new();
    for shown in all {
        let key = |it: &Shown<'k>| (it.why_unnumbered().is_empty(), it.age());
        match best.get(shown.row.server.as_str()) {
            Some(other) if key(&shown) <= key(other) => {}
            Some(_) | None => drop(best.insert(&shown.row.server, shown)),
        }
    }
    best.into_values().collect()
}

/// The rows in their order: those with numbers, then suspect ones, then all others.
pub(crate) fn ranked<'k>(rows: &[Shown<'k>]) -> Vec<Ranked<'k>> {
    let Some(figure) = rows.first().map(|shown| shown.row.leading) else { return Vec::new() };
    let why = |shown: &Shown<'k>| match shown.row.leading == figure {
        true => shown.why_unnumbered(),
        false => format!("its load is about another figure: {}", shown.row.leading.heading()),
    };
    let rest = rows.iter().copied().filter(|shown| !why(shown).is_empty());
    // Suspect rows have no number, and are weighed with the others, as in the run that they are of: what is said of a run
    // and of the board is then the same.
    let weighed: Vec<Shown<'k>> = rows.iter().copied().filter(|it| it.is_weighed(figure)).collect();
    let sides: Vec<_> = weighed.iter().map(|shown| shown.row.rounds_of(shown.place)).collect();
    let mut all = Vec::new();
    for group in groups_of_runs(figure, &sides) {
        let group = group.into_iter().map(|place| weighed[place]);
        let group: Vec<Shown<'k>> = group.filter(Shown::can_be_numbered).collect();
        let rank = Some((all.len() + 1, all.len() + group.len()));
        all.extend(group.into_iter().map(|shown| Ranked { shown, rank, why: String::new() }));
    }
    let mut rest: Vec<Ranked<'k>> =
        rest.map(|shown| Ranked { shown, rank: None, why: why(&shown) }).collect();
    rest.sort_by(|one, other| {
        let key = |it: &Ranked<'k>| (it.shown.row.is_reference, it.shown.row.verdict);
        let by_value = by_value(figure, one.shown.row, other.shown.row);
        key(one).cmp(&key(other)).then(by_value).then(one.shown.age().cmp(&other.shown.age()))
    });
    all.extend(rest);
    all
}

/// Better values first, and what has none last.
fn by_value(figure: Figure, one: &RowSummary, other: &RowSummary) -> std::cmp::Ordering {
    let value = |row: &RowSummary| row.estimate(figure).map(|it| it.value);
    let (one, other) = (value(one), value(other));
    let by_value = match (one, other, figure.better()) {
        (Some(one), Some(other), Better::Higher) => other.total_cmp(&one),
        (Some(one), Some(other), Better::Lower | Better::Neither) => one.total_cmp(&other),
        (_, _, Better::Higher | Better::Lower | Better::Neither) => std::cmp::Ordering::Equal,
    };
    other.is_some().cmp(&one.is_some()).then(by_value)
}

#[cfg(test)]
mod tests {
    use lab::experiment::Shape;
    use public::PublicRun;

    use super::*;
    use crate::fixture::{READER, summary};

    /// Servers of these rates and verdicts, in their order: the name, and the numbers.
    fn order(rows: &[(&str, u64, Verdict)]) -> Vec<(String, Option<(usize, usize)>)> {
        let line = |(name, rate, _): &(&str, u64, Verdict)| format!("server {name} 1 {rate}\n");
        let words = format!("began 1\n{}", rows.iter().map(line).collect::<String>());
        let mut summary = summary(&(READER.parse)(words.as_bytes()).unwrap());
        for row in &mut summary.rows {
            row.verdict = rows.iter().find(|(name, ..)| *name == row.server).unwrap().2;
        }
        let shown = summary.rows.iter().map(|row| Shown { place: 0, run: &summary, row });
        let ranked = ranked(&shown.collect::<Vec<_>>()).into_iter();
        ranked.map(|ranked| (ranked.shown.row.server.clone(), ranked.rank)).collect()
    }

    /// The place of a row of 64 connections, and its terms, after a change of its run.
    fn placed(change: fn(&mut PublicRun)) -> (String, Terms) {
        let mut run = (READER.parse)(b"began 1\nserver a 1 9000\n").unwrap();
        change(&mut run);
        let summary = summary(&run);
        let row = &summary.rows[0];
        (row.place.clone(), Shown { place: 0, run: &summary, row }.terms())
    }

    #[test]
    fn what_is_requested_otherwise_and_what_is_tuned_has_tables_of_its_own() {
        let (place, usual) = placed(|_| {});
        assert_eq!(
            (place.as_str(), &placed(|run| run.record.seed += 1).1),
            ("64 connections", &usual)
        );
        let once: fn(&mut PublicRun) =
            |run| run.record.experiment.as_mut().unwrap().keep_alive = false;
        let tuned: fn(&mut PublicRun) = |run| run.record.entries[0].tier = "tuned".into();
        let calls: fn(&mut PublicRun) = |run| {
            let shape = Shape::Sessions { calls: 10, max_connections: 64 };
            run.record.experiment.as_mut().unwrap().shape = shape;
        };
        for (change, says) in [
            (once, "64 connections, one request a connection"),
            (tuned, "64 connections, tuned"),
            (calls, "64 connections, 10 requests a session"),
        ] {
            let (place, terms) = placed(change);
            assert_eq!(place, says);
            assert_ne!(terms, usual);
        }
    }

    /// As in the run itself, a rank among the few others is none.
    #[test]
    fn where_most_rows_of_a_run_are_invalid_none_has_a_number() {
        let words = b"began 1\nserver a 1 9000\nserver b 1 8000\nserver c 1 7000\n";
        let mut run = (READER.parse)(words).unwrap();
        for trial in run.trials.iter_mut().filter(|trial| trial.key.subject != "a") {
            trial.loaded.as_mut().unwrap().recording.total.attempted += 1;
        }
        let summary = summary(&run);
        let rows = summary.rows.iter().map(|row| Shown { place: 0, run: &summary, row });
        let ranked = ranked(&rows.collect::<Vec<_>>());
        let first = (ranked[0].shown.row.server.as_str(), ranked[0].rank, ranked[0].why.as_str());
        assert_eq!(first, ("a", None, "most rows of its run are invalid under this load"));
        assert!(ranked.iter().all(|ranked| ranked.rank.is_none()));
    }

    #[test]
    fn valid_rows_stand_first_and_no_other_row_has_a_number() {
        use Verdict::{Invalid, Suspect, Valid};
        let rows = [
            ("a", 9_010, Suspect),
            ("b", 9_000, Valid),
            ("c", 20_000, Invalid),
            ("d", 5_000, Valid),
        ];
        let name = |name: &str, rank| (name.to_string(), rank);
        assert_eq!(
            order(&rows),
            [name("b", Some((1, 1))), name("d", Some((2, 2))), name("a", None), name("c", None)]
        );
    }
}
