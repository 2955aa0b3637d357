//! `dyno check`: against the oracle, against servers with faults, against no server at all.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::Command;

use rustix::process::Signal;

use crate::folder::Folder;
use crate::lab_rig::Lab;
use crate::rig::{Going, Ran, Rig, closed_port, serving};
use crate::schema::fits;

/// A few cheap cases.
const FEW: [&str; 4] = ["--case", "H1-B01,H1-B03,H1-H01", "--rounds", "1"];

#[track_caller]
fn check(rig: &Rig, flags: &[&str]) -> Ran {
    rig.dyno(&[&["check"], flags].concat())
}

/// A server that answers everything with these bytes, and closes.
fn says(answer: &'static [u8]) -> Rig {
    says_at(Ipv4Addr::LOCALHOST, answer)
}

pub(crate) fn says_at(at: impl Into<IpAddr>, answer: &'static [u8]) -> Rig {
    Rig::at(serving(at, move |mut stream| {
        let _ = stream.read(&mut [0; 65_536]);
        let _ = stream.write_all(answer);
    }))
}

/// 200 for everything, with bytes that a terminal, a page and a parser would obey.
const HOSTILE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\
    X-Bad: \x1b[2J<script>\"&]]>\x00\xff\r\n\r\n<b>\x1b[31m|x";

#[test]
fn the_oracle_keeps_what_it_is_asked() {
    let folder = Folder::new();
    let [json, table] = ["c.json", "c.md"].map(|name| folder.path(name));
    let asked = ["{url}/hello", "--socket", "/wsecho", "--case", "H1-B*,WS-H01"];
    let ran = check(&Rig::new(), &[&asked[..], &["-o", &json, "-o", &table]].concat()).status(0);
    let ran = ran.stdout_has("HTTP/1.1 ").stdout_has(" 0 fail · 0 not testable of ");
    let ran = ran
        .stdout_has("WebSocket 1 pass · 0 warn · 0 fail · 0 not testable of 1 | MUST broken 0 | ")
        .stdout_has(&format!("| catalogue {}\n", check::stamp()))
        .stdout_has("100 % of the points; ")
        .stdout_has("only a part of the catalogue was asked");
    let ran = ran.stdout_lacks("\x1b").stdout_lacks("Not testable").stdout_lacks("Warnings");
    let ran = ran.stdout_lacks("GET /hello HTTP/1.1");
    ran.stderr_has("3 times each").stderr_has("cases decided, 0 failed");
    let json = folder.json("c.json");
    fits("check", &json);
    assert_eq!(json["catalogue"]["hash"], check::stamp().hash);
    let table = folder.read("c.md");
    assert!(table.contains("| WebSocket | 1 | 0 | 0 | 0 | 1 |"), "{table}");
    assert!(table.contains("only a part of it was asked"), "{table}");
}

#[test]
fn a_bad_server_is_reported_with_its_bytes_escaped() {
    let folder = Folder::new();
    let [json, junit] = ["c.json", "c.xml"].map(|name| folder.path(name));
    let four = ["{url}/", "--case", "H1-B01,H1-B03,H1-H01,H1-H02", "--rounds", "1"];
    let files = ["-o", &json, "-o", &junit];
    let ran = check(&says(HOSTILE), &[&four[..], &files].concat()).status(1);
    let begin =
        "2 cases failed. Begin with H1-H02 (two different Host lines; MUST, smuggling), H1-H01";
    let ran = ran
        .stdout_has("fail  H1-H01  ")
        .stdout_has("RFC 9112, 3.2, MUST")
        .stdout_has("clause    https://www.rfc-editor.org/rfc/rfc9112#section-3.2\n")
        .stdout_has("received  HTTP/1.1 200 OK\\r\\n\n")
        .stdout_has("\\x1b[2J<script>")
        .stdout_has(begin)
        .stdout_has("security 1: H02");
    let place = |text: &str| ran.stdout.find(text).unwrap();
    assert!(place(begin) < place("MUST broken") && place("MUST broken") < place("fail  H1-H02"));
    ran.stdout_lacks("\x1b").stdout_lacks("\x00").stdout_has("MUST broken 2");
    let json = folder.json("c.json");
    fits("check", &json);
    let findings = json["servers"][0]["check"]["findings"].as_array().unwrap();
    let broken = findings.iter().find(|it| it["id"] == "H1-H01").unwrap();
    assert_eq!((&broken["verdict"], &broken["rounds"][0]), (&"fail".into(), &"fail".into()));
    assert!(broken["received"].as_str().unwrap().contains(r"\x1b[2J"), "{broken}");
    let tests = parsed(&folder.read("c.xml"));
    assert!(tests.starts_with("testsuites 4 2 0 4 2 "), "{tests}");
}

#[test]
fn what_fails_is_for_the_user_to_say() {
    let rig = says(HOSTILE);
    let smuggled = ["--case", "H1-H02", "--rounds", "1"];
    for (word, cases, status) in
        [("should", &FEW[..], 1), ("security", &FEW, 0), ("security", &smuggled, 1)]
    {
        let _ = check(&rig, &[&["{url}/", "--fail-on", word], cases].concat()).status(status);
    }
    let lenient = ["{url}/", "--fail-on", "never", "--format", "junit"];
    let lenient = check(&rig, &[&lenient[..], &smuggled].concat()).status(0);
    assert!(parsed(&lenient.stdout).starts_with("testsuites 1 0 0 1 0 "));
}

#[test]
fn a_port_without_a_server_cannot_be_judged() {
    let (_held, gone) = closed_port();
    let folder = Folder::new();
    let [json, junit] = ["c.json", "c.xml"].map(|name| folder.path(name));
    let ran = check(&Rig::at(gone), &["{url}/", "-o", &json, "-o", &junit]).status(2);
    let _ = ran.stdout_has("no server answers at 127.0.0.1:").stdout_has("start the server first");
    let json = folder.json("c.json");
    fits("check", &json);
    assert!(json["servers"][0]["error"].as_str().unwrap().contains("no server answers"));
    assert_eq!(parsed(&folder.read("c.xml")), "testsuites 1 0 1 1 0 0 1");
}

#[test]
fn a_server_that_answers_nothing_fails_and_nothing_else_is_said_of_it() {
    let ran = check(&says(b""), &[&["{url}/"], &FEW[..]].concat()).status(1);
    let ran = ran.stdout_has("fail  H1-B01  a plain GET").stdout_has("no percentage: only 1 of ");
    let _ = ran.stdout_has("a plain GET is not answered with success");
}

#[test]
fn flags_that_make_no_sense_say_the_way_out() {
    for (flags, says) in [
        (&[][..], "<SERVER>"),
        (&["{url}/", "--rounds", "0"], "1..=20"),
        (&["{url}/", "--fail-on", "may"], "must, should, security or never"),
        (&["https://localhost:1/", "--ca", "/no/such.pem"], "/no/such.pem"),
        (&["{url}/", "--case", "H2-B01"], "these are cases of HTTP/2: add --http2"),
        (&["{url}/", "--http2", "--area", "websocket"], "leave --http2 out"),
        (&["{url}/", "--http2", "--socket", "/ws"], "--socket"),
        (&["{url}/", "--issue", "H1-*"], "--issue is about one case of one server"),
        (&["{url}/", "{url}/a", "--issue", "H1-H02"], "--issue is about one case of one server"),
        (&["{url}/", "--issue", "H1-H02", "--json"], "--json"),
    ] {
        Rig::nowhere().refuses(&[&["check"], flags].concat(), &[says]);
    }
    let cloud = check(&Rig::nowhere(), &["http://169.254.169.254/"]).status(2);
    let _ = cloud.stdout_has("169.254.169.254 is a cloud's metadata address");
}

/// The document as Python's parser reads it: the attributes of the suites, and how many failures and skips they
/// contain.
fn parsed(xml: &str) -> String {
    let script = "import sys, xml.etree.ElementTree as tree\n\
        root = tree.fromstring(sys.stdin.buffer.read())\n\
        suite = root[0]\n\
        count = lambda name: len(suite.findall('testcase/' + name))\n\
        print(root.tag, suite.get('tests'), suite.get('failures'), suite.get('errors'), len(suite), \
        count('failure'), count('skipped'), count('error'))";
    let mut python = Command::new("python3");
    python.args(["-c", script]);
    Ran::with_input(python, xml.as_bytes()).status(0).stdout.trim().to_string()
}

#[test]
fn the_catalogue_can_be_read_without_asking_anybody() {
    let rig = Rig::nowhere();
    let all = check(&rig, &["--list"]).status(0);
    for case in check::catalogue() {
        assert!(all.stdout.contains(case.id) && all.stdout.contains(case.title), "{}", case.id);
    }
    let part = check(&rig, &["--list", "--area", "websocket"]).status(0);
    let part = part.stdout_has("WS-H01").stdout_lacks("H1-B01");
    assert!(part.stdout.lines().count() < all.stdout.lines().count());
    let loud = check(&rig, &["--list", "--case", "h1-b01", "--full"]).status(0);
    let _ = loud.stdout_has(r"send GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n").stdout_has("demand");
    let http2 = check(&rig, &["--list", "--http2"]).status(0);
    let _ = http2.stdout_has("H2-B01").stdout_lacks("H1-B01");
    let json = check(&rig, &["--list", "--json"]).status(0).json();
    assert_eq!(json["cases"].as_array().unwrap().len(), check::catalogue().len());
    assert_eq!(json["catalogue"]["hash"], check::stamp().hash);
}

/// An address of this machine that is not loopback: it stands for a foreign server's.
pub(crate) fn outer_address() -> Option<IpAddr> {
    // Nothing is sent: the kernel only chooses the route.
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    TcpListener::bind((address, 0)).ok().filter(|_| !address.is_loopback()).map(|_| address)
}

#[test]
fn what_could_harm_is_not_sent_to_other_machines_unless_their_owner_agrees() {
    let Some(address) = outer_address() else {
        return crate::lab_rig::not_tested("a server elsewhere", "an address that is not loopback");
    };
    let rig = says_at(address, HOSTILE);
    let flags = ["{url}/", "--case", "H1-H01,H1-H02", "--rounds", "1"];
    let polite = check(&rig, &flags).status(1).stdout_has("H1-H01");
    let polite = polite.stdout_has("Not applicable, and not counted (1)").stdout_has("security 0");
    let _ = polite.stdout_has("H1-H02: not sent: ").stdout_has("--i-may-probe-this-target");
    let agreed = [&flags[..], &["--i-may-probe-this-target"]].concat();
    let _ = check(&rig, &agreed).status(1).stdout_has("security 1: H02");
}

#[test]
fn a_websocket_alone_is_checked_as_one() {
    let rig = Rig::new();
    let flags = ["ws://{address}/wsecho", "--rounds", "1", "--case", "WS-H01,H1-B01"];
    let _ = check(&rig, &flags).status(0).stdout_has("WebSocket 1 pass").stdout_lacks("H1-B01");
    let none =
        check(&rig, &["ws://{address}/hello", "--rounds", "1", "--case", "WS-H01"]).status(1);
    let _ = none.stdout_has("fail  WS-H01");
}

#[test]
fn subjects_are_started_for_it_and_gone_afterwards() {
    let lab =
        Lab::new().oracle("good", "").subject("gone", "run = 'sh -c \"echo no; exit 3\" {port}'");
    let few = ["--case", "H1-B01,H1-H01", "--rounds", "1"];
    let ran = lab.dyno(&[&["check", "good"], &few[..]].concat()).status(0);
    let _ = ran.stdout_has("good · A subject").stdout_has("page /hello").stdout_has("2 pass");
    let both = lab.dyno(&[&["check", "--all"], &few[..]].concat()).status(2);
    let both = both.stdout_has("good").stdout_has("not checked: it cannot be checked: ");
    let _ = both.stdout_has("it ended before it answered: exit status 3 (`no`)");
    let own = Lab::bare().dyno(&[&["check", "oracle"], &few[..]].concat()).status(0);
    assert!(own.has_sentence("POST /echo or /sum or /user or /hello, "), "{own}");
    let unknown = lab.dyno(&["check", "god"]).status(2);
    let _ = unknown.stderr_has("unknown server `god`; did you mean `good`?");
}

#[test]
fn an_interrupted_check_reports_what_it_found() {
    let lab = Lab::new().oracle("slow", "--delay constant:300ms");
    let mut going: Going = lab.start(&["check", "slow", "--rounds", "20"]);
    going.says("checking slow");
    going.signal(Signal::INT);
    let ran = going.end().status(130);
    let _ = ran.stdout_has("cut short: interrupted").stdout_has("HTTP/1.1 ");
}
