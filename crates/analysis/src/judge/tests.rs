use super::*;
use crate::fixture::{MS, at, counted, end, fail, responding, table};
use lab::record::{OutcomeKind, TrialRecord};
use load::Failure;

/// A round of 2,000 requests a second, with so many of 20,000 answered, each after a millisecond.
fn trial(subject: &str, repeat: u32, answered: u64) -> TrialRecord {
    round(subject, Point::Requests(2_000.0), repeat, answered)
}

fn round(subject: &str, point: Point, repeat: u32, answered: u64) -> TrialRecord {
    let mut trial = at(subject, point, repeat);
    counted(&mut trial, 20_000, answered);
    responding(&mut trial, MS);
    trial
}

fn judged(trials: &[TrialRecord]) -> Judgement {
    table(trials).rows[0].judgement.clone()
}

#[test]
fn a_row_that_keeps_up_in_four_rounds_of_five_is_judged_by_all_of_them() {
    // 98.5 % in one round, 99.7 % over all.
    let rounds: Vec<TrialRecord> =
        (0..5).map(|n| trial("a", n, if n == 0 { 19_700 } else { 20_000 })).collect();
    let found = judged(&rounds);
    assert_eq!((found.kept_up, found.breaches), (Some(true), Some(Vec::new())));
    let rounds: Vec<TrialRecord> = (0..5).map(|n| trial("a", n, 19_000)).collect();
    let found = judged(&rounds);
    let breaches = found.breaches.unwrap();
    assert!(matches!(breaches[..], [Breach::Failed(_), Breach::Behind(_)]), "{breaches:?}");
    assert_eq!(found.kept_up, Some(false));
}

#[test]
fn the_row_s_mark_and_its_breach_are_one_judgement() {
    for answered in [20_000, 19_900, 19_801, 19_799, 19_500, 10_000] {
        let table = table(&[trial("a", 0, answered), trial("a", 1, 20_000)]);
        let row = &table.rows[0];
        let breaches = row.judgement.breaches.as_ref().unwrap();
        let is_behind = breaches.iter().any(|breach| matches!(breach, Breach::Behind(_)));
        assert_eq!(row.is_behind(), is_behind, "{answered}: {breaches:?}");
    }
}

#[test]
fn where_all_requests_failed_it_is_not_said_that_a_round_did() {
    let breaches = judged(&[trial("a", 0, 0), trial("a", 1, 0)]).breaches.unwrap();
    assert_eq!(breaches, [Breach::Failed(100.0), Breach::Behind(0.0)]);
}

const CLOSED: Point = Point::Connections(10);

#[test]
fn a_closed_loop_has_no_promise() {
    let found = judged(&[round("a", CLOSED, 0, 20_000)]);
    assert_eq!((found.kept_up, found.breaches, found.unranked), (None, None, None));
}

#[test]
fn a_server_with_wrong_answers_is_in_no_rank_however_fast_it_is() {
    let mut liar = trial("a", 0, 20_000);
    fail(&mut liar, Failure::named("content.mismatch").unwrap(), 200);
    let row = table(&[liar]).rows.remove(0);
    assert_eq!(row.judgement.unranked, Some(Unranked::Unmet));
    let why = row.unmet.unwrap();
    assert!(why.starts_with("200 of 20,000 requests were answered with the wrong"), "{why}");
}

#[test]
fn a_row_whose_figures_are_invalid_is_in_no_rank() {
    let mut own = trial("a", 0, 20_000);
    fail(&mut own, Failure::NoPorts, 5_000);
    assert_eq!(judged(&[own]).unranked, Some(Unranked::Invalid));
    let mut died = trial("a", 0, 20_000);
    end(&mut died, OutcomeKind::Died);
    assert_eq!(judged(&[died]).unranked, Some(Unranked::Unmeasured));
    let found = judged(&[trial("idle", 0, 20_000), trial("a", 0, 20_000)]);
    assert_eq!(found.unranked, None, "the first row is a's, and nothing speaks against it");
}

/// Closed loops of two subjects, with so many answers in each round.
fn raced(a: &[u64], b: &[u64]) -> Table {
    let rounds = [("a", a), ("b", b)].into_iter().flat_map(|(subject, rounds)| {
        rounds
            .iter()
            .zip(0..)
            .map(move |(answers, repeat)| round(subject, CLOSED, repeat, *answers))
    });
    table(&rounds.collect::<Vec<_>>())
}

/// The only row that is shown to be first, by name.
fn winner(table: &Table) -> Option<String> {
    let first = table.bests().into_iter().next()?;
    (first.rank == Some((1, 1))).then(|| first.row.subject.clone())
}

#[test]
fn one_round_names_no_winner_and_neither_do_rounds_that_cannot_tell() {
    assert_eq!(winner(&raced(&[20_000], &[5_000])), None);
    let (fast, slow) = ([20_000, 19_950, 19_990], [15_000, 15_100, 14_950]);
    assert_eq!(winner(&raced(&fast, &slow)).as_deref(), Some("a"));
    assert_eq!(winner(&raced(&slow, &fast)).as_deref(), Some("b"));
    assert_eq!(winner(&raced(&[20_000, 15_000, 19_000], &[15_000, 19_500, 18_000])), None);
}

/// Whatever is wrong with any of the rows: the winner is the first row of the table that is ranked, and never a row
/// whose figures do not answer the question.
#[test]
fn the_winner_is_the_table_s_first_valid_row() {
    for code in 0..4_u32.pow(2) {
        let mut trials = Vec::new();
        for (place, subject) in ["a", "b"].into_iter().enumerate() {
            for repeat in 0..3 {
                let answers = [20_000, 15_000][place] - u64::from(repeat);
                let mut trial = round(subject, CLOSED, repeat, answers);
                match (code >> (2 * place)) % 4 {
                    0 => {}
                    1 => fail(&mut trial, Failure::NoPorts, 5_000),
                    2 => fail(&mut trial, Failure::named("content.mismatch").unwrap(), 200),
                    _ => end(&mut trial, OutcomeKind::Died),
                }
                trials.push(trial);
            }
        }
        let table = table(&trials);
        let order = table.bests();
        let ranked = order.iter().take_while(|placed| placed.row.judgement.is_ranked()).count();
        assert!(order[ranked..].iter().all(|placed| placed.rank.is_none()), "{code}");
        assert!(order[ranked..].iter().all(|placed| !placed.row.judgement.is_ranked()), "{code}");
        let first = order.iter().find(|placed| placed.row.verdict() != Some(Verdict::Invalid));
        let first = first.filter(|placed| placed.row.judgement.is_ranked());
        let won = winner(&table);
        assert!(won.is_none() || won == first.map(|placed| placed.row.subject.clone()), "{code}");
    }
}
