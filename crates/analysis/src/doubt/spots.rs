//! Whether the subject's conformance under load is the same as before.

use lab::conformance::{CaseVerdict, Spot};
use lab::record::{Phase, TrialRecord};

use super::Doubt;

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
    Some(Doubt::ConformanceUnderLoad { case, before, after, others: all.count() })
}
