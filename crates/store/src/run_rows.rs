//! A run as rows, and back.

use lab::record::{RunRecord, TrialKey};

use crate::cell::row;
use crate::columns::End;
use crate::run::RunEnd;
use crate::table::Rows;

/// The rows of a run.
pub(crate) fn rows(run: &RunRecord) -> Rows {
    let mut rows = Rows::default();
    rows.add("run", row![*run]);
    rows.add_list("run_file", &run.texts());
    rows.add_list("run_fact", &run.facts);
    rows.add_list("run_entry", &run.entries);
    rows.add_lists("run_setting", run.entries.iter().map(|entry| &entry.settings[..]));
    for key in &run.plan {
        rows.add("run_plan", row![key.number, *key]);
    }
    rows
}

/// The run that is read from these rows.
pub(crate) fn run(mut rows: Rows) -> Result<RunRecord, String> {
    let mut run: RunRecord = rows.take_only("run")?;
    run.facts = rows.take_list("run_fact")?;
    run.entries = rows.take_list("run_entry")?;
    run.set_texts(rows.take_list("run_file")?)?;
    rows.take_lists("run_setting", run.entries.iter_mut().map(|entry| &mut entry.settings))?;
    for mut row in rows.take("run_plan") {
        let number = row.next()?;
        run.plan.push(TrialKey { number, ..row.next()? });
    }
    Ok(run)
}

impl End {
    /// Whether the run was done, and none of the trials that were stored then is missing; so many are there now.
    pub(crate) fn is_whole(&self, kept: u32) -> bool {
        self.how == RunEnd::Done && self.kept <= kept as usize
    }

    pub(crate) fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        rows.add("run_end", row![*self]);
        rows
    }

    /// The end that is read from these rows.
    pub(crate) fn read(mut rows: Rows) -> Result<End, String> {
        rows.take_only("run_end")
    }
}
