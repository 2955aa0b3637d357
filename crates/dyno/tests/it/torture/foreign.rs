//! Stores that another program made, and every command that opens a store.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::{Signal, kill_process};

use super::store::sound;
use super::{Dice, is_orderly};
use crate::lab_rig::Lab;
use crate::rig::{Ran, pid};

/// Seconds of CPU time, and KiB of address space: a sound store takes a hundredth of the one and a third of the other.
const BOUNDS: &str = "ulimit -t 10; ulimit -v 300000";
const FILE: &str = "foreign.sqlite";

const COMMANDS: [&[&str]; 8] = [
    &["runs", "import", FILE, "--store", "new.sqlite"],
    &["report", "--store", FILE],
    &["trend", "--store", FILE],
    &["runs", "export", "1", "-o", "out.sqlite", "--store", FILE],
    &["runs", "rm", "1", "--store", FILE],
    &["runs", "prune", "--keep-newest", "1", "--store", FILE],
    &["runs", "list", "--store", FILE],
    &["view", "--store", FILE],
];

const TABLES: [&str; 12] = [
    "run",
    "run_file",
    "run_fact",
    "run_entry",
    "run_plan",
    "run_seal",
    "run_end",
    "trial",
    "trial_seal",
    "trial_body",
    "trial_detail",
    "trial_point",
];

/// What takes the place of a table `{T}`.
const ODDITIES: [&str; 8] = [
    "DROP TABLE {T}; CREATE VIEW {T} AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) \
     SELECT x AS run, x AS trial, x AS name, x AS sha256 FROM c",
    "DROP TABLE {T}; CREATE VIEW {T} AS SELECT 1 AS run, 0 AS trial, printf('%.*c', 900000000, 'x') AS name",
    "DROP TABLE {T}; CREATE TABLE {T} (run, trial, name, x AS (printf('%.*c', 900000000, 'x')))",
    "DROP TABLE {T}; CREATE VIRTUAL TABLE {T} USING fts5 (run, trial)",
    "CREATE TRIGGER odd AFTER INSERT ON {T} BEGIN DELETE FROM {T}; END",
    "CREATE INDEX odd ON {T} (run) WHERE length(printf('%.*c', 900000000, 'x')) > 1",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view' WHERE name = '{T}'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 + rootpage WHERE name = '{T}'",
];

/// A project of its own with this store.
fn with(change: impl FnOnce(&Path)) -> Lab {
    let lab = Lab::new().before(BOUNDS);
    let path = lab.root.join(FILE);
    fs::write(&path, &sound().bytes).unwrap();
    change(&path);
    lab
}

fn query(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    // What SQLite itself refuses has changed nothing, or half of it.
    let _ = connection.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}"));
}

/// Whatever the store is, the command ends in its bounds, and says what it did.
fn try_one(lab: &Lab, command: &[&str]) -> &'static str {
    let ran = match command[0] {
        "view" => viewed(lab.command(command)),
        _ => lab.dyno(command),
    };
    is_orderly(&ran);
    match ran.code() {
        Some(0) => "read",
        Some(2) => "refused",
        _ => panic!("{command:?}: {ran}"),
    }
}

/// Asks for each kind of page, and ends it.
fn viewed(mut command: Command) -> Ran {
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    if let Some(host) = line.trim().strip_prefix("http://") {
        let host = host.trim_end_matches('/');
        for path in ["/", "/run/1", "/run/1.csv", "/trend/1"] {
            let mut stream = TcpStream::connect(host).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.starts_with(b"HTTP/1.1 "), "{path}: {}", answer.escape_ascii());
        }
        kill_process(pid(&child), Signal::INT).unwrap();
    }
    Ran::of(child)
}

/// One of the hand-made stores, with one of the commands.
pub(super) fn made(number: usize) -> &'static str {
    let (table, odd) =
        (TABLES[number % TABLES.len()], ODDITIES[number / TABLES.len() % ODDITIES.len()]);
    let lab = with(|path| query(path, &odd.replace("{T}", table)));
    try_one(&lab, COMMANDS[number % COMMANDS.len()])
}

/// How many of them differ.
pub(super) const MADE: usize = TABLES.len() * ODDITIES.len();

pub(super) fn changed(dice: &mut Dice) -> &'static str {
    let lab = with(|path| match dice.roll(4) {
        0 => query(path, &letters_of_a_statement(dice)),
        1 => pages_linked_again(path, dice),
        2 => query(path, &values_out_of_all_proportion(dice)),
        _ => bytes(path, dice),
    });
    try_one(&lab, COMMANDS[dice.roll(COMMANDS.len())])
}

/// A statement of the schema loses some letters, or has others.
fn letters_of_a_statement(dice: &mut Dice) -> String {
    let (table, at, to) = (*dice.one(&TABLES), dice.roll(300), 1 + dice.roll(40));
    let with = dice.one(&["", "x", "AS (1)", "UNIQUE", "--", "/*", "REFERENCES run"]);
    format!(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema
         SET sql = substr(sql, 1, {at}) || '{with}' || substr(sql, {at} + {to}) WHERE name = '{table}'"
    )
}

fn values_out_of_all_proportion(dice: &mut Dice) -> String {
    let table = dice.one(&["run_file", "trial_body", "trial_detail"]);
    let column = if *table == "run_file" { "text" } else { "body" };
    let letters = 1usize << dice.roll(25);
    format!("UPDATE {table} SET {column} = {column} || printf('%.*c', {letters}, '[')")
}

/// Some interior pages have other pages below them than they had.
fn pages_linked_again(path: &Path, dice: &mut Dice) {
    const SIZE: usize = 4_096;
    let mut file = fs::read(path).unwrap();
    let pages = file.len() / SIZE;
    let interior: Vec<usize> =
        (1..pages).filter(|page| [2, 5].contains(&file[page * SIZE])).collect();
    for _ in 0..=dice.roll(3) {
        let Some(page) = (!interior.is_empty()).then(|| *dice.one(&interior)) else { return };
        let to = (1 + dice.roll(pages) as u32).to_be_bytes();
        let page = &mut file[page * SIZE..][..SIZE];
        page[8..12].copy_from_slice(&to);
        for cell in 0..usize::from(u16::from_be_bytes([page[3], page[4]])).min(1_000) {
            let at = usize::from(u16::from_be_bytes([page[12 + 2 * cell], page[13 + 2 * cell]]));
            if at + 4 <= SIZE {
                page[at..at + 4].copy_from_slice(&to);
            }
        }
    }
    fs::write(path, file).unwrap();
}

fn bytes(path: &Path, dice: &mut Dice) {
    let mut file = fs::read(path).unwrap();
    for _ in 0..=dice.roll(30) {
        // Half of them in the schema.
        let places = if dice.roll(2) == 0 { file.len() } else { file.len().min(40_000) };
        let (at, bit) = (dice.roll(places), dice.roll(8));
        file[at] ^= 1 << bit;
    }
    fs::write(path, file).unwrap();
}
