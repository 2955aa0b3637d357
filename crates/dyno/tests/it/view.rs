//! `dyno view` shows a store to a browser on this machine, and to no other program.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rusqlite::Connection;
use rustix::process::{Signal, kill_process};
use store::{RunEnd, Store};

use crate::folder::Folder;
use crate::report::fixture;
use crate::rig::{Rig, pid};

const HOSTILE: &str = "\"><script>alert(1)</script>'\u{1b}[31m";

/// A folder with a store that has runs.
struct Shelf {
    folder: Folder,
}

/// A `dyno view` under way.
pub(crate) struct Viewing {
    child: Child,
    address: String,
}

/// A response.
pub(crate) struct Got {
    head: String,
    pub(crate) body: String,
}

impl Shelf {
    fn new() -> Shelf {
        let shelf = Shelf { folder: Folder::new() };
        drop(Store::open(&shelf.store()).unwrap());
        shelf
    }

    fn store(&self) -> PathBuf {
        self.folder.root.join("runs.sqlite")
    }

    /// A run with this name and this many kept trials.
    fn run(self, name: &str, trials: usize, end: Option<RunEnd>) -> Shelf {
        let mut store = Store::open(&self.store()).unwrap();
        let record = lab::record::RunRecord { name: name.into(), ..fixture::run() };
        let run = store.begin(&record).unwrap();
        for trial in fixture::trials().iter().take(trials) {
            store.keep(run, trial).unwrap();
        }
        if let Some(end) = end {
            store.end(run, 1_795_267_690_000, end).unwrap();
        }
        drop(store);
        self
    }

    /// Changes the store without dyno's knowledge.
    fn sql(self, sql: &str) -> Shelf {
        Connection::open(self.store()).unwrap().execute_batch(sql).unwrap();
        self
    }

    fn view(&self) -> Viewing {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.arg("view").arg("--store").arg(self.store());
        Viewing::start(command)
    }
}

impl Viewing {
    pub(crate) fn start(mut command: Command) -> Viewing {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/');
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Viewing { address: address.into(), child }
    }

    pub(crate) fn get(&self, target: &str) -> Got {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Got { head: head.into(), body: body.into() }
    }

    /// Ends it; its exit code.
    pub(crate) fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(pid(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Viewing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Got {
    #[track_caller]
    fn status(self, status: u16) -> Got {
        assert!(
            self.head.starts_with(&format!("HTTP/1.1 {status} ")),
            "{}\n{}",
            self.head,
            self.body
        );
        self
    }

    #[track_caller]
    fn has(self, text: &str) -> Got {
        assert!(self.body.contains(text), "no {text} in {}", self.body);
        self
    }

    #[track_caller]
    fn lacks(self, text: &str) -> Got {
        assert!(!self.body.contains(text), "{text} in {}", self.body);
        self
    }
}

fn place(body: &str, text: &str) -> usize {
    body.find(text).unwrap_or_else(|| panic!("no {text} in {body}"))
}

#[test]
fn the_index_has_the_newest_first_and_finds() {
    let shelf = Shelf::new().run("first", 8, Some(RunEnd::Done));
    let shelf = shelf.run("second", 3, Some(RunEnd::Interrupted)).run("third", 2, None);
    let view = shelf.view();
    let index = view.get("/").status(200);
    let places = ["/run/3\"", "/run/2\"", "/run/1\""].map(|link| place(&index.body, link));
    assert!(places.is_sorted(), "{}", index.body);
    index
        .has("8 of 8")
        .has("3 of 8 <span class=\"doubtful\">interrupted")
        .has("2 of 8 <span class=\"doubtful\">in progress, or killed");
    view.get("/?q=SECOND").has("/run/2\"").lacks("/run/1\"").lacks("/run/3\"");
    view.get("/?q=quick+third").has("/run/3\"").lacks("/run/2\"");
    view.get("/?q=zebra").has("No run has all of these words").lacks("/run/");
    view.get("/?q=%22%3E%3Cscript%3E").has("value=\"&quot;&gt;&lt;script&gt;\"").lacks("<script");
}

#[test]
fn a_run_is_had_in_every_shape_as_dyno_report_tells_it() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done));
    let (view, store) = (shelf.view(), shelf.store().display().to_string());
    for (ending, format, kind) in [
        ("", "html", "text/html; charset=utf-8"),
        (".md", "md", "text/markdown; charset=utf-8"),
        (".csv", "csv", "text/csv; charset=utf-8"),
        (".json", "json", "application/json"),
        (".svg", "svg", "image/svg+xml"),
    ] {
        let got = view.get(&format!("/run/1{ending}")).status(200);
        assert!(got.head.contains(&format!("Content-Type: {kind}\r\n")), "{}", got.head);
        let is_saved = got.head.contains(&format!("attachment; filename=\"run-1{ending}\""));
        assert_eq!(is_saved, !ending.is_empty(), "{}", got.head);
        let shown =
            Rig::new().dyno(&["report", "1", "--store", &store, "--format", format]).status(0);
        assert!(got.body == shown.stdout, "{format} is another one");
    }
    view.get("/run/1.svg?workload=echo-xml").status(200).has("<svg");
    view.get("/run/1.svg?workload=zebra").status(404);
    let page = view.get("/run/1");
    let policy = page.head.lines().find_map(|line| line.strip_prefix("Content-Security-Policy: "));
    let policy = policy.unwrap().strip_suffix("; frame-ancestors 'none'").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(page.body.contains(&format!("content=\"{policy}\"")), "the page's own policy");
}

