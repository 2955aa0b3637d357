use std::time::Duration;

use lab::source_file::SourceFile;

use super::*;
use crate::fixture::{self, closed as trial, end, growing, paired, recording};
use crate::until::Rounds;

fn experiment(pairs: &str) -> Experiment {
    paired("'base', 'head'", pairs)
}

/// The rounds after pairs in which the head has these shares of the base's throughput.
fn after(pairs: &str, shares: &[f64]) -> (GateCourse, Rounds) {
    let experiment = experiment(pairs);
    let (mut course, mut rounds) = (GateCourse::of(&experiment).unwrap(), Rounds::of(&experiment));
    for (repeat, share) in shares.iter().enumerate() {
        let repeat = repeat as u32;
        for (subject, per_s) in [("base", 1_300.0), ("head", 1_300.0 * share)] {
            course.add(&trial(subject, repeat, per_s));
            rounds.add(&trial(subject, repeat, per_s));
        }
    }
    (course, rounds)
}

fn goes_on(rounds: &Rounds, next: u32) -> bool {
    rounds.needs(&trial("head", next, 0.0).key, &[])
}

const ALIKE: [f64; 6] = [1.0, 1.01, 0.99, 1.005, 0.992, 1.0];
const SLOWER: [f64; 6] = [0.9, 0.91, 0.89, 0.9, 0.92, 0.9];
const WIDE: [f64; 6] = [1.4, 0.7, 1.3, 0.8, 1.2, 0.75];

#[test]
fn pairs_go_on_until_they_have_an_answer() {
    for shares in [ALIKE, SLOWER] {
        let (course, rounds) = after("most = 20", &shares);
        assert!((0..6).all(|round| goes_on(&rounds, round)), "nobody looks before six");
        assert!(!goes_on(&rounds, 6));
        assert_eq!((course.tried(), course.counted()), (6, 6));
    }
    assert!(goes_on(&after("most = 20", &WIDE).1, 6));
    assert!(!goes_on(&after("most = 6", &WIDE).1, 6));
}

/// Each trial of the fixture ends 12 s after its start, both of a pair at once.
#[test]
fn no_pair_begins_after_the_limit_of_time() {
    assert!(goes_on(&after("most = 20, limit = '73s'", &WIDE).1, 6));
    assert!(!goes_on(&after("most = 20, limit = '72s'", &WIDE).1, 6));
}

#[test]
fn a_difference_is_above_zero_where_the_head_is_worse() {
    let (course, _) = after("most = 20", &[0.5]);
    let first_difference = |figure| course.differences(figure, Against::Head)[0];
    assert!((first_difference(Figure::Throughput) - 2.0_f64.ln()).abs() < 1e-3);
    assert!(course.differences(Figure::Throughput, Against::Control).is_empty());
    let [base, head] = course.means(Figure::Throughput, Against::Head).unwrap();
    assert!((base - 1_300.0).abs() < 1.0 && (head - 650.0).abs() < 1.0);
}

#[test]
fn a_pair_that_was_disturbed_on_one_side_counts_on_neither_and_is_repeated() {
    let (mut course, mut rounds) = after("most = 6", &WIDE[..5]);
    let mut still = trial("head", 5, 100.0);
    let lane = &mut recording(&mut still).lanes[0];
    (lane.idle, lane.cpu_time) = (0, lane.wall);
    for add in [&trial("base", 5, 1_300.0), &still] {
        course.add(add);
        rounds.add(add);
    }
    assert_eq!((course.tried(), course.counted()), (6, 5));
    assert_eq!(course.differences(Figure::Throughput, Against::Head).len(), 5);
    assert_eq!(course.disturbances().next().map(Doubt::id), Some("instrument_busy"));
    assert!(goes_on(&rounds, 6) && !course.is_disturbed());
}

#[test]
fn builds_take_turns_and_a_pair_that_was_disturbed_is_repeated_with_the_same_ones() {
    let of = |builds: &str| {
        let (mut course, _) = after(&format!("most = 20{builds}"), &WIDE[..3]);
        let mut died = trial("head", 3, 100.0);
        end(&mut died, OutcomeKind::Unable);
        course.add(&trial("base", 3, 1_300.0));
        course.add(&died);
        for repeat in 4..7 {
            course.add(&trial("base", repeat, 1_300.0));
            course.add(&trial("head", repeat, 1_300.0));
        }
        (0..8).map(|round| course.build_of(round)).collect::<Vec<_>>()
    };
    assert_eq!(of(", builds = 5"), [0, 1, 2, 3, 3, 4, 0, 1]);
    assert_eq!(of(""), [0; 8]);
}

