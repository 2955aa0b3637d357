//! The page that describes the store: its queries can be run.

use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use store::Store;

use crate::findings::checked_run;
use crate::made_up::{Folder, trial, two_trials};

/// The examples of the page, in their order.
fn questions() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = fs::read_to_string(page).unwrap();
    let questions = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    questions.map(String::from).collect()
}

/// By Python, whose sqlite3 decodes what is declared to be text.
#[test]
fn the_questions_of_the_page_have_answers() {
    let folder = Folder::new();
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&checked_run(3)).unwrap();
    (0..2).for_each(|number| store.keep(id, &trial(number)).unwrap());
    drop(store);
    let questions = questions();
    assert!(5 <= questions.len(), "the page has lost its questions");
    let script = "import sqlite3, sys; store = sqlite3.connect(sys.argv[1])\n\
                  for question in sys.argv[2:]: assert store.execute(question).fetchall(), question";
    let mut python = Command::new("python3");
    python.args(["-c", script]).arg(folder.store()).args(questions);
    let done = python.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_page_names_every_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = fs::read_to_string(page).unwrap();
    let schema = include_str!("../../src/schema.sql");
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
    let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let rows: Vec<(Option<i64>, Option<i64>)> =
        summary.query_map([], pair).unwrap().map(Result::unwrap).collect();
    assert!(rows[0].0.is_some() && rows[0].1.is_some_and(|failed| 0 < failed), "{rows:?}");
    assert_eq!(rows[1], (None, None), "not zero: nothing was counted");
}

/// A number of a view's row, of the trial with everything in it.
fn shown(connection: &Connection, column: &str, view: &str) -> i64 {
    let sql = format!("SELECT CAST({column} AS INTEGER) FROM {view} AND run = 1 AND trial = 0");
    let found = connection.query_row(&sql, [], |row| row.get(0));
    found.unwrap_or_else(|error| panic!("{error}: {sql}"))
}

#[test]
fn views_show_what_bodies_hold() {
    let (folder, _) = two_trials();
    let connection = Connection::open(folder.store()).unwrap();
    let (made, number) = (trial(0), |number: u64| i64::try_from(number).unwrap());
    let recording = made.loaded.unwrap().recording;
    let (total, windows) = (&recording.total, &recording.windows);
    let plateaus = made.held.unwrap().holding.plateaus;
    for (column, view, expected) in [
        ("measured_until_ns", "trial_load WHERE true", recording.measured_until),
        ("timeout_ns", "trial_load WHERE true", recording.timeout),
        ("attempted", "trial_load WHERE end = 'gave-up'", total.attempted),
        ("correct_inside", "trial_load WHERE gave_up_by = 'connect.refused'", total.correct_inside),
        ("answered", "trial_load WHERE true", total.answered),
        ("warmup_failed", "trial_load WHERE true", total.warmup_failed),
        ("connections_failed", "trial_load WHERE true", total.connections.failed),
        ("sessions_complete", "trial_load WHERE true", total.sessions.complete),
        ("unsolicited", "trial_load WHERE true", total.notes.unsolicited),
        ("polled_ns", "trial_load WHERE true", total.polled),
        ("sum(count)", "trial_failure WHERE true", total.failed.iter().sum()),
        ("count", "trial_distribution WHERE name = 'response'", total.response.count()),
        ("censored", "trial_distribution WHERE name = 'response'", total.response.censored()),
        ("status", "trial_slow WHERE place = 1", total.slowest[1].status.into()),
        ("wall_ns", "trial_lane WHERE place = 0", recording.lanes[0].wall),
        ("attempted", "trial_window WHERE place = 2", windows[2].attempted),
        ("response_sum_ns", "trial_window WHERE place = 2", windows[2].response.sum() as u64),
        ("sum(count)", "trial_window_failure WHERE window = 1", windows[1].failed.iter().sum()),
        ("connections", "trial_plateau WHERE place = 1", plateaus[1].times.connections as u64),
        ("echoes_failed", "trial_plateau WHERE place = 1", plateaus[1].echoes.failed),
        (
            "sum(count)",
            "trial_plateau_loss WHERE phase = 'lost' AND plateau = 1",
            plateaus[1].lost.iter().sum(),
        ),
        (
            "count",
            "trial_plateau_distribution WHERE name = 'echo' AND plateau = 0",
            plateaus[0].echoes.response.count(),
        ),
        (
            "received",
            "trial_broadcast WHERE number = '7' AND plateau = 1",
            plateaus[1].broadcasts[&7].received,
        ),
        ("sum(messages)", "trial_hold_window WHERE true", 600 + 1_200),
    ] {
        assert_eq!(shown(&connection, column, view), number(expected), "{column} of {view}");
    }
}
