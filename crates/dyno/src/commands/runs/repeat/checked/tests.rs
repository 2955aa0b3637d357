use std::fs;
use std::os::unix::fs::PermissionsExt;

use lab::record::{Entry, Fact};
use lab::source_file::SourceFile;

use super::*;

const EXPERIMENT: &str = "question = 'Q?'\nsubjects = ['one', 'two']\nworkload = 'hello'\n\
    load = { closed = [8], duration = '2s' }\ntrials = { repeat = 5 }\n";

/// A run of two servers, of which one took part, with one text of its experiment replaced.
fn run(old: &str, new: &str) -> RunRecord {
    assert!(EXPERIMENT.contains(old), "{old}");
    let text = EXPERIMENT.replace(old, new);
    let source = SourceFile { name: "experiments/x.toml".into(), text: text.clone() };
    let entry = |name: &str, skipped: Option<&str>| Entry {
        name: name.into(),
        skipped: skipped.map(String::from),
        ..Entry::default()
    };
    RunRecord {
        name: "x".into(),
        experiment: Some(Experiment::parse("x", source).unwrap()),
        files: vec![("experiments/x.toml".into(), text)],
        entries: vec![entry("one", None), entry("two", Some("needs `cc`"))],
        ..RunRecord::default()
    }
}

fn refused<T>(result: Result<T, Refusal>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn the_servers_that_took_part_are_repeated_with_another_seed() {
    let made = experiment(&run("", ""), 77).unwrap();
    assert_eq!((made.seed, made.subjects), (77, Subjects::Named(vec!["one".into()])));
}

#[test]
fn what_dyno_did_not_start_here_cannot_be_repeated() {
    for name in [LOAD, RACE, CAPACITY, SUBJECT_ON, LOAD_ON, AGENTS] {
        let mut run = run("", "");
        run.facts.push(Fact { name: name.into(), value: "x".into() });
        let says = refused(experiment(&run, 1));
        assert!(says.starts_with("cannot be repeated from this file: it"), "{name}: {says}");
    }
    let none = RunRecord { experiment: None, ..run("", "") };
    assert!(refused(experiment(&none, 1)).contains("no experiment"));
    let mut none = run("", "");
    none.entries.clear();
    assert!(refused(experiment(&none, 1)).contains("no server took part"));
}

#[test]
fn absurd_amounts_are_refused_with_the_bound() {
    for (old, new, says) in [
        (
            "duration = '2s' }\ntrials = { repeat = 5",
            "duration = '60s' }\ntrials = { repeat = 900",
            " seconds in all, and at most 43,200",
        ),
        (
            "duration = '2s'",
            "duration = '16m'",
            "962 seconds of load in a trial, and at most 900 are repeated",
        ),
        ("[8]", "[50001]", "50,001 connections, and at most 50,000"),
        ("'2s'", "'2s', timeout = '10m'", "600 seconds of a pause or a time-out, and at most 300"),
        (
            "closed = [8]",
            "open = { rate = 3e6 }",
            "3,000,000 requests a second, and at most 2,000,000",
        ),
    ] {
        let found = refused(experiment(&run(old, new), 1));
        assert!(found.contains(says), "{new}: {found}");
    }
    let mut many = run("duration = '2s'", "duration = '1ms', warmup = '0s'");
    many.experiment.as_mut().unwrap().repeat = 1_000;
    many.entries.resize(6, many.entries[0].clone());
    assert!(refused(experiment(&many, 1)).contains("6,000 trials, and at most 5,000"));
}

#[test]
fn a_path_stays_in_its_folder_of_a_project() {
    for good in ["subjects/x/subject.toml", "subjects/x/.config/a b.c", "workloads/hello.toml"] {
        assert!(is_inside(good), "{good:?}");
    }
    let long = format!("subjects/{}", "x".repeat(PATH_MAX));
    for bad in [
        "",
        "subjects",
        "subjects/",
        "/subjects/x",
        "subjects/../x",
        "subjects/x/..",
        "subjects/./x",
        "subjects//x",
        ".dyno/builds/x",
        "../subjects/x",
        "subjects/x\n",
        "subjects/x\0y",
        "home/x",
        &long,
    ] {
        assert!(!is_inside(bad), "{bad:?}");
    }
}

/// Why a run is refused whose service may take so long to start, beside a workload that no trial has.
fn refusal(ready_within: &str, other: &str) -> String {
    let mut run = run("workload = 'hello'", "workload = 'w'");
    let ask = "[[ask]]\nrequest = 'GET / HTTP/1.1'\n";
    let service = "title = 's'\nrun = 'a'\nready = 'b'\ngives = {}\nready_within = ";
    for (path, text) in [
        ("workloads/w.toml", format!("title = 'w'\nservice = 's'\n{ask}")),
        ("workloads/other.toml", format!("title = 'o'\n{ask}{other}")),
        ("services/s/service.toml", format!("{service}'{ready_within}'\n")),
        ("subjects/one/subject.toml", "title = 't'\nspeaks = ['w', 'other']\nrun = 'c'\n".into()),
        ("subjects/one/c", "#!/bin/sh\n".into()),
    ] {
        run.files.push((path.into(), text));
    }
    let root = std::env::temp_dir().join(format!("dyno-bounds-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    write(&run, &root).unwrap();
    let around = campaign::project::Project::find().unwrap();
    let project = campaign::project::Project::in_folder(root.clone(), &around);
    let campaign = Campaign::read(project, experiment(&run, 1).unwrap()).unwrap();
    let result = refuse_foreign(&run, &campaign);
    fs::remove_dir_all(&root).unwrap();
    result.err().map(|refusal| refusal.to_string()).unwrap_or_default()
}

#[test]
fn what_a_service_and_a_check_take_is_bounded_too() {
    assert_eq!(refusal("10s", ""), "");
    let says = refusal("6m", "");
    assert!(says.contains("service `s` may take longer than 300 s to start"), "{says}");
    let says = refusal("10s", &format!("#{}\n", "x".repeat(WORKLOAD_MAX)));
    assert!(says.contains("workload `other` is too large"), "{says}");
}

#[test]
fn files_are_written_once_below_their_folder_and_nothing_else_is() {
    let root = std::env::temp_dir().join(format!("dyno-repeat-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir(&root).unwrap();
    let with = |more: &[(&str, &str)]| {
        let mut run = run("", "");
        run.files.extend(more.iter().map(|(path, text)| (path.to_string(), text.to_string())));
        run
    };
    write(&with(&[("subjects/a/b/run.sh", "#!/bin/sh\n"), ("subjects/a/c", "c")]), &root).unwrap();
    let mode = |path: &str| fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("subjects/a/b/run.sh"), mode("subjects/a/c")), (0o755, 0o644));
    assert!(!root.join("experiments").exists());
    for (path, says) in [
        ("subjects/a/c", "File exists"),
        ("subjects/a/c/d", "cannot be repeated from this file: `subjects/a/c/d`: "),
        ("subjects/../../x", "is no path within a project"),
        ("workloads/w.toml", "`workloads/w.toml` sends a secret, which was replaced"),
    ] {
        let text = "send_header = { authorization = \"{secret}\" }";
        let found = refused(write(&with(&[(path, text)]), &root));
        assert!(found.contains(says), "{path}: {found}");
    }
    fs::remove_dir_all(&root).unwrap();
}
