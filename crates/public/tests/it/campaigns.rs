//! Changed files, many of them: how many a verification finds. `make public-truth` runs a thousand of each kind.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use public::{Level, Lineage, PublicRun, Words, verify};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{loaded, published};

/// So many changes of each kind: a sample, unless more are asked for.
fn many() -> usize {
    std::env::var("DYNO_PUBLIC_CHANGES").map_or(25, |many| many.parse().expect("a number"))
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}

fn lines_of(packed: &[u8]) -> Vec<String> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.split_inclusive('\n').map(String::from).collect()
}

fn packed(lines: &[String]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    lines.iter().for_each(|line| packer.write_all(line.as_bytes()).unwrap());
    packer.finish().unwrap()
}

/// The file with a head that fits its lines, as an author of a changed file would write it.
fn resealed(mut lines: Vec<String>) -> Vec<u8> {
    let hex =
        |hash: Sha256| hash.finalize().iter().map(|it| format!("{it:02x}")).collect::<String>();
    let is_extra =
        |line: &String| line.starts_with("{\"claims\"") || line.starts_with("{\"lineage\"");
    let mut hash = Sha256::new();
    lines[1..].iter().filter(|line| !is_extra(line)).for_each(|line| hash.update(line));
    let mut head: Value = serde_json::from_str(&lines[0]).unwrap();
    head["id"] = json!(hex(hash));
    head["lines"] = json!(lines[1..].iter().filter(|line| !is_extra(line)).count());
    for line in lines[1..].iter().filter(|line| is_extra(line)) {
        let name = line[2..].split('"').next().unwrap();
        let mut hash = Sha256::new();
        hash.update(line);
        head["parts"][name] = json!(hex(hash));
    }
    // In the order of the head's own fields.
    let field = |name: &str| head[name].to_string();
    lines[0] = format!(
        "{{\"format\":{},\"version\":{},\"id\":{},\"lines\":{},\"parts\":{}}}\n",
        field("format"),
        field("version"),
        field("id"),
        field("lines"),
        field("parts")
    );
    packed(&lines)
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

/// The numbers of a line: where each begins and ends.
fn numbers(line: &str) -> Vec<(usize, usize)> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 1;
    while at < bytes.len() {
        let is_start = bytes[at].is_ascii_digit() && b":,[".contains(&bytes[at - 1]);
        let from = at;
        while is_start && at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if is_start {
            found.push((from, at));
        }
        at += 1;
    }
    found
}

/// What kind of line it is.
fn kind(line: &str) -> &str {
    line[2..].split(['"', ' ']).next().unwrap()
}

#[test]
fn a_changed_byte_is_always_found() {
    let lines = lines_of(&published(loaded()).write(false).unwrap());
    let mut chance = Chance(39);
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
    let lines = lines_of(&published(loaded()).write(false).unwrap());
    let mut chance = Chance(1_139);
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
    let mut chance = Chance(7);
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

/// What a hostile file may have in the place of a number.
const HOSTILE: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "-1e308",
    "9223372036854775807",
    "18446744073709551615",
    "null",
    "\"x\"",
    "[]",
    "{}",
    "1.5",
    "4294967296",
];

#[test]
fn hostile_files_are_refused_or_shown_and_end_nothing() {
    let lines = lines_of(&published(loaded()).write(false).unwrap());
    let mut chance = Chance(3_000);
    let mut outcomes = [0; 2];
    let mut longest = std::time::Duration::ZERO;
    for turn in 0..3 * many() {
        let mut changed = lines.clone();
        for _ in 0..=chance.below(3) {
            let line = 1 + chance.below(changed.len() - 1);
            let all = numbers(&changed[line]);
            match turn % 3 {
                _ if all.is_empty() => {}
                0 => drop(changed.remove(line)),
                1 => {
                    let (from, until) = all[chance.below(all.len())];
                    changed[line].replace_range(from..until, HOSTILE[chance.below(HOSTILE.len())]);
                }
                _ => {
                    let (from, until) = all[chance.below(all.len())];
                    let old: u64 = changed[line][from..until].parse().unwrap_or(1);
                    let new = old.saturating_mul(1 << chance.below(40)).min(i64::MAX as u64);
                    changed[line].replace_range(from..until, &new.to_string());
                }
            }
        }
        let began = std::time::Instant::now();
        let shown = PublicRun::read(&resealed(changed)).map(|run| {
            let found = verify(&run);
            (found.level, report::render::Shown::page(&run.findings()).len())
        });
        longest = longest.max(began.elapsed());
        outcomes[usize::from(shown.is_ok())] += 1;
    }
    writeln!(
        std::io::stdout(),
        "hostile: refused {}, shown {}, longest {longest:?}",
        outcomes[0],
        outcomes[1]
    )
    .unwrap();
    assert!(0 < outcomes[0]);
}
