//! The page that describes the store: its queries can be run.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::Store;

use crate::findings::checked_run;
use crate::kept_stores;
use crate::made_up::{Folder, run, trial, two_trials};

/// The examples of the page, in their order.
fn questions() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = fs::read_to_string(page).unwrap();
    let questions = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    questions.map(String::from).collect()
}

/// How many rows answer a question.
fn answers(connection: &Connection, question: &str) -> usize {
    let mut statement = connection.prepare(question).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut answers = 0;
    while rows.next().unwrap_or_else(|error| panic!("{error}: {question}")).is_some() {
        answers += 1;
    }
    answers
}

#[test]
fn the_questions_of_the_page_have_answers() {
    let folder = Folder::new();
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&checked_run(3)).unwrap();
    (0..2).for_each(|number| store.keep(id, &trial(number)).unwrap());
    let connection = Connection::open(folder.store()).unwrap();
    let questions = questions();
    assert!(5 <= questions.len(), "the page has lost its questions");
    for question in questions {
        assert!(0 < answers(&connection, &question), "no answer: {question}");
    }
}

/// The same questions of stores that whole dynos made. Everything was measured there and nothing checked: what is left
/// to do, the checks and the cases that failed under load have no rows.
#[test]
fn the_questions_of_the_page_have_answers_in_stores_that_whole_dynos_made() {
    const UNANSWERED: [&str; 4] = ["run_plan", "conformance_summary", "run_finding", "trial_spot"];
    for kept in &kept_stores::ALL {
        let folder = kept.copied();
        Store::open(&folder.store()).unwrap().begin(&run(1)).unwrap();
        let connection = Connection::open(folder.store()).unwrap();
        for question in questions() {
            // The examples ask about run 1; the connections were held in run 3.
            let is_held = question.contains("plateau");
            let question = if is_held { question.replace("run = 1", "run = 3") } else { question };
            let is_answered = !UNANSWERED.iter().any(|table| question.contains(table));
            let found = answers(&connection, &question);
            assert_eq!(0 < found, is_answered, "version {}: {question}", kept.version);
        }
    }
}

#[test]
fn the_page_names_every_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = fs::read_to_string(page).unwrap();
    let schema = [
        include_str!("../../src/schema.sql"),
        include_str!("../../src/held.sql"),
        include_str!("../../src/conformance.sql"),
        include_str!("../../src/bodies.sql"),
        include_str!("../../src/views.sql"),
    ]
    .concat();
    let created = schema.split("\nCREATE TABLE ").chain(schema.split("\nCREATE VIEW ")).skip(1);
    for name in created.filter_map(|rest| rest.split([' ', '\n']).next()) {
        assert!(page.contains(&format!("`{name}`")) || name.starts_with("--"), "{name}");
    }
}

#[test]
fn a_trial_that_was_never_loaded_has_no_number_of_failures() {
    let (folder, _) = two_trials();
    let connection = Connection::open(folder.store()).unwrap();
    let mut summary =
        connection.prepare("SELECT attempted, failed FROM trial_summary ORDER BY trial").unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let rows: Vec<(Option<i64>, Option<i64>)> =
        summary.query_map([], row).unwrap().map(Result::unwrap).collect();
    assert!(rows[0].0.is_some() && rows[0].1.is_some_and(|failed| 0 < failed), "{rows:?}");
    assert_eq!(rows[1], (None, None), "not zero: nothing was counted");
}
