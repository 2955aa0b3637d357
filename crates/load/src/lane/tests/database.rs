//! Answers of a database that are judged by when they came, too: pages with a row that was inserted, and updates.

use std::cell::RefCell;
use std::rc::Rc;

use wire::{Chance, Insertion, Meaning, Tables, fortunes_page};

use super::MILLI;
use super::rig::{Run, at_once, classes, closed};
use crate::engine::{Act, Simulated};
use crate::{Nanos, SECOND};

const TOOK: Nanos = 10 * MILLI;
const COMMITTED: Nanos = 5 * SECOND;

fn answer(kind: &str, body: &str) -> Act {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    Act::Send((head + body).into_bytes())
}

/// Answers with the inserted row from the commit on, except each thousandth time; counts those exceptions.
fn pages(tables: &Tables, stale: Rc<RefCell<u64>>) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    let (old, new) = (fortunes_page(tables, false), fortunes_page(tables, true));
    let mut asked = 0;
    move |now| {
        asked += 1;
        let is_stale = asked % 1_000 == 0;
        *stale.borrow_mut() += u64::from(is_stale && COMMITTED < now);
        let is_new = COMMITTED < now && !is_stale;
        vec![(now + TOOK, answer("text/html", if is_new { &new } else { &old }))]
    }
}

#[test]
fn an_old_page_is_wrong_in_answers_to_requests_that_were_sent_after_the_commit() {
    let (tables, insertion) = (Tables::of(9), Insertion::default());
    insertion.committed(COMMITTED);
    let meaning = Meaning::Fortunes { tables: tables.clone(), insertion };
    let planted = Rc::new(RefCell::new(0));
    let run = Run { meaning: Some(meaning), until: 10 * SECOND, lanes: 2, ..closed(10) };
    let engines = || [(); 2].map(|()| Simulated::new(at_once, pages(&tables, planted.clone())));
    let recording = run.record(engines());
    let parsed: Vec<Nanos> = recording.lanes.iter().filter_map(|lane| lane.meaning).collect();
    let seen = recording.total;
    let all = seen.compared.unwrap().meaning_ns;
    assert!(parsed.len() == 2 && (1..=all).contains(&parsed.iter().sum()), "{parsed:?} of {all}");
    let planted = *planted.borrow();
    assert!(2 <= planted, "{planted}");
    assert_eq!(classes(&seen), [("content.mismatch", planted)]);
    let says = seen.evidence[0].reason.as_deref();
    assert_eq!(says, Some("it lacks the row that was inserted before it was asked for"));
    let rows = seen.rows.unwrap();
    assert_eq!(rows.queries, rows.answers);
    assert!(201 * rows.answers - 1 < rows.rows + rows.answers, "{rows:?}");
}

/// Changes a row of the table for each request; does not write each thousandth, and answers all but each five hundredth.
fn updates(
    table: &Rc<RefCell<Vec<(u32, u32)>>>,
    missing: &Rc<RefCell<Vec<bool>>>,
    silent: &Rc<RefCell<u64>>,
) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    let (table, missing, silent) = (table.clone(), missing.clone(), silent.clone());
    let (mut chance, mut asked) = (Chance::new(1), 0);
    move |now| {
        asked += 1;
        let (id, number) = (1 + chance.below(10_000) as u32, 1 + chance.below(10_000) as u32);
        let row = &mut table.borrow_mut()[id as usize - 1].1;
        let is_missing = asked % 1_000 == 0 && *row != number;
        if !is_missing {
            *row = number;
        }
        missing.borrow_mut()[id as usize] = is_missing;
        if asked % 500 == 1 {
            *silent.borrow_mut() += 1;
            return Vec::new();
        }
        let body = format!("[{{\"id\":{id},\"randomNumber\":{number}}}]");
        vec![(now + TOOK, answer("application/json", &body))]
    }
}

/// A table that answers change; one update of a thousand is not written, and one of five hundred is
/// written and never answered.
#[test]
fn updates_that_are_not_written_are_found_in_the_table_and_those_without_an_answer_are_not_judged()
{
    let before: Vec<(u32, u32)> = (1..=10_000).map(|id| (id, id)).collect();
    let table = Rc::new(RefCell::new(before.clone()));
    let missing = Rc::new(RefCell::new(vec![false; 10_001]));
    let silent = Rc::new(RefCell::new(0));
    let run = Run {
        meaning: Some(Meaning::Updated(1)),
        until: 50 * SECOND,
        timeout: SECOND,
        warmup: SECOND,
        ..closed(4)
    };
    let seen = run.press(Simulated::new(at_once, updates(&table, &missing, &silent)));
    let (rows, written) = (seen.rows.unwrap(), seen.written.clone().unwrap());
    assert_eq!(rows.changed, written.answered_rows);
    assert_eq!(written.unanswered, *silent.borrow());
    let found = written.compare(&before, &table.borrow(), 1);
    let missing = missing.borrow().iter().filter(|is_missing| **is_missing).count() as u64;
    assert!(5 <= missing && missing <= found.others, "{missing}: {found:?}");
    assert!(found.others <= missing + written.unanswered, "{missing}: {found:?}");
    assert_eq!(found.not_judged, found.others.min(written.unanswered));
}
