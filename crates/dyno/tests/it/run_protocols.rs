//! `dyno run` over TLS and HTTP/2: the right servers are started, what they present is verified, and a server that does not
//! keep what it declares is an outcome.

use lab::manner::Task;
use lab::record::{OutcomeKind, TrialRecord};

use crate::lab_rig::{Lab, ORACLE, SHORT, patiently};

/// All that there is, in one line of an experiment.
const ALL: &str = "protocol = ['http/1.1', 'http/1.1+tls', 'h2c', 'h2'], streams = [1, 3]";
const SPEAKS_ALL: &str = "protocols = ['http/1.1', 'http/1.1+tls', 'h2c', 'h2']";
const SECURED: &str = "--tls --cert {cert} --key {key}";

/// The oracle, which declares all protocols, and is started with these flags for those within TLS.
fn declaring(lab: Lab, name: &str, plain: &str, secured: &str, ready: &str) -> Lab {
    let keys = format!(
        "{SPEAKS_ALL}\nrun = '{ORACLE} {plain}'\nrun_tls = '{ORACLE} {secured}'\nready = '{ready}'"
    );
    lab.subject(name, &keys)
}

fn of<'t>(trials: &'t [TrialRecord], subject: &str, task: &str) -> &'t TrialRecord {
    let is_it = |trial: &&TrialRecord| trial.key.subject == subject && trial.key.workload == task;
    trials.iter().find(is_it).unwrap_or_else(|| panic!("no trial of {subject}, {task}"))
}

#[test]
fn a_server_is_loaded_over_all_that_it_speaks_and_what_was_agreed_on_is_kept() {
    let lab = declaring(Lab::new(), "all", "", SECURED, "20s");
    let lab =
        lab.oracle("plain", "").experiment("x", &["all", "plain"], &format!("{SHORT}, {ALL}"), "");
    let ran = lab.dyno(&["run", "x"]).measured().stdout_has("over http/1.1, http/1.1+tls, h2c, h2");
    let trials = lab.trials("1");
    let tasks = [
        "hello",
        "hello over http/1.1+tls",
        "hello over h2c, 1 stream",
        "hello over h2c, 3 streams",
        "hello over h2, 1 stream",
        "hello over h2, 3 streams",
    ];
    assert_eq!(trials.len(), tasks.len() + 1, "{ran}");
    assert_eq!(of(&trials, "plain", "hello").outcome.kind, OutcomeKind::Measured);
    for name in tasks {
        let trial = of(&trials, "all", name);
        assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{name}: {:?}", trial.outcome);
        let total = &trial.loaded.as_ref().unwrap().recording.total;
        assert_eq!(total.correct, 200, "{name}");
        let manner = Task::named(name).manner;
        let streams = total.http2.as_ref().map(|http2| http2.wanted.streams);
        let is_http2 = manner.protocol.is_http2();
        assert_eq!(streams, is_http2.then_some(u64::from(manner.streams.get())), "{name}");
        let security = serde_json::to_string(&total.security).unwrap();
        for agreed in ["TLS_AES_128_GCM_SHA256", "x25519", "ECDSA P-256", "\"1.3\""] {
            assert_eq!(
                security.contains(agreed),
                manner.protocol.is_secured(),
                "{name}: {security}"
            );
        }
        // Every question has the same answer, whichever protocol carried it.
        let digests: Vec<_> = trial.checks.iter().map(|check| check.digest).collect();
        assert_eq!(digests, [of(&trials, "all", "hello").checks[0].digest; 2], "{name}");
        assert!(digests[0].is_some());
    }
    // The certificate was this run's alone.
    let find =
        std::process::Command::new("find").arg(&lab.root).args(["-name", "key.pem"]).output();
    assert_eq!(find.unwrap().stdout, b"", "the key is gone with the run");
}

#[test]
fn the_key_of_a_run_that_was_killed_goes_with_the_next_start() {
    let lab = declaring(Lab::new(), "a", "", SECURED, "20s");
    let load = "open = { rate = 50 }, duration = '60s', protocol = 'h2'";
    let lab = lab.experiment("long", &["a"], load, "").experiment("x", &["a"], SHORT, "");
    let keys = || {
        let find =
            std::process::Command::new("find").arg(&lab.root).args(["-name", "key.pem"]).output();
        String::from_utf8(find.unwrap().stdout).unwrap().lines().count()
    };
    let mut going = lab.start(&["run", "long"]);
    going.says("order (seed");
    assert_eq!(keys(), 1);
    going.signal(rustix::process::Signal::KILL);
    going.end();
    assert_eq!(keys(), 1);
    lab.dyno(&["run", "x"]).measured();
    assert_eq!(keys(), 0);
}

