//! Whether the subject's conformance under load is the same as before.

use lab::conformance::{CaseVerdict, Spot};
use lab::record::{Phase, TrialRecord};
use units::count;

use super::Doubt;
use super::definition::Definition;
use crate::verdict::Gravity::Suspect;

pub(super) const ALL: &[Definition] = &[CONFORMANCE_UNDER_LOAD];

/// Cases of the RFCs passed before the load and failed after it.
pub(crate) const CONFORMANCE_UNDER_LOAD: Definition = Definition::new("conformance_under_load", Suspect)
    .when("one of the ten cheapest cases of `dyno check` passed before the load and failed twice after it; the doubt \
        says which case, and what the server did before and after ([conformance](experiments.md#conformance))")
    .because("what was measured is not the server that was checked: it conforms less under load, or has not recovered \
        from it")
    .way_out("the server behaves differently under load: see its output, its limits, and `dyno check` for the case");

/// The first case that passed before the load and failed after it.
pub(super) fn conformance_under_load(trial: &TrialRecord) -> Option<Doubt> {
    let before =
        |id: &str| trial.spots.iter().find(|spot| spot.phase == Phase::Before && spot.id == id);
    let turned = |after: &'_ Spot| {
        let before = before(&after.id)?;
        let is_turned = before.verdict == CaseVerdict::Pass && after.verdict != CaseVerdict::Pass;
        is_turned.then(|| (before.why.clone(), after.why.clone(), after.id.clone()))
    };
    let after = trial.spots.iter().filter(|spot| spot.phase == Phase::After);
    let mut all = after.filter_map(turned);
    let (before, after, case) = all.next()?;
    let others = match all.count() {
        0 => String::new(),
        others => format!(" (so did {} more)", count(others as u64)),
    };
    Some(CONFORMANCE_UNDER_LOAD.found(format!(
        "{case} passed before the load and failed after it{others}: before: {before}; after, in both attempts: {after}"
    )))
}
