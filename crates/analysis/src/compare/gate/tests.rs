use std::sync::LazyLock;

use super::*;
use crate::board::Row;
use crate::difference::unpaired;
use crate::fixture::{at, board, fact, fail, growing, late, numbers, rounds, share, table};
use lab::figure::Number;
use lab::record::TrialRecord;
use load::{Chance, Failure};

/// A row of a closed loop, valid or in doubt.
fn row(subject: &str, is_doubtful: bool) -> Row {
    let mut trial = at(subject, Point::Connections(10), 0);
    if is_doubtful {
        fail(&mut trial, Failure::NoFiles, 100);
    }
    table(&[trial]).rows.remove(0)
}

/// The answer for pairs of rounds with these throughputs.
fn answer(pairs: &[(Vec<Number>, Vec<Number>)], is_doubtful: bool) -> GateAnswer {
    static SIDES: LazyLock<[Row; 2]> = LazyLock::new(|| ["a", "b"].map(|side| row(side, false)));
    let [a, b] = &*SIDES;
    let doubtful = is_doubtful.then(|| row("b", true));
    let pair = |(one, other): &(Vec<Number>, Vec<Number>)| Pair {
        workload: "hello",
        a,
        b: doubtful.as_ref().unwrap_or(b),
        is_one_run: false,
        figures: vec![(Figure::Throughput, unpaired(Figure::Throughput, one, other))],
    };
    let pairs = pairs.iter().map(pair).collect();
    let versus = Versus { pairs, alone: [vec![], vec![]] }.decided(Gate::default());
    versus.answer(&versus.gate(Gate::default()))
}

fn one(a: &[f64], b: &[f64]) -> GateAnswer {
    answer(&[(numbers(a), numbers(b))], false)
}

const STEADY: [f64; 4] = [1_000.0, 1_002.0, 998.0, 1_001.0];

fn by(factor: f64) -> [f64; 4] {
    STEADY.map(|value| value * factor)
}

/// A database on the server's CPUs makes the rate that of both.
#[test]
fn a_closed_loop_is_judged_by_cpu_time_where_a_service_shares_the_cpus() {
    let judged_by = |conditions: &[(&str, &str)]| {
        let mut trial = at("a", Point::Connections(10), 0);
        trial.conditions.extend(conditions.iter().map(|(name, value)| fact(name, value)));
        primary(&table(&[trial]).rows[0])
    };
    assert_eq!(judged_by(&[("service", "a store")]), Figure::CpuPerThousand);
    let own = [("service", "a store"), ("cpus.service", "1")];
    assert_eq!((judged_by(&own), judged_by(&[])), (Figure::Throughput, Figure::Throughput));
}

#[test]
fn a_gate_answers_within_worse_and_that_it_cannot_tell() {
    assert_eq!(one(&STEADY, &by(1.0)), GateAnswer::Within);
    assert_eq!(one(&STEADY, &by(0.97)), GateAnswer::Within, "3 % are tolerated");
    assert_eq!(one(&STEADY, &by(1.5)), GateAnswer::Within, "better is no worse");
    assert_eq!(one(&STEADY, &by(0.90)), GateAnswer::Worse);
    let wide = [700.0, 1_300.0, 900.0, 1_200.0];
    assert_eq!(one(&STEADY, &wide), GateAnswer::CannotTell);
    assert_eq!(one(&STEADY, &[500.0]), GateAnswer::CannotTell, "one round");
    assert_eq!(one(&STEADY, &[]), GateAnswer::CannotTell);
    assert_eq!(answer(&[], false), GateAnswer::CannotTell, "nothing");
}

#[test]
fn rounds_in_doubt_make_a_gate_neither_green_nor_red() {
    for factor in [1.0, 0.44] {
        let pair = (numbers(&STEADY), numbers(&by(factor)));
        assert_eq!(answer(&[pair], true), GateAnswer::CannotTell, "{factor}");
    }
}

#[test]
fn a_pair_is_never_worse_both_ways() {
    let mut chance = Chance::new(21);
    for spread in [0.005, 0.05, 0.3] {
        for _ in 0..300 {
            let a = rounds(&mut chance, 4, 1_000.0, spread);
            let b = rounds(&mut chance, 4, 1_000.0 * (1.0 - spread), spread);
            let there = answer(&[(a.clone(), b.clone())], false);
            let back = answer(&[(b, a)], false);
            assert!(there != GateAnswer::Worse || back != GateAnswer::Worse);
        }
    }
}

