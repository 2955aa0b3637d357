//! `dyno race`: sides of every kind, without a project, and what is typed wrongly.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::lab_rig::Lab;
use crate::rig::{Going, Ran, Rig, closed_port};

/// Trials that are over soon. Their number of requests ends them: in a short time, a busy machine may begin none.
const SHORT: [&str; 10] =
    ["-c", "2", "-n", "300", "--warmup", "50ms", "--rounds", "2", "--ready", "20s"];
/// A server that takes the port that it is given.
const ORACLE: &str = "DYNO serve --listen 127.0.0.1:{port}";

/// A folder that is no project, and a home.
struct Place {
    lab: Lab,
}

impl Place {
    fn new() -> Place {
        let lab = Lab::bare();
        fs::create_dir(lab.root.join("here")).unwrap();
        Place { lab }
    }

    fn start(&self, arguments: &[&str]) -> Going {
        let mut command = self.lab.command(arguments);
        command.current_dir(self.lab.root.join("here"));
        Going::start(command)
    }

    fn dyno(&self, arguments: &[&str]) -> Ran {
        self.start(arguments).end()
    }

    /// Where the body is stated, it is not looked at three times over two seconds.
    fn race(&self, arguments: &[&str]) -> Ran {
        let is_stated =
            |it: &&str| ["--expect-body", "--same-body", "--expect-status"].contains(it);
        let is_hello = arguments.windows(2).any(|two| two == ["--path", "/hello"]);
        let stated: &[&str] = match is_hello && !arguments.iter().any(is_stated) {
            true => &["--expect-body", "Hello, world!"],
            false => &[],
        };
        self.dyno(&[&["race"], arguments, stated, &SHORT].concat())
    }
}

/// On a busy machine the figures may be invalid, and nothing but that makes the exit code 2.
#[track_caller]
fn raced(ran: Ran) -> Ran {
    assert!(matches!(ran.code(), Some(0 | 2)) && ran.has_sentence("in short verdict: "), "{ran}");
    ran
}

#[test]
fn two_commands_race_from_any_folder_and_the_usual_commands_know_the_run() {
    let place = Place::new();
    let slow = format!("{ORACLE} --delay constant:9ms");
    let ran = raced(
        place.race(&[ORACLE, &slow, "--path", "/hello", "--name", "quick", "--name", "slow"]),
    );
    let ran = ran
        .stderr_has("race 1: quick against slow")
        .stdout_has("quick or slow?")
        .stdout_has("closed: 2 connections")
        .stdout_has("dyno's own server")
        .stdout_has("1-race.html");
    assert!(ran.has_sentence("as many requests as quick"), "{ran}");
    let sentences = ran.sentences();
    // So few rounds may leave it probable.
    let of_slow = sentences.split("as many requests as quick").next().unwrap();
    let of_slow = of_slow.rsplit_once("answers ").filter(|(names, _)| names.contains("slow"));
    let ratio = of_slow.and_then(|(_, rest)| rest.split_once('×')).expect("a ratio").0;
    let ratio: f64 = ratio.trim_start_matches(['≤', '≥']).parse().expect("a number");
    assert!(ratio < 1.0, "{ran}");
    assert_eq!(place.lab.names("here"), [""; 0], "nothing is left in the current folder");
    assert_eq!(place.lab.names("state/dyno"), ["reports", "run.lock", "runs.sqlite"]);
    assert_eq!(
        (place.lab.names("cache/dyno"), place.lab.names("cache/dyno/work")),
        (vec!["work".into()], Vec::new())
    );
    place.dyno(&["runs", "list"]).status(0).stdout_has("race");
    let report = place.dyno(&["report"]).status(0).stdout_has("--warmup");
    assert!(report.has_sentence("as many requests as quick"), "{report}");
    place.dyno(&["compare", "--run", "1", "quick", "slow"]).stdout_has("Student's t interval over");
    let page = place.lab.read("state/dyno/reports/1-race.html");
    assert!(page.contains("as many requests as quick"));
}

/// Python's server with a fault, and the oracle, whose answers are the same at first.
#[test]
fn bodies_that_change_under_load_are_a_doubt_or_failures_and_bodies_that_always_vary_are_not_compared()
 {
    let place = Place::new();
    place.lab.write("here/server.py", include_str!("server.py"));
    let against = |fault: &str, more: &[&str]| {
        let side = format!("python3 server.py {{port}} {fault}");
        let sides = ["race", ORACLE, &side, "--name", "a", "--name", "b"];
        place.dyno(&[&sides[..], &["--path", "/hello"], more, &SHORT].concat())
    };
    let json = against("unlike", &["--json"]).json();
    let says = json["checked"]["sentence"].as_str().unwrap();
    assert!(says.contains("each body was compared with those before the load"), "{says}");
    let doubts = |side: usize| json["sides"][side]["row"]["verdict"].to_string();
    assert!(doubts(1).contains("bodies_unlike") && !doubts(0).contains("bodies_unlike"), "{json}");
    let demanded = against("unlike", &["--same-body"]).status(1);
    assert!(demanded.has_sentence("b answered wrongly"), "{demanded}");
    demanded.stdout_has("status 2xx and body of ");
    let varies = against("counts", &[]);
    varies.stdout_has("status 2xx of ").stdout_has("the body varies: not compared (b)");
    against("counts", &["--same-body"]).status(2).stderr_has("--same-body: the body varies");
}