/// Equal pairs have an answer after the first look: of six pairs, or of five builds.
#[test]
fn pairs_of_several_builds_go_on_until_their_builds_suffice() {
    assert!(goes_on(&after("most = 20", &ALIKE[..5]).1, 5));
    assert!(!goes_on(&after("most = 20, builds = 5", &ALIKE[..5]).1, 5));
}

#[test]
fn pairs_end_where_more_than_a_third_was_disturbed_or_none_counts() {
    let (mut course, _) = after("most = 20", &ALIKE[..4]);
    for repeat in 4..7 {
        assert!(!course.is_over_before(repeat));
        for subject in ["base", "head"] {
            let mut died = trial(subject, repeat, 100.0);
            end(&mut died, OutcomeKind::Unable);
            course.add(&died);
        }
    }
    assert!(course.is_disturbed() && course.is_over_before(7));
    let (mut none, _) = after("most = 20", &[]);
    for repeat in 0..3 {
        none.add(&trial("base", repeat, 100.0));
        let mut died = trial("head", repeat, 100.0);
        end(&mut died, OutcomeKind::Died);
        none.add(&died);
    }
    assert!(none.is_over_before(3));
    assert_eq!(none.failed(Against::Head), [OutcomeKind::Died; 3]);
}

#[test]
fn sides_that_follow_one_another_take_the_time_of_both() {
    let whole = experiment("most = 20, limit = '73s'").source.text;
    let text = whole.replace("slices = '100ms', ", "");
    assert_ne!(text, whole);
    let after = |rounds: u32| {
        let mut course = GateCourse::of(&fixture::experiment(&text).unwrap()).unwrap();
        for repeat in 0..rounds {
            course.add(&trial("base", repeat, 1_300.0));
            course.add(&trial("head", repeat, 1_300.0 * WIDE[repeat as usize]));
        }
        course.is_over_before(rounds)
    };
    assert!(!after(3), "three pairs of 24 s");
    assert!(after(4));
}

#[test]
fn only_a_base_and_a_head_are_pairs() {
    let whole = experiment("most = 20").source.text;
    let says = |old: &str, new: &str| {
        let text = whole.replacen(old, new, 1);
        assert_ne!(text, whole);
        let source = SourceFile { name: "x".into(), text };
        Experiment::parse("x", source).unwrap_err().to_string()
    };
    assert!(says("['base', 'head']", "['base']").contains("a base, a head"));
    assert!(says("detect = 0.05", "detect = 5").contains("below 1"));
    assert!(says("throughput_per_s", "failed_percent").contains("no ratio"));
    let pairs = experiment("most = 7, limit = '2m'").pairs.unwrap();
    assert_eq!((pairs.most, pairs.limit), (7, Some(Duration::from_secs(120))));
    assert_eq!((pairs.rounds_max(), pairs.builds), (11, None));
    let pairs = experiment("most = 7, builds = 6").pairs.unwrap();
    assert_eq!((pairs.most, pairs.builds, pairs.limit), (7, Some(6), None));
}

#[test]
fn a_gate_on_cpu_cannot_rest_on_processes_that_left_their_cgroup() {
    let counted = |figure: &str| {
        let text = experiment("most = 20").source.text.replace("throughput_per_s", figure);
        let mut course = GateCourse::of(&fixture::experiment(&text).unwrap()).unwrap();
        for subject in ["base", "head"] {
            let mut trial = trial(subject, 0, 1_300.0);
            for (name, ns) in [("cgroup", 1e9), ("user", 9e9), ("system", 1e9)] {
                growing(&mut trial, &format!("subject.cpu.{name}"), "ns", ns);
            }
            course.add(&trial);
        }
        course.counted()
    };
    assert_eq!(["throughput_per_s", "cpu_ms_per_1000"].map(counted), [1, 0]);
}

/// Another figure may need more pairs than this one did.
#[test]
fn the_means_are_those_of_the_pairs_of_which_the_ratio_is_made() {
    use crate::gate::{Gated, weigh};
    let mut pairs = ALIKE.repeat(2);
    pairs.truncate(6);
    // After the look that decides, the head is far worse.
    pairs.push(0.5);
    let (course, _) = after("most = 20", &pairs);
    let gated = vec![Figure::Throughput];
    let rule = Rule { alpha: 0.01, ..Rule::usual() };
    let found = weigh(&[Gated { course: &course, gated, shown: Vec::new() }], rule, 0);
    let weighed = &found.figures[0];
    assert_eq!((weighed.finding.pairs, weighed.pairs.len()), (6, 7));
    let [base, head] = weighed.means.unwrap();
    assert!((head / base - weighed.ratio.unwrap()).abs() < 1e-9, "{weighed:?}");
}
