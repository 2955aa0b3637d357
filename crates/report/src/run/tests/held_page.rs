//! A run of held connections, made by hand, and its page: two servers over two workloads, with a reference.

use lab::experiment::Point;
use lab::record::{
    Entry, HeldRecord, Outcome, OutcomeKind, RunRecord, Series, TrialKey, TrialRecord,
};
use load::{
    Distribution, Failure, Folded, HoldWindow, Holding, Loss, Nanos, Plateau, PlateauTimes, SECOND,
};

use super::page;
use crate::run::held::fixture::BEAM;
use crate::run::{Findings, fixture};
use crate::svg;

const MS: u64 = 1_000_000;
/// Seconds of a step, and number of steps.
const EVERY: u64 = 30;
const STEPS: u64 = 10;
/// Seconds that are observed after the close.
const DRAIN: u64 = 30;

const EXPERIMENT: &str = r#"
question = "What does a held connection cost Costly and Thrifty?"
article = "Costly vs. Thrifty (Author, 2013)"
subjects = ["costly", "thrifty", "oracle"]
workload = ["poll", "wspoll"]
history = "ramps-2013.csv"

[load.held]
connections = 10000
step = 1000
every = "30s"
rate = 500
settle = "5s"
beat = "1s"
drain = "30s"

[trials]
repeat = 2
"#;

const HISTORY: &str = "# Two servers <b>, 2013\n# Thrifty took about 25 % less memory.\n\
                       subject,workload,point,figure,value,note\n\
                       thrifty,poll,10000,failed_percent,4,\"1-4 %, <i>estimated\"\n\
                       thrifty,wspoll,10000,rss_peak_bytes,200000000,made up\n";

fn run(subjects: &[&str]) -> RunRecord {
    let entry = |name: &&str| Entry {
        name: (*name).into(),
        title: ["Costly", "Thrifty", "Oracle"]
            .iter()
            .find(|title| title.to_lowercase() == **name)
            .map_or((*name).to_string(), ToString::to_string),
        tier: if *name == "oracle" { "reference" } else { "default" }.into(),
        ..Entry::default()
    };
    let mut plan = Vec::new();
    for repeat in 0..2 {
        for workload in ["poll", "wspoll"] {
            for subject in subjects {
                plan.push(TrialKey {
                    number: plan.len() as u32,
                    subject: (*subject).into(),
                    workload: workload.into(),
                    point: Point::Held((STEPS * 1_000) as u32),
                    repeat,
                });
            }
        }
    }
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let mut run = RunRecord {
        name: "ramps-2013".into(),
        files: vec![
            file("experiments/ramps-2013.toml", EXPERIMENT),
            file("experiments/history/ramps-2013.csv", HISTORY),
            file("subjects/costly/subject.toml", "probe = \"beam\""),
            file("probes/beam/probe.toml", BEAM),
        ],
        entries: subjects.iter().map(entry).collect(),
        plan,
        ..fixture::run()
    };
    fixture::reread(&mut run);
    run
}

/// The properties of a made-up server.
#[derive(Clone, Copy)]
struct Kind {
    base: f64,
    bytes: f64,
    late_ms: u64,
    has_beam: bool,
    /// From this many connections on it loses some.
    loses_from: u64,
}

fn kind(key: &TrialKey) -> Kind {
    let is_socket = key.workload == "wspoll";
    let kind =
        Kind { base: 5e6, bytes: 2_000.0, late_ms: 1, has_beam: false, loses_from: u64::MAX };
    match (key.subject.as_str(), is_socket) {
        ("costly", true) => {
            Kind { base: 42e6, bytes: 21_000.0, late_ms: 9, has_beam: true, loses_from: 8_000 }
        }
        ("costly", false) => {
            Kind { base: 41e6, bytes: 14_000.0, late_ms: 6, has_beam: true, loses_from: 6_000 }
        }
        ("thrifty", true) => {
            Kind { base: 55e6, bytes: 15_500.0, late_ms: 4, has_beam: true, ..kind }
        }
        ("thrifty", false) => {
            Kind { base: 55e6, bytes: 12_500.0, late_ms: 3, has_beam: true, ..kind }
        }
        _ => kind,
    }
}

