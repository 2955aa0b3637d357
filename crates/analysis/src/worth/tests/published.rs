//! Data with the patterns of wrong figures that were published, and the same data as it should have been: the first
//! must be detected, the second must not.

use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::TrialRecord;
use load::SECOND;

use super::super::*;
use crate::fixture::{MS, at, counted, equal, recording, run};

const CONNECTIONS: u32 = 512;

/// One subject of a published table: a closed loop for ten seconds.
#[derive(Clone, Copy)]
struct Published {
    per_s: u64,
    /// The time of 98 in a hundred, in nanoseconds.
    p50: u64,
    /// The time of the other two.
    p99: u64,
}

impl Published {
    /// As it must be: the time that the connections wait on average lies in the middle of the measured times.
    fn honest(per_s: u64) -> Published {
        let mean = u64::from(CONNECTIONS) * SECOND / per_s;
        Published { per_s, p50: mean * 9 / 10, p99: mean * 3 }
    }

    fn trial(self, place: usize) -> TrialRecord {
        let mut trial = at(&format!("s{place}"), Point::Connections(CONNECTIONS), 0);
        counted(&mut trial, self.per_s * 10, self.per_s * 10);
        let total = &mut recording(&mut trial).total;
        total.in_flight_area = u128::from(CONNECTIONS) * u128::from(10 * SECOND);
        let slow = total.correct / 50;
        let mut times = equal(self.p50, total.correct - slow);
        times.merge(&equal(self.p99, slow));
        for each in [&mut total.response, &mut total.service, &mut total.first_byte] {
            *each = times.clone();
        }
        trial
    }
}

fn board(published: impl Iterator<Item = Published>) -> Board {
    let trials: Vec<TrialRecord> =
        published.enumerate().map(|(place, published)| published.trial(place)).collect();
    Board::of(&run(&[]), &trials)
}

/// Rates so far apart that no two count as the same, from 1,000 a second.
fn apart(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|place| (1_000.0 * 1.016_f64.powi(place as i32)) as u64)
}

fn alarmed(board: &Board, figure: Figure) -> Vec<(usize, usize)> {
    let alarms = board.alarms().into_iter().filter(|alarm| alarm.figure == figure);
    alarms.map(|alarm| (alarm.subjects.len(), alarm.of)).collect()
}

#[test]
fn a_hundred_and_seventy_four_of_three_hundred_and_eighty_at_one_rate_with_a_p99_below_the_mean() {
    // Far above all others, within 1.5 %; their p99 is a tenth of what 512 connections at this rate must wait.
    let limited = (0..174).map(|place| Published {
        per_s: 90_000 + place * 7,
        p50: 300_000,
        p99: u64::from(CONNECTIONS) * SECOND / 90_000 / 10,
    });
    let board = board(apart(206).map(Published::honest).chain(limited));
    assert_eq!(alarmed(&board, Figure::Throughput), [(174, 380)]);
    assert_eq!(board.worth(), Worth { valid: 206, suspect: 174, ..Worth::default() });
    assert_eq!(board.verdict(), Some(Verdict::Suspect));
    for row in &board.tables[0].rows {
        let is_limited = 90_000.0 <= row.estimate(Figure::Throughput).unwrap().value;
        let is_impossible = |reason: &Reason| reason.doubt.says().contains("Little's law");
        assert_eq!(row.reasons().iter().any(is_impossible), is_limited, "{}", row.subject);
    }
}

#[test]
fn the_same_number_of_subjects_that_differ_is_no_alarm() {
    let board = board(apart(380).map(Published::honest));
    assert_eq!((board.alarms(), board.verdict()), (vec![], Some(Verdict::Valid)));
    assert_eq!(board.worth().valid, 380);
}

#[test]
fn a_hundred_and_fifty_two_of_three_hundred_and_fifty_seven_share_one_median() {
    let copied = board(apart(357).enumerate().map(|(place, per_s)| match place < 152 {
        true => Published { p50: 50 * MS, p99: 2 * SECOND, ..Published::honest(per_s) },
        false => Published::honest(per_s),
    }));
    assert_eq!(alarmed(&copied, Figure::ResponseP50), [(152, 357)]);
    // The table is, though no row of it is.
    assert_eq!((copied.verdict(), copied.worth().valid), (Some(Verdict::Suspect), 357));
    let honest = board(apart(357).map(Published::honest));
    assert_eq!(alarmed(&honest, Figure::ResponseP50), []);
    assert_eq!(honest.verdict(), Some(Verdict::Valid));
}

#[test]
fn an_average_that_is_printed_as_a_p99() {
    let per_s = 20_000;
    let mean = u64::from(CONNECTIONS) * SECOND / per_s;
    let verdict = |p50, p99| {
        let board = board(std::iter::once(Published { per_s, p50, p99 }));
        (board.verdict(), board.tables[0].rows[0].reasons().len())
    };
    assert_eq!(verdict(mean / 2, mean), (Some(Verdict::Suspect), 1));
    assert_eq!(verdict(mean * 9 / 10, mean * 3), (Some(Verdict::Valid), 0));
    // A server whose times are all the same has a mean, a median and a p99 that are equal.
    assert_eq!(verdict(mean, mean), (Some(Verdict::Valid), 0));
}
