//! How much of the RFCs the subjects of a run keep: checked once, taken over, left out, required, and under load.

use lab::conformance::{CaseVerdict, Conformance, Spot};
use lab::record::Phase;
use rustix::process::Signal;
use serde_json::Value;

use crate::lab_rig::{Lab, SHORT};
use crate::schema::fits;

const CHECKED: &str = "[trials]\nrepeat = 1\npause = '0s'\ncheck = true";
/// What the oracle keeps.
const REQUIRED: &str = "require = { must_broken = 0, security = 0 }";

impl Lab {
    /// The checks of a run, all of them undamaged.
    #[track_caller]
    fn checks(&self, run: &str) -> Vec<Conformance> {
        self.store().run(run.parse().unwrap()).unwrap().conformance
    }
}

fn json(lab: &Lab, run: &str) -> Value {
    let value = lab.dyno(&["report", run, "--format", "json"]).status(0).json();
    fits("run", &value);
    value
}

#[test]
fn a_subject_is_checked_once_and_the_next_run_takes_it_over() {
    let lab = Lab::new().oracle("a", "").experiment("race", &["a"], SHORT, REQUIRED);
    let ran = lab.dyno(&["run", "race"]).measured();
    // On a busy machine its figures may be invalid, which is another reason for no rank.
    let ran = ran.stdout_lacks("what the experiment requires");
    ran.stderr_has("conformance check of 1 server").stdout_has(" · MUST 0 · sec 0");
    let [found] = lab.checks("1").try_into().unwrap();
    assert_eq!((found.subject.as_str(), found.from_run), ("a", None));
    let report = found.found.clone().unwrap();
    assert!(report.cut_short.is_empty() && 50 < report.findings.len(), "{}", report.cut_short);

    let spots = lab.trials("1")[0].spots.clone();
    let of = |phase| spots.iter().filter(move |spot: &&Spot| spot.phase == phase);
    assert!(8 <= of(Phase::Before).count(), "{spots:?}");
    assert_eq!(of(Phase::Before).count(), of(Phase::After).count());
    let all = of(Phase::After).all(|spot| {
        spot.verdict == CaseVerdict::Pass || spot.verdict == CaseVerdict::NotApplicable
    });
    assert!(all, "{spots:?}");

    let again = lab.dyno(&["run", "race"]).measured();
    let again = again.stderr_has("(checked in run 1)");
    let full = lab.dyno(&["report", "2", "--full"]).status(0);
    full.stdout_has("As checked for run 1, with the same build");
    assert!(!again.stderr.contains("conformance check of 1 server"), "{again}");
    assert_eq!(lab.checks("2"), [found.taken_over(1)]);
    let value = json(&lab, "2");
    assert_eq!(value["conformance"][0]["from_run"], 1);
    assert_eq!(
        value["conformance"][0]["findings"].as_array().unwrap().len(),
        report.findings.len()
    );

    let compared = lab.dyno(&["compare", "1", "2"]);
    compared.status(2).stdout_has("A subject: no case differs");
}

#[test]
fn a_run_without_a_check_says_so_and_has_no_rank_where_one_is_required() {
    let lab = Lab::new().oracle("a", "").experiment("race", &["a"], SHORT, REQUIRED);
    let ran = lab.dyno(&["run", "race", "--no-check", "--full"]).measured();
    ran.stdout_has("Not checked: A subject: left out by --no-check.")
        .stdout_has("A subject (not ranked)")
        .stdout_has("Servers that are not ranked\nA subject\n  not checked")
        .stdout_has("Not ranked, because what the experiment requires is not met");
    assert_eq!((lab.checks("1"), lab.trials("1")[0].spots.len()), (Vec::new(), 0));
    let value = json(&lab, "1");
    assert_eq!(value["conformance"][0]["not_checked"], "left out by --no-check");
    assert_eq!(value["tables"][0]["rows"][0]["not_ranked"], "not checked");
    assert_eq!(value["tables"][0]["ranks"][0]["groups"], Value::Array(Vec::new()));
    let lab = lab.experiment("never", &["a"], SHORT, "");
    let never = lab.dyno(&["run", "never", "--full"]).measured();
    never.stdout_has("Not checked: A subject: the experiment leaves it out.");
    let dry = |more: &[&str]| lab.dyno(&[&["run", "race", "--dry-run"], more].concat()).status(0);
    dry(&[]).stdout_has("about 12 s each");
    dry(&["--no-check"]).stdout_has("no server is checked");
}

/// It keeps HTTP until it has answered a hundred requests; from then on it accepts requests without Host.
const FORGETFUL: &str = r#"
import http.server, sys, threading
answered = 0
class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        global answered
        answered += 1
        if self.headers['Host'] is None and answered < 100:
            self.close_connection = True
            return self.send_error(400)
        self.send_response(200)
        self.send_header('Content-Length', '13')
        self.end_headers()
        self.wfile.write(b'Hello, world!')
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
Server(('127.0.0.1', int(sys.argv[1])), Answers).serve_forever()
"#;

#[test]
fn what_is_kept_idle_and_not_under_load_is_a_doubt() {
    let lab = Lab::new()
        .subject("f", "run = 'python3 server.py {port}'")
        .file("subjects/f/server.py", FORGETFUL)
        .experiment("race", &["f"], SHORT, CHECKED);
    let ran = lab.dyno(&["run", "race"]).measured();
    ran.stdout_has("H1-H01 passed before the load and failed after it");
    let trial = &lab.trials("1")[0];
    let verdict = |phase| {
        trial.spots.iter().find(|spot| spot.phase == phase && spot.id == "H1-H01").unwrap().verdict
    };
    assert_eq!(verdict(Phase::Before), CaseVerdict::Pass);
    assert_eq!(verdict(Phase::After), CaseVerdict::Fail);
    let value = json(&lab, "1");
    let why = value["tables"][0]["rows"][0]["verdict"].to_string();
    assert!(why.contains("conformance_under_load"), "{why}");
}

#[test]
fn a_subject_that_does_not_start_is_not_checked_and_the_run_goes_on() {
    let lab = Lab::new().oracle("a", "").subject("b", "run = 'false'\nready = '1s'");
    let lab = lab.experiment("race", &["a", "b"], SHORT, CHECKED);
    let ran = lab.dyno(&["run", "race"]).measured();
    ran.stderr_has("b: not checked: it ended before it answered");
    let checks = lab.checks("1");
    assert!(checks[0].found.is_ok());
    assert!(checks[1].found.as_ref().unwrap_err().contains("it ended before it answered"));
    assert_eq!(lab.trials("1").len(), 2);
}

#[test]
fn a_run_that_is_interrupted_between_two_checks_goes_on_with_the_second() {
    let lab = Lab::new().oracle("a", "").gated("b", 0);
    let lab = lab.experiment("race", &["a", "b"], SHORT, CHECKED);
    let mut going = lab.start(&["run", "race"]);
    going.says("MUST broken");
    going.signal(Signal::INT);
    going.end().status(130).stderr_has("`dyno run --resume 1` continues it");
    let first = lab.checks("1");
    assert_eq!((first.len(), lab.trials("1").len()), (1, 0), "{first:?}");
    lab.open_gate();
    lab.dyno(&["run", "--resume"]).measured().stderr_has("b: ");
    let both = lab.checks("1");
    assert_eq!((both.len(), &both[0], both[1].from_run), (2, &first[0], None));
    assert_eq!(lab.trials("1").len(), 2);
}
