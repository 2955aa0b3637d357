//! Rows in known forms, in new ones and wrong ones; ids that are drawn, and ids that are not.

use super::*;
use crate::ask::{Ask, Request};
use crate::chance::Chance;
use crate::expect::{BodyRule, Expect};
use crate::fixture::{judged, whole};
use crate::forms::{Compared, Forms};
use crate::meaning::Statement;
use crate::tables::Tables;
use crate::template::Values;

fn rule(count: Option<u16>) -> Meaning {
    Meaning::Rows { tables: Tables::of(7), count }
}

fn ask(rule: Meaning) -> Ask {
    let expect = Expect { body: BodyRule::Meaning(rule), ..Expect::default() };
    Ask::new(&Request::get("h", "/queries"), expect).unwrap()
}

/// Whether one connection finds this body right.
fn is_right(ask: &Ask, seq: u64, body: &str, forms: &Forms) -> bool {
    let answer = whole("200 OK", "", body.as_bytes());
    judged(ask, Values { seq, random: 0 }, &answer, Some(forms), 11).is_none()
}

fn object((id, number): (u32, u32)) -> String {
    format!("{{\"id\":{id},\"randomNumber\":{number}}}")
}

fn list(rows: &[(u32, u32)]) -> String {
    format!("[{}]", rows.iter().map(|row| object(*row)).collect::<Vec<_>>().join(","))
}

fn drawn(tables: &Tables, chance: &mut Chance) -> (u32, u32) {
    let id = 1 + chance.below(WORLDS as usize) as u32;
    (id, tables.number(id).unwrap().into())
}

#[test]
fn one_row_of_a_thousand_that_is_not_the_seeded_one_is_found_exactly() {
    let (ask, forms) = (ask(rule(Some(5))), Forms::new(|| 0));
    let (tables, mut chance) = (Tables::of(7), Chance::new(1));
    let mut wrong = 0;
    for n in 0..10_000 {
        let mut rows: Vec<_> = (0..5).map(|_| drawn(&tables, &mut chance)).collect();
        if n % 1_000 == 999 {
            rows[n / 1_000 % 5].1 += 1;
        }
        wrong += u32::from(!is_right(&ask, n as u64, &list(&rows), &forms));
    }
    assert_eq!(wrong, 10);
    let Compared { by_bytes, by_meaning, .. } = forms.take();
    // The first one, and those that no known text explains.
    assert_eq!((by_bytes, by_meaning), (9_989, 11));
    let rows = forms.rows().unwrap();
    assert_eq!((rows.answers, rows.rows), (9_990, 49_950));
}

#[test]
fn order_and_white_space_are_free_and_all_else_is_not() {
    let number = Tables::of(7).number(12).unwrap();
    let (ask, forms) = (ask(rule(None)), Forms::new(|| 0));
    let other = u32::from(number) + 1;
    for (body, right) in [
        (object((12, number.into())), true),
        (format!("{{ \"randomNumber\": {number} ,\"id\" :12}}\n"), true),
        (format!("{{\"id\":12.0,\"randomNumber\":{number}e0}}"), true),
        (object((12, other)), false),
        (object((0, number.into())), false),
        (object((10_001, number.into())), false),
        (format!("{{\"id\":012,\"randomNumber\":{number}}}"), false),
        (format!("{{\"id\":\"12\",\"randomNumber\":{number}}}"), false),
        (format!("{{\"id\":12,\"randomNumber\":{number},\"x\":1}}"), false),
        (format!("[{}]", object((12, number.into()))), false),
        (object((12, number.into())) + "x", false),
        (String::new(), false),
    ] {
        // The first time by its meaning, then by its bytes if it is right.
        for _ in 0..2 {
            assert_eq!(is_right(&ask, 0, &body, &forms), right, "{body}");
        }
    }
}

#[test]
fn rows_with_new_numbers_are_reported_by_the_number_of_their_request() {
    let (ask, forms) = (ask(Meaning::Updated(2)), Forms::new(|| 0));
    assert!(is_right(&ask, 5, &list(&[(1, 10_000), (2, 1)]), &forms));
    assert!(is_right(&ask, 9, &list(&[(3, 7), (1, 8)]), &forms));
    assert!(!is_right(&ask, 11, &list(&[(3, 7), (1, 10_001)]), &forms));
    assert!(!is_right(&ask, 12, &list(&[(3, 7)]), &forms));
    assert_eq!(forms.statement(5), Some(Statement::Rows(vec![(1, 10_000), (2, 1)])));
    assert_eq!(forms.statement(9), Some(Statement::Rows(vec![(3, 7), (1, 8)])));
    assert_eq!((forms.statement(5), forms.statement(11)), (None, None));
}

#[test]
fn a_row_that_an_answer_has_twice_may_be_read_and_written_once() {
    let (ask, forms) = (ask(Meaning::Updated(3)), Forms::new(|| 0));
    for seq in 1..=2 {
        assert!(is_right(&ask, seq, &list(&[(1, 5), (2, 6), (1, 7)]), &forms));
        let rows = forms.rows().unwrap();
        let found = (rows.rows, rows.repeated, rows.queries, rows.changed);
        assert_eq!(found, (3 * seq, seq, 3 * seq, 2 * seq));
    }
}

/// The first row does not show which of its numbers is the id, so that its text is no form.
#[test]
fn an_id_that_equals_its_number_teaches_no_order() {
    let (ask, forms) = (ask(Meaning::Updated(1)), Forms::new(|| 0));
    for (seq, row) in [(1, (5, 5)), (2, (8, 9)), (3, (3, 4))] {
        let body = format!("[{{\"randomNumber\":{},\"id\":{}}}]", row.1, row.0);
        assert!(is_right(&ask, seq, &body, &forms));
        assert_eq!(forms.statement(seq), Some(Statement::Rows(vec![row])));
    }
    let Compared { by_bytes, by_meaning, .. } = forms.take();
    assert_eq!((by_bytes, by_meaning), (1, 2));
}

/// Uniform ids have about the expected number of equal pairs; a few that are always the same have many more.
#[test]
fn equal_pairs_are_as_many_as_expected_where_ids_are_drawn() {
    for (rows, constant) in [(100, 0), (30_000, 0), (30_000, 300)] {
        let (tables, mut chance) = (Tables::of(7), Chance::new(rows));
        let (rule, mut counter) = (rule(None), RowCounter::default());
        for n in 0..rows {
            let is_constant = n % 100 == 0 && 0 < constant;
            let row = if is_constant { (42, 1) } else { drawn(&tables, &mut chance) };
            counter.count(&rule, &[row]);
        }
        let counted = counter.counted();
        let beyond = counted.equal_pairs as f64 - counted.expected_pairs;
        let deviations = beyond / counted.expected_pairs.sqrt();
        assert_eq!(0 < constant, 6.0 < deviations, "{rows}, {constant}: {deviations}");
    }
}
