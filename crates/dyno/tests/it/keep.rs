//! `dyno load` that is kept, repeated, compared as files, shown as a page, or printed as another tool prints it.

use std::fs;
use std::sync::Arc;

use oracle::Config;
use rustix::process::Signal;

use crate::folder::Folder;
use crate::rig::{Going, Rig, doubts};
use crate::schema::fits;

#[test]
fn a_kept_load_is_a_run_with_the_figures_and_the_verdict_that_were_printed() {
    let folder = Folder::new();
    let store = folder.path("s.sqlite");
    let rig = Rig::new();
    // Few samples, some of them failed: as a round of a run, its verdict would be another.
    let few = ["-n", "200", "-c", "2", "--expect-status", "404", "--max-failures", "100"];
    for flags in [&["-d", "500ms", "-c", "2"][..], &["-r", "300", "-d", "500ms"], &few] {
        let all = [&["load", "{url}/hello", "--json", "--keep", "--store", &store], flags].concat();
        let ran = rig.dyno(&all);
        let printed = ran.json();
        fits("load", &printed);
        let ran = ran.stderr_has("kept as run ");
        let said = ran.stderr.split("kept as run ").nth(1).unwrap();
        let id: String = said.chars().take_while(char::is_ascii_digit).collect();
        let report = ["report", &id, "--store", &store];
        let ran = rig.dyno(&[&report[..], &["--format", "json"]].concat()).status(0);
        let kept = ran.json();
        fits("run", &kept);
        let row = &kept["tables"][0]["rows"][0];
        let figure = |name: &str| row["figures"][name]["value"].as_f64();
        let throughput = printed["rate"]["throughput_per_s"].as_f64().unwrap();
        assert!((figure("throughput_per_s").unwrap() - throughput).abs() < 0.001, "{row:#}");
        let p50 = printed["response"]["p50_ns"].as_f64().map(|ns| ns / 1e6);
        assert_eq!(figure("response_p50_ms"), p50);
        assert_eq!(row["verdict"]["word"], printed["verdict"]["word"], "{row:#} {printed:#}");
        assert_eq!(doubts(row), doubts(&printed));
        rig.dyno(&report).status(0).stdout_has("GET http://127.0.0.1:");
    }
    let compared = rig.dyno(&["compare", "1", "2", "--store", &store]);
    let side =
        format!("only in A: {}, load at", rig.url("/").replace("http://", "").replace('/', ""));
    let compared = compared.status(2).stdout_has("No row of A has a measured partner in B");
    let compared = compared.stdout_has("1 row that A measured is not in B").stdout_has(&side);
    assert!(compared.has_sentence("`--rounds` of `dyno load` sets their number"), "{compared}");
}

#[test]
fn differences_of_loads_are_in_the_words_of_their_flags() {
    let folder = Folder::new();
    let (store, file) = (folder.path("s.sqlite"), folder.path("requests"));
    let rig = Rig::new();
    let keep = |url: &str, flags: &[&str]| {
        let all = ["load", url, "--keep", "--store", &store, "-c", "1", "-n", "20"];
        let _ = rig.dyno(&[&all[..], flags].concat()).stderr_has("kept as run ");
    };
    keep("{url}/hello", &[]);
    let long = "x".repeat(70);
    keep("{url}/hello", &["--expect-body", &long, "--body", "sent", "--header", "X-One: 1"]);
    fs::write(&file, "{\"path\": \"/hello\"}\n{\"path\": \"/user/1\"}\n").unwrap();
    keep("{url}", &["--requests", &file]);
    keep("{url}", &["--requests", &file, "--order", "shuffled"]);
    let compare = |a, b, code| rig.dyno(&["compare", a, b, "--store", &store]).status(code);
    compare("1", "2", 1)
        .stdout_has("expected body (--expect-body): A had nothing, B")
        .stdout_has(&format!("\n{}…\n", "x".repeat(60)))
        .stdout_has("body (--body): A had nothing, B sent")
        .stdout_has("header fields (--header): A had nothing, B X-One: 1");
    compare("3", "4", 2).stdout_has("order of the requests (--order): A had in order");
    let _ = rig
        .dyno(&["runs", "list", "--store", &store])
        .stdout_has(&format!("GET {}", rig.url("/hello")));
    let load = ["load", "{url}/hello", "--keep", "--store", &store, "-c", "1", "-n", "900000000"];
    let _ = Rig::new().dyno_interrupted(&load).status(130);
    compare("1", "5", 2)
        .stdout_has("the loads differ in how they ended: A had whole loads, B an interrupted load");
}

