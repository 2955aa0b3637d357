use super::*;

#[path = "../../examples/gate_truth/simulated.rs"]
pub(super) mod simulated;

use load::Chance;
use simulated::{Law, bounds, noise};

/// How many gates are simulated here; `make gate-truth` simulates more.
const GATES: usize = 2_000;

fn rule() -> Rule {
    Rule::usual()
}

/// The shares of simulated gates that are said to be worse, and no worse.
pub(super) fn shares(rule: Rule, mut pairs: impl FnMut(&mut Chance) -> Vec<f64>) -> [f64; 2] {
    let mut chance = Chance::new(29);
    let answer = |_| decided(&pairs(&mut chance), rule, rule.alpha).unwrap().answer;
    let answers: Vec<Answer> = (0..GATES).map(answer).collect();
    [Answer::Worse, Answer::NotWorse]
        .map(|it| answers.iter().filter(|answer| **answer == it).count() as f64 / GATES as f64)
}

/// These shares, where each pair compares the same two builds.
fn shares_of(law: Law, truth: f64, spread: f64) -> [f64; 2] {
    shares(rule(), |chance| noise(law, chance, MOST).iter().map(|it| truth + spread * it).collect())
}

/// A share of at most this, plus three standard errors.
pub(super) fn at_most(share: f64) -> f64 {
    share + 3.0 * (share * (1.0 - share) / GATES as f64).sqrt()
}

#[test]
fn the_bounds_are_those_of_a_smaller_simulation() {
    for level in [0.01, 0.05] {
        for (look, found) in LOOKS.into_iter().zip(bounds(level, &LOOKS, 60_000, 7)) {
            let known = bound(level, look);
            assert!((found / known - 1.0).abs() < 0.06, "{level}, {look}: {found} for {known}");
        }
    }
}

#[test]
fn a_bound_between_two_levels_lies_between_theirs() {
    for look in LOOKS {
        assert!(bound(0.01, look) < bound(0.007, look) && bound(0.007, look) < bound(0.005, look));
        assert!((bound(0.005, look) - bound(0.005_000_1, look)).abs() < 0.001);
    }
    assert!(bound(0.01, 7).is_infinite(), "it is not looked after seven");
    assert!(level_allowed(0.01 / 5.0) && !level_allowed(0.000_4) && !level_allowed(0.3));
}

#[test]
fn equal_code_is_called_worse_no_more_often_than_it_may_be() {
    for law in [Law::Normal, Law::HeavyTails, Law::OneInTen, Law::AlikeSlices] {
        for spread in [0.01, 0.04] {
            let [worse, _] = shares_of(law, 0.0, spread);
            assert!(worse <= at_most(rule().alpha), "{law:?} {spread}: {worse}");
        }
    }
}

/// Six to twenty pairs cannot show for sure that neighbours are alike: docs/gate.md says what is reached.
#[test]
fn pairs_that_are_like_their_neighbours_rarely_mislead_and_are_noticed() {
    let mut chance = Chance::new(5);
    let spread = 0.02;
    let (mut plain, mut worse) = (0, 0);
    for _ in 0..GATES {
        let pairs: Vec<f64> =
            noise(Law::AlikePairs, &mut chance, MOST).iter().map(|it| spread * it).collect();
        let crosses = |look: &usize| {
            let (mean, spread) = mean_and_spread(&pairs[..*look]);
            bound(0.01, *look) < mean / (spread / (*look as f64).sqrt())
        };
        plain += u32::from(LOOKS.iter().any(crosses));
        let found = decided(&pairs, rule(), 0.01).unwrap();
        worse += u32::from(found.answer == Answer::Worse);
    }
    assert!(0.08 < f64::from(plain) / GATES as f64, "the plain rule: {plain}");
    assert!(f64::from(worse) / GATES as f64 <= 0.045, "{worse}, by the plain rule {plain}");
}

#[test]
fn what_is_to_be_found_is_found_and_what_is_not_there_is_not() {
    let spread = 0.02;
    assert!(pairs_needed(spread, rule(), rule().alpha).is_some());
    for law in [Law::Normal, Law::OneInTen, Law::AlikeSlices] {
        let [found, _] = shares_of(law, rule().detect.ln_1p(), spread);
        assert!(0.9 <= found, "{law:?}: {found}");
        let [_, ruled_out] = shares_of(law, 0.0, spread);
        assert!(0.9 <= ruled_out, "{law:?}: {ruled_out}");
    }
}

