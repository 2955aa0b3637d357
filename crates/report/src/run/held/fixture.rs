//! Held connections, made by hand: a server that holds all, one that loses some, one that dies, and a reference.

use lab::experiment::{Experiment, Point};
use lab::record::{
    Entry, Fact, HeldRecord, Outcome, OutcomeKind, RunRecord, Series, TrialKey, TrialRecord,
};
use lab::source_file::SourceFile;
use load::{
    Distribution, Failure, Folded, HoldWindow, Holding, Loss, Nanos, Plateau, PlateauTimes, SECOND,
};

const MS: Nanos = 1_000_000;

const EXPERIMENT: &str = r#"
question = "What does a held connection cost?"
subjects = ["quick", "lossy", "mortal", "oracle"]
workload = "wspoll"
load = { held = { connections = 3000, step = 1000, every = "10s", rate = 500, settle = "1s", beat = "1s", drain = "10s" } }
trials = { repeat = 2, seed = 7 }
"#;

const WORKLOAD: &str = r#"
title = "A WebSocket with a text every second"
[[ask]]
request = "GET /wspoll/1 HTTP/1.1"
stream = { chunks = 2, every = "1s", over = "websocket" }
"#;

/// The manifest of a probe.
pub(crate) const BEAM: &str = include_str!("../../../../../probes/beam/probe.toml");

const SUBJECTS: [(&str, &str, &str); 4] = [
    ("quick", "Quick", "default"),
    ("lossy", "Lossy \u{1b}[31m", "default"),
    ("mortal", "=Mortal|x", "default"),
    ("oracle", "Bare", "reference"),
];

/// A run with this many rounds.
pub(crate) fn run(rounds: u32) -> RunRecord {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let entry = |&(name, title, tier): &(&str, &str, &str)| Entry {
        name: name.into(),
        title: title.into(),
        language: "C".into(),
        processes: "one".into(),
        tier: tier.into(),
        version: "1.2".into(),
        ..Entry::default()
    };
    let mut plan = Vec::new();
    for repeat in 0..rounds {
        for (subject, _, _) in SUBJECTS {
            plan.push(TrialKey::new(
                plan.len() as u32,
                subject,
                "wspoll",
                Point::Held(3_000),
                repeat,
            ));
        }
    }
    let mut run = RunRecord {
        name: "held".into(),
        files: vec![
            file(
                "experiments/held.toml",
                &EXPERIMENT.replace("repeat = 2", &format!("repeat = {rounds}")),
            ),
            file("workloads/wspoll.toml", WORKLOAD),
            file("subjects/quick/subject.toml", "probe = \"beam\""),
            file("probes/beam/probe.toml", BEAM),
        ],
        seed: 7,
        began_unix_ms: 1_795_267_680_000,
        dyno: "0.1.0".into(),
        facts: vec![Fact { name: "kernel".into(), value: "Linux 6.18".into() }],
        entries: SUBJECTS.iter().map(entry).collect(),
        plan,
        ..RunRecord::default()
    };
    let (name, text) = run.files[0].clone();
    let read = Experiment::parse(&run.name, SourceFile { name, text });
    run.experiment = Some(read.expect("the experiment can be read"));
    run
}

/// All trials of a run's plan.
pub(crate) fn trials(run: &RunRecord) -> Vec<TrialRecord> {
    run.plan.iter().cloned().map(trial).collect()
}

fn trial(key: TrialKey) -> TrialRecord {
    let (kib, late) = match key.subject.as_str() {
        quick if quick.starts_with("quick") => (6.0 + 0.1 * f64::from(key.repeat), 2 * MS),
        "lossy" => (30.0, 40 * MS),
        "mortal" => (12.0, 5 * MS),
        _ => (1.0, MS / 2),
    };
    let mut holding = Holding {
        plateaus: (0..3).map(|number| plateau(number, late)).collect(),
        windows: (0..30).map(window).collect(),
        closed_at: 30 * SECOND,
        was_halted: false,
    };
    let mut outcome = Outcome { kind: OutcomeKind::Measured, says: String::new() };
    if key.subject == "lossy" && key.repeat == 0 {
        lose(&mut holding);
    }
    if key.subject == "mortal" {
        outcome.kind = OutcomeKind::Died;
        outcome.says = "it ended 17.0 s after the load began: signal 9 (KILL)".into();
        holding.was_halted = true;
        holding.plateaus.truncate(2);
        holding.plateaus[1].lost[Loss::Failure(Failure::RecvReset).index()] = 2_000;
        holding.plateaus[1].open = 0;
    }
    let mut series =
        vec![memory("subject.memory.rss", kib * 1.5), memory("subject.memory.pss", kib)];
    series.push(cpu(if key.subject == "oracle" { 2e3 } else { 20e3 }));
    if key.subject.starts_with("quick") {
        series.extend(beam());
    }
    TrialRecord {
        outcome,
        conditions: vec![Fact { name: "cpus.load".into(), value: "1".into() }],
        held: Some(HeldRecord { began: SECOND, agents: Vec::new(), holding }),
        series,
        ..TrialRecord::new(key, 1_795_267_680_000)
    }
}