/// The numbers that docs/compare.md states.
#[test]
fn alike_servers_are_seldom_called_worse_and_a_slower_one_is_found() {
    let mut chance = Chance::new(22);
    let mut worse = |pairs: usize, factor: f64, spread: f64| {
        share(400, || {
            let pair = |_| {
                let one = rounds(&mut chance, 5, 1_000.0, spread);
                (one, rounds(&mut chance, 5, 1_000.0 * factor, spread))
            };
            answer(&(0..pairs).map(pair).collect::<Vec<_>>(), false) == GateAnswer::Worse
        })
    };
    for spread in [0.01, 0.05, 0.3] {
        for pairs in [1, 12] {
            let alarms = worse(pairs, 1.0, spread);
            assert!(alarms <= 0.05, "{pairs} pairs spread by {spread}: {alarms}");
        }
    }
    let found = worse(1, 1.0 / 1.10, 0.01);
    assert!(0.95 < found, "10 % slower, spread by 1 %: {found}");
}

/// What exit codes 0 and 1 say of servers whose true ratio is known, in either direction, with a tolerance of 5 %.
#[test]
fn the_answer_keeps_to_known_ratios() {
    let mut chance = Chance::new(33);
    for truth in [0.80, 0.90, 0.94, 0.96, 1.0, 1.25] {
        for spread in [0.005, 0.02] {
            let (mut within, mut worse, times) = (0, 0, 150);
            for _ in 0..times {
                let a = rounds(&mut chance, 5, 1_000.0, spread);
                let b = rounds(&mut chance, 5, 1_000.0 * truth, spread);
                let found = answer(&[(a.clone(), b.clone())], false);
                within += usize::from(found == GateAnswer::Within);
                worse += usize::from(found == GateAnswer::Worse);
                let mirrored = answer(&[(b, a)], false);
                assert!((found, mirrored) != (GateAnswer::Worse, GateAnswer::Worse), "{truth}");
            }
            let at_most = |count: usize, share: f64| count as f64 <= share * times as f64;
            let says = format!("{truth}, {spread}: within {within}, worse {worse} of {times}");
            assert!(
                if truth < 0.95 { at_most(within, 0.05) } else { at_most(worse, 0.05) },
                "{says}"
            );
            let is_far = !(0.9..1.0).contains(&truth) && spread < 0.01;
            let right = if truth < 0.95 { worse } else { within };
            assert!(!is_far || times * 95 / 100 < right, "found: {says}");
        }
    }
}

/// A schedule of 2,000 requests a second, with so many of 20,000 answered, for so much CPU time.
fn scheduled(subject: &str, answered: u64, cpu_s: f64) -> Vec<TrialRecord> {
    let round = |repeat: u32| {
        let mut trial = at(subject, Point::Requests(2_000.0), repeat);
        late(&mut trial, 20_000, answered);
        let used = cpu_s * 0.5e9 * (1.0 + f64::from(repeat) / 1_000.0);
        growing(&mut trial, "subject.cpu.total", "ns", used);
        trial
    };
    (0..4).map(round).collect()
}

fn of_boards(a: &[TrialRecord], b: &[TrialRecord], gate: Gate) -> (GateAnswer, Vec<Figure>) {
    let (a, b) = (board(a), board(b));
    let versus = Versus::of(&a, &b, crate::Sides::Runs, gate);
    let gated = versus.gate(gate);
    (versus.answer(&gated), gated.iter().map(|gated| gated.figure).collect())
}

#[test]
fn a_schedule_is_judged_by_its_cost_and_by_keeping_up() {
    let usual = Gate::default();
    let cheap = scheduled("a", 20_000, 5.0);
    let (found, by) = of_boards(&cheap, &scheduled("a", 20_000, 5.0), usual);
    assert_eq!((found, by), (GateAnswer::Within, vec![Figure::CpuPerThousand]));
    let (found, _) = of_boards(&cheap, &scheduled("a", 20_000, 8.0), usual);
    assert_eq!(found, GateAnswer::Worse);
    // Half the answers for half the time: each answer costs the same.
    let (found, by) = of_boards(&cheap, &scheduled("a", 10_000, 2.5), usual);
    assert_eq!(by, [Figure::CpuPerThousand, Figure::OnTime]);
    assert_eq!(found, GateAnswer::Worse);
    let by_p50 = Gate { figure: Some(Figure::ResponseP50), ..usual };
    let (found, by) = of_boards(&cheap, &scheduled("a", 20_000, 8.0), by_p50);
    assert_eq!((found, by), (GateAnswer::Within, vec![Figure::ResponseP50]));
    let (found, _) = of_boards(&cheap, &[], usual);
    assert_eq!(found, GateAnswer::CannotTell, "B has nothing of what A measured");
}
