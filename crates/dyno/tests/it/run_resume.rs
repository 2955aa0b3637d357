//! Runs that are interrupted or killed: finished trials stay as they were, and `--resume` runs the rest.

use std::fs;
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use machine::process::family_of;
use rustix::process::{Pid, Signal, kill_process};
use store::RunEnd;

use crate::lab_rig::{Lab, SHORT, is_answered, until};

const THREE: &str = "[trials]\nrepeat = 3\npause = '0s'";

/// Three trials of a server, each of this load.
fn three(load: &str) -> Lab {
    Lab::one(load, THREE)
}

/// Three short trials, of which the second does not begin before the gate is opened.
fn half_way() -> Lab {
    Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, THREE)
}

/// Every bit that is kept of a run's trials.
fn bits(lab: &Lab, run: &str) -> Vec<String> {
    lab.trials(run).iter().map(|trial| format!("{trial:?}")).collect()
}

/// The newest run, if any has begun: its number, and how many of its trials are kept.
fn newest(lab: &Lab) -> Option<(String, u32)> {
    if !lab.has(".dyno/runs.sqlite") {
        return None;
    }
    let runs = lab.store().runs().unwrap();
    runs.last().map(|run| (run.id.to_string(), run.kept))
}

#[test]
fn a_kill_at_any_moment_loses_the_trial_in_flight_at_most() {
    let kills = std::env::var("DYNO_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let kills: u32 = kills.unwrap_or(6);
    let lab = three("closed = { connections = 2 }, duration = '150ms'");
    let whole = lab.dyno(&["run", "x"]).measured().took;
    let first = bits(&lab, "1");
    let mut cut = 0;
    for kill in 0..kills {
        // The golden ratio spreads moments evenly over the run's time, however many there are.
        let share = (f64::from(kill) * 0.618_034 + 0.05).fract();
        let before = newest(&lab);
        let mut going = lab.start(&["run", "x"]);
        let pid = going.pid();
        let _ = going.ends_within(whole.mul_f64(share));
        going.signal(Signal::KILL);
        let _ = going.end();
        lab.awaits_end_of(pid);
        let (run, kept) = match newest(&lab) {
            now if now == before => continue,
            now => now.unwrap(),
        };
        let finished = bits(&lab, &run);
        assert_eq!(finished.len(), kept as usize);
        if kept < 3 {
            cut += 1;
            lab.dyno(&["run", "--resume"]).measured().stderr_has(&format!("run {run}: x"));
        }
        let all = bits(&lab, &run);
        assert_eq!((all.len(), &all[..finished.len()]), (3, &finished[..]), "after kill {kill}");
        assert_eq!(lab.store().verify(run.parse().unwrap()).unwrap(), []);
        assert_eq!(lab.left_of(pid), Vec::<String>::new(), "it was swept");
    }
    assert!(0 < cut, "not one of {kills} kills hit a run");
    assert_eq!(bits(&lab, "1"), first);
}

#[test]
fn the_next_start_sweeps_what_a_killed_dyno_left() {
    let lab = three("open = { rate = 50 }, duration = '20s'");
    let mut going = lab.start(&["run", "x"]);
    let pid = going.pid();
    going.says("run 1:");
    // A trial makes its cgroups first, then its folder, then its process.
    until("a trial has begun", || lab.left_of(pid).iter().any(|left| left.starts_with("process")));
    going.signal(Signal::KILL);
    let _ = going.end();
    let folders = || fs::read_dir(lab.root.join(".dyno/work")).unwrap().count();
    assert_eq!(folders(), 1, "no process was left to remove it");
    let mut next = lab.start(&["run", "--resume"]);
    next.says("an earlier run ended abnormally; ");
    next.says("removed 1 folder");
    next.says("run 1:");
    assert_eq!(lab.left_of(pid), Vec::<String>::new());
    next.signal(Signal::TERM);
    next.end().status(130);
}

#[test]
fn one_signal_keeps_what_is_finished_and_names_the_way_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let lab = half_way();
        let mut going = lab.start(&["run", "x"]);
        let pid = going.pid();
        going.says("1/3 ");
        going.signal(signal);
        going.end().status(130).stderr_has("`dyno run --resume 1` continues it");
        assert_eq!(lab.left_of(pid), Vec::<String>::new());
        let finished = bits(&lab, "1");
        assert_eq!(finished.len(), 1, "{signal:?}");
        let run = &lab.store().runs().unwrap()[0];
        assert_eq!(run.ended.unwrap().1, RunEnd::Interrupted);
        if signal == Signal::INT {
            lab.open_gate();
            lab.dyno(&["run", "--resume", "1"]).measured().stderr_has("3/3 ");
            assert_eq!(bits(&lab, "1")[..finished.len()], finished);
            assert_eq!(lab.store().runs().unwrap()[0].ended.unwrap().1, RunEnd::Done);
        }
    }
}

#[test]
fn a_second_signal_is_obeyed_at_once() {
    let load = "open = { rate = 50 }, duration = '30s'";
    let lab = Lab::new().python("stubborn", "stubborn").experiment("x", &["stubborn"], load, "");
    let mut going = lab.start(&["run", "x"]);
    let pid = going.pid();
    let processes = || lab.left_of(pid).iter().filter(|left| left.starts_with("process")).count();
    until("the subject hears no signal any more", || lab.note("stubborn", "deaf").is_some());
    going.says("order ");
    // A subject's grace is 5 s, and 10 s more if its warden does not answer: a dyno that waited for it would be seen.
    let family = family_of(pid.as_raw_nonzero().get().unsigned_abs());
    let send = |signal| {
        for pid in &family {
            let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal);
        }
    };
    send(Signal::STOP);
    let began = Instant::now();
    // The same signal twice may be delivered as one, so it is sent again and again.
    let is_over = std::iter::repeat_with(|| {
        going.signal(Signal::INT);
        going.ends_within(Duration::from_millis(30))
    });
    let is_over = is_over.take_while(|_| began.elapsed() < Duration::from_secs(12)).any(|it| it);
    send(Signal::CONT);
    assert!(is_over, "{:?}", began.elapsed());
    going.end().status(130);
    until("its subject is gone", || processes() == 0);
}

