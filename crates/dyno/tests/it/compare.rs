//! `dyno compare`: a server with a known extra delay is found worse, and what cannot be compared says so.

use crate::lab_rig::{Lab, SHORT, patiently};
use crate::rig::{in_each, in_one_of_five};
use crate::schema::fits;

const ROUNDS: &str = "[trials]\nrepeat = 6\npause = '0s'";
const OPEN: &str = "open = { rate = 400 }, duration = '300ms'";

/// Two servers that are alike except for a delay larger than any noise of a busy machine, run once.
fn delayed() -> Lab {
    let lab = Lab::new().oracle("prompt", "--delay constant:2ms");
    let lab = lab.oracle("tardy", "--delay constant:150ms");
    let lab = lab.experiment("x", &["prompt", "tardy"], OPEN, ROUNDS);
    lab.dyno(&["run", "x"]).measured();
    lab
}

#[test]
fn a_known_delay_is_found() {
    in_one_of_five(|| {
        let lab = delayed();
        const BY_P50: [&str; 2] = ["--figure", "response_p50_ms"];
        let compare = |flags: &[&str]| lab.dyno(&[&["compare"], flags, &BY_P50].concat());
        let ran = compare(&["1:prompt", "1:tardy", "--json"]);
        let json = ran.json();
        let gate = &json["gate"];
        in_each(|| {
            fits("compare", &json);
            assert_eq!(gate["rows"][0]["figure"], "response_p50_ms");
        });
        // On a busy machine the rounds are in doubt, and a gate says no more than that.
        let row = &json["rows"][0];
        let is_doubtful = row["a_is_doubtful"] == true || row["b_is_doubtful"] == true;
        let (status, answer) = if is_doubtful { (2, "cannot_tell") } else { (1, "worse") };
        assert_eq!((&gate["answer"], &gate["rows"][0]["answer"]), (&answer.into(), &answer.into()));
        ran.status(status);
        let ran = compare(&["--run", "1", "prompt", "tardy"]).status(status);
        ran.stdout_has("worse")
            .stdout_has("run 1")
            .stdout_has("B / A [interval]")
            .stdout_has("Answer: ");
        let back = compare(&["--run", "1", "tardy", "prompt"]);
        back.status(if is_doubtful { 2 } else { 0 }).stdout_lacks("Worse: ");
        let figures = json["rows"][0]["figures"].as_array().unwrap();
        let of = |name: &str| figures.iter().find(|figure| figure["figure"] == name).unwrap();
        let found = |found: &'static str| if is_doubtful { "in_doubt" } else { found };
        assert_eq!(of("response_p50_ms")["finding"], found("worse"));
        assert_eq!(of("response_p50_ms")["unit"], "ms");
        let ratio = of("response_p50_ms")["ratio"].as_f64().unwrap();
        assert!(3.0 < ratio, "150 ms by 2 ms, and what sending takes: {ratio}");
        let json = lab.dyno(&["compare", "1:tardy", "1:prompt", "--json"]).json();
        assert_eq!(json["rows"][0]["figures"][1]["finding"], found("better"));
    });
}

#[test]
fn one_round_cannot_tell() {
    let lab = Lab::one(SHORT, "").experiment("y", &["a"], SHORT, "");
    lab.dyno(&["compare", "1", "2"]).status(2).stderr_has("no run has been kept here");
    for experiment in ["x", "x", "y"] {
        lab.dyno(&["run", experiment]).measured();
    }
    let ran = lab.dyno(&["compare", "1", "2", "-o", "c.json"]).status(2);
    ran.stdout_has("not compared: one round").stdout_has("it takes two measured rounds");
    fits("compare", &lab.json("c.json"));
    for (flags, says) in [
        (&["1", "3"][..], "two runs of one experiment"),
        (&["1", "9"], "has no run 9; `dyno runs list --store "),
        (&["1", "1"], "name two"),
        (&["1:a", "2"], "RUN:SERVER twice"),
        (&["a", "b"], "--run RUN SERVER SERVER"),
        (&["--run", "1", "a", "b"], "no server `b`; it has a"),
        (&["1", "2", "--tolerance", "0%"], "above 0 % and below 100 %"),
        (&["1", "2", "--figure", "response_p98_ms"], "did you mean `response_p9"),
        (&["1", "2", "--figure", "processes"], "cannot be judged"),
    ] {
        lab.dyno(&[&["compare"], flags].concat()).status(2).stderr_has(says);
    }
}

#[test]
fn what_has_no_partner_or_was_not_measured_is_said() {
    const TWICE: &str = "[trials]\nrepeat = 2\npause = '0s'";
    let lab = patiently(|ready| {
        let lab = Lab::new().oracle("a", "").liar("liar", ready);
        let lab = lab.oracle("late", "").experiment("x", &["a", "liar"], SHORT, TWICE);
        let ran = lab.dyno(&["run", "x"]).status(2).stderr_has(" invalid or not measured");
        (!ran.stderr.contains("not-ready: ")).then_some(lab)
    });
    let lab = lab.experiment("x", &["a", "late"], SHORT, TWICE);
    lab.dyno(&["run", "x"]).measured();
    let ran = lab.dyno(&["compare", "1", "2"]);
    let ran = ran.stdout_has("only in A: liar").stdout_has("only in B: late");
    ran.stdout_has("experiments/x.toml is not the same in both").stdout_lacks("was requested");
    let ran = lab.dyno(&["compare", "--run", "1", "a", "liar"]).status(2);
    ran.stdout_has("2 of 2 rounds not measured").stdout_has("wrong answer");
}
