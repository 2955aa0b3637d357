//! Each end of `dyno gate` in all of its files, and sides that are their own trees.

use std::fs;
use std::path::Path;

use crate::gate::{SERVER as ORACLE, commit, git};
use crate::lab_rig::{Lab, trials_of};
use crate::rig::{Going, Ran};
use lab::record::{Check, TrialRecord};
use store::Store;

const SHORT: [&str; 10] =
    ["-c", "2", "-d", "150ms", "--warmup", "50ms", "--noise", "1%", "--gate", "throughput"];
const FILES: [&str; 6] = ["-o", "gate.json", "-o", "gate.md", "-o", "gate.xml"];

/// A gate of two commands, over files of an older gate: its exit code and answer, and how its test in JUnit ended.
#[track_caller]
fn ends(base: &str, head: &str, flags: &[&str]) -> (Option<i32>, String, String, Ran) {
    let lab = Lab::new();
    for file in ["gate.json", "gate.md", "gate.xml"] {
        lab.write(file, "of an older gate");
    }
    lab.write("server.py", SERVER.replace("200", "500"));
    lab.write("text", "500");
    let [base, head] = [base, head].map(|it| it.replace("SERVER", ORACLE));
    let sides = ["gate", "--base-cmd", &base, "--head-cmd", &head, "--path", "/hello"];
    let ran = lab.dyno(&[&sides[..], &SHORT, &FILES, &["--ready", "5s"], flags].concat());
    let json = lab.json("gate.json");
    crate::schema::fits("gate", &json);
    let sentence = json["sentence"].as_str().unwrap();
    let (markdown, junit) = (lab.read("gate.md"), lab.read("gate.xml"));
    assert!(markdown.starts_with("<!-- dyno gate -->\n") && markdown.ends_with('\n'), "{markdown}");
    let begins = sentence.split(':').next().unwrap();
    assert!(markdown.contains(begins), "{sentence}\n{markdown}");
    assert!(junit.ends_with("</testsuites>\n"), "{junit}");
    let kinds = ["failure", "skipped", "error"];
    let of = |kind: &&&str| junit.contains(&format!("   <{kind} message=\"{begins}"));
    let kind = kinds.iter().find(of).map_or("passed", |kind| *kind);
    let is_whole = lab.names("").iter().all(|name| !name.ends_with(".part"));
    assert!(is_whole, "a file is renamed when it is whole");
    (ran.code(), json["answer"].as_str().unwrap().into(), kind.into(), ran)
}

#[test]
fn each_end_of_a_gate_is_told_whole_in_every_file() {
    let of = |base: &str, head: &str, flags: &[&str], wanted: (i32, &str, &str)| {
        let (code, answer, kind, ran) = ends(base, head, flags);
        assert_eq!(
            (code, answer.as_str(), kind.as_str()),
            (Some(wanted.0), wanted.1, wanted.2),
            "{ran}"
        );
        ran
    };
    let (worse, refused) = ((1, "worse", "failure"), (2, "refused", "error"));
    of("SERVER", "false", &[], worse)
        .stderr_has("the head: it ended before it answered")
        .stderr_has("it is started once more");
    of("false", "SERVER", &[], refused).stderr_has("dyno: the base: it ended before it answered");
    of("SERVER", "SERVER --fault wrong-body", &[], refused).stderr_has("not comparable");
    of("no-such-program", "SERVER", &[], refused).stderr_has("there is no program");
    of("SERVER", "python3 server.py {port}", &[], worse).stdout_has("Worse: the head failed twice");
    let limit = (2, "cannot_tell", "skipped");
    of("SERVER", "SERVER", &["--max-time", "3s"], limit).stdout_has("(--max-time)");
}

/// A head that fails by accident is not worse.
#[test]
fn a_side_that_does_not_start_is_started_once_more() {
    let once = "sh -c 'if mkdir started 2>/dev/null; then exit 3; fi; exec SERVER'";
    let (code, answer, _, ran) = ends("SERVER", once, &["--detect", "60%", "--max-time", "20s"]);
    ran.stderr_has("the head: it ended before it answered: exit status 3; it is started once more");
    assert!(answer != "refused" && code.is_some(), "{answer}");
}

/// What other programs do to the machine says nothing of clauses.
#[test]
fn clauses_alone_need_no_quiet_machine_and_are_checked_once() {
    let lab = Lab::new();
    let sides = ["gate", "--base-cmd", ORACLE, "--head-cmd", ORACLE, "--path", "/hello"];
    let flags = ["--gate", "conformance", "-d", "150ms", "--warmup", "50ms", "--json"];
    let ran = lab.dyno(&[&sides[..], &flags, &["--store", "runs.sqlite"]].concat()).status(0);
    let json = ran.json();
    let sentence = "Not worse: the head breaks no clause of the RFCs that the base keeps.";
    assert_eq!(json["sentence"], sentence);
    ran.stderr_has("of the base to the RFCs is checked before the pairs")
        .stderr_has("the head's check take");
    let trials = trials(&lab.root.join("runs.sqlite"), &json);
    assert!(!trials.is_empty() && trials.iter().all(|trial| trial.spots.is_empty()));
}

/// A server that answers with the text that lies in its folder.
const SERVER: &str = r#"
import http.server, sys, time

class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.002)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.send_header("X-Text", open("text").read())
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"#;

fn trials(store: &Path, json: &serde_json::Value) -> Vec<TrialRecord> {
    let run = json["runs"][0].as_str().unwrap().parse().unwrap();
    trials_of(&Store::open_to_read(store).unwrap(), run)
}

