use super::*;
use crate::fixture::{MS, at, counted, end, equal, recording};
use lab::record::RunRecord;
use load::SECOND;

/// A run of one round without files.
pub(super) fn ran() -> RunRecord {
    crate::fixture::run(&[])
}

/// Ten seconds at this rate with so many answers a second, each after 1 ms plus a tenth for each round.
pub(super) fn trial(subject: &str, rate: f64, repeat: u32, throughput: u64) -> TrialRecord {
    let mut trial = at(subject, Point::Requests(rate), repeat);
    // Trials are distinguished by their numbers.
    trial.key.number = (rate as u32) * 10 + repeat + if subject == "a" { 0 } else { 100_000 };
    counted(&mut trial, ((rate * 10.0) as u64).max(throughput * 10), throughput * 10);
    recording(&mut trial).total.response = equal(MS + u64::from(repeat) * MS / 10, 1_000);
    trial
}

fn of(trials: &[TrialRecord]) -> Vec<Detail> {
    details(&Board::of(&ran(), trials), trials)
}

fn roles(detail: &Detail) -> Vec<(f64, Vec<Role>)> {
    detail.closeups.iter().map(|close| (close.point.value(), close.roles.clone())).collect()
}

#[test]
fn a_rising_load_is_looked_at_where_it_begins_where_it_is_still_kept_up_with_and_where_it_ends() {
    let trials = [(100.0, 100), (200.0, 200), (300.0, 300), (400.0, 310)]
        .map(|(rate, n)| trial("a", rate, 0, n));
    let detail = &of(&trials)[0];
    assert_eq!(detail.places.len(), 4);
    assert_eq!(
        roles(detail),
        [(100.0, vec![Role::Lowest]), (300.0, vec![Role::KeptUp]), (400.0, vec![Role::Highest])]
    );
}

#[test]
fn a_closed_loop_is_looked_at_where_most_came_back() {
    let closed = |(connections, throughput)| {
        let mut trial = trial("a", f64::from(connections), 0, throughput);
        trial.key.point = Point::Connections(connections);
        trial
    };
    let detail = &of(&[(1, 100), (10, 900), (50, 800)].map(closed))[0];
    assert_eq!(
        roles(detail),
        [(1.0, vec![Role::Lowest]), (10.0, vec![Role::Most]), (50.0, vec![Role::Highest])]
    );
    let only = &of(&[closed((7, 100))])[0];
    assert_eq!(roles(only), [(7.0, vec![Role::Lowest, Role::Most, Role::Highest])]);
}

#[test]
fn the_round_in_the_middle_is_shown_and_all_of_them_are_in_the_histogram() {
    let trials = [(0, 95), (1, 99), (2, 97)].map(|(repeat, n)| trial("a", 100.0, repeat, n));
    let detail = &of(&trials)[0];
    let close = &detail.closeups[0];
    assert_eq!((close.repeat, close.rounds, close.ended), (2, 3, OutcomeKind::Measured));
    assert_eq!(detail.places[0].1.count, 3_000);
    assert_eq!(detail.places[0].1.bins.len(), 2, "1 ms and 1.1 ms, and 1.2 ms");
}

#[test]
fn a_server_that_died_is_shown_dying_and_not_counted() {
    let mut died = trial("a", 100.0, 0, 50);
    end(&mut died, OutcomeKind::Died);
    let detail = &of(&[died.clone()])[0];
    assert_eq!(detail.places, []);
    let close = &detail.closeups[0];
    assert_eq!((close.ended, close.rounds, close.response.steps.len()), (OutcomeKind::Died, 0, 0));
    died.loaded = None;
    assert_eq!(of(&[died])[0].closeups, []);
}

#[test]
fn subjects_keep_their_own_trials() {
    let details = of(&[trial("a", 100.0, 0, 100), trial("b", 100.0, 0, 100)]);
    let counts: Vec<_> =
        details.iter().map(|detail| (detail.subject.as_str(), detail.places[0].1.count)).collect();
    assert_eq!(counts, [("a", 1_000), ("b", 1_000)]);
}

#[test]
fn a_slow_exchange_is_taken_apart() {
    let mut trial = trial("a", 100.0, 0, 100);
    recording(&mut trial).total.slowest = vec![Slow {
        intended: 2 * SECOND,
        sent: 2 * SECOND + 3 * MS,
        first_byte: 2 * SECOND + 10 * MS,
        done: 2 * SECOND + 11 * MS,
        seq: 9,
        status: 200,
    }];
    let slow = of(&[trial])[0].closeups[0].slowest[0];
    assert_eq!((slow.intended_s, slow.took_ms), (2.0, 11.0));
    assert_eq!((slow.unsent_ms, slow.awaited_ms, slow.read_ms), (3.0, 7.0, 1.0));
    assert_eq!((slow.seq, slow.status), (9, 200));
}
