use super::*;
use crate::compare::{Lead, lead};
use crate::fixture::{MS, counted, fail, healthy, key, run};
use lab::record::TrialRecord;
use load::{Distribution, Failure, SECOND};

/// A round of 2,000 requests a second, of which so many of 20,000 are answered, each after so many milliseconds.
fn trial(subject: &str, repeat: u32, answered: u64, answer_ms: u64) -> TrialRecord {
    let mut trial = healthy();
    trial.key = key(subject, 2_000.0, repeat);
    counted(&mut trial, 20_000, answered);
    let total = &mut trial.pressed.as_mut().unwrap().recording.total;
    total.response = Distribution::new(5 * SECOND);
    (0..answered).for_each(|_| total.response.record(answer_ms * MS));
    trial
}

fn table(trials: &[TrialRecord]) -> Table {
    Board::of(&run(&[("a", "default"), ("b", "default"), ("idle", "reference")]), trials)
        .tables
        .remove(0)
}

fn judged(trials: &[TrialRecord]) -> Judgement {
    table(trials).rows[0].judgement.clone()
}

#[test]
fn a_row_that_keeps_up_in_four_rounds_of_five_is_judged_by_all_of_them() {
    // 98.5 % in one round: 99.7 % over all.
    let rounds: Vec<TrialRecord> =
        (0..5).map(|n| trial("a", n, if n == 0 { 19_700 } else { 20_000 }, 1)).collect();
    let found = judged(&rounds);
    assert_eq!((found.kept_up, found.keeps_promise()), (Some(true), Some(true)));
    let rounds: Vec<TrialRecord> = (0..5).map(|n| trial("a", n, 19_000, 1)).collect();
    let found = judged(&rounds);
    let breaches = found.breaches.unwrap();
    assert!(matches!(breaches[..], [Breach::Failed(_), Breach::Behind(_)]), "{breaches:?}");
    assert_eq!(found.kept_up, Some(false));
}

#[test]
fn the_row_s_mark_and_its_breach_are_one_judgement() {
    for answered in [20_000, 19_900, 19_801, 19_799, 19_500, 10_000] {
        let table = table(&[trial("a", 0, answered, 1), trial("a", 1, 20_000, 1)]);
        let row = &table.rows[0];
        let breaches = row.judgement.breaches.as_ref().unwrap();
        let is_behind = breaches.iter().any(|breach| matches!(breach, Breach::Behind(_)));
        assert_eq!(row.is_behind(), is_behind, "{answered}: {breaches:?}");
    }
}

#[test]
fn a_closed_loop_has_no_promise() {
    let mut closed = trial("a", 0, 20_000, 1);
    closed.key.point = Point::Connections(10);
    let found = judged(&[closed]);
    assert_eq!((found.kept_up, found.breaches, found.unranked), (None, None, None));
}

#[test]
fn a_server_with_wrong_answers_is_in_no_rank_however_fast_it_is() {
    let mut liar = trial("a", 0, 20_000, 1);
    fail(&mut liar, Failure::from_name("content.mismatch").unwrap(), 200);
    let found = judged(&[liar]);
    let unmet = |why: &str| why.starts_with("200 of 20000 requests were answered with the wrong");
    assert!(matches!(&found.unranked, Some(Unranked::Unmet(why)) if unmet(why)), "{found:?}");
}

#[test]
fn a_row_whose_figures_are_invalid_is_in_no_rank() {
    let mut own = trial("a", 0, 20_000, 1);
    fail(&mut own, Failure::NoPorts, 5_000);
    assert_eq!(judged(&[own]).unranked, Some(Unranked::Invalid));
    let mut died = trial("a", 0, 20_000, 1);
    died.outcome.kind = lab::record::OutcomeKind::Died;
    assert_eq!(judged(&[died]).unranked, Some(Unranked::Unmeasured));
    let found = judged(&[trial("idle", 0, 20_000, 1), trial("a", 0, 20_000, 1)]);
    assert_eq!(found.unranked, None, "the first row is a's, and nothing speaks against it");
}

/// Closed loops of two subjects: so many answers in each round.
fn raced(a: &[u64], b: &[u64]) -> Table {
    let mut trials = Vec::new();
    for (subject, rounds) in [("a", a), ("b", b)] {
        for (repeat, answered) in rounds.iter().enumerate() {
            let mut trial = trial(subject, repeat as u32, *answered, 1);
            trial.key.point = Point::Connections(10);
            trials.push(trial);
        }
    }
    table(&trials)
}

#[test]
fn one_round_names_no_winner() {
    let table = raced(&[20_000], &[5_000]);
    let rows: Vec<&Row> = table.rows.iter().collect();
    let lead = lead(&rows, Figure::Achieved);
    assert!(matches!(&lead, Lead::OneRound(rows) if rows[0].subject == "a"), "{lead:?}");
    assert_eq!(lead.winner(), None);
}

#[test]
fn a_winner_is_the_first_ranked_row_and_leads_beyond_chance() {
    let table = raced(&[20_000, 19_950, 19_990], &[15_000, 15_100, 14_950]);
    let rows: Vec<&Row> = table.rows.iter().collect();
    assert_eq!(lead(&rows, Figure::Achieved).winner().unwrap().subject, "a");
    let table = raced(&[20_000, 15_000, 19_000], &[15_000, 19_500, 18_000]);
    let rows: Vec<&Row> = table.rows.iter().collect();
    assert_eq!(lead(&rows, Figure::Achieved).winner(), None, "this data cannot tell");
    assert!(matches!(lead(&rows[..1], Figure::Achieved), Lead::Alone(_)));
    assert!(matches!(lead(&[], Figure::Achieved), Lead::Nobody));
}
