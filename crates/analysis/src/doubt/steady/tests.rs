use load::Chance;

use super::*;
use crate::fixture::{normal, share};

/// So many windows around 1,000, with this spread and this correlation with the window before; the first ones lower.
fn series(chance: &mut Chance, count: usize, spread: f64, kinship: f64, slow: usize) -> Vec<f64> {
    let mut off = normal(chance);
    let mut window = |at: usize| {
        off = kinship * off + (1.0 - kinship * kinship).sqrt() * normal(chance);
        let rise = if at < slow { at as f64 / slow as f64 } else { 1.0 };
        1_000.0 * (0.3 + 0.7 * rise) * (spread * off).exp()
    };
    (0..count).map(&mut window).collect()
}

#[test]
fn a_steady_beginning_is_seldom_cut_off() {
    let mut chance = Chance::new(31);
    for (count, spread, kinship, at_most) in [
        (25, 0.05, 0.0, 0.01),
        (25, 0.2, 0.0, 0.01),
        (120, 0.05, 0.0, 0.01),
        (120, 0.2, 0.0, 0.01),
        (120, 0.1, 0.5, 0.03),
        (300, 0.2, 0.3, 0.02),
    ] {
        let share = share(4_000, || {
            cut_of(Drifting::Throughput, &series(&mut chance, count, spread, kinship, 0))
                != Cut::None
        });
        assert!(share <= at_most, "{count} windows, spread {spread}, kinship {kinship}: {share}");
    }
}

#[test]
fn a_ramping_start_is_cut_off_where_it_ends() {
    let mut chance = Chance::new(32);
    for (count, slow, at_least) in [(25, 8, 0.7), (120, 30, 0.9), (120, 15, 0.7)] {
        let share = share(400, || {
            let found = cut_of(Drifting::Throughput, &series(&mut chance, count, 0.03, 0.0, slow));
            // The ramp's last windows are like the rest.
            matches!(found, Cut::Before { place, was_slower: true }
                if (slow * 6 / 10..=slow * 3 / 2 + 5).contains(&place))
        });
        assert!(at_least <= share, "{count} windows, {slow} slow: {share}");
    }
}

#[test]
fn what_never_comes_to_rest_has_no_steady_state() {
    let rising: Vec<f64> = (0..120).map(|at| 500.0 + f64::from(at) * 5.0).collect();
    assert_eq!(cut_of(Drifting::Throughput, &rising), Cut::Unknown);
    assert_eq!(cut_of(Drifting::Throughput, &[1_000.0; 120]), Cut::None);
    let stall: Vec<f64> = (0..120).map(|at| if at == 3 { 20.0 } else { 1_000.0 }).collect();
    assert_eq!(cut_of(Drifting::Throughput, &stall), Cut::None);
}

#[test]
fn what_grows_slower_is_no_warm_up() {
    let mut chance = Chance::new(33);
    let fast_first: Vec<f64> =
        series(&mut chance, 120, 0.03, 0.0, 30).iter().map(|rate| 2_000.0 - rate).collect();
    let found = cut_of(Drifting::Throughput, &fast_first);
    assert!(matches!(found, Cut::Before { was_slower: false, .. }), "{found:?}");
    let times: Vec<f64> = fast_first.iter().map(|rate| 1e6 / rate).collect();
    let found = cut_of(Drifting::ResponseP50, &times);
    assert!(matches!(found, Cut::Before { was_slower: false, .. }), "{found:?}");
}
