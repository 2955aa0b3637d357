use lab::conformance::{Evidence, Level, Report, Tag, stamp};
use lab::experiment::Point;

use super::*;
use crate::board::Board;
use crate::fixture::{at, run};

fn finding(id: &str, area: Area, verdict: CaseVerdict) -> Finding {
    Finding {
        id: id.into(),
        title: "a title".into(),
        area,
        clause: "RFC 9112, 6.3".into(),
        level: Level::Must,
        weight: 3,
        tags: Vec::new(),
        demand: String::new(),
        doubt: String::new(),
        expected: String::new(),
        verdict,
        why: "200".into(),
        rounds: vec![verdict],
        evidence: Evidence::default(),
    }
}

/// Passes, a warning, a smuggling failure, broken advice; and a WebSocket case that does not apply.
fn findings() -> Vec<Finding> {
    let mut all: Vec<Finding> =
        (0..8).map(|n| finding(&format!("H1-P{n:02}"), Area::Host, CaseVerdict::Pass)).collect();
    all.push(finding("H1-W01", Area::Fields, CaseVerdict::Warn));
    let smuggled = finding("H1-S01", Area::Framing, CaseVerdict::Fail);
    all.push(Finding { tags: vec![Tag::Smuggling], ..smuggled });
    let advised = finding("H1-A01", Area::Answers, CaseVerdict::Fail);
    all.push(Finding { level: Level::Should, ..advised });
    all.push(finding("WS-H01", Area::Handshake, CaseVerdict::NotApplicable));
    all
}

fn checked(subject: &str, findings: Vec<Finding>) -> Conformance {
    let report =
        Report { catalogue: stamp(), findings, rounds: 3, took_ms: 1, cut_short: String::new() };
    Conformance::of(subject, Ok(report))
}

fn experiment(rest: &str) -> Experiment {
    let text = format!(
        "question = 'x'\nsubjects = 'all'\nworkload = 'hello'\n{rest}\n\
         load = {{ closed = {{ connections = 1 }}, total = 10 }}\n"
    );
    crate::fixture::experiment(&text).unwrap()
}

/// The conformities of `a`, `b` and the reference `idle` in this experiment.
fn conformities_of(rest: &str, found: Vec<Conformance>) -> Vec<Conformity> {
    let mut run = run(&[("a", "default"), ("b", "default"), ("idle", "reference")]);
    run.plan = ["a", "b", "idle"].map(|name| crate::fixture::key(name, 2_000.0, 0)).to_vec();
    run.conformance = found;
    conformities(&run, Some(&experiment(rest)))
}

fn unmet(rest: &str) -> Option<String> {
    conformities_of(rest, vec![checked("a", findings())])[0].unmet.clone()
}

#[test]
fn a_check_is_short_beside_a_speed_and_a_line_for_each_protocol() {
    let found = conformities_of("", vec![checked("a", findings())]);
    let score = found[0].score.as_ref().unwrap();
    assert_eq!(score.short(), "8/11 · MUST 1 · sec 1");
    let stamp = stamp();
    assert_eq!(
        score.lines(),
        [format!(
            "HTTP/1.1 8 pass · 1 warn · 2 fail · 0 not testable of 11 | MUST broken 1 | security 1: S01 \
             | catalogue {stamp} | 77 % (11 of 11 tested)"
        )]
    );
    let areas: Vec<&str> = score.areas.iter().map(|(area, _)| area.name()).collect();
    assert_eq!(areas, ["host", "fields", "framing", "answers"]);
    assert!(!score.has_crashed());
}

#[test]
fn too_few_tested_have_no_percentage_and_a_crash_is_named() {
    let mut few = findings();
    few.iter_mut().take(3).for_each(|finding| finding.verdict = CaseVerdict::NotTestable);
    few[10].verdict = CaseVerdict::Crash;
    let found = conformities_of("", vec![checked("a", few)]);
    let score = found[0].score.as_ref().unwrap();
    assert!(!score.lines()[0].contains('%'), "{:?}", score.lines());
    assert_eq!(score.short(), "5/11 · CRASH · MUST 1 · sec 1");
    assert!(score.has_crashed());
}

#[test]
fn a_server_that_was_not_checked_has_the_reason() {
    let why = |rest: &str, found| conformities_of(rest, found)[0].score.clone().unwrap_err();
    assert_eq!(why("", Vec::new()), "nothing was kept of it");
    assert_eq!(why("trials = { check = false }", Vec::new()), "the experiment leaves it out");
    assert_eq!(why("", vec![Conformance::of("a", Err("it died".into()))]), "it died");
}

