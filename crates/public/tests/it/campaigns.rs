//! Changed files, many of them: how many a verification finds. `make public-truth` runs a thousand of each kind.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use public::{Level, Lineage, PublicRun, Words, verify};

use wire::Chance;

use super::changed_files::{digest, hostile, in_lines, numbers, packed, resealed};
use super::{loaded, published, published_lines};

/// So many changes of each kind: a sample, unless more are asked for.
fn many() -> usize {
    std::env::var("DYNO_PUBLIC_CHANGES").map_or(25, |many| many.parse().expect("a number"))
}

/// Whether anything is wrong with a file, as far as can be found; and whether it still is where all that is claimed was
/// computed anew of what was changed.
fn is_found(bytes: &[u8]) -> (bool, bool) {
    let Ok(run) = PublicRun::read(bytes) else { return (true, true) };
    let by_claims = verify(&run).level != Level::Consistent;
    let again =
        PublicRun::of(run.record, run.trials, run.ended, Lineage::default(), &Words::default());
    let by_content = again.map_or(true, |(run, _)| verify(&run).level != Level::Consistent);
    (by_claims, by_content)
}

/// What kind of line it is.
fn kind(line: &str) -> &str {
    line[2..].split(['"', ' ']).next().unwrap()
}

#[test]
fn a_changed_byte_is_always_found() {
    let lines = published_lines();
    let mut chance = Chance::new(39);
    for _ in 0..many() {
        let mut changed = lines.clone();
        let line = chance.below(changed.len());
        let mut bytes = std::mem::take(&mut changed[line]).into_bytes();
        let at = chance.below(bytes.len());
        bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
        changed[line] = String::from_utf8_lossy(&bytes).into_owned();
        assert!(PublicRun::read(&packed(&changed)).is_err(), "byte {at} of line {}", line + 1);
    }
}

#[test]
fn a_column_that_is_named_in_another_way_is_refused() {
    let lines = published_lines();
    for (name, other) in [
        ("{\"trial trial_launch pid\":", "{\"trial trial_launch port\":"),
        ("{\"trial trial_launch pid\":", "{\"detail trial_launch pid\":"),
        ("{\"run run seed\":[0]", "{\"run run seed\":[1]"),
        ("{\"run run seed\":[0]", "{\"run run seed\":[ 0]"),
    ] {
        let mut changed = lines.clone();
        let line = changed.iter_mut().find(|line| line.starts_with(name)).unwrap();
        *line = line.replace(name, other);
        assert!(PublicRun::read(&resealed(changed)).is_err(), "{other}");
    }
    assert!(PublicRun::read(&resealed(lines)).is_ok());
}

/// Each line of the table: what was changed, how often, how often it was found by what is claimed, and how often even
/// though all that is claimed was computed anew.
fn table(title: &str, found: &BTreeMap<String, [usize; 3]>) {
    let mut out = std::io::stdout();
    writeln!(out, "{title}").unwrap();
    for (what, [times, by_claims, by_content]) in found {
        writeln!(out, "  {what:12} {times:5} {by_claims:5} {by_content:5}").unwrap();
    }
}

#[test]
fn a_changed_number_is_found_wherever_something_contradicts_it() {
    let lines = in_lines(&published_lines());
    let mut chance = Chance::new(1_139);
    let mut found: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for turn in 0..many() {
        let mut changed = lines.clone();
        let kinds = ["claims", "trial", "detail", "run"];
        let of_kind = |it: &usize| kind(&lines[*it]) == kinds[turn % kinds.len()];
        let alike: Vec<usize> = (1..lines.len()).filter(of_kind).collect();
        let line = alike[chance.below(alike.len())];
        let all = numbers(&lines[line]);
        let (from, until) = all[chance.below(all.len())];
        let old: u128 = lines[line][from..until].parse().unwrap();
        changed[line].replace_range(from..until, &(old + 1).to_string());
        let (by_claims, by_content) = is_found(&resealed(changed));
        let row = found.entry(kind(&lines[line]).into()).or_default();
        *row = [row[0] + 1, row[1] + usize::from(by_claims), row[2] + usize::from(by_content)];
    }
    table(
        "a number plus one: changed, found, found although all claims were computed anew",
        &found,
    );
    let [times, by_claims, _] = found["claims"];
    assert_eq!(times, by_claims, "a claim that its content does not give");
}

