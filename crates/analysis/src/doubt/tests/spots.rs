//! What a server kept before the load, and after it.

use super::*;

#[test]
fn what_was_kept_before_the_load_and_not_after_it_is_suspect() {
    use lab::conformance::{CaseVerdict, Spot};
    use lab::record::Phase;
    let spot = |phase, id: &str, verdict: CaseVerdict, why: &str| Spot {
        phase,
        id: id.into(),
        verdict,
        why: why.into(),
    };
    let of = |after: &[(&str, CaseVerdict)]| {
        let mut trial = healthy();
        for (id, verdict) in
            [("H1-A", CaseVerdict::Pass), ("H1-B", CaseVerdict::Fail), ("H1-C", CaseVerdict::Pass)]
        {
            trial.spots.push(spot(Phase::Before, id, verdict, "200"));
        }
        trial.spots.extend(
            after.iter().map(|(id, verdict)| spot(Phase::After, id, *verdict, "no answer")),
        );
        let found = doubts(&trial, ONE);
        found
            .into_iter()
            .find(|doubt| matches!(doubt, Doubt::Spots(SpotsDoubt::ConformanceUnderLoad { .. })))
    };
    let expected = |case: &str, others| {
        let (before, after) = ("200".into(), "no answer".into());
        Some(Doubt::Spots(SpotsDoubt::ConformanceUnderLoad {
            case: case.into(),
            before,
            after,
            others,
        }))
    };
    assert_eq!(of(&[]), None);
    assert_eq!(
        of(&[
            ("H1-A", CaseVerdict::Pass),
            ("H1-B", CaseVerdict::Crash),
            ("H1-D", CaseVerdict::Fail)
        ]),
        None
    );
    assert_eq!(
        of(&[("H1-A", CaseVerdict::Pass), ("H1-C", CaseVerdict::Warn)]),
        expected("H1-C", 0)
    );
    assert_eq!(
        of(&[("H1-A", CaseVerdict::NotTestable), ("H1-C", CaseVerdict::Fail)]),
        expected("H1-A", 1)
    );
    assert_eq!(expected("H1-A", 1).map(|doubt| doubt.gravity()), Some(Gravity::Suspect));
}