/// On the second plateau some are refused and some are lost; on the third some fall silent, and the rest is late.
fn lose(holding: &mut Holding) {
    let [_, second, third] = &mut holding.plateaus[..] else { return };
    second.failed[Loss::Failure(Failure::ConnectRefused).index()] = 12;
    second.opened -= 12;
    second.lost[Loss::Failure(Failure::RecvReset).index()] = 30;
    second.lost[Loss::Close.index()] = 5;
    second.open -= 47;
    third.open -= 47;
    third.silent = 7;
    third.missed = 21;
    third.late.record_many(900 * MS, 1_000);
}

fn of(ns: Nanos, times: u64) -> Distribution {
    let mut distribution = Distribution::new(100 * SECOND);
    distribution.record_many(ns, times);
    distribution
}

/// Steps of a thousand connections and ten seconds, of which seven are measured.
fn plateau(number: u64, late: Nanos) -> Plateau {
    let connections = (number + 1) * 1_000;
    Plateau {
        times: PlateauTimes {
            connections: connections as usize,
            from: number * 10 * SECOND,
            measured_from: (number * 10 + 3) * SECOND,
            until: (number + 1) * 10 * SECOND,
        },
        begun: 1_000,
        opened: 1_000,
        open: connections,
        messages: connections * 7,
        bytes: connections * 70,
        connect: of(MS, 1_000),
        agree: of(MS, 1_000),
        late: of(late * (number + 1), connections * 7),
        gap: of(SECOND, connections * 7),
        own: of(MS / 10, connections * 7),
        cpu: SECOND,
        measured: 7 * SECOND,
        ..Plateau::default()
    }
}

fn window(second: u64) -> HoldWindow {
    let open = ((second / 10 + 1) * 1_000).min(3_000);
    HoldWindow {
        open,
        begun: 100,
        opened: 100,
        messages: open,
        bytes: open * 10,
        open_after: Folded::of(&of(MS, 100)),
        late: Folded::of(&of(2 * MS, open)),
        ..HoldWindow::new(second * SECOND, (second + 1) * SECOND)
    }
}

/// 20 MB, plus this many KiB for each connection; at the end a quarter of that is still there. A little uneven, as
/// memory is.
fn memory(name: &str, kib: f64) -> Series {
    let at = |second: u64| match second {
        0..=1 => 20e6,
        31.. => 20e6 + kib * 1_024.0 * 3_000.0 / 4.0,
        _ => {
            let step = (second - 2) / 10 + 1;
            20e6 + kib * 1_024.0 * 1_000.0 * step as f64 + f64::from(step == 2) * 2e5
        }
    };
    points(name, "bytes", (0..=40).map(|second| (second * SECOND, at(second))).collect())
}

/// This many nanoseconds of CPU time for each message.
fn cpu(each_ns: f64) -> Series {
    let mut used = 0.0;
    let mut all = vec![(0, 0.0), (SECOND, 0.0)];
    for plateau in 1..=3_u64 {
        used += plateau as f64 * 10_000.0 * each_ns;
        all.push(((plateau * 10 + 1) * SECOND, used));
    }
    points("subject.cpu.total", "ns", all)
}

fn beam() -> [Series; 3] {
    let readings = |name: &str, unit: &str, value: fn(u64) -> f64| {
        points(name, unit, (0..=40).map(|second| (second * SECOND, value(second))).collect())
    };
    [
        readings("beam.memory.total_bytes", "bytes", |second| 18e6 + second as f64 * 1e5),
        readings("beam.scheduler.utilisation_ratio", "ratio", |second| second as f64 / 100.0),
        readings("beam.scheduler.utilisation_max_ratio", "ratio", |second| second as f64 / 50.0),
    ]
}

pub(crate) fn points(name: &str, unit: &str, points: Vec<(Nanos, f64)>) -> Series {
    Series { name: name.into(), unit: unit.into(), points }
}
