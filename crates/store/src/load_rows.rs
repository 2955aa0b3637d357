//! Reads what a load measured from the columns of stores before version 4.

use lab::record::LoadRecord;
use load::{
    Connections, Distribution, End, Failure, LaneReport, Notes, Recording, Sessions, Slow, Tally,
    Window,
};

use crate::cell::RowReader;
use crate::folding;
use crate::table::Rows;

type Failed = [u64; Failure::COUNT];

/// The load, if the trial got that far.
pub(crate) fn loaded(rows: &mut Rows) -> Result<Option<LoadRecord>, String> {
    let Some(mut row) = rows.take_one("trial_load")? else {
        return Ok(None);
    };
    let row = &mut row;
    Ok(Some(LoadRecord {
        began: row.next()?,
        in_turns: None,
        agents: Vec::new(),
        recording: Recording {
            measured_from: row.next()?,
            measured_until: row.next()?,
            ended: row.next()?,
            end: end(row)?,
            timeout: row.next()?,
            total: total(row, rows)?,
            lanes: rows.take_list("trial_lane", lane)?,
            windows: windows(rows)?,
            // Not recorded.
            sections: Vec::new(),
            silence: None,
            scheduled_until: None,
            on_time_within: None,
        },
    }))
}

fn end(row: &mut RowReader) -> Result<End, String> {
    let (end, gave_up_by): (String, Option<String>) = (row.next()?, row.next()?);
    match (end.as_str(), gave_up_by) {
        ("done", None) => Ok(End::Done),
        ("halted", None) => Ok(End::Halted),
        ("gave-up", Some(class)) => failure(&class).map(End::GaveUp),
        _ => Err(format!("`{end}` is no end that this dyno knows")),
    }
}

fn total(row: &mut RowReader, rows: &mut Rows) -> Result<Tally, String> {
    let [blocked, connect, first_byte, late, response, service] = take_distributions(rows)?;
    Ok(Tally {
        attempted: row.next()?,
        correct: row.next()?,
        correct_inside: row.next()?,
        under_way: row.next()?,
        answered: row.next()?,
        warmup_attempted: row.next()?,
        warmup_failed: row.next()?,
        connections: Connections {
            begun: row.next()?,
            established: row.next()?,
            failed: row.next()?,
        },
        sessions: Sessions {
            attempted: row.next()?,
            complete: row.next()?,
            failed: row.next()?,
            ..Sessions::default()
        },
        notes: Notes {
            stale_retries: row.next()?,
            idle_closed: row.next()?,
            surplus: row.next()?,
            unsolicited: row.next()?,
            ..Notes::default()
        },
        bytes_sent: row.next()?,
        bytes_received: row.next()?,
        in_flight_area: row.next()?,
        cpu: row.next()?,
        idle: row.next()?,
        polled: row.next()?,
        last_done: row.next()?,
        failed: failed(rows)?,
        slowest: rows.take_list("trial_slow", slow)?,
        response,
        service,
        first_byte,
        late,
        blocked,
        connect,
        ..Tally::new(1)
    })
}

/// The distributions in alphabetical order: blocked, connect, first_byte, late, response, service.
fn take_distributions(rows: &mut Rows) -> Result<[Distribution; 6], String> {
    let mut all = Vec::new();
    for mut row in rows.take("trial_distribution") {
        let name: String = row.next()?;
        all.push(folding::read_counted(&name, &mut row)?);
    }
    let found = all.len();
    all.try_into().map_err(|_| format!("{found} distributions instead of six"))
}

fn failed(rows: &mut Rows) -> Result<Failed, String> {
    let mut failed = [0; Failure::COUNT];
    for mut row in rows.take("trial_failure") {
        let class: String = row.next()?;
        failed[failure(&class)?.index()] = row.next()?;
    }
    Ok(failed)
}

fn failure(class: &str) -> Result<Failure, String> {
    Failure::from_name(class)
        .ok_or_else(|| format!("`{class}` is no failure that this dyno knows; a newer one may"))
}

fn slow(row: &mut RowReader) -> Result<Slow, String> {
    Ok(Slow {
        intended: row.next()?,
        sent: row.next()?,
        first_byte: row.next()?,
        done: row.next()?,
        seq: row.next()?,
        status: row.next()?,
    })
}

fn lane(row: &mut RowReader) -> Result<LaneReport, String> {
    Ok(LaneReport {
        cpu: row.next()?,
        cpu_time: row.next()?,
        wall: row.next()?,
        idle: row.next()?,
        polled: row.next()?,
        ..LaneReport::default()
    })
}

fn windows(rows: &mut Rows) -> Result<Vec<Window>, String> {
    let mut windows = rows.take_list("trial_window", window)?;
    for mut row in rows.take("trial_window_failure") {
        let (place, class): (usize, String) = (row.next()?, row.next()?);
        let window = windows.get_mut(place).ok_or("trial_window_failure: no such window")?;
        window.failed[failure(&class)?.index()] = row.next()?;
    }
    Ok(windows)
}

fn window(row: &mut RowReader) -> Result<Window, String> {
    Ok(Window {
        from: row.next()?,
        until: row.next()?,
        is_warmup: row.next()?,
        attempted: row.next()?,
        correct: row.next()?,
        bytes_sent: row.next()?,
        bytes_received: row.next()?,
        in_flight: row.next()?,
        cpu: row.next()?,
        response: folding::read(row)?,
        service: folding::read(row)?,
        failed: [0; Failure::COUNT],
    })
}