#[test]
fn a_seed_is_kept_as_it_was_up_to_the_largest() {
    let folder = Folder::new();
    let store = folder.path("s.sqlite");
    let rig = Rig::new();
    for (run, seed) in [(1, 0), (2, u64::MAX)] {
        let flags =
            ["load", "{url}/hello", "-r", "200", "-n", "20", "--arrivals", "poisson", "--json"];
        let kept = ["--keep", "--store", &store, "--seed", &seed.to_string()];
        let printed = rig.dyno(&[&flags[..], &kept].concat()).json();
        assert_eq!(printed["order"]["seed"].as_u64(), Some(seed));
        let report = ["report", &run.to_string(), "--store", &store, "--format", "json"];
        let report = rig.dyno(&report).status(0).json();
        assert_eq!(report["run"]["seed"].as_u64(), Some(seed), "run {run}");
        let store = store::Store::open_to_read(store.as_ref()).unwrap();
        let run = store.run(run.to_string().parse().unwrap()).unwrap();
        assert_eq!(run.experiment.unwrap().seed, seed);
    }
}

#[test]
fn repeated_loads_have_intervals_and_are_each_there() {
    let folder = Folder::new();
    let (store, output) = (folder.path("s.sqlite"), folder.path("all.json"));
    let rig = Rig::new();
    let load = ["load", "{url}/hello", "-n", "1500", "-c", "2", "--rounds", "3"];
    let ran = rig.dyno(&[&load[..], &["--keep", "--store", &store, "-o", &output]].concat());
    ran.status(0)
        .stdout_has("mean [95 %]")
        .stdout_has("GET http://127.0.0.1:")
        .stdout_has("95 %")
        .stderr_has("load 2 of 3 is done")
        .stderr_has("kept as run 1");
    assert_eq!(rig.requests(), 4_500);
    let json = folder.json("all.json");
    fits("loads", &json);
    assert_eq!(json["loads"].as_array().unwrap().len(), 3);
    let throughput = &json["figures"]["throughput_per_s"];
    let of = |name: &str| throughput[name].as_f64().unwrap();
    assert!(of("low") <= of("value") && of("value") <= of("high") && throughput["loads"] == 3);
    let seeds = json["loads"].as_array().unwrap().iter().map(|load| &load["order"]["seed"]);
    assert_eq!(seeds.collect::<Vec<_>>(), [1, 2, 3]);
    // The same loads give the same estimate, from the store and from the file.
    let kept = rig.dyno(&["report", "1", "--store", &store, "--format", "json"]).status(0).json();
    let row = &kept["tables"][0]["rows"][0]["figures"]["throughput_per_s"];
    assert_eq!((&row["low"], &row["high"]), (&throughput["low"], &throughput["high"]));
}

#[test]
fn files_of_single_loads_are_compared_without_an_interval() {
    let folder = Folder::new();
    let [a, b, json, other] = ["a.json", "b.json", "c.json", "text"].map(|name| folder.path(name));
    let rig = Rig::new();
    for (path, delay) in [(&a, "constant:1ms"), (&b, "constant:9ms")] {
        let url = format!("{{url}}/hello?delay={delay}");
        rig.dyno(&["load", &url, "-n", "200", "-c", "4", "-o", path]);
    }
    let ran = rig.dyno(&["compare", &a, &b, "-o", &json]).status(2);
    ran.stdout_has("Single loads have no repetitions").stdout_has("request: A had GET");
    let json = folder.json("c.json");
    fits("compare", &json);
    let figures = json["rows"][0]["figures"].as_array().unwrap();
    let p50 = figures.iter().find(|figure| figure["figure"] == "response_p50_ms").unwrap();
    assert!(2.0 < p50["ratio"].as_f64().unwrap() && p50["ratio_low"].is_null(), "{p50}");
    fs::write(&other, [0xff, 0xfe]).unwrap();
    for (files, says) in [
        (&[other.as_str(), &b][..], "it is not text"),
        (&["none.json", &b], "none.json"),
        (&[&a, "3"], "one is a file and the other is not"),
        (&[&a, &a], "the same file"),
        (&[&a, &b, "--store", "s"], "--store"),
    ] {
        rig.dyno(&[&["compare"], files].concat()).status(2).stderr_has(says);
    }
}

