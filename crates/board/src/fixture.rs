//! A board in memory. The file of a run is a few words, from which the run is made: a test needs no exporter.

use std::collections::BTreeMap;
use std::sync::Mutex;

use lab::experiment::{Experiment, Point};
use lab::record::{Entry, Fact, Launch, LoadRecord, RunRecord, Setting, TrialKey, TrialRecord};
use lab::source_file::SourceFile;
use load::{Distribution, LaneReport, Recording, SECOND, Tally};
use public::{Difference, Level, Lineage, PublicRun, Verified};
use report::Findings;
use store::RunEnd;

use crate::folder::Reader;
use crate::place::Place;
use crate::site::{Built, build};
use crate::slug::hash;
use crate::summary::RunSummary;

pub(crate) const READER: Reader = Reader { parse, verify };

/// Files by their paths; and, behind a lock, those of the site.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) folder: Vec<(String, Vec<u8>)>,
    pub(crate) site: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Memory {
    pub(crate) fn of(files: &[(&str, String)]) -> Memory {
        let file = |(path, text): &(&str, String)| (path.to_string(), text.as_bytes().to_vec());
        Memory { folder: files.iter().map(file).collect(), ..Memory::default() }
    }

    pub(crate) fn built(&self) -> Built {
        build(self, READER).expect("the site can be built")
    }

    pub(crate) fn page(&self, path: &str) -> String {
        let site = self.site.lock().unwrap();
        let found = site.get(path);
        let known = || site.keys().cloned().collect::<Vec<_>>().join("\n");
        let bytes = found.unwrap_or_else(|| panic!("{path} is none of\n{}", known()));
        String::from_utf8(bytes.clone()).unwrap()
    }
}

impl Place for Memory {
    fn paths(&self) -> Result<Vec<String>, String> {
        Ok(self.folder.iter().map(|(path, _)| path.clone()).collect())
    }

    fn read(&self, path: &str, _most: usize) -> Result<Vec<u8>, String> {
        let found = self.folder.iter().find(|(name, _)| name == path);
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| "it is not there".into())
    }

    fn signed(&self, _path: &str) -> String {
        "signed by somebody".into()
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        self.site.lock().unwrap().insert(path.into(), bytes.to_vec());
        Ok(())
    }
}

/// The id of the run with these words.
pub(crate) fn id(words: &str) -> String {
    hash(words, 64)
}

/// `began MS`, `cpu MODEL`, `dyno VERSION`, `workload NAME`, `repeats ID`, `seed N`, `done`, `quick`, `lies`, and a line for each server:
/// `server NAME VERSION RATE TITLE`.
fn parse(bytes: &[u8]) -> Result<PublicRun, String> {
    let words = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let value =
        |key: &str| words.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    let began =
        value("began").and_then(|text| text.parse().ok()).ok_or("it does not say when it began")?;
    let workload = value("workload").unwrap_or("hello");
    let servers: Vec<Vec<&str>> = words
        .lines()
        .filter_map(|line| line.strip_prefix("server "))
        .map(|line| line.splitn(4, ' ').collect())
        .collect();
    let fact = |name: &str, value: &str| Fact { name: name.into(), value: value.into() };
    let mut facts = vec![
        fact("cpu.model", value("cpu").unwrap_or("AMD EPYC")),
        fact("cpu.online", "0-1"),
        fact("memory", "24684084 kB"),
        fact("kernel", "Linux 6.18.44"),
    ];
    facts.extend(value("repeats").map(|id| fact(public::REPEATS, id)));
    let text = format!(
        "question = \"Which is faster?\"\nsubjects = [{}]\nworkload = \"{workload}\"\n\
         load = {{ closed = {{ connections = 64 }}, duration = \"10s\", warmup = \"1s\" }}\ntrials = {{ repeat = 5, seed = 7 }}\n",
        servers.iter().map(|server| format!("\"{}\"", server[0])).collect::<Vec<_>>().join(", ")
    );
    let source = SourceFile { name: "experiments/two.toml".into(), text: text.clone() };
    let mut record = RunRecord {
        name: "two".into(),
        // None where a name is hostile.
        experiment: Experiment::parse("two", source).ok(),
        files: vec![("experiments/two.toml".into(), text)],
        is_quick: words.lines().any(|line| line == "quick"),
        seed: 7,
        began_unix_ms: began,
        dyno: value("dyno").unwrap_or("0.1.0").into(),
        facts,
        ..RunRecord::default()
    };
    let mut trials = Vec::new();
    for round in 0..5 {
        for server in &servers {
            let rate: u64 = server[2].parse().map_err(|_| "no rate")?;
            let key = TrialKey::new(
                trials.len() as u32,
                server[0],
                workload,
                Point::Connections(64),
                round,
            );
            record.plan.push(key.clone());
            // The rounds of no two servers go up and down together.
            let turned = u64::from(round) * (1 + u64::from(server[0].as_bytes()[0] % 4)) % 5;
            trials.push(trial(key, rate + turned * rate / 400, began));
        }
    }
    if let Some(seed) = value("seed").and_then(|text| text.parse().ok()) {
        record.seed = seed;
        record.experiment.iter_mut().for_each(|experiment| experiment.seed = seed);
    }
    record.entries = servers.iter().map(|server| entry(server)).collect();
    Ok(PublicRun {
        id: id(words),
        record,
        trials,
        ended: words.lines().any(|line| line == "done").then_some((began + 1, RunEnd::Done)),
        lineage: Lineage { finished: 3, unfinished: 1 },
        claims: serde_json::Value::Null,
    })
}