#[test]
fn a_server_that_does_not_keep_what_it_declares_is_an_outcome_with_its_evidence() {
    let trials = patiently(|ready| {
        let lab = declaring(Lab::new(), "ignores-certificate", "", "--tls", ready);
        let lab = declaring(lab, "no-http2", "--http 1.1", &format!("{SECURED} --http 1.1"), ready);
        let lab =
            declaring(lab, "wrong-alpn", "", &format!("{SECURED} --fault tls-wrong-alpn"), ready);
        let lab = declaring(lab, "plain", "", "", ready);
        let lab = declaring(lab, "ends", "", &format!("{SECURED} --fault no-such-fault"), ready);
        let lab = declaring(lab, "old", "", "--tls 1.2 --cert {cert} --key {key}", ready);
        let lab = declaring(lab, "good", "", SECURED, "20s");
        let names =
            ["ignores-certificate", "no-http2", "wrong-alpn", "plain", "ends", "old", "good"];
        let load = format!("{SHORT}, protocol = ['h2c', 'h2']");
        let lab = lab.experiment("x", &names, &load, "");
        lab.dyno(&["run", "x"]).measured();
        let trials = lab.trials("1");
        let says = |name: &str| of(&trials, name, "hello over h2, 1 stream").outcome.says.clone();
        // On a busy machine the oracle may not have listened, or answered, in time.
        let is_late = |name: &&str| {
            ["Connection refused", "within the time-out"]
                .iter()
                .any(|late| says(name).contains(late))
        };
        (!names.iter().any(is_late)).then_some(trials)
    });
    use OutcomeKind::{Died, NotReady, Wrong};
    for (subject, task, kinds, says) in [
        ("ignores-certificate", "h2", &[NotReady][..], "signed by an unknown authority"),
        ("no-http2", "h2c", &[NotReady, Wrong], "HTTP/1.1 "),
        ("no-http2", "h2", &[NotReady], "`h2`"),
        ("wrong-alpn", "h2", &[NotReady], "by ALPN"),
        ("plain", "h2", &[NotReady], "answers in plain HTTP"),
        ("ends", "h2", &[Died], "it ended before it answered"),
        ("old", "h2", &[NotReady], "version"),
    ] {
        let trial = of(&trials, subject, &format!("hello over {task}, 1 stream"));
        let outcome = &trial.outcome;
        assert!(
            kinds.contains(&outcome.kind) && outcome.says.contains(says),
            "{subject}: {outcome:?}"
        );
        assert!(trial.loaded.is_none());
    }
    for task in ["h2c", "h2"] {
        let good = of(&trials, "good", &format!("hello over {task}, 1 stream"));
        assert_eq!(good.outcome.kind, OutcomeKind::Measured, "{:?}", good.outcome);
    }
}

/// Within TLS the server does not start.
#[test]
fn what_was_found_in_cleartext_is_kept_where_tls_does_not_start() {
    let lab = declaring(Lab::new(), "ends", "", &format!("{SECURED} --fault no-such-fault"), "20s");
    let over_both = format!("{SHORT}, protocol = ['http/1.1', 'h2']");
    let checked = "[trials]\nrepeat = 1\npause = '0s'\ncheck = true";
    let lab = lab.experiment("x", &["ends"], &over_both, checked);
    lab.dyno(&["run", "x"]).measured();
    let json = lab.dyno(&["report", "1", "--format", "json"]).status(0).json();
    let found = &json["conformance"][0];
    assert!(50 < found["all"]["pass"].as_u64().unwrap_or(0), "{found}");
    assert!(found["cut_short"].as_str().unwrap_or("").starts_with("over h2: "), "{found}");
}

#[test]
fn all_subjects_are_those_that_have_two_protocols_to_compare() {
    let lab = declaring(Lab::new(), "all", "", SECURED, "20s").oracle("plain", "");
    let lab = lab.experiment("x", &["all"], &format!("{SHORT}, {ALL}"), "");
    let text = lab.read("experiments/x.toml");
    lab.write("experiments/x.toml", text.replace("[\"all\"]", "'all'"));
    let ran = lab.dyno(&["run", "x"]).measured();
    let says = "it does not speak HTTP/2, which is compared here; it speaks http/1.1";
    assert!(ran.has_sentence(says) || ran.stderr.contains(says), "{ran}");
    assert!(lab.trials("1").iter().all(|trial| trial.key.subject == "all"));
    // One protocol is spoken or not.
    let lab = lab.experiment("y", &["plain"], &format!("{SHORT}, protocol = 'h2'"), "");
    lab.dyno(&["run", "y"]).status(2).stderr_has("it does not speak h2; it speaks http/1.1");
}