/// A repository as docs/ci.md makes one, with two commits whose servers answer with the texts `one` and `two`; what is
/// not committed would answer `three`.
fn repository() -> Lab {
    let gate = "question = 'Is it slower?'\nsubjects = ['mine']\nworkload = 'mine'\n\
                load = { closed = { connections = 2 }, duration = '150ms', warmup = '50ms' }\n";
    let lab = Lab::new()
        .file(".gitignore", "/.dyno\n/cache\n/state\n")
        .file("server.py", SERVER)
        .file("text", "one")
        .file("experiments/gate.toml", gate);
    let new = ["servers", "new", "mine", "--cmd", "python3 server.py {port}"];
    lab.dyno(&[&new[..], &["--path", "/", "--expect-body", "ok"]].concat()).status(0);
    git(&lab, &["init", "--quiet"]);
    commit(&lab, "one");
    lab.write("text", "two");
    commit(&lab, "two");
    lab.write("text", "three");
    lab
}

fn gate(lab: &Lab, folder: &Path, flags: &[&str]) -> Ran {
    let sides = ["gate", "gate", "--base", "git:one", "--head", "git:HEAD"];
    let usual = ["--noise", "1%", "--gate", "throughput", "--detect", "60%", "--max-time", "20s"];
    let mut command = lab.command(&[&sides[..], &usual, flags].concat());
    command.current_dir(folder).env("LIBS", folder.join("lib"));
    Going::start(command).end()
}

#[test]
fn each_side_answers_from_its_own_commit_in_the_repository_and_in_a_clone() {
    let lab = repository();
    let clone = lab.root.join("state/clone");
    fs::create_dir_all(lab.root.join("state")).unwrap();
    git(&lab, &["clone", "--quiet", ".", "state/clone"]);
    for folder in [&lab.root, &clone] {
        let path = lab.root.join("state/runs.sqlite");
        let ran = gate(&lab, folder, &["--json", "--store", path.to_str().unwrap()]);
        let left_out = ran.stderr.split("base and head do not get what leads there: ").nth(1);
        assert!(
            left_out.is_some_and(|names| names.lines().next().unwrap().contains("LIBS")),
            "{ran}"
        );
        let trials = trials(&path, &ran.json());
        assert!(2 <= trials.len(), "{ran}");
        for trial in trials {
            let text = if trial.key.subject == "base" { "one" } else { "two" };
            let says = |check: &Check| String::from_utf8_lossy(&check.response).into_owned();
            let answers: Vec<String> = trial.checks.iter().map(says).collect();
            let is_own = |answer: &String| answer.contains(&format!("X-Text: {text}\r\n"));
            assert!(!answers.is_empty() && answers.iter().all(is_own), "{answers:?}");
        }
    }
}

/// The head answers every tenth request wrongly.
#[test]
fn a_gate_tolerates_as_many_wrong_answers_as_its_experiment_allows() {
    let lab = repository();
    let counts =
        "global asked; asked += 1; self.wfile.write(b\"no\" if asked % 10 == 0 else b\"ok\")";
    let server = SERVER.replace("self.wfile.write(b\"ok\")", counts);
    lab.write("server.py", server.replace("sys, time", "sys, time\nasked = 0"));
    commit(&lab, "more");
    let experiment = lab.read("experiments/gate.toml");
    let gated = |require: &str| {
        lab.write("experiments/gate.toml", format!("{experiment}{require}"));
        let ran = gate(&lab, &lab.root, &["--json"]);
        let json = ran.json();
        crate::schema::fits("gate", &json);
        let sentence = json["sentence"].as_str().unwrap().to_string();
        (json["answer"].as_str().unwrap().to_string(), sentence, ran)
    };
    let (answer, sentence, ran) = gated("require = { wrong = '0.1%' }\n");
    assert_eq!(answer, "worse", "{sentence}");
    assert!(sentence.starts_with("Worse: the head answered wrongly: "), "{sentence}");
    let _ = ran.status(1);
    let (answer, sentence, ran) = gated("require = { wrong = '30%' }\n");
    assert!(!sentence.starts_with("Worse: the head answered wrongly"), "{sentence}");
    assert!(sentence.contains(" Tolerated: the head answered "), "{sentence}");
    // What the pairs say is the machine's, and the program keeps to it.
    let codes = [("not_worse", 0), ("worse", 1), ("cannot_tell", 2)];
    assert_eq!(codes.iter().find(|(it, _)| *it == answer).map(|(_, code)| *code), ran.code());
}

#[test]
fn a_side_that_leads_into_the_working_tree_is_refused() {
    let lab = repository();
    let root = lab.root.canonicalize().unwrap();
    let root = root.to_str().unwrap();
    // Only what runs shows where this leads.
    let go = "import os\nos.chdir('ROOT'.replace('+', '/'))\nexec(open('server.py').read())\n";
    lab.write("go.py", go.replace("ROOT", &root.replace('/', "+")));
    let manifest = lab.read("subjects/mine/subject.toml");
    for (server, says) in [
        (format!("{root}/server.py"), "the head: the argument `"),
        ("go.py".into(), "the head: a process of it leads to"),
    ] {
        assert!(manifest.contains("python3 server.py"));
        let other = manifest.replace("python3 server.py", &format!("python3 {server}"));
        lab.write("subjects/mine/subject.toml", other);
        commit(&lab, "more");
        let ran = gate(&lab, &lab.root, &["-o", "gate.json"]).status(2);
        ran.stderr_has(says).stderr_has("relative to the project");
        assert_eq!(lab.json("gate.json")["answer"], "refused");
    }
}
