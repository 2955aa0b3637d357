//! Requests and failures by the form in which the requests were written, where they were varied.

use serde::{Deserialize, Serialize};
use wire::RequestForm;

/// Measured requests, by their form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormCounts {
    /// Those that were sent, in the order of `RequestForm::ALL`.
    pub sent: [u64; RequestForm::COUNT],
    /// Of them, those that failed, and not for a reason on dyno's side.
    pub failed: [u64; RequestForm::COUNT],
    /// Those whose head was sent in two segments and that were answered as expected: no distribution has them.
    pub untimed: u64,
    /// Those with such a head that were given up, or in flight at the end.
    pub untimed_given_up: u64,
}

impl FormCounts {
    pub(crate) fn merge(mine: &mut Option<FormCounts>, theirs: Option<FormCounts>) {
        let Some(theirs) = theirs else { return };
        let counts = mine.get_or_insert_default();
        for form in RequestForm::ALL {
            counts.sent[form.index()] += theirs.sent[form.index()];
            counts.failed[form.index()] += theirs.failed[form.index()];
        }
        counts.untimed += theirs.untimed;
        counts.untimed_given_up += theirs.untimed_given_up;
    }

    /// How many requests were sent in this form, and how many of them failed.
    #[must_use]
    pub fn of(&self, form: RequestForm) -> (u64, u64) {
        (self.sent[form.index()], self.failed[form.index()])
    }
}
