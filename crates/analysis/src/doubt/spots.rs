//! Whether the subject's conformance under load is the same as before.

use lab::conformance::{CaseVerdict, Spot};
use lab::record::{Phase, TrialRecord};
use units::count;

use super::definition::family;
use crate::verdict::Gravity;

family! {
    /// Another server under load than before.
    SpotsDoubt;

    /// Cases of the RFCs passed before the load and failed after it.
    ConformanceUnderLoad {
        /// The first of them.
        case: String,
        /// What the subject did before.
        before: String,
        /// What it did after the load, in both attempts.
        after: String,
        others: usize,
    }
    id: "conformance_under_load",
    gravity: Gravity::Suspect,
    when: "one of the ten cheapest cases of `dyno check` passed before the load and failed twice after it; the doubt says \
        which case, and what the server did before and after ([conformance](experiments.md#conformance))",
    because: "what was measured is not the server that was checked: it keeps less of HTTP under load, or has not recovered \
        from it",
    says: format!(
        "{case} was kept before the load and not after it{}: before: {before}; after, in both attempts: {after}",
        match others {
            0 => String::new(),
            others => format!(" (nor were {} more)", count(*others as u64)),
        }
    ),
    way_out: "it is another server under load: see what it wrote, its limits, and `dyno check` for the case",
    examples: [
        {
            case: "H1-L01".into(),
            before: "200".into(),
            after: "no answer, still open".into(),
            others: 0
        },
        {
            case: "H1-L01".into(),
            before: "200".into(),
            after: "no answer, still open".into(),
            others: 2
        },
    ],
}

/// The first case that passed before the load and failed after it.
pub(super) fn conformance_under_load(trial: &TrialRecord) -> Option<SpotsDoubt> {
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
    Some(SpotsDoubt::ConformanceUnderLoad { case, before, after, others: all.count() })
}
