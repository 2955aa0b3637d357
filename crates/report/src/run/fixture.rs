//! A run, made by hand: two servers at two rates of sessions in two rounds; one of them dies once, and is hostile.

use lab::experiment::{Experiment, Point};
use lab::record::{
    Check, Ending, Entry, Fact, Launch, LoadRecord, Outcome, OutcomeKind, Phase, ProfileRecord,
    RunRecord, Series, Setting, TrialKey, TrialRecord,
};
use lab::source_file::SourceFile;
use load::{Distribution, Failure, Folded, LaneReport, Recording, SECOND, Slow, Tally, Window};
use profile::{BLOCKS, Calls, Line, Method, Profile, Side, Stack, Target};

const MS: u64 = 1_000_000;

const EXPERIMENT: &str = r#"
question = "Which of two answers, and how fast?"
article = "Two servers (Author, May 2011)"
subjects = ["quick", "evil", "absent"]
workload = "echo-xml"
load = { sessions = { rate = [100, 200], calls = 10 }, total = 1000, warmup = "0s", timeout = "5s" }
trials = { repeat = 2, seed = 7 }
history = "two-2011.csv"
"#;

const WORKLOAD: &str = r#"
title = "Echo a value"
[[ask]]
request = "GET /?value=1 HTTP/1.1"
"#;

const HISTORY: &str = "# Two servers, May 2011\nsubject,workload,point,figure,value,note\n\
                       quick,echo-xml,peak,throughput_per_s,900,\n\
                       quick,echo-xml,100,throughput_per_s,800,\n";

pub(crate) fn run() -> RunRecord {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let mut plan = Vec::new();
    for repeat in 0..2 {
        for rate in [100.0, 200.0] {
            for subject in ["quick", "evil"] {
                plan.push(TrialKey::new(
                    plan.len() as u32,
                    subject,
                    "echo-xml",
                    Point::Sessions(rate),
                    repeat,
                ));
            }
        }
    }
    let mut run = RunRecord {
        name: "two".into(),
        files: vec![
            file("experiments/two.toml", EXPERIMENT),
            file("workloads/echo-xml.toml", WORKLOAD),
            file("experiments/history/two-2011.csv", HISTORY),
        ],
        seed: 7,
        began_unix_ms: 1_795_267_680_000,
        dyno: "0.1.0".into(),
        facts: vec![fact("cpu.model", "A CPU"), fact("kernel", "Linux 6.18")],
        entries: entries(),
        plan,
        ..RunRecord::default()
    };
    reread(&mut run);
    run
}

/// Takes the run's experiment from the text that is its first file, as a command does before it keeps the run.
pub(crate) fn reread(run: &mut RunRecord) {
    let (name, text) = run.files[0].clone();
    let read = Experiment::parse(&run.name, SourceFile { name, text });
    let experiment = read.expect("the experiment can be read");
    run.experiment = Some(if run.is_quick { experiment.quickened() } else { experiment });
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

fn entries() -> Vec<Entry> {
    let setting = |default: &str, change: Option<&str>| Setting {
        name: "backlog".into(),
        default: Some(default.into()),
        change: change.map(String::from),
    };
    let entry = |name: &str, title: &str, version: &str, setting: Setting| Entry {
        name: name.into(),
        title: title.into(),
        language: "C".into(),
        processes: "one".into(),
        tier: "default".into(),
        version: version.into(),
        settings: vec![setting],
        ..Entry::default()
    };
    vec![
        entry("quick", "Quick", "1.2", setting("128", None)),
        entry(
            "evil",
            "Evil \u{1b}[31m",
            "=cmd|' /C calc'!A0***",
            setting("5", Some("128: too few")),
        ),
        Entry {
            skipped: Some("needs `gone`".into()),
            ..entry("absent", "Absent", "", setting("128", None))
        },
    ]
}

/// Text that breaks out of markup, if anything does.
pub(crate) const POLYGLOT: &str =
    "--></title></style><script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}\u{1b}[31m";

/// A run in which every text from another program's file or server is this one.
pub(crate) fn hostile() -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, mut trials) = (run(), trials());
    run.files[0].1 = run.files[0].1.replace("Which of two", "<b onclick=x>Which of two");
    reread(&mut run);
    run.dyno = POLYGLOT.into();
    for entry in &mut run.entries {
        for text in [&mut entry.title, &mut entry.version, &mut entry.notes] {
            *text = POLYGLOT.into();
        }
        entry.settings[0].change = Some(POLYGLOT.into());
    }
    run.facts[0].value = POLYGLOT.into();
    for trial in trials.iter_mut().take(2) {
        trial.outcome.kind = OutcomeKind::Died;
        trial.outcome.says = POLYGLOT.into();
        trial.ending.exit = POLYGLOT.into();
        trial.ending.output_tail = POLYGLOT.as_bytes().to_vec();
    }
    (run, trials)
}

