//! The tables as data: the owner of their rows, and their columns in the order in which they are written, read and
//! sealed.

use std::collections::BTreeMap;

use rusqlite::types::Value;

use crate::cell::{Columns, Row, RowReader, row};

/// One table of `schema.sql`.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Its columns, after those that say which record owns the row.
    pub(crate) columns: &'static [&'static str],
    /// How many of these order the rows of one owner.
    pub(crate) keys: usize,
    /// The columns that say which record owns a row; a table of a run has only the first of them.
    pub(crate) owners: [&'static str; 2],
    /// How many rows one owner can have; none where only their size is limited.
    pub(crate) limit: Option<Limit>,
}

/// The most rows that are read: a store that another program made may have any number of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// The rows are counted together that are alike in so many of the first columns.
    pub(crate) alike: usize,
    /// So many may there be.
    pub(crate) most: usize,
    /// What they are.
    pub(crate) of: &'static str,
}

/// The runs of a store: one each minute for two months.
pub(crate) const RUNS_MOST: usize = 100_000;
/// The trials of a run: at a second each they would take three days.
pub(crate) const TRIALS_MOST: usize = 250_000;
/// The points of a series: twenty times as many as the monitors keep.
const POINTS_MOST: usize = 100_000;

const fn table(name: &'static str, keys: usize, columns: &'static [&'static str]) -> Table {
    Table { name, columns, keys, owners: ["run", "trial"], limit: None }
}

/// A table of which no owner can have more rows than this.
const fn limited(limit: Limit, table: &Table) -> Table {
    Table { limit: Some(limit), ..*table }
}

/// A table of a subject in a run.
const fn of_entry(name: &'static str, keys: usize, columns: &'static [&'static str]) -> Table {
    Table { owners: ["run", "entry"], ..table(name, keys, columns) }
}

/// The tables of a run. Owned by (run).
#[rustfmt::skip]
pub(crate) const RUN: &[Table] = &[
    table("run", 0, &["name", "is_quick", "seed", "began_unix_ms", "dyno"]),
    table("run_file", 1, &["place", "path", "text"]),
    table("run_fact", 1, &["place", "name", "value"]),
    table("run_entry", 1, &[
        "place", "name", "title", "language", "processes", "tier", "notes", "version", "build", "skipped",
    ]),
    table("run_setting", 2, &["entry", "place", "name", "default_", "change"]),
    limited(
        Limit { alike: 0, most: TRIALS_MOST, of: "trials are planned" },
        &table("run_plan", 1, &["trial", "subject", "workload", "point", "point_unit", "repeat"]),
    ),
];

/// The tables of a subject's check. Owned by (run, entry).
#[rustfmt::skip]
pub(crate) const CONFORMANCE: &[Table] = &[
    of_entry("run_conformance", 0, &[
        "from_run", "wrong", "catalogue_version", "catalogue_hash", "rounds", "took_ms", "cut_short",
    ]),
    of_entry("run_finding", 1, &[
        "place", "case_id", "title", "area", "clause", "level", "weight", "tags", "verdict", "rounds", "why",
        "demand", "doubt", "expected", "sent", "sent_bytes", "heard", "heard_bytes",
    ]),
];

/// A sampled trial. Owned by (run, profile).
pub(crate) const PROFILE: &[Table] = &[Table {
    owners: ["run", "profile"],
    ..table(
        "run_profile",
        0,
        &["subject", "workload", "point", "point_unit", "repeat", "wrong", "body"],
    )
}];

/// How a run ended. Owned by (run).
pub(crate) const END: &[Table] = &[table("run_end", 0, &["ended_unix_ms", "how", "kept"])];

/// The tables of a trial, without its details. Owned by (run, trial).
#[rustfmt::skip]
pub(crate) const SUMMARY: &[Table] = &[
    table("trial", 0, &[
        "subject", "workload", "point", "point_unit", "repeat", "began_unix_ms", "outcome", "outcome_says",
        "exit", "killed", "output_tail",
    ]),
    table("trial_launch", 0, &["pid", "port", "ready_after_ns", "backlog", "processes"]),
    table("trial_command", 1, &["place", "word"]),
    table("trial_condition", 1, &["place", "name", "value"]),
    table("trial_check", 1, &[
        "place", "phase", "ask", "wrong", "request", "response", "head_bytes", "rest_bytes", "digest",
    ]),
    table("trial_spot", 1, &["place", "phase", "case_id", "verdict", "why"]),
    table("trial_body", 1, &["part", "body"]),
];

/// A trial's details: large, and seldom needed. Owned by (run, trial).
#[rustfmt::skip]
pub(crate) const DETAIL: &[Table] = &[
    table("trial_series", 1, &["place", "name", "unit"]),
    limited(
        Limit { alike: 1, most: POINTS_MOST, of: "points are in one series" },
        &table("trial_point", 2, &["series", "place", "at_ns", "value"]),
    ),
    table("trial_detail", 1, &["part", "body"]),
];

/// Rows of one run or of one trial, by table, in the order of their keys.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rows(BTreeMap<&'static str, Vec<Row>>);

impl Rows {
    pub(crate) fn add(&mut self, table: &'static str, row: Row) {
        self.0.entry(table).or_default().push(row);
    }

    /// Removes the values of a column, which must allow that.
    pub(crate) fn blank(&mut self, table: &str, column: usize) {
        for row in self.0.get_mut(table).into_iter().flatten() {
            row[column] = Value::Null;
        }
    }

    /// Adds the rows of other tables.
    pub(crate) fn join(&mut self, other: Rows) {
        self.0.extend(other.0);
    }

    pub(crate) fn of(&self, table: &Table) -> &[Row] {
        self.0.get(table.name).map_or(&[], Vec::as_slice)
    }

    /// The rows of a table, to be read one after another.
    pub(crate) fn take(&mut self, table: &str) -> impl Iterator<Item = RowReader> {
        self.0.remove(table).unwrap_or_default().into_iter().map(RowReader::of)
    }

    /// Adds a list: the first column of each row is its place.
    pub(crate) fn add_list<T: Columns>(&mut self, table: &'static str, list: &[T]) {
        for (place, one) in list.iter().enumerate() {
            self.add(table, row![place, *one]);
        }
    }

    /// Adds the lists of the members of a list: the first two columns are the places of both.
    pub(crate) fn add_lists<'l, T: Columns + 'l>(
        &mut self,
        table: &'static str,
        lists: impl Iterator<Item = &'l [T]>,
    ) {
        for (of, list) in lists.enumerate() {
            for (place, one) in list.iter().enumerate() {
                self.add(table, row![of, place, *one]);
            }
        }
    }

    /// The members of a list, of which none is left out.
    pub(crate) fn take_list<T: Columns>(&mut self, table: &str) -> Result<Vec<T>, String> {
        let mut list = Vec::new();
        for mut row in self.take(table) {
            add_next(&mut list, &mut row).map_err(|says| format!("{table}: {says}"))?;
        }
        Ok(list)
    }

    /// Reads the lists of the members of a list.
    pub(crate) fn take_lists<'l, T: Columns + 'l>(
        &mut self,
        table: &str,
        lists: impl Iterator<Item = &'l mut Vec<T>>,
    ) -> Result<(), String> {
        let mut lists: Vec<&mut Vec<T>> = lists.collect();
        for mut row in self.take(table) {
            let list = lists.get_mut(row.next::<usize>()?);
            let list = list.ok_or_else(|| format!("{table}: a row of no list"))?;
            add_next(list, &mut row).map_err(|says| format!("{table}: {says}"))?;
        }
        Ok(())
    }

    /// What the only row of a table says, if it has one.
    pub(crate) fn take_one<T: Columns>(&mut self, table: &str) -> Result<Option<T>, String> {
        let mut rows = self.take(table);
        match (rows.next(), rows.next()) {
            (first, None) => first.map(|mut row| row.next()).transpose(),
            (_, Some(_)) => Err(format!("{table}: more than one row")),
        }
    }

    /// What the only row of a table says, which must be there.
    pub(crate) fn take_only<T: Columns>(&mut self, table: &str) -> Result<T, String> {
        self.take_one(table)?.ok_or_else(|| format!("{table}: no row"))
    }
}

fn add_next<T: Columns>(list: &mut Vec<T>, row: &mut RowReader) -> Result<(), String> {
    if row.next::<usize>()? != list.len() {
        return Err("a row is missing".into());
    }
    list.push(row.next()?);
    Ok(())
}
