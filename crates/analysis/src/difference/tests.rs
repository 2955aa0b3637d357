use super::*;
use crate::fixture::{normal, number, numbers, rounds, share};
use load::Chance;

impl Comparison {
    fn contains(&self, ratio: f64) -> bool {
        (self.interval.0..=self.interval.1).contains(&ratio)
    }
}

/// Rounds with these figures, compared.
fn compared(figure: Figure, one: &[f64], other: &[f64]) -> Result<Comparison, Why> {
    unpaired(figure, &numbers(one), &numbers(other))
}

#[test]
fn intervals_cover_the_true_ratio_as_often_as_they_say() {
    let mut chance = Chance::new(11);
    for count in [3, 5, 10] {
        for (a, b) in [(0.03, 0.03), (0.03, 0.06), (0.01, 0.08)] {
            let covered = share(8_000, || {
                let one = rounds(&mut chance, count, 1_000.0, a);
                let other = rounds(&mut chance, count, 1_070.0, b);
                unpaired(Figure::Throughput, &one, &other).unwrap().contains(1.07)
            });
            assert!((0.93..=0.97).contains(&covered), "{count} rounds, {a} and {b}: {covered}");
        }
    }
}

/// Rounds that have a part of their spread in common: only what is left of it is between the two.
#[test]
fn intervals_of_rounds_that_belong_together_cover_the_true_ratio() {
    let mut chance = Chance::new(14);
    for count in [3, 5, 10] {
        for (common, own) in [(0.0, 0.05), (0.12, 0.02), (0.3, 0.1)] {
            let (mut narrower, times) = (0, 6_000);
            let covered = share(times, || {
                let pair = |_| {
                    let weather = (common * normal(&mut chance)).exp();
                    let mut side =
                        |truth: f64| number(truth * weather * (own * normal(&mut chance)).exp());
                    [side(1_000.0), side(1_070.0)]
                };
                let pairs: Vec<[Number; 2]> = (0..count).map(pair).collect();
                let made = paired(Figure::Throughput, &pairs).unwrap();
                let [a, b] =
                    [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect::<Vec<_>>());
                let apart = unpaired(Figure::Throughput, &a, &b).unwrap();
                narrower += usize::from(made.smallest_shown() < apart.smallest_shown());
                assert!((made.ratio / apart.ratio - 1.0).abs() < 1e-9);
                made.contains(1.07)
            });
            assert!((0.94..=0.96).contains(&covered), "{count} rounds, {common}, {own}: {covered}");
            let has_common = 0.0 < common && 3 < count;
            assert!(!has_common || times * 9 / 10 < narrower, "{count} rounds: {narrower}");
        }
    }
}

#[test]
fn a_family_of_nothing_seldom_shows_anything() {
    let mut chance = Chance::new(12);
    for count in [3, 5] {
        let alarms = share(1_500, || {
            let mut made: Vec<Comparison> = (0..35)
                .map(|_| {
                    let one = rounds(&mut chance, count, 5.0, 0.05);
                    let other = rounds(&mut chance, count, 5.0, 0.05);
                    unpaired(Figure::ResponseP99, &one, &other).unwrap()
                })
                .collect();
            decide(made.iter_mut().map(|comparison| (1.0, comparison)).collect(), 0.0);
            let is_found = |comparison: &Comparison| {
                matches!(comparison.finding(), Change::Better | Change::Worse)
            };
            made.iter().any(is_found)
        });
        assert!(alarms <= 0.05, "{count} rounds: {alarms}");
    }
}

/// How often a difference of 5 % is shown, with rounds that are spread by 3 %: the numbers that docs/compare.md states.
#[test]
fn five_percent_are_shown_as_often_as_the_page_says() {
    let mut chance = Chance::new(13);
    let mut power = |count: usize| {
        share(4_000, || {
            let one = rounds(&mut chance, count, 1_000.0, 0.03);
            let other = rounds(&mut chance, count, 1_050.0, 0.03);
            unpaired(Figure::Throughput, &one, &other).unwrap().finding() == Change::Better
        })
    };
    for (count, stated) in [(3, 0.27), (5, 0.62), (7, 0.80), (10, 0.93)] {
        let found = power(count);
        assert!((found - stated).abs() < 0.03, "{count} rounds: {found}, stated {stated}");
    }
}

