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
    assert_eq!(
        of(Some(SECOND)),
        [Doubt::Subject(SubjectDoubt::TwinBusy { share: 0.2, own: 0.75 })]
    );
    assert_eq!(of(Some(SECOND / 10)), []);
    assert_eq!(of(None), [], "it could not be read");
}

#[test]
fn slices_that_are_spent_waiting_are_reported() {
    let of = |waited| {
        of_trial(|trial| {
            let turns = InTurns { own: 4 * SECOND, waited, ..InTurns::default() };
            trial.loaded.as_mut().unwrap().in_turns = Some(turns);
        })
    };
    assert_eq!(of(SECOND), [Doubt::Subject(SubjectDoubt::ShortSlices { share: 0.25 })]);
    assert_eq!(of(SECOND / 10), []);
}

/// On a clock that is paused between its turns, readings are not evenly spaced: what was missed is known by the time
/// that does not pause.
#[test]
fn readings_that_are_apart_because_of_the_turns_are_no_stillness() {
    let of = |looked_away| {
        of_trial(|trial| {
            let points = [(SECOND, 1.0), (2 * SECOND, 1.0), (2 * SECOND, 1.0), (4 * SECOND, 1.0)];
            trial.series = vec![series("subject.cpu.total", "ns", &points)];
            let turns = InTurns { own: 4 * SECOND, looked_away, ..InTurns::default() };
            trial.loaded.as_mut().unwrap().in_turns = Some(turns);
        })
    };
    assert_eq!(of(Some(0)), []);
    assert!(matches!(
        of(Some(SECOND / 2))[..],
        [Doubt::Generator(GeneratorDoubt::StoodStill { .. })]
    ));
}