fn trials(run: &RunRecord) -> Vec<TrialRecord> {
    let model = fixture::trials().remove(0);
    let trial = |key: &TrialKey| {
        let kind = kind(key);
        TrialRecord {
            key: key.clone(),
            outcome: Outcome { kind: OutcomeKind::Measured, says: String::new() },
            loaded: None,
            held: Some(HeldRecord {
                began: SECOND,
                agents: Vec::new(),
                holding: holding(kind, key.repeat),
            }),
            series: series(kind, key.repeat),
            ..model.clone()
        }
    };
    run.plan.iter().map(trial).collect()
}

fn times(around: Nanos, many: u64) -> Distribution {
    let mut made = Distribution::new(100 * SECOND);
    (0..many).for_each(|n| made.record(around / 2 + around * (n % 97) * (n % 97) / 2_400));
    made
}

fn holding(kind: Kind, repeat: u32) -> Holding {
    let window = |second: u64| {
        let open = (second * 1_000 / EVERY / 1_000 * 1_000 + (second % EVERY * 500).min(1_000))
            .min(STEPS * 1_000);
        let is_bad = kind.loses_from <= open && second.is_multiple_of(7);
        HoldWindow {
            from: second * SECOND,
            until: (second + 1) * SECOND,
            open,
            opening: 0,
            begun: 0,
            opened: 0,
            failed: 0,
            lost: if is_bad { 1 + open / 1_000 } else { 0 },
            messages: open,
            bytes: open * 40,
            open_after: Folded::of(&Distribution::new(SECOND)),
            late: Folded::of(&times(kind.late_ms * MS * (1 + open / 1_500), open / 10)),
        }
    };
    Holding {
        plateaus: (0..STEPS).map(|step| plateau(kind, step, u64::from(repeat))).collect(),
        windows: (0..STEPS * EVERY).map(window).collect(),
        closed_at: STEPS * EVERY * SECOND,
        was_halted: false,
    }
}

fn plateau(kind: Kind, step: u64, repeat: u64) -> Plateau {
    let connections = (step + 1) * 1_000;
    let from = step * EVERY * SECOND;
    let (mut failed, mut lost) = ([0; Loss::COUNT], [0; Loss::COUNT]);
    if kind.loses_from <= connections {
        failed[Loss::Failure(Failure::ConnectTimeout).index()] = 3 * step;
        lost[Loss::Failure(Failure::RecvReset).index()] = 20 + repeat;
        lost[Loss::Close.index()] = 7;
    }
    let gone: u64 = failed.iter().chain(&lost).sum();
    let late = kind.late_ms * MS * (1 + connections / 1_500);
    Plateau {
        times: PlateauTimes {
            connections: connections as usize,
            from,
            measured_from: from + 7 * SECOND,
            until: from + EVERY * SECOND,
        },
        begun: 1_000 + gone,
        begun_again: gone,
        opened: 1_000,
        failed,
        lost,
        open: connections,
        silent: if gone == 0 { 0 } else { 2 },
        messages: connections * 23,
        bytes: connections * 900,
        connect: times(MS / 4 * (1 + step), 1_000),
        agree: times(kind.late_ms * MS, 1_000),
        late: times(late + repeat * MS / 5, 3_000),
        gap: times(SECOND, 500),
        own: times(MS / 20, 3_000),
        cpu: SECOND,
        measured: 23 * SECOND,
        ..Plateau::default()
    }
}

/// What monitors read each second: more memory for each open connection, a quarter of it given back at the end.
fn series(kind: Kind, repeat: u32) -> Vec<Series> {
    let end = STEPS * EVERY;
    let made = |name: &str, unit: &str, of: &dyn Fn(u64) -> f64| Series {
        name: name.into(),
        unit: unit.into(),
        points: (0..=end + DRAIN).map(|second| ((second + 1) * SECOND, of(second))).collect(),
    };
    let open = move |second: u64| {
        let whole = second.min(end - 1) / EVERY * 1_000;
        (whole + (second.min(end - 1) % EVERY * 500).min(1_000)) as f64
    };
    let wobble =
        move |second: u64| 1.0 + ((second * 37 + u64::from(repeat) * 11) % 23) as f64 / 400.0;
    let memory = move |second: u64| {
        let kept = if end <= second { 0.75 } else { 1.0 };
        kind.base + open(second) * kind.bytes * kept * wobble(second)
    };
    let busy = move |second: u64| if end <= second { 0.01 } else { open(second) / 11_000.0 };
    let cpu = move |second: u64| (0..second).map(busy).sum::<f64>() * 1e9;
    let mut all = vec![
        made("subject.memory.rss", "bytes", &|second| memory(second) * 1.04),
        made("subject.memory.pss", "bytes", &memory),
        made("subject.cpu.user", "ns", &|second| cpu(second) * 0.7),
        made("subject.cpu.system", "ns", &|second| cpu(second) * 0.3),
    ];
    if kind.has_beam {
        all.push(made("beam.memory.total_bytes", "bytes", &|second| memory(second) * 0.8));
        all.push(made("beam.scheduler.utilisation_ratio", "ratio", &|second| busy(second) * 0.6));
        all.push(made("beam.scheduler.utilisation_max_ratio", "ratio", &|second| {
            busy(second) * 0.7 * wobble(second)
        }));
    }
    all
}