#[test]
fn what_is_not_there_is_reported_and_what_was_asked_is_not_obeyed() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done));
    let view = shelf.view();
    for target in [
        "/run/9",
        "/run/0",
        "/run/",
        "/run/1.exe",
        "/run/-1",
        "/run/99999999999999999999",
        "/etc/passwd",
        "/run/../runs.sqlite",
        "//evil.example/",
    ] {
        view.get(target).status(404).lacks("<script");
    }
    let got = view.get("/run/%22%3E%3Cscript%3Ealert(1)%3C/script%3E").status(404);
    got.has("&quot;&gt;&lt;script&gt;").lacks("<script");
}

#[test]
fn two_runs_and_two_subjects_are_compared() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done));
    let shelf = shelf.run("two", 8, Some(RunEnd::Done)).run("other", 8, Some(RunEnd::Done));
    let view = shelf.view();
    let runs = view.get("/compare?a=1&b=2").status(200).has("echo-xml");
    runs.has("the tolerance, 5 %")
        .has("alike, or worse by less than 5 %")
        .has("not judged: in doubt")
        .has("href=\"/run/2\"")
        .lacks("\u{1b}");
    view.get("/compare?a=1%3Aquick&b=1%3Aevil").status(200).has("Quick, two, run 1");
    view.get("/compare?a=1&b=3").status(404).has("their rows do not match");
    view.get("/compare?a=1&b=1").status(404).has("the same");
    view.get("/compare?a=1&b=1:quick").status(404).has("one names a server");
    view.get("/compare?a=9&b=1").status(404);
    view.get("/compare?a=1").status(200).has("Name two runs");
    let odd = view.get("/compare?a=%3Cscript%3E&b=1").status(404);
    odd.lacks("<script").has("value=\"&lt;script&gt;\"");
}

#[test]
fn a_trial_of_which_no_figure_can_be_computed_is_as_good_as_damaged() {
    let shelf = Shelf::new().run("x", 0, None);
    let mut store = Store::open(&shelf.store()).unwrap();
    let run = store.ids().unwrap()[0];
    let mut trials = fixture::trials();
    trials[0].loaded.as_mut().unwrap().recording.total.correct = u64::MAX;
    trials.iter().take(8).for_each(|trial| store.keep(run, trial).unwrap());
    let page = shelf.view().get("/run/1").status(200);
    page.has("is damaged, and in no figure: counts: 18446744073709551615 is too many");
}

#[test]
fn a_run_with_the_number_of_a_deleted_one_is_shown_and_not_that_one() {
    let shelf = Shelf::new().run("x", 8, Some(RunEnd::Done));
    let view = shelf.view();
    let before = view.get("/").status(200).body;
    let mut store = Store::open(&shelf.store()).unwrap();
    let deleted = store.ids().unwrap();
    store.remove(&deleted).unwrap();
    let began_unix_ms = 1_795_267_700_000;
    let run = lab::record::RunRecord { name: "x".into(), began_unix_ms, ..fixture::run() };
    let run = store.begin(&run).unwrap();
    for trial in fixture::trials().into_iter().take(8) {
        store.keep(run, &lab::record::TrialRecord { loaded: None, ..trial }).unwrap();
    }
    store.end(run, began_unix_ms, RunEnd::Done).unwrap();
    let now = view.get("/").status(200).body;
    assert!(deleted == [run] && now != before);
    assert_eq!(now, shelf.view().get("/").body);
}

