//! `dyno load --stream` and `--openmetrics`: what other programs see while a load is under way.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use load::Failure;
use rustix::process::Signal;
use serde_json::Value;

use crate::folder::Folder;
use crate::rig::{Going, Ran, Rig, histogram};
use crate::schema;

#[track_caller]
fn lines(text: &str) -> Vec<Value> {
    assert!(text.ends_with('\n'), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rules = schema::of("stream");
    for line in &lines {
        assert_eq!(schema::violations(&rules, line), Vec::<String>::new(), "{line:#}");
        assert_eq!(line["schema"], "dyno.stream/1");
    }
    lines
}

/// The lines after the warm-up add up to the books of the whole load.
#[track_caller]
fn adds_up(lines: &[Value], whole: &Value) {
    let measured = || lines.iter().filter(|line| line["is_warmup"] == false);
    for name in ["attempted", "correct", "failed", "under_way"] {
        let sum: u64 = measured().map(|line| line[name].as_u64().unwrap()).sum();
        assert_eq!(sum, whole["books"][name].as_u64().unwrap(), "{name}");
    }
    for name in ["response", "service", "first_byte"] {
        let sum = measured().fold(Histogram::<u64>::new(3).unwrap(), |mut sum, line| {
            sum.add(histogram(&line[name]["histogram"])).unwrap();
            sum
        });
        assert_eq!(sum, histogram(&whole[name]["histogram"]), "{name}");
    }
    let times: Vec<f64> = lines.iter().map(|line| line["from_s"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let lasts =
        |line: &&Value| line["until_s"].as_f64().unwrap() - line["from_s"].as_f64().unwrap();
    assert!(lines.iter().any(|line| (0.95..1.5).contains(&lasts(&line))), "none lasts a second");
}

#[test]
fn a_stream_on_standard_output_adds_up_to_the_load_and_has_nothing_else_in_it() {
    let folder = Folder::new();
    let file = folder.path("stream.json");
    let flags = ["-r", "200", "--warmup", "300ms", "-d", "2200ms", "--no-live", "--stream", "-o"];
    let all = [&["load"], &flags[..], &[&file, "{url}/hello"]].concat();
    let ran = Rig::new().dyno(&all).status(0).stderr_has("The server answered ");
    let lines = lines(&ran.stdout);
    let whole = folder.json("stream.json");
    adds_up(&lines, &whole);
    assert!(lines.iter().any(|line| line["is_warmup"] == true), "the warm-up has lines of its own");
    assert_eq!(whole["books"]["attempted"], 440);
}

#[test]
fn a_stream_may_go_to_a_file_and_failures_have_their_class_in_it() {
    let folder = Folder::new();
    let stream = format!("--stream={}", folder.path("lines"));
    let ran =
        Rig::new().dyno(&["load", "{url}/nothing", "-r", "300", "-d", "1100ms", "--json", &stream]);
    let lines = lines(&folder.read("lines"));
    adds_up(&lines, &ran.status(1).json());
    assert!(lines.iter().all(|line| line["failed"] == 0 || line["by_class"]["content.status"] == line["failed"]));
}

#[test]
fn a_load_that_was_interrupted_leaves_a_whole_stream() {
    let folder = Folder::new();
    let stream = format!("--stream={}", folder.path("lines"));
    let load = ["load", "{url}/poll/0.05", "-c", "3", "-d", "50s", "--json"];
    let flags = [&load[..], &["--expect-status", "any", &stream]].concat();
    let ran = Rig::new().dyno_interrupted(&flags).status(130);
    let lines = lines(&folder.read("lines"));
    let sum: u64 = lines.iter().map(|line| line["attempted"].as_u64().unwrap()).sum();
    assert_eq!(sum, ran.json()["books"]["attempted"].as_u64().unwrap());
}

#[test]
fn two_outputs_do_not_share_standard_output_and_a_bad_file_is_refused_at_once() {
    let rig = Rig::new();
    let refused = |flags: &[&str], says: &str| {
        rig.dyno(&[&["load", "{url}/hello", "-n", "1"], flags].concat()).status(2).stderr_has(says);
    };
    refused(&["--stream", "--json"], "both write to standard output");
    refused(&["--stream=/no/such/dir/x"], "--stream /no/such/dir/x: there is no such directory");
    refused(&["--openmetrics", "/no/such/dir/x"], "--openmetrics /no/such/dir/x: there is no such");
    let same = Folder::new();
    let [whole, dotted, linked] = ["out", "./out", "link"].map(|name| same.path(name));
    std::os::unix::fs::symlink("out", &linked).unwrap();
    let stream = format!("--stream={linked}");
    let [json, page, dotted_json] = [("json", &whole), ("html", &whole), ("json", &dotted)]
        .map(|(format, path)| format!("{format}:{path}"));
    refused(&["-o", &json, "-o", &page], "--output names the same file");
    refused(&["-o", &dotted_json, &stream], "names the same file");
    refused(&["--openmetrics", &whole, &stream], "--stream names the same file");
    same.write("out", "{}\n");
    refused(
        &["-o", &format!("json:{linked}"), "--requests", &dotted],
        "--requests names the same file",
    );
    assert_eq!(same.read("out"), "{}\n");
    assert_eq!(rig.requests(), 0);
}

/// A sample of a metrics page: its name, its labels, its value.
type Sample = (String, BTreeMap<String, String>, f64);

/// A strict reader of as much of OpenMetrics as dyno writes: it panics at everything else.
fn parsed(text: &str) -> Vec<Sample> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    let mut current = String::new();
    let mut samples = Vec::new();
    for line in body.lines() {
        assert!(!line.is_empty() && line.trim() == line, "{line:?}");
        if let Some(rest) = line.strip_prefix("# ") {
            let [word, name, value] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            match word {
                "TYPE" => {
                    assert!(["counter", "gauge", "histogram", "info"].contains(&value), "{line}");
                    assert!(families.insert(name.into(), value.into()).is_none(), "{name} twice");
                    current = name.into();
                }
                "UNIT" => {
                    assert!(name == current && name.ends_with(&format!("_{value}")), "{line}");
                }
                "HELP" => assert_eq!(name, current),
                _ => panic!("{line}"),
            }
            continue;
        }
        let sample = sample(line);
        let suffix = sample.0.strip_prefix(&current).expect("samples follow their family");
        let allowed: &[&str] = match families[&current].as_str() {
            "counter" => &["_total"],
            "info" => &["_info"],
            "histogram" => &["_bucket", "_count", "_sum"],
            _ => &[""],
        };
        assert!(allowed.contains(&suffix), "{line}");
        samples.push(sample);
    }
    samples
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).expect("a name and a value");
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").expect("a label");
            let (value, after) = quoted(after);
            assert!(labels.insert(label.to_string(), value).is_none(), "{line}");
            match after.as_bytes() {
                [b',', ..] => rest = &after[1..],
                [b'}', ..] => {
                    rest = &after[1..];
                    break;
                }
                _ => panic!("{line}"),
            }
        }
    }
    let value = rest.strip_prefix(' ').expect("one blank");
    (name.into(), labels, value.parse().unwrap_or_else(|_| panic!("{line}")))
}

