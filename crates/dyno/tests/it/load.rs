//! `dyno load`: every flag does what it says.

use std::time::Duration;

use oracle::{Config, Listen};

use rustix::process::Signal;

use crate::folder::Folder;
use crate::lab_rig::until;
use crate::rig::{Going, Rig, peer};

#[test]
fn what_was_checked_is_said_and_bodies_can_be_compared_with_the_first_one() {
    let rig = Rig::new();
    let load = |target: &str, more: &[&str]| {
        rig.dyno(&[&["load", target, "-c", "2", "-n", "200"], more].concat())
    };
    load("{url}/hello", &[])
        .status(0)
        .stdout_has("checked: status 2xx of 200 answers; the bodies were not compared")
        .stdout_has("GET http://127.0.0.1:")
        .stdout_has("closed: 2 connections")
        .stdout_lacks("\x1b[");
    // The report of a kept load says the same.
    let folder = Folder::new();
    let store = folder.path("runs.sqlite");
    let says = "checked: status 2xx and body of 200 answers";
    load("{url}/hello", &["--same-body", "--keep", "--store", &store]).status(0).stdout_has(says);
    rig.dyno(&["report", "1", "--full", "--store", &store]).status(0).stdout_has(says);
    load("{url}/user/{seq}", &["--same-body"]).status(2).stderr_has("--same-body: `GET /user/0");
    let head = |more: &[&str]| load("{url}/hello", &[&["--method", "HEAD"], more].concat());
    head(&["--same-body"]).status(0).stdout_has("the bodies were not compared");
    head(&["--expect-body", "x"]).status(2).stderr_has("--expect-body: answers to HEAD have no");
    let faulty = Rig::faulty("wrong-body", 0.5);
    let ran = faulty.dyno(&["load", "{url}/hello", "-n", "200", "--same-body", "--json"]).status(1);
    assert!(ran.json()["books"]["failed"].as_u64() > Some(0), "half of the bodies are others");
}

#[test]
fn a_rate_is_kept_and_its_habits_of_other_tools_work() {
    let rig = Rig::new();
    for flags in [["-r", "200"], ["-q", "200"], ["-R", "0.2k"]] {
        let ran = rig.dyno(&["load", "{url}/hello", "-z", "1", flags[0], flags[1], "--json"]);
        let json = ran.status(0).json();
        assert_eq!(json["books"]["attempted"], 200);
        assert_eq!(json["order"]["load"]["kind"], "open");
    }
}

/// Over HTTP/1.1 by `Connection: close`, over HTTP/2 by GOAWAY. All requests are answered, and no session is completed.
#[test]
fn sessions_that_the_server_ends_have_failed() {
    let ends = Rig::faulty("h2-goaway", 1.0);
    let flags = ["--sessions", "100", "--calls", "15", "-n", "20", "--require", "failed<1%"];
    let run = |rig: &Rig, more: &[&str]| {
        let json = rig.dyno(&[&["load"], &flags[..], &["--json"], more].concat()).status(1).json();
        let sessions = &json["sessions"];
        assert_eq!((sessions["failed"].as_u64(), sessions["cut"].as_u64()), (Some(20), Some(20)));
        assert_eq!(json["books"]["failed"], 0);
        let mut doubts = json["verdict"]["doubts"].as_array().unwrap().iter();
        assert!(doubts.any(|doubt| doubt["id"] == "failures" && doubt["gravity"] == "suspect"));
        // Of an invalid load on a busy machine nothing is decided.
        let is_invalid = json["verdict"]["word"] == "invalid";
        assert!(json["requirements"][0]["word"] == "not met" || is_invalid);
        assert!(!json.to_string().contains("keep up"), "{json}");
        json["sentence"].as_str().unwrap().to_string()
    };
    let says = run(&ends, &["{url}/hello", "--http2"]);
    let first = "The server failed 100 % of the sessions (20 of 20): in 20 the server closed the connection after 1 call;";
    assert!(says.starts_with(first), "{says}");
    let says = run(&Rig::new(), &["{url}/hello?fault=close-lies-open"]);
    assert!(says.contains("closed the connection after 1 call; it completed 0 of 20"), "{says}");
}