#[test]
fn the_runs_of_an_experiment_are_followed_and_others_are_not() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done));
    let shelf = shelf.run("two", 8, Some(RunEnd::Done)).run("other", 8, Some(RunEnd::Done));
    let shelf = shelf.run("two", 0, None);
    let view = shelf.view();
    view.get("/").has("href=\"/trend/2\">trend</a>").lacks("/trend/3\"");
    for run in ["1", "2", "4"] {
        let trend = view.get(&format!("/trend/{run}")).status(200);
        trend
            .has("From run to run: two")
            .has("two, echo-xml: quick at 100 sessions/s, p99")
            .has("href=\"/run/1\"")
            .has("href=\"/run/2\"")
            .lacks("href=\"/run/3\"")
            .lacks("\u{1b}");
    }
    view.get("/trend/3").status(200).has("From run to run: other");
    for target in ["/trend/9", "/trend/", "/trend/x", "/trend/1.csv", "/trend/-1"] {
        view.get(target).status(404);
    }
}

#[test]
fn the_index_says_when_where_and_what_came_of_it() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done));
    let (view, store) = (shelf.view(), shelf.store().display().to_string());
    let index = view.get("/").status(200);
    let index = index.has("<time datetime=\"2026-11-21T13:28Z\">").has("2026-11-21 13:28 UTC");
    let index = index.has("A CPU").has("Linux 6.18, dyno 0.1.0").has("class=\"verdict ");
    // The answer is the report's own.
    let shown = Rig::new().dyno(&["report", "1", "--store", &store, "--format", "md"]).status(0);
    let answer = "Quick holds every rate up to 2,000 requests/s";
    assert!(shown.stdout.contains(answer), "{shown}");
    index
        .has(answer)
        .has("<script src=\"/local-time.js\"></script>")
        .has("`dyno runs rm RUN` deletes");
    let script = view.get("/local-time.js").status(200).has("getTimezoneOffset");
    assert!(script.head.contains("Content-Type: text/javascript"), "{}", script.head);
}

#[test]
fn damage_is_shown_and_hides_nothing_else() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done)).run("two", 8, None);
    let shelf = shelf.sql("UPDATE trial SET exit = 'x' WHERE run = 1 AND trial = 3; UPDATE run SET name = 'forged' WHERE run = 2;");
    let view = shelf.view();
    view.get("/").status(200).has("/run/1\"").has("damaged: ").lacks("forged").lacks("/run/2\"");
    view.get("/run/1").status(200).has("trial 3").has("not those that were sealed");
    view.get("/trend/1").status(200).has("run 1: trial 3").has("is damaged, and in no figure");
    view.get("/run/2").status(500).has("not those that were sealed");
}

#[test]
fn what_a_run_was_called_is_shown_and_not_obeyed() {
    let shelf = Shelf::new().run(HOSTILE, 8, Some(RunEnd::Done));
    let view = shelf.view();
    for target in ["/", "/run/1", "/trend/1", "/compare?a=1:quick&b=1:evil"] {
        let got = view.get(target).status(200).lacks("<script>alert").lacks("\u{1b}");
        got.has("&lt;script&gt;");
    }
}

#[test]
fn a_run_under_way_shows_what_is_kept_so_far() {
    let shelf = Shelf::new().run("two", 1, None);
    let view = shelf.view();
    view.get("/run/1").status(200).has("1 of 8 trials");
    let mut store = Store::open(&shelf.store()).unwrap();
    store.keep("1".parse().unwrap(), &fixture::trials()[1]).unwrap();
    view.get("/run/1").status(200).has("2 of 8 trials");
    view.get("/").has("2 of 8");
}

#[test]
fn it_writes_nothing_and_ctrl_c_ends_it() {
    let shelf = Shelf::new().run("two", 8, Some(RunEnd::Done));
    let before = fs::read(shelf.store()).unwrap();
    let view = shelf.view();
    view.get("/run/1").status(200);
    assert_eq!(view.end(Signal::INT), Some(0));
    assert!(fs::read(shelf.store()).unwrap() == before, "the store is as it was");
}

#[test]
fn a_store_that_cannot_be_read_is_refused_at_once() {
    let none = Path::new("/nonexistent/none.sqlite").display().to_string();
    Rig::new().dyno(&["view", "--store", &none]).status(2).stderr_has("`dyno run EXPERIMENT`");
}
