//! Where and when `dyno load` sends what: listed arrivals, another address than the URL's, a header field from a
//! command; and what the report says of the answers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::folder::Folder;
use crate::rig::{Rig, peer};

#[test]
fn requests_leave_when_the_file_says() {
    let (_folder, times) = Folder::with("times", "100\n100\n100.2\n100.4\n100.8\n");
    let load = |rest: &[&str]| {
        let usual = ["load", "{url}/hello", "--json", "--arrivals", &times];
        let rig = Rig::new();
        let json = rig.dyno(&[&usual, rest].concat()).status(0).json();
        crate::schema::fits("load", &json);
        (json, rig.requests())
    };
    let (json, requests) = load(&["-t", "1"]);
    assert_eq!(
        (json["books"]["due"].as_u64(), json["books"]["correct"].as_u64()),
        (Some(5), Some(5))
    );
    assert_eq!(requests, 5);
    assert_eq!(json["order"]["load"]["arrivals"]["law"], "listed");
    assert_eq!(json["order"]["load"]["arrivals"]["length_s"], 1.0);
    assert_eq!(json["rate"]["offered_per_s"], 5.0, "five in 0.8 s and one mean gap of 0.2 s");
    assert_eq!(json["sections"].as_array().unwrap().len(), 10);
    let (json, _) = load(&["--speed", "4"]);
    assert_eq!(
        (json["books"]["due"].as_u64(), json["rate"]["offered_per_s"].as_f64()),
        (Some(5), Some(20.0))
    );
    let (json, requests) = load(&["-d", "300ms"]);
    assert_eq!((json["books"]["due"].as_u64(), requests), (Some(3), 3));
    assert_eq!(json["rate"]["offered_per_s"], 10.0);
}

#[test]
fn a_file_of_times_or_a_command_that_does_not_fit_stops_the_load() {
    let rig = Rig::new();
    let (_own, times) = Folder::with("own", "0\n1\n");
    let (_folder, bad) = Folder::with("bad", "0\nsoon\n");
    for (command, flags, says) in [
        ("load", &["--arrivals", &times, "-r", "10"][..], "leave --rate out"),
        ("load", &["--arrivals", &times, "--sessions", "10"], "leave --sessions out"),
        ("load", &["--arrivals", &times, "--warmup", "2s"], "shorten the warm-up"),
        ("load", &["--arrivals", &bad], ":2: `soon` is not a time"),
        ("load", &["--arrivals", "/no/poison"], "write constant, poisson, or the path"),
        ("load", &["--speed", "2"], "--speed is for --arrivals FILE"),
        ("race", &["{url}/", "--arrivals", &times], "a race has one rate"),
        ("load", &["--header-command", "A: false"], "'A: …': it failed (exit status: 1)"),
        ("load", &["--header-command", "A: /no/such/program"], "cannot be run"),
        ("load", &["--header-command", "no colon"], "Name: value"),
    ] {
        let words = [&[command, "{url}/hello"], flags].concat();
        rig.dyno(&words).status(2).stderr_has(says);
    }
    assert_eq!(rig.requests(), 0);
}

#[test]
fn a_load_connects_elsewhere_than_the_url_says() {
    let (address, hears) = peer();
    let rig = Rig::at(address);
    let usual = ["load", "http://shop.example/cart", "-n", "1", "-c", "1", "--connect-to"];
    rig.dyno(&[&usual[..], &["{address}"]].concat())
        .status(0)
        .stdout_has(&format!("GET http://shop.example/cart at {address}"));
    let request = hears.try_recv().unwrap();
    assert!(request.starts_with("GET /cart HTTP/1.1\r\nHost: shop.example\r\n"), "{request}");
    let refused = |place: &str, says: &str| {
        rig.dyno(&[&usual[..], &[place]].concat()).status(2).stderr_has(says);
    };
    refused("192.0.2.1:80", "add --i-may-load-this-target");
    refused("169.254.169.254:80", "metadata");
}

/// The value goes to the server, and nowhere else: not even into the evidence of a failure.
#[test]
fn a_header_field_from_a_command_is_sent_and_never_shown() {
    let (address, hears) = peer();
    let rig = Rig::at(address);
    let usual =
        ["load", "{url}/", "-n", "2", "-c", "1", "--expect-status", "500", "--header-command"];
    let command = "Authorization: printf 'Bearer %s\\nnot this' hush-hush-4711";
    let folder = Folder::new();
    let out = folder.path("out.json");
    let all = [&usual[..], &[command, "-o", &out, "--stream"]].concat();
    let ran = rig.dyno(&all).status(1);
    let request = hears.try_recv().unwrap();
    assert!(request.contains("\r\nAuthorization: Bearer hush-hush-4711\r\n"), "{request}");
    let json = folder.read("out.json");
    let kept = &folder.json("out.json")["evidence"][0]["request"];
    let kept = STANDARD.decode(kept.as_str().unwrap()).unwrap();
    let kept = String::from_utf8(kept).unwrap();
    assert!(kept.contains("\r\nAuthorization: (not shown)\r\n"), "{kept}");
    for text in [&ran.stdout, &ran.stderr, &json, &kept] {
        assert!(!text.contains("hush-hush"), "{text}");
    }
}

#[test]
fn the_statuses_that_came_are_shown_with_the_first_wrong_answer() {
    let rig = Rig::new();
    rig.dyno(&["load", "{url}/nothing", "-n", "20", "-c", "1"])
        .status(1)
        .stdout_has("statuses  20 × 404 Not Found\n")
        .stdout_has("20 (100 %) content.status: another status than expected (20 × 404 Not Found)")
        .stdout_has("the first content.status, request 0:")
        .stdout_has("received: HTTP/1.1 404 Not Found\\r\\n")
        .stdout_has("Every one of 20 attempts failed: content.status, another status than expected (20 × 404");
    let ran = rig.dyno(&["load", "{url}/user/{seq}", "-n", "200", "-c", "1", "--json"]).status(0);
    let answers = &ran.json()["answers"];
    assert_eq!(answers["statuses"]["200"], 200);
    let size = |name: &str| answers[name].as_f64().unwrap();
    assert!(
        size("smallest_bytes") < size("mean_bytes") && size("mean_bytes") < size("largest_bytes")
    );
}

#[test]
fn the_full_report_has_more_percentiles_and_the_brief_one_does_not() {
    let rig = Rig::new();
    let load = |full: &[&str]| {
        rig.dyno(&[&["load", "{url}/hello", "-n", "500", "-c", "1"], full].concat())
    };
    let full = load(&["--full"]).status(0);
    let heads = full.stdout.lines().find(|line| line.trim_start().starts_with("samples"));
    let heads: Vec<&str> = heads.expect("a table of times").split_whitespace().collect();
    let all =
        ["samples", "mean", "sd", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max"];
    assert_eq!(heads, all, "{full}");
    load(&[]).status(0).stdout_lacks("p75").stdout_has("first byte ");
}
