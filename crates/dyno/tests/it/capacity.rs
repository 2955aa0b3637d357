//! `dyno capacity`: what is typed wrongly, an aim that no rate keeps, and a search that is interrupted.

use std::sync::Arc;
use std::time::Duration;

use oracle::{Config, Delay, TlsConfig};
use rustix::process::Signal;

use crate::lab_rig::Lab;
use crate::rig::{Going, Ran, Rig, doubts};

/// A server that answers after 31 ms, whatever the rate.
const SLOW: &str = "DYNO serve --listen 127.0.0.1:{port} --delay constant:31ms";
/// A search that is soon over: the lowest rate is known after five loads, which end early.
const SHORT: [&str; 10] =
    ["--path", "/hello", "--p99", "10ms", "--min-rate", "50", "--warmup", "0s", "--width", "20%"];

fn start(lab: &Lab, arguments: &[&str]) -> Going {
    lab.start(&[&["capacity"], arguments].concat())
}

fn dyno(lab: &Lab, arguments: &[&str]) -> Ran {
    start(lab, arguments).end()
}

/// On a busy machine it cannot be reported.
#[track_caller]
fn not_met(ran: Ran) -> Ran {
    let is_open = ["were no evidence", "The time limit ended the search"];
    let could_not_tell = ran.code() == Some(2) && is_open.iter().any(|says| ran.has_sentence(says));
    assert!(ran.code() == Some(1) || could_not_tell, "{ran}");
    ran
}

#[test]
fn an_aim_that_no_rate_keeps_is_reported_with_what_the_lowest_rate_shows() {
    let lab = Lab::new();
    let files = ["-o", "c.json", "-o", "c.html"];
    let ran = not_met(dyno(&lab, &[&[SLOW][..], &SHORT, &files].concat()));
    let json = lab.json("c.json");
    crate::schema::fits("capacity", &json);
    if ran.code() == Some(1) {
        assert!(ran.has_sentence("does not hold even 5"), "{ran}");
        assert!(ran.has_sentence("(p99 is 3"), "{ran}");
        assert_eq!(json["capacity"]["conclusion"], "not_met");
        assert!(json["capacity"]["lower_per_s"].is_null());
        assert!(json["capacity"]["upper_per_s"].as_f64().unwrap() < 55.0);
        assert_eq!(json["verdict"]["word"], "valid");
    }
    let page = lab.read("c.html");
    assert!(page.contains("What does dyno serve hold?"));
    assert!(page.contains("requests/s that are held"), "the chart is there");
}

/// A high rate for a slow server, at which trials end soon.
const SOON: [&str; 6] = ["--min-rate", "400", "--max-rate", "480", "--warmup", "0s"];
const AIM: [&str; 5] = ["--p99", "50ms", "--width", "20%", "--json"];

/// Every trial reached the server.
#[track_caller]
fn searched(ran: Ran) {
    let ran = not_met(ran);
    for line in ran.stderr.lines().filter(|line| line.contains(": repeated: ")) {
        let ours =
            ["dyno itself sent late", "dyno was not running", "other programs", "the host took"];
        let is_ours = ours.iter().any(|says| line.contains(says));
        assert!(is_ours, "{ran}");
    }
    let json = ran.json();
    crate::schema::fits("capacity", &json);
    if ran.code() == Some(1) {
        assert_eq!(json["capacity"]["conclusion"], "not_met", "{ran}");
    }
}

#[test]
fn a_url_is_searched_over_tls_and_http2_and_from_agents_and_says_what_that_weakens() {
    let lab = Lab::new();
    let delay = Some(Delay::Constant(Duration::from_millis(131)));
    let config = Config { delay, tls: Some(Arc::new(TlsConfig::default())), ..Config::default() };
    let rig = Rig::oracle(config);
    let (url, authority) = (rig.url("/hello"), rig.authority_file().unwrap());
    let over = ["--ca", authority.path(), "--http2", "--load-on", "local:2"];
    let ran = dyno(&lab, &[&[url.as_str()][..], &over, &SOON, &AIM].concat());
    let json = ran.json();
    let ids = doubts(&json);
    assert!(ids.contains(&"capacity_one_process") || ran.code() == Some(2), "{ids:?}");
    searched(ran);
    let stranger = [&[url.as_str()][..], &SOON, &AIM].concat();
    dyno(&lab, &stranger).status(2).stderr_has("give --ca FILE");
}

#[test]
fn a_search_that_is_interrupted_goes_on_where_it_was() {
    let lab = Lab::new();
    let mut going = start(&lab, &[&[SLOW][..], &SHORT].concat());
    going.says("1 first");
    going.signal(Signal::INT);
    let ran = going.end().status(130).stderr_has("continue with: dyno capacity --resume 1");
    assert!(ran.has_sentence("The search is not finished"), "{ran}");
    let of_run = ["run", "--resume", "1", "--store", "state/dyno/runs.sqlite"];
    lab.dyno(&of_run).status(2).stderr_has("`dyno capacity --resume 1");
    not_met(dyno(&lab, &["--resume"])).stderr_has("resuming search 1 after");
    dyno(&lab, &["--resume"]).status(2).stderr_has("no search for a capacity is unfinished");
}

#[test]
fn what_cannot_be_searched_for_is_refused_with_the_way_out() {
    let lab = Lab::new();
    let aim = [SLOW, "--p99", "20ms", "--path", "/hello"];
    let both = [&aim[..], &["--min-rate", "100", "--max-rate", "50"]].concat();
    let short = [&aim[..], &["--max-time", "2s"]].concat();
    for (arguments, says) in [
        (&[SLOW, "--p99", "20ms", "--width", "0%"][..], "from 0.5 % to 100 %"),
        (&[SLOW, "--p99", "20ms", "--max-time", "0s"], "longer than 0"),
        (&["http://127.0.0.1:1/", "--p99", "20ms", "--isolate"], "--isolate"),
        (&["http://127.0.0.1:1/", "--p99", "20ms"], "127.0.0.1:1"),
        (&["--resume"], "no search for a capacity is unfinished"),
        (&["--p99", "20ms"], "<TARGET>"),
        (&both, "raise the one or lower the other"),
        (&short, "no search ends so soon"),
    ] {
        dyno(&lab, arguments).status(2).stderr_has(says);
    }
}