#[test]
fn what_a_run_cannot_say_is_refused_by_its_flag_before_the_load() {
    let folder = Folder::new();
    let [store, times, binary] = ["s.sqlite", "times", "binary"].map(|name| folder.path(name));
    folder.write("times", "0\n0.1\n0.2\n");
    folder.write("binary", [0xff, 0]);
    let rig = Rig::new();
    let kept = ["--keep", "--store", &store];
    for (flags, says) in [
        (
            &[&kept[..], &["--arrivals", &times]].concat()[..],
            "--arrivals: a load that is kept, repeated or in a history has",
        ),
        (&[&kept[..], &["-H", "A: 1", "-H", "a: 2"]].concat(), "the field `a` is given twice"),
        (&[&kept[..], &["-B", &binary]].concat(), "in a history sends text"),
        (&["-s", "x.lua"], "-s x.lua: dyno runs no Lua script; say by flags"),
        (&["--rounds", "1001"], "at most 1,000 rounds"),
        (&["--like", "wrk", "--json"], "cannot be used with"),
        (&["-o", "/no/such/folder/x.html"], "--output /no/such/folder/x.html"),
        (&["--keep", "--store", "/no/such/folder/s"], "/no/such/folder/s"),
        (&["--seed", "18446744073709551616"], "--seed"),
    ] {
        rig.dyno(&[&["load", "{url}/hello"], flags].concat()).status(2).stderr_has(says);
    }
    assert_eq!(rig.requests(), 0);
    assert!(!folder.has("s.sqlite"), "nothing was kept");
}

#[test]
fn a_run_of_loads_that_goes_on_is_deleted_by_no_other_dyno() {
    let folder = Folder::new();
    let store = folder.path("s.sqlite");
    let rig = Rig::new();
    let load = ["load", "{url}/hello", "--keep", "--store", &store, "-c", "1", "-d", "50ms"];
    let mut going = Going::start(rig.command(&[&load[..], &["--rounds", "1000"]].concat()));
    going.says("load 2 of 1000 is done");
    let _ = rig
        .dyno(&["runs", "rm", "1", "--store", &store])
        .status(2)
        .stderr_has("is working on run 1");
    going.signal(Signal::INT);
    let ran = going.end().status(130);
    let _ = ran.stderr_has("interrupted; what was measured is kept as run 1");
    rig.dyno(&["runs", "rm", "1", "--store", &store]).status(0);
}

