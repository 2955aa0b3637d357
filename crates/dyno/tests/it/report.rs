//! `dyno report` computes a kept run's figures again.

#[path = "../../../report/src/run/fixture.rs"]
pub(crate) mod fixture;

use std::ops::Deref;
use std::path::PathBuf;

use lab::experiment::Point;
use lab::record::{RunRecord, TrialKey, TrialRecord};
use store::{RunEnd, Store};

use crate::folder::Folder;
use crate::lab_rig::{Lab, SHORT};
use crate::rig::{Ran, Rig};
use crate::schema::fits;

/// A folder with a store that has one run.
pub(crate) struct Kept {
    folder: Folder,
}

impl Kept {
    pub(crate) fn new() -> Kept {
        Kept::of(&fixture::run(), fixture::trials())
    }

    pub(crate) fn of(run: &RunRecord, trials: impl IntoIterator<Item = TrialRecord>) -> Kept {
        let kept = Kept { folder: Folder::new() };
        let mut store = Store::open(&kept.root.join("runs.sqlite")).unwrap();
        let run = store.begin(run).unwrap();
        for trial in trials {
            store.keep(run, &trial).unwrap();
        }
        store.end(run, 1_795_267_690_000, RunEnd::Done).unwrap();
        kept
    }

    /// What `dyno report` says of it with these flags.
    fn report(&self, flags: &[&str]) -> Ran {
        Rig::new().dyno(&[&["report", "--store", &self.path("runs.sqlite")], flags].concat())
    }
}

