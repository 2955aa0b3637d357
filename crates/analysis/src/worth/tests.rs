mod published;

use super::*;
use crate::fixture::{fail, healthy, run, series};
use lab::experiment::Point;
use lab::record::{Outcome, OutcomeKind, TrialKey, TrialRecord};
use load::{Failure, SECOND};

const HERE: Point = Point::Connections(4);

/// One round each, in order; the first subject is a reference.
fn board(rounds: &[(&str, TrialRecord)]) -> Board {
    let mut repeats: Vec<(&str, u32)> = Vec::new();
    let mut trials = Vec::new();
    for (number, (subject, trial)) in rounds.iter().enumerate() {
        let repeat = repeats.iter().filter(|(other, _)| other == subject).count() as u32;
        repeats.push((subject, repeat));
        let key = TrialKey {
            number: number as u32,
            subject: (*subject).into(),
            point: HERE,
            repeat,
            ..trial.key.clone()
        };
        trials.push(TrialRecord { key, ..trial.clone() });
    }
    Board::of(&run(&[("idle", "reference"), ("a", "default"), ("b", "default")]), &trials)
}

/// Much faster than all others, so that none of them is near.
fn reference() -> (&'static str, TrialRecord) {
    let mut fast = healthy();
    fast.loaded.as_mut().unwrap().recording.total.correct_inside = 200_000;
    ("idle", fast)
}

fn noisy() -> TrialRecord {
    let mut trial = healthy();
    trial.series = vec![series("machine.cpu.steal", "ns", &[(0, 0.0), (12 * SECOND, 1.2e9)])];
    trial
}

/// Two in a hundred failed for want of ports.
fn invalid() -> TrialRecord {
    let mut trial = healthy();
    fail(&mut trial, Failure::NoPorts, 400);
    trial
}

fn died() -> TrialRecord {
    let outcome = Outcome { kind: OutcomeKind::Died, says: "signal 9".into() };
    TrialRecord { outcome, ..healthy() }
}

/// The verdict on subject `a` after these rounds.
fn of_row(rounds: Vec<TrialRecord>) -> Option<Verdict> {
    let mut all = vec![reference()];
    all.extend(rounds.into_iter().map(|trial| ("a", trial)));
    let board = board(&all);
    board.tables[0].rows.iter().find(|row| row.subject == "a").and_then(Row::verdict)
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
    let rounds = [healthy(), noisy(), died(), noisy(), healthy()];
    let all: Vec<_> = rounds.into_iter().map(|trial| ("a", trial)).collect();
    let board = board(&all);
    let reasons = board.tables[0].rows[0].reasons();
    let expected: Vec<_> = reasons.iter().map(|reason| (reason.rounds, reason.of)).collect();
    assert_eq!(expected, [(1, 5), (2, 5)]);
    let ids: Vec<_> = reasons.iter().map(|reason| reason.doubt.id()).collect();
    assert_eq!(ids, ["not_measured", "cpu_stolen"]);
}

#[test]
fn a_board_counts_rows_and_leaves_references_out() {
    let mut noisy_reference = noisy();
    noisy_reference.loaded.as_mut().unwrap().recording.total.correct_inside = 200_000;
    let valid = board(&[("idle", noisy_reference), ("a", healthy()), ("b", healthy())]);
    assert_eq!(valid.verdict(), Some(Verdict::Valid));
    let mixed = board(&[reference(), ("a", healthy()), ("b", invalid())]);
    assert_eq!(mixed.worth(), Worth { valid: 1, invalid: 1, ..Worth::default() });
    assert_eq!(mixed.verdict(), Some(Verdict::Suspect));
    let lost = board(&[reference(), ("a", died()), ("b", invalid())]);
    assert_eq!((lost.verdict(), lost.worth().invalid), (Some(Verdict::Invalid), 2));
}

#[test]
fn a_reference_that_is_alone_is_what_was_to_be_measured() {
    let board = board(&[("idle", healthy())]);
    assert!(!board.tables[0].rows[0].is_reference);
    assert_eq!((board.worth().valid, board.verdict()), (1, Some(Verdict::Valid)));
}

#[test]
fn an_alarm_makes_a_table_suspect() {
    let of = |alike: bool| {
        let trial = |place: u64| {
            let mut trial = healthy();
            let total = &mut trial.loaded.as_mut().unwrap().recording.total;
            total.correct_inside = if alike { 15_000 } else { 5_000 * (place + 1) };
            total.response = load::Distribution::new(5 * SECOND);
            total.response.record_many(SECOND / 1_000 * (place + 1), 20_000);
            (trial.key.subject, trial.key.point) = (format!("s{place}"), HERE);
            trial
        };
        let trials: Vec<TrialRecord> = (0..4).map(trial).collect();
        Board::of(&run(&[]), &trials)
    };
    assert_eq!((of(false).verdict(), of(false).alarms().len()), (Some(Verdict::Valid), 0));
    assert_eq!((of(true).verdict(), of(true).worth().valid), (Some(Verdict::Suspect), 4));
}

#[test]
fn a_server_that_comes_near_to_the_reference_is_suspect_though_every_round_is_valid() {
    let board = board(&[("idle", healthy()), ("a", healthy())]);
    let row = board.tables[0].rows.iter().find(|row| row.subject == "a").unwrap();
    assert!(row.trials.iter().all(|trial| trial.verdict() == Verdict::Valid));
    assert_eq!((row.verdict(), row.is_doubtful()), (Some(Verdict::Suspect), true));
}

#[test]
fn a_reference_is_in_no_alarm_rank_or_comparison_and_its_peak_is_the_last() {
    let at = |subject: &str, connections: u32, repeat: u32| {
        let mut trial = if subject == "idle" { reference().1 } else { healthy() };
        trial.key.subject = subject.into();
        (trial.key.point, trial.key.repeat) = (Point::Connections(connections), repeat);
        trial
    };
    let names = ["idle", "a", "b", "c"];
    let trials: Vec<TrialRecord> =
        names.iter().flat_map(|name| [1, 2].map(|connections| at(name, connections, 0))).collect();
    let board = Board::of(&run(&[("idle", "reference")]), &trials);
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
