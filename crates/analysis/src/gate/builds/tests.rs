use super::super::tests::simulated::{Law, of_builds};
use super::super::tests::{at_most, shares};
use super::super::{Answer, Rule, Unclear, concluded, least_shown, pairs_needed};
use super::*;

fn rule(builds: Option<usize>) -> Rule {
    Rule { builds, ..Rule::usual() }
}

/// How a simulated head differs from its base: by so much in truth, by so much from build to build, and by so much from
/// pair to pair.
#[derive(Clone, Copy)]
struct World {
    law: Law,
    truth: f64,
    of_builds: f64,
    of_pairs: f64,
    builds: usize,
}

impl World {
    /// The shares of gates that are worse by this rule, and no worse; each pair has the layout of its build.
    fn shares(self, rule: Rule) -> [f64; 2] {
        let spreads = (self.builds, self.of_builds, self.of_pairs);
        shares(rule, |chance| {
            of_builds(self.law, chance, spreads, MOST).iter().map(|it| self.truth + it).collect()
        })
    }
}

#[test]
fn equal_code_whose_builds_differ_is_called_worse_no_more_often_than_it_may_be() {
    for law in [Law::Normal, Law::HeavyTails, Law::OneInTen] {
        for builds in [5, 6, 8, 10, 20] {
            for (of_builds, of_pairs) in [(0.02, 0.002), (0.06, 0.01), (0.03, 0.06), (0.0, 0.06)] {
                let world = World { law, truth: 0.0, of_builds, of_pairs, builds };
                let [worse, _] = world.shares(rule(Some(builds)));
                let says = format!("{law:?}, {builds} builds, {of_builds} {of_pairs}: {worse}");
                assert!(worse <= at_most(0.01), "{says}");
            }
        }
    }
}

/// What `--builds` is for.
#[test]
fn with_one_build_or_where_pairs_count_and_not_builds_equal_code_is_often_called_worse() {
    let world =
        |builds| World { law: Law::Normal, truth: 0.0, of_builds: 0.05, of_pairs: 0.01, builds };
    let [one, five] = [1, 5].map(|builds| world(builds).shares(rule(None))[0]);
    assert!(0.1 < one, "one build of each side: {one}");
    assert!(at_most(0.01) < five, "pairs of five builds: {five}");
    // The same gates, by builds.
    assert!(world(5).shares(rule(Some(5)))[0] <= at_most(0.01));
}

#[test]
fn a_head_that_is_worse_is_found_where_the_plan_says_so_and_ruled_out_where_it_is_not() {
    for builds in [6, 10, 20] {
        let rule = rule(Some(builds));
        let unit = least_shown(0.001, builds, rule, rule.alpha).unwrap().ln_1p();
        let spread = 0.001 * rule.detect.ln_1p() / unit;
        assert!(pairs_needed(0.99 * spread, rule, rule.alpha).is_some_and(|it| it <= builds));
        assert_eq!(pairs_needed(1.01 * spread, rule, rule.alpha), None);
        let world = World {
            law: Law::Normal,
            truth: rule.detect.ln_1p(),
            of_builds: 0.8 * spread,
            of_pairs: 0.6 * spread,
            builds,
        };
        let [found, _] = world.shares(rule);
        assert!(0.9 <= found, "{builds}: {found}");
        let [_, ruled_out] = World { truth: 0.0, ..world }.shares(rule);
        assert!(0.9 <= ruled_out, "{builds}: {ruled_out}");
    }
}

#[test]
fn it_is_looked_while_builds_are_fresh_and_then_when_all_had_equally_many_pairs() {
    assert_eq!(looks(None), LOOKS);
    assert_eq!(looks(Some(5)), [5, 10, 15, 20]);
    assert_eq!(looks(Some(7)), [6, 7, 14]);
    assert_eq!(looks(Some(8)), [6, 8, 16]);
    assert_eq!(looks(Some(20)), [6, 8, 10, 12, 16, 20]);
    assert_eq!([None, Some(7), Some(12), Some(20)].map(most), [20, 14, 12, 20]);
    for builds in BUILDS {
        for pairs in 0..=MOST {
            let is_looked = looks(Some(builds)).contains(&pairs);
            let bound = bound_of(Some(builds), 0.01, pairs);
            assert_eq!(bound.is_finite() && 2.0 < bound, is_looked, "{builds}, {pairs}: {bound}");
        }
    }
}

#[test]
fn each_build_counts_once_however_many_pairs_it_had() {
    // Five builds, of which each is the same in all of its pairs.
    let pairs: Vec<f64> = (0..20).map(|at| [0.06, 0.05, 0.07, 0.05, 0.07][at % 5]).collect();
    assert_eq!(units(&pairs[..10], Some(5)).len(), 5);
    assert_eq!(units(&pairs[..3], Some(5)), pairs[..3]);
    let found = concluded(&pairs[..14], rule(Some(5)), 0.01);
    assert_eq!((found.answer, found.pairs, found.units), (Answer::Worse, 5, 5));
    // Of 14 pairs without an answer the last four are left out: one build has had fewer.
    let wide: Vec<f64> = (0..14).map(|at| [0.3, -0.3, 0.25, -0.28, 0.1][at % 5]).collect();
    let found = concluded(&wide, rule(Some(5)), 0.01);
    assert_eq!((found.pairs, found.units), (10, 5));
    assert!(
        matches!(found.answer, Answer::CannotTell(Unclear::Wide | Unclear::Serial)),
        "{found:?}"
    );
    // The interval is that of five means: Student's t with four degrees of freedom is 2.776.
    let half = 2.776 * found.spread / 5.0_f64.sqrt();
    assert!((found.half.unwrap() / half - 1.0).abs() < 1e-3);
}
