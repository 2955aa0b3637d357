//! A load and what it measured as rows, and back.

use lab::record::Pressed;
use load::{
    Connections, Distribution, End, Failure, LaneReport, Notes, Recording, Sessions, Slow, Tally,
    Window,
};

use crate::cell::{Reading, row};
use crate::folding;
use crate::table::Rows;

type Failed = [u64; Failure::COUNT];

/// Adds the rows of a load.
pub(crate) fn add(rows: &mut Rows, pressed: &Pressed) {
    let Pressed { began, recording } = pressed;
    add_load(rows, *began, recording);
    for (class, count) in by_class(&recording.total.failed) {
        rows.add("trial_failure", row![class, count]);
    }
    for (name, distribution) in distributions(&recording.total) {
        let mut row = row![name.to_string()];
        row.extend(folding::counted(distribution));
        rows.add("trial_distribution", row);
    }
    for (place, slow) in recording.total.slowest.iter().enumerate() {
        let Slow { intended, sent, first_byte, done, seq, status } = *slow;
        rows.add("trial_slow", row![place, intended, sent, first_byte, done, seq, status]);
    }
    for (place, lane) in recording.lanes.iter().enumerate() {
        let LaneReport { cpu, cpu_time, wall, idle, polled } = *lane;
        rows.add("trial_lane", row![place, cpu, cpu_time, wall, idle, polled]);
    }
    for (place, window) in recording.windows.iter().enumerate() {
        add_window(rows, place, window);
    }
}

fn add_load(rows: &mut Rows, began: load::Nanos, recording: &Recording) {
    let total = &recording.total;
    let (end, gave_up_by) = match recording.end {
        End::Done => ("done", None),
        End::Halted => ("halted", None),
        End::GaveUp(failure) => ("gave-up", Some(failure.name().to_string())),
    };
    let row = row![
        began,
        recording.measured_from,
        recording.measured_until,
        recording.ended,
        end.to_string(),
        gave_up_by,
        recording.timeout,
        total.attempted,
        total.correct,
        total.correct_inside,
        total.under_way,
        total.answered,
        total.warmup_attempted,
        total.warmup_failed,
        total.connections.begun,
        total.connections.established,
        total.connections.failed,
        total.sessions.attempted,
        total.sessions.complete,
        total.sessions.failed,
        total.notes.stale_retries,
        total.notes.idle_closed,
        total.notes.surplus,
        total.notes.unsolicited,
        total.bytes_sent,
        total.bytes_received,
        total.in_flight_area,
        total.cpu,
        total.idle,
        total.polled,
        total.last_done,
    ];
    rows.add("trial_load", row);
}

fn add_window(rows: &mut Rows, place: usize, window: &Window) {
    let mut row = row![
        place,
        window.from,
        window.until,
        window.is_warmup,
        window.attempted,
        window.correct,
        window.bytes_sent,
        window.bytes_received,
        window.in_flight,
        window.cpu,
    ];
    row.extend(folding::cells(&window.response));
    row.extend(folding::cells(&window.service));
    rows.add("trial_window", row);
    for (class, count) in by_class(&window.failed) {
        rows.add("trial_window_failure", row![place, class, count]);
    }
}

/// The classes that occurred, in the order of their names: the tables' order.
fn by_class(failed: &Failed) -> Vec<(String, u64)> {
    let counted = Failure::ALL.into_iter().zip(failed).filter(|(_, count)| **count != 0);
    let mut counted: Vec<_> =
        counted.map(|(failure, &count)| (failure.name().to_string(), count)).collect();
    counted.sort();
    counted
}

/// In the order of their names: the table's order.
fn distributions(total: &Tally) -> [(&'static str, &Distribution); 6] {
    [
        ("blocked", &total.blocked),
        ("connect", &total.connect),
        ("first_byte", &total.first_byte),
        ("late", &total.late),
        ("response", &total.response),
        ("service", &total.service),
    ]
}

/// The load, if it came that far.
pub(crate) fn pressed(rows: &mut Rows) -> Result<Option<Pressed>, String> {
    let Some(mut row) = rows.take_one("trial_load")? else {
        return Ok(None);
    };
    let row = &mut row;
    Ok(Some(Pressed {
        began: row.next()?,
        recording: Recording {
            measured_from: row.next()?,
            measured_until: row.next()?,
            ended: row.next()?,
            end: end(row)?,
            timeout: row.next()?,
            total: total(row, rows)?,
            lanes: rows.take_list("trial_lane", lane)?,
            windows: windows(rows)?,
        },
    }))
}

fn end(row: &mut Reading) -> Result<End, String> {
    let (end, gave_up_by): (String, Option<String>) = (row.next()?, row.next()?);
    match (end.as_str(), gave_up_by) {
        ("done", None) => Ok(End::Done),
        ("halted", None) => Ok(End::Halted),
        ("gave-up", Some(class)) => failure(&class).map(End::GaveUp),
        _ => Err(format!("`{end}` is no end that this dyno knows")),
    }
}

fn total(row: &mut Reading, rows: &mut Rows) -> Result<Tally, String> {
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
        sessions: Sessions { attempted: row.next()?, complete: row.next()?, failed: row.next()? },
        notes: Notes {
            stale_retries: row.next()?,
            idle_closed: row.next()?,
            surplus: row.next()?,
            unsolicited: row.next()?,
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
    })
}

/// Alphabetically: blocked, connect, first_byte, late, response, service.
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

fn slow(row: &mut Reading) -> Result<Slow, String> {
    Ok(Slow {
        intended: row.next()?,
        sent: row.next()?,
        first_byte: row.next()?,
        done: row.next()?,
        seq: row.next()?,
        status: row.next()?,
    })
}

fn lane(row: &mut Reading) -> Result<LaneReport, String> {
    Ok(LaneReport {
        cpu: row.next()?,
        cpu_time: row.next()?,
        wall: row.next()?,
        idle: row.next()?,
        polled: row.next()?,
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

fn window(row: &mut Reading) -> Result<Window, String> {
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
