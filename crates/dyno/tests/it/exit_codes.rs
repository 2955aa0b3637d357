//! The table of docs/exit-codes.md, cell by cell: each is run here, or names the test that has it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use oracle::Config;
use rustix::process::Signal;

use crate::lab_rig::Lab;
use crate::rig::{Going, Ran, Rig, in_one_of_five};
use crate::schema::fits;

const FAILS: &str = "a_race_fails_with_a_side_and_cannot_tell_without_one";
const GATE: &str = "each_end_of_a_gate_is_told_whole_in_every_file";
const FAULTY: &str = "a_server_with_wrong_answers_is_named_and_not_ranked_and_its_bytes_are_shown";
const LIMIT: &str = "a_limit_too_short_for_what_is_to_be_found_ends_the_gate_before_it_begins";
const LOST: &str = "what_the_other_processes_held_is_kept_and_the_exit_code_is_2";

/// Cells that take longer, or cannot be brought about from outside: command, column, test.
const ELSEWHERE: [(&str, &str, &str); 25] = [
    ("hold", "cannot tell", LOST),
    ("race", "invalid", FAILS),
    ("race", "cannot tell", FAILS),
    ("race", "interrupted", "an_interrupted_race_keeps_what_is_finished_and_leaves_no_process"),
    ("run", "wrong answers", FAULTY),
    ("run", "failures within the limit", FAULTY),
    ("run", "failures beyond it", FAULTY),
    ("run", "invalid", "what_has_no_partner_or_was_not_measured_is_said"),
    ("run", "cannot tell", "if_nothing_could_be_measured_the_answer_is_could_not_tell"),
    ("run", "interrupted", "one_signal_keeps_what_is_finished_and_names_the_way_on"),
    ("gate", "wrong answers", GATE),
    ("gate", "failures within the limit", GATE),
    ("gate", "failures beyond it", GATE),
    ("gate", "requirement not met", GATE),
    ("gate", "invalid", GATE),
    ("gate", "cannot tell", LIMIT),
    ("gate", "interrupted", GATE),
    (
        "capacity",
        "requirement not met",
        "an_aim_that_no_rate_keeps_is_reported_with_what_the_lowest_rate_shows",
    ),
    ("capacity", "invalid", "a_disturbance_that_stays_ends_a_search_with_what_is_known"),
    ("capacity", "cannot tell", "a_disturbance_that_stays_ends_a_search_with_what_is_known"),
    ("capacity", "interrupted", "a_search_that_is_interrupted_goes_on_where_it_was"),
    ("compare", "failures within the limit", "a_gate_answers_within_worse_and_that_it_cannot_tell"),
    ("compare", "requirement not met", "a_known_delay_is_found"),
    ("compare", "invalid", "one_round_cannot_tell"),
    ("compare", "cannot tell", "one_round_cannot_tell"),
];

/// Files that a command is to write, in which an earlier one has left something.
struct Documents(Lab);

const NAMES: [&str; 4] = ["all.json", "all.md", "all.html", "all.txt"];

impl Documents {
    fn new() -> Documents {
        let lab = Lab::new();
        NAMES.iter().for_each(|name| lab.write(name, "of an earlier run"));
        Documents(lab)
    }

    /// A command that is to write them, besides.
    fn of(&self, words: &[&str]) -> Vec<String> {
        let files = NAMES.iter().flat_map(|name| ["-o".into(), self.0.path(name)]);
        words.iter().map(ToString::to_string).chain(files).collect()
    }

