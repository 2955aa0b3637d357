//! Histories made by hand: of the fixture's run, and of one line that is changed from run to run.

use lab::experiment::Point;
use lab::record::{RunRecord, TrialRecord};

use super::line::{Line, Measurement};
use super::lines::of_run;
use super::*;
use crate::Findings;
use crate::render::{Screen, text};
use crate::run::{fixture, tests::under};

mod origins;

const DAY_MS: i64 = 86_400_000;

/// The fixture's servers in a closed loop of 16 connections; one of them is a reference.
fn closed() -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, mut trials) =
        under("closed = { connections = [16] }", Point::Connections(16), 100.0);
    run.entries[1].tier = "reference".into();
    let whole = trials[0].clone();
    for trial in &mut trials {
        *trial = TrialRecord { key: trial.key.clone(), ..whole.clone() };
        let answers = if trial.key.subject == "evil" { 20_000 } else { 10_000 };
        trial.loaded.as_mut().unwrap().recording = fixture::recording(answers, 1_000_000);
    }
    (run, trials)
}

fn commit(number: usize) -> Commit {
    Commit { hash: format!("{:040x}", 0xabc0 + number), is_dirty: false }
}

fn of(run: &RunRecord, trials: &[TrialRecord], origin: &Origin) -> Vec<Line> {
    of_run(&Findings::of(&1, run, trials, Vec::new()), origin, Some(&commit(0)))
}

/// One line of a closed loop's throughput.
fn throughput() -> Line {
    let (run, trials) = closed();
    let mut lines = of(&run, &trials, &Origin::default()).into_iter();
    let is_it = |line: &Line| line.subject == "quick" && line.figure == "throughput_per_s";
    lines.find(is_it).unwrap()
}

/// A run a day, with these values and a commit for each.
fn days(values: &[f64]) -> Vec<Line> {
    days_of(&throughput(), values)
}

/// This line without its reference, day by day.
fn days_of(one: &Line, values: &[f64]) -> Vec<Line> {
    let day = |(at, value): (usize, &f64)| Line {
        run: Measurement {
            began_unix_ms: one.run.began_unix_ms + at as i64 * DAY_MS,
            commit: Some(commit(at).hash),
            ..one.run.clone()
        },
        value: *value,
        reference: None,
        reference_value: None,
        ..one.clone()
    };
    values.iter().enumerate().map(day).collect()
}

/// Ten runs around 1,000, then ten around `level`.
fn step(level: f64) -> Vec<f64> {
    let wobble = [0.0, 0.007, -0.011, 0.004, -0.006, 0.012, -0.003, 0.009, -0.008, 0.001];
    let around = |level: f64| wobble.map(|it| level * (1.0 + it));
    [around(1_000.0), around(level)].concat()
}

fn written(lines: &[Line]) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

fn read_text(text: &str) -> History {
    read(&[("history.jsonl".into(), text.as_bytes().to_vec())])
}

fn trend(text: &str) -> Trend {
    Trend::of(vec!["history.jsonl".into()], read_text(text), "nowhere")
}

fn shown(trend: &Trend) -> String {
    text(&trend.document(), Screen { is_full: true, ..Screen::file(110) })
}

fn shown_of(lines: &[Line]) -> String {
    shown(&trend(&written(lines)))
}

fn json_of(trend: &Trend) -> serde_json::Value {
    serde_json::from_str(&trend.json().unwrap()).unwrap()
}

