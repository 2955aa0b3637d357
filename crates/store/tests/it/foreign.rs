//! Files that another program made: other tables than a dyno's are refused before anything is read from them, and no
//! file takes more work than its size explains.

use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use store::{Fault, Store};

use crate::made_up::{Folder, change, fill, filled};

/// Both ways to open it are refused, and name what is odd.
#[track_caller]
fn refused(sql: &str, says: &str) {
    let (folder, ..) = filled(1);
    change(&folder.store(), sql);
    for found in [Store::open(&folder.store()), Store::open_to_read(&folder.store())] {
        let found = found.expect_err(sql);
        assert!(found.to_string().contains(says), "{sql}: {found}");
        assert!(matches!(found.fault, Fault::OtherTables(_) | Fault::Damaged(_)), "{found:?}");
    }
}

#[test]
fn a_store_with_other_tables_than_a_dynos_is_refused_before_anything_is_read() {
    const ENDLESS: &str = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";
    for table in ["run", "run_plan", "run_seal", "trial", "trial_seal", "trial_body", "run_finding"]
    {
        let view = format!(
            "DROP TABLE {table}; CREATE VIEW {table} AS {ENDLESS} SELECT x AS run, x AS trial FROM c"
        );
        refused(&view, &format!("the view `{table}` is none of a dyno's"));
    }
    let odd = "is none of a dyno's";
    refused("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END", odd);
    refused("CREATE INDEX i ON run (name)", odd);
    refused("CREATE TABLE mine (a)", odd);
    refused("CREATE VIRTUAL TABLE words USING fts5 (a)", odd);
    refused("ALTER TABLE run ADD COLUMN twice TEXT AS (dyno || dyno)", odd);
    refused("DROP VIEW run_summary", "the view `run_summary` is missing");
    // SQLite notices that the type is not the statement's.
    refused("UPDATE sqlite_schema SET type = 'view' WHERE name = 'run'", "malformed");
}

/// The pages of a table: its root is the first of `levels` interior pages, each of which has only the next one below it,
/// many times; the last has the leaves that the root had.
fn link_in_layers(path: &Path, table: &str, levels: usize) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    let number = |sql: &str| -> usize { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    let size = number("PRAGMA page_size");
    let root = number(&format!("SELECT rootpage FROM sqlite_schema WHERE name = '{table}'")) - 1;
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    drop(connection);
    let mut file = fs::read(path).unwrap();
    let page = file[root * size..][..size].to_vec();
    assert_eq!(page[0], 5, "an interior page of a table");
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    let all = |to: u32| {
        let mut page = page.clone();
        page[8..12].copy_from_slice(&to.to_be_bytes());
        for cell in 0..cells {
            let at = 12 + 2 * cell;
            let at = usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
            page[at..at + 4].copy_from_slice(&to.to_be_bytes());
        }
        page
    };
    let first = (file.len() / size) as u32 + 1;
    for level in 0..levels as u32 {
        let layer = if level + 1 == levels as u32 { page.clone() } else { all(first + level + 1) };
        file.extend(layer);
    }
    file[root * size..][..size].copy_from_slice(&all(first));
    let pages = (file.len() / size) as u32;
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    fs::write(path, file).unwrap();
}

#[test]
fn pages_that_are_linked_many_times_are_not_read_for_ever() {
    let (folder, other) = (Folder::new(), Folder::new());
    drop(fill(&folder.store(), 1));
    let (source, run) = fill(&other.store(), 1);
    change(
        &folder.store(),
        "UPDATE run SET name = 'x';
         WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
         INSERT INTO run SELECT i, 'x', 0, 0, 0, '' FROM n",
    );
    link_in_layers(&folder.store(), "run", 8);
    // Each of them is looked at for the one that is to be taken over.
    let mut store = Store::open(&folder.store()).unwrap();
    let found = store.import(&source, run).unwrap_err();
    let says = "it takes more steps than its size explains";
    assert_eq!(found.fault, Fault::TooMuch(says.into()));
    assert!(matches!(store.runs().unwrap_err().fault, Fault::TooMuch(_)));
}

#[test]
fn a_value_that_no_dyno_writes_is_not_loaded() {
    let folder = Folder::new();
    drop(fill(&folder.store(), 1));
    // By another process: in this one SQLite may not take so much memory any more.
    let script =
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])";
    let sql = "UPDATE trial SET output_tail = zeroblob(200000000)";
    let status = Command::new("python3").args(["-c", script]).arg(folder.store()).arg(sql).status();
    assert!(status.unwrap().success());
    let store = Store::open_to_read(&folder.store()).unwrap();
    let found = store.trial("1".parse().unwrap(), 0).unwrap_err();
    assert!(matches!(found.fault, Fault::TooMuch(_)), "{found:?}");
}

#[test]
fn blanks_comments_and_quoted_names_make_no_other_table() {
    let (folder, ..) = filled(1);
    let sql = "UPDATE sqlite_schema SET sql = replace(sql, 'CREATE TABLE run (', 'CREATE TABLE \"run\" ( -- odd
               ')";
    change(&folder.store(), sql);
    assert_eq!(Store::open_to_read(&folder.store()).unwrap().runs().unwrap().len(), 1);
}