#[test]
fn a_terminal_that_went_away_is_no_reason_to_stop() {
    let lab = three(SHORT);
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = lab.command(&["run", "x"]);
    command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
    // 2, where a row of a busy machine is invalid.
    assert!(matches!(command.status().unwrap().code(), Some(0 | 2)));
    assert_eq!(lab.trials("1").len(), 3);
}

#[test]
fn standard_streams_that_are_closed_do_not_end_up_in_the_store() {
    let lab = three(SHORT).before("exec <&- >&- 2>&-");
    // 2, where a row of a busy machine is invalid; nothing can be read of why.
    assert!(matches!(lab.dyno(&["run", "x"]).code(), Some(0 | 2)));
    assert_eq!(lab.trials("1").len(), 3);
    assert_eq!(lab.store().verify("1".parse().unwrap()).unwrap(), []);
}

#[test]
fn two_runs_at_once_in_a_project_are_refused() {
    let lab = half_way();
    let mut first = lab.start(&["run", "x"]);
    first.says("1/3 ");
    let holder = format!("(process {})", first.pid().as_raw_nonzero());
    lab.dyno(&["run", "x"]).status(2).stderr_has("another dyno").stderr_has(&holder);
    lab.dyno(&["run", "--resume"]).status(2).stderr_has("another dyno");
    lab.dyno(&["runs", "list"]).status(0);
    assert_eq!(lab.store().runs().unwrap().len(), 1);
    lab.open_gate();
    first.end().measured();
    assert_eq!(lab.trials("1").len(), 3);
    lab.dyno(&["run", "x", "--quick"]).measured().stderr_has("run 2:");
}

#[test]
fn a_run_is_resumed_only_as_what_it_was() {
    let lab = half_way();
    let mut going = lab.start(&["run", "x"]);
    going.says("1/3 ");
    going.signal(Signal::INT);
    going.end().status(130);
    lab.open_gate();
    let way_out = "put it back, or start a new run with `dyno run x`";
    for file in ["workloads/hello.toml", "subjects/a/subject.toml"] {
        let text = lab.read(file);
        lab.write(file, format!("{text}\n# another\n"));
        let says = format!("{file} has changed since the run began; {way_out}");
        lab.dyno(&["run", "--resume"]).status(2).stderr_has(&says);
        lab.write(file, &text);
    }
    lab.write("subjects/a/new.txt", "a new source");
    lab.dyno(&["run", "--resume"]).status(2).stderr_has("`a` is not what it was when run 1 began");
    fs::remove_file(lab.root.join("subjects/a/new.txt")).unwrap();
    // The experiment is taken from the store: the file's present text belongs to another run.
    lab.write("experiments/x.toml", "nonsense");
    lab.dyno(&["run", "--resume"]).measured().stderr_has("3/3 ");
    let complete = lab.dyno(&["run", "--resume", "1"]).status(2);
    let _ = complete.stderr_has("run 1 is complete").stderr_has("`dyno run x`");
    for trial in lab.trials("1") {
        assert!(!is_answered(trial.launch.unwrap().port));
    }
}

/// The state of the newest run, according to `dyno report --format json`.
fn standing(lab: &Lab) -> (u64, u64, String) {
    let shown = lab.dyno(&["report", "--format", "json"]).status(0).json();
    let number = |key: &str| shown["run"][key].as_u64().unwrap();
    let why = &shown["tables"][0]["rows"][0]["stopped"]["why"];
    (number("trials_planned"), number("trials_kept"), why.as_str().unwrap_or("").into())
}

#[test]
fn a_run_that_needed_fewer_rounds_than_were_planned_is_finished() {
    let trials =
        "[trials]\nuntil = '±0.1%'\nrepeat = 3\nrepeat_max = 9\nlimit = '1ms'\npause = '0s'";
    let lab = Lab::one(SHORT, trials);
    let ran = lab.dyno(&["run", "x"]).measured().stderr_has("3 to 9 trials");
    ran.stdout_has("still wider when the limit of time was reached");
    assert_eq!(standing(&lab), (3, 3, "out_of_time".into()));
    lab.dyno(&["run", "--resume", "1"]).status(2).stderr_has("run 1 is complete");
    lab.dyno(&["run", "--resume"]).status(2).stderr_has("no run of an experiment is unfinished");
    lab.dyno(&["runs", "list"]).status(0).stdout_has(" 3 trials");
}

#[test]
fn a_killed_run_looks_for_narrowness_as_before() {
    let trials = "[trials]\nuntil = '±0.1%'\nrepeat = 3\nrepeat_max = 5\npause = '0s'";
    let lab = Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, trials);
    let mut going = lab.start(&["run", "x"]);
    going.says("1/");
    going.signal(Signal::KILL);
    let _ = going.end();
    let (planned, kept, why) = standing(&lab);
    assert!(kept < planned && why.is_empty(), "{kept} of {planned}: {why}");
    lab.open_gate();
    lab.dyno(&["run", "--resume"]).measured();
    assert_eq!(standing(&lab), (5, 5, "most_rounds".into()));
}
