//! A trial as rows, and back.

use lab::record::TrialRecord;

use crate::bodies;
use crate::cell::row;
use crate::table::Rows;

/// The rows of a trial, details included.
pub(crate) fn rows(trial: &TrialRecord) -> Rows {
    let mut rows = Rows::default();
    rows.add("trial", row![*trial]);
    if let Some(launch) = &trial.launch {
        rows.add("trial_launch", row![*launch]);
        rows.add_list("trial_command", &launch.command);
    }
    rows.add_list("trial_condition", &trial.conditions);
    rows.add_list("trial_check", &trial.checks);
    rows.add_list("trial_spot", &trial.spots);
    bodies::add(&mut rows, trial);
    rows.add_list("trial_series", &trial.series);
    rows.add_lists("trial_point", trial.series.iter().map(|series| &series.points[..]));
    rows
}

/// The trial that is read from these rows. Without the rows of its details it has no windows and no series.
pub(crate) fn trial(number: u32, mut rows: Rows) -> Result<TrialRecord, String> {
    let mut trial: TrialRecord = rows.take_only("trial")?;
    trial.key.number = number;
    (trial.loaded, trial.held) = bodies::parts(&mut rows)?;
    trial.launch = rows.take_one("trial_launch")?;
    let command = rows.take_list("trial_command")?;
    if let Some(launch) = &mut trial.launch {
        launch.command = command;
    }
    trial.conditions = rows.take_list("trial_condition")?;
    trial.checks = rows.take_list("trial_check")?;
    trial.spots = rows.take_list("trial_spot")?;
    trial.series = rows.take_list("trial_series")?;
    rows.take_lists("trial_point", trial.series.iter_mut().map(|series| &mut series.points))?;
    Ok(trial)
}