#[test]
fn any_experiment_can_be_run_over_other_protocols() {
    let lab = declaring(Lab::new(), "a", "", SECURED, "20s").experiment("x", &["a"], SHORT, "");
    let ran = lab.dyno(&["run", "x", "--protocol", "http/1.1,h2", "--streams", "2"]).measured();
    let _ = ran.stdout_has("over http/1.1, h2, 2 streams").stdout_has("--protocol http/1.1,h2");
    let names: Vec<String> = lab.trials("1").into_iter().map(|it| it.key.workload).collect();
    assert!(names.contains(&"hello".into()) && names.contains(&"hello over h2, 2 streams".into()));
    lab.dyno(&["run", "x", "--streams", "2"]).status(2).stderr_has("only HTTP/2 has streams");
    lab.dyno(&["run", "x", "--protocol", "h3"]).status(2).stderr_has("`h3` is not a protocol");
    // What was measured over other protocols is not compared.
    lab.dyno(&["run", "x"]).measured();
    lab.dyno(&["run", "x", "--protocol", "h2c"]).measured();
    let compared = lab.dyno(&["compare", "2", "3"]).status(2);
    let says = "hello was requested over http/1.1 in A and over h2c, 1 stream in B: what is measured over different \
                protocols, or with other numbers of streams, is not compared";
    assert!(compared.has_sentence(says), "{compared}");
}

#[test]
fn sides_of_a_race_are_started_for_tls_and_http_2() {
    let lab = Lab::new();
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let plain = format!("{dyno} serve --listen 127.0.0.1:{{port}}");
    let secured = format!("{plain} {SECURED}");
    let short = ["-c", "2", "-n", "200", "--warmup", "0", "--rounds", "1", "--path", "/hello"];
    let race = |side: &str, flags: &[&str]| {
        let other = if side.contains("://") { "2" } else { " --threads 1" };
        let sides = [side.to_string(), format!("{side}{other}")];
        let sides = ["race", &sides[0], &sides[1], "--store", "race.sqlite"];
        lab.dyno(&[&sides[..], &short, flags].concat())
    };
    for (side, flags, says) in [
        (&plain, &["--http2", "--streams", "4"][..], "race over h2c, 4 streams"),
        (&secured, &["--protocol", "h2"], "race over h2, 1 stream"),
        (&secured, &["--protocol", "http/1.1+tls"], "race over http/1.1+tls"),
    ] {
        // On a busy machine so short a load may be invalid: that both sides were loaded is what counts.
        let ran = race(side, flags);
        assert!(!ran.stdout.contains("not measured"), "{ran}");
        assert!(ran.stderr.contains(says), "{ran}");
        // dyno's own server answers over the same protocol.
        assert!(
            ran.stderr.contains("dyno's own server") || ran.stderr.contains("dyno--oracle"),
            "{ran}"
        );
    }
    // Without TLS a command keeps what it says in braces.
    let noted = lab.root.join("noted");
    let side = format!("sh -c 'echo {{key}} {{cert}} > {}; exec {plain}'", noted.display());
    race(&side, &[]);
    assert_eq!(std::fs::read_to_string(noted).unwrap(), "{key} {cert}\n");
    for (side, flags, says) in [
        (
            plain.as_str(),
            &["--protocol", "h2"][..],
            "write {cert} and {key} where it takes the two files",
        ),
        (&plain, &["--streams", "4"], "--streams: only HTTP/2 has streams; add --http2"),
        (
            &plain,
            &["--protocol", "spdy"],
            "`spdy` is not a protocol; there are http/1.1, http/1.1+tls, h2c, h2",
        ),
        (
            &secured,
            &["--protocol", "h2", "-k"],
            "-k is for https:// addresses: dyno makes the certificate",
        ),
        ("http://localhost:1/", &["--protocol", "h2"], "is reached without it; write https://"),
        ("https://localhost:1/", &["--protocol", "h2c"], "is reached by https://; write http://"),
    ] {
        let ran = race(side, flags).status(2);
        assert!(ran.stderr.contains(says), "{ran}");
    }
}