#[test]
fn what_goes_out_is_what_the_flags_say() {
    let (_folder, file) = Folder::with("body", "{seq}\n");
    let put =
        ["{url}/a b?x={seq}", "-m", "PUT", "-b", "n={seq}", "-H", "X-One: 1", "-H", "Host: me"];
    for (flags, first, field, last) in [
        (&put[..], "PUT /a%20b?x=0 HTTP/1.1\r\n", "\r\nX-One: 1\r\n", "\r\n\r\nn=0"),
        (&put, "PUT ", "\r\nHost: me\r\n", ""),
        // The content of a file is taken byte by byte.
        (&["{url}/", "-B", &file], "POST / HTTP/1.1\r\n", "", "\r\n\r\n{seq}\n"),
        (&["{url}/", "--http1.0"], "GET / HTTP/1.0\r\n", "\r\nConnection: keep-alive\r\n", ""),
    ] {
        let (address, hears) = peer();
        let one = ["load", "-n", "1", "-c", "1", "--no-live"];
        Rig::at(address).dyno(&[&one, flags].concat()).status(0);
        let request = hears.try_recv().unwrap_or_default();
        let is_so =
            request.starts_with(first) && request.contains(field) && request.ends_with(last);
        assert!(is_so, "{flags:?}: {request}");
    }
}

#[test]
fn placeholders_are_filled_and_must_come_back() {
    let rig = Rig::new();
    let xml = "<http_test><value>{random:8}</value></http_test>";
    let flags = ["-n", "100", "-c", "2", "--expect-header", "Content-Type: text/xml"];
    let url = "{url}/?value={random:8}";
    rig.dyno(&[&["load", url, "--expect-body", xml], &flags[..]].concat()).status(0);
    let other = "<http_test><value>{random:7}</value></http_test>";
    rig.dyno(&[&["load", url, "--expect-body", other], &flags[..]].concat())
        .status(1)
        .stdout_has("content.mismatch");
}

#[test]
fn what_must_come_back_is_judged() {
    let rig = Rig::new();
    let judged = |flag: &str, right: &str, wrong: &str, class: &str| {
        let run = |value| rig.dyno(&["load", "{url}/hello", "-n", "20", "-c", "1", flag, value]);
        run(right).status(0);
        run(wrong).status(1).stdout_has(class);
    };
    let right = "sha256:315f5bdb76d078c43b8ac0064e4a0164612b1fce77c869345bfc94c75894edd3";
    judged("--expect-body", right, &right.replace("315f", "325f"), "content.mismatch");
    judged("--expect-body", "length:13", "length:12", "content.mismatch");
    judged("--expect-status", "200", "204", "content.status");
    judged("--expect-header", "content-length: 13", "content-length: 14", "content.header");
    let any = ["load", "{url}/nothing/there", "-n", "20", "-c", "1", "--expect-status"];
    rig.dyno(&[&any[..], &["any"]].concat()).status(0);
    rig.dyno(&[&any[..], &["404"]].concat()).status(0);
}

#[test]
fn sources_are_taken_in_turn_and_cpus_and_lanes_as_ordered() {
    let flags =
        ["--source", "127.0.0.2,127.0.0.3", "--load-cpus", "0", "-t", "2", "--spin", "never"];
    let more = ["-c", "4", "-n", "200", "--warmup", "100ms", "--json", "--lenient"];
    let ran = Rig::new().dyno(&[&["load", "{url}/hello"], &flags[..], &more[..]].concat());
    let order = &ran.status(0).json()["order"];
    assert_eq!(order["sources"], serde_json::json!(["127.0.0.2", "127.0.0.3"]));
    assert_eq!(
        (&order["lanes"], &order["cpus"][0], &order["spin"]),
        (&2.into(), &0.into(), &"never".into())
    );
    assert_eq!((&order["warmup_s"], &order["lenient"]), (&0.1.into(), &true.into()));
}

#[test]
fn a_unix_socket_is_pressed_in_both_ways_of_writing_it() {
    let folder = Folder::new();
    let path = folder.path("socket");
    let listen = Listen::Unix(path.clone().into());
    let rig = Rig::oracle(Config { listen, ..Config::default() });
    let url = format!("unix:{path}:/hello");
    rig.dyno(&["load", &url, "-n", "10", "-c", "1", "--expect-body", "Hello, world!"]).status(0);
    rig.dyno(&["load", "http://app/hello", "--unix", &path, "-n", "10", "-c", "1"])
        .status(0)
        .stdout_has("at unix:/");
}

