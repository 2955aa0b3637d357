//! A run as rows, and back.

use lab::experiment::Point;
use lab::record::{Entry, Fact, RunRecord, Setting, TrialKey};

use crate::cell::{Row, RowReader, row};
use crate::run::RunEnd;
use crate::table::Rows;

/// The rows of a run.
pub(crate) fn rows(run: &RunRecord) -> Rows {
    let mut rows = Rows::default();
    rows.add("run", row![run.name, run.is_quick, run.seed, run.began_unix_ms, run.dyno]);
    for (place, (path, text)) in run.texts().into_iter().enumerate() {
        rows.add("run_file", row![place, path, text]);
    }
    for (place, fact) in run.facts.iter().enumerate() {
        rows.add("run_fact", row![place, fact.name, fact.value]);
    }
    for (place, entry) in run.entries.iter().enumerate() {
        rows.add("run_entry", entry_row(place, entry));
        for (at, setting) in entry.settings.iter().enumerate() {
            let row = row![place, at, setting.name, setting.default, setting.change];
            rows.add("run_setting", row);
        }
    }
    for key in &run.plan {
        let mut row = row![key.number];
        row.extend(key_row(key));
        rows.add("run_plan", row);
    }
    rows
}

fn entry_row(place: usize, entry: &Entry) -> Row {
    row![
        place,
        entry.name,
        entry.title,
        entry.language,
        entry.processes,
        entry.tier,
        entry.notes,
        entry.version,
        entry.build,
        entry.skipped,
    ]
}

/// The key of a trial, without its number.
pub(crate) fn key_row(key: &TrialKey) -> Row {
    let unit = key.point.unit().to_string();
    row![key.subject, key.workload, key.point.value(), unit, key.repeat]
}

/// The run that is read from these rows.
pub(crate) fn run(mut rows: Rows) -> Result<RunRecord, String> {
    let mut row = rows.take_one("run")?.ok_or("run: no row")?;
    let mut run = RunRecord {
        name: row.next()?,
        is_quick: row.next()?,
        seed: row.next()?,
        began_unix_ms: row.next()?,
        dyno: row.next()?,
        facts: rows.take_list("run_fact", fact)?,
        entries: rows.take_list("run_entry", entry)?,
        ..RunRecord::default()
    };
    run.set_texts(rows.take_list("run_file", |row| Ok((row.next()?, row.next()?)))?)?;
    for mut row in rows.take("run_setting") {
        let (entry, place): (usize, usize) = (row.next()?, row.next()?);
        let entry = run.entries.get_mut(entry).ok_or("run_setting: no such entry")?;
        if place != entry.settings.len() {
            return Err("run_setting: a row is missing".to_string());
        }
        let setting = Setting { name: row.next()?, default: row.next()?, change: row.next()? };
        entry.settings.push(setting);
    }
    for mut row in rows.take("run_plan") {
        let number = row.next()?;
        run.plan.push(key(number, &mut row)?);
    }
    Ok(run)
}

pub(crate) fn fact(row: &mut RowReader) -> Result<Fact, String> {
    Ok(Fact { name: row.next()?, value: row.next()? })
}

fn entry(row: &mut RowReader) -> Result<Entry, String> {
    Ok(Entry {
        name: row.next()?,
        title: row.next()?,
        language: row.next()?,
        processes: row.next()?,
        tier: row.next()?,
        notes: row.next()?,
        version: row.next()?,
        build: row.next()?,
        skipped: row.next()?,
        settings: Vec::new(),
    })
}

pub(crate) fn key(number: u32, row: &mut RowReader) -> Result<TrialKey, String> {
    Ok(TrialKey {
        number,
        subject: row.next()?,
        workload: row.next()?,
        point: point(row.next()?, &row.next::<String>()?)?,
        repeat: row.next()?,
    })
}

fn point(value: f64, unit: &str) -> Result<Point, String> {
    let point = match unit {
        "connections" => Point::Connections(value as u32),
        "requests/s" => Point::Requests(value),
        "sessions/s" => Point::Sessions(value),
        "held connections" => Point::Held(value as u32),
        other => return Err(format!("`{other}` is no axis that this dyno knows")),
    };
    Ok(point)
}

pub(crate) struct End {
    pub(crate) ended_unix_ms: i64,
    pub(crate) how: RunEnd,
    pub(crate) kept: usize,
}

impl End {
    /// Whether the run was done, and none of the trials that were stored then is missing; so many are there now.
    pub(crate) fn is_whole(&self, kept: u32) -> bool {
        self.how == RunEnd::Done && self.kept <= kept as usize
    }
}

pub(crate) fn end_row(ended_unix_ms: i64, end: RunEnd, kept: usize) -> Row {
    row![ended_unix_ms, end.name().to_string(), kept]
}

/// The end that is read from these rows.
pub(crate) fn end(mut rows: Rows) -> Result<End, String> {
    let mut row = rows.take_one("run_end")?.ok_or("run_end: no row")?;
    let (ended_unix_ms, how) = (row.next()?, row.next::<String>()?);
    let how = RunEnd::named(&how).ok_or_else(|| format!("`{how}` is no end of a run"))?;
    Ok(End { ended_unix_ms, how, kept: row.next()? })
}