    fn ran(&self, rig: &Rig, words: &[&str]) -> Ran {
        let words = self.of(words);
        rig.dyno(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Each of them is of this command; the JSON.
    #[track_caller]
    fn all(&self, ran: &Ran) -> serde_json::Value {
        let texts = NAMES.map(|name| self.0.read(name));
        let is_new = |text: &String| !text.is_empty() && !text.contains("of an earlier run");
        assert!(texts.iter().all(is_new), "{texts:?}\n{ran}");
        let json = self.0.json(NAMES[0]);
        assert!(!json["sentence"].as_str().unwrap().is_empty(), "{json:#}");
        json
    }
}

const ANSWERS: [&str; 5] = ["{url}/hello", "--expect-body", "Hello, world!", "-c", "2"];
const SOME: [&str; 2] = ["-n", "3000"];

fn load(rig: &Rig, more: &[&str]) -> Ran {
    rig.dyno(&[&["load"], &ANSWERS[..], &SOME, more].concat())
}

/// A load of which each document is there.
fn loaded(rig: &Rig, words: &[&str]) -> Ran {
    let documents = Documents::new();
    let ran = documents.ran(rig, &[&["load"], words].concat());
    documents.all(&ran);
    ran
}

/// Two loads as files, the second of which is of this server.
fn of_files(met: &str) -> Ran {
    let other = match met {
        "wrong answers" => Rig::faulty("wrong-body", 0.05),
        "failures beyond it" => Rig::faulty("retry-after-503", 0.1),
        other => panic!("nothing brings about `{other}` between files"),
    };
    let lab = Lab::new();
    let [a, b] = ["a.json", "b.json"].map(|name| lab.path(name));
    load(&Rig::new(), &["--rounds", "2", "-o", &a]);
    load(&other, &["--rounds", "2", "-o", &b]);
    let documents = Documents::new();
    let ran = documents.ran(&Rig::new(), &["compare", &a, &b, "--tolerance", "90%"]);
    documents.all(&ran);
    ran
}

/// What a load ends with that meets this.
fn of_load(met: &str) -> Ran {
    let all = |rig: &Rig, more: &[&str]| loaded(rig, &[&ANSWERS[..], &SOME, more].concat());
    match met {
        "wrong answers" => all(&Rig::faulty("wrong-body", 0.002), &[]),
        "failures within the limit" => all(&Rig::faulty("retry-after-503", 0.003), &[]),
        "failures beyond it" => all(&Rig::faulty("retry-after-503", 0.1), &[]),
        "requirement not met" => all(&Rig::new(), &["--require", "throughput>90000000"]),
        "invalid" => {
            // Almost all requests wait for the only connection until their time is over.
            let delay = Some("constant:20ms".parse().unwrap());
            let slow = Rig::oracle(Config { delay, ..Config::default() });
            let flags = ["-r", "400", "-d", "1s", "--max-connections", "1", "--timeout", "1s"];
            loaded(&slow, &[&["{url}/hello", "-c", "1"], &flags[..]].concat())
        }
        "cannot tell" => all(&Rig::new(), &["--require", "p99.99<1h"]),
        "interrupted" => {
            let documents = Documents::new();
            let words = documents.of(&["load", "{url}/hello", "-d", "50s"]);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let ran = Rig::new().dyno_interrupted(&words);
            documents.all(&ran);
            ran
        }
        other => panic!("nothing brings about `{other}`"),
    }
}

fn of_hold(met: &str) -> Ran {
    let flags = ["-c", "4", "--every", "1s", "--settle", "0", "--no-reopen"];
    let documents = Documents::new();
    let hold = |rig: &Rig, path: &str| documents.ran(rig, &[&["hold", path], &flags[..]].concat());
    let ran = match met {
        "failures beyond it" => hold(&Rig::new(), "{url}/poll/0.05?beats=3"),
        "invalid" => hold(&Rig::new(), "{url}/hello"),
        "interrupted" => {
            let rig = Rig::new();
            let words = documents.of(&["hold", "{url}/poll/0.1", "--every", "60s"]);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut going = Going::start(rig.command(&words));
            going.says("open");
            going.signal(Signal::INT);
            going.end()
        }
        other => panic!("nothing brings about `{other}`"),
    };
    documents.all(&ran);
    ran
}

/// A race of this server against one that is right, and what `dyno compare` says of both.
fn of_race(met: &str) -> [Ran; 2] {
    let right = Rig::new();
    let mut more: Vec<&str> = Vec::new();
    let mut path = "/hello";
    let other = match met {
        "wrong answers" => Rig::faulty("wrong-body", 0.05),
        "failures within the limit" => Rig::faulty("retry-after-503", 0.001),
        "failures beyond it" => Rig::faulty("retry-after-503", 0.1),
        "requirement not met" => {
            more.push("--same");
            path = "/user/x";
            Rig::new()
        }
        other => panic!("nothing brings about `{other}`"),
    };
    if path == "/hello" {
        more.extend(&ANSWERS[1..3]);
    }
    let lab = Lab::new();
    let store = lab.path("races.sqlite");
    let sides = [right.url("/hello"), other.url(path)];
    let race = ["race", &sides[0], &sides[1], "--name", "a", "--name", "b", "--store", &store];
    let flags = ["-c", "2", "-n", "2000", "--warmup", "0s", "--rounds", "2", "--no-ceiling"];
    let documents = Documents::new();
    let words = documents.of(&[&race[..], &flags, &more].concat());
    let raced = lab.dyno(&words.iter().map(String::as_str).collect::<Vec<_>>());
    documents.all(&raced);
    let compare = ["compare", "--run", "1", "a", "b", "--store", &store, "--tolerance", "50%"];
    [raced, lab.dyno(&compare)]
}

/// What a race ends with is asked of `dyno compare`, too, if its own row has a code for that.
fn walk(command: &str, met: &str, code: i32, compared: Option<i32>) {
    let is = |ran: &Ran, code: i32| assert_eq!(ran.code(), Some(code), "{command}, {met}: {ran}");
    match command {
        "load" => is(&of_load(met), code),
        "hold" => is(&of_hold(met), code),
        "race" => {
            let [race, compare] = of_race(met);
            is(&race, code);
            compared.into_iter().for_each(|code| is(&compare, code));
        }
        "compare" => is(&of_files(met), code),
        _ => panic!("`{command}` is not run here"),
    }
}

#[test]
fn each_cell_of_the_table_of_exit_codes_is_what_the_programs_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/exit-codes.md")).unwrap();
    let rows =
        page.lines().filter(|line| line.starts_with("| `") || line.starts_with("| command "));
    let rows: Vec<Vec<&str>> =
        rows.map(|line| line.trim_matches(['|', ' ']).split(" | ").collect()).collect();
    let (heads, rows) = rows.split_first().unwrap();
    assert_eq!((rows.len(), heads.len()), (7, 8), "{heads:?}");
    let tests = sources(&root.join("crates"));
    let mut cells: BTreeMap<(&str, &str), i32> = BTreeMap::new();
    for row in rows {
        let command = row[0].trim_matches('`');
        for (met, code) in heads.iter().zip(row).skip(1).filter(|(_, code)| **code != "–") {
            let elsewhere = ELSEWHERE.iter().find(|(of, what, _)| (of, what) == (&command, met));
            match elsewhere {
                Some((.., test)) => assert!(tests.contains(&format!("fn {test}(")), "{test}"),
                None => drop(cells.insert((command, met), code.parse().unwrap())),
            }
        }
    }
    for ((command, met), code) in &cells {
        let compared = cells.get(&("compare", *met)).copied();
        // A busy machine may keep dyno waiting, so that a figure is invalid.
        in_one_of_five(|| walk(command, met, *code, compared));
    }
}

/// A command that ends before it has a result says so in each file: no file of an earlier run is taken for its own.
#[test]
fn an_end_without_a_result_is_told_whole_in_every_file() {
    let rig = Rig::new();
    let sides = ["race", "{url}/hello", "{url}/user/x", "--no-ceiling"];
    let missing = ["/no/such/file.json", "/no/such/other.json"];
    for (words, code, answer) in [
        (&["load", "{url}/hello", "--load-cpus", "9999"][..], 2, "refused"),
        (&["hold", "{url}/hello", "--load-cpus", "9999"], 2, "refused"),
        (&["race", "{url}/hello", "no-such-program"], 2, "refused"),
        (&["race", "{url}/hello", "false", "--ready", "1s"], 1, "failed"),
        (&[&sides[..], &["--same"]].concat(), 1, "failed"),
        (&["run", "no-such-experiment"], 2, "refused"),
        (&["capacity", "false", "--p99", "9ms", "--ready", "1s"], 2, "refused"),
        (&[&["compare"], &missing[..]].concat(), 2, "refused"),
        (&["audit", missing[0]], 2, "refused"),
        (&["trend", missing[0]], 2, "refused"),
        (&["report", "--store", missing[0]], 2, "refused"),
        (&["check", "no-such-subject"], 2, "refused"),
    ] {
        let documents = Documents::new();
        let ran = documents.ran(&rig, words).status(code);
        let json = documents.all(&ran);
        fits("early_end", &json);
        assert_eq!(json["answer"], answer, "{ran}");
        assert!(json["command"].as_str().unwrap().contains(words[0]), "{json:#}");
    }
}

/// The text of all tests and of what they test.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let texts = entries.map(|entry| match entry.path() {
        path if path.is_dir() => sources(&path),
        path if path.extension().is_some_and(|it| it == "rs") => fs::read_to_string(path).unwrap(),
        _ => String::new(),
    });
    texts.collect()
}
