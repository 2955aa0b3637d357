//! The content of a public file: the run's records as plain tables, a line each, in one order.

use std::collections::{BTreeMap, HashSet};

use lab::record::{ProfileRecord, RunRecord, TrialRecord};
use serde_json::Value;
use sha2::{Digest, Sha256};
use store::RunEnd;
use store::plain::{self, Tables};

use crate::run::{ENTRIES_MAX, PLANNED_MAX};

/// Some 26 days, in nanoseconds: no trial is longer.
const INSTANT_MAX: u64 = 1 << 51;

/// What a line has. The order is that of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// How it began.
    Run,
    /// How it ended.
    End,
    /// The check of the server at this place.
    Check(u32),
    /// A trial, without its large tables: alike trials beside each other take less room.
    Trial(u32),
    /// The large tables of a trial.
    Detail(u32),
}

/// The tables of a trial that are large.
const LARGE: [&str; 3] = ["trial_body", "trial_detail", "trial_point"];

impl Part {
    /// Its kind in a word, and its number, which is 0 where a run has one of them.
    pub(crate) fn named(self) -> (&'static str, u32) {
        match self {
            Part::Run => ("run", 0),
            Part::End => ("end", 0),
            Part::Check(place) => ("check", place),
            Part::Trial(number) => ("trial", number),
            Part::Detail(number) => ("detail", number),
        }
    }

    pub(crate) fn of(kind: &str, number: u32) -> Option<Part> {
        let all =
            [Part::Run, Part::End, Part::Check(number), Part::Trial(number), Part::Detail(number)];
        all.into_iter().find(|part| part.named() == (kind, number))
    }

    pub(crate) fn name(self) -> String {
        match self.named() {
            (kind, _) if matches!(self, Part::Run | Part::End) => kind.into(),
            (kind, number) => format!("{kind} {number}"),
        }
    }

    fn parse(name: &str) -> Option<Part> {
        let (kind, number) = name.split_once(' ').unwrap_or((name, "0"));
        Part::of(kind, number.parse().ok()?).filter(|part| part.name() == name)
    }
}

/// A run as tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Content(pub(crate) BTreeMap<Part, Tables>);

/// What a run is made of.
pub(crate) type Records = (RunRecord, Vec<TrialRecord>, Option<(i64, RunEnd)>);

impl Content {
    pub(crate) fn of(
        record: &RunRecord,
        trials: &[TrialRecord],
        ended: Option<(i64, RunEnd)>,
    ) -> Content {
        let mut parts = BTreeMap::from([(Part::Run, plain::run(record))]);
        let end = ended.map(|(at, how)| (Part::End, plain::end(at, how, trials.len())));
        parts.extend(end);
        let place = |name: &str| record.entries.iter().position(|entry| entry.name == name);
        for found in &record.conformance {
            let place = place(&found.subject).and_then(|place| u32::try_from(place).ok());
            parts.extend(place.map(|place| (Part::Check(place), plain::check(found))));
        }
        for trial in trials {
            let (small, large) = halves(trial);
            parts.insert(Part::Trial(trial.key.number), small);
            parts.insert(Part::Detail(trial.key.number), large);
        }
        Content(parts)
    }

    /// Its lines, each with its end.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().map(|(part, tables)| line(*part, tables)).collect()
    }

    /// Goes through every text: by its table and column.
    pub(crate) fn texts(&mut self, mut change: impl FnMut(&str, &str, &mut Value)) {
        for tables in self.0.values_mut() {
            for (name, columns) in tables {
                let names = plain::columns(name).unwrap_or_default();
                for (column, values) in names.iter().zip(columns) {
                    values.iter_mut().for_each(|value| change(name, column, value));
                }
            }
        }
    }
}

/// The tables of a trial: those that are small, and those that are large.
fn halves(trial: &TrialRecord) -> (Tables, Tables) {
    let mut small = plain::trial(trial);
    let large = LARGE.iter().filter_map(|name| small.remove_entry(*name)).collect();
    (small, large)
}

fn line(part: Part, tables: &Tables) -> String {
    let tables = serde_json::to_string(tables).expect("tables can be written as JSON");
    format!("{{\"{}\":{tables}}}\n", part.name())
}

/// The records of a content, read line by line: each must be what this dyno would write of what it reads there.
pub(crate) fn read(lines: &[&str]) -> Result<Records, String> {
    let mut reader = Reader::default();
    let mut last = None;
    for (at, line) in lines.iter().enumerate() {
        let (part, tables) = parse(line).map_err(|says| format!("line {}: {says}", at + 2))?;
        if last.is_some_and(|last| part <= last) {
            return Err(format!("line {}: its parts are not in their order", at + 2));
        }
        last = Some(part);
        reader.take(part, tables, line).map_err(|says| format!("{}: {says}", part.name()))?;
    }
    let (kept, has) = (reader.kept, reader.trials.len());
    match reader.halves.into_keys().next() {
        Some(number) => Err(format!("trial {number}: it has no detail")),
        None if reader.ended.is_some() && kept != has => {
            Err(format!("its end says that {kept} trials were kept, and it has {has}"))
        }
        None => Ok((reader.record, reader.trials, reader.ended)),
    }
}

/// A value takes many times the room of its text; a trial whose monitors keep all their readings has fewer of them.
pub(crate) fn check_size(line: &str) -> Result<(), String> {
    const VALUES_MAX: usize = 1 << 20;
    match line.matches(',').count() <= VALUES_MAX {
        true => Ok(()),
        false => Err(format!("a line with more than {VALUES_MAX} values")),
    }
}

