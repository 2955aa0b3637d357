//! A file of results: which format it has is seen by its content, never by the ending of its name.

use std::collections::HashSet;

use serde_json::Value;

use crate::formats::{self, Format};
use crate::row::{Limit, Mark, NoLimit, Row};

/// What its reader knows of a file, and the file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stated {
    /// So many requests were under way at once, always.
    pub connections: Option<f64>,
    /// Times without a unit are in units of so many nanoseconds.
    pub time_unit_ns: Option<f64>,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The file.
    pub name: String,
    pub format: Format,
    pub rows: Vec<Row>,
    /// Numbers that stand for no number in every row: what was not measured at all.
    pub marks: Vec<Mark>,
    /// No time of any row has a unit.
    pub has_no_units: bool,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It begins like JSON, and is not: what the parser says.
    NoJson(String),
    /// It is in none of the formats.
    Unknown,
    /// It is another document of dyno's, with this schema.
    OwnDocument(String),
    /// There is nothing in it.
    Empty,
}

/// Reads one file.
///
/// # Errors
///
/// Where the content is in none of the formats.
pub fn read(name: &str, content: &[u8], stated: Stated) -> Result<Source, Unreadable> {
    let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    let first = content.iter().find(|byte| !byte.is_ascii_whitespace());
    let (format, rows) = match first {
        Some(b'{' | b'[') => {
            let value: Value = serde_json::from_slice(content).map_err(|error| {
                let no_json = Unreadable::NoJson(error.to_string());
                of_first_line(name, content).unwrap_or(no_json)
            })?;
            formats::of_json(name, &value)?
        }
        None => return Err(Unreadable::Empty),
        Some(_) => {
            let text = String::from_utf8_lossy(content);
            formats::of_text(name, &text).ok_or(Unreadable::Unknown)?
        }
    };
    Ok(completed(
        Source { name: name.into(), format, rows, marks: Vec::new(), has_no_units: false },
        stated,
    ))
}

/// Which document of dyno's has such lines, each an object of its own: a stream.
fn of_first_line(name: &str, content: &[u8]) -> Option<Unreadable> {
    let line = content.split(|byte| *byte == b'\n').next()?;
    let value: Value = serde_json::from_slice(line).ok()?;
    formats::of_json(name, &value).err().filter(|why| matches!(why, Unreadable::OwnDocument(_)))
}

/// With what its reader stated. What is the same in all rows is said once, of the file.
fn completed(mut source: Source, stated: Stated) -> Source {
    for row in &mut source.rows {
        state(row, stated);
    }
    source.has_no_units = !source.rows.is_empty() && source.rows.iter().all(|row| !row.has_unit);
    if 1 < source.rows.len() {
        let marks = marks_of_all(&source.rows);
        let said: HashSet<&Mark> = marks.iter().collect();
        for row in &mut source.rows {
            row.marks.retain(|mark| !said.contains(mark));
        }
        source.marks = marks;
    }
    source
}

/// The marks of the first row that all others have, too. Sets, because a hostile file has very many.
fn marks_of_all(rows: &[Row]) -> Vec<Mark> {
    let Some((first, others)) = rows.split_first() else { return Vec::new() };
    let mut everywhere: HashSet<&Mark> = first.marks.iter().collect();
    for row in others {
        let of_row: HashSet<&Mark> = row.marks.iter().collect();
        everywhere.retain(|mark| of_row.contains(mark));
    }
    first.marks.iter().filter(|mark| everywhere.contains(mark)).cloned().collect()
}

fn state(row: &mut Row, stated: Stated) {
    if let (Some(ns), false) = (stated.time_unit_ns, row.has_unit) {
        let scaled = |time: &mut crate::row::Time| {
            (time.value, time.step) = (time.value * ns, time.step * ns);
        };
        row.percentiles.iter_mut().for_each(|(_, time)| scaled(time));
        row.mean.as_mut().into_iter().for_each(scaled);
        row.has_unit = true;
    }
    let is_open = match row.limit {
        Limit::Unknown(NoLimit::Connections | NoLimit::Executor) => true,
        // A board has rows with other numbers of streams.
        Limit::Unknown(NoLimit::Streams) => !row.names_server,
        Limit::Unknown(
            NoLimit::Averages | NoLimit::Pipelined | NoLimit::Schedule | NoLimit::Profile,
        )
        | Limit::UnderWay(_) => false,
    };
    if let Some(connections) = stated.connections.filter(|_| is_open) {
        row.limit = Limit::UnderWay(connections);
        row.connections.get_or_insert(connections);
    }
}
