//! What the database counted against what answers had.

use super::*;
use crate::fixture::{fact, healthy, recording, share};
use load::Failure;

/// The doubts about a trial with these rows and conditions.
fn found(rows: Rows, conditions: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let mut trial = healthy();
    recording(&mut trial).total.rows = Some(rows);
    trial.conditions = conditions.iter().map(|(name, value)| fact(name, value)).collect();
    of_trial(&trial).into_iter().map(|doubt| (doubt.id(), doubt.says().to_string())).collect()
}

fn counted<'t>(reads: &'t str, rows: &'t str, updated: &'t str) -> Vec<(&'t str, &'t str)> {
    vec![
        ("service.counted.world.reads", reads),
        ("service.counted.world.rows_read", rows),
        ("service.counted.world.rows_updated", updated),
        ("service.counted.fortune.reads", "0"),
        ("service.counted.fortune.rows_read", "0"),
        ("service.counted.fortune.rows_updated", "0"),
        ("service.counted.evicted", "0"),
    ]
}

fn five_each(answers: u64) -> Rows {
    Rows { answers, rows: 5 * answers, queries: 5 * answers, ..Rows::default() }
}

#[test]
fn each_row_is_read_by_a_query_or_it_is_said_what_is_missing() {
    // Requests that were in flight at the end have no answer, but their rows were read.
    for (reads, rows) in [("500", "500"), ("520", "520")] {
        assert_eq!(found(five_each(100), &counted(reads, rows, "0")), []);
    }
    let says = "the database gave the server 499 rows, and its 100 right answers had 500: 1 were not read from the \
                database";
    assert_eq!(
        found(five_each(100), &counted("499", "499", "0")),
        [("not_from_database", says.into())]
    );
    let says = "the server read 5 rows an answer by 1 query; the workload asks for 5 queries";
    let batched = found(five_each(100), &counted("100", "500", "0"));
    assert_eq!(batched, [("queries_batched", says.into())]);
    let unknown = [("service.counted", "unknown: `psql` ended: exit status 2")];
    assert_eq!(found(five_each(100), &unknown)[0].0, "rows_not_counted");
    let mut evicted = counted("100", "100", "0");
    evicted[6].1 = "3";
    assert_eq!(found(five_each(100), &evicted)[0].0, "rows_not_counted");
    assert_eq!(found(five_each(100), &[]), [], "a service that does not count");
    // A file may say any number.
    let mut absurd = counted("18446744073709551615", "18446744073709551615", "0");
    (absurd[3].1, absurd[4].1) = ("7", "7");
    assert_eq!(found(five_each(100), &absurd), []);
}

/// An ORM's session does; a server that reads them again has no reason to read fewer.
#[test]
fn rows_that_an_answer_has_twice_may_all_be_read_once() {
    let rows = Rows { repeated: 4, ..five_each(100) };
    let doubts = |read: u64| -> Vec<_> {
        let read = read.to_string();
        found(rows, &counted(&read, &read, "0")).into_iter().map(|(id, _)| id).collect()
    };
    for read in [496, 500, 501] {
        assert_eq!(doubts(read), [""; 0], "{read}");
    }
    for read in [495, 497, 499] {
        assert_eq!(doubts(read), ["not_from_database"], "{read}");
    }
    assert_eq!(found(rows, &counted("495", "496", "0"))[0].0, "queries_batched");
    // A request that failed may have read rows.
    let mut trial = healthy();
    let total = &mut recording(&mut trial).total;
    total.rows = Some(rows);
    total.failed[Failure::RecvReset.index()] += 1;
    trial.conditions =
        counted("498", "498", "0").iter().map(|(name, value)| fact(name, value)).collect();
    assert!(of_trial(&trial).is_empty());
}

/// The doubts about updates of which so many rows of the table show nothing.
fn found_in_table(rows: Rows, others: &str, not_judged: &str) -> Vec<(&'static str, String)> {
    let mut all = counted("500", "500", "500");
    all.extend([("service.table.rows", "400"), (TABLE_OTHERS, others)]);
    all.push((TABLE_NOT_JUDGED, not_judged));
    found(rows, &all)
}

