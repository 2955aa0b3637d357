use lab::experiment::Point;
use lab::record::{Fact, RunRecord, TrialRecord};

use super::*;
use crate::render::{Screen, Shown};
use crate::run::fixture;
use crate::run::tests::under;
use load::Failure;

/// A race of two sides, with so many answers of so long in each round.
fn raced(rounds: [[(u64, u64); 2]; 2], load: &str, point: Point) -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, mut trials) = under(load, point, 100.0);
    run.entries[1].title = "Other".into();
    run.facts.push(Fact { name: RACE.into(), value: "dyno race quick other".into() });
    for trial in &mut trials {
        let side = usize::from(trial.key.subject == "evil");
        let (answers, response) = rounds[trial.key.repeat as usize][side];
        trial.outcome.kind = OutcomeKind::Measured;
        trial.loaded.as_mut().unwrap().recording = fixture::recording(answers, response);
    }
    (run, trials)
}

const MS: u64 = 1_000_000;

/// Of a closed loop.
fn closed(rounds: [[(u64, u64); 2]; 2]) -> (RunRecord, Vec<TrialRecord>) {
    raced(rounds, "closed = { connections = 8 }", Point::Connections(8))
}

/// One side answers a fifth more, in both rounds.
fn usual() -> (RunRecord, Vec<TrialRecord>) {
    closed([[(10_000, MS), (12_000, MS)]; 2])
}

fn says(findings: &Findings<'_>) -> String {
    sentences(findings).join(" ").replace(" (in doubt)", "")
}

fn said(rounds: [[(u64, u64); 2]; 2]) -> String {
    says(&Findings::found(closed(rounds)))
}

#[test]
fn the_sentence_has_a_ratio_with_its_interval_and_the_p99() {
    // The machine was half as fast in the second round: that is in no ratio.
    let says = said([[(10_000, MS), (12_000, 2 * MS)], [(5_000, MS), (6_000, 2 * MS)]]);
    assert!(
        says.starts_with("Other answers 1.20× [1.19–1.21] as many requests as Quick, at 2.00×"),
        "{says}"
    );
}

#[test]
fn where_the_interval_holds_1_no_side_is_ahead() {
    let says = said([[(10_000, MS), (12_000, MS)], [(10_000, MS), (9_000, MS)]]);
    assert!(says.starts_with("No difference is shown: Other answers 1"), "{says}");
    assert!(says.contains("as many requests as Quick, at 1.00× ["), "{says}");
    let says = said([[(10_000, MS), (12_000, MS)], [(10_000, MS), (12_000, 4 * MS)]]);
    assert!(says.contains("; no difference of the p99 is shown ("), "{says}");
    let says = said([[(10_000, MS), (12_000, 4 * MS)], [(10_000, MS), (9_000, 4 * MS)]]);
    assert!(says.starts_with("Other has 4.0× ["), "what differs is said first: {says}");
    assert!(
        says.contains("] the p99 of Quick; no difference of the throughput is shown (1.0"),
        "{says}"
    );
}

#[test]
fn the_p99_has_what_the_headline_leaves_over() {
    let first = [(10_000, MS), (12_000, MS * 11 / 10)];
    let says = |second: (u64, u64)| said([first, [(10_000, MS), second]]);
    // Nothing is left over where the throughput shows no difference.
    let shown = says((12_000, MS * 11 / 10));
    assert!(shown.contains("as many requests as Quick, at 1.10× [1.0"), "{shown}");
    let unshown = says((9_000, MS * 11 / 10));
    assert!(unshown.starts_with("No difference is shown: Other answers 1.0"), "{unshown}");
    assert!(unshown.contains(", at 1.1") && unshown.contains("× [0."), "{unshown}");
}

#[test]
fn a_side_that_answers_wrongly_is_named_first_and_compared_with_none() {
    let of = |failure: Failure, times: u64| {
        let (run, mut trials) = usual();
        for trial in trials.iter_mut().filter(|trial| trial.key.subject == "evil") {
            let total = &mut trial.loaded.as_mut().unwrap().recording.total;
            total.failed[failure.index()] += times;
            total.attempted += times;
            total.due += times;
        }
        let findings = Findings::found((run, trials));
        let json: serde_json::Value = serde_json::from_str(&json::of(&findings).unwrap()).unwrap();
        let finding = json["ratios"][0]["figures"][0]["finding"].clone();
        (super::tests::says(&findings), findings.race(), finding)
    };
    let named = |name: &str| Failure::named(name).unwrap();
    let (says, outcome, finding) = of(named("content.mismatch"), 3_000);
    assert_eq!(
        says,
        "Other answered wrongly: 20 % of the requests (6,000 of 30,000). Not compared."
    );
    assert_eq!((outcome, finding), (RaceOutcome::Failed, "not_compared_faults".into()));
    let (says, outcome, _) = of(named("content.status"), 500);
    let failed =
        "Other failed 4.0 % of the requests (1,000 of 25,000), all content.status. Not compared.";
    assert_eq!((&*says, outcome), (failed, RaceOutcome::Failed));
    let (says, outcome, finding) = of(named("content.status"), 60);
    assert!(says.starts_with("Other answers 1.20×"), "{says}");
    let few = " Other failed 120 of 24,120 requests (0.5 %), all content.status.";
    assert!(says.ends_with(few), "{says}");
    assert_eq!((outcome, finding), (RaceOutcome::Measured, "better".into()));
}

