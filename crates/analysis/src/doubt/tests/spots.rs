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
    let doubts = |after: &[(&str, CaseVerdict)]| {
        let mut trial = healthy();
        for (id, verdict) in
            [("H1-A", CaseVerdict::Pass), ("H1-B", CaseVerdict::Fail), ("H1-C", CaseVerdict::Pass)]
        {
            trial.spots.push(spot(Phase::Before, id, verdict, "200"));
        }
        trial.spots.extend(
            after.iter().map(|(id, verdict)| spot(Phase::After, id, *verdict, "no answer")),
        );
        doubts(&trial, ONE)
    };
    assert_eq!(doubts(&[]), []);
    let others =
        [("H1-A", CaseVerdict::Pass), ("H1-B", CaseVerdict::Crash), ("H1-D", CaseVerdict::Fail)];
    assert_eq!(doubts(&others), []);
    expect![[r#"
        conformance_under_load (suspect): H1-C passed before the load and failed after it: before: 200; after, in both attempts: no answer
        conformance_under_load (suspect): H1-A passed before the load and failed after it (so did 1 more): before: 200; after, in both attempts: no answer"#]]
    .assert_eq(&told([
        &doubts(&[("H1-A", CaseVerdict::Pass), ("H1-C", CaseVerdict::Warn)]),
        &doubts(&[("H1-A", CaseVerdict::NotTestable), ("H1-C", CaseVerdict::Fail)]),
    ]));
}
