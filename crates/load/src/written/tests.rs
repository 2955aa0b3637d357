//! Tables that agree with what was answered, and tables that do not.

use super::*;

fn others(written: &Written, after: &[(u32, u32)]) -> u64 {
    written.compare(&[(1, 10), (2, 20)], after, 1).others
}

#[test]
fn the_last_number_is_there_and_one_that_a_later_answer_superseded_is_not() {
    let mut written = Written::default();
    written.answered(100, 200, &[(1, 11)]);
    written.answered(300, 400, &[(1, 12)]);
    assert_eq!(others(&written, &[(1, 12), (2, 20)]), 0);
    assert_eq!(others(&written, &[(1, 11), (2, 20)]), 1, "superseded");
    assert_eq!(others(&written, &[(1, 10), (2, 20)]), 1, "never written");
    assert_eq!(others(&written, &[(1, 12), (2, 21)]), 1, "no request changed row 2");
    assert_eq!(others(&written, &[(1, 12)]), 1, "row 2 is gone");
}

#[test]
fn of_requests_that_were_under_way_at_once_either_may_have_been_the_last() {
    let mut written = Written::default();
    written.answered(100, 300, &[(1, 11)]);
    written.answered(200, 400, &[(1, 12)]);
    for number in [11, 12] {
        assert_eq!(others(&written, &[(1, number), (2, 20)]), 0, "{number}");
    }
    // The first came late, to another lane, whose answers are added later.
    let (mut one, mut other) = (Written::default(), Written::default());
    one.answered(500, 600, &[(1, 13)]);
    other.answered(100, 550, &[(1, 14)]);
    other.merge(&written);
    one.merge(&other);
    for (number, expected) in [(13, 0), (14, 0), (12, 1), (11, 1)] {
        assert_eq!(others(&one, &[(1, number), (2, 20)]), expected, "{number}");
    }
    assert_eq!(one.answered_rows, 4);
}

#[test]
fn what_requests_without_an_answer_may_have_written_is_not_judged() {
    let mut written = Written::default();
    written.answered(100, 200, &[(1, 11)]);
    written.unanswered = 1;
    let compare = |after: &[(u32, u32)], each| written.compare(&[(1, 10), (2, 20)], after, each);
    let rows = 1;
    let expected = Agreement { rows, others: 2, not_judged: 1 };
    assert_eq!(compare(&[(1, 5), (2, 5)], 1), expected);
    assert_eq!(compare(&[(1, 5), (2, 5)], 2), Agreement { not_judged: 2, ..expected });
    assert_eq!(compare(&[(1, 11), (2, 20)], 2), Agreement { rows, ..Agreement::default() });
}

/// Updates of which one of a thousand was not written, in a table that nothing else changes.
#[test]
fn a_thousandth_that_is_not_written_is_found_unless_it_was_written_over() {
    let mut chance = wire::Chance::new(5);
    let before: Vec<(u32, u32)> = (1..=10_000).map(|id| (id, id)).collect();
    let (mut table, mut written, mut lost) =
        (before.clone(), Written::default(), vec![false; 10_001]);
    for n in 0..20_000_u64 {
        let (id, number) = (1 + chance.below(10_000) as u32, 1 + chance.below(10_000) as u32);
        let is_lost = n % 1_000 == 999 && table[id as usize - 1].1 != number;
        if !is_lost {
            table[id as usize - 1].1 = number;
        }
        lost[id as usize] = is_lost;
        written.answered(2 * n, 2 * n + 1, &[(id, number)]);
    }
    let expected = lost.iter().filter(|is_lost| **is_lost).count() as u64;
    let found = written.compare(&before, &table, 1);
    assert!(5 < expected && found.others == expected && found.not_judged == 0, "{found:?}");
}
