//! `dyno gate`: what is refused, what the sides are, and what is written. How often it is wrong is in docs/gate.md.

use std::fs;
use std::process::Command;

use crate::lab_rig::{Lab, ORACLE};
use crate::rig::{Going, Ran};

/// Pairs that are over soon, and how far they are said to spread, so that none are measured before.
const SHORT: [&str; 8] = ["-c", "2", "-d", "150ms", "--warmup", "50ms", "--noise", "1%"];
pub(crate) const SERVER: &str =
    "DYNO serve --listen 127.0.0.1:{port} --threads 1 --delay constant:2ms";

/// A project with an experiment of one subject.
fn lab() -> Lab {
    Lab::new().oracle("it", "--delay constant:2ms").experiment(
        "gated",
        &["it"],
        crate::lab_rig::SHORT,
        "",
    )
}

pub(crate) fn git(lab: &Lab, arguments: &[&str]) {
    let who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").arg("-C").arg(&lab.root).args(who).args(arguments).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// Commits all that is there, with this tag, which may have been another commit's.
pub(crate) fn commit(lab: &Lab, tag: &str) {
    git(lab, &["add", "."]);
    git(lab, &["commit", "--quiet", "-m", tag]);
    git(lab, &["tag", "--force", tag]);
}

/// Such a project in a repository with one commit, `first`.
pub(crate) fn repository() -> Lab {
    let lab = lab().file(".gitignore", "/cache\n/state\n");
    git(&lab, &["init", "--quiet"]);
    commit(&lab, "first");
    lab
}

#[track_caller]
fn refused(lab: &Lab, arguments: &[&str]) -> Ran {
    lab.dyno(&[&["gate"], arguments].concat()).status(2)
}

#[test]
fn what_names_no_two_sides_is_refused_with_the_way_out() {
    let short = crate::lab_rig::SHORT;
    let lab = lab().oracle("other", "").experiment("two", &["it", "other"], short, "");
    let with = |base: &'static str| ["gated", "--base", base, "--head", "dir:."];
    let sides = with("dir:.");
    for (arguments, says) in [
        (&[][..], "or two commands with --base-cmd and --head-cmd"),
        (&["gated"], "name both: --base"),
        (&with("main"), "write git:REVISION, dir:FOLDER or server:NAME"),
        (&with("git:-x"), "no revision has such a name"),
        (&with("dir:nowhere"), "nowhere"),
        (&with("server:nobody"), "there is no"),
        (&["two", "--base", "dir:.", "--head", "dir:."], "name it with --server (it, other)"),
        (&[&sides[..], &["-H", "a: b"]].concat(), "leave the flags of the request out"),
        (&[&sides[..], &["--alpha", "0.05%"]].concat(), "--alpha"),
        (&[&sides[..], &["--json", "--format", "junit"]].concat(), "cannot be used with"),
        (&["--base-cmd", "no-such-program", "--head-cmd", "sh"], "--base-cmd: there is no program"),
    ] {
        refused(&lab, arguments).stderr_has(says);
    }
}

#[test]
fn a_limit_too_short_for_what_is_to_be_found_ends_the_gate_before_it_begins() {
    let lab = lab();
    let sides = ["gated", "--base", "server:it", "--head", "dir:."];
    let ran = refused(&lab, &[&sides[..], &SHORT, &["--max-time", "3s"]].concat());
    ran.stdout_has("Cannot tell whether the head is 5 % worse").stdout_has("(--max-time)");
    let noisy = ["-d", "300ms", "--noise", "30%"];
    let ran = refused(&lab, &[&sides[..], &noisy].concat());
    ran.stdout_has("no number of pairs can detect");
    assert!(!lab.has(".dyno/reports"), "nothing was measured");
}

#[test]
fn a_revision_is_built_in_a_tree_of_its_own_and_the_working_tree_stays_as_it_is() {
    let lab = repository();
    lab.write("subjects/it/extra", "not committed");
    git(&lab, &["add", "."]);
    let sides = ["gated", "--base", "git:first", "--head", "dir:.", "--show"];
    let ran = lab.dyno(&[&["gate"], &sides[..], &SHORT].concat()).status(0);
    ran.stderr_has("the working tree has changes")
        .stdout_has("6 pairs")
        .stdout_has("detecting 5 %");
    let trees = lab.root.join("cache/dyno/trees");
    let of_top = trees.join(&lab.names("cache/dyno/trees")[0]);
    let names = lab.names(of_top.to_str().unwrap());
    assert_eq!(names.len(), 3, "a tree, that it is whole, and the lock: {names:?}");
    assert!(!of_top.join(&names[0]).join("subjects/it/extra").exists());
    assert!(lab.has("subjects/it/extra"));
    let unknown = ["gated", "--base", "git:nothing", "--head", "dir:."];
    refused(&lab, &unknown).stderr_has("has no such revision");
}

#[test]
fn a_build_that_fails_shows_what_it_wrote() {
    let broken = format!(
        "build = [\"sh -c 'echo first line; echo it is broken; exit 3'\"]\nrun = '{ORACLE}'"
    );
    let lab = lab().subject("broken", &broken);
    let sides = ["gated", "--base", "server:it", "--head", "server:broken"];
    let ran = refused(&lab, &[&sides[..], &SHORT].concat());
    ran.stderr_has("first line")
        .stderr_has("it is broken")
        .stderr_has("could not be built or started");
}

/// On a busy machine nothing may be told; then that is the answer, in all forms.
#[test]
fn a_gate_is_told_to_people_to_pull_requests_and_to_programs_and_no_variable_is_told() {
    let lab = lab();
    let side = format!("env TOKEN=secret {SERVER}");
    let mut command = lab.command(&["gate", "--base-cmd", &side, "--head-cmd", &side]);
    command.args(SHORT).args(["--path", "/hello", "--detect", "40%", "--gate", "throughput,cpu"]);
    command.args(["-o", "g.json", "-o", "g.md", "-o", "g.xml", "-o", "g.bmf"]);
    command.args(["--history", "h.jsonl"]).env("GITHUB_STEP_SUMMARY", lab.root.join("summary"));
    let ran = Going::start(command).end();
    let json = lab.json("g.json");
    crate::schema::fits("gate", &json);
    let answers = [("not_worse", 0), ("worse", 1), ("cannot_tell", 2)];
    let of = answers.iter().find(|(word, _)| json["answer"] == *word).unwrap();
    assert_eq!(ran.code(), Some(of.1), "{ran}");
    let figures = json["figures"].as_array().unwrap();
    let first = figures.iter().find(|figure| figure["is_gated"] == true);
    assert_eq!(first.unwrap()["figure"], "throughput_per_s");
    assert!(json["pairs_counted"].as_u64() <= json["pairs_tried"].as_u64());
    assert_eq!(lab.read("summary"), lab.read("g.md"));
    let bmf = lab.json("g.bmf");
    let metric = &bmf["head ÷ base · 2 connections"]["throughput_per_s_ratio"];
    let throughput = figures.iter().find(|it| it["figure"] == "throughput_per_s").unwrap();
    for (key, own) in
        [("value", "ratio"), ("lower_value", "ratio_low"), ("upper_value", "ratio_high")]
    {
        assert_eq!(metric[key], throughput[own], "{key}: {bmf}");
    }
    // A history is kept in a repository, for all to read.
    ran.stderr_has("history: h.jsonl");
    let text = lab.read("h.jsonl");
    assert!(text.contains("TOKEN=…") && !text.contains("secret"), "{text}");
}

#[test]
fn tls_http2_and_agents_are_as_in_a_load_and_other_header_fields_are_said() {
    let lab = lab();
    let base = format!("{SERVER} --tls --cert {{cert}} --key {{key}}");
    let head = format!("{base} --tell-delay");
    let sides = ["gate", "--base-cmd", &base, "--head-cmd", &head, "--path", "/hello"];
    let usual = ["--detect", "60%", "--gate", "throughput", "--max-time", "20s", "--json"];
    let over = ["--protocol", "h2", "--streams", "2", "--load-on", "local:2"];
    let kept = ["--store", "runs.sqlite"];
    let ran = lab.dyno(&[&sides[..], &SHORT, &usual, &over, &kept].concat());
    let json = ran.json();
    assert!(1 <= json["pairs_tried"].as_u64().unwrap(), "{ran}");
    ran.stderr_has("over h2, 2 streams")
        .stderr_has("failed 0")
        .stderr_has("answer with the same content and different header fields");
    let store = store::Store::open_to_read(&lab.root.join("runs.sqlite")).unwrap();
    let run = store.run(json["runs"][0].as_str().unwrap().parse().unwrap()).unwrap();
    let by = run.facts.iter().find(|fact| fact.name == lab::record::LOAD_ON);
    assert_eq!(by.map(|fact| fact.value.as_str()), Some("local:2"));
}

#[test]
fn flags_without_effect_are_refused() {
    let found = "title = 'x'\nlanguage = 'x'\nhome = ''\nprocesses = 'one'\nspeaks = ['hello']\n\
                 url = 'http://127.0.0.1:1'\n";
    let lab = lab().file("subjects/found/subject.toml", found);
    let commands = ["--base-cmd", "sh", "--head-cmd", "sh"];
    let sides = [&["gated", "--base", "dir:.", "--head", "dir:."][..], &SHORT].concat();
    for (of, flags, says) in [
        (&commands[..], &["--builds", "5"][..], "nothing is built"),
        (&commands, &["--ca", "x"], "(--protocol http/1.1+tls or h2)"),
        (&commands, &["--protocol", "h2"], "write {cert} and {key}"),
        (&commands, &["--aa", "--rounds", "6", "--builds", "5"], "leave --builds out"),
        (&commands, &["--builds", "4"], "from 5 to 20"),
        (&sides, &["--tls-resume", "always"], "--tls-resume is for TLS"),
        (&sides, &["--http2"], "it does not speak h2c"),
        (
            &sides,
            &["--listen-on", "127.0.0.1", "--gate", "throughput", "--detect", "60%"],
            "give --load-on, too",
        ),
        (&sides, &["--history", "."], "--history"),
        (&sides, &["-o", "json:a", "-o", "junit:a"], "--output names the same file"),
        (&sides, &["-o", "json:a", "--history", "a"], "--history names the same file"),
        (&["gated", "--base", "server:found", "--head", "dir:."], &[], "--base: it runs already"),
    ] {
        refused(&lab, &[of, flags].concat()).stderr_has(says);
    }
}

#[test]
fn several_builds_of_each_side_take_turns() {
    let build = "build = [\"sh -c 'echo $DYNO_BUILD_SALT $PWD > where'\"]";
    let lab = lab().subject("it", &format!("{build}\nrun = '{ORACLE}'"));
    let sides = ["gate", "gated", "--base", "server:it", "--head", "dir:.", "--builds", "5"];
    let usual = ["--detect", "60%", "--gate", "throughput", "--max-time", "60s", "--json"];
    let ran = lab.dyno(&[&sides[..], &SHORT, &usual].concat());
    let json = ran.json();
    crate::schema::fits("gate", &json);
    assert_eq!(json["builds"], 5, "{ran}");
    let mut lengths = Vec::new();
    for side in ["base", "head"] {
        let shelf = fs::read_dir(lab.root.join(".dyno/builds").join(side)).unwrap();
        let folders = shelf.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        let built: Vec<String> =
            folders.map(|it| fs::read_to_string(it.join("where")).unwrap()).collect();
        assert_eq!(built.len(), 5, "{built:?}");
        lengths.extend(built.iter().map(String::len));
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert!(5 < lengths.len(), "{lengths:?}");
    // A pair that was disturbed is repeated with its builds, so the pairs that count have them in order.
    let tried = json["pairs_tried"].as_u64().unwrap() as usize;
    let counted = json["pairs_counted"].as_u64().unwrap() as usize;
    let mut ran_in: Vec<String> = Vec::new();
    for trial in lab.trials(json["runs"][0].as_str().unwrap()) {
        let build = trial.conditions.iter().find(|fact| fact.name == "build").unwrap();
        ran_in.push(build.value.clone());
    }
    assert_eq!(ran_in.len(), 2 * tried);
    ran_in.sort_unstable();
    ran_in.dedup();
    assert!(counted.min(5) * 2 <= ran_in.len() && ran_in.len() <= 10, "{counted}: {ran_in:?}");
}

/// The lines of a gate are made into those of others, whose pairs spread by a known percentage.
#[test]
fn earlier_gates_say_how_far_pairs_spread_and_each_gate_is_appended() {
    let lab = repository();
    let sides = ["gate", "gated", "--base", "git:first", "--head", "dir:."];
    let usual = ["--gate", "throughput", "--detect", "60%", "--history", "h.jsonl"];
    let flags = ["-c", "2", "-d", "150ms", "--warmup", "50ms"];
    let gate = |more: &[&str]| lab.dyno(&[&sides[..], &usual, &flags, more].concat());
    gate(&["--max-time", "20s", "--noise", "1%"]).stderr_has("history: h.jsonl");
    let (text, line) = (lab.read("h.jsonl"), lab.json("h.jsonl"));
    let violations = crate::schema::violations(&crate::schema::of("gates"), &line);
    assert_eq!(violations, Vec::<String>::new());
    assert_eq!(line["base_commit"].as_str().unwrap().len(), 40);
    assert_eq!(line["figure"], "throughput_per_s");
    let pairs = |began: u64, machine: &str, apart: f64| {
        let mut line = line.clone();
        line["began_unix_ms"] = began.into();
        line["machine"] = machine.into();
        line["differences"] = [1.0, -1.0].map(|sign| sign * apart).repeat(3).into();
        line.to_string() + "\n"
    };
    let here = line["machine"].as_str().unwrap();
    // Of six pairs of which each is 2 % off, the standard deviation is 2 % times the root of 6/5: 2.19 %.
    let known = [pairs(1, here, 0.02), pairs(2, here, 0.02), pairs(3, "elsewhere", 0.5)].concat();
    lab.write("h.jsonl", format!("{known}{}\n", &text[..40]));
    let ran = gate(&["--show"]).status(0);
    ran.stdout_has("noise between pairs: 2.2 % (12 pairs of 2 earlier gates)")
        .stderr_has("h.jsonl line 4: it ends early");
    let still = lab.read("h.jsonl");
    assert!(still.starts_with(&known), "nothing is lost, and --show appends nothing");
    // One gate has five degrees of freedom, and so it is measured; as it is of another plan.
    lab.write("h.jsonl", pairs(1, here, 0.02));
    gate(&["--show"]).stderr_has("have 5 degrees of freedom, and 10 are needed");
    lab.write("h.jsonl", &known);
    let other = ["-c", "3", "-d", "150ms", "--warmup", "50ms", "--show"];
    let ran = lab.dyno(&[&sides[..], &usual, &other].concat());
    ran.stderr_has("it has no noise for pairs");
    lab.dyno(&["trend", "h.jsonl"]).status(2).stderr_has("3 lines of gates, which have no levels");
}
