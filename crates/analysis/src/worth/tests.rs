mod published;

use super::*;
use crate::fixture::{at, board, end, fail, growing, healthy, recording, row, run};
use lab::experiment::Point;
use lab::record::{OutcomeKind, TrialRecord};
use load::Failure;

const HERE: Point = Point::Connections(4);

/// So many rounds of a subject, each with its number.
fn rounds(subject: &str, rounds: Vec<TrialRecord>) -> Vec<TrialRecord> {
    let round = |(trial, repeat): (TrialRecord, u32)| TrialRecord {
        key: at(subject, HERE, repeat).key,
        ..trial
    };
    rounds.into_iter().zip(0..).map(round).collect()
}

/// Rounds of `a` and `b` beside a reference that is much faster, so that none of them is near.
fn beside_reference(a: Vec<TrialRecord>, b: Vec<TrialRecord>) -> Board {
    board(&[rounds("idle", vec![fast(healthy())]), rounds("a", a), rounds("b", b)].concat())
}

fn fast(mut trial: TrialRecord) -> TrialRecord {
    recording(&mut trial).total.correct_inside = 200_000;
    trial
}

fn noisy() -> TrialRecord {
    let mut trial = healthy();
    growing(&mut trial, "machine.cpu.steal", "ns", 1e9);
    trial
}

/// Two in a hundred failed for want of ports.
fn invalid() -> TrialRecord {
    let mut trial = healthy();
    fail(&mut trial, Failure::NoPorts, 400);
    trial
}

fn died() -> TrialRecord {
    let mut trial = healthy();
    end(&mut trial, OutcomeKind::Died);
    trial
}

/// The verdict on subject `a` after these rounds.
fn of_row(rounds: Vec<TrialRecord>) -> Option<Verdict> {
    row(&beside_reference(rounds, Vec::new()).tables[0], "a").verdict()
}

#[test]
fn a_row_is_worth_what_most_of_its_rounds_are_and_one_in_doubt_is_not_kept_silent() {
    assert_eq!(of_row(vec![healthy(), healthy(), healthy()]), Some(Verdict::Valid));
    assert_eq!(of_row(vec![healthy(), noisy(), healthy()]), Some(Verdict::Suspect));
    assert_eq!(of_row(vec![noisy()]), Some(Verdict::Suspect));
    assert_eq!(of_row(vec![healthy(), invalid(), healthy()]), Some(Verdict::Suspect));
    assert_eq!(of_row(vec![healthy(), invalid()]), Some(Verdict::Suspect), "half is not most");
    assert_eq!(of_row(vec![invalid(), invalid(), healthy()]), Some(Verdict::Invalid));
    assert_eq!(of_row(vec![died(), healthy(), healthy()]), Some(Verdict::Suspect));
    assert_eq!(of_row(vec![died(), died(), healthy()]), Some(Verdict::Invalid));
    assert_eq!(of_row(vec![died()]), Some(Verdict::Invalid));
}

#[test]
fn a_row_that_was_not_tried_has_no_verdict() {
    let mut planned = run(&[("a", "default")]);
    planned.plan = vec![healthy().key];
    let board = Board::of(&planned, &[]);
    assert_eq!((board.tables[0].rows[0].verdict(), board.verdict()), (None, None));
    assert_eq!(board.worth(), Worth { untried: 1, ..Worth::default() });
}

#[test]
fn few_own_failures_are_suspect_and_more_are_not_the_subject_s() {
    let with = |times| {
        let mut trial = healthy();
        fail(&mut trial, Failure::NoPorts, times);
        of_row(vec![trial])
    };
    assert_eq!((with(200), with(201)), (Some(Verdict::Suspect), Some(Verdict::Invalid)));
}

#[test]
fn reasons_say_in_how_many_rounds_and_begin_with_the_gravest() {
    let all = rounds("a", vec![healthy(), noisy(), died(), noisy(), healthy()]);
    let reasons = board(&all).tables[0].rows[0].reasons();
    let found: Vec<_> =
        reasons.iter().map(|reason| (reason.doubt.id(), reason.rounds, reason.of)).collect();
    assert_eq!(found, [("not_measured", 1, 5), ("cpu_stolen", 2, 5)]);
}

#[test]
fn a_board_counts_rows_and_leaves_references_out() {
    let of = |reference, a, b| {
        let all = [("idle", reference), ("a", a), ("b", b)];
        board(&all.map(|(subject, trial)| rounds(subject, vec![trial])).concat())
    };
    let valid = of(fast(noisy()), healthy(), healthy());
    assert_eq!(valid.verdict(), Some(Verdict::Valid));
    let mixed = of(fast(healthy()), healthy(), invalid());
    assert_eq!(mixed.worth(), Worth { valid: 1, invalid: 1, ..Worth::default() });
    assert_eq!(mixed.verdict(), Some(Verdict::Suspect));
    let lost = of(fast(healthy()), died(), invalid());
    assert_eq!((lost.verdict(), lost.worth().invalid), (Some(Verdict::Invalid), 2));
}

#[test]
fn a_reference_that_is_alone_is_what_was_to_be_measured() {
    let board = board(&rounds("idle", vec![healthy()]));
    assert!(!board.tables[0].rows[0].is_reference);
    assert_eq!((board.worth().valid, board.verdict()), (1, Some(Verdict::Valid)));
}

#[test]
fn a_server_that_comes_near_to_the_reference_is_suspect_though_every_round_is_valid() {
    let board = board(&["idle", "a"].map(|subject| at(subject, HERE, 0)));
    let row = row(&board.tables[0], "a");
    assert!(row.trials.iter().all(|trial| trial.verdict() == Verdict::Valid));
    assert_eq!((row.verdict(), row.is_doubtful()), (Some(Verdict::Suspect), true));
}

#[test]
fn a_reference_is_in_no_alarm_rank_or_comparison_and_its_peak_is_the_last() {
    let trials: Vec<TrialRecord> = ["idle", "a", "b", "c"]
        .into_iter()
        .flat_map(|name| [1, 2].map(|connections| at(name, Point::Connections(connections), 0)))
        .map(|trial| if trial.key.subject == "idle" { fast(trial) } else { trial })
        .collect();
    let board = board(&trials);
    // Three of four have one median; with the reference it would be four.
    assert_eq!(board.alarms(), []);
    let table = &board.tables[0];
    let peaks: Vec<_> = table.peaks.iter().map(|peak| peak.subject.as_str()).collect();
    assert_eq!((peaks.len(), peaks[3], table.peaks[3].is_reference), (4, "idle", true));
    let rows: Vec<&Row> = table.rows.iter().collect();
    let ranked = crate::compare::ranks(&rows, lab::figure::Figure::Throughput, 1.0);
    assert!(ranked.iter().flatten().all(|row| !row.is_reference));
    let subjects = |versus: &crate::Versus<'_>| -> Vec<String> {
        versus.pairs.iter().map(|pair| pair.a.subject.clone()).collect()
    };
    let versus = |sides| crate::Versus::of(&board, &board, sides, crate::Gate::default());
    let whole = versus(crate::Sides::Runs);
    assert!(!subjects(&whole).contains(&"idle".into()) && !whole.pairs.is_empty());
    let named = versus(crate::Sides::OfOneRun(["idle", "a"]));
    assert_eq!(subjects(&named), ["idle", "idle"]);
}