/// Two dozen servers with names of all lengths, close together and far apart, one of which answers nothing.
pub(crate) fn crowd() -> (RunRecord, Vec<TrialRecord>) {
    let mut run = run();
    let entry = |n: usize| Entry {
        name: format!("server-{n}"),
        title: ["Axum", "A server with quite a long name", "Node.js http"][n % 3].to_string()
            + &format!(" {n}"),
        ..entries()[0].clone()
    };
    run.entries = (0..24).map(entry).collect();
    let plan = std::mem::take(&mut run.plan);
    for key in plan.into_iter().filter(|key| key.subject == "quick") {
        for n in 0..24 {
            let number = run.plan.len() as u32;
            run.plan.push(TrialKey { number, subject: format!("server-{n}"), ..key.clone() });
        }
    }
    let crowded = |key: &TrialKey| {
        let mut record = trial(TrialKey { subject: "quick".into(), ..key.clone() });
        record.key = key.clone();
        let n: u64 = key.subject["server-".len()..].parse().unwrap_or_default();
        let spread = if n < 12 { 10 - n / 6 } else { 10u64.pow(n as u32 % 4) };
        let (correct, response) = (20_000 / spread.max(1), spread * MS / 3);
        if let Some(loaded) = &mut record.loaded {
            loaded.recording = recording(correct, response);
        }
        if n == 23 {
            die(&mut record);
        }
        record
    };
    let trials = run.plan.iter().map(crowded).collect();
    (run, trials)
}

/// Runs that are hard to draw, each with its name.
pub(crate) fn ugly() -> Vec<(&'static str, RunRecord, Vec<TrialRecord>)> {
    let of =
        |name, run: RunRecord, keep: &dyn Fn(&TrialKey) -> bool, change: fn(&mut TrialRecord)| {
            let keys = run.plan.iter().filter(|key| keep(key)).cloned();
            let plan: Vec<TrialKey> = keys.collect();
            let mut trials: Vec<TrialRecord> = plan.iter().cloned().map(trial).collect();
            trials.iter_mut().for_each(change);
            (name, RunRecord { plan, ..run }, trials)
        };
    let is_quick = |key: &TrialKey| key.subject == "quick";
    let is_first = |key: &TrialKey| is_quick(key) && key.repeat == 0 && key.point.value() < 150.0;
    let (mut long, mut crowded) = crowd();
    for (n, entry) in long.entries.iter_mut().enumerate() {
        entry.title = format!("{n} {POLYGLOT} {}", "Server\u{202e}nameofone".repeat(n));
        entry.version = POLYGLOT.repeat(3);
    }
    crowded.iter_mut().for_each(|trial| deepen(trial, 20));
    vec![
        of("one point", run(), &is_first, |trial| deepen(trial, 20)),
        of("all dead", run(), &|_| true, die),
        of("all requests failed", run(), &|_| true, fail_all),
        of("one server", run(), &is_quick, |trial| deepen(trial, 20)),
        ("nine orders", far_apart().0, far_apart().1),
        ("long names", long, crowded),
    ]
}

/// Ten servers, each ten times as fast as the next, at one place and in two rounds.
fn far_apart() -> (RunRecord, Vec<TrialRecord>) {
    let mut run = run();
    let entry = |n: usize| Entry {
        name: format!("s{n}"),
        title: format!("By 10^{n}"),
        ..entries()[0].clone()
    };
    run.entries = (0..10).map(entry).collect();
    let key = |n: u32| {
        TrialKey::new(n, &format!("s{}", n % 10), "echo-xml", Point::Connections(8), n / 10)
    };
    run.plan = (0..20).map(key).collect();
    let far = |key: &TrialKey| {
        let mut record = trial(key.clone());
        let faster = 10_u64.pow(key.number % 10);
        if let Some(loaded) = &mut record.loaded {
            let mut found = recording(0, 0);
            let answers = faster * 10;
            (found.total.correct, found.total.correct_inside) = (answers, answers);
            recount(&mut found.total, 1_000 * SECOND / faster);
            loaded.recording = found;
        }
        record
    };
    let trials = run.plan.iter().map(far).collect();
    (run, trials)
}

