//! Stores that other dynos made: their figures stay what they were, and what was not recorded is not zero.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use lab::figure::Figure;
use rusqlite::Connection;
use serde_json::Value;
use store::Store;

use crate::report::fixture;
use crate::rig::{Ran, Rig};

/// A store that a whole dyno made, and what that dyno reported of it when it was made.
struct Made {
    by: &'static str,
    text: &'static str,
    figures: &'static str,
}

const MADE: [Made; 2] = [
    Made {
        by: "version 3",
        text: include_str!("../../../store/tests/it/version_3.sql"),
        figures: include_str!("older_stores/version_3.json"),
    },
    Made {
        by: "version 4",
        text: include_str!("../../../store/tests/it/version_4.sql"),
        figures: include_str!("older_stores/version_4.json"),
    },
];

/// A copy of such a store, in a folder that is removed at the end.
struct Copy {
    folder: PathBuf,
}

impl Copy {
    fn new(name: &str, text: &str) -> Copy {
        let folder = std::env::temp_dir().join(format!("dyno-older-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let copy = Copy { folder };
        Connection::open(copy.store()).unwrap().execute_batch(text).unwrap();
        copy
    }

    fn store(&self) -> PathBuf {
        self.folder.join("runs.sqlite")
    }

    fn change(&self, sql: &str) {
        let connection = Connection::open(self.store()).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    fn report(&self, run: u64, format: &str) -> Ran {
        let (run, store) = (run.to_string(), self.store().display().to_string());
        let flags = ["report", &run, "--store", &store, "--format", format, "--full"];
        Rig::new().dyno(&flags)
    }

    /// A program that writes to a store brings it up to date.
    fn bring_up_to_date(&self) {
        Store::open(&self.store()).unwrap().begin(&fixture::run()).unwrap();
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The figures of a trial or plateau by name.
type Numbers = BTreeMap<String, f64>;

fn numbers(figures: &Value) -> Numbers {
    serde_json::from_value(figures.clone()).unwrap()
}

/// Equal but for the last digits: sums are not always added up in the same order.
#[track_caller]
fn assert_same(found: &Numbers, known: &Numbers, what: &str) {
    for (name, known) in known {
        // Some figures have another name since.
        let now = Figure::from_name(name).map_or(name.as_str(), |figure| figure.name());
        let found = found.get(now).unwrap_or_else(|| panic!("{what}: {name} is missing"));
        let is_same = (found - known).abs() <= known.abs() * 1e-12;
        assert!(is_same, "{what}: {name} was {known} and is {found}");
    }
}

/// Every trial of a report, by its number.
fn trials(report: &Value) -> BTreeMap<u64, Value> {
    let tables = report["tables"].as_array().unwrap().iter();
    let rows = tables.flat_map(|table| table["rows"].as_array().unwrap());
    let trials = rows.flat_map(|row| row["trials"].as_array().unwrap());
    trials.map(|trial| (trial["number"].as_u64().unwrap(), trial.clone())).collect()
}

/// The figures of every plateau of a report, by the trial and the connections.
fn plateaus(report: &Value) -> BTreeMap<(u64, u64), Numbers> {
    let mut all = BTreeMap::new();
    let held = report["held"].as_array().unwrap().iter();
    for subject in held.flat_map(|ramps| ramps["subjects"].as_array().unwrap()) {
        for round in subject["rounds"].as_array().unwrap() {
            for plateau in round["plateaus"].as_array().unwrap() {
                let key = |value: &Value, name: &str| value[name].as_u64().unwrap();
                let at = (key(round, "number"), key(plateau, "connections"));
                all.insert(at, numbers(&plateau["figures"]));
            }
        }
    }
    all
}

/// The lines of a CSV file: the value of each column by its name.
fn lines(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.split("\r\n").filter(|line| !line.is_empty()).map(cells);
    let names = lines.next().unwrap();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

#[test]
fn a_store_reports_the_figures_that_the_dyno_reported_which_made_it() {
    for made in &MADE {
        let known: Value = serde_json::from_str(made.figures).unwrap();
        let copy = Copy::new(&made.by.replace(' ', "-"), made.text);
        for is_up_to_date in [false, true] {
            if is_up_to_date {
                copy.bring_up_to_date();
            }
            let reports: Vec<Value> =
                (1..=3).map(|run| copy.report(run, "json").status(0).json()).collect();
            let of = |run: &Value| &reports[run["run"].as_u64().unwrap() as usize - 1];
            for trial in known["trials"].as_array().unwrap() {
                let number = trial["number"].as_u64().unwrap();
                let what = format!("{}, run {}, trial {number}", made.by, trial["run"]);
                let found = &trials(of(trial))[&number];
                assert_same(&numbers(&found["figures"]), &numbers(&trial["figures"]), &what);
                for name in ["outcome", "failures", "unsupported"] {
                    assert_eq!(found[name], trial[name], "{what}: {name}");
                }
                // It was a list, and knew no bound of a deviation or of the shortest time.
                let mut bounds: Vec<&str> =
                    found["is_bound"].as_object().unwrap().keys().map(String::as_str).collect();
                bounds.retain(|name| !["response_sd_ms", "response_min_ms"].contains(name));
                let known = trial["censored"].as_array().unwrap().iter();
                let mut known: Vec<&str> = known.map(|name| name.as_str().unwrap()).collect();
                known.sort_unstable();
                assert_eq!(bounds, known, "{what}");
            }
            for plateau in known["plateaus"].as_array().unwrap() {
                let key = |name: &str| plateau[name].as_u64().unwrap();
                let at = (key("number"), key("connections"));
                let what = format!("{}, run {}, plateau {at:?}", made.by, key("run"));
                let found = &plateaus(of(plateau))[&at];
                assert_same(found, &numbers(&plateau["figures"]), &what);
            }
        }
    }
}

#[test]
fn every_format_has_the_same_figures_of_an_older_store_before_and_after_it_is_brought_up_to_date() {
    for made in &MADE {
        let copy = Copy::new(&format!("formats-{}", made.by.replace(' ', "-")), made.text);
        let all = || {
            let each = |run| ["text", "md", "html", "csv", "json"].map(|format| (run, format));
            let reports = (1..=3).flat_map(each).map(|(run, format)| copy.report(run, format));
            reports.map(|ran| ran.status(0).stdout).collect::<Vec<String>>()
        };
        let before = all();
        copy.bring_up_to_date();
        assert!(before == all(), "{}", made.by);
    }
}

#[test]
fn what_was_not_recorded_is_missing_and_never_zero() {
    for made in &MADE {
        let copy = Copy::new(&format!("zero-{}", made.by.replace(' ', "-")), made.text);
        for run in 1..=2 {
            let found = trials(&copy.report(run, "json").status(0).json());
            let lines = lines(&copy.report(run, "csv").status(0).stdout);
            assert_eq!(lines.len(), found.len());
            for line in lines {
                let number: u64 = line["trial"].parse().unwrap();
                let figures = numbers(&found[&number]["figures"]);
                let mut missing = Vec::new();
                for name in Figure::ALL.map(Figure::name) {
                    match figures.get(name) {
                        None => missing.push((name, line[name].as_str())),
                        Some(value) => assert_eq!(line[name].parse(), Ok(*value), "{name}"),
                    }
                }
                // A closed loop has no schedule, and nothing was held.
                let expected: &[&str] = match run {
                    1 => &["offered_per_s", "on_time_percent"],
                    _ => &[],
                };
                // Nor did anything speak TLS.
                let never = [
                    "silent_percent",
                    "longest_silence_ms",
                    "tls_p50_ms",
                    "tls_p99_ms",
                    "tls_resumed_percent",
                    "memory_per_connection_bytes",
                ];
                let mut expected: Vec<_> =
                    expected.iter().chain(&never).map(|name| (*name, "")).collect();
                expected.sort_unstable();
                missing.sort_unstable();
                assert_eq!(missing, expected, "{}, run {run}", made.by);
            }
        }
    }
}

/// A dyno of version 3 did not record which closes an answer had announced: it is not said that there were none.
#[test]
fn closes_that_an_older_dyno_did_not_distinguish_are_not_distinguished() {
    let copy = Copy::new("closes", MADE[0].text);
    for format in ["text", "html", "json"] {
        let ran = copy.report(1, format).status(0);
        let _ = ran
            .stdout_has("were to be kept were closed by the server: 49 without notice, at")
            .stdout_lacks("as their last answer had announced");
    }
}

/// More than are read, of trials and of points.
const ROWS: u32 = 300_000;

#[test]
fn a_plan_or_a_series_beyond_all_measure_is_refused_by_the_name_of_its_file() {
    for (name, table, says) in [
        (
            "plan",
            "run_plan SELECT 1, 10 + i, 'resets', 'hello', 4, 'connections', i",
            "run 1: more than 250000 trials are planned",
        ),
        (
            "points",
            "trial_point SELECT 1, 1, 0, 1000 + i, i, 1",
            "run 1, trial 1: more than 100000 points are in one series",
        ),
        ("trials", "trial_seal SELECT 1, 10 + i, x'', x''", "run 1: more than 250000 trials"),
    ] {
        let copy = Copy::new(&format!("many-{name}"), MADE[1].text);
        copy.change(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
             INSERT INTO {table} FROM n"
        ));
        let store = copy.store().display().to_string();
        for command in
            [&["report", "1"][..], &["report", "1", "--format", "json"], &["compare", "1", "2"]]
        {
            let light = Rig::new().memory_kib(256 << 10);
            let ran = light.dyno(&[command, &["--store", &store]].concat()).status(2);
            let refused = format!("{store}: holds more than any dyno keeps ({says})");
            let _ = ran.stderr_has(&refused).stderr_has("name another file");
        }
        // The other runs of the store can be read.
        let _ = Rig::new().dyno(&["report", "2", "--store", &store]).status(0);
    }
}
