//! What `dyno load` sends when a file, a curl command or a browser's recording says it; and the file that it writes of
//! such a recording.

use std::fs::File;

use crate::folder::Folder;
use crate::rig::{Rig, peer};
use crate::schema;

/// How often each resource of the oracle was requested: hello, user, echo.
fn counts(rig: &Rig) -> [u64; 3] {
    let resources = rig.truth().resources;
    ["hello", "user", "echo"].map(|name| {
        let count = resources.iter().find(|(known, _)| *known == name).map(|(_, count)| *count);
        count.unwrap_or(0)
    })
}

const THREE: &str = "{\"path\": \"/hello\", \"expect\": {\"body\": \"Hello, world!\"}}\n\
                     {\"path\": \"/user/{random:4}\", \"expect\": {\"body\": \"{random:4}\"}}\n\
                     {\"path\": \"/echo?value={seq}\", \"expect\": {\"status\": 200}}\n";

/// The first lines of requests to a peer, in the order in which they came.
fn sent(flags: &[&str]) -> Vec<String> {
    let (address, hears) = peer();
    let all = [&["load", "{url}/", "--no-live", "-t", "1"], flags].concat();
    Rig::at(address).dyno(&all).status(0);
    let line = |request: String| request.split(" HTTP/").next().unwrap().to_string();
    hears.try_iter().map(line).collect()
}

#[test]
fn on_one_connection_the_lines_are_sent_in_their_order_over_and_over() {
    let text = "{\"path\": \"/a\"}\n{\"path\": \"/b\", \"body\": \"x\"}\n\n{\"method\": \"PUT\", \"path\": \"/c\"}\n";
    let (_folder, file) = Folder::with("order.jsonl", text);
    let sent_by =
        |flags: &[&str]| sent(&[&["--requests", &file, "-c", "1", "-n", "7"], flags].concat());
    let in_order = ["GET /a", "POST /b", "PUT /c", "GET /a", "POST /b", "PUT /c", "GET /a"];
    assert_eq!(sent_by(&[]), in_order);
    assert_eq!(sent_by(&["--order", "in-order", "-r", "500"]), in_order);
    let shuffled = sent_by(&["--order", "shuffled", "--seed", "2"]);
    assert_eq!(shuffled, sent_by(&["--order", "shuffled", "--seed", "2"]));
    assert_eq!(shuffled[..3], shuffled[3..6], "the same order over and over");
}

#[test]
fn weights_are_the_mix_unless_another_order_is_asked_for() {
    let weighted = THREE.replacen("\"expect\"", "\"weight\": 7, \"expect\"", 1);
    let weighted =
        weighted.replacen("{seq}\", \"expect\"", "{seq}\", \"weight\": 2, \"expect\"", 1);
    let (_folder, file) = Folder::with("weights.jsonl", &weighted);
    let rig = Rig::new();
    let flags = ["load", "{url}", "--requests", &file, "-c", "9", "-t", "3", "--json", "-n"];
    let json = rig.dyno(&[&flags[..], &["1000"]].concat()).status(0).json();
    assert_eq!(json["order"]["request_file"]["order"], "weighted");
    let [hello, user, echo] = counts(&rig);
    assert_eq!(hello + user + echo, 1_000);
    // Six standard deviations.
    assert!(hello.abs_diff(700) < 87 && user.abs_diff(100) < 57 && echo.abs_diff(200) < 76);
    let rig = Rig::new();
    let json = rig.dyno(&[&flags[..], &["600", "--order", "in-order"]].concat()).status(0).json();
    assert_eq!(json["books"]["correct"], 600);
    assert_eq!(counts(&rig), [200, 200, 200], "each line is sent equally often");
}

#[test]
fn an_answer_is_judged_by_its_own_line() {
    let wrong = "{\"path\": \"/hello\"}\n{\"path\": \"/user/7\", \"expect\": {\"body\": \"8\"}}\n";
    let (_folder, file) = Folder::with("wrong.jsonl", wrong);
    let flags = ["load", "{url}", "--requests", &file, "-n", "100", "-c", "2", "--json"];
    let json = Rig::new().dyno(&flags).status(1).json();
    assert_eq!(
        (&json["books"]["correct"], &json["books"]["by_class"]["content.mismatch"]),
        (&50.into(), &50.into())
    );
}