/// It was loaded, and not one answer was right.
fn fail_all(record: &mut TrialRecord) {
    let Some(loaded) = &mut record.loaded else { return };
    let mut found = recording(0, 0);
    found.total.failed[Failure::Deadline.index()] = 1_000;
    recount(&mut found.total, 0);
    loaded.recording = found;
}

/// This many windows of a tenth of a second, with answers of a millisecond to a hundred; and one slow exchange,
/// complete.
pub(crate) fn deepen(trial: &mut TrialRecord, windows: u64) {
    let Some(loaded) = &mut trial.loaded else { return };
    let mut state = u64::from(trial.key.number);
    let window = |place: u64| {
        let mut response = Distribution::new(5 * SECOND);
        for _ in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            response.record(MS + (state >> 40) * (state >> 58));
        }
        Window {
            from: place * 100 * MS,
            until: (place + 1) * 100 * MS,
            is_warmup: place < 10,
            attempted: 300,
            correct: 290 + place % 7,
            failed: [0; Failure::COUNT],
            bytes_sent: 1,
            bytes_received: 1,
            in_flight_area: u128::from(place % 9 * 100 * MS),
            cpu: 1,
            service: Folded::of(&response),
            response: Folded::of(&response),
        }
    };
    loaded.recording.windows = (0..windows).map(window).collect();
    let slow = Slow {
        intended: SECOND,
        sent: SECOND + MS,
        first_byte: SECOND + 90 * MS,
        done: SECOND + 91 * MS,
        seq: 4_711,
        status: 200,
    };
    loaded.recording.total.slowest = vec![slow];
}

fn stack(line: u32, functions: &[u32], count: u32) -> Stack {
    let counts = (0..BLOCKS as u8).map(|block| (block, count)).collect();
    Stack { line, functions: functions.to_vec(), counts }
}

/// A trial of a server that collects garbage for so many samples a block.
pub(crate) fn profile(garbage: u32) -> Profile {
    let line = |side, name: &str| Line { side, name: name.into() };
    Profile {
        method: Method { hz: 997, target: Target::Cpus, user_only: false, dwarf_bytes: None },
        lines: vec![
            line(Side::Program, "garbage collection"),
            line(Side::Program, "package express"),
            line(Side::Kernel, "send"),
            line(Side::NotNamed, "not named"),
        ],
        functions: ["main", "collect", "<script>alert(1)</script>\u{1b}[31m"]
            .map(String::from)
            .into(),
        stacks: vec![
            stack(0, &[0, 1], garbage),
            stack(1, &[0, 2], 20),
            stack(2, &[0], 30),
            stack(3, &[], 1),
        ],
        sampled_ns: 3_000_000_000,
        cpu_ns: u64::from(51 + garbage) * BLOCKS as u64 * 1_003_009,
        user_cpu_ns: None,
        answers: 10_000,
        waited_for_cpu_ns: 5_000_000,
        lost: 0,
        calls: Ok(Calls {
            answers: 1_000,
            counts: vec![("read".into(), 2_000), ("writev".into(), 1_000)],
        }),
        with_flags: true,
    }
}

/// Both servers were sampled at 100 sessions/s, and one was refused at 200.
pub(crate) fn sample(run: &mut RunRecord) {
    let refused = Err("this kernel lets only root sample".into());
    for (number, (subject, found)) in (0..12)
        .map(|number| [("quick", Ok(profile(4))), ("evil", Ok(profile(60)))][number % 2].clone())
        .chain([("quick", refused)])
        .enumerate()
    {
        let (number, rate) = (number as u32, if number < 12 { 100.0 } else { 200.0 });
        let key = TrialKey::new(number, subject, "echo-xml", Point::Sessions(rate), number / 2);
        run.profiles.push(ProfileRecord { key, found });
    }
}

pub(crate) fn trials() -> Vec<TrialRecord> {
    run().plan.into_iter().map(trial).collect()
}