#[test]
fn the_first_of_several_loads_is_reported_where_it_was_interrupted() {
    let folder = Folder::new();
    let store = folder.path("s.sqlite");
    let load = ["load", "{url}/hello", "--keep", "--store", &store, "-c", "1", "-d", "50s"];
    let ran = Rig::new().dyno_interrupted(&[&load[..], &["--rounds", "3"]].concat()).status(130);
    let ran = ran
        .stderr_has("load 1 of 3 was interrupted; what it measured until then is reported")
        .stderr_has("interrupted; what was measured is kept as run 1");
    assert!(!ran.stderr.contains("is done"), "{ran}");
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_kept_loads_whole() {
    let folder = Folder::new();
    let store = folder.path("s.sqlite");
    let rig = Rig::new();
    let load =
        ["load", "{url}/hello", "--keep", "--store", &store, "-d", "100ms", "-o", "json:/dev/full"];
    let ran = rig.dyno(&load);
    assert!(matches!(ran.code(), Some(2)), "{ran}");
    let store = store::Store::open(std::path::Path::new(&store)).unwrap();
    let runs = store.runs().unwrap();
    assert!(matches!(runs[0].ended, Some((_, store::RunEnd::Done))), "the run has its end");
}

#[test]
fn a_ramp_and_steps_are_kept_and_called_by_their_rates() {
    let folder = Folder::new();
    let store = folder.path("s.sqlite");
    let rig = Rig::new();
    for (run, rate, says) in [
        ("1", &["50..200", "-d", "300ms"][..], "open: from 50 to 200 requests/s within 300 ms"),
        (
            "2",
            &["100:150ms,200:150ms"],
            "open: requests at 100/s for 150 ms, then 200/s for 150 ms",
        ),
    ] {
        let load = ["load", "{url}/hello", "--keep", "--store", &store, "-r"];
        let ran = rig.dyno(&[&load[..], rate].concat());
        assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
        rig.dyno(&["report", run, "--store", &store]).status(0).stdout_has(says);
    }
}

#[test]
fn a_page_has_the_course_and_escapes_what_the_server_sent() {
    let folder = Folder::new();
    let page = folder.path("load.html");
    let load = ["-n", "1", "-c", "1", "--expect-body", "<b>x</b>", "-o", &page];
    let sent = "<script>alert(1)</script>";
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{sent}", sent.len());
    let reply = oracle::Reply::parse(reply.as_bytes()).unwrap();
    let hostile = Rig::oracle(Config { reply: Some(Arc::new(reply)), ..Config::default() });
    hostile.dyno(&[&["load", "{url}/"], &load[..]].concat()).status(1);
    let html = folder.read("load.html");
    assert!(!html.contains("<script>alert") && !html.contains("<b>x"), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)"), "the answer is shown: {html}");
    assert!(html.contains("Content-Security-Policy"));
    let rig = Rig::new();
    let ran = rig.dyno(&["load", "{url}/hello", "-d", "200ms", "-c", "2", "-o", &page]).status(0);
    ran.stdout_has("The server answered ");
    let html = folder.read("load.html");
    for part in [
        "Along its time",
        "Percentiles",
        "The server answered ",
        "<svg",
        "requests/s on 2 connections",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // A ramp is no run, and has a page all the same.
    let ramp = ["-r", "50..200", "-d", "200ms", "-o", &page];
    rig.dyno(&[&["load", "{url}/hello"], &ramp[..]].concat()).status(0);
    assert!(folder.read("load.html").contains("each tenth of a ramp"));
    let all = ["--rounds", "2", "-n", "100", "-o", &page, "--require", "p50<9s"];
    rig.dyno(&[&["load", "{url}/hello"], &all[..]].concat());
    let html = folder.read("load.html");
    for part in [
        "the means of 2 loads",
        "Every trial as CSV",
        "<input hidden type=\"search\"",
        "What was required",
        "p50&lt;9s: met in ",
        "All loads together",
        "One load along its time",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for part in ["run –", ">rank", "One round", "RFCs", "what was due"] {
        let visible = html.split("<body>").nth(1).unwrap().split("<script>").next().unwrap();
        assert!(!visible.contains(part), "{part}");
    }
}

#[test]
fn a_load_in_the_form_of_another_tool_has_its_verdict_beside_it_and_the_exit_code_stays_dyno_s() {
    let rig = Rig::new();
    let wrong = ["load", "{url}/hello", "-n", "200", "-c", "2", "--expect-status", "404"];
    let ran = rig.dyno(&[&wrong[..], &["--like", "wrk"]].concat()).status(1);
    ran.stdout_has("  Non-2xx or 3xx responses: 200\n")
        .stdout_has("Requests/sec:      0.00\n")
        .stdout_lacks("verdict")
        .stderr_has("dyno: verdict: invalid")
        .stderr_has("dyno: invalid: Not one of 200 attempts was answered as expected");
    let right = ["-t1", "-c2", "-n2000", "--timeout", "8", "--latency", "-H", "X: y"];
    let ran = rig.dyno(&[&["load", "{url}/hello", "--like", "hey"], &right[..]].concat());
    ran.status(0).stdout_has("  [200]\t2000 responses\n").stderr_has("dyno: verdict: ");
}
