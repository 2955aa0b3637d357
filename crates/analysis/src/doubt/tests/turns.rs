//! Servers that live at once: whether one works while the load is with another.

use lab::record::InTurns;

use super::*;

#[test]
fn a_server_that_works_while_the_load_is_with_another_is_reported() {
    let of = |cpu_others| {
        of_trial(|trial| {
            let (own, others) = (4 * SECOND, 5 * SECOND);
            let turns = InTurns {
                own,
                others,
                cpu_own: Some(3 * SECOND),
                cpu_others,
                ..InTurns::default()
            };
            trial.loaded.as_mut().unwrap().in_turns = Some(turns);
        })
    };
    assert_eq!(of(Some(SECOND)), [Doubt::TwinBusy { share: 0.2, own: 0.75 }]);
    assert_eq!(of(Some(SECOND / 10)), []);
    assert_eq!(of(None), [], "it could not be read");
}