#[test]
fn a_server_that_breaks_more_than_may_be_is_not_ranked_and_says_why() {
    assert_eq!(unmet(""), None);
    assert_eq!(unmet("require = { must_broken = 1, security = 1, should_broken = 1 }"), None);
    for (require, says) in [
        (
            "must_broken = 0, security = 0",
            "MUST broken 1, at most 0 may be; security 1, at most 0 may be",
        ),
        ("should_broken = 0", "SHOULD broken 1, at most 0 may be"),
    ] {
        assert_eq!(unmet(&format!("require = {{ {require} }}")).as_deref(), Some(says));
    }
    let all = conformities_of("require = { security = 9 }", vec![checked("a", findings())]);
    let unmet: Vec<Option<&str>> = all.iter().map(|found| found.unmet.as_deref()).collect();
    assert_eq!(unmet, [None, Some("not checked"), None], "nothing is required of a reference");
}

#[test]
fn a_server_that_was_asked_too_little_does_not_keep_what_is_required() {
    let mut few = findings();
    few.iter_mut().take(3).for_each(|finding| finding.verdict = CaseVerdict::NotTestable);
    let unmet = |rest| conformities_of(rest, vec![checked("a", few.clone())])[0].unmet.clone();
    assert_eq!(unmet("require = { security = 9 }").as_deref(), Some("only 8 of 11 cases decided"));
    assert_eq!(unmet(""), None);
}

#[test]
fn the_unmet_stand_on_the_board_and_in_no_rank() {
    let mut run = run(&[("a", "default"), ("b", "default")]);
    run.experiment = Some(experiment("require = { must_broken = 0 }"));
    let kept = findings().into_iter().filter(|finding| !finding.is_broken()).collect();
    run.conformance = vec![checked("a", findings()), checked("b", kept)];
    run.conformance[0].found.as_mut().unwrap().findings[0].verdict = CaseVerdict::Crash;
    let trials = ["a", "b"].map(|subject| at(subject, Point::Connections(1), 0));
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    let board = Board::of(&run, &trials);
    let rows = &board.tables[0].rows;
    assert_eq!((rows[0].unmet.is_some(), rows[1].unmet.is_some()), (true, false));
    assert_eq!((rows[0].has_crashed, rows[1].has_crashed), (true, false));
    let ranks = board.tables[0].ranks(lab::figure::Figure::Throughput, Point::Connections(1));
    let names: Vec<&str> = ranks.iter().flatten().map(|row| row.subject.as_str()).collect();
    assert_eq!(names, ["b"]);
    let unmet = board.conformity("a").unwrap().unmet.as_deref().unwrap();
    assert!(unmet.starts_with("MUST broken"), "{unmet}");
}

#[test]
fn two_checks_differ_case_by_case_and_only_by_one_catalogue() {
    let a = checked("a", findings());
    let mut b = checked("b", findings());
    let change = |found: &mut Conformance, place: usize, verdict| {
        found.found.as_mut().unwrap().findings[place].verdict = verdict;
    };
    change(&mut b, 2, CaseVerdict::Warn);
    change(&mut b, 3, CaseVerdict::Fail);
    change(&mut b, 9, CaseVerdict::Pass);
    let all = turned(Some(&a), Some(&b)).unwrap();
    let found: Vec<_> =
        all.iter().map(|it| (it.a.id.as_str(), it.is_newly_broken(), it.is_newly_kept())).collect();
    let expected = [("H1-P03", true, false), ("H1-S01", false, true), ("H1-P02", false, false)];
    assert_eq!(found, expected);
    assert_eq!(turned(Some(&a), Some(&a)), Ok(Vec::new()));

    b.found.as_mut().unwrap().catalogue.hash = "00000000".into();
    assert!(matches!(turned(Some(&a), Some(&b)), Err(Incomparable::Catalogues(..))));
    let died = Conformance::of("b", Err("it died".into()));
    let said = vec![("A", "nothing was kept of it".into()), ("B", "it died".into())];
    assert_eq!(turned(None, Some(&died)), Err(Incomparable::Unchecked(said)));
}

#[test]
fn the_gravest_failures_come_first() {
    let mut all = findings();
    all[8].verdict = CaseVerdict::Crash;
    all[0].verdict = CaseVerdict::Fail;
    let ids: Vec<&str> = failures(&all).iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["H1-W01", "H1-S01", "H1-P00", "H1-A01"]);
}