#[test]
fn a_run_has_a_line_for_each_figure_of_each_row_with_the_reference_beside_it() {
    let (run, trials) = closed();
    let lines = of(&run, &trials, &Origin::default());
    let quick: Vec<&Line> = lines.iter().filter(|line| line.subject == "quick").collect();
    let figures: Vec<&str> = quick.iter().map(|line| line.figure.as_str()).collect();
    assert_eq!(
        figures.join(" "),
        "throughput_per_s response_p50_ms response_p99_ms cpu_ms_per_1000 rss_peak_bytes"
    );
    let first = quick[0];
    assert_eq!((first.value, &first.rounds[..]), (1_000.0, &[1_000.0, 1_000.0][..]));
    assert_eq!((first.reference.as_deref(), first.reference_value), (Some("evil"), Some(2_000.0)));
    assert_eq!((first.point, first.point_unit.as_str()), (16.0, "connections"));
    assert_eq!(first.machine_facts["cpu.model"], "A CPU");
    assert_eq!(first.kernel.as_deref(), Some("Linux 6.18"));
    let evil = lines.iter().find(|line| line.subject == "evil").unwrap();
    assert_eq!(evil.reference, None, "a reference is not compared with itself");
    assert_eq!(read_text(&written(&lines)).lines.len(), lines.len(), "what is written is read");
}

#[test]
fn a_schedule_s_rate_is_no_figure_of_a_server() {
    let (run, trials) = (fixture::run(), fixture::trials());
    let lines = of(&run, &trials, &Origin::default());
    assert!(!lines.is_empty() && lines.iter().all(|line| line.figure != "throughput_per_s"));
}

#[test]
fn another_kernel_is_the_same_machine_and_another_cpu_is_not() {
    let key = |change: fn(&mut RunRecord)| {
        let mut run = fixture::run();
        change(&mut run);
        machine_key(&run.facts).0
    };
    let here = key(|_| ());
    assert_eq!(here.len(), 12);
    assert_eq!(key(|run| run.facts[1].value = "Linux 7".into()), here);
    assert_ne!(key(|run| run.facts[0].value = "Another CPU".into()), here);
}

