//! Experiments over TLS: what it costs, how long handshakes take, and how many sessions are resumed.

use crate::lab_rig::{Lab, ORACLE};

#[test]
fn a_slow_handshake_is_in_its_own_figures_and_resumed_sessions_are_counted() {
    let lab = Lab::new().subject(
        "slow",
        &format!(
            "run = '{ORACLE}'\nprotocols = ['http/1.1', 'http/1.1+tls']\n\
             run_tls = '{ORACLE} --tls --cert {{cert}} --key {{key}} --tls-delay constant:40ms'"
        ),
    );
    let load = "closed = { connections = 2 }, total = 60, keep_alive = false, \
                protocol = ['http/1.1', 'http/1.1+tls'], tls_resume = [0, 100]";
    let rest = "columns = ['tls_p50_ms', 'tls_resumed_percent', 'connect_p50_ms']";
    let lab = lab.experiment("x", &["slow"], load, rest);
    // On a busy machine its rows may be in doubt, or invalid; their figures are there.
    let ran = lab.dyno(&["run", "x"]);
    let _ = ran.stdout_has("TLS p50").stdout_has("resumed");
    let json = lab.dyno(&["report", "--format", "json"]).status(0).json();
    let figure = |task: &str, name: &str| {
        let mut tables = json["tables"].as_array().unwrap().iter();
        let table = tables.find(|table| table["workload"] == task).expect("it has the table");
        table["rows"][0]["figures"][name]["value"].as_f64()
    };
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
