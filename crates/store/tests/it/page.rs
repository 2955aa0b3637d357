//! The page that describes the store: its queries can be run.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::Store;

use crate::findings::checked_run;
use crate::made_up::{Folder, trial};

#[test]
fn the_questions_of_the_page_have_answers() {
    let folder = Folder::new();
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&checked_run(3)).unwrap();
    (0..2).for_each(|number| store.keep(id, &trial(number)).unwrap());
    let connection = Connection::open(folder.store()).unwrap();

    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = fs::read_to_string(page).unwrap();
    let questions = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut asked = 0;
    for question in questions {
        let mut statement = connection.prepare(question).unwrap();
        let answers = statement.query_map([], |_| Ok(())).unwrap().count();
        assert!(0 < answers, "no answer: {question}");
        asked += 1;
    }
    assert!(5 <= asked, "the page has lost its questions");
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
    ]
    .concat();
    let created = schema.split("\nCREATE TABLE ").chain(schema.split("\nCREATE VIEW ")).skip(1);
    for name in created.filter_map(|rest| rest.split([' ', '\n']).next()) {
        assert!(page.contains(&format!("`{name}`")) || name.starts_with("--"), "{name}");
    }
}
