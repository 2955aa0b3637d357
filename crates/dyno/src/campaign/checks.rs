//! Checks each subject of a run once, before its first trial: how much of the RFCs it keeps. A stored result of the
//! same build is taken over.

use std::ffi::OsString;
use std::time::Duration;

use check::{Case, Order, Pace, catalogue};
use lab::conformance::{Conformance, Tally};
use lab::record::{Entry, OutcomeKind, RunRecord};
use lab::visit::{Door, Visit};
use lab::workload::Workload;
use load::Halt;
use store::{RunId, Store, StoreError};

use super::trials::Ended;
use super::{Campaign, Entrant};
use crate::shell::Refusal;
use crate::terminal;
use report::paint::{Ink, Line, bar};
use report::units::{count, duration};

/// About how long one check takes.
pub(crate) const EACH: Duration = Duration::from_secs(12);

/// The cases of a run: without the slow ones, which would take minutes.
fn cases() -> Vec<&'static Case> {
    catalogue().iter().filter(|case| case.pace != Pace::Slow).collect()
}

/// About how long the checks take that have no kept result yet.
pub(crate) fn expected_checks(
    campaign: &Campaign,
    record: &RunRecord,
    store: &Store,
) -> Result<Duration, Refusal> {
    let mut expected = Duration::ZERO;
    let unchecked = record.entries.iter().filter(|entry| is_unchecked(record, entry));
    for entry in unchecked.filter(|_| campaign.experiment.has_check) {
        let found = lasting(store, record, entry);
        if found.map_err(|error| Refusal::new(error.to_string()))?.is_none() {
            expected += EACH;
        }
    }
    Ok(expected)
}

/// Checks the subjects without a kept result; each result is kept when the check is over.
pub(crate) fn check_subjects(
    campaign: &Campaign,
    entrants: &[Entrant],
    record: &RunRecord,
    store: &mut Store,
    run: RunId,
    halt: &Halt,
) -> Result<Ended, Refusal> {
    let stored = |error: StoreError| Refusal::new(error.to_string());
    if !campaign.experiment.has_check {
        return Ok(Ended::Done);
    }
    let mut left = Vec::new();
    for entry in record.entries.iter().filter(|entry| is_unchecked(record, entry)) {
        match lasting(store, record, entry).map_err(stored)? {
            None => left.push(entry),
            Some(found) => {
                store.keep_conformance(run, &found).map_err(stored)?;
                let from = found.from_run.map_or(String::new(), |run| format!(" in run {run}"));
                terminal::say(&format!("{}: {} (checked{from})", entry.name, short(&found)));
            }
        }
    }
    if left.is_empty() {
        return Ok(Ended::Done);
    }
    announce(left.len());
    let warden = [campaign.yard.dyno.clone().into_os_string(), OsString::from("warden")];
    let workloads = &campaign.spoken;
    let door = Door { yard: &campaign.yard, warden: &warden, workloads, halt };
    for (place, entry) in left.iter().enumerate() {
        let Some(entrant) = entrants.iter().find(|it| it.subject.name == entry.name) else {
            continue;
        };
        let title = format!("checking {} ({} of {})", entry.name, place + 1, left.len());
        let Some(found) = checked(door, entrant, &title) else { return Ok(Ended::Interrupted) };
        store.keep_conformance(run, &found).map_err(stored)?;
        terminal::say(&format!("{}: {}", entry.name, short(&found)));
    }
    Ok(Ended::Done)
}

/// Whether a subject takes part without a kept result.
fn is_unchecked(record: &RunRecord, entry: &Entry) -> bool {
    record.plan.iter().any(|key| key.subject == entry.name)
        && !record.conformance.iter().any(|found| found.subject == entry.name)
}

fn lasting(
    store: &Store,
    record: &RunRecord,
    entry: &Entry,
) -> Result<Option<Conformance>, StoreError> {
    let path = format!("subjects/{}/subject.toml", entry.name);
    let manifest = record.files.iter().find(|(name, _)| *name == path);
    let Some((_, manifest)) = manifest else { return Ok(None) };
    store.lasting_conformance(&entry.name, &entry.build, &entry.version, manifest)
}

fn announce(subjects: usize) {
    let time = EACH * u32::try_from(subjects).unwrap_or(u32::MAX);
    terminal::say(&format!(
        "how much of the RFCs {} keep: {} cases each, about {} in all; `--no-check` leaves it out",
        match subjects {
            1 => "1 subject".into(),
            many => format!("{} subjects", count(many as u64)),
        },
        count(cases().len() as u64),
        duration(time)
    ));
}

/// Starts a subject, runs all cases against it, and ends it; none if interrupted.
fn checked(door: Door<'_>, entrant: &Entrant, title: &str) -> Option<Conformance> {
    let name = &entrant.subject.name;
    let visit = match Visit::begin(door, &entrant.subject, &entrant.built) {
        Ok(visit) => visit,
        Err(outcome) if outcome.kind == OutcomeKind::Interrupted => return None,
        Err(outcome) => return Some(Conformance::of(name, Err(outcome.says))),
    };
    let is_live = terminal::stderr_is_live();
    let order = Order::new(visit.target(), cases());
    let report = check::check(&order, &visit, &mut |progress| {
        if is_live {
            draw(title, progress.done, progress.all);
        }
    });
    if is_live {
        terminal::draw("\r\x1b[K");
    }
    visit.end();
    (!door.halt.is_asked()).then(|| Conformance::of(name, Ok(report)))
}

fn draw(title: &str, done: usize, all: usize) {
    let share = done as f64 / all.max(1) as f64;
    let line = Line::ink(Ink::Bold, title).and(Ink::Dim, format!("  {:<10}", bar(share, 10)));
    let line = line.cut(terminal::stderr_size().0.saturating_sub(1));
    terminal::draw(&format!("\r{}\x1b[K", line.shown(!terminal::colour_is_refused())));
}

/// The result in a few words.
fn short(found: &Conformance) -> String {
    match &found.found {
        Err(why) => format!("not checked: {why}"),
        Ok(report) => {
            let tally = Tally::of(&report.findings);
            let crash = if tally.crash == 0 { "" } else { ", CRASH" };
            let cut_short = match report.cut_short.as_str() {
                "" => String::new(),
                why => format!("; cut short: {why}"),
            };
            format!(
                "{} of {} passed, MUST broken {}, security {}{crash}{cut_short}",
                tally.pass,
                tally.applicable(),
                tally.must_broken,
                tally.security.len()
            )
        }
    }
}

/// Every workload of the project that can be read: from them a subject's paths are known.
pub(super) fn spoken(project: &crate::project::Project) -> Vec<Workload> {
    let names = project.workloads().into_iter();
    names.filter_map(|name| Workload::read(&project.root, &name).ok()).collect()
}
