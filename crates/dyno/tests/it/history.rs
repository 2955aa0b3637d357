//! `--history` of loads and of races, and what `dyno trend` shows of them.

use std::process::Command;

use oracle::Config;
use rustix::process::Signal;
use serde_json::Value;

use crate::lab_rig::{Lab, SHORT};
use crate::rig::{Going, Ran, Rig, in_one_of_five};
use crate::schema;

const SECRET: &str = "s3cret";
const FILE: &str = "h.jsonl";

/// A server in this process, and a folder for the history.
struct Place {
    lab: Lab,
    rig: Rig,
}

impl Place {
    fn new() -> Place {
        Place { lab: Lab::new(), rig: Rig::oracle(Config::default()) }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let url = self.rig.url("");
        let filled: Vec<String> = arguments.iter().map(|it| it.replace("{url}", &url)).collect();
        self.lab.command(&filled.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn dyno(&self, arguments: &[&str]) -> Ran {
        Going::start(self.command(arguments)).end()
    }

    /// Every line, which fits its schema and has no secret.
    fn lines(&self) -> Vec<Value> {
        let text = self.lab.read(FILE);
        assert!(text.ends_with('\n') && !text.contains(SECRET), "{text}");
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let lines: Vec<Value> = lines.collect();
        for line in &lines {
            assert_eq!(schema::violations(&schema::of("history"), line), Vec::<String>::new());
        }
        lines
    }

    fn trend(&self) -> Value {
        let json = self.dyno(&["trend", FILE, "--json"]).status(0).json();
        schema::fits("trend", &json);
        json
    }
}

fn texts<'l>(lines: &'l [Value], field: &str) -> Vec<&'l str> {
    let mut texts: Vec<&str> = lines.iter().filter_map(|line| line[field].as_str()).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

#[test]
fn a_load_has_its_figures_in_the_history_and_nothing_secret() {
    in_one_of_five(|| {
        let place = Place::new();
        let field = format!("X-Token: {SECRET}");
        let printed = format!("X-Printed: echo {SECRET}");
        let target = format!("{{url}}/hello?a={SECRET}");
        let load = ["load", &target, "-n", "200", "-c", "2", "-H", &field, "--history", FILE];
        let load = [&load[..], &["--header-command", &printed, "--expect-status", "any"]].concat();
        place.dyno(&load).status(0).stderr_has("history: h.jsonl");
        let one = place.lines();
        assert_eq!(
            texts(&one, "figure"),
            ["response_p50_ms", "response_p99_ms", "throughput_per_s"]
        );
        assert_eq!(texts(&one, "made_by"), ["load"]);
        let asked = texts(&one, "experiment")[0];
        assert!(
            asked.starts_with("GET http://127.0.0.1:") && asked.ends_with("/hello?a=…"),
            "{asked}"
        );
        let flags: Vec<&str> =
            one[0]["flags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let meant =
            ["-c", "2", "--path", "/hello?a=…", "-H", "X-Token: …", "--expect-status", "any"];
        assert_eq!(flags[..8], meant);
        assert_eq!(flags[8..], ["-H", "X-Printed: …"]);
        place.dyno(&[&load[..], &["--rounds", "2"]].concat()).measured();
        place.dyno(&load).status(0);
        let all = place.lines();
        assert_eq!(all.len(), 3 * one.len());
        assert_eq!(all[one.len()]["rounds"].as_array().unwrap().len(), 2);
        let names = texts(&all, "plan");
        assert_eq!(names.len(), 2, "two loads are another plan than one: {names:?}");
        let trend = place.trend();
        assert_eq!(
            (trend["runs"].as_u64(), trend["series"].as_array().unwrap().len()),
            (Some(3), 6)
        );
        let shown = place.dyno(&["trend", FILE]).status(0).stdout;
        assert!(shown.contains(", plan ") && shown.contains("throughput/s"), "{shown}");
    });
}

#[test]
fn a_schedule_has_no_throughput_and_what_differs_is_another_plan() {
    let place = Place::new();
    let short = ["-n", "20", "-r", "200", "--history", FILE];
    for more in [&[][..], &["-H", "A: b"], &["--http2"]] {
        let load = [&["load", "{url}/hello"][..], &short, more].concat();
        place.dyno(&load).status(0);
    }
    let lines = place.lines();
    assert_eq!(texts(&lines, "figure"), ["response_p50_ms", "response_p99_ms"]);
    assert_eq!(texts(&lines, "plan").len(), 3);
    let over = "over HTTP/2 (--streams 1)";
    assert!(texts(&lines, "experiment").iter().any(|asked| asked.ends_with(over)));
    assert_eq!(texts(&lines, "machine").len(), 1);
    let from = ["load", "{url}/hello", "-n", "60", "-c", "2", "--load-on", "local:2"];
    // What cannot be written elsewhere takes nothing from the history.
    let to = ["--history", FILE, "-o", "json:/dev/full"];
    place.dyno(&[&from[..], &to].concat()).status(2).stderr_has("No space left on device");
    let lines = place.lines();
    assert_eq!(texts(&lines, "machine").len(), 2, "load from elsewhere is of another machine");
}

#[test]
fn an_interrupted_load_is_in_no_history() {
    let place = Place::new();
    let load = ["load", "{url}/hello", "-d", "60s", "-c", "2", "--rounds", "2", "--history", FILE];
    let going = Going::start(place.command(&load));
    while place.rig.requests() == 0 {
        std::thread::yield_now();
    }
    going.signal(Signal::INT);
    going.end().status(130).stderr_has("not all was measured, so nothing was appended to h.jsonl");
    assert!(!place.lab.has(FILE));
}

#[test]
fn runs_loads_and_races_are_in_one_history() {
    in_one_of_five(|| {
        let place = Place::new();
        let lab = &place.lab;
        let oracle = "DYNO serve --listen 127.0.0.1:{port}";
        let (path, field) = (format!("/hello?a={SECRET}"), format!("A: {SECRET}"));
        let race = ["race", oracle, oracle, "--path", &path, "-H", &field, "--name", "a"];
        let rest = ["--name", "b", "-n", "200", "-c", "2", "--rounds", "2", "--warmup", "50ms"];
        let ran = place.dyno(&[&race[..], &rest, &["--history", FILE]].concat());
        assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
        place.dyno(&["load", "{url}/hello", "-n", "200", "-c", "2", "--history", FILE]).status(0);
        let run = Lab::one(SHORT, "");
        let path = lab.root.join(FILE).display().to_string();
        run.dyno(&["run", "x", "--history", &path]).measured();
        let lines = place.lines();
        assert_eq!(texts(&lines, "made_by"), ["load", "race", "run"]);
        let is_side = |line: &&Value| line["made_by"] == "race" && line["subject"] == "b";
        let side = lines.iter().find(is_side).unwrap();
        assert_eq!(side["side"]["kind"], "command");
        assert!(
            side["side"]["text"].as_str().unwrap().ends_with("serve --listen 127.0.0.1:{port}")
        );
        let trend = place.trend();
        assert_eq!(trend["runs"], 3);
        let shown = place.dyno(&["trend", FILE, "-o", "t.html"]).status(0);
        let _ = shown.stdout_has("race, a against b\n").stdout_has("load, GET http://");
        assert!(lab.read("t.html").contains("÷ a"));
    });
}

#[test]
fn what_cannot_be_a_history_is_refused_before_the_load() {
    let place = Place::new();
    place.lab.write("text.txt", "a text\n");
    place.lab.write("times.txt", "0\n0.1\n");
    let no_text = "it does not contain a history";
    for (command, flags, says) in [
        ("load", &["--history", "text.txt"][..], no_text),
        ("race", &["{url}/", "--history", "text.txt"], no_text),
        ("load", &["--history", "no/h.jsonl"], "there is no such directory"),
        ("load", &["--history", FILE, "-o", "json:h.jsonl"], "names the same file"),
        ("load", &["--history", FILE, "--arrivals", "times.txt"], "has no list of times"),
    ] {
        let words = [&[command, "{url}/hello"], flags].concat();
        place.dyno(&words).status(2).stderr_has(says);
    }
    assert_eq!((place.rig.requests(), place.lab.has(FILE)), (0, false));
}