fn entry(server: &[&str]) -> Entry {
    Entry {
        name: server[0].into(),
        title: server.get(3).copied().unwrap_or(server[0]).into(),
        language: "C".into(),
        processes: "one".into(),
        tier: "default".into(),
        version: server[1].into(),
        settings: vec![Setting {
            name: "backlog".into(),
            default: Some("128".into()),
            change: Some("4096".into()),
        }],
        ..Entry::default()
    }
}

/// Ten seconds in which this many requests a second were answered, each after a millisecond.
fn trial(key: TrialKey, rate: u64, began: i64) -> TrialRecord {
    const MS: u64 = 1_000_000;
    let answers = rate * 10;
    let mut total = Tally::new(5 * SECOND);
    let mut all = Distribution::new(5 * SECOND);
    all.record_many(MS, answers);
    (total.response, total.service, total.first_byte) = (all.clone(), all.clone(), all);
    (total.attempted, total.correct, total.correct_inside) = (answers, answers, answers);
    (total.due, total.on_time, total.answered) = (answers, answers, answers);
    (total.bytes_received, total.received_inside) = (answers * 100, answers * 100);
    total.in_flight_area = u128::from(answers * MS);
    (total.flight.area, total.flight.correct) = (total.in_flight_area, total.in_flight_area);
    let lane = LaneReport {
        wall: 10 * SECOND,
        idle: 5 * SECOND,
        cpu_time: 5 * SECOND,
        ..LaneReport::default()
    };
    let recording =
        Recording { lanes: vec![lane], ..Recording::new(total, SECOND..11 * SECOND, 5 * SECOND) };
    let command = vec![key.subject.clone(), "--port".into(), "8080".into()];
    TrialRecord {
        launch: Some(Launch {
            command,
            pid: 1,
            port: 8_080,
            ready_after: Some(30 * MS),
            backlog: Some(128),
            processes: 1,
        }),
        loaded: Some(LoadRecord { began: SECOND, in_turns: None, agents: Vec::new(), recording }),
        ..TrialRecord::new(key, began)
    }
}

/// What a board keeps of a run.
pub(crate) fn summary(run: &PublicRun) -> RunSummary {
    let findings = run.findings();
    RunSummary::of("a", run, &verify(run, &findings), &findings).unwrap()
}

fn verify(run: &PublicRun, _: &Findings<'_>) -> Verified {
    let lie = Difference { at: "tables[0]".into(), claimed: "1".into(), recomputed: "2".into() };
    let is_lie = run.record.dyno.contains("liar");
    Verified {
        level: Level::Consistent,
        differences: is_lie.then_some(lie).into_iter().collect(),
        unrecomputed: Vec::new(),
        claimed_by: run.record.dyno.clone(),
    }
}