pub(crate) fn trial(key: TrialKey) -> TrialRecord {
    let is_evil = key.subject == "evil";
    let (rate, round) = (key.point.value(), u64::from(key.repeat));
    // Evil keeps up with the lower rate only.
    let (correct, response) = match is_evil && 150.0 < rate {
        true => (12_000, 180 * MS),
        false => ((rate * 100.0) as u64 + round * 40, MS + round * 100_000),
    };
    let mut record = TrialRecord {
        launch: Some(launch(&key)),
        conditions: vec![fact("cpus.subject", "0"), fact("memory", "1.5 GiB by cgroup v1")],
        checks: vec![check(if is_evil { 2 } else { 1 })],
        loaded: Some(LoadRecord {
            began: SECOND,
            in_turns: None,
            agents: Vec::new(),
            recording: recording(correct, response),
        }),
        series: vec![
            series("subject.cpu.total", "ns", &[(0, 0.0), (20 * SECOND, 10e9)]),
            series("subject.memory.rss", "bytes", &[(0, 3e6), (5 * SECOND, 4.2e6)]),
        ],
        ending: Ending { exit: "exit status 0".into(), ..Ending::default() },
        ..TrialRecord::new(key, 1_795_267_680_000)
    };
    match (is_evil, rate > 150.0, round) {
        (true, false, 1) => die(&mut record),
        (true, true, 0) => fail(&mut record),
        _ => {}
    }
    record
}

/// It leaves text that would be obeyed if it were not escaped.
fn die(record: &mut TrialRecord) {
    let says = "it ended 1.2 s after the load began: signal 11 (SEGV)";
    record.outcome = Outcome { kind: OutcomeKind::Died, says: says.into() };
    record.ending.exit = "signal 11 (SEGV)".into();
    record.ending.output_tail =
        b"=1+1,\"x\"\n\x1b]0;owned\x07\xff \xe2\x80\xaeolleh\n<script>\n".to_vec();
}

fn fail(record: &mut TrialRecord) {
    let Some(loaded) = &mut record.loaded else { return };
    let total = &mut loaded.recording.total;
    let response = total.response.quantile(0.5).map_or(0, |median| median.value);
    total.correct -= 500;
    total.correct_inside -= 500;
    for (failure, times) in [(Failure::Deadline, 400), (Failure::NoPorts, 100)] {
        total.failed[failure.index()] += times;
    }
    recount(total, response);
}

fn launch(key: &TrialKey) -> Launch {
    Launch {
        command: vec![key.subject.clone(), "--port=18000".into()],
        pid: 1,
        port: 18_000,
        ready_after: Some((30 + u64::from(key.number)) * MS),
        backlog: Some(128),
        processes: 1,
    }
}

fn check(digest: u8) -> Check {
    Check {
        phase: Phase::Before,
        ask: "ask".into(),
        wrong: None,
        request: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        response: b"an answer".to_vec(),
        head_len: 100 + u64::from(digest),
        rest_len: 46,
        digest: Some([digest; 32]),
    }
}

fn series(name: &str, unit: &str, points: &[(u64, f64)]) -> Series {
    Series { name: name.into(), unit: unit.into(), points: points.to_vec() }
}

/// Makes what is counted twice fit the right answers, each after so long, and the failures.
pub(crate) fn recount(total: &mut Tally, response: u64) {
    total.attempted = total.correct + total.failed_in_all() + total.under_way;
    (total.due, total.on_time) = (total.attempted, total.correct);
    for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
        *times = Distribution::new(response.max(5 * SECOND));
        times.record_many(response, total.correct);
    }
    let given_up = Failure::ALL.into_iter().filter(|failure| failure.is_censored());
    let given_up: u64 = given_up.map(|failure| total.failures(failure)).sum();
    (0..given_up + total.under_way).for_each(|_| total.response.record_censored(5 * SECOND));
}

/// Ten seconds, by a lane that is busy half of the time.
pub(crate) fn recording(correct: u64, response: u64) -> Recording {
    let mut total = Tally::new(5 * SECOND);
    for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
        times.record_many(response, correct);
    }
    total.late.record_many(10_000, correct);
    (total.due, total.attempted, total.correct) = (correct, correct, correct);
    (total.on_time, total.correct_inside, total.answered) = (correct, correct, correct);
    (total.bytes_received, total.received_inside) = (correct * 147, correct * 147);
    total.in_flight_area = u128::from(correct * response);
    (total.flight.area, total.flight.correct) = (total.in_flight_area, total.in_flight_area);
    let lane = LaneReport { wall: 10 * SECOND, idle: 5 * SECOND, ..LaneReport::default() };
    Recording {
        lanes: vec![lane],
        scheduled_until: Some(11 * SECOND),
        ..Recording::new(total, SECOND..11 * SECOND, 5 * SECOND)
    }
}
