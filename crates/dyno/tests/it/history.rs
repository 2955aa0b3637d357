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
    let place = Place::new();
    let field = format!("X-Token: {SECRET}");
    let printed = format!("X-Printed: echo {SECRET}");
    let target = format!("{{url}}/hello?a={SECRET}");
    let load = ["load", &target, "-n", "200", "-c", "2", "-H", &field, "--history", FILE];
    let load = [&load[..], &["--header-command", &printed, "--expect-status", "any"]].concat();
    place.dyno(&load).status(0).stderr_has("history: h.jsonl");
    let one = place.lines();
    assert_eq!(texts(&one, "figure"), ["response_p50_ms", "response_p99_ms", "throughput_per_s"]);
    assert_eq!(texts(&one, "made_by"), ["load"]);
    let asked = texts(&one, "experiment")[0];
    assert!(asked.starts_with("GET http://127.0.0.1:") && asked.ends_with("/hello?a=…"), "{asked}");
    let flags: Vec<&str> =
        one[0]["flags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let meant = ["-c", "2", "--path", "/hello?a=…", "-H", "X-Token: …", "--expect-status", "any"];
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
    assert_eq!((trend["runs"].as_u64(), trend["series"].as_array().unwrap().len()), (Some(3), 6));
    let shown = place.dyno(&["trend", FILE]).status(0).stdout;
    assert!(shown.contains(", plan ") && shown.contains("throughput/s"), "{shown}");
}

#[test]
fn a_schedule_has_no_throughput_and_what_differs_is_another_plan() {
    let place = Place::new();
    let short = ["-n", "60", "-r", "200", "--history", FILE];
    for more in [&[][..], &["-c", "3"], &["-H", "A: b"], &["--http2"], &["-t", "1", "-c", "1"]] {
        let load = [&["load", "{url}/hello"][..], &short, more].concat();
        place.dyno(&load).status(0);
    }
    let lines = place.lines();
    assert_eq!(texts(&lines, "figure"), ["response_p50_ms", "response_p99_ms"]);
    assert_eq!(texts(&lines, "plan").len(), 5);
    let over = "over HTTP/2 (--streams 1)";
    assert!(texts(&lines, "experiment").iter().any(|asked| asked.ends_with(over)));
    assert_eq!(texts(&lines, "machine").len(), 1);
    let from = ["load", "{url}/hello", "-n", "60", "-c", "2", "--load-on", "local:2"];
    place.dyno(&[&from[..], &["--history", FILE]].concat()).status(0);
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
fn a_race_has_lines_for_each_side_and_the_ratio_to_the_first() {
    let place = Place::new();
    let other = Rig::oracle(Config::default());
    let sides = [format!("{{url}}/hello?a={SECRET}"), other.url(&format!("/hello?b={SECRET}"))];
    let field = format!("A: {SECRET}");
    let race =
        ["race", &sides[0], &sides[1], "-n", "200", "-c", "2", "--rounds", "2", "-H", &field];
    let rest = ["--warmup", "50ms", "--no-ceiling", "--history", FILE];
    let ran = place.dyno(&[&race[..], &rest].concat());
    assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
    let lines = place.lines();
    assert_eq!(texts(&lines, "made_by"), ["race"]);
    let subjects = texts(&lines, "subject");
    assert_eq!(subjects.len(), 2, "{subjects:?}");
    let is_of = |line: &&Value| line["figure"] == "response_p50_ms";
    let of: Vec<&Value> = lines.iter().filter(is_of).collect();
    assert_eq!((of.len(), &of[0]["first_side"]), (2, &Value::Null));
    assert_eq!(of[1]["first_side"], of[0]["subject"]);
    if texts(&lines, "verdict").iter().all(|verdict| *verdict != "invalid") {
        let ratio = of[1]["ratio_to_first"].as_f64().unwrap();
        let means = of[1]["value"].as_f64().unwrap() / of[0]["value"].as_f64().unwrap();
        assert!((ratio / means - 1.0).abs() < 0.05, "{ratio} {means}");
        let trend = place.trend();
        let series = trend["series"].as_array().unwrap();
        let relative = series.iter().filter(|series| series["relative_to"].is_string()).count();
        assert_eq!(relative, series.len() / 3, "of each figure: two sides and their ratio");
    }
}

#[test]
fn runs_loads_and_races_are_in_one_history() {
    in_one_of_five(|| {
        let place = Place::new();
        let lab = &place.lab;
        let oracle = "DYNO serve --listen 127.0.0.1:{port}";
        let race =
            ["race", oracle, oracle, "--path", "/hello", "-n", "200", "-c", "2", "--rounds", "2"];
        let rest = ["--name", "a", "--name", "b", "--warmup", "50ms", "--history", FILE];
        let ran = place.dyno(&[&race[..], &rest].concat());
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
    for (file, says) in [
        ("text.txt", "it does not contain a history"),
        ("no/h.jsonl", "there is no such directory"),
    ] {
        let load = ["load", "{url}/hello", "-n", "10", "--history", file];
        place.dyno(&load).status(2).stderr_has(says);
        let race = ["race", "{url}/hello", "{url}/", "--history", file];
        place.dyno(&race).status(2).stderr_has(says);
    }
    let same =
        ["load", "{url}/hello", "-n", "10", "--history", FILE, "-o", &format!("json:{FILE}")];
    place.dyno(&same).status(2).stderr_has("names the same file");
    place.lab.write("times.txt", "0\n0.1\n");
    let listed = ["load", "{url}/hello", "--arrivals", "times.txt", "--history", FILE];
    place.dyno(&listed).status(2).stderr_has("in a history has no list of times");
    assert_eq!((place.rig.requests(), place.lab.has(FILE)), (0, false));
}