/// A value up to its closing quote, without its escapes.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        match character {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match rest.next() {
                Some((_, 'n')) => '\n',
                Some((_, escaped @ ('\\' | '"'))) => escaped,
                other => panic!("{other:?}"),
            }),
            other => value.push(other),
        }
    }
    panic!("a quote that is not closed: {text}")
}

fn metrics(flags: &[&str]) -> (Vec<Sample>, Ran) {
    let folder = Folder::new();
    let usual = ["load", "--json", "--no-live", "--openmetrics", &folder.path("metrics")];
    let ran = Rig::new().dyno(&[&usual, flags].concat());
    (parsed(&folder.read("metrics")), ran)
}

#[test]
fn a_metrics_page_parses_and_says_what_the_results_say() {
    let (samples, ran) =
        metrics(&["{url}/hello?a=\\{seq}", "-r", "300", "-d", "1200ms", "--lenient"]);
    let json = ran.json();
    let all = |name: &str| samples.iter().filter(|one| one.0 == name).cloned().collect::<Vec<_>>();
    let one = |name: &str| all(name)[0].2;
    assert_eq!(one("dyno_requests_attempted_total"), json["books"]["attempted"].as_f64().unwrap());
    let outcomes = all("dyno_requests_total");
    assert_eq!(outcomes[0].1["outcome"], "correct");
    assert_eq!(outcomes[0].2, json["books"]["correct"].as_f64().unwrap());
    assert_eq!(outcomes.len(), 1 + Failure::COUNT, "correct, and each class");
    assert_eq!(one("dyno_load_over"), 1.0);
    assert_eq!(one("dyno_measured_seconds"), json["measured_s"].as_f64().unwrap());
    let buckets = all("dyno_response_seconds_bucket");
    let counts: Vec<f64> = buckets.iter().map(|bucket| bucket.2).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    let limits: Vec<f64> = buckets.iter().map(|bucket| bucket.1["le"].parse().unwrap()).collect();
    assert!(limits.is_sorted() && limits.last() == Some(&f64::INFINITY), "{limits:?}");
    assert_eq!(counts.last().copied(), json["response"]["count"].as_f64());
    assert_eq!(one("dyno_response_seconds_count"), json["response"]["count"].as_f64().unwrap());
    let whole = histogram(&json["response"]["histogram"]);
    for bucket in &buckets[..buckets.len() - 1] {
        let limit: f64 = bucket.1["le"].parse().unwrap();
        let within = whole.count_between(0, (limit * 1e9).round() as u64);
        assert_eq!(bucket.2, within as f64, "{bucket:?}");
    }
    let target = all("dyno_load_info");
    assert!(target[0].1["url"].ends_with("/hello?a=%5C{seq}"), "{target:?}");
}