#[test]
fn a_change_has_its_commit_its_ratio_and_the_command_that_proves_it() {
    let trend = trend(&written(&days(&step(900.0))));
    let json = json_of(&trend);
    let change = &json["series"][0]["changes"][0];
    assert_eq!(
        (change["first"].as_u64(), change["commit"].as_str()),
        (Some(10), Some(&commit(10).hash[..]))
    );
    let ratio = change["ratio"].as_f64().unwrap();
    assert!((ratio - 0.9).abs() < 1e-9, "{ratio}");
    let command = format!(
        "dyno gate two --server quick --base git:{} --head git:{}",
        commit(9).hash,
        commit(10).hash
    );
    assert_eq!(change["command"], command);
    let shown = shown(&trend);
    for part in [
        &format!(
            "Since {}: throughput/s −10 % (two, echo-xml: quick at 16 connections).",
            &commit(10).hash[..8]
        ),
        "two, echo-xml: quick at 16 connections, throughput/s: worse, 0.90× [",
        "2026-12-01 13:28 UTC",
        "a change of this size is seen after ",
        &command,
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn what_changes_with_one_commit_is_one_change() {
    let lines = days(&step(700.0));
    let slower = |(at, line): (usize, &Line)| Line {
        figure: "response_p99_ms".into(),
        value: if at < 10 { 2.0 } else { 5.0 } + at as f64 % 3.0 * 1e-3,
        ..line.clone()
    };
    let others: Vec<Line> = lines.iter().enumerate().map(slower).collect();
    let trend = trend(&(written(&lines) + &written(&others)));
    assert_eq!(trend.shifts().count(), 2);
    let shown = shown(&trend);
    let commit = &commit(10).hash;
    let whose = "(two, echo-xml: quick at 16 connections)";
    for part in [
        format!("Since {}: throughput/s −30 %, p99 2.50× {whose}.", &commit[..8]),
        format!("since {} (", &commit[..12]),
        "): 2 series changed".into(),
    ] {
        assert!(shown.contains(&part), "{part}\n{shown}");
    }
    assert_eq!(shown.matches("dyno gate").count(), 1, "{shown}");
}

/// What is the same of two changes stands below both, and not only below the first.
#[test]
fn what_is_said_of_a_change_stands_below_it() {
    let figures =
        [("throughput_per_s", 700.0), ("response_p50_ms", 960.0), ("response_p99_ms", 700.0)];
    let series = figures.map(|(figure, level)| {
        written(&days_of(&Line { figure: figure.into(), ..throughput() }, &step(level)))
    });
    let shown = shown(&trend(&series.concat()));
    let places = [
        ", throughput/s: worse",
        ", p50: better",
        "p <0.001; a change of this size is seen after 8 runs",
        ", p99: better",
        "p <0.001; a change of this size is seen after 6 runs",
    ];
    let places = places.map(|part| shown.find(part).unwrap_or_else(|| panic!("{part}\n{shown}")));
    assert!(places.is_sorted(), "{shown}");
}

#[test]
fn a_change_too_small_for_a_percentage_is_a_ratio() {
    let mut values = vec![1_000.0; 10];
    values.extend([1_000.3; 10]);
    let shown = shown_of(&days(&values));
    assert!(shown.contains(": throughput/s 1.0003× ("), "{shown}");
}

#[test]
fn series_that_are_too_short_are_not_among_those_in_which_nothing_changed() {
    let long = written(&days(&step(1_000.0)));
    let short = days_of(&Line { figure: "response_p99_ms".into(), ..throughput() }, &[1.0, 2.0]);
    let shown = shown(&trend(&(long + &written(&short))));
    let says = "in 2 series, of which 1 has fewer than the 15 runs that show one.";
    assert!(shown.replace("\n", " ").contains(says), "{shown}");
}

#[test]
fn no_command_proves_what_is_of_no_commit_or_of_one() {
    let mut lines = days(&step(900.0));
    lines[10].run.is_dirty = Some(true);
    let says = shown_of(&lines);
    let since = format!("Since {} with changes: ", &lines[10].run.commit.as_deref().unwrap()[..8]);
    assert!(says.contains(&since) && says.contains("one of the two runs has no commit"), "{says}");
    let hash = commit(0).hash;
    lines
        .iter_mut()
        .for_each(|line| (line.run.commit, line.run.is_dirty) = (Some(hash.clone()), Some(false)));
    lines[10..].iter_mut().for_each(|line| line.dyno_version = "9.9".into());
    let says = shown_of(&lines);
    assert!(says.contains("both runs have the same commit"), "{says}");
    assert!(says.contains("dyno changed there, too: 0.1.0, then 9.9"), "{says}");
}

#[test]
fn histories_are_merged_in_any_order_and_the_same_line_counts_once() {
    let lines = days(&step(900.0));
    let text = written(&lines);
    let mut mixed = lines.clone();
    mixed.reverse();
    mixed.swap(3, 12);
    let merged = format!("{}\n\n{}", written(&mixed), &text[..text.len() / 2]);
    let (one, other) = (trend(&text), trend(&merged));
    assert_eq!(json_of(&one)["series"], json_of(&other)["series"]);
    assert_eq!(other.broken.len(), 1, "the line that was cut");
}

#[test]
fn machines_and_plans_are_series_of_their_own() {
    let lines = days(&step(900.0));
    let mut text = written(&lines[..10]);
    let there = lines[10..].iter().map(|line| Line { machine: "there".into(), ..line.clone() });
    text += &written(&there.collect::<Vec<_>>());
    let other = lines[10..].iter().map(|line| Line { plan: "other".into(), ..line.clone() });
    text += &written(&other.collect::<Vec<_>>());
    let found = Trend::of(vec!["a".into()], read_text(&text), "there");
    assert_eq!((found.series.len(), found.shifts().count()), (3, 0));
    let says = shown(&found);
    assert!(says.contains("No series is long enough: a change is seen in 15 runs"), "{says}");
    let steady = shown_of(&days(&step(1_000.0)));
    assert!(steady.contains("No change that this history shows, in 1 series."), "{steady}");
    assert!(says.contains("this machine: cpu.model A CPU"), "{says}");
}

#[test]
fn broken_lines_are_named_and_the_others_count() {
    let lines = days(&[1_000.0, 1_001.0]);
    let good = written(&lines);
    let bad = [
        "{\"schema\":".to_string(),
        "<<<<<<< ours".into(),
        "[1, 2]".into(),
        "\u{1b}[31m".into(),
        good.lines().next().unwrap().replace("dyno.history/1", "dyno.history/9"),
        good.lines().next().unwrap().replace(&commit(0).hash, "--upload-pack=x"),
    ];
    let found = trend(&format!("{}\n{good}", bad.join("\n")));
    assert_eq!(found.broken.len(), bad.len());
    assert_eq!(found.series[0].values, [1_000.0, 1_001.0]);
    let says = shown(&found);
    for part in [
        "history.jsonl line 1: it ends early",
        "line 2: it is the mark of a conflict",
        "line 5: its schema is `dyno.history/9`",
        "line 6: `--upload-pack=x` is not a commit",
    ] {
        assert!(says.contains(part), "{part}\n{says}");
    }
    assert!(!says.contains('\u{1b}'));
    let not_utf8 = read(&[("h".into(), b"\xff\xfe{}\n".to_vec())]);
    assert_eq!((not_utf8.lines.len(), not_utf8.broken.len()), (0, 1));
}

#[test]
fn what_is_no_measurement_is_left_out() {
    let mut lines = days(&[1_000.0, 1_010.0, 5.0, 6.0, 0.0, 990.0]);
    lines[2].verdict = "invalid".into();
    lines[3].is_bound = true;
    let found = trend(&written(&lines));
    assert_eq!((found.series[0].values.len(), found.series[0].left_out), (3, 3));
    lines.iter_mut().for_each(|line| line.verdict = "invalid".into());
    let found = trend(&written(&lines));
    assert!(shown(&found).contains("No series is long enough") && found.page().contains("<html"));
}

#[test]
fn a_machine_that_slows_down_is_no_change_of_a_server_beside_its_reference() {
    let mut lines = days(&step(900.0));
    let alone = trend(&written(&lines));
    for line in &mut lines {
        (line.reference, line.reference_value) = (Some("oracle".into()), Some(2.0 * line.value));
    }
    let found = trend(&written(&lines));
    assert_eq!((alone.shifts().count(), found.shifts().count()), (1, 0));
    assert_eq!(json_of(&found)["series"][0]["relative_to"], "oracle");
    assert!(shown(&found).contains("throughput/s ÷ oracle"));
}

#[test]
fn names_are_escaped_on_the_page_and_in_the_command() {
    let mut lines = days(&step(900.0));
    for line in &mut lines {
        line.subject = fixture::POLYGLOT.into();
        line.experiment = "$(touch x)\u{1b}[31m".into();
        line.machine_facts.insert("cpu.model".into(), fixture::POLYGLOT.into());
    }
    let found = trend(&written(&lines));
    let page = found.page();
    assert!(!page.contains("<script>alert(1)") && !page.contains("<img src=x"));
    assert!(page.contains("<svg"), "a chart of each series");
    let says = shown(&found);
    assert!(!says.contains('\u{1b}') && says.contains("dyno gate '$(touch x)"), "{says}");
}

/// A difference between two commits is no level.
#[test]
fn the_lines_of_gates_change_nothing_in_a_trend() {
    let runs = written(&days(&step(1_200.0)));
    let gate = r#"{"schema":"dyno.gates/1","began_unix_ms":7,"base":"git:a","base_commit":null,"base_is_dirty":null,"head":"dir:.","head_commit":null,"head_is_dirty":null,"machine":"elsewhere","machine_facts":{},"kernel":null,"dyno_version":"1","plan":"p","point":16.0,"point_unit":"connections","figure":"throughput_per_s","builds":null,"differences":[0.1,0.2],"spread":0.07,"detect_percent":5.0,"alpha_percent":1.0,"answer":"worse"}"#;
    let (with, without) = (trend(&format!("{gate}\n{runs}{gate}\n")), trend(&runs));
    assert_eq!(with.json().unwrap(), without.json().unwrap());
    assert!(with.broken().is_empty() && with.shifts().count() == 1);
    assert!(trend(gate).is_empty() && trend(gate).broken().is_empty());
    assert_eq!(read_text(gate).gates.len(), 1);
}