#[test]
fn so_many_more_rounds_as_it_takes() {
    // The logarithms are spread by 3 %: seven rounds show 5 % four times in five, as the test above finds.
    let values = [-0.03_f64, 0.0, 0.03].map(|offset| 1_000.0 * offset.exp());
    let comparison = compared(Figure::Throughput, &values, &values).unwrap();
    assert_eq!(comparison.finding(), Change::NotShown);
    assert!((comparison.smallest_shown() - 0.07).abs() < 0.003, "{}", comparison.smallest_shown());
    assert!((3..=5).contains(&comparison.more_rounds(0.05).unwrap()));
    assert_eq!(comparison.more_rounds(0.5), Some(0));
    assert_eq!(comparison.more_rounds(0.000_1), None);
}

#[test]
fn worse_is_more_time_and_less_done() {
    let finding = |figure, factor: f64| {
        let a = [100.0, 101.0, 102.0, 101.5];
        let b = a.map(|value| value * factor);
        compared(figure, &a, &b).unwrap().finding()
    };
    assert_eq!(finding(Figure::Throughput, 0.8), Change::Worse);
    assert_eq!(finding(Figure::Throughput, 1.2), Change::Better);
    assert_eq!(finding(Figure::ResponseP99, 1.2), Change::Worse);
    assert_eq!(finding(Figure::RssPeak, 0.8), Change::Better);
    assert_eq!(finding(Figure::Backlog, 0.8), Change::Differs);
    assert_eq!(finding(Figure::Throughput, 1.0), Change::NotShown);
}

#[test]
fn what_tells_nothing_is_not_compared() {
    let why = |a: &[f64], b: &[f64]| compared(Figure::Throughput, a, b).map(|made| made.ratio);
    assert_eq!(why(&[], &[1.0]), Err(Why::Missing));
    assert_eq!(why(&[1.0, 1.0], &[1.0]), Err(Why::OneRound));
    assert_eq!(why(&[1.0, 0.0], &[1.0, 1.0]), Err(Why::Nothing));
    assert_eq!(why(&[2.0, 2.0], &[2.0, 2.0]), Ok(1.0));
}

#[test]
fn a_bound_counts_where_the_truth_is_only_further_off() {
    let bounds = |values: [f64; 3]| values.map(|value| Number { is_bound: true, ..number(value) });
    let (plain, long) = (numbers(&[10.0, 11.0, 12.0]), bounds([5_000.0, 5_000.0, 5_001.0]));
    let greater = unpaired(Figure::ResponseP99, &plain, &long).unwrap();
    assert_eq!((greater.is_bound, greater.finding()), (true, Change::Worse));
    let [low, high] = greater.ends();
    assert!(300.0 < low.unwrap() && high.is_none(), "the true ratio may be anything above");
    let lower = unpaired(Figure::ResponseP99, &long, &plain).unwrap();
    assert_eq!((lower.bounds(), lower.finding()), ([true, false], Change::Better));
    let [low, high] = lower.ends();
    assert!(low.is_none() && high.unwrap() < 1.0 / 300.0);
    let mut tolerated = greater;
    tolerated.set_tolerance(1_000.0);
    decide(vec![(1.0, &mut tolerated)], 0.0);
    assert_eq!(tolerated.finding(), Change::NotShown, "no tolerance holds what is open");
    let less = unpaired(Figure::ResponseP99, &plain, &bounds([1.0, 1.0, 1.1]));
    assert_eq!(less, Err(Why::Bounds));
    let both = unpaired(Figure::ResponseP99, &bounds([1.0, 1.0, 1.1]), &bounds([5.0, 5.0, 5.1]));
    assert_eq!(both, Err(Why::Bounds));
}

