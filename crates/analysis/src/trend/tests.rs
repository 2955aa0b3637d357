//! Series by chance, with and without a change.

use load::Chance;

use super::*;
use crate::fixture::{normal, share};

/// Figures whose logarithms have a standard deviation of 2 %.
fn noise(chance: &mut Chance, runs: usize) -> Vec<f64> {
    (0..runs).map(|_| 1_000.0 * (0.02 * normal(chance)).exp()).collect()
}

/// Noise on a level that is so many standard deviations higher from this run on.
fn step(chance: &mut Chance, runs: usize, at: usize, size: f64) -> Vec<f64> {
    let mut values = noise(chance, runs);
    values[at..].iter_mut().for_each(|value| *value *= (0.02 * size).exp());
    values
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

#[test]
fn noise_announces_no_more_than_it_may() {
    let mut chance = Chance::new(11);
    let alarms = share(2_000, || announces(&logs(&noise(&mut chance, 24)), 1.0));
    // 0.42 % and three standard errors.
    assert!(alarms < 0.0085, "{alarms}");
}

/// A look after each run, as after each merge, at one series and at ten.
#[test]
fn a_history_without_a_change_seldom_ever_announces_one() {
    let mut chance = Chance::new(18);
    for (members, runs) in [(1, 45), (10, 25)] {
        let announce = share(300, || {
            let history = |_| logs(&noise(&mut chance, runs));
            let all: Vec<Vec<f64>> = (0..members).map(history).collect();
            let is_announced = |logs: &Vec<f64>| {
                (10..=runs).any(|runs| announces(&logs[..runs], 1.0 / f64::from(members)))
            };
            all.iter().any(is_announced)
        });
        // EVER, and not quite two standard errors.
        assert!(announce <= 10.0 / 300.0, "{announce} of histories of {members} series");
    }
}

#[test]
fn one_run_that_is_far_off_is_no_change() {
    let mut chance = Chance::new(12);
    for place in [0, 4, 5, 12, 19, 23] {
        let alarms = share(100, || {
            let mut values = noise(&mut chance, 24);
            values[place] *= 3.0;
            announces(&logs(&values), 1.0)
        });
        assert!(alarms <= 0.06, "{alarms} at {place}");
    }
}

#[test]
fn a_step_is_announced_after_as_many_runs_as_are_said_to_be_needed() {
    let mut chance = Chance::new(13);
    for size in [2.0, 3.0, 5.0] {
        let spreads = Spreads { size: 0.02 * size, spread: 0.02, runs: 20 };
        let Some(Needed::Runs(after)) = needed(spreads, 1.0) else { panic!("{size}") };
        let found = share(100, || announces(&logs(&step(&mut chance, 20 + after, 20, size)), 1.0));
        assert!(0.83 <= found, "{size}: {found} after {after} runs");
    }
}

#[test]
fn a_step_has_its_first_run_and_its_ratio() {
    let mut chance = Chance::new(14);
    let (mut near, mut held) = (0, 0);
    for _ in 0..50 {
        let found = courses(&[step(&mut chance, 40, 25, 5.0)]);
        // Further ones are false alarms, of which there may be 1 in 100.
        let shifts = found[0].shifts.iter().copied();
        let shift = shifts.min_by_key(|shift| shift.first.abs_diff(25)).unwrap();
        near += usize::from(shift.first.abs_diff(25) <= 1);
        held += usize::from(shift.interval.0 < 0.1_f64.exp() && 0.1_f64.exp() < shift.interval.1);
        assert!(found[0].levels.iter().any(|level| level.first == shift.first));
        assert_eq!(found[0].levels.last().unwrap().end, 40);
        assert!(shift.p <= LOOK && (1.05..1.16).contains(&shift.ratio), "{shift:?}");
    }
    assert!(45 <= near, "{near} of 50 within a run");
    // The place was chosen because the sides differ most there, so not quite 95 %.
    assert!(39 <= held, "{held} of 50 intervals hold the true ratio");
}

#[test]
fn up_and_down_again_are_two_changes() {
    let mut chance = Chance::new(15);
    let mut values = step(&mut chance, 45, 15, 6.0);
    values[30..].iter_mut().for_each(|value| *value *= (-0.12_f64).exp());
    let found = courses(&[values]);
    let places: Vec<usize> = found[0].shifts.iter().map(|shift| shift.first).collect();
    assert_eq!(places, [15, 30]);
    assert!((0.015..0.025).contains(&found[0].spread.unwrap()), "around the levels");
}

#[test]
fn many_series_share_one_error_rate() {
    let mut chance = Chance::new(16);
    // Alone this change is just announced; among 30 series it may be chance.
    let weak = (0..1_000).find_map(|_| {
        let values = step(&mut chance, 24, 12, 1.9);
        let p = found_in(&[logs(&values)])[0].changes.first()?.1;
        (0.001 < p).then_some(values)
    });
    let weak = weak.unwrap();
    assert_eq!(courses(std::slice::from_ref(&weak))[0].shifts.len(), 1);
    let strong = step(&mut chance, 24, 12, 6.0);
    let mut all: Vec<Vec<f64>> = (0..28).map(|_| noise(&mut chance, 24)).collect();
    all.extend([weak, strong]);
    let found = courses(&all);
    assert!(found[28].shifts.is_empty(), "{:?}", found[28]);
    assert_eq!(found[29].shifts.len(), 1);
    assert!(found[29].level < found[28].level, "the method of Holm");
}

#[test]
fn a_run_more_moves_no_change_without_a_word() {
    let mut chance = Chance::new(17);
    let (mut moved, mut withdrawn, mut fresh) = (0, 0, 0);
    for _ in 0..20 {
        let values = step(&mut chance, 40, 20, 1.8);
        // As `courses` does it, which would look at each history twice: as it is, and as what was before the next run.
        let looked_at = |runs: usize| found_in(&[logs(&values[..runs])]).remove(0);
        let mut changes = looked_at(25).changes;
        let mut before: Vec<usize> = Vec::new();
        for runs in 26..=40 {
            let look = looked_at(runs);
            let found = &course(&values[..runs], &look, &changes);
            changes = look.changes;
            let now: Vec<usize> = found.shifts.iter().map(|shift| shift.first).collect();
            for &place in &before {
                let is_near = now.iter().any(|at| at.abs_diff(place) <= 1);
                let of_it = |shift: &Shift| shift.before == Before::At(place);
                let is_said = found.shifts.iter().any(of_it) || found.withdrawn.contains(&place);
                let is_other = found.shifts.iter().any(|it| it.first.abs_diff(place) < 2 * SEGMENT);
                assert!(is_near || is_said || is_other && 1 < before.len(), "{before:?} {found:?}");
            }
            let times = |before: fn(&Before) -> bool| {
                found.shifts.iter().filter(|shift| before(&shift.before)).count()
            };
            moved += times(|it| matches!(it, Before::At(_)));
            fresh += times(|it| *it == Before::Nothing);
            withdrawn += found.withdrawn.len();
            before = now;
        }
    }
    assert!(0 < moved + withdrawn && 15 < fresh, "{moved} {withdrawn} {fresh}");
}

#[test]
fn few_runs_and_odd_ones_are_no_panic() {
    assert_eq!(courses(&[]), []);
    for values in [vec![], vec![1.0], vec![2.0; 9], vec![2.0; 30], vec![1e-300, 1e300]] {
        let found = courses(std::slice::from_ref(&values));
        assert!(found[0].shifts.is_empty(), "{values:?}");
        assert_eq!(found[0].levels.is_empty(), values.is_empty());
    }
    let mut exact = vec![2.0; 12];
    exact.extend([3.0; 12]);
    let found = courses(&[exact]);
    assert_eq!(found[0].shifts[0].first, 12);
    let (low, high) = found[0].shifts[0].interval;
    assert!(1.5 - 1e-9 < low && high < 1.5 + 1e-9, "{low} {high}");
    let mut long = vec![2.0; 400];
    long[..50].iter_mut().for_each(|value| *value = 4.0);
    assert!(courses(&[long])[0].shifts.is_empty(), "only the newest runs are used");
}

#[test]
fn a_ratio_is_used_where_it_is_steadier() {
    let mut chance = Chance::new(18);
    let machine = noise(&mut chance, 30);
    let figure: Vec<f64> = machine.iter().map(|value| value * 7.0).collect();
    assert!(is_steadier(&[7.0; 30], &figure));
    let other = noise(&mut chance, 30);
    let ratios: Vec<f64> = figure.iter().zip(&other).map(|(a, b)| a / b).collect();
    assert!(!is_steadier(&ratios, &figure));
    assert!(!is_steadier(&[7.0; 29], &figure), "a run without its reference");
}
