//! `dyno report` makes a kept run's figures again.

#[path = "../../src/board/fixture.rs"]
mod fixture;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use store::{RunEnd, Store};

use crate::rig::Rig;
use crate::schema::violations;

const SCHEMA: &str = include_str!("../../../../docs/run.schema.json");
const PAGE: &str = include_str!("../../../../docs/run-json.md");

/// A store with one run, in a folder that is removed in the end.
struct Kept {
    folder: PathBuf,
}

impl Kept {
    fn new(name: &str) -> Kept {
        let folder =
            std::env::temp_dir().join(format!("dyno-report-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let kept = Kept { folder };
        let mut store = Store::open(&kept.folder.join("runs.sqlite")).unwrap();
        let run = store.begin(&fixture::run()).unwrap();
        for trial in fixture::trials() {
            store.keep(run, &trial).unwrap();
        }
        store.end(run, 1_795_267_690_000, RunEnd::Done).unwrap();
        kept
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn json_is_as_its_schema_says() {
    let kept = Kept::new("json");
    let store = kept.path("runs.sqlite");
    let json = Rig::new().dyno(&["report", "--store", &store, "--format", "json"]).status(0).json();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert_eq!(violations(&schema, &json), Vec::<String>::new());
    assert_eq!(json["run"]["id"], "1");
    let figures = &json["tables"][0]["rows"][0]["figures"];
    assert_eq!(figures["achieved_per_s"]["median"], 1_002.0);
}

#[test]
fn the_page_names_every_field_and_figure() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut names = BTreeSet::new();
    crate::json::collect(&schema, &mut names);
    names.extend(lab::figure::Figure::ALL.map(|figure| figure.name().to_string()));
    let missing: Vec<&String> =
        names.iter().filter(|name| !PAGE.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/run-json.md does not name {missing:?}");
    let stale: Vec<String> = lab::figure::Figure::ALL
        .into_iter()
        .map(|figure| format!("| `{}` | {} |", figure.name(), figure.meaning()))
        .filter(|row| !PAGE.contains(row))
        .collect();
    assert!(stale.is_empty(), "docs/run-json.md lacks {stale:?}");
}

#[test]
fn text_and_csv_go_to_a_file_or_to_standard_output() {
    let kept = Kept::new("files");
    let (store, output) = (kept.path("runs.sqlite"), kept.path("out.csv"));
    let ran = Rig::new().dyno(&["report", "1", "--store", &store]).status(0);
    assert!(ran.stdout.contains("Which of two answers") && !ran.stdout.contains('\u{1b}'));
    let flags = ["report", "--store", &store, "--format", "csv", "-o", &output];
    assert_eq!(Rig::new().dyno(&flags).status(0).stdout, "");
    assert_eq!(fs::read_to_string(&output).unwrap().lines().count(), 9);
}

#[test]
fn what_is_not_there_is_refused_with_the_way_out() {
    let kept = Kept::new("refused");
    let (store, none) = (kept.path("runs.sqlite"), kept.path("none.sqlite"));
    for (flags, says) in [
        (["report", "9", "--store", &store], "dyno list"),
        (["report", "x", "--store", &store], "`dyno list` shows them"),
        (["report", "1", "--store", &none], "`dyno run EXPERIMENT` makes one"),
    ] {
        let ran = Rig::new().dyno(&flags).status(2);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    assert!(!kept.folder.join("none.sqlite").exists(), "asking makes no store");
}
