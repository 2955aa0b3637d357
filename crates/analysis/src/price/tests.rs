//! Prices of made trials against the truth.

use std::sync::LazyLock;

use lab::record::{OutcomeKind, TrialRecord};
use load::Chance;

use super::*;
use crate::difference::{Change, Comparison, Why};
use crate::fixture::{board, counted, end, growing, healthy, normal, recording, share};

const CLEAR: &str = "hello";
const TLS: &str = "hello over http/1.1+tls";
const H2C: &str = "hello over h2c, 10 streams";
const H2: &str = "hello over h2, 10 streams";

/// A round on 64 connections with so many answers in ten seconds, each of so much CPU time in all.
fn trial(subject: &str, task: &str, repeat: u32, answers: u64) -> TrialRecord {
    static MODEL: LazyLock<TrialRecord> = LazyLock::new(healthy);
    let mut trial = MODEL.clone();
    trial.key.subject = subject.into();
    (trial.key.workload, trial.key.point, trial.key.repeat) =
        (task.into(), Point::Connections(64), repeat);
    counted(&mut trial, answers, answers);
    recording(&mut trial).total.answered = answers;
    growing(&mut trial, "subject.cpu.total", "ns", 5e9);
    trial
}

/// These answers in each of so many rounds.
fn rounds(count: u32, answers: &[(&str, &str, u64)]) -> Vec<TrialRecord> {
    let round = |repeat| {
        answers.iter().map(move |(subject, task, answers)| trial(subject, task, repeat, *answers))
    };
    (0..count).flat_map(round).collect()
}

fn made<'p>(
    price: &'p MannerPrice<'_>,
    subject: &str,
    figure: Figure,
) -> &'p Result<Comparison, Why> {
    let pair = price.pairs.iter().find(|pair| pair.b.subject == subject).expect("it has a price");
    &pair.figures.iter().find(|(of, _)| *of == figure).expect("it is compared").1
}

fn ratio(price: &MannerPrice<'_>, subject: &str) -> f64 {
    made(price, subject, Figure::Throughput).expect("two rounds or more").ratio
}

#[test]
fn what_all_of_a_round_have_in_common_is_in_no_price() {
    // Rounds differ by a factor of ten, and TLS takes a fifth of each.
    let trials: Vec<TrialRecord> = [20_000, 2_000, 8_000, 4_000]
        .into_iter()
        .zip(0..)
        .flat_map(|(answers, round)| {
            [trial("a", CLEAR, round, answers), trial("a", TLS, round, answers / 5 * 4)]
        })
        .collect();
    let board = board(&trials);
    let prices = board.prices();
    let [price] = &prices[..] else { panic!("{prices:?}") };
    assert_eq!((price.paid_for, price.primary()), (PaidFor::Tls, Figure::Throughput));
    assert_eq!(price.tasks.each_ref().map(ToString::to_string), [CLEAR, TLS]);
    let found = made(price, "a", Figure::Throughput).unwrap();
    assert!((found.ratio - 0.8).abs() < 1e-9, "{found:?}");
    assert!(0.79 < found.interval.0 && found.interval.1 < 0.81, "{found:?}");
    assert_eq!((found.rounds, found.finding()), ([4, 4], Change::Worse));
    let cpu = made(price, "a", Figure::CpuPerThousand).unwrap();
    assert!((cpu.ratio - 1.25).abs() < 1e-9, "as much CPU time for fewer answers: {cpu:?}");
    let p99 = made(price, "a", Figure::ResponseP99).unwrap();
    assert_eq!((p99.ratio, p99.finding()), (1.0, Change::NotShown));
}

#[test]
fn intervals_contain_the_true_price_as_often_as_they_say() {
    let mut chance = Chance::new(17);
    let share = share(400, || {
        let mut trials = Vec::new();
        for round in 0..4 {
            let common = (7.0 + 0.3 * normal(&mut chance)).exp();
            let mut of = |task, factor: f64| {
                let own = (0.05 * normal(&mut chance)).exp();
                trials.push(trial("a", task, round, (common * factor * own) as u64));
            };
            of(CLEAR, 1.0);
            of(TLS, 0.8);
        }
        let board = board(&trials);
        let prices = board.prices();
        let (low, high) = made(&prices[0], "a", Figure::Throughput).unwrap().interval;
        (low..=high).contains(&0.8)
    });
    assert!((0.91..=0.99).contains(&share), "{share}");
}