#[test]
fn a_name_is_resolved_and_its_address_printed() {
    let rig = Rig::new();
    let ran = rig.dyno(&["load", "{url}/hello", "-n", "5", "-c", "1", "--json"]).status(0);
    let address = ran.json()["order"]["target_address"].as_str().unwrap().to_string();
    let by_name = address.replace("127.0.0.1", "localhost");
    rig.dyno(&["load", &by_name, "-n", "5", "-c", "1"])
        .status(0)
        .stdout_has(&format!("at {address}"));
}

#[test]
fn progress_goes_to_standard_error_unless_it_is_not_wanted() {
    let rig = Rig::new();
    let run = |more: &[&str]| {
        let all = [&["load", "{url}/hello", "-r", "50", "-d", "2200ms"], more].concat();
        rig.dyno(&all).status(0)
    };
    run(&[]).stderr_has("answered  p50 ");
    let silent = run(&["--no-live"]);
    assert!(!silent.stderr.contains("answered"), "{silent}");
}

#[test]
fn a_load_says_that_another_dyno_is_at_work() {
    let (rig, other) = (Rig::new(), Rig::new());
    let going = Going::start(other.command(&["load", "{url}/hello", "-c", "1", "-d", "50s"]));
    until("requests arrive", || 1 <= other.requests());
    rig.dyno(&["load", "{url}/hello", "-n", "1", "-c", "1"])
        .status(0)
        .stderr_has("another dyno is at work on this machine (process ");
    going.signal(Signal::INT);
    going.end().status(130);
}

/// As `timeout` sends them; two kinds, because two of one kind may be delivered as one.
#[test]
fn two_signals_at_once_are_one_request_to_stop() {
    let rig = Rig::new();
    let going = Going::start(rig.command(&["load", "{url}/hello", "-c", "2", "-d", "50s"]));
    until("requests arrive", || 10 <= rig.requests());
    going.signal(Signal::INT);
    going.signal(Signal::TERM);
    let ran = going.end().status(130);
    assert!(ran.took < Duration::from_secs(40), "{ran}");
    ran.stdout_has("The server answered").stdout_has("It was stopped after");
}

#[test]
fn a_load_under_nohup_outlives_its_terminal() {
    let rig = Rig::new().without_hangups();
    let going = Going::start(rig.command(&["load", "{url}/hello", "-c", "2", "-d", "2s"]));
    until("requests arrive", || 10 <= rig.requests());
    going.signal(Signal::HUP);
    going.end().stdout_lacks("It was stopped after");
}

#[test]
fn a_reader_that_has_gone_away_is_no_panic() {
    let script =
        format!("'{}' load \"$0\" -n 10 -c 1 2>&1 | true; echo over", env!("CARGO_BIN_EXE_dyno"));
    let rig = Rig::new();
    let address = rig.dyno(&["load", "{url}/hello", "-n", "1", "-c", "1", "--json"]).json();
    let url = address["order"]["url"].as_str().unwrap().to_string();
    let done = std::process::Command::new("sh").args(["-c", &script, &url]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "over\n");
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
}

/// Two thousand bytes for each idle connection: ten thousand of them need nothing special.
#[test]
fn an_idle_connection_costs_little_memory() {
    let rig = Rig::new();
    let peak = |connections: &str, requests: &str| {
        let load = ["load", "{url}/hello", "-c", connections, "-n", requests, "-t", "1", "--json"];
        let json = rig.dyno(&[&load[..], &["--timeout", "50s"]].concat()).status(0).json();
        assert_eq!(json["books"]["correct"].to_string(), requests);
        json["generator"]["peak_memory_bytes"].as_u64().unwrap()
    };
    let (few, many) = (peak("100", "1000"), peak("8100", "9000"));
    let each = many.saturating_sub(few) / 8_000;
    assert!(each <= 2_048, "{each} bytes a connection: {few} with 100, {many} with 8,100");
}