#[test]
fn the_answer_is_that_of_the_first_look_that_has_one() {
    let clear = [0.1, 0.11, 0.09, 0.1, 0.12, 0.1];
    let found = decided(&clear, rule(), 0.01).unwrap();
    assert_eq!((found.answer, found.pairs), (Answer::Worse, 6));
    assert_eq!(decided(&clear[..5], rule(), 0.01), None);
    let few = concluded(&clear[..5], rule(), 0.01);
    assert_eq!(few.answer, Answer::CannotTell(Unclear::FewPairs));
    // Later pairs change nothing any more.
    let longer: Vec<f64> = clear.into_iter().chain([-9.0; 14]).collect();
    assert_eq!(decided(&longer, rule(), 0.01), Some(found));
    let better: Vec<f64> = clear.iter().map(|it| -it).collect();
    assert_eq!(decided(&better, rule(), 0.01).unwrap().answer, Answer::NotWorse);
}

#[test]
fn wide_pairs_have_no_answer_and_neither_have_those_like_their_neighbours() {
    let wide: Vec<f64> = (0..20).map(|at| if at % 2 == 0 { 0.3 } else { -0.3 }).collect();
    let found = decided(&wide, rule(), 0.01).unwrap();
    assert_eq!((found.answer, found.pairs), (Answer::CannotTell(Unclear::Wide), 20));
    assert_eq!(decided(&wide[..19], rule(), 0.01), None);
    let drifting = |from: f64| -> Answer {
        let pairs: Vec<f64> = (0..20).map(|at| from + 0.004 * f64::from(at)).collect();
        decided(&pairs, rule(), 0.01).unwrap().answer
    };
    assert_eq!(drifting(0.02), Answer::CannotTell(Unclear::Serial));
    assert_eq!(drifting(0.7), Answer::Worse, "far beyond what drifts");
}

/// Four of the 64 ways to sign them have a mean so bad.
#[test]
fn pairs_that_other_signs_would_make_as_bad_have_no_answer() {
    let pairs = [0.10, -0.05, 0.10, 0.10, -0.02, 0.10];
    let loose = Rule { alpha: 0.2, ..rule() };
    assert_eq!(decided(&pairs, loose, 0.2), None);
    let found = concluded(&pairs, loose, 0.2);
    assert_eq!(found.answer, Answer::CannotTell(Unclear::OnePair));
    let all_one_way = pairs.map(f64::abs);
    assert_eq!(concluded(&all_one_way, loose, 0.2).answer, Answer::Worse);
}

#[test]
fn equal_pairs_are_no_reason_to_divide_by_nothing() {
    assert_eq!(decided(&[0.0; 6], rule(), 0.01).unwrap().answer, Answer::NotWorse);
    assert_eq!(decided(&[0.01; 6], rule(), 0.01).unwrap().answer, Answer::Worse);
    assert_eq!(concluded::<f64>(&[], rule(), 0.01).pairs, 0);
}

#[test]
fn sign_flips_are_counted_exactly() {
    assert!((flipped_p(&[1.0, 2.0, 3.0]) - 1.0 / 8.0).abs() < 1e-12);
    assert!((flipped_p(&[1.0, 2.0, -3.0]) - 5.0 / 8.0).abs() < 1e-12);
    assert!((flipped_p(&[-1.0, -1.0]) - 1.0).abs() < 1e-12);
    assert!((flipped_p(&[]) - 1.0).abs() < 1e-12);
    // By the definition: all signs of all differences, of which many are equal or 0.
    let mut chance = Chance::new(5);
    for count in 1..=9_usize {
        let values: Vec<f64> = (0..count).map(|_| chance.below(7) as f64 - 3.0).collect();
        let signed = |signs: u32| {
            let sign = |at: usize| if signs >> at & 1 == 0 { 1.0 } else { -1.0 };
            values.iter().enumerate().map(|(at, value)| sign(at) * value).sum::<f64>()
        };
        let as_bad = (0..1_u32 << count).filter(|signs| signed(0) <= signed(*signs)).count();
        let truth = as_bad as f64 / f64::from(1_u32 << count);
        assert!((flipped_p(&values) - truth).abs() < 1e-12, "{values:?}");
    }
}

#[test]
fn on_flipped_signs_the_rule_is_rarely_wrong() {
    let mut chance = Chance::new(11);
    let pairs: Vec<f64> = noise(Law::Normal, &mut chance, 60).iter().map(|it| 0.03 * it).collect();
    let share = false_alarms(&pairs, rule(), 0.01, 4_000);
    assert!(share <= 0.01 + 3.0 * (0.01 * 0.99 / 4_000_f64).sqrt(), "{share}");
    assert!((false_alarms(&pairs, rule(), 0.01, 4_000) - share).abs() < 1e-12, "always the same");
    let loose = Rule { alpha: 0.2, ..rule() };
    assert!(0.02 < false_alarms(&pairs, loose, 0.2, 2_000));
}

