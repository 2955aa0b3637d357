//! Trials in a row that say nothing of the server.

use super::answer::Conclusion;

/// After so many the search ends.
const UNFIT_MOST: usize = 3;
/// After so many, where the load was on time at such a rate before: what disturbed it may pass.
const DISTURBED_MOST: usize = 12;

/// The trials since the last one that was evidence.
#[derive(Default)]
pub(super) struct UnfitRow {
    in_a_row: usize,
    /// Of the last one: why, and at how many in a row the search ends.
    last: Option<(String, usize)>,
}

impl UnfitRow {
    /// Takes one more; whether it may pass.
    pub(super) fn add(&mut self, says: &str, may_pass: bool) {
        self.in_a_row += 1;
        self.last = Some((says.to_owned(), if may_pass { DISTURBED_MOST } else { UNFIT_MOST }));
    }

    /// How the search ends, if there are too many.
    pub(super) fn conclusion(&self) -> Option<Conclusion> {
        let (says, most) = self.last.as_ref()?;
        (*most <= self.in_a_row)
            .then(|| Conclusion::CannotTell { says: says.clone(), in_a_row: self.in_a_row })
    }
}