#[test]
fn a_race_as_json_has_the_ratios_that_compare_has() {
    let place = Place::new();
    let two = ["--path", "/hello", "--expect-body", "Hello, world!", "--json"];
    let json = place.race(&[&[ORACLE, ORACLE][..], &two].concat()).json();
    crate::schema::fits("race", &json);
    let compared =
        place.dyno(&["compare", "--run", "1", "dyno-serve", "dyno-serve-2", "--json"]).json();
    // A comparison has a tolerance, and judges no row in doubt: what was measured is the same.
    let measured = |figures: &Value| -> Vec<[Value; 6]> {
        let keys = ["figure", "a_mean", "b_mean", "a_rounds", "b_rounds", "ratio"];
        let figures = figures.as_array().unwrap().iter();
        figures.map(|figure| keys.map(|key| figure[key].clone())).collect()
    };
    assert_eq!(measured(&json["ratios"][0]["figures"]), measured(&compared["rows"][0]["figures"]));
    assert_eq!(json["answers_differ"], Value::Array(Vec::new()));
    let sides = json["sides"].as_array().unwrap().iter();
    let titles: Vec<&str> = sides.filter_map(|side| side["title"].as_str()).collect();
    assert_eq!(titles, ["dyno serve", "dyno serve #2", "dyno's own server"]);
    let ceiling = &json["sides"][2]["row"];
    assert_eq!(ceiling["is_reference"], true);
    assert_eq!(ceiling["rounds_measured"], 1, "it lives: {ceiling}");
    // Where a busy machine made a side invalid, the sentence says that.
    assert!(json["sentence"].as_str().unwrap().contains("dyno serve #2"), "{json}");
}

#[test]
fn addresses_race_without_being_started_or_stopped_and_are_watched_and_checked_where_they_run() {
    let place = Place::new();
    let (one, other) = (Rig::new(), Rig::new());
    let urls = [one.url("/hello"), other.url("/hello")];
    let flags = ["--no-ceiling", "--check", "--json", "-o", "r.csv"];
    let ran = place.race(&[&[&*urls[0], &urls[1]], &flags[..]].concat());
    // The oracles live in this process, whose memory is therefore known.
    assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
    let csv = place.lab.read("here/r.csv");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "rss_peak_bytes").unwrap();
    assert_eq!(lines.len(), 1 + 4, "{csv}");
    let is_known = |line: &Vec<&str>| line[column].parse::<f64>().is_ok_and(|bytes| 1e6 < bytes);
    assert!(lines[1..].iter().all(is_known), "{csv}");
    assert!(600 <= one.requests() && 600 <= other.requests());
    assert!(!ran.stdout.contains("requests_unlike"), "each has a host of its own: {ran}");
    let shown = place.dyno(&["report", "1", "--format", "json"]).json();
    let checked = shown["conformance"].as_array().unwrap();
    let is_checked = |one: &Value| one["all"]["pass"].as_u64() > Some(100);
    assert!(checked.len() == 2 && checked.iter().all(is_checked), "{checked:?}");
}

#[test]
fn two_paths_of_one_server_race_and_what_differs_is_said() {
    let place = Place::new();
    let rig = Rig::new();
    let paths = [rig.url("/hello"), rig.url("/user/x")];
    let both = [paths[0].as_str(), &paths[1]];
    raced(place.race(&both)).stderr_has("answers `x` (1 byte)").stdout_has("`Hello, world!`");
    place.race(&[&both[..], &["--same"]].concat()).status(1).stderr_has("which --same demands");
    place
        .race(&[&both[..], &["--expect-body", "x"]].concat())
        .status(1)
        .stderr_has("its first answer: the body is `Hello, world!`; `x` was expected");
}

#[test]
fn a_command_may_take_its_port_from_the_environment_or_insist_on_its_own() {
    let place = Place::new();
    let own = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let by_variable = "sh -c 'exec DYNO serve --listen 127.0.0.1:$PORT'";
    let insists = format!("DYNO serve --listen 127.0.0.1:{own}");
    raced(place.race(&[by_variable, &insists, "--name", "a", "--name", "b"]))
        .stderr_has(&format!(", and listens on {own}; that port is used"));
}