#[test]
fn what_a_gate_can_see_follows_from_the_spread() {
    let least = |spread, pairs| least_shown(spread, pairs, rule(), 0.01).unwrap();
    assert!((0.025..0.033).contains(&least(0.01, 6)), "{}", least(0.01, 6));
    assert!((0.010..0.013).contains(&least(0.01, 20)), "{}", least(0.01, 20));
    assert!(least(0.01, 9) == least(0.01, 8), "nobody looks after nine");
    assert_eq!(least_shown(0.01, 5, rule(), 0.01), None);
    assert_eq!(pairs_needed(0.01, rule(), 0.01), Some(6));
    assert_eq!(pairs_needed(0.04, rule(), 0.01), Some(20));
    assert_eq!(pairs_needed(0.05, rule(), 0.01), None);
}

#[test]
fn a_bound_gives_no_answer_that_the_true_times_may_change() {
    let worse = [0.1, 0.11, 0.09, 0.1, 0.12, 0.1];
    let equal = [0.001, -0.001, 0.002, 0.0, -0.002, 0.001];
    // Base and head; in the last pair alone that is enough.
    let with = |values: &[f64], bounds: [bool; 2], from: usize| -> Vec<Difference> {
        let [may_be_better, may_be_worse] = bounds;
        let of = |(place, value): (usize, &f64)| match place < from {
            true => (*value).into(),
            false => Difference { value: *value, bounds: Bounds { may_be_worse, may_be_better } },
        };
        values.iter().enumerate().map(of).collect()
    };
    let open = Answer::CannotTell(Unclear::Bounds);
    for (bounds, of_worse, of_equal) in [
        ([false, false], Answer::Worse, Answer::NotWorse),
        ([false, true], Answer::Worse, open),
        ([true, false], open, Answer::NotWorse),
        ([true, true], open, open),
    ] {
        for from in [0, 5] {
            for (values, answer) in [(&worse, of_worse), (&equal, of_equal)] {
                let pairs = with(values, bounds, from);
                assert_eq!(concluded(&pairs, rule(), 0.01).answer, answer, "{bounds:?} {from}");
                let decides = decided(&pairs, rule(), 0.01).map(|found| found.answer);
                assert_eq!(decides, (answer != open).then_some(answer), "further pairs may tell");
                assert_eq!(judged(&[&pairs], rule())[0].answer, answer);
                let builds = Rule { builds: Some(6), ..rule() };
                assert_eq!(concluded(&pairs, builds, 0.01).answer, answer, "of builds");
            }
        }
    }
    // A pair after the one that decided changes nothing; and at most all pairs are of no use.
    let longer = [&equal[..], &equal[..2]].concat();
    assert_eq!(concluded(&with(&longer, [true; 2], 6), rule(), 0.01).answer, Answer::NotWorse);
    let most: Vec<f64> = equal.into_iter().cycle().take(MOST).collect();
    let found = decided(&with(&most, [false, true], 19), rule(), 0.01).unwrap();
    assert_eq!((found.answer, found.bounds.may_be_worse), (Answer::NotWorse, false));
    assert_eq!(decided(&with(&most, [false, true], 0), rule(), 0.01).unwrap().answer, open);
}

#[test]
fn figures_share_what_may_be_wrong_until_one_is_worse() {
    let clear = [0.1, 0.11, 0.09, 0.1, 0.12, 0.1];
    // t is 4.1: 2 % asks for 3.9, and half of it for 4.6.
    let near: Vec<f64> = [1.5, 0.1, 0.9, 0.8, 0.5, 1.0].iter().map(|it| it / 100.0).collect();
    let noisy = [0.3, -0.2, 0.25, -0.3, 0.2, -0.31];
    let wide = Rule { alpha: 0.02, ..rule() };
    let answers = |figures: &[&[f64]]| -> Vec<Answer> {
        judged(figures, wide).into_iter().map(|found| found.answer).collect()
    };
    assert_eq!(answers(&[&near, &noisy])[0], Answer::NotWorse);
    assert_eq!(answers(&[&near, &clear]), [Answer::Worse, Answer::Worse]);
    assert_eq!(answers(&[]), []);
}
