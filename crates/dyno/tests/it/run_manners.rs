//! Experiments over TLS and HTTP/2: what they cost, how long handshakes take, and servers that are not under the same
//! load as the others.

use serde_json::Value;

use crate::lab_rig::{Lab, ORACLE};

const SPOKEN: &str = "protocols = ['http/1.1', 'http/1.1+tls', 'h2c', 'h2']";

/// The oracle over every protocol, with these flags.
fn oracle(lab: Lab, name: &str, flags: &str) -> Lab {
    let tls = format!("run_tls = '{ORACLE} --tls --cert {{cert}} --key {{key}} {flags}'");
    let plain = flags.split(" --tls-").next().unwrap_or_default();
    let plain = if plain.starts_with("--tls-") { "" } else { plain };
    lab.subject(name, &format!("run = '{ORACLE} {plain}'\n{tls}\n{SPOKEN}"))
}

fn json(lab: &Lab) -> Value {
    lab.dyno(&["report", "--format", "json"]).status(0).json()
}

/// The row of a subject in the table of this task.
fn row<'j>(json: &'j Value, task: &str, subject: &str) -> &'j Value {
    let tables = json["tables"].as_array().unwrap().iter();
    let table = tables.clone().find(|table| table["workload"] == task).expect("it has the table");
    let mut rows = table["rows"].as_array().unwrap().iter();
    rows.find(|row| row["subject"] == subject).expect("it has the row")
}

#[test]
fn a_slow_handshake_is_in_its_own_figures_and_resumed_sessions_are_counted() {
    let lab = oracle(Lab::new(), "slow", "--tls-delay constant:40ms");
    let load = "closed = { connections = 2 }, total = 60, keep_alive = false, \
                protocol = ['http/1.1', 'http/1.1+tls'], tls_resume = [0, 100]";
    let rest = "columns = ['tls_p50_ms', 'tls_resumed_percent', 'connect_p50_ms']";
    let lab = lab.experiment("x", &["slow"], load, rest);
    // On a busy machine its rows may be in doubt, or invalid; their figures are there.
    let ran = lab.dyno(&["run", "x"]);
    let _ = ran.stdout_has("TLS p50").stdout_has("resumed");
    let json = json(&lab);
    let figure =
        |task: &str, name: &str| row(&json, task, "slow")["figures"][name]["value"].as_f64();
    let (full, again) = ("hello over http/1.1+tls", "hello over http/1.1+tls, 100 % resumed");
    for task in [full, again] {
        let handshake = figure(task, "tls_p50_ms").unwrap();
        assert!(40.0 <= handshake, "{task}: {handshake}");
        assert!(handshake <= figure(task, "tls_p99_ms").unwrap(), "{task}");
        assert!(figure(task, "connect_p50_ms").unwrap() < handshake, "TCP is not TLS: {task}");
        assert!(handshake < figure(task, "response_p50_ms").unwrap(), "each request has its own");
    }
    assert_eq!(figure(full, "tls_resumed_percent"), Some(0.0));
    let resumed = figure(again, "tls_resumed_percent").unwrap();
    assert!((80.0..=100.0).contains(&resumed), "{resumed}");
    assert_eq!(figure("hello", "tls_p50_ms"), None, "cleartext");
    let prices = json["prices"].as_array().unwrap().iter();
    let paid: Vec<&str> = prices.map(|price| price["paid_for"].as_str().unwrap()).collect();
    assert_eq!(paid, ["tls", "tls", "resumption"]);
}

#[test]
fn a_server_that_allows_fewer_streams_than_the_others_is_not_ranked() {
    let lab = oracle(oracle(Lab::new(), "wide", ""), "narrow", "--streams 3");
    let load = "closed = { connections = 2 }, total = 400, protocol = ['http/1.1', 'h2c'], streams = [1, 10]";
    let lab = lab.experiment("x", &["wide", "narrow"], load, "");
    let _ = lab
        .dyno(&["run", "x"])
        .stdout_has("(not ranked)")
        .stdout_has("hello over h2c, 10 streams at 2: the server allowed 3 requests at once");
    let json = json(&lab);
    let unranked = |task: &str, subject: &str| {
        row(&json, task, subject)["not_ranked"].as_str().map(String::from)
    };
    for task in ["hello", "hello over h2c, 1 stream"] {
        assert_eq!((unranked(task, "wide"), unranked(task, "narrow")), (None, None), "{task}");
    }
    let ten = "hello over h2c, 10 streams";
    assert_eq!(unranked(ten, "wide"), None);
    assert!(unranked(ten, "narrow").is_some_and(|why| why.starts_with("the server allowed 3 ")));
    let doubts = row(&json, ten, "narrow")["verdict"].to_string();
    assert!(doubts.contains("streams_capped"), "{doubts}");
    let prices = json["prices"].as_array().unwrap().iter();
    let price = prices.clone().find(|price| price["with"]["streams"] == 10).unwrap();
    let mut left_out = price["left_out"].as_array().unwrap().iter();
    let is_narrow = |lack: &Value| lack["subject"] == "narrow" && lack["why"] == "not_ranked";
    assert!(left_out.any(is_narrow), "{price}");
    assert!(price["rows"].as_array().unwrap().len() <= 1, "{price}");
}

#[test]
fn servers_with_another_chain_of_certificates_are_invalid_where_the_others_agree() {
    // One sends its certificate twice, and one gives no tickets.
    let twice = "run_tls = 'sh twice.sh {cert} {dyno} serve --listen {address}:{port} --threads 1 --tls \
                 --cert twice.pem --key {key}'";
    let lab = oracle(oracle(Lab::new(), "a", ""), "b", "--tls-tickets 0")
        .subject("c", &format!("run = '{ORACLE}'\n{twice}\n{SPOKEN}"))
        .file("subjects/c/twice.sh", "cat \"$1\" \"$1\" >twice.pem\nshift\nexec \"$@\"\n");
    let load = "closed = { connections = 2 }, total = 60, keep_alive = false, protocol = 'http/1.1+tls', \
                tls_resume = 100";
    let lab = lab.experiment("x", &["a", "b", "c"], load, "");
    let ran = lab.dyno(&["run", "x"]);
    let _ = ran.stdout_has("tls unlike").stdout_has("resumption unlike");
    let json = json(&lab);
    let task = "hello over http/1.1+tls, 100 % resumed";
    let verdict = |subject: &str| row(&json, task, subject)["verdict"].clone();
    let has = |subject: &str| verdict(subject).to_string().contains("tls_unlike");
    assert_eq!(["a", "b", "c"].map(has), [false, false, true]);
    assert_eq!(verdict("c")["word"], "invalid");
    assert!(verdict("b").to_string().contains("resumption_unlike"));
    let unranked =
        |subject: &str| row(&json, task, subject)["not_ranked"].as_str().map(String::from);
    assert_eq!(unranked("a"), None);
    assert!(unranked("b").is_some_and(|why| why.contains("not one handshake resumed a session")));
}