#[test]
fn a_metrics_page_is_whole_while_the_load_is_under_way_and_says_when_it_is_over() {
    let folder = Folder::new();
    let flags = ["load", "{url}/hello", "-c", "1", "-d", "50s", "--no-live", "--openmetrics"];
    let rig = Rig::new();
    let mut going = Going::start(rig.command(&[&flags[..], &[&folder.path("page")]].concat()));
    while !folder.has("page") {
        assert!(!going.ends_within(Duration::from_millis(20)), "{}", going.heard);
    }
    let is_over = || {
        let samples = parsed(&folder.read("page"));
        samples.iter().find(|one| one.0 == "dyno_load_over").unwrap().2
    };
    assert_eq!(is_over(), 0.0);
    going.signal(Signal::INT);
    going.end().status(130);
    assert_eq!(is_over(), 1.0);
}

#[test]
fn a_metrics_page_counts_failures_by_their_class() {
    let (samples, ran) = metrics(&["{url}/nothing", "-c", "1", "-n", "30"]);
    let classed = samples
        .iter()
        .find(|one| one.1.get("outcome").is_some_and(|name| name == "content.status"));
    assert_eq!(classed.unwrap().2, 30.0);
    ran.status(1);
}

#[test]
fn the_strict_reader_refuses_what_is_wrong() {
    let good = "# TYPE a counter\n# HELP a x\na_total{b=\"c\\\"\\\\\"} 1\n# EOF\n";
    assert_eq!(parsed(good)[0].1["b"], "c\"\\");
    for bad in [
        "# TYPE a counter\na_total 1\n",
        "# TYPE a counter\na 1\n# EOF\n",
        "# TYPE a counter\na_total{b=\"c} 1\n# EOF\n",
        "a_total 1\n# EOF\n",
        "# TYPE a gauge\na  1\n# EOF\n",
    ] {
        assert!(std::panic::catch_unwind(|| parsed(bad)).is_err(), "{bad}");
    }
}