#[test]
fn held_connections_have_a_price_list_and_pictures() {
    let run = run(&["costly", "thrifty", "oracle"]);
    let trials = trials(&run);
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    let page = page(&findings);
    for said in [
        "</dfn> costs</h2>",
        "memory of a connection",
        "until TCP is connected",
        "BEAM schedulers in use",
        "lost, recv.reset",
        "What the article states, and this run",
        "Thrifty took about 25 % less memory.",
        "Thrifty · wspoll",
        "A whole ramp along its time",
        "Every step of wspoll in numbers",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // The oracle has a row, but no price in a picture; nothing about it is empty.
    assert_eq!(page.matches("class=\"strip\"").count(), 6);
    assert!(!page.contains("No server was measured") && !page.contains("<h2>poll</h2>"));
    for odd in ["<b>", "<i>", "\"NaN", "src=", "@import"] {
        assert!(!page.replace("<b>Every", "").replace("</svg><b>", "").contains(odd), "{odd}");
    }
    assert!(page.len() < 800_000, "{} bytes", page.len());
    let chart = svg(&findings, "wspoll", crate::Theme::Auto).expect("it was held");
    assert!(chart.contains("open connections") && chart.contains(">Thrifty · wspoll<"), "{chart}");
}

#[test]
fn a_crowd_that_holds_connections_has_a_page_that_stays_small() {
    let (model, some) = (run(&["costly"]), trials(&run(&["costly"])));
    let names: Vec<String> = (0..27).map(|n| format!("server-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let crowd = RunRecord { files: model.files.clone(), ..run(&names) };
    let like = |key: &TrialKey| {
        let is_like = |trial: &&TrialRecord| {
            trial.key.workload == key.workload && trial.key.repeat == key.repeat
        };
        let found = some.iter().find(is_like).expect("both workloads are there");
        let mut trial = TrialRecord { key: key.clone(), ..found.clone() };
        if let Some(held) = &mut trial.held {
            held.holding.plateaus.truncate(5);
            held.holding.windows.truncate(5 * EVERY as usize);
            held.holding.closed_at = 5 * EVERY * SECOND;
        }
        trial
    };
    let trials: Vec<TrialRecord> = crowd.plan.iter().map(like).collect();
    let page = page(&Findings::of(&7, &crowd, &trials, Vec::new()));
    assert!(page.len() < 2_500_000, "{} bytes", page.len());
}

#[test]
fn a_line_is_never_of_two_kinds_of_memory() {
    let run = run(&["thrifty"]);
    let chart = |kept: &dyn Fn(u64) -> bool| {
        let mut trials = trials(&run);
        let series = trials.iter_mut().flat_map(|trial| &mut trial.series);
        for pss in series.filter(|series| series.name == "subject.memory.pss") {
            pss.points.retain(|(at, _)| kept(at / SECOND));
        }
        let findings = Findings::of(&7, &run, &trials, Vec::new());
        (svg(&findings, "wspoll", crate::Theme::Auto), page(&findings).contains(" RSS <span"))
    };
    let (none, sparse, whole) =
        (chart(&|_| false), chart(&|second| !(91..125).contains(&second)), chart(&|_| true));
    assert!(none.1 && sparse.1 && !whole.1);
    assert!(none.0 == sparse.0, "where one plateau has no PSS, none of the line is of it");
    assert!(none.0 != whole.0);
}