fn parse(line: &str) -> Result<(Part, Tables), String> {
    check_size(line)?;
    let read: BTreeMap<String, Tables> =
        serde_json::from_str(line).map_err(|error| format!("not the tables of a part: {error}"))?;
    let mut read = read.into_iter();
    let (Some((name, tables)), None) = (read.next(), read.next()) else {
        return Err("a line has one part".into());
    };
    Ok((Part::parse(&name).ok_or("a part that no run has")?, tables))
}

#[derive(Default)]
struct Reader<'l> {
    record: RunRecord,
    planned: HashSet<u32>,
    trials: Vec<TrialRecord>,
    ended: Option<(i64, RunEnd)>,
    /// How many trials its end says were kept.
    kept: usize,
    /// Trials whose large tables are still to come, with their lines.
    halves: BTreeMap<u32, (Tables, &'l str)>,
}

impl<'l> Reader<'l> {
    fn take(&mut self, part: Part, tables: Tables, text: &'l str) -> Result<(), String> {
        let again = match part {
            Part::Run => {
                self.record = plain::read_run(tables)?;
                check_run(&self.record)?;
                self.planned = self.record.plan.iter().map(|key| key.number).collect();
                plain::run(&self.record)
            }
            Part::End => {
                let (at, how, kept) = plain::read_end(tables)?;
                (self.ended, self.kept) = (Some((at, how)), kept);
                plain::end(at, how, kept)
            }
            Part::Check(place) => {
                let entry = self.record.entries.get(place as usize).ok_or("no such server")?;
                let found = plain::read_check(&entry.name, tables)?;
                let again = plain::check(&found);
                self.record.conformance.push(found);
                again
            }
            Part::Trial(number) => {
                if !self.planned.contains(&number) {
                    return Err("it is not in the run's plan".into());
                }
                self.halves.insert(number, (tables, text));
                return Ok(());
            }
            Part::Detail(number) => {
                let (mut all, first) = self.halves.remove(&number).ok_or("it has no trial")?;
                all.extend(tables);
                let trial = plain::read_trial(number, all)?;
                check_trial(&trial)?;
                let (small, large) = halves(&trial);
                self.trials.push(trial);
                same(&line(Part::Trial(number), &small), first)?;
                large
            }
        };
        same(&line(part, &again), text)
    }
}

fn check_run(record: &RunRecord) -> Result<(), String> {
    /// Facts are looked up one by one, and often.
    const FACTS_MAX: usize = 10_000;
    if PLANNED_MAX < record.plan.len() || ENTRIES_MAX < record.entries.len() {
        return Err(format!("more than {PLANNED_MAX} trials or {ENTRIES_MAX} servers"));
    }
    if PLANNED_MAX < record.files.len() || FACTS_MAX < record.facts.len() {
        return Err(format!("more than {PLANNED_MAX} files or {FACTS_MAX} facts"));
    }
    check_time(record.began_unix_ms)
}

/// No date lies outside the years that a calendar of four digits has.
fn check_time(unix_ms: i64) -> Result<(), String> {
    match (0..253_402_300_800_000).contains(&unix_ms) {
        true => Ok(()),
        false => Err("a date that no calendar has".into()),
    }
}

/// Whether figures can be computed of what a trial says.
fn check_trial(trial: &TrialRecord) -> Result<(), String> {
    check_time(trial.began_unix_ms)?;
    let times = trial.series.iter().flat_map(|series| &series.points).map(|(at, _)| *at);
    let began = [trial.loaded.as_ref().map(|it| it.began), trial.held.as_ref().map(|it| it.began)];
    if times.chain(began.into_iter().flatten()).any(|at| INSTANT_MAX < at) {
        return Err("a time after the end of every trial".into());
    }
    trial.loaded.as_ref().map_or(Ok(()), |it| it.recording.check())?;
    trial.held.as_ref().map_or(Ok(()), |it| it.holding.check_bounds())
}

/// A server under a load has no more sampled trials, ...
const SAMPLED_MAX: usize = 100;
/// ... and of all of them together no more functions, each counted once, times the trials: each function has a place for
/// each block of each trial where they are explained.
const PLACES_MAX: usize = 640_000;

/// Whether what is made of these profiles fits into memory.
pub(crate) fn check_profiles(all: &[ProfileRecord]) -> Result<(), String> {
    type Key<'p> = (&'p str, &'p str, u64);
    let mut rows: BTreeMap<Key<'_>, (usize, HashSet<&str>)> = BTreeMap::new();
    for ProfileRecord { key, found } in all {
        let Ok(profile) = found else { continue };
        let point = key.point.value().to_bits();
        let (trials, functions) = rows.entry((&key.subject, &key.workload, point)).or_default();
        *trials += 1;
        functions.extend(profile.functions.iter().map(String::as_str));
        if SAMPLED_MAX < *trials || PLACES_MAX < *trials * functions.len() {
            return Err(format!(
                "too many functions, or more than {SAMPLED_MAX} sampled trials of one server"
            ));
        }
    }
    Ok(())
}

fn same(again: &str, text: &str) -> Result<(), String> {
    match again == text {
        true => Ok(()),
        false => Err("it is written in another way than dyno writes it".into()),
    }
}

/// SHA-256 over these lines, as hexadecimal digits.
pub(crate) fn digest<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut hash = Sha256::new();
    lines.for_each(|line| hash.update(line.as_bytes()));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