/// Comparisons of which each alone has such a p-value, decided with these weights.
fn decided(statements: &[(f64, f64)], reserved: f64) -> Vec<Comparison> {
    let base = compared(Figure::Throughput, &[1.0, 2.0], &[1.0, 2.0]).unwrap();
    let made = |&(_, p): &(f64, f64)| {
        let t = student::point(p, base.judged.freedom);
        // The rounds of the two sides alone show each of them.
        let own_error = base.own_error / 1e3;
        Comparison { ratio: (t * base.judged_error).exp(), own_error, ..base }
    };
    let mut made: Vec<Comparison> = statements.iter().map(made).collect();
    let weights = statements.iter().map(|(weight, _)| *weight);
    decide(weights.zip(&mut made).collect(), reserved);
    made
}

#[test]
fn holm_s_steps() {
    let made = decided(&[(1.0, 0.04), (1.0, 0.01), (1.0, 0.03)], 0.0);
    for (comparison, wanted) in made.iter().zip([0.06, 0.03, 0.06]) {
        assert!((comparison.adjusted_p - wanted).abs() < 1e-6, "{comparison:?}");
    }
    let found = made.iter().map(Comparison::finding).collect::<Vec<_>>();
    assert_eq!(found, [Change::NotShown, Change::Better, Change::NotShown]);
}

#[test]
fn an_interval_excludes_1_exactly_where_a_difference_is_stated() {
    let mut chance = Chance::new(15);
    for _ in 0..2_000 {
        let statements: Vec<(f64, f64)> = (0..1 + (8.0 * chance.unit()) as usize)
            .map(|_| (0.1 + chance.unit(), 0.000_1 + 0.06 * chance.unit().powi(2)))
            .collect();
        for comparison in decided(&statements, chance.unit()) {
            let (low, high) = comparison.interval;
            let is_stated = comparison.finding() != Change::NotShown;
            assert_eq!(is_stated, comparison.adjusted_p < ALPHA, "{statements:?}: {comparison:?}");
            assert_eq!(is_stated, 1.0 < low || high < 1.0, "{statements:?}: {comparison:?}");
        }
    }
}

#[test]
fn two_sides_pay_a_twentieth_for_all_that_is_no_headline_and_what_is_left_over_flows_on() {
    let weights = weights(&[true, false, false, false, false]);
    let found = |headline: f64, other: f64| {
        let p = [headline, other, 0.9, 0.9, 0.9];
        let statements: Vec<(f64, f64)> = weights.iter().copied().zip(p).collect();
        let made = decided(&statements, 0.0);
        [0, 1].map(|place| made[place].finding() == Change::Better)
    };
    assert_eq!(found(0.047, 0.9), [true, false]);
    assert_eq!(found(0.048, 0.9), [false, false]);
    assert_eq!(found(0.5, 0.000_6), [false, true], "a share of its own");
    assert_eq!(found(0.5, 0.000_7), [false, false]);
    assert_eq!(found(0.01, 0.012), [true, true], "what the headline leaves over");
    assert_eq!(found(0.01, 0.013), [true, false]);
}

#[test]
fn what_is_decided_elsewhere_keeps_its_share() {
    let finding = |p: f64| decided(&[(0.5, p)], 0.5)[0].finding();
    assert_eq!([finding(0.024), finding(0.026)], [Change::Better, Change::NotShown]);
}

/// Rounds of several sides that have the weather of their round in common.
fn of_sides(chance: &mut Chance, count: usize, spreads: &[f64]) -> Vec<Vec<Number>> {
    let round = |_| {
        let weather = (0.2 * normal(chance)).exp();
        let side = |spread: &f64| number(1_000.0 * weather * (spread * normal(chance)).exp());
        spreads.iter().map(side).collect()
    };
    (0..count).map(round).collect()
}

