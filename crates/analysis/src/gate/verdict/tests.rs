use lab::record::{OutcomeKind, TrialRecord};
use load::Failure;

use super::*;
use crate::fixture::{closed, end, fail, growing, paired};

const ALIKE: [f64; 6] = [1.0, 1.01, 0.99, 1.005, 0.992, 1.0];
const SLOWER: [f64; 6] = [0.8, 0.81, 0.79, 0.8, 0.82, 0.8];
const WIDE: [f64; 6] = [1.4, 0.7, 1.3, 0.8, 1.2, 0.75];

/// Pairs in which head, and the base once more, have these shares of the base's throughput.
fn course(head: &[f64], control: Option<&[f64]>, ends: OutcomeKind) -> GateCourse {
    let third = if control.is_some() { ", 'again'" } else { "" };
    let mut course =
        GateCourse::of(&paired(&format!("'base', 'head'{third}"), "most = 20")).unwrap();
    let trial = |subject: &str, repeat: usize, share: f64| -> TrialRecord {
        let mut trial = closed(subject, repeat as u32, 1_300.0 * share);
        growing(&mut trial, "subject.cpu.total", "ns", 5e9);
        trial
    };
    for (repeat, share) in head.iter().enumerate() {
        course.add(&trial("base", repeat, 1.0));
        let mut of_head = trial("head", repeat, *share);
        end(&mut of_head, ends);
        course.add(&of_head);
        if let Some(control) = control {
            course.add(&trial("again", repeat, control[repeat]));
        }
    }
    course
}

fn verdict(course: &GateCourse, newly_broken: usize) -> Verdict {
    weighing(course, newly_broken).verdict
}

fn weighing(course: &GateCourse, newly_broken: usize) -> Weighing {
    let load = Gated { course, gated: vec![Figure::Throughput], shown: vec![Figure::ResponseP99] };
    weigh(&[load], Rule::usual(), newly_broken)
}

#[test]
fn the_gated_figures_decide_and_the_others_are_shown() {
    let verdict_on = |head: &[f64]| verdict(&course(head, None, OutcomeKind::Measured), 0);
    assert_eq!(verdict_on(&ALIKE), Verdict::NotWorse);
    assert_eq!(verdict_on(&SLOWER), Verdict::Worse(WhyWorse::Figures));
    assert_eq!(verdict_on(&WIDE), Verdict::CannotTell(WhyUnclear::Figures));
    let slower = course(&SLOWER, None, OutcomeKind::Measured);
    let found = weighing(&slower, 0);
    let [gated, shown] = found.figures.as_slice() else { panic!("{found:?}") };
    let ratio = gated.ratio.unwrap();
    assert!((ratio - 0.8).abs() < 0.01 && gated.is_gated && !shown.is_gated);
    let (low, high) = gated.interval.unwrap();
    assert!(low < ratio && ratio < high && high < 1.0);
    assert!((shown.ratio.unwrap() - 1.0).abs() < 1e-6, "both have one p99");
}

#[test]
fn cpu_time_is_only_asked_for_where_a_figure_is_worse() {
    let worse = |head: &[f64], ends, broken| {
        weighing(&course(head, None, ends), broken).is_worse_by_figures()
    };
    assert!(worse(&SLOWER, OutcomeKind::Measured, 0) && worse(&SLOWER, OutcomeKind::Measured, 1));
    assert!(!worse(&ALIKE, OutcomeKind::Measured, 0) && !worse(&ALIKE, OutcomeKind::Measured, 1));
    assert!(!worse(&SLOWER, OutcomeKind::Died, 0));
}

#[test]
fn a_head_of_which_an_answer_costs_more_cpu_time_is_known() {
    // The same CPU time for fewer answers, for as many, and for more.
    let shows =
        |head: &[f64]| course(head, None, OutcomeKind::Measured).shows_more_cpu(Rule::usual());
    let faster = SLOWER.map(|share| 1.0 / share);
    assert_eq!([&SLOWER, &ALIKE, &faster].map(|head| shows(head)), [true, false, false]);
}

/// Half a percent of the requests is given up after 5 s: it is tolerated, and p99.9 is only known to be longer.
#[test]
fn a_gated_percentile_that_is_a_bound_says_no_more_than_it_knows() {
    let of = |given_up: [bool; 2]| {
        let mut course = course(&[], None, OutcomeKind::Measured);
        for repeat in 0..6 {
            for (subject, is_given_up) in ["base", "head"].into_iter().zip(given_up) {
                let mut trial = closed(subject, repeat, 2_000.0);
                fail(&mut trial, Failure::Deadline, if is_given_up { 100 } else { 0 });
                course.add(&trial);
            }
        }
        let gated = vec![Figure::ResponseP999];
        let found = weigh(&[Gated { course: &course, gated, shown: Vec::new() }], Rule::usual(), 0);
        (found.verdict, found.figures[0].clone())
    };
    let open = Verdict::CannotTell(WhyUnclear::Figures);
    assert_eq!(of([false, false]).0, Verdict::NotWorse);
    let (verdict, head) = of([false, true]);
    assert_eq!(verdict, Verdict::Worse(WhyWorse::Figures));
    assert_eq!((head.bounds, head.are_bounds()), ([false, true], [false, true]));
    assert!(head.ratio.is_some_and(|ratio| 4_000.0 < ratio));
    assert!(head.interval.is_some_and(|(low, high)| 4_000.0 < low && high.is_infinite()));
    // By these values the head is 5,000 times as fast.
    let (verdict, base) = of([true, false]);
    assert_eq!((verdict, base.bounds), (Verdict::NotWorse, [true, false]));
    assert!(base.interval.is_some_and(|(low, high)| low == 0.0 && high < 0.001));
    // Both are 5 s or more: by these values they are equal.
    let (verdict, both) = of([true, true]);
    assert_eq!((verdict, both.ratio, both.interval), (open, None, None));
}

#[test]
fn a_second_build_of_the_base_that_differs_takes_the_answer_away() {
    let verdict_beside =
        |control: &[f64]| verdict(&course(&SLOWER, Some(control), OutcomeKind::Measured), 0);
    assert_eq!(verdict_beside(&ALIKE), Verdict::Worse(WhyWorse::Figures));
    assert_eq!(verdict_beside(&SLOWER), Verdict::CannotTell(WhyUnclear::Control));
    let faster: Vec<f64> = SLOWER.iter().map(|share| 1.0 / share).collect();
    assert_eq!(verdict_beside(&faster), Verdict::CannotTell(WhyUnclear::Control), "to either side");
}

#[test]
fn clauses_and_failures_outweigh_figures() {
    let alike = course(&ALIKE, None, OutcomeKind::Measured);
    assert_eq!(verdict(&alike, 1), Verdict::Worse(WhyWorse::Conformance));
    let verdict_after = |ends| verdict(&course(&ALIKE, None, ends), 0);
    assert_eq!(verdict_after(OutcomeKind::Died), Verdict::Worse(WhyWorse::Failed));
    assert_eq!(verdict_after(OutcomeKind::Unable), Verdict::CannotTell(WhyUnclear::Disturbed));
}