#[test]
fn at_an_offered_rate_the_schedule_s_own_rate_is_in_no_comparison() {
    // Slices paused one schedule longer than the other: both answered all that was due.
    let rounds = [[(423, 150 * MS), (420, 160 * MS)]; 2];
    let findings = Findings::found(raced(rounds, "open = { rate = 50 }", Point::Requests(50.0)));
    let says = sentences(&findings).join(" ");
    assert!(!says.contains("as many requests"), "{says}");
    let text = findings.text(Screen::file(160));
    assert!(text.contains("offered/s") && text.contains("on time (5 s)"), "{text}");
}

#[test]
fn at_a_rate_that_both_keep_up_with_the_price_of_an_answer_is_compared() {
    let rounds = [[(10_000, MS), (10_000, MS)]; 2];
    let (run, mut trials) = raced(rounds, "open = { rate = 1000 }", Point::Requests(1_000.0));
    let says = |trials: &[TrialRecord]| says(&Findings::of(&7, &run, trials, Vec::new()));
    let same = says(&trials);
    assert!(same.starts_with("No difference is shown: Other uses 1.00× ["), "{same}");
    assert!(same.contains("the CPU time of Quick for each answer, at 1.00× ["), "{same}");
    trials.iter_mut().for_each(|trial| trial.series.clear());
    let unseen = says(&trials);
    assert!(unseen.contains("the p99 of Quick; both kept up with 1,000 requests/s"), "{unseen}");
}

#[test]
fn a_race_fails_with_a_side_and_cannot_tell_without_one() {
    let (run, mut trials) = usual();
    let race = |trials: &[TrialRecord]| Findings::of(&7, &run, trials, Vec::new()).race();
    assert_eq!(race(&trials), RaceOutcome::Measured);
    let mut idle = trials.clone();
    for trial in idle.iter_mut().filter(|trial| trial.key.subject == "quick") {
        trial.loaded.as_mut().unwrap().recording = fixture::recording(0, MS);
    }
    assert_eq!(race(&idle), RaceOutcome::CannotTell);
    let keep = trials[1].outcome.kind;
    trials[1].outcome.kind = OutcomeKind::Died;
    assert_eq!(race(&trials), RaceOutcome::Failed);
    trials[1].outcome.kind = OutcomeKind::Unable;
    trials.retain(|trial| trial.outcome.kind != keep || trial.key.subject == "quick");
    assert_eq!(race(&trials), RaceOutcome::CannotTell);
    assert_eq!(race(&[]), RaceOutcome::CannotTell);
}

#[test]
fn a_side_that_went_wrong_and_one_that_was_not_tried_are_told_apart() {
    let (run, mut trials) = usual();
    let says = |trials: &[TrialRecord]| {
        let findings = Findings::of(&7, &run, trials, Vec::new());
        (sentences(&findings).concat(), trouble::failures(&findings).is_empty())
    };
    assert_eq!(says(&[]), ("No trial of Quick and Other has ended yet.".into(), true));
    trials.retain(|trial| trial.key.subject == "quick");
    assert_eq!(says(&trials[..1]), ("No trial of Other has ended yet.".into(), true));
    trials[0].outcome.kind = OutcomeKind::Died;
    let wrong = ("Quick could not be measured: see \"What went wrong\".".into(), false);
    assert_eq!(says(&trials[..1]), wrong);
}

#[test]
fn the_picture_has_the_ratio_and_those_of_the_rounds() {
    let rounds = [[(10_000, MS), (12_000, 2 * MS)], [(5_000, MS), (6_500, 2 * MS)]];
    let findings = Findings::found(closed(rounds));
    let rows = picture::rows(&findings).unwrap();
    let names: Vec<&str> = rows.names.iter().map(|name| name.title.as_str()).collect();
    assert_eq!(names, ["Other", "round 1", "round 2"]);
    let throughput = &rows.columns[0];
    let shown: Vec<&str> = throughput.values.iter().map(|value| value.shown.as_str()).collect();
    assert_eq!(
        (throughput.heading.as_str(), &shown[1..]),
        ("throughput/s", &["1.20×", "1.30×"][..])
    );
    assert!(throughput.values[0].interval.is_some() && throughput.values[1].interval.is_none());
    let page = findings.page();
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not there"));
    assert!(place("Each server divided by Quick") < place("p99 (stroke: p50)"));
}

#[test]
fn the_table_of_a_race_has_the_p99_9() {
    let rounds = [[(10_000, MS), (12_000, 2 * MS)], [(5_000, MS), (6_500, 2 * MS)]];
    let text = Findings::found(closed(rounds)).text(Screen::file(120));
    let heads = text.lines().find(|line| line.contains("p50") && line.contains("throughput/s"));
    let heads = heads.unwrap_or_else(|| panic!("{text}"));
    assert!(heads.contains(" p99.9 "), "{heads}");
}

fn said_of(is_kept: fn(&TrialRecord) -> bool) -> String {
    let (run, mut trials) = usual();
    trials.retain(is_kept);
    says(&Findings::found((run, trials)))
}

/// Each side died in one of the two rounds.
#[test]
fn sides_that_have_no_round_in_common_did_not_keep_up_with_anything() {
    let never = said_of(|it| (it.key.subject == "evil") == (it.key.repeat == 1));
    let one = said_of(|it| it.key.subject == "quick" || it.key.repeat == 1);
    for (found, why) in [
        (never, "Other and Quick have no round in which both were measured"),
        (one, "By the one round that both have it cannot be said whether they differ"),
    ] {
        assert_eq!(found, format!("{why}: Other answered 1,200/s, Quick 1,000/s."));
    }
}