#[test]
fn a_removed_trial_or_plan_row_is_found() {
    let (run, trials, ended) = loaded();
    let mut chance = Chance::new(7);
    let mut found: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for turn in 0..many() {
        let (mut run, mut trials) = (run.clone(), trials.clone());
        let at = chance.below(trials.len());
        let number = trials.remove(at).key.number;
        let what = if turn % 2 == 0 { "trial" } else { "and its plan" };
        if turn % 2 == 1 {
            run.plan.retain(|key| key.number != number);
        }
        let public = published((run, trials, ended));
        let is_found = verify(&public).level != Level::Consistent;
        let row = found.entry(what.into()).or_default();
        *row = [row[0] + 1, row[1] + usize::from(is_found), row[2] + usize::from(is_found)];
    }
    table("removed, and all claims computed anew: removed, found, found", &found);
    for [times, by_claims, _] in found.values() {
        assert_eq!(times, by_claims);
    }
}

/// No file takes more memory than this, with all that is made of it.
const PEAK_KB: u64 = 300_000;

/// Whether this process has nothing but this test to run, so that its memory can be measured; another one has run it if
/// not.
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "DYNO_PUBLIC_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args([test, "--exact", "--nocapture"]).env(ALONE, "").output().unwrap();
    std::io::stdout().write_all(&child.stdout).unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    false
}

/// The most memory that this process has had.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    peak.unwrap().trim().parse().unwrap()
}

#[test]
fn hostile_files_are_refused_or_shown_and_end_nothing() {
    if !is_alone("campaigns::hostile_files_are_refused_or_shown_and_end_nothing") {
        return;
    }
    let lines = published_lines();
    let forms = [in_lines(&lines), lines];
    let mut chance = Chance::new(3_000);
    let mut outcomes = [0; 2];
    let mut longest = Duration::ZERO;
    for turn in 0..3 * many() {
        let file = hostile(&forms, &mut chance, turn);
        let began = Instant::now();
        let shown = PublicRun::read(&file).map(|run| {
            let found = verify(&run);
            (found.level, report::render::Shown::page(&run.findings()).len())
        });
        longest = longest.max(began.elapsed());
        outcomes[usize::from(shown.is_ok())] += 1;
    }
    let [refused, shown] = outcomes;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "hostile: refused {refused}, shown {shown}, longest {longest:?}, memory {} kB",
        peak_kb()
    )
    .unwrap();
    assert!(0 < refused && peak_kb() < PEAK_KB);
    assert!(longest < Duration::from_secs(10), "{longest:?}");
}

/// A file that has 60 MB when it is unpacked: a head that says this of its content, and a line with one text again and
/// again behind its start.
fn bomb(says: &str, start: &str, again: &str) -> Vec<u8> {
    let chunk = again.repeat((1 << 20) / again.len());
    let line = || [start].into_iter().chain((0..60).map(|_| chunk.as_str()));
    let content = if start.starts_with("{\"claims\"") { digest([""]) } else { digest(line()) };
    let head = format!(
        "{{\"format\":\"dyno public run\",\"version\":1,\"id\":\"{content}\",{says},\"parts\":{{}}}}\n"
    );
    packed([head.as_str()].into_iter().chain(line()))
}

#[test]
fn a_file_that_is_huge_when_unpacked_is_refused_in_little_memory() {
    if !is_alone("campaigns::a_file_that_is_huge_when_unpacked_is_refused_in_little_memory") {
        return;
    }
    let columns = "\"lines\":9,\"columns\":99";
    for (head, start, again, says) in [
        ("\"lines\":0", "{\"claims\":[0", ",0", "values"),
        ("\"lines\":0", "{\"claims\":{", "\"\":0,", "values"),
        ("\"lines\":1", "{\"run\":{\"run\":[[0", ",0", "values"),
        ("\"lines\":99999999", "", "\n", "lines"),
        (columns, "{\"trial trial subject\":[0", ",0", "values"),
        (columns, "{\"trial trial subject\":[0]}\n", "[", "whole"),
        (columns, "{\"trial trial subject\":[0,1,2,3,4,5,6,7,8,9]}\n", "\n", "parts"),
    ] {
        let error = PublicRun::read(&bomb(head, start, again)).unwrap_err();
        assert!(peak_kb() < PEAK_KB, "{error}: {} kB", peak_kb());
        assert!(error.contains(says), "{error}");
    }
}
