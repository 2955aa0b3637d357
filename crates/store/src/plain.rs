//! Records as tables of JSON values: what a run is in a file that is not SQLite. They are the tables of the store, without
//! the columns that say which record owns a row, and column by column, because that takes less room.

use std::collections::BTreeMap;

use lab::conformance::Conformance;
use lab::record::{ProfileRecord, RunRecord, TrialRecord};
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::columns::End;
use crate::run::RunEnd;
use crate::table::{CONFORMANCE, END, PROFILE, RUN, Rows, SUMMARY, Table};
use crate::{conformance_rows, profiles, run_rows, table, trial_rows};

/// The rows of one record: of each table its columns, and in each column the values of all rows.
pub type Tables = BTreeMap<String, Vec<Vec<Value>>>;

/// The names of a table's columns.
#[must_use]
pub fn columns(name: &str) -> Option<&'static [&'static str]> {
    let all = [RUN, CONFORMANCE, PROFILE, END, SUMMARY, table::DETAIL];
    let table = all.into_iter().flatten().find(|table| table.name == name);
    table.map(|table| table.columns)
}

/// A run as it began, without its checks and its profiles.
#[must_use]
pub fn run(record: &RunRecord) -> Tables {
    tables(&run_rows::rows(record), &[RUN])
}

/// The check of a server.
#[must_use]
pub fn check(found: &Conformance) -> Tables {
    let mut rows = conformance_rows::rows(found);
    // The run from which it was taken over is another one elsewhere.
    rows.blank("run_conformance", 0);
    tables(&rows, &[CONFORMANCE])
}

#[must_use]
pub fn profile(record: &ProfileRecord) -> Tables {
    tables(&profiles::rows(record), &[PROFILE])
}

#[must_use]
pub fn trial(record: &TrialRecord) -> Tables {
    tables(&trial_rows::rows(record), &[SUMMARY, table::DETAIL])
}

/// How a run ended, of which so many trials were kept then.
#[must_use]
pub fn end(ended_unix_ms: i64, end: RunEnd, kept: usize) -> Tables {
    tables(&End { ended_unix_ms, how: end, kept }.rows(), &[END])
}

pub fn read_run(tables: Tables) -> Result<RunRecord, String> {
    run_rows::run(rows(tables, &[RUN])?)
}

pub fn read_check(subject: &str, tables: Tables) -> Result<Conformance, String> {
    conformance_rows::conformance(subject, rows(tables, &[CONFORMANCE])?)
}

pub fn read_profile(number: u32, tables: Tables) -> Result<ProfileRecord, String> {
    profiles::profile(number, rows(tables, &[PROFILE])?)
}

pub fn read_trial(number: u32, tables: Tables) -> Result<TrialRecord, String> {
    trial_rows::trial(number, rows(tables, &[SUMMARY, table::DETAIL])?)
}

/// When and how a run ended, and how many of its trials were kept then.
pub fn read_end(tables: Tables) -> Result<(i64, RunEnd, usize), String> {
    let End { ended_unix_ms, how, kept } = End::read(rows(tables, &[END])?)?;
    Ok((ended_unix_ms, how, kept))
}

fn tables(rows: &Rows, groups: &[&[Table]]) -> Tables {
    let mut tables = Tables::new();
    for table in groups.iter().copied().flatten() {
        let rows = rows.of(table);
        if rows.is_empty() {
            continue;
        }
        let column = |at: usize| rows.iter().map(|row| value(&row[at])).collect();
        let columns = (0..table.columns.len()).map(column).collect();
        tables.insert(table.name.into(), columns);
    }
    tables
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => json!(number),
        Cell::Real(number) if number.is_finite() => json!(number),
        Cell::Real(number) => json!({ "real": number.to_string() }),
        Cell::Text(text) => json!(text),
        Cell::Blob(bytes) => json!({ "hex": hex(bytes) }),
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes of an even number of digits.
#[must_use]
pub fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(&pair[0])? << 4 | digit(pair.get(1)?)?)).collect()
}

/// The rows that these tables hold, which anybody may have written.
fn rows(tables: Tables, groups: &[&[Table]]) -> Result<Rows, String> {
    let mut rows = Rows::default();
    for (name, columns) in tables {
        let known = groups.iter().copied().flatten().find(|table| table.name == name);
        let table = known.ok_or_else(|| format!("`{}` is no table of it", name.escape_debug()))?;
        let many = columns.first().map_or(0, Vec::len);
        if columns.len() != table.columns.len() || columns.iter().any(|it| it.len() != many) {
            return Err(format!("{name}: its columns are not those of the table"));
        }
        if table.limit.is_some_and(|limit| limit.alike == 0 && limit.most < many) {
            return Err(format!("{name}: it has too many rows"));
        }
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        for _ in 0..many {
            let row = columns.iter_mut().filter_map(Iterator::next).map(cell);
            let row = row.collect::<Result<_, _>>().map_err(|says| format!("{name}: {says}"))?;
            rows.add(table.name, row);
        }
    }
    Ok(rows)
}

fn cell(value: Value) -> Result<Cell, String> {
    match value {
        Value::Null => Ok(Cell::Null),
        Value::String(text) => Ok(Cell::Text(text)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) if !number.is_f64() => Ok(Cell::Integer(whole)),
            (_, Some(real)) if number.is_f64() => Ok(Cell::Real(real)),
            _ => Err(format!("{number} is no number of a table")),
        },
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            let blob = text("hex").and_then(bytes).map(Cell::Blob);
            let real = text("real").and_then(|text| text.parse().ok()).map(Cell::Real);
            blob.or(real).ok_or_else(|| "a value that no table has".into())
        }
        Value::Bool(_) | Value::Array(_) => Err("a value that no table has".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_comes_back() {
        let all = [
            Cell::Null,
            Cell::Integer(i64::MIN),
            Cell::Real(2.0),
            Cell::Real(0.1),
            Cell::Real(f64::NEG_INFINITY),
            Cell::Text("a \"b\"\n".into()),
            Cell::Blob(vec![0, 9, 255]),
        ];
        for one in all {
            let text = value(&one).to_string();
            assert_eq!(cell(serde_json::from_str(&text).unwrap()), Ok(one), "{text}");
        }
        for bad in [
            "true",
            "[1]",
            r#"{"hex":"0"}"#,
            r#"{"hex":"xx"}"#,
            r#"{}"#,
            "1e999",
            "18446744073709551615",
        ] {
            let read = serde_json::from_str(bad).map_err(|error| error.to_string());
            assert!(read.and_then(cell).is_err(), "{bad}");
        }
    }

    #[test]
    fn other_tables_and_ragged_ones_are_refused() {
        let read_as = |name: &str, columns| rows(Tables::from([(name.into(), columns)]), &[END]);
        let (time, how, kept) = (vec![json!(1)], vec![json!("done")], vec![json!(0)]);
        assert!(read_as("run_end", vec![time.clone(), how.clone(), kept.clone()]).is_ok());
        assert!(read_as("run_end", vec![time.clone(), how.clone(), Vec::new()]).is_err());
        assert!(read_as("run_end", vec![time, how]).is_err());
        assert!(read_as("run_fact", vec![kept]).is_err());
    }
}