impl Deref for Kept {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

/// Each of them would take 1.2 MB if all its histograms were unfolded at once.
#[test]
fn a_report_of_500_trials_takes_little_memory() {
    const TRIALS: u32 = 500;
    let (mut run, model) = (fixture::run(), fixture::trials().remove(0));
    let key = |number: u32| TrialKey {
        number,
        subject: ["quick", "evil"][number as usize % 2].into(),
        point: Point::Sessions(f64::from(1 + number / 2 % 10) * 100.0),
        repeat: number / 20,
        ..model.key.clone()
    };
    run.plan = (0..TRIALS).map(key).collect();
    let trial = |key: &TrialKey| {
        let mut trial = TrialRecord { key: key.clone(), ..model.clone() };
        fixture::deepen(&mut trial, 30);
        trial
    };
    let kept = Kept::of(&run, run.plan.clone().iter().map(trial));
    let store = kept.path("runs.sqlite");
    let [page, json] = ["html", "json"].map(|format| format!("{format}:{}", kept.path(format)));
    let flags = ["report", "--store", &store, "-o", &page, "-o", &json];
    Rig::new().memory_kib(256 << 10).dyno(&flags).status(0);
}

#[test]
fn text_is_printed_and_each_file_is_written_in_the_format_of_its_ending() {
    let kept = Kept::new();
    let ran = kept.report(&["1"]).status(0);
    assert!(ran.stdout.contains("Which of two answers") && !ran.stdout.contains('\u{1b}'));
    let named = format!("json:{}", kept.path("named"));
    let files = ["-o", &kept.path("out.csv"), "-o", &named];
    assert_eq!(kept.report(&files).status(0).stdout, ran.stdout);
    assert_eq!(kept.read("out.csv").lines().count(), 9);
    fits("run", &kept.json("named"));
    let says = "its ending names the format, one of .txt, .md,";
    kept.report(&["-o", &kept.path("unnamed")]).status(2).stderr_has(says);
    kept.report(&["-o", "json:-"]).status(2).stderr_has("`-` is not a file");
}

/// The last path that a run has printed.
fn page_of(shown: &str) -> PathBuf {
    let page = shown.lines().find_map(|line| line.strip_prefix("page: "));
    PathBuf::from(page.unwrap_or_else(|| panic!("no page in {shown}")))
}

#[test]
fn a_run_leaves_its_page_beside_its_store_and_says_where() {
    let lab = Lab::one(SHORT, "");
    let page = page_of(&lab.dyno(&["run", "x"]).measured().stdout);
    assert_eq!(page, PathBuf::from(".dyno/reports/1-x.html"));
    let written = lab.read(page.to_str().unwrap());
    let again = lab.dyno(&["report", "1", "--format", "html"]).status(0).stdout;
    assert!(written == again, "the page is the one that `dyno report` makes");
    let elsewhere = lab.dyno(&["run", "x", "--json", "--store", "other.sqlite"]).measured();
    elsewhere.json();
    assert_eq!(page_of(&elsewhere.stderr), PathBuf::from("other.sqlite.reports/1-x.html"));
    assert!(lab.has("other.sqlite.reports/1-x.html"));
}

#[test]
fn an_interrupted_run_leaves_its_page_too() {
    let long = "open = { rate = 50 }, duration = '600s'";
    let rest = "[trials]\nrepeat = 2\npause = '0s'";
    let lab = Lab::one(long, rest);
    let mut going = lab.start(&["run", "x"]);
    going.says("order (seed");
    going.signal(rustix::process::Signal::INT);
    let ran = going.end().status(130).stderr_has("dyno run --resume 1");
    assert!(lab.root.join(page_of(&ran.stdout)).is_file());
}

#[test]
fn a_page_that_cannot_be_written_is_reported_and_changes_no_answer() {
    let lab = Lab::one(SHORT, "");
    let lab = lab.file(".dyno/reports", "not a folder");
    let ran = lab.dyno(&["run", "x"]).measured().stdout_lacks("page: ");
    ran.stderr_has("no page was written: ").stderr_has("`dyno report 1 -o FILE.html`");
}

#[test]
fn what_is_not_there_is_refused_with_the_way_out() {
    let kept = Kept::new();
    let (store, none) = (kept.path("runs.sqlite"), kept.path("none.sqlite"));
    let lists = format!("has no run 9; `dyno runs list --store {store}` shows those it has");
    for (flags, says) in [
        (["report", "9", "--store", &store], &lists[..]),
        (["report", "x", "--store", &store], "`--store FILE` those of"),
        (
            ["report", "1", "--store", &none],
            "`dyno race` and `dyno load --keep` keep one, with `--store ",
        ),
    ] {
        let ran = Rig::new().dyno(&flags).status(2);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    let listed = Rig::new().dyno(&["runs", "list", "--store", &store]).status(0).stdout;
    assert!(listed.starts_with("Runs\nrun  name  began"), "only the runs matter: {listed}");
    Rig::new()
        .dyno(&["runs", "list", "nowhere", "--store", &store])
        .status(0)
        .stderr_has("no run has all of these words");
    Rig::new()
        .dyno(&["runs", "list", "--store", &none])
        .status(2)
        .stderr_has("no run has been kept here");
    kept.write("notes", "a page of notes\n".repeat(99));
    Rig::new()
        .dyno(&["runs", "list", "--store", &kept.path("notes")])
        .status(2)
        .stderr_has("not a store of dyno's");
    assert!(!kept.has("none.sqlite"), "asking makes no store");
}

#[test]
fn the_flame_graph_of_a_server_and_how_two_of_them_differ_are_files() {
    let mut run = fixture::run();
    fixture::sample(&mut run);
    let kept = Kept::of(&run, fixture::trials());
    let (store, folder) = (kept.path("runs.sqlite"), kept.path(""));
    let report = |flags: &[&str]| kept.report(flags);
    // A folder that is called one is made.
    report(&["-o", &format!("svg:{folder}/flames/")]).status(0);
    let file = |name: &str| kept.read(&format!("flames/{name}"));
    report(&["-o", &format!("svg:{store}/")]).status(2).stderr_has("--output");
    let evil = file("run-1-echo-xml-100-flame-2-evil.svg");
    let difference = file("run-1-echo-xml-100-flame-2-evil-against-1-quick.svg");
    assert!(evil.starts_with("<svg") && !evil.contains("<script"), "{evil}");
    assert!(difference.contains(" against "), "{difference}");
}

#[test]
fn a_chart_is_of_a_workload_and_in_the_colours_that_were_asked_for() {
    let kept = Kept::new();
    let report = |flags: &[&str]| kept.report(&[&["--format", "svg"], flags].concat());
    let auto = report(&["--workload", "echo-xml"]).status(0).stdout;
    let dark = report(&["--theme", "dark"]).status(0).stdout;
    assert!(auto.contains("prefers-color-scheme:dark") && !dark.contains("prefers-color-scheme"));
    let paper = |chart: &str| chart.split("--paper:").nth(1).unwrap()[..4].to_string();
    assert_ne!(paper(&dark), paper(&report(&["--theme", "light"]).status(0).stdout));
    report(&["-o", &format!("svg:{}", kept.path(""))]).status(0);
    assert_eq!(kept.read("run-1-echo-xml.svg"), auto);
    let ran = report(&["--workload", "nothing"]).status(2);
    assert!(ran.stderr.contains("this run has echo-xml"), "{}", ran.stderr);
    let ran = kept.report(&["--theme", "dark"]).status(2);
    assert!(ran.stderr.contains("--theme is for charts; add `-o FILE.svg`"), "{}", ran.stderr);
}
