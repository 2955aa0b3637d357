//! Records with something in every field, and a folder to store them in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lab::experiment::{Change, Experiment, Point};
use lab::record::{
    Check, Ending, Entry, Fact, Launch, LoadRecord, Outcome, OutcomeKind, Phase, RunRecord, Series,
    Setting, TrialKey, TrialRecord,
};
use lab::source_file::SourceFile;
use load::{
    Connections, Distribution, End, Evidence, Failure, Flight, Folded, LaneReport, Nanos, Notes,
    Recording, SECOND, Section, Sessions, Slow, Still, Tally, Window,
};
use rusqlite::Connection;
use store::{Kept, RunId, Store};

use crate::findings::spots;
use crate::holding::held;

/// A folder for one test, removed with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// In memory, where that is possible: no test is about a disk, and each transaction would wait for one.
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("dyno-store-{}-{number}", std::process::id());
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("results.dyno")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

/// With flags in place of what its file says, whose text need not be one that could be read again.
fn experiment() -> Experiment {
    let text = "question = 'Which?'\nsubjects = ['a', 'b']\nworkload = 'json'\n\
                load = { open = { rate = 1000.1 }, duration = '10s', protocol = ['http/1.1', 'h2'] }\n\
                conditions = { memory = '1GiB' }\ntrials = { until = '±3%', pause = '1ms' }\n";
    let source = SourceFile { name: "experiments/json.toml".into(), text: text.into() };
    let read = Experiment::parse("json", source).unwrap().quickened();
    let changed = read.with(&[Change::Rounds(7), Change::Duration(Duration::from_nanos(1))]);
    let text = TEXT.into();
    let source = SourceFile { name: "experiments/json.toml".into(), text };
    Experiment { source, ..changed.unwrap() }
}

const TEXT: &str = "question = \"Wer?\"\n# ümläute \u{0} and NUL";

/// A run with so many trials in its plan.
pub(crate) fn run(trials: u32) -> RunRecord {
    let backlog = Setting {
        name: "backlog".into(),
        default: Some("511".into()),
        change: Some("4096, as all".into()),
    };
    let threads = Setting { name: "threads".into(), default: None, change: None };
    RunRecord {
        name: "json".into(),
        experiment: Some(experiment()),
        files: vec![
            ("experiments/json.toml".into(), TEXT.into()),
            ("workloads/json.toml".into(), String::new()),
        ],
        is_quick: true,
        seed: u64::MAX,
        began_unix_ms: 1_753_000_000_123,
        dyno: "0.1.0 (fe68733)".into(),
        facts: vec![fact("kernel", "6.1.0"), fact("net.core.somaxconn", "4096")],
        entries: vec![
            Entry {
                name: "node-http".into(),
                title: "Node.js".into(),
                language: "JavaScript".into(),
                processes: "one".into(),
                tier: "default".into(),
                notes: "one loop".into(),
                version: "v20.1.0".into(),
                build: "b1946ac9".into(),
                skipped: None,
                settings: vec![backlog, threads],
            },
            Entry { name: "go".into(), skipped: Some("no `go`".into()), ..Entry::default() },
        ],
        plan: (0..trials).map(key).collect(),
        ..RunRecord::default()
    }
}

/// The key of a trial; the axes take turns.
pub(crate) fn key(number: u32) -> TrialKey {
    let point = match number % 4 {
        0 => Point::Connections(64),
        1 => Point::Requests(1_234.5),
        2 => Point::Sessions(100.0),
        _ => Point::Held(10_000),
    };
    TrialKey::new(number, "node-http", "json", point, number / 4)
}

/// A trial with something in every field, which differs from one number to the next: it has both a load of exchanges
/// and one of held connections.
pub(crate) fn trial(number: u32) -> TrialRecord {
    let check = Check {
        phase: Phase::Before,
        ask: "json".into(),
        wrong: None,
        request: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        response: b"HTTP/1.1 200 OK\r\n\r\n\xff\x00".to_vec(),
        head_len: 19,
        rest_len: 2,
        digest: Some([number as u8; 32]),
    };
    let wrong = Check {
        phase: Phase::After,
        wrong: Some(String::new()),
        digest: None,
        response: Vec::new(),
        ..check.clone()
    };
    TrialRecord {
        key: key(number),
        began_unix_ms: 1_753_000_001_000 + i64::from(number),
        outcome: Outcome { kind: OutcomeKind::Measured, says: format!("trial {number}") },
        launch: Some(Launch {
            command: vec!["node".into(), "server.js".into(), String::new()],
            pid: 4_000_000 + number,
            port: 65_535,
            ready_after: Some(123_456_789),
            backlog: None,
            processes: 1,
        }),
        conditions: vec![fact("memory", "1.5 GiB by cgroup v1")],
        checks: vec![check, wrong],
        spots: spots(),
        loaded: Some(LoadRecord {
            began: 1_000 + u64::from(number),
            in_turns: None,
            agents: Vec::new(),
            recording: recording(number),
        }),
        held: Some(held(number)),
        series: vec![
            series("subject.memory.rss", &[(0, 1e6), (SECOND, 1.5e6), (SECOND, -0.0)]),
            series("machine.steal", &[(5, f64::INFINITY), (6, 1.0 / 3.0), (7, f64::MIN_POSITIVE)]),
            series("nothing", &[]),
        ],
        ending: Ending {
            exit: "signal 9 (KILL)".into(),
            killed: 2,
            output_tail: b"listening\n\xfe".to_vec(),
        },
    }
}

/// A trial that did not get far.
pub(crate) fn bare_trial(number: u32) -> TrialRecord {
    TrialRecord {
        outcome: Outcome { kind: OutcomeKind::Skipped, says: String::new() },
        ..TrialRecord::new(key(number), trial(number).began_unix_ms)
    }
}