#[test]
fn the_shared_spread_is_that_of_a_ratio_without_the_weather() {
    let mut chance = Chance::new(16);
    let spread = shared_spread(&of_sides(&mut chance, 4_000, &[0.03; 4])).unwrap();
    assert!((spread.variance / (2.0 * 0.03_f64.powi(2)) - 1.0).abs() < 0.05, "{spread:?}");
    assert_eq!(spread.freedom, 3_999.0 * 3.0);
    assert_eq!(shared_spread(&of_sides(&mut chance, 9, &[0.03; 2])), None, "their own is all");
    assert_eq!(shared_spread(&of_sides(&mut chance, 1, &[0.03; 4])), None);
    assert_eq!(shared_spread(&[]), None);
}

fn against_first(rounds: &[Vec<Number>]) -> Vec<Comparison> {
    let against = |side: usize| {
        let pairs: Vec<[Number; 2]> = rounds.iter().map(|round| [round[0], round[side]]).collect();
        paired(Figure::Throughput, &pairs).unwrap()
    };
    (1..rounds[0].len()).map(against).collect()
}

/// All sides against the first, as a race decides its headline.
fn raced(rounds: &[Vec<Number>]) -> Vec<Comparison> {
    let mut made = against_first(rounds);
    let mut all: Vec<&mut Comparison> = made.iter_mut().collect();
    share_spread(&mut all, shared_spread(rounds));
    join(&mut all);
    decide(all.into_iter().map(|comparison| (1.0, comparison)).collect(), 0.0);
    made
}

/// How often any of several sides is said to differ from the first, though none does.
fn alarms(count: usize, spreads: &[f64]) -> f64 {
    let mut chance = Chance::new(17);
    share(800, || {
        let made = raced(&of_sides(&mut chance, count, spreads));
        made.iter().any(|comparison| comparison.finding() != Change::NotShown)
    })
}

#[test]
fn equal_sides_raise_alarms_as_seldom_as_stated_and_unlike_ones_not_many_more() {
    for (count, unlike) in [(3, 0.14), (5, 0.11), (20, 0.073)] {
        for (spreads, most) in [
            ([0.03; 5], 0.073),
            ([0.03, 0.03, 0.03, 0.03, 0.15], unlike),
            ([0.15, 0.03, 0.03, 0.03, 0.03], unlike),
            ([0.03, 0.03, 0.03, 0.06, 0.15], unlike),
        ] {
            let found = alarms(count, &spreads);
            assert!(found <= most, "{count} rounds, {spreads:?}: {found}");
        }
    }
}

#[test]
fn five_sides_find_most_of_what_two_sides_alone_would() {
    let mut chance = Chance::new(18);
    for count in [3, 5] {
        let (mut alone, mut together) = (0, 0);
        for _ in 0..2_000 {
            let mut rounds = of_sides(&mut chance, count, &[0.03; 5]);
            rounds.iter_mut().for_each(|round| round[4].value /= 1.05);
            let is_worse = |comparison: &Comparison| comparison.finding() == Change::Worse;
            alone += usize::from(is_worse(&against_first(&rounds)[3]));
            together += usize::from(is_worse(&raced(&rounds)[3]));
        }
        assert!(7 * alone < 10 * together, "{count} rounds: {together}, {alone}");
    }
}

#[test]
fn a_tolerance_is_for_what_is_worse_and_within_it_no_other_statement_counts() {
    let finding = |factor: f64, tolerance: f64, others: f64| {
        let a = [1_000.0, 1_004.0, 996.0, 1_002.0];
        let b = a.map(|value| value * factor);
        let mut made = compared(Figure::Throughput, &a, &b).unwrap();
        made.set_tolerance(tolerance);
        decide(vec![(1.0, &mut made)], others);
        made.finding()
    };
    assert_eq!(finding(0.90, 0.05, 0.0), Change::Worse);
    assert_eq!(finding(0.97, 0.05, 0.0), Change::Within);
    assert_eq!(finding(0.97, 0.01, 0.0), Change::Worse);
    assert_eq!(finding(1.03, 0.05, 0.0), Change::Better);
    assert_eq!(finding(0.949, 0.05, 0.0), Change::NotShown);
    assert_eq!(finding(0.957, 0.05, 1e4), Change::Within, "by itself, among however many");
    assert_eq!(finding(0.90, 0.05, 1e9), Change::NotShown, "among so many");
}
