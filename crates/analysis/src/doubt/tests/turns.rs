//! Servers that live at once: whether one works while the load is with another.

use lab::record::InTurns;

use super::*;

#[test]
fn a_server_that_works_while_the_load_is_with_another_is_reported() {
    let doubts = |cpu_others| {
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
    expect!["twin_busy (suspect): it used 20 % of a CPU while the load was with another server, and 75 % under load: the servers disturb one another"]
        .assert_eq(&told([&doubts(Some(SECOND))]));
    assert_eq!(doubts(Some(SECOND / 10)), []);
    assert_eq!(doubts(None), [], "it could not be read");
}

#[test]
fn slices_that_are_spent_waiting_are_reported() {
    let doubts = |waited| {
        of_trial(|trial| {
            let turns = InTurns { own: 4 * SECOND, waited, ..InTurns::default() };
            trial.loaded.as_mut().unwrap().in_turns = Some(turns);
        })
    };
    expect!["short_slices (suspect): 25 % of its slices went by waiting for their last answers, while ever fewer requests were in flight: that lowers its rate"]
        .assert_eq(&told([&doubts(SECOND)]));
    assert_eq!(doubts(SECOND / 10), []);
}

/// On a clock that is paused between its turns, readings are not evenly spaced: what was missed is known by the time
/// that does not pause.
#[test]
fn readings_that_are_apart_because_of_the_turns_are_no_stillness() {
    let doubts = |looked_away| {
        of_trial(|trial| {
            let points = [(SECOND, 1.0), (2 * SECOND, 1.0), (2 * SECOND, 1.0), (4 * SECOND, 1.0)];
            trial.series = vec![series("subject.cpu.total", "ns", &points)];
            let turns = InTurns { own: 4 * SECOND, looked_away, ..InTurns::default() };
            trial.loaded.as_mut().unwrap().in_turns = Some(turns);
        })
    };
    assert_eq!(doubts(Some(0)), []);
    expect!["instrument_stood_still (invalid): dyno was not running for up to 500 ms, 5.0 % of the time in all (the p99 of what it measured: 1.00 ms): answers that arrived meanwhile are timed too late"]
        .assert_eq(&told([&doubts(Some(SECOND / 2))]));
}
