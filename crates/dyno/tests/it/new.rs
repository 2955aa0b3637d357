//! `dyno servers new`: a subject, a workload and an experiment that run as they were written; nothing is overwritten.

use crate::lab_rig::Lab;
use crate::rig::{Going, Rig};

fn command() -> String {
    format!("{} serve --listen 127.0.0.1:{{port}} --threads 1", env!("CARGO_BIN_EXE_dyno"))
}

const FAST: [&str; 8] = ["--no-check", "-c", "2", "-d", "100ms", "--rounds", "1", "--quick"];

#[test]
fn a_new_subject_is_measured_as_it_was_written() {
    let lab = Lab::bare();
    let body = ["--expect-body", "Hello, world!"];
    let said = lab.dyno(
        &[&["servers", "new", "mine", "--cmd", &command(), "--path", "/hello"][..], &body].concat(),
    );
    let said = said.status(0).stdout_has(
        "  subjects/mine/subject.toml\n  workloads/mine.toml\n  experiments/mine.toml\n",
    );
    let _ = said.stdout_has("this folder is a project now").stdout_has("next: dyno run mine\n");
    lab.dyno(&[&["run", "mine"][..], &FAST].concat()).measured();
    assert_eq!(lab.trials("1").len(), 1);
    // A second one answers the same requests, and takes part in the same experiment.
    let said = lab
        .dyno(&["servers", "new", "second", "--cmd", &command(), "--workload", "mine"])
        .status(0);
    let said = said.stdout_has("written:\n  subjects/second/subject.toml\n");
    let _ =
        said.stdout_has("next: dyno run EXPERIMENT --only second").stdout_lacks("is a project now");
    lab.dyno(&[&["run", "mine"][..], &FAST].concat()).measured();
    assert_eq!(lab.trials("2").len(), 2);
}

#[test]
fn a_server_that_runs_already_is_written_with_its_url() {
    let (lab, server) = (Lab::bare(), Rig::new());
    let new = ["servers", "new", "here", "--url", &server.url("")];
    lab.dyno(&[&new[..], &["--path", "user/7", "--expect-body", "7"]].concat()).status(0);
    lab.dyno(&[&["run", "here"][..], &FAST].concat()).measured();
    assert!(lab.trial().launch.is_none());
    assert!(0 < server.requests());
}

#[test]
fn what_is_there_is_not_overwritten_and_nothing_is_half_written() {
    for there in ["subjects/mine/subject.toml", "workloads/mine.toml", "experiments/mine.toml"] {
        let lab = Lab::new().file(there, "as it was");
        let ran = lab.dyno(&["servers", "new", "mine", "--cmd", "sh -c true"]).status(2);
        let _ = ran.stderr_has(&format!("{there} is there already, and nothing is overwritten"));
        assert_eq!(lab.read(there), "as it was");
        let others = ["subjects/mine/subject.toml", "workloads/mine.toml", "experiments/mine.toml"];
        assert_eq!(others.iter().filter(|path| lab.has(path)).count(), 1, "{there}");
    }
}

#[test]
fn what_cannot_be_a_subject_is_refused_with_the_way_out() {
    let lab = Lab::bare();
    for (arguments, says) in [
        (&["Mine", "--cmd", "sh"][..], "`Mine` is not a name; names are of a-z, 0-9 and -"),
        (&["mine"], "called `mine`? Write how to start it, --cmd 'node"),
        (&["mine"], "or where it runs already, --url http://"),
        (&["mine", "--cmd", "sh", "--url", "http://h"], "cannot be used with"),
        (
            &["mine", "--cmd", "no-such-program x"],
            "--cmd 'no-such-program x': there is no program `no-such-program`",
        ),
        (&["mine", "--cmd", "http://localhost:1/"], "as --url"),
        (&["mine", "--url", "http://h/x"], "--url `http://h/x`: the workload says which paths"),
        (
            &["mine", "--cmd", "sh", "--workload", "hello"],
            "unknown workload `hello`; leave --workload out",
        ),
        (&["mine", "--cmd", "sh", "--path", "/a b"], "`GET /a b HTTP/1.1`"),
    ] {
        let _ = lab.dyno(&[&["servers", "new"], arguments].concat()).status(2).stderr_has(says);
    }
    assert!(!lab.has("subjects") && !lab.has("workloads"), "nothing was written");
    let mut command = lab.command(&["servers", "new", "mine", "--cmd", "sh"]);
    command.env("HOME", &lab.root);
    let ran = Going::start(command).end().status(2);
    let _ = ran.stderr_has("in all folders below").stderr_has("mkdir bench && cd bench");
}