#[test]
fn one_round_has_a_ratio_and_no_interval() {
    let board = board(&[trial("a", CLEAR, 0, 2_000), trial("a", TLS, 0, 1_000)]);
    let prices = board.prices();
    assert_eq!(*made(&prices[0], "a", Figure::Throughput), Err(Why::OneRound));
    assert_eq!(prices[0].pairs[0].single_ratio(Figure::Throughput), Some(0.5));
}

#[test]
fn the_ratio_of_one_round_is_of_the_round_that_both_sides_have() {
    let mut trials = [(CLEAR, 0, 20_000), (TLS, 0, 16_000), (CLEAR, 1, 2_000), (TLS, 1, 1_600)]
        .map(|(task, round, answers)| trial("a", task, round, answers));
    end(&mut trials[3], OutcomeKind::Died);
    let board = board(&trials);
    let prices = board.prices();
    let [pair] = &prices[0].pairs[..] else { panic!("{prices:?}") };
    let single = pair.single(Figure::Throughput).expect("a round of both");
    assert_eq!((single.means, single.rounds), ([2_000.0, 1_600.0], [1, 1]));
    assert_eq!(pair.single_ratio(Figure::Throughput), Some(0.8));
}

#[test]
fn rounds_without_a_partner_are_in_no_price_and_a_failed_side_has_none() {
    let answers = [("a", CLEAR, 2_000), ("a", TLS, 1_000), ("b", CLEAR, 2_000), ("b", TLS, 1_000)];
    let mut trials = rounds(3, &answers);
    for trial in trials.iter_mut().filter(|trial| trial.key.workload == TLS) {
        if trial.key.subject == "b" || trial.key.repeat == 1 {
            end(trial, OutcomeKind::Died);
        }
    }
    let board = board(&trials);
    let prices = board.prices();
    let found = made(&prices[0], "a", Figure::Throughput).unwrap();
    assert!((found.ratio - 0.5).abs() < 1e-9 && found.rounds == [2, 2], "{found:?}");
    let [left_out] = prices[0].left_out[..] else { panic!("{:?}", prices[0].left_out) };
    assert_eq!((left_out.task, left_out.row.subject.as_str()), (TLS, "b"));
    assert_eq!(*left_out.why, Unranked::Unmeasured);
}

#[test]
fn a_server_that_lacks_a_task_is_in_the_other_prices_only() {
    let board = board(&rounds(
        2,
        &[
            ("b", CLEAR, 4_000),
            ("b", TLS, 3_000),
            ("a", CLEAR, 2_000),
            ("a", TLS, 1_800),
            ("a", H2C, 6_000),
            ("a", H2, 5_400),
            ("idle", CLEAR, 9_000),
            ("idle", TLS, 9_900),
        ],
    ));
    let prices = board.prices();
    let said = |price: &MannerPrice<'_>| {
        let of: Vec<String> = price
            .pairs
            .iter()
            .map(|pair| format!("{} {:.2}", pair.b.subject, ratio(price, &pair.b.subject)))
            .collect();
        (price.paid_for, price.tasks.each_ref().map(ToString::to_string), of.join(", "))
    };
    let tasks = |without: &str, with: &str| [without.to_string(), with.to_string()];
    assert_eq!(
        prices.iter().map(said).collect::<Vec<_>>(),
        [
            (PaidFor::Tls, tasks(CLEAR, TLS), "a 0.90, b 0.75, idle 1.10".into()),
            (PaidFor::Tls, tasks(H2C, H2), "a 0.90".into()),
            (PaidFor::Http2, tasks(CLEAR, H2C), "a 3.00".into()),
            (PaidFor::Http2, tasks(TLS, H2), "a 3.00".into()),
        ]
    );
}

#[test]
fn resumed_sessions_are_compared_with_full_handshakes_and_with_cleartext() {
    const RESUMED: &str = "hello over http/1.1+tls, 100 % resumed";
    let answers = [("a", CLEAR, 4_000), ("a", TLS, 1_000), ("a", RESUMED, 2_000)];
    let board = board(&rounds(2, &answers));
    let prices = board.prices();
    let found: Vec<(PaidFor, f64)> =
        prices.iter().map(|price| (price.paid_for, ratio(price, "a"))).collect();
    let near = |(one, ratio): (PaidFor, f64)| (one, (ratio * 1e6).round() / 1e6);
    assert_eq!(
        found.into_iter().map(near).collect::<Vec<_>>(),
        [(PaidFor::Tls, 0.25), (PaidFor::Tls, 0.5), (PaidFor::Resumption, 2.0)]
    );
}
