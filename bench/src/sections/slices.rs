//! g. Whole trials and slices: how much the ratio of two servers differs from round to round, for two that are the
//! same program and for two that differ by a known amount.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Section;
use crate::rig::Rig;
use crate::table::Table;

/// What each request costs the servers besides its system calls: about 15 µs, so that the server is the limit.
const WORK: u64 = 15_000;
/// And one that does about 5 % more for each request, system calls included.
const MORE_WORK: u64 = 16_000;
/// Rounds: each is one pair of fresh processes.
const ROUNDS: usize = 12;

/// The spread of the log ratio over the rounds, and its mean.
struct Spread {
    rounds: usize,
    /// The standard deviation of the log ratio.
    deviation: f64,
    /// The geometric mean of the ratios.
    ratio: f64,
    /// The 95 % interval of that, as a factor to either side.
    within: f64,
}

pub(crate) fn measure(rig: &Rig) -> Section {
    let columns =
        ["what", "rounds", "sd of the log ratio", "ratio, geometric mean", "95 % interval"];
    let mut table = Table::new(
        "The ratio of two servers' rates, round by round (closed loop, 16 connections)",
        &columns,
    );
    for (what, other) in [("the same program", WORK), ("about 5 % more work", MORE_WORK)] {
        row(rig, &mut table, &format!("{what}, whole trials"), other, "");
        row(rig, &mut table, &format!("{what}, slices"), other, "slices = '100ms'");
    }
    let seconds = seconds(rig);
    table.notes.push(format!(
        "each round: two fresh processes of `bench canned --work N` on one CPU, {seconds} s of load on each after 1 s of \
         warm-up; the ratio is that of the second server's throughput to the first's"
    ));
    table.notes.push(
        "what slices save depends on how much the machine's speed wanders from one trial to the next".into(),
    );
    Section { tables: vec![table], ..Section::default() }
}

fn seconds(rig: &Rig) -> f64 {
    if rig.quick { 1.0 } else { 3.2 }
}

fn row(rig: &Rig, table: &mut Table, what: &str, work: u64, slices: &str) {
    eprintln!("  {what}");
    match spread(rig, work, slices) {
        Ok(Spread { rounds, deviation, ratio, within }) => table.rows.push(vec![
            what.to_owned(),
            rounds.to_string(),
            format!("{:.1} %", deviation * 100.0),
            format!("{ratio:.3}"),
            format!("{:.3}–{:.3}", ratio / within, ratio * within),
        ]),
        Err(error) => table.notes.push(format!("{what}: {error:#}")),
    }
}

/// Runs an experiment with these two servers.
fn spread(rig: &Rig, work: u64, slices: &str) -> Result<Spread> {
    let root = rig.scratch.join("slices");
    let bench = rig.program("bench").context("this program has no path")?;
    for (name, work) in [("first", WORK), ("second", work)] {
        let folder = root.join("subjects").join(name);
        fs::create_dir_all(&folder)?;
        let run = format!("{} canned --listen {{address}}:{{port}} --work {work}", bench.display());
        let manifest = format!(
            "title = '{name}'\nlanguage = 'Rust'\nhome = 'https://example.org'\nprocesses = 'one'\n\
             speaks = ['hello']\nrun = '{run}'\n"
        );
        fs::write(folder.join("subject.toml"), manifest)?;
    }
    fs::create_dir_all(root.join("workloads"))?;
    let workload =
        "title = 'x'\n[[ask]]\nrequest = 'GET /hello HTTP/1.1'\nbody = 'Hello, world!'\n";
    fs::write(root.join("workloads/hello.toml"), workload)?;
    let (rounds, seconds) = (if rig.quick { 4 } else { ROUNDS }, (seconds(rig) * 1e3) as u64);
    let experiment = format!(
        "question = 'How far do rounds differ?'\nsubjects = ['first', 'second']\nworkload = 'hello'\n\
         load = {{ closed = {{ connections = 16 }}, duration = '{seconds}ms', warmup = '1s' }}\n\
         [trials]\nrepeat = {rounds}\nceiling = false\ncheck = false\n{slices}\n"
    );
    let csv = run(rig, &root, &experiment)?;
    let [first, second] = ["first", "second"].map(|it| column(&csv, it, "throughput_per_s"));
    let (first, second) = (first?, second?);
    of_ratios(&first, &second)
}

/// Runs this experiment in this folder, and returns its table of rounds.
pub(super) fn run(rig: &Rig, root: &Path, experiment: &str) -> Result<PathBuf> {
    fs::create_dir_all(root.join("experiments"))?;
    fs::write(root.join("experiments/rounds.toml"), experiment)?;
    let csv = root.join("rounds.csv");
    let _ = fs::remove_file(&csv);
    let _ = fs::remove_dir_all(root.join(".dyno"));
    let dyno = rig.program("dyno").context("no dyno")?;
    let ran = Command::new(dyno)
        .args(["run", "rounds", "--format", "csv", "--output"])
        .arg(&csv)
        .current_dir(root)
        .output()?;
    if !csv.is_file() {
        bail!("dyno run: {}", String::from_utf8_lossy(&ran.stderr).trim());
    }
    Ok(csv)
}

/// A subject's figure in each round in which it was measured.
pub(super) fn column(csv: &Path, subject: &str, figure: &str) -> Result<Vec<(u32, f64)>> {
    let text = fs::read_to_string(csv)?;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().context("an empty table")?;
    let column = |name: &str| {
        head.iter().position(|found| *found == name).with_context(|| format!("no column {name}"))
    };
    let (name, round, value) = (column("subject")?, column("round")?, column(figure)?);
    let value_of = |row: Vec<&str>| {
        let is_whole = row.len() == head.len() && row[name] == subject;
        is_whole.then(|| Some((row[round].parse().ok()?, row[value].parse().ok()?))).flatten()
    };
    Ok(lines.filter_map(value_of).collect())
}

fn of_ratios(first: &[(u32, f64)], second: &[(u32, f64)]) -> Result<Spread> {
    let logs: Vec<f64> = first
        .iter()
        .filter_map(|(round, below)| {
            let (_, above) = second.iter().find(|(other, _)| other == round)?;
            Some((above / below).ln())
        })
        .collect();
    let rounds = logs.len();
    if rounds < 3 {
        bail!("{rounds} rounds were measured, and three are needed");
    }
    let mean = logs.iter().sum::<f64>() / rounds as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let deviation = (squares / (rounds - 1) as f64).sqrt();
    // Student's t for 95 %, by degrees of freedom from 2.
    const T: [f64; 10] = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201];
    let t = T[(rounds - 3).min(T.len() - 1)];
    let within = (t * deviation / (rounds as f64).sqrt()).exp();
    Ok(Spread { rounds, deviation, ratio: mean.exp(), within })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_log_ratios_of_equal_rounds() {
        let first = [(1, 100.0), (2, 200.0), (3, 50.0), (4, 10.0)];
        let second = [(3, 50.0), (1, 110.0), (2, 180.0)];
        let spread = of_ratios(&first, &second).unwrap();
        let logs = [1.1_f64.ln(), 0.9_f64.ln(), 0.0];
        let mean = logs.iter().sum::<f64>() / 3.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2.0;
        assert!((spread.deviation - variance.sqrt()).abs() < 1e-12);
        assert!((spread.ratio - mean.exp()).abs() < 1e-12);
        assert_eq!(spread.rounds, 3, "the fourth has no pair");
        assert!(of_ratios(&first[..2], &second).is_err());
    }
}
