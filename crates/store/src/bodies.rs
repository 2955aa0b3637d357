//! What a trial measured, written as JSON texts and read back.

use lab::record::{HeldRecord, LoadRecord, TrialRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cell::row;
use crate::table::Rows;

/// Which part of a trial a body holds.
const LOAD: &str = "load";
const HELD: &str = "held";

/// Adds the bodies of a trial, in the order of the tables' keys.
pub(crate) fn add(rows: &mut Rows, trial: &TrialRecord) {
    if let Some(held) = &trial.held {
        add_part(rows, HELD, held, &held.holding.windows);
    }
    if let Some(loaded) = &trial.loaded {
        add_part(rows, LOAD, loaded, &loaded.recording.windows);
    }
}

fn add_part(rows: &mut Rows, part: &str, body: &impl Serialize, detail: &impl Serialize) {
    rows.add("trial_body", row![part.to_string(), written(body)]);
    rows.add("trial_detail", row![part.to_string(), written(detail)]);
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our own values can be written as JSON")
}

/// The load and the held connections of a trial, as far as it got. Without the rows of its details they have no
/// windows.
pub(crate) fn parts(rows: &mut Rows) -> Result<(Option<LoadRecord>, Option<HeldRecord>), String> {
    let (mut loaded, mut held) = (None::<LoadRecord>, None::<HeldRecord>);
    for mut row in rows.take("trial_body") {
        let (part, body): (String, String) = row.next()?;
        match part.as_str() {
            LOAD => loaded = Some(read(&part, &body)?),
            HELD => held = Some(read(&part, &body)?),
            _ => return Err(format!("trial_body: an unknown part `{}`", part.escape_debug())),
        }
    }
    for mut row in rows.take("trial_detail") {
        let (part, body): (String, String) = row.next()?;
        match (part.as_str(), &mut loaded, &mut held) {
            (LOAD, Some(loaded), _) => loaded.recording.windows = read(&part, &body)?,
            (HELD, _, Some(held)) => held.holding.windows = read(&part, &body)?,
            _ => return Err(format!("trial_detail: `{}` has no body", part.escape_debug())),
        }
    }
    Ok((loaded, held))
}

fn read<T: DeserializeOwned>(part: &str, body: &str) -> Result<T, String> {
    serde_json::from_str(body).map_err(|error| format!("its body `{part}` cannot be read: {error}"))
}