/// A store of one run with two trials: one with everything in it, and one that was never loaded.
pub(crate) fn two_trials() -> (Folder, RunId) {
    let (folder, mut store, id) = begun(2);
    store.keep(id, &trial(0)).unwrap();
    store.keep(id, &bare_trial(1)).unwrap();
    (folder, id)
}

pub(crate) fn series(name: &str, points: &[(Nanos, f64)]) -> Series {
    Series { name: name.into(), unit: "bytes".into(), points: points.to_vec() }
}

fn latencies(values: impl IntoIterator<Item = Nanos>) -> Distribution {
    let mut distribution = Distribution::new(5 * SECOND);
    values.into_iter().for_each(|value| distribution.record(value));
    distribution
}

fn recording(number: u32) -> Recording {
    let n = u64::from(number);
    let mut response = latencies((0..200).map(|step| 1_000 * step * step + n));
    response.record_censored(5 * SECOND);
    let mut failed = [0; Failure::COUNT];
    for (failure, times) in
        [(Failure::ConnectRefused, 1), (Failure::SendTimeout, 2), (Failure::Blocked, n + 1)]
    {
        failed[failure.index()] = times;
    }
    let slow = Slow { intended: 1, sent: 2, first_byte: 3, done: 4 + n, seq: 7, status: 200 };
    let window = |place: u64| Window {
        from: place * 100_000_000,
        until: (place + 1) * 100_000_000,
        is_warmup: place == 0,
        attempted: 100 + n,
        correct: 99,
        failed,
        bytes_sent: 1 << 20,
        bytes_received: 1 << 30,
        in_flight_area: 1 << 65,
        cpu: 99_000_000,
        response: Folded::of(&latencies((0..50).map(|step| step * 10_000 + place))),
        service: Folded::of(&latencies([])),
    };
    let total = Tally {
        due: 1,
        on_time: 2,
        carried_in: 3,
        received_inside: 4,
        flight: Flight { area: 1 << 100, correct: 5, failed: 6, unsent: 7 },
        still: Still { sum: 8, overslept: 9, kept_waiting: 10 },
        attempted: 1_000 + n,
        correct: 990,
        correct_inside: 980,
        failed,
        under_way: 7,
        answered: 985,
        warmup_attempted: 11,
        warmup_failed: 12,
        response,
        service: latencies([17, 18, 1 << 30]),
        first_byte: latencies([1]),
        late: latencies([0, 0, 0]),
        blocked: latencies([]),
        connect: latencies([n]),
        connections: Connections { begun: 3, established: 2, failed: 1 },
        sessions: Sessions { attempted: 6, complete: 5, failed: 4, ..Sessions::default() },
        notes: Notes {
            stale_retries: 1,
            idle_closed: 2,
            surplus: 3,
            unsolicited: 4,
            announced_closes: 11,
            ..Notes::default()
        },
        evidence: vec![evidence()],
        bytes_sent: 21,
        bytes_received: 22,
        in_flight_area: u128::from(u64::MAX) * 3,
        cpu: 23,
        idle: 24,
        polled: 25,
        last_done: 26,
        slowest: vec![slow, Slow { status: 503, ..slow }],
        ..Tally::new(1)
    };
    Recording {
        windows: (0..3).map(window).collect(),
        lanes: vec![
            LaneReport {
                cpu: Some(3),
                cpu_time: 1,
                wall: 2,
                idle: 3,
                polled: 4,
                still: Still { sum: 1, overslept: 2, kept_waiting: 3 },
                ..LaneReport::default()
            },
            LaneReport::default(),
        ],
        ended: 300_000_001,
        end: End::GaveUp(Failure::ConnectRefused),
        on_time_within: SECOND,
        scheduled_until: Some(250_000_000),
        sections: vec![Section {
            from: 1,
            until: 2,
            due: 3,
            correct: 4,
            on_time: 5,
            failed: 6,
            correct_inside: 7,
            response: latencies([8]),
        }],
        ..Recording::new(total, 100_000_000..300_000_000, 5 * SECOND)
    }
}

fn evidence() -> Evidence {
    Evidence {
        failure: Failure::Still,
        at: 12,
        seq: 13,
        request: b"GET / HTTP/1.1\r\n\r\n\xff".to_vec(),
        expected: "status 200".into(),
        received: vec![0, 255],
        lacks_beginning: true,
        is_cut: true,
        stream: Some(7),
        reason: Some("the server ended the stream: CANCEL".into()),
    }
}

/// A store with a run of so many trials, of which none is stored yet.
pub(crate) fn begun(trials: u32) -> (Folder, Store, RunId) {
    let folder = Folder::new();
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&run(trials)).unwrap();
    (folder, store, id)
}

/// A store with a run of so many trials, all of them stored.
pub(crate) fn filled(trials: u32) -> (Folder, Store, RunId) {
    let folder = Folder::new();
    let (store, id) = fill(&folder.store(), trials);
    (folder, store, id)
}

/// Such a store, here.
pub(crate) fn fill(path: &Path, trials: u32) -> (Store, RunId) {
    let mut store = Store::open(path).unwrap();
    let id = store.begin(&run(trials)).unwrap();
    (0..trials).for_each(|number| store.keep(id, &trial(number)).unwrap());
    (store, id)
}

/// Changes the file of a store as no dyno does.
pub(crate) fn change(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA writable_schema = ON").unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// The trial, which must be sound.
pub(crate) fn whole(kept: Kept) -> TrialRecord {
    match kept {
        Kept::Whole(trial) => *trial,
        Kept::Damaged(damage) => panic!("{damage:?}"),
    }
}
