//! `dyno load`: every flag does what it says.

use std::time::Duration;

use oracle::{Config, Listen};

use rustix::process::Signal;

use crate::folder::Folder;
use crate::lab_rig::until;
use crate::rig::{Going, Ran, Rig, closed_port, peer};

/// One request to a peer that returns what arrived.
fn ask(arguments: &[&str]) -> (Ran, String) {
    let (address, hears) = peer();
    let all = [&["load", "-n", "1", "-c", "1", "--no-live"], arguments].concat();
    let ran = Rig::at(address).dyno(&all);
    (ran, hears.try_recv().unwrap_or_default())
}

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
    load("{url}/hello", &["--same-body"])
        .status(0)
        .stdout_has("checked: status 2xx and body of 200 answers");
    // The report of a kept load says the same.
    let folder = Folder::new();
    let store = folder.path("runs.sqlite");
    load("{url}/hello", &["--same-body", "--keep", "--store", &store]).status(0);
    rig.dyno(&["report", "1", "--full", "--store", &store])
        .status(0)
        .stdout_has("checked: status 2xx and body of 200 answers");
    load("{url}/user/{seq}", &["--same-body"]).status(2).stderr_has("--same-body: `GET /user/0");
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

#[test]
fn ramps_and_steps_offer_what_lies_under_them() {
    let attempted = |rate, duration: &[&str]| {
        let all = [&["load", "{url}/hello", "--json", "-r", rate], duration].concat();
        Rig::new().dyno(&all).status(0).json()["books"]["attempted"].as_u64().unwrap()
    };
    assert!(attempted("100..300", &["-d", "1s"]).abs_diff(200) <= 1);
    assert_eq!(attempted("100:300ms,200:500ms", &[]), 130);
}

#[test]
fn poisson_arrivals_come_from_their_seed() {
    let attempted = |seed| {
        let flags = ["-r", "300", "-d", "500ms", "--arrivals", "poisson", "--seed", seed, "--json"];
        let ran = Rig::new().dyno(&[&["load", "{url}/hello"], &flags[..]].concat()).status(0);
        ran.json()["books"]["attempted"].as_u64().unwrap()
    };
    assert_eq!(attempted("7"), attempted("7"));
    assert!(attempted("7").abs_diff(150) < 60);
}

#[test]
fn sessions_make_their_calls_and_close() {
    let rig = Rig::new();
    let flags = ["--sessions", "100", "--calls", "5", "-n", "20", "--json"];
    let json = rig.dyno(&[&["load", "{url}/hello"], &flags[..]].concat()).status(0).json();
    assert_eq!(json["sessions"]["complete"], 20);
    assert_eq!(json["books"]["correct"], 100);
    assert_eq!(rig.truth().connections, 20);
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
fn without_keep_alive_each_request_has_a_connection() {
    let rig = Rig::new();
    rig.dyno(&["load", "{url}/hello", "-c", "2", "-n", "50", "--no-keepalive"]).status(0);
    // A connection may be refused or closed before it carries anything; the opposite never happens.
    assert!(50 <= rig.truth().connections, "{}", rig.truth().connections);
    let (_, request) = ask(&["{url}/", "--no-keepalive"]);
    assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
}

#[test]
fn method_header_and_body_go_out_as_they_were_written() {
    let fields = ["-H", "X-One: 1", "-H", "Host: me"];
    let (ran, request) =
        ask(&[&["{url}/a b?x={seq}", "-m", "PUT", "-b", "n={seq}"], &fields[..]].concat());
    ran.status(0);
    assert!(request.starts_with("PUT /a%20b?x=0 HTTP/1.1\r\n"), "{request}");
    assert!(
        request.contains("\r\nX-One: 1\r\n") && request.contains("\r\nHost: me\r\n"),
        "{request}"
    );
    assert!(request.ends_with("\r\n\r\nn=0"), "{request}");
}

#[test]
fn a_body_is_posted_and_a_files_body_is_taken_byte_by_byte() {
    let (_folder, path) = Folder::with("body", "{seq}\n");
    let (ran, request) = ask(&["{url}/", "-B", &path]);
    ran.status(0);
    assert!(request.starts_with("POST / HTTP/1.1\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{seq}\n"), "{request}");
}

#[test]
fn http_1_0_is_spoken_when_asked_for() {
    let (_, request) = ask(&["{url}/", "--http1.0"]);
    assert!(request.starts_with("GET / HTTP/1.0\r\n"), "{request}");
    assert!(request.contains("\r\nConnection: keep-alive\r\n"), "{request}");
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
fn a_slow_answer_is_censored_at_the_time_out() {
    let rig =
        Rig::oracle(Config { delay: Some("constant:3s".parse().unwrap()), ..Config::default() });
    let ran = rig.dyno(&["load", "{url}/hello", "-c", "2", "-d", "500ms", "--timeout", "200ms"]);
    ran.status(1).stdout_has("≥200ms").stdout_has("recv.first_byte_timeout");
}

#[test]
fn failures_up_to_the_limit_are_no_failure() {
    let rig = Rig::new();
    let run = |limit| {
        rig.dyno(&["load", "{url}/nothing", "-n", "20", "-c", "1", "--max-failures", limit])
    };
    // A load of nothing but failures is no measurement.
    run("100").status(2);
    run("99").status(1);
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
fn a_port_without_a_server_is_reported_as_such() {
    let (_held, gone) = closed_port();
    let run = |flags: &[&str]| {
        Rig::at(gone).dyno(&[&["load", "{url}/", "-c", "2"], flags].concat()).status(2)
    };
    run(&["-d", "300ms"])
        .stdout_has("no server listens on 127.0.0.1:")
        .stdout_has("verdict: invalid");
    let ran = run(&["-d", "50s"]).stdout_has("gave up");
    assert!(ran.took < Duration::from_secs(40), "{ran}");
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
    let (few, many) = (peak("100", "20000"), peak("8100", "20000"));
    let each = many.saturating_sub(few) / 8_000;
    assert!(each <= 2_048, "{each} bytes a connection: {few} with 100, {many} with 8,100");
}
