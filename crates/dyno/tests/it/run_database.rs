//! Workloads of a database, on a server that answers them rightly, and with a fault in each fiftieth of its answers.

use std::fs;
use std::path::Path;

use lab::record::{OutcomeKind, TrialRecord, fact};
use load::Failure;
use wire::Mismatch;

use crate::lab_rig::{Lab, SHORT, not_tested};

const WORKLOADS: [&str; 4] = ["db-row", "db-rows-5", "db-update", "fortunes"];

/// A fault, the failures of the load, and the doubt that finds it.
const FAULTS: [(&str, &str, u64, Option<&str>); 12] = [
    ("db-row", "number", 4, None),
    ("db-row", "truncated", 4, None),
    ("db-row", "memory", 0, Some("not_from_database")),
    ("db-row", "crash", 0, Some("rows_not_counted")),
    ("db-rows-5", "number", 4, None),
    ("db-rows-5", "constant", 0, Some("ids_not_random")),
    ("db-rows-5", "batched", 0, Some("queries_batched")),
    ("db-update", "unwritten", 0, Some("updates_not_written")),
    ("db-update", "undone", 0, Some("updates_not_written")),
    ("fortunes", "unsorted", 4, None),
    ("fortunes", "unescaped", 4, None),
    ("fortunes", "truncated", 4, None),
];

/// A lab with the tree's own service and these workloads.
pub(crate) fn lab_with_database() -> Option<Lab> {
    let found =
        fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut versions| versions.next().is_some());
    if !found {
        not_tested("a real database beside a server", "Debian's package postgresql");
        return None;
    }
    let all = files("services/postgresql").into_iter().chain(files("workloads"));
    Some(all.fold(Lab::new(), |lab, (name, text)| lab.file(&name, &text)))
}

/// The files of a folder of the tree and of those in it: their names and texts.
fn files(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap());
    let name = |entry: &fs::DirEntry| format!("{folder}/{}", entry.file_name().to_string_lossy());
    let (folders, plain): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.path().is_dir());
    let text = |entry: &fs::DirEntry| fs::read_to_string(entry.path()).unwrap();
    let plain = plain.iter().map(|entry| (name(entry), text(entry)));
    plain.chain(folders.iter().flat_map(|folder| files(&name(folder)))).collect()
}

/// A server with a fault, which speaks these workloads.
pub(crate) fn server(lab: Lab, name: &str, speaks: &[&str], fault: &str) -> Lab {
    lab.script(name, speaks, include_str!("database.py"), &format!("{{port}} {fault}"))
}

fn failures(trial: &TrialRecord) -> (u64, u64) {
    let total = &trial.loaded.as_ref().unwrap().recording.total;
    (total.failed_in_all(), total.failures(Failure::Content(Mismatch::Body)))
}

#[test]
fn each_way_of_being_wrong_is_found_and_no_right_answer_is() {
    let Some(lab) = lab_with_database() else { return };
    let lab = server(lab, "right", &WORKLOADS, "none");
    let named =
        |(workload, fault, ..): (&str, &str, u64, Option<&str>)| format!("{workload}-{fault}");
    let add = |lab, faulty: (&'static str, &'static str, u64, _)| {
        server(lab, &named(faulty), &[faulty.0], faulty.1)
    };
    let lab = FAULTS.into_iter().fold(lab, add);
    let names: Vec<String> = FAULTS.into_iter().map(named).chain(["right".to_string()]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rest = format!("workload = {WORKLOADS:?}\n");
    let lab = lab.experiment("database", &names, SHORT, &rest);
    lab.dyno(&["run", "database"]).status(1);
    let document = lab.dyno(&["report", "1", "--format", "json"]).status(0).json();
    let tables = document["tables"].as_array().unwrap();
    for trial in lab.trials("1") {
        let (name, workload) = (&trial.key.subject, &trial.key.workload);
        assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{name}: {:?}", trial.outcome);
        let planted = FAULTS.into_iter().find(|faulty| named(*faulty) == *name);
        let expected = planted.map_or(0, |(_, _, failed, _)| failed);
        assert_eq!(failures(&trial), (expected, expected), "{name}, {workload}");
        let doubt = planted.and_then(|(.., doubt)| doubt);
        let table = tables.iter().find(|table| table["workload"] == **workload).unwrap();
        let rows = table["rows"].as_array().unwrap();
        let text = rows.iter().find(|row| row["subject"] == **name).unwrap().to_string();
        let judged =
            ["not_from_database", "ids_not_random", "queries_batched", "updates_not_written"];
        for id in judged.into_iter().chain(["rows_not_counted"]) {
            assert_eq!(text.contains(id), doubt == Some(id), "{name}, {workload}: {id}: {text}");
        }
        let read = |counter: &str| {
            fact(&trial.conditions, &format!("service.counted.{counter}")).unwrap().parse::<u64>()
        };
        if name == "db-row-memory" {
            assert_eq!(read("world.rows_read"), Ok(196), "four of 200 came from memory");
        }
    }
}
