//! `dyno runs rm`, `prune`, `export` and `import`: what happens to kept runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use lab::record::RunRecord;
use rustix::process::Signal;
use store::{RunSummary, Store};

use crate::folder::Folder;
use crate::lab_rig::{Lab, SHORT};

/// A project with so many runs of one trial each.
fn lab(runs: usize) -> Lab {
    let lab = Lab::one(SHORT, "");
    for _ in 0..runs {
        lab.dyno(&["run", "x"]).measured();
    }
    lab
}

fn runs(lab: &Lab) -> Vec<String> {
    lab.store().runs().unwrap().into_iter().map(|run| run.id.to_string()).collect()
}

fn page(lab: &Lab, run: u32) -> PathBuf {
    lab.root.join(format!(".dyno/reports/{run}-x.html"))
}

fn summary(path: &Path) -> RunSummary {
    Store::open_to_read(path).unwrap().runs().unwrap().remove(0)
}

#[test]
fn runs_are_deleted_by_their_number_or_by_a_rule_with_their_pages_and_the_others_stay() {
    let lab = lab(4);
    for (arguments, says) in [
        (&["rm", "1", "9"][..], "has no run 9; `dyno runs list --store "),
        (&["rm", "x"], "`x` is not a run; runs are numbered 1, 2, 3"),
        (&["rm"], "<RUN>"),
        (&["rm", "1", "--store", "none.sqlite"], "no run has been kept here"),
        (&["prune"], "say which runs to delete: --keep-newest N, --older-than 30d"),
    ] {
        lab.dyno(&[&["runs"], arguments].concat()).status(2).stderr_has(says);
    }
    assert!(page(&lab, 2).is_file() && !lab.has("none.sqlite"));
    lab.dyno(&["runs", "rm", "2", "--dry-run"])
        .status(0)
        .stdout_has("would delete run 2: x, begun 20")
        .stdout_has("UTC, 1 trial, and its page");
    lab.dyno(&["runs", "prune", "--older-than", "30d"]).status(0).stdout_has("nothing to delete");
    lab.dyno(&["runs", "prune", "--keep-newest", "3", "--dry-run"])
        .status(0)
        .stdout_has("would delete run 1: x");
    assert_eq!(runs(&lab), ["1", "2", "3", "4"]);
    let said = lab.dyno(&["runs", "rm", "2", "1", "2"]).status(0);
    let said = said
        .stdout_has("deleted run 2: x, begun 20")
        .stdout_has("1 trial, and its page .dyno/reports/2-x.html\n");
    assert_eq!(said.stdout.lines().count(), 2);
    assert_eq!(runs(&lab), ["3", "4"]);
    assert!(!page(&lab, 1).exists() && !page(&lab, 2).exists() && page(&lab, 3).is_file());
    lab.dyno(&["runs", "prune", "--keep-newest", "1"]).status(0).stdout_has("deleted run 3: x");
    assert_eq!(runs(&lab), ["4"]);
    lab.dyno(&["report", "4"]).status(0);
    lab.dyno(&["report", "2"]).status(2).stderr_has("has no run 2");
}

