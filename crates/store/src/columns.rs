//! The columns of each record: every field once, in the order in which the tables have them.

use lab::conformance::{Area, CaseVerdict, Evidence, Finding, Level, Report, Spot, Stamp, Tag};
use lab::experiment::Point;
use lab::record::{
    Check, Ending, Entry, Fact, Launch, Outcome, OutcomeKind, Phase, RunRecord, Series, Setting,
    TrialKey, TrialRecord,
};
use rusqlite::types::Value;

use crate::cell::{Cell, Columns, Row, RowReader};
use crate::run::RunEnd;

/// How a run ended, and how many of its trials were stored then.
pub(crate) struct End {
    pub(crate) ended_unix_ms: i64,
    pub(crate) how: RunEnd,
    pub(crate) kept: usize,
}

/// Fields behind a semicolon are in no column of the record's own row: they have tables of their own.
macro_rules! columns {
    ($($Type:ident { $($field:ident),+ $(; $($other:ident),+)? })*) => { $(
        impl Columns for $Type {
            fn put(&self, row: &mut Row) {
                $(self.$field.put(row);)+
            }

            fn take(row: &mut RowReader) -> Result<$Type, String> {
                Ok($Type {
                    $($field: row.next()?,)+
                    $($($other: Default::default(),)+)?
                })
            }
        }
    )* };
}

columns! {
    RunRecord {
        name, is_quick, seed, began_unix_ms, dyno;
        experiment, files, facts, entries, plan, conformance, profiles
    }
    Fact { name, value }
    Entry { name, title, language, processes, tier, notes, version, build, skipped; settings }
    Setting { name, default, change }
    TrialKey { subject, workload, point, repeat; number }
    End { ended_unix_ms, how, kept }
    Report { catalogue, rounds, took_ms, cut_short; findings }
    Stamp { version, hash }
    Finding {
        id, title, area, clause, level, weight, tags, verdict, rounds, why, demand, doubt, expected, evidence
    }
    Evidence { sent, sent_len, received, received_len }
    TrialRecord {
        key, began_unix_ms, outcome, ending;
        launch, conditions, checks, spots, loaded, held, series
    }
    Outcome { kind, says }
    Ending { exit, killed, output_tail }
    Launch { pid, port, ready_after, backlog, processes; command }
    Check { phase, ask, wrong, request, response, head_len, rest_len, digest }
    Spot { phase, id, verdict, why }
    Series { name, unit; points }
}

impl Columns for Point {
    fn put(&self, row: &mut Row) {
        (self.value(), self.unit().to_string()).put(row);
    }

    fn take(row: &mut RowReader) -> Result<Point, String> {
        let (value, unit): (f64, String) = row.next()?;
        Point::at(value, &unit)
    }
}

/// Values that are written by their names, and lists of them with a blank between two.
macro_rules! words {
    ($($Type:ident: $what:literal,)+) => { $(
        impl Cell for $Type {
            fn cell(&self) -> Value {
                Value::Text(self.name().into())
            }

            fn read(value: Value) -> Result<$Type, String> {
                let name = String::read(value)?;
                $Type::named(&name).ok_or_else(|| {
                    format!("`{}` is no {} that this dyno knows", name.escape_debug(), $what)
                })
            }
        }

        impl Cell for Vec<$Type> {
            fn cell(&self) -> Value {
                let names: Vec<&str> = self.iter().map(|word| word.name()).collect();
                Value::Text(names.join(" "))
            }

            fn read(value: Value) -> Result<Vec<$Type>, String> {
                let names = String::read(value)?;
                names.split_whitespace().map(|name| $Type::read(Value::Text(name.into()))).collect()
            }
        }
    )+ };
}

words! {
    Area: "area",
    CaseVerdict: "verdict",
    Level: "level",
    OutcomeKind: "outcome",
    Phase: "phase",
    RunEnd: "end of a run",
    Tag: "tag",
}