#[test]
fn requests_are_read_from_standard_input() {
    let (_folder, file) = Folder::with("stdin.jsonl", THREE);
    let rig = Rig::new();
    let mut command = rig.command(&["load", "{url}", "--requests", "-", "-n", "30", "-c", "1"]);
    let done = command.stdin(File::open(file).unwrap()).output().unwrap();
    let stdout = String::from_utf8_lossy(&done.stdout);
    // On a busy machine the load may be invalid.
    assert!(matches!(done.status.code(), Some(0 | 2)), "{stdout}");
    assert!(stdout.contains("3 requests of standard input, in order"), "{stdout}");
    assert_eq!(counts(&rig), [10, 10, 10]);
}

#[test]
fn a_workload_of_the_experiments_is_sent() {
    let workloads = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads");
    let file = |name: &str| format!("{workloads}/{name}.toml");
    let rig = Rig::new();
    let flags = ["load", "{url}", "-n", "2000", "-c", "2", "--json", "--workload"];
    let json = rig.dyno(&[&flags[..], &[&file("echo-xml")]].concat()).status(0).json();
    schema::fits("load", &json);
    assert_eq!(json["books"]["correct"], 2_000);
    let of_file = &json["order"]["request_file"];
    assert_eq!((&of_file["kind"], &of_file["order"]), (&"workload".into(), &"weighted".into()));
    let (address, hears) = peer();
    let flags =
        ["load", "{url}", "-n", "1", "-c", "1", "--no-keepalive", "--workload", &file("post-echo")];
    Rig::at(address).dyno(&flags).status(1);
    let request = hears.try_recv().unwrap();
    assert!(request.contains(&format!("\r\nHost: {address}\r\n")), "{request}");
    assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
    for (name, says) in [
        ("poll", "dyno hold"),
        ("wspoll", "dyno hold"),
        ("wsecho", "for dyno check"),
        ("json", "data that dyno gives to servers that it starts"),
        ("files", "data that dyno gives to servers that it starts"),
    ] {
        let flags = ["load", "{url}", "--workload", &file(name)];
        Rig::at(address).dyno(&flags).status(2).stderr_has(says).stderr_has(name);
    }
}

#[test]
fn a_curl_command_is_sent() {
    let (address, hears) = peer();
    let command =
        "curl -s 'http://{address}/api?x=1' -H 'X-Id: {seq}' -d '{\"a\": 1}' --compressed";
    let flags = ["load", "--curl", command, "-n", "1", "-c", "1", "--expect-body", "ok"];
    Rig::at(address)
        .dyno(&flags)
        .status(0)
        .stdout_has(&format!("POST http://{address}/api?x=1 at "))
        .stderr_has("note: --curl: -s: no effect here");
    assert_eq!(
        hears.try_recv().unwrap(),
        format!(
            "POST /api?x=1 HTTP/1.1\r\nHost: {address}\r\nX-Id: 0\r\nAccept-Encoding: deflate, gzip\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\n{{\"a\": 1}}"
        )
    );
}

#[test]
fn what_cannot_be_sent_is_refused_before_anything_starts() {
    let (_folder, file) =
        Folder::with("bad.jsonl", "{\"path\": \"/\"}\n{\"path\": \"/\", \"wight\": 2}\n");
    let (_other, good) = Folder::with("good.jsonl", "{\"path\": \"/\"}\n");
    let workload = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/hello.toml");
    for (flags, words) in [
        (
            &["{url}", "--requests", &file][..],
            &["bad.jsonl:2: column ", "unknown key `wight`; did you mean `weight`?"][..],
        ),
        (&["{url}", "--requests", "/no/such"], &["--requests /no/such: ", "name a file"]),
        (&["{url}", "--requests", "/dev/zero"], &["larger than 256 MiB"]),
        (&["{url}", "--requests", "1000"], &["a number of requests is given with -n 1000"]),
        (&["{url}/api", "--requests", &good], &["the URL's /api", "leave that out"]),
        (&["{url}/api", "--workload", workload], &["the URL's /api"]),
        (&["{url}", "--workload", &good], &["good.jsonl:1: "]),
        (&["{url}", "--workload", "/no/such.toml"], &["/no/such.toml: cannot be read"]),
        (&["{url}", "--workload", workload, "--requests", &good], &["--requests", "--workload"]),
        (&["{url}", "--workload", workload, "-H", "A: b"], &["--workload", "--header"]),
        (&["{url}", "--order", "shuffled"], &["--order", "add --requests"]),
        (&["{url}", "--curl", "curl {url}"], &["[URL]", "--curl"]),
        (&["--curl", "curl http://192.0.2.1/"], &["192.0.2.1", "--i-may-load-this-target"]),
    ] {
        Rig::nowhere().refuses(&[&["load"], flags].concat(), words);
    }
}