#[test]
fn an_update_is_written_or_it_is_said_how_many_are_not() {
    let rows = Rows { changed: 500, ..five_each(100) };
    let table = |others, not_judged| found_in_table(rows, others, not_judged);
    assert_eq!(table("0", "0"), []);
    assert_eq!(table("5", "5"), []);
    let says = "2 rows of the table have none of the numbers that answers gave for them (of 400 rows that were answered)";
    assert_eq!(table("7", "5"), [("updates_not_written", says.into())]);
    let fewer = found(rows, &counted("500", "500", "495"));
    let says = "the server changed 495 rows, and its right answers said 500: 5 were not written";
    assert_eq!(fewer, [("updates_not_written", says.into())]);
    let unread = [(TABLE_CANNOT_BE_READ, "`psql` ended")];
    assert_eq!(found(rows, &unread)[0].0, "rows_not_counted");
}

/// An ORM does not write a number that is there already. The least numbers that are found stand in docs/validity.md.
#[test]
fn new_numbers_that_equal_the_old_ones_need_not_be_written() {
    for (changed, found_from) in [(500, 5), (10_000, 11), (100_000, 32), (1_000_000, 164)] {
        let rows = Rows { changed, ..five_each(100) };
        let doubted = |missing: u64| {
            !found(rows, &counted("500", "500", &(changed - missing).to_string())).is_empty()
        };
        assert!(!doubted(found_from - 1) && doubted(found_from), "{changed}");
        let expected = changed as f64 / NUMBERS;
        // The chance that so many of them are equal (Poisson).
        let mut more = (-expected).exp();
        let beyond: f64 = (1..found_from + 200)
            .map(|k| {
                more *= expected / k as f64;
                more
            })
            .skip(found_from as usize - 1)
            .sum();
        assert!(beyond < 1e-6, "{changed}: {beyond}");
    }
}

#[test]
fn too_many_pairs_and_too_few_are_not_random() {
    let doubted = |equal_pairs, expected_pairs| {
        let rows = Rows { equal_pairs, expected_pairs, ..five_each(100) };
        found(rows, &[]).into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert!(doubted(10_000, 10_000.0).is_empty() && doubted(10_612, 10_000.0).is_empty());
    assert_eq!(
        (doubted(10_613, 10_000.0), doubted(9_387, 10_000.0)),
        (vec!["ids_not_random"; 1], vec!["ids_not_random"; 1])
    );
    assert!(doubted(0, 0.0).is_empty() && doubted(3, 0.1).is_empty());
}

/// Loads of every length whose ids are drawn: none of 20,000 is doubted, and the least share of a constant id that is
/// found stands in docs/validity.md.
#[test]
fn ids_that_are_drawn_are_not_doubted() {
    let mut chance = load::Chance::new(11);
    for n in 0..20_000 {
        let drawn = [10, 100, 1_000, 3_000][n % 4];
        assert!(!is_doubted(drawn, || 1 + chance.below(10_000)), "{n}");
    }
}

/// Whether a load is doubted of which so many ids are drawn so.
fn is_doubted(drawn: u64, mut id: impl FnMut() -> usize) -> bool {
    let (mut seen, mut equal_pairs) = (vec![0_u64; 10_001], 0);
    for _ in 0..drawn {
        let seen = &mut seen[id()];
        equal_pairs += *seen;
        *seen += 1;
    }
    let expected_pairs = drawn as f64 * (drawn - 1) as f64 / 2.0 / 10_000.0;
    ids(Rows { equal_pairs, expected_pairs, ..Rows::default() }).is_some()
}

/// The shares that docs/validity.md states for a constant id.
#[test]
fn a_constant_id_is_found_with_99_percent_from_the_stated_share_on() {
    let mut chance = load::Chance::new(3);
    for (drawn, per_100_000) in [(100_000_u64, 140), (10_000, 500)] {
        let found = share(200, || {
            is_doubted(drawn, || match chance.below(100_000) < per_100_000 {
                true => 7,
                false => 1 + chance.below(10_000),
            })
        });
        assert!(0.985 <= found, "{found} with {drawn} rows");
    }
}

#[test]
fn a_row_that_was_not_inserted_is_noted() {
    let doubted = |says| found(five_each(100), &[(INSERTED, says)]);
    assert_eq!(doubted("a row of `fortune`, 1.2 s after the load had begun"), []);
    assert_eq!(doubted("not: the load was over before 3.000 s")[0].0, "row_not_inserted");
}
