//! A trial as rows, and back.

use lab::record::{Check, Ending, Launch, Outcome, OutcomeKind, Phase, Series, TrialRecord};
use load::Nanos;

use crate::bodies;
use crate::cell::{RowReader, row};
use crate::conformance_rows::{add_spots, spots};
use crate::run_rows::{fact, key, key_row};
use crate::table::Rows;

/// The rows of a trial, details included.
pub(crate) fn rows(trial: &TrialRecord) -> Rows {
    let mut rows = Rows::default();
    let mut first = key_row(&trial.key);
    first.extend(row![
        trial.began_unix_ms,
        trial.outcome.kind.name().to_string(),
        trial.outcome.says,
        trial.ending.exit,
        trial.ending.killed,
        trial.ending.output_tail,
    ]);
    rows.add("trial", first);
    if let Some(launch) = &trial.launch {
        add_launch(&mut rows, launch);
    }
    for (place, fact) in trial.conditions.iter().enumerate() {
        rows.add("trial_condition", row![place, fact.name, fact.value]);
    }
    for (place, check) in trial.checks.iter().enumerate() {
        add_check(&mut rows, place, check);
    }
    add_spots(&mut rows, &trial.spots);
    bodies::add(&mut rows, trial);
    for (place, series) in trial.series.iter().enumerate() {
        add_series(&mut rows, place, series);
    }
    rows
}

fn add_launch(rows: &mut Rows, launch: &Launch) {
    let Launch { command, pid, port, ready_after, backlog, processes } = launch;
    rows.add("trial_launch", row![*pid, *port, *ready_after, *backlog, *processes]);
    for (place, word) in command.iter().enumerate() {
        rows.add("trial_command", row![place, word.clone()]);
    }
}

fn add_check(rows: &mut Rows, place: usize, check: &Check) {
    let row = row![
        place,
        check.phase.name().to_string(),
        check.ask,
        check.wrong,
        check.request,
        check.response,
        check.head_len,
        check.rest_len,
        check.digest,
    ];
    rows.add("trial_check", row);
}

fn add_series(rows: &mut Rows, place: usize, series: &Series) {
    rows.add("trial_series", row![place, series.name, series.unit]);
    for (at, (at_ns, value)) in series.points.iter().enumerate() {
        rows.add("trial_point", row![place, at, *at_ns, *value]);
    }
}

/// The trial that is read from these rows. Without the rows of its details it has no windows and no series.
pub(crate) fn trial(number: u32, mut rows: Rows) -> Result<TrialRecord, String> {
    let mut first = rows.take_one("trial")?.ok_or("trial: no row")?;
    let first = &mut first;
    let (loaded, held) = bodies::parts(&mut rows)?;
    Ok(TrialRecord {
        key: key(number, first)?,
        began_unix_ms: first.next()?,
        outcome: Outcome { kind: outcome_kind(&first.next::<String>()?)?, says: first.next()? },
        ending: Ending { exit: first.next()?, killed: first.next()?, output_tail: first.next()? },
        launch: launch(&mut rows)?,
        conditions: rows.take_list("trial_condition", fact)?,
        checks: rows.take_list("trial_check", check)?,
        spots: spots(&mut rows)?,
        loaded,
        held,
        series: series(&mut rows)?,
    })
}

fn outcome_kind(name: &str) -> Result<OutcomeKind, String> {
    let kind = OutcomeKind::named(name);
    kind.ok_or_else(|| format!("`{name}` is no outcome that this dyno knows"))
}

fn launch(rows: &mut Rows) -> Result<Option<Launch>, String> {
    let command = rows.take_list("trial_command", RowReader::next)?;
    let Some(mut row) = rows.take_one("trial_launch")? else {
        return Ok(None);
    };
    Ok(Some(Launch {
        command,
        pid: row.next()?,
        port: row.next()?,
        ready_after: row.next()?,
        backlog: row.next()?,
        processes: row.next()?,
    }))
}

fn check(row: &mut RowReader) -> Result<Check, String> {
    Ok(Check {
        phase: phase(row)?,
        ask: row.next()?,
        wrong: row.next()?,
        request: row.next()?,
        response: row.next()?,
        head_len: row.next()?,
        rest_len: row.next()?,
        digest: row.next()?,
    })
}

/// Before or after the load.
pub(crate) fn phase(row: &mut RowReader) -> Result<Phase, String> {
    let name: String = row.next()?;
    let phase = Phase::named(&name);
    phase.ok_or_else(|| "a phase that this dyno does not know".to_string())
}

fn series(rows: &mut Rows) -> Result<Vec<Series>, String> {
    let named = |row: &mut RowReader| {
        Ok(Series { name: row.next()?, unit: row.next()?, points: Vec::new() })
    };
    let mut all = rows.take_list("trial_series", named)?;
    for mut row in rows.take("trial_point") {
        let (series, place): (usize, usize) = (row.next()?, row.next()?);
        let series = all.get_mut(series).ok_or("trial_point: no such series")?;
        if place != series.points.len() {
            return Err("trial_point: a row is missing".to_string());
        }
        series.points.push((row.next::<Nanos>()?, row.next()?));
    }
    Ok(all)
}