const HAR: &str = r#"{"log": {"version": "1.2", "creator": {}, "entries": [
    {"request": {"method": "GET", "url": "http://shop.example/hello", "headers": [{"name": "Host", "value": "x"}]},
     "response": {"status": 200}},
    {"request": {"method": "GET", "url": "http://cdn.example/x.js", "headers": []}, "response": {"status": 200}},
    {"request": {"method": "POST", "url": "http://shop.example/user", "headers": [],
     "postData": {"mimeType": "text/plain", "text": "dyno"}}, "response": {"status": 200}}]}}"#;

#[test]
fn what_a_browser_recorded_is_written_and_sent_again() {
    let (folder, har) = Folder::with("shop.har", HAR);
    let out = folder.path("shop.jsonl");
    let rig = Rig::new();
    rig.dyno(&["load", "--har", &har, "--write-requests", &out])
        .status(0)
        .stderr_has("2 requests to http://shop.example")
        .stderr_has(
            "left out: 1 request to 1 other origin (--origin takes another): http://cdn.example",
        );
    let written = folder.read("shop.jsonl");
    assert_eq!(
        written,
        "{\"method\":\"GET\",\"path\":\"/hello\",\"expect\":{\"status\":200}}\n\
         {\"method\":\"POST\",\"path\":\"/user\",\"body\":\"dyno\",\"expect\":{\"status\":200}}\n"
    );
    let json = rig
        .dyno(&["load", "{url}", "--requests", &out, "-n", "20", "-c", "1", "--json"])
        .status(0)
        .json();
    assert_eq!(json["books"]["correct"], 20);
    let recorded = ["load", "{url}", "--har", &har, "-n", "20", "-c", "1", "--json"];
    let json = rig.dyno(&recorded).status(0).json();
    schema::fits("load", &json);
    assert_eq!(json["books"]["correct"], 20);
    let of_file = &json["order"]["request_file"];
    assert_eq!((&of_file["kind"], &of_file["name"]), (&"har".into(), &har.as_str().into()));
    let digest = wire::sha256(written.as_bytes()).map(|byte| format!("{byte:02x}")).concat();
    assert_eq!((&of_file["requests"], &of_file["sha256"]), (&2.into(), &digest.into()));
    let other = ["--origin", "http://cdn.example:80", "--write-requests", "-"];
    let ran = rig.dyno(&[&["load", "--har", &har], &other[..]].concat()).status(0);
    assert_eq!(ran.stdout, "{\"method\":\"GET\",\"path\":\"/x.js\",\"expect\":{\"status\":200}}\n");
}

#[test]
fn what_is_no_recording_is_refused_and_nothing_is_written() {
    let (folder, file) = Folder::with("x.har", "{\"log\": {\"entries\": []}}");
    let out = folder.path("x.jsonl");
    let (_public, public) = Folder::with("public.har", HAR.replace("shop.example", "192.0.2.1"));
    for (flags, says) in [
        (
            &["--har", &file, "--write-requests", &out][..],
            "x.har: there is no request to http:// or https:// in it",
        ),
        (&["--har", "/no/such"], "--har /no/such: "),
        (&["--har", &file, "--write-requests", "/no/such/x"], "--write-requests /no/such/x: "),
        (&["--har", &public], "--i-may-load-this-target"),
        (&["--har", &file, "--curl", "curl localhost"], "--har"),
        (&["{url}", "--write-requests", &out], "--har <FILE>"),
    ] {
        Rig::nowhere().refuses(&[&["load"], flags].concat(), &[says]);
    }
    assert!(!folder.has("x.jsonl"));
}
