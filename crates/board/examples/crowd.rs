//! Writes a large board: many runs of eight servers made of a few public files, each with another date, seed and version.
//!
//! `cargo run -p dyno-board --example crowd -- 1000 OUT FILE…`, then `dyno publish OUT -o SITE`.
#![allow(clippy::unwrap_used)] // a tool of the project's own

use std::env;
use std::fs;
use std::path::PathBuf;

use lab::record::{Entry, RunRecord, TrialRecord};
use public::{Lineage, PublicRun, Words};

const SERVERS: usize = 8;
/// No trial takes longer.
const TRIAL_MS: i64 = 600_000;

/// The run with copies of its servers and of their trials, until it has eight.
fn widened(run: &PublicRun) -> (RunRecord, Vec<TrialRecord>) {
    let (mut record, mut trials) = (run.record.clone(), Vec::new());
    let copies = SERVERS.div_ceil(record.entries.len());
    record.facts.retain(|fact| !fact.name.starts_with("race."));
    (record.name, record.entries, record.plan) = ("crowd".into(), Vec::new(), Vec::new());
    for copy in 0..copies {
        for entry in &run.record.entries {
            let name = format!("{}-{copy}", entry.name);
            record.entries.push(Entry { title: name.clone(), name, ..entry.clone() });
        }
        for trial in &run.trials {
            let mut trial = trial.clone();
            trial.key.subject = format!("{}-{copy}", trial.key.subject);
            trial.key.number = trials.len() as u32;
            trial.began_unix_ms = record.began_unix_ms + i64::from(trial.key.number) * TRIAL_MS;
            record.plan.push(trial.key.clone());
            trials.push(trial);
        }
    }
    (record, trials)
}

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let [runs, out, files @ ..] = &args[..] else { panic!("RUNS OUT FILE…") };
    let (runs, out): (i64, PathBuf) = (runs.parse().unwrap(), out.into());
    let originals: Vec<PublicRun> =
        files.iter().map(|file| PublicRun::read(&fs::read(file).unwrap()).unwrap()).collect();
    for n in 0..runs {
        let original = &originals[n as usize % originals.len()];
        let (mut record, mut trials) = widened(original);
        record.began_unix_ms += n * 3_600_000;
        trials.iter_mut().for_each(|trial| trial.began_unix_ms += n * 3_600_000);
        let ended = record.began_unix_ms + trials.len() as i64 * TRIAL_MS;
        let ended = original.ended.map(|(_, how)| (ended, how));
        record.seed += n as u64;
        record.dyno = format!("0.0.{}", 1 + n * 4 / runs);
        for entry in &mut record.entries {
            entry.version = format!("{}.{}", 1 + n / 100, n / 10 % 10);
        }
        let lineage = Lineage { finished: 1, unfinished: 0 };
        let (run, _) = PublicRun::of(record, trials, ended, lineage, &Words::default()).unwrap();
        let folder = out.join("runs").join(format!("{:02}", n % 100));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{n}.dyno")), run.write(false).unwrap()).unwrap();
    }
    let board = "title = \"A crowd\"\nquestion = \"How large can a board be?\"\n\
                 own_machines = [\"amd-epyc-2cpu-24gb-linux-6.18\"]\n";
    fs::write(out.join("board.toml"), board).unwrap();
}