#[test]
fn a_subject_races_by_its_name_against_a_folder_at_one_rate() {
    let lab = Lab::new().oracle("fast", "").file(
        "mine/subject.toml",
        "title = 'x'\nlanguage = 'x'\nhome = 'x'\nprocesses = 'one'\nspeaks = []\n\
         run = '{dyno} serve --listen {address}:{port}'\n",
    );
    let race = ["race", "fast", "./mine", "-r", "300", "--path", "/hello", "--isolate"];
    let body = ["--expect-body", "Hello, world!"];
    raced(lab.dyno(&[&race[..], &body, &SHORT].concat()))
        .stderr_has("race 1: fast against mine")
        .stdout_has("300 requests/s");
    assert_eq!(lab.names("mine"), ["subject.toml"]);
}

#[test]
fn a_side_that_fails_is_named_before_the_load() {
    let place = Place::new();
    let fails_with = |code, side: &str, says: &str| {
        place.dyno(&["race", ORACLE, side, "--ready", "20s"]).status(code).stderr_has(says);
    };
    let fails = |side: &str, says: &str| fails_with(1, side, says);
    fails(
        "sh -c 'echo bad luck >&2; exit 3'",
        "sh: it ended before it answered: exit status 3 (`bad luck`)",
    );
    place
        .dyno(&["race", ORACLE, ORACLE, "--path", "/no-such-page", "--ready", "10min"])
        .status(1)
        .stderr_has("it has answered `GET /no-such-page HTTP/1.1` with status 404 for 3 s; --path");
    let neither = place.dyno(&["race", "sleep 60", "sleep 60", "--ready", "300ms"]);
    neither.status(1).stderr_has("sleep: no correct answer within 0.3 s");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let insists = format!("DYNO serve --listen {}", taken.local_addr().unwrap());
    fails_with(
        2,
        &insists,
        "on each of 3 ports; the last: it ended (`dyno: --listen: cannot listen on 127.0.0.1:",
    );
    let (_held, closed) = closed_port();
    fails(&format!("http://{closed}/"), "does not answer: no connection");
    assert!(!place.lab.has("state/dyno/reports"), "nothing was measured");
}

#[test]
fn what_is_typed_wrongly_is_refused_with_the_way_out() {
    let place = Place::new();
    let refused = |arguments: &[&str], says: &str| {
        place.dyno(&[&["race"], arguments].concat()).status(2).stderr_has(says);
    };
    refused(&[], "required arguments were not provided");
    refused(&["sh"], "a race needs two servers");
    refused(&["./none", "sh"], "no program `./none` to start; nor is there a folder or a file of");
    refused(&["http://10.0.0.1/", "sh b", "--check"], "10.0.0.1:80 is not on this machine");
    refused(&["sh a", "sh b", "--max-time", "9s"], "--until or --detect");
    refused(&["http://localhost:1/", "sh b", "--isolate"], "leave it out");
    refused(&["http://192.0.2.1/", "sh b"], "--i-may-load-this-target");
    assert!(!place.lab.has("state/dyno/runs.sqlite"));
}

#[test]
fn an_interrupted_race_keeps_what_is_finished_and_leaves_no_process() {
    let place = Place::new();
    let load = ["-c", "2", "-d", "100ms", "--warmup", "0", "--rounds", "400"];
    let mut going = place.start(&[&["race", ORACLE, ORACLE], &load[..]].concat());
    going.says("1/");
    going.signal(Signal::INT);
    going.end().status(130).stderr_has(" kept as run 1; a race cannot be resumed");
    assert_eq!(place.lab.names("cache/dyno/work"), [""; 0]);
    place
        .dyno(&["report"])
        .status(0)
        .stdout_has("the run is not finished")
        .stdout_lacks("--resume");
    place
        .dyno(&["run", "--resume"])
        .status(2)
        .stderr_has("no run of an experiment is unfinished; run 1 is a race, and only a run of an")
        .stderr_has(
            "`dyno report 1` shows what is kept of it, and this begins it anew: dyno race ",
        );
}

#[test]
fn a_race_that_is_interrupted_before_a_trial_ended_leaves_nothing() {
    let place = Place::new();
    let load = ["-c", "2", "-d", "50s", "--slices", "off", "--no-ceiling"];
    let mut going = place.start(&[&["race", ORACLE, ORACLE], &load[..]].concat());
    going.says("Ctrl-C ends it");
    going.signal(Signal::INT);
    going
        .end()
        .status(130)
        .stderr_has("interrupted before a trial ended; nothing was kept")
        .stdout_lacks("What went wrong");
    assert_eq!(place.lab.names("state/dyno"), ["run.lock", "runs.sqlite"]);
    place.dyno(&["report"]).status(2).stderr_has("no run has been kept here");
}
