//! Reads held connections and what was observed of them from the columns of stores before version 4.

use lab::record::HeldRecord;
use load::{
    Broadcast, Distribution, Echoes, HoldWindow, Holding, Loss, Nanos, Plateau, PlateauTimes,
};

use crate::cell::RowReader;
use crate::folding;
use crate::table::Rows;

/// Distributions of a plateau in the order of their names: the table's order.
const NAMES: [&str; 6] = ["agree", "connect", "echo", "gap", "late", "own"];

/// Held connections, if the trial got that far.
pub(crate) fn held(rows: &mut Rows) -> Result<Option<HeldRecord>, String> {
    let Some(mut row) = rows.take_one("trial_hold")? else {
        return Ok(None);
    };
    let (began, closed_at, was_halted): (Nanos, Nanos, bool) =
        (row.next()?, row.next()?, row.next()?);
    let mut plateaus = plateaus(rows)?;
    read_losses(rows, &mut plateaus)?;
    read_broadcasts(rows, &mut plateaus)?;
    let windows = rows.take_list("trial_hold_window", window)?;
    Ok(Some(HeldRecord {
        began,
        agents: Vec::new(),
        holding: Holding { plateaus, windows, closed_at, was_halted },
    }))
}

/// The plateaus with their distributions, but without the parts that are in other tables.
fn plateaus(rows: &mut Rows) -> Result<Vec<Plateau>, String> {
    let all: Vec<RowReader> = rows.take("trial_plateau_distribution").collect();
    let mut all = all.into_iter();
    let mut places = 0..;
    let plateaus = rows.take_list("trial_plateau", |row| {
        plateau(row, distributions(places.next().unwrap_or(0), &mut all)?)
    })?;
    match all.next() {
        None => Ok(plateaus),
        Some(_) => Err("trial_plateau_distribution: a row too many".to_string()),
    }
}

/// The distributions of one plateau, in the order of `NAMES`.
fn distributions(
    place: usize,
    rows: &mut impl Iterator<Item = RowReader>,
) -> Result<[Distribution; 6], String> {
    let mut six = Vec::new();
    for (name, mut row) in NAMES.into_iter().zip(rows) {
        let (plateau, found): (usize, String) = (row.next()?, row.next()?);
        if (plateau, found.as_str()) != (place, name) {
            return Err(format!("the distribution `{name}` is missing"));
        }
        six.push(folding::read_counted(name, &mut row)?);
    }
    let found = six.len();
    six.try_into().map_err(|_| format!("{found} distributions instead of six"))
}

fn plateau(row: &mut RowReader, distributions: [Distribution; 6]) -> Result<Plateau, String> {
    let [agree, connect, response, gap, late, own] = distributions;
    Ok(Plateau {
        times: PlateauTimes {
            connections: row.next()?,
            from: row.next()?,
            measured_from: row.next()?,
            until: row.next()?,
        },
        measured: row.next()?,
        begun: row.next()?,
        begun_again: row.next()?,
        opened: row.next()?,
        open: row.next()?,
        opening: row.next()?,
        silent: row.next()?,
        messages: row.next()?,
        bytes: row.next()?,
        missed: row.next()?,
        stamped: row.next()?,
        echoes: Echoes {
            due: row.next()?,
            blocked: row.next()?,
            correct: row.next()?,
            failed: row.next()?,
            under_way: row.next()?,
            response,
        },
        cpu: row.next()?,
        connect,
        agree,
        late,
        gap,
        own,
        ..Plateau::default()
    })
}

fn read_losses(rows: &mut Rows, plateaus: &mut [Plateau]) -> Result<(), String> {
    for mut row in rows.take("trial_plateau_loss") {
        let place: usize = row.next()?;
        let (phase, cause): (String, String) = (row.next()?, row.next()?);
        let plateau = plateaus.get_mut(place).ok_or("trial_plateau_loss: no such plateau")?;
        let lost = match phase.as_str() {
            "failed" => &mut plateau.failed,
            "lost" => &mut plateau.lost,
            other => return Err(format!("`{other}` is no phase that this dyno knows")),
        };
        lost[loss(&cause)?.index()] = row.next()?;
    }
    Ok(())
}

fn loss(cause: &str) -> Result<Loss, String> {
    Loss::from_name(cause)
        .ok_or_else(|| format!("`{cause}` is no loss that this dyno knows; a newer one may"))
}

fn read_broadcasts(rows: &mut Rows, plateaus: &mut [Plateau]) -> Result<(), String> {
    for mut row in rows.take("trial_broadcast") {
        let (plateau, place): (usize, usize) = (row.next()?, row.next()?);
        let plateau = plateaus.get_mut(plateau).ok_or("trial_broadcast: no such plateau")?;
        if place != plateau.broadcasts.len() {
            return Err("trial_broadcast: a row is missing".to_string());
        }
        let number: u64 = row.next()?;
        let received = Broadcast { first: row.next()?, last: row.next()?, received: row.next()? };
        plateau.broadcasts.insert(number, received);
    }
    Ok(())
}

fn window(row: &mut RowReader) -> Result<HoldWindow, String> {
    Ok(HoldWindow {
        from: row.next()?,
        until: row.next()?,
        open: row.next()?,
        opening: row.next()?,
        begun: row.next()?,
        opened: row.next()?,
        failed: row.next()?,
        lost: row.next()?,
        messages: row.next()?,
        bytes: row.next()?,
        open_after: folding::read(row)?,
        late: folding::read(row)?,
    })
}