/// What `dyno runs` prints where it may have 180 files open; `$S` is the store.
fn with_few_files(arguments: &str, store: &str) -> [String; 2] {
    let line = format!("ulimit -n 180; exec '{}' runs {arguments}", env!("CARGO_BIN_EXE_dyno"));
    let done = Command::new("sh").args(["-c", &line]).env("S", store).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{arguments}: {done:?}");
    [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn more_runs_than_a_process_may_open_files_are_deleted_and_a_screen_has_the_newest() {
    let folder = Folder::new();
    let path = folder.path("s.sqlite");
    let mut store = Store::open(Path::new(&path)).unwrap();
    for number in 1..=302 {
        let name = if number == 1 { "oldest" } else { "x" };
        store.begin(&RunRecord { name: name.into(), ..RunRecord::default() }).unwrap();
    }
    drop(store);
    let dyno = |arguments: &str| with_few_files(arguments, &path);
    let [newest, says] = dyno("list --store $S");
    assert!(says.contains("the newest 300 runs are listed; `dyno runs list WORD`"), "{says}");
    assert!(!newest.contains("oldest") && newest.contains("\n302 "), "{newest}");
    assert!(dyno("list OLD --store $S")[0].contains("\n1  "));
    for all in ["list --all --store $S", "list --json --store $S"] {
        let [listed, says] = dyno(all);
        assert!(listed.contains("oldest") && says.is_empty(), "{all}: {says}");
    }
    let [deleted, says] = dyno("prune --keep-newest 1 --store $S");
    assert_eq!((deleted.lines().count(), says.as_str()), (300, ""));
    assert!(dyno("list --store $S")[0].contains("\n302  x"));
    assert_eq!(std::fs::read_dir(&folder.root).unwrap().count(), 1, "no lock is left");
}

#[test]
fn a_run_that_another_dyno_works_on_is_not_deleted() {
    let lab = lab(1).experiment("long", &["a"], "open = { rate = 50 }, duration = '60s'", "");
    let mut going = lab.start(&["run", "long"]);
    going.says("order ");
    let holder =
        format!("another dyno (process {}) is working on run 2", going.pid().as_raw_nonzero());
    let _ = lab.dyno(&["runs", "rm", "1", "2"]).status(2).stderr_has(&holder);
    let _ = lab
        .dyno(&["runs", "prune", "--unfinished"])
        .status(0)
        .stderr_has(&holder)
        .stdout_has("nothing to delete");
    assert_eq!(runs(&lab), ["1", "2"]);
    // A finished run is deleted beside it.
    lab.dyno(&["runs", "rm", "1"]).status(0);
    going.signal(Signal::INT);
    going.end().status(130);
    let said = lab.dyno(&["runs", "prune", "--unfinished"]).status(0);
    let _ = said.stdout_has("deleted run 2: long, begun ").stdout_has("0 trials, unfinished");
    assert_eq!(runs(&lab), [""; 0]);
}

#[test]
fn commands_that_are_suggested_find_a_store_of_another_place() {
    let lab = lab(1);
    let store = ["--store", "my runs.sqlite"];
    let option = "--store 'my runs.sqlite'`";
    let ran = lab.dyno(&[&["run", "x"], &store[..]].concat()).measured();
    let _ = ran.stderr_has(&format!("`dyno run --resume {option} continues it"));
    let ran = lab.dyno(&[&["report"], &store[..]].concat()).status(0);
    assert!(
        ran.has_sentence(&format!("more: `dyno report 1 --full {option} has all of it")),
        "{ran}"
    );
    assert!(ran.has_sentence(&format!("to repeat: `dyno run x {option}")), "{ran}");
    lab.dyno(&["report"]).status(0).stdout_lacks("--store");
    let ran = lab.dyno(&[&["runs", "rm", "9"], &store[..]].concat()).status(2);
    let _ = ran.stderr_has(&format!("has no run 9; `dyno runs list {option} shows those it has"));
    let ran = lab.dyno(&["report", "--store", "none.sqlite"]).status(2);
    let _ = ran
        .stderr_has(
            "none.sqlite: no run has been kept here; `dyno run EXPERIMENT`, `dyno race` and",
        )
        .stderr_has("`dyno load --keep` keep one, with `--store none.sqlite`");
}

#[test]
fn an_exported_run_is_imported_elsewhere_and_reports_the_same() {
    let (from, to) = (lab(2), lab(1));
    let said = from.dyno(&["runs", "export", "2", "-o", "two.dyno"]).status(0);
    let _ = said.stdout_has("two.dyno: run 2: x, begun ");
    let file = from.root.join("two.dyno");
    assert_eq!(summary(&file).id.to_string(), "2");
    let file = file.display().to_string();
    let said = to.dyno(&["runs", "import", &file]).status(0);
    let _ = said
        .stdout_has("run 2: x, begun ")
        .stdout_has("(run 2 of ")
        .stdout_has("`dyno report 2` shows it");
    let csv = |lab: &Lab| lab.dyno(&["report", "2", "--format", "csv"]).status(0).stdout;
    assert_eq!(csv(&from), csv(&to));
    // Once more is noticed; and of what was deleted, the number is free again.
    let said = to.dyno(&["runs", "import", &file]).status(0);
    let _ = said.stdout_has("is here already, as run 2: nothing was changed");
    assert_eq!(runs(&to), ["1", "2"]);
    let said = to.dyno(&["runs", "import", &file, "--store", "new.sqlite"]).status(0);
    let _ = said.stdout_has("run 1: x, begun ").stdout_has("(run 2 of ");
    // The file is a store, and all runs of a store can be imported.
    from.dyno(&["report", "--store", &file]).status(0);
    let store = from.root.join(".dyno/runs.sqlite").display().to_string();
    let said = to.dyno(&["runs", "import", &store]).status(0);
    let _ = said
        .stdout_has("run 3: x, begun ")
        .stdout_has("run 2 of")
        .stdout_has("here already, as run 2");
}

#[test]
fn what_is_damaged_foreign_or_there_already_is_refused_by_name() {
    let lab = lab(1);
    lab.write("note.txt", "not a store at all, but long enough to be looked at by SQLite, which wants a hundred bytes");
    for (arguments, says) in [
        (&["runs", "import", "note.txt"][..], "note.txt: is not a store of dyno's"),
        (&["runs", "import", "none.dyno"], "none.dyno: there is no such file"),
        (
            &["runs", "import", ".dyno"],
            ".dyno: this is a folder; name a file that `dyno runs export` wrote",
        ),
        (&["runs", "export", "1", "-o", "note.txt"], "--output note.txt: it is there already"),
        (&["runs", "export", "1", "-o", "none/x"], "--output none/x: there is no such directory"),
        (&["runs", "export", "9", "-o", "x.dyno"], "has no run 9"),
        (&["runs", "export", "1"], "--output <FILE>"),
    ] {
        let _ = lab.dyno(arguments).status(2).stderr_has(says);
    }
    lab.dyno(&["runs", "export", "1", "-o", "one.dyno"]).status(0);
    let file = lab.root.join("one.dyno");
    let change = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                  c.execute('UPDATE trial SET exit = \"well\"'); c.commit(); c.close()";
    let done = std::process::Command::new("python3").args(["-c", change]).arg(&file).status();
    assert!(done.unwrap().success());
    lab.dyno(&["runs", "rm", "1"]).status(0);
    let damaged = "one.dyno: is damaged (run 1: trial 0: its rows are not those that were sealed)";
    lab.dyno(&["runs", "import", "one.dyno"]).status(2).stderr_has(damaged);
    assert_eq!(runs(&lab), [""; 0]);
    lab.dyno(&["runs", "import", "one.dyno", "--store", "new.sqlite"]).status(2);
    assert!(!lab.has("new.sqlite") && !lab.has("new.sqlite-wal"), "no empty store is left behind");
    assert!(lab.names("").iter().all(|name| !name.contains(".part")));
}
