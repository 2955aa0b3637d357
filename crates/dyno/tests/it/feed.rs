//! `dyno load --stream` and `--openmetrics`: what other programs see while a load is under way.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use load::Failure;
use rustix::process::Signal;
use serde_json::Value;

use crate::folder::Folder;
use crate::rig::{Going, Rig, histogram};
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
    let flags = ["-r", "200", "--warmup", "200ms", "-d", "1200ms", "--no-live", "--stream", "-o"];
    let all = [&["load"], &flags[..], &[&file, "{url}/hello"]].concat();
    let ran = Rig::new().dyno(&all).status(0).stderr_has("The server answered ");
    let lines = lines(&ran.stdout);
    let whole = folder.json("stream.json");
    adds_up(&lines, &whole);
    assert!(lines.iter().any(|line| line["is_warmup"] == true), "the warm-up has lines of its own");
    assert_eq!(whole["books"]["attempted"], 240);
}

#[test]
fn failures_have_their_class_in_a_stream_that_goes_to_a_file_and_on_a_metrics_page() {
    let folder = Folder::new();
    let (page, stream) = (folder.path("page"), format!("--stream={}", folder.path("lines")));
    let load = ["load", "{url}/nothing", "-r", "300", "-d", "1100ms", "--json", &stream];
    let ran = Rig::new().dyno(&[&load[..], &["--openmetrics", &page]].concat());
    let json = ran.status(1).json();
    let lines = lines(&folder.read("lines"));
    adds_up(&lines, &json);
    assert!(lines.iter().all(|line| line["failed"] == 0 || line["by_class"]["content.status"] == line["failed"]));
    let is_it = |name: &String| name == "content.status";
    let samples = parsed(&folder.read("page"));
    let classed = samples.iter().find(|one| one.1.get("outcome").is_some_and(is_it));
    assert_eq!(Some(classed.unwrap().2), json["books"]["failed"].as_f64());
}

#[test]
fn two_outputs_do_not_share_standard_output_and_a_bad_file_is_refused_at_once() {
    let (rig, same) = (Rig::new(), Folder::new());
    let [whole, dotted, linked] = ["out", "./out", "link"].map(|name| same.path(name));
    std::os::unix::fs::symlink("out", &linked).unwrap();
    same.write("out", "{}\n");
    let stream = format!("--stream={linked}");
    let [json, page, dotted_json, linked_json] =
        [("json", &whole), ("html", &whole), ("json", &dotted), ("json", &linked)]
            .map(|(format, path)| format!("{format}:{path}"));
    for (flags, says) in [
        (&["--stream", "--json"][..], "both write to standard output"),
        (&["--stream=/no/such/dir/x"], "--stream /no/such/dir/x: there is no such directory"),
        (&["--openmetrics", "/no/such/dir/x"], "--openmetrics /no/such/dir/x: there is no such"),
        (&["-o", &json, "-o", &page], "--output names the same file"),
        (&["-o", &dotted_json, &stream], "names the same file"),
        (&["--openmetrics", &whole, &stream], "--stream names the same file"),
        (&["-o", &linked_json, "--requests", &dotted], "--requests names the same file"),
    ] {
        let load = [&["load", "{url}/hello", "-n", "1"], flags].concat();
        rig.dyno(&load).status(2).stderr_has(says);
    }
    assert_eq!((same.read("out").as_str(), rig.requests()), ("{}\n", 0));
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
    let (name, mut rest) = line.split_at(line.find(['{', ' ']).expect("a name and a value"));
    let mut labels = BTreeMap::new();
    while let Some((label, after)) = rest.strip_prefix(['{', ',']).and_then(|it| it.split_once('='))
    {
        // Of JSON's escapes it has the few that it needs.
        let mut value = serde_json::Deserializer::from_str(after).into_iter::<String>();
        let text = value.next().expect("a label has a value").expect("it is in quotes");
        assert!(labels.insert(label.to_string(), text).is_none(), "{line}");
        rest = &after[value.byte_offset()..];
    }
    let rest = if labels.is_empty() { rest } else { rest.strip_prefix('}').expect("their end") };
    let value = rest.strip_prefix(' ').expect("one blank");
    (name.into(), labels, value.parse().unwrap_or_else(|_| panic!("{line}")))
}

#[test]
fn a_metrics_page_parses_and_says_what_the_results_say() {
    let folder = Folder::new();
    let load = ["load", "{url}/hello?a=\\{seq}", "-r", "300", "-d", "500ms", "--lenient", "--json"];
    let page = ["--no-live", "--openmetrics", &folder.path("metrics")];
    let json = Rig::new().dyno(&[&load[..], &page].concat()).json();
    let samples = parsed(&folder.read("metrics"));
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
fn a_metrics_page_is_whole_under_way_and_says_when_it_is_over_and_an_interrupted_stream_is_whole() {
    let folder = Folder::new();
    let [page, stream] = ["page", "lines"].map(|name| folder.path(name));
    let slow = "{url}/hello?delay=constant:200ms";
    let load = ["load", slow, "-c", "3", "-d", "50s", "--no-live", "--openmetrics"];
    let rest = [&page, "--json", &format!("--stream={stream}")];
    let rig = Rig::new();
    let mut going = Going::start(rig.command(&[&load[..], &rest].concat()));
    while !folder.has("page") || rig.requests() < 10 {
        assert!(!going.ends_within(Duration::from_millis(20)), "{}", going.heard);
    }
    let is_over = || {
        let samples = parsed(&folder.read("page"));
        samples.iter().find(|one| one.0 == "dyno_load_over").unwrap().2
    };
    assert_eq!(is_over(), 0.0);
    going.signal(Signal::INT);
    let ran = going.end().status(130);
    assert_eq!(is_over(), 1.0);
    let lines = lines(&folder.read("lines"));
    let sum: u64 = lines.iter().map(|line| line["attempted"].as_u64().unwrap()).sum();
    assert_eq!(sum, ran.json()["books"]["attempted"].as_u64().unwrap());
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
