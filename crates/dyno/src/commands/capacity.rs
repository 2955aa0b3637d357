//! `dyno capacity`: the greatest rate at which a server keeps an aim, between two rates that lie a given width apart.

mod aim;
mod preparation;
pub(super) mod shown;

use std::path::PathBuf;
use std::time::Duration;

use analysis::search::{searched, searches_of};
use archive::keep;
use campaign::capacity::{self, ceiling, ceiling_says, places};
use campaign::project::Project;
use campaign::race::look::look;
use campaign::{
    Campaign, Ended, Entrant, RunResources, now_unix_ms, same_entries, same_instrument,
};
use clap::Args;
use lab::amounts;
use lab::record::{
    CAPACITY, CAPACITY_CEILING, CAPACITY_FLAGS, CAPACITY_SEARCH, Entry, Fact, OutcomeKind,
    RunRecord,
};
use lab::schedule::rate;
use lab::sought;
use load::Rate;
use serde::{Deserialize, Serialize};
use store::{RunId, Store};
use terminal::progress;

use super::run::CpuFlags;
use crate::ceiling::Ceiling;
use crate::generators::GeneratorFlags;
use crate::job::{Job, interrupted_early, weighed};
use crate::order::flags::{AskingFlags, Law};
use crate::order::protocol::ProtocolFlags;
use crate::order::tls::TlsFlags;
use crate::shell::{ExitStatus, Refusal, command_line};
use aim::AimFlags;
use preparation::{Prepared, prepared};

/// Find the greatest rate that a server holds: with so many requests a second it keeps an aim, with a little more it does not
///
/// Short trials narrow the range; full trials at the two ends decide, each with a fresh process, until the ends are as near to
/// each other as --width says. Every trial is kept, so that an interrupted search goes on with --resume.
// A search keeps them, and goes on with them; where its results go is said anew.
#[derive(Args, Serialize, Deserialize)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CapacityFlags {
    /// A command in quotes, http[s]://host:port/path, a folder with subject.toml, or a subject's name
    #[arg(required_unless_present = "resume")]
    target: Option<String>,
    #[command(flatten)]
    aim: AimFlags,
    /// How far the two rates of the answer may lie apart
    #[arg(long, value_name = "PERCENT", value_parser = sought::width, default_value = sought::WIDTH)]
    width: f64,
    /// No trial begins that would end later than this; if it comes first, the answer is wider
    #[arg(long, value_name = "TIME", value_parser = sought::limit, default_value = sought::LIMIT)]
    limit: Duration,
    /// The lowest rate that is tried, requests per second
    #[arg(long, value_name = "RATE", value_parser = rate, default_value = sought::LEAST)]
    least: Rate,
    /// The highest [what dyno's own server achieves here, divided by 1.15]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    most: Option<Rate>,

    /// How the requests are spaced in time; evenly spaced ones let a server hold more
    #[arg(long, value_name = "LAW", default_value = "poisson")]
    arrivals: Law,
    /// Connections that are opened before a load starts; --max-connections may allow more
    #[arg(short, long, value_name = "N", value_parser = amounts::connections)]
    connections: Option<usize>,
    /// The most connections at once [-c, or else what the limit of open files allows, up to 10,000]
    #[arg(long, value_name = "N", value_parser = amounts::connections)]
    max_connections: Option<usize>,
    /// How long each trial loads before it counts
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none, default_value = sought::WARMUP)]
    warmup: Duration,

    /// The path that is requested; a URL may have its own [/, and of a subject what it is made for]
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    #[command(flatten)]
    asking: AskingFlags,
    /// How long a command may take until its first right answer
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "30s")]
    ready: Duration,
    #[command(flatten)]
    tls: TlsFlags,
    #[command(flatten)]
    protocol: ProtocolFlags,
    #[command(flatten)]
    cpus: CpuFlags,
    #[command(flatten)]
    generators: GeneratorFlags,
    /// Give each trial a network of its own
    #[arg(long)]
    isolate: bool,

    /// Continue an interrupted search: the newest, or the one with this number
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = OF_A_NEW_SEARCH)]
    #[serde(skip)]
    resume: Option<Option<RunId>>,
    /// Keep the trials in this file [default: dyno/runs.sqlite in the user's state folder]
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    store: Option<PathBuf>,
    /// Write the results as JSON to standard output
    #[arg(long)]
    #[serde(skip)]
    json: bool,
    /// Write the results as JSON to this file, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    #[serde(skip)]
    output: Option<PathBuf>,
    /// Write the results as a page for a browser to this file
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    html: Option<PathBuf>,
}

/// What a search that is continued has from its beginning.
const OF_A_NEW_SEARCH: [&str; 6] = ["target", "width", "limit", "least", "most", "arrivals"];

const AFTER_HELP: &str = "\
At a rate a server is judged by what it loses: the share of the requests that were due and were answered later than a \
limit, or failed, or were not answered. p99 is within 20 ms if at most 1 % of the requests is lost. The answer says how \
many processes it is about; docs/capacity.md says how often such an answer is right.

Examples:
  # a command: each trial starts it anew
  dyno capacity 'node server.js --port {port}' --p99 20ms
  # a server that runs already, two aims at once
  dyno capacity http://localhost:8080/ --p99 20ms --p99.9 100ms
  # within four minutes, to 10 %, for a program
  dyno capacity ./my-server --p99 10ms --width 10% --limit 4min --json
  # go on with the newest search that was interrupted
  dyno capacity --resume

Exit codes:
  0    both rates are known, or the server holds the highest rate that was tried
  1    it does not keep the aim even at the lowest rate
  2    could not tell, or the search was refused
  130  interrupted; what is finished is kept, and --resume goes on";

pub(crate) fn run(flags: &CapacityFlags) -> Result<ExitStatus, Refusal> {
    let files = [("--output", &flags.output), ("--html", &flags.html)];
    let written: Vec<_> =
        files.iter().filter_map(|(flag, path)| Some((*flag, path.as_deref()?))).collect();
    let store = flags.store.iter().map(|path| ("--store", path.as_path()));
    keep::check_all(&written, &store.collect::<Vec<_>>())?;
    match flags.resume {
        None => begin(flags),
        Some(wanted) => resume(flags, wanted),
    }
}

/// A search that has what it needs.
struct Ready<'c> {
    campaign: &'c Campaign,
    resources: RunResources,
    entrants: Vec<Entrant>,
    entries: Vec<Entry>,
}

fn begin(flags: &CapacityFlags) -> Result<ExitStatus, Refusal> {
    let found = prepared(flags)?;
    // What the flags alone make impossible is refused before anything starts.
    aim::search(flags, None, found.is_fresh)?;
    let mut job = job(&found)?;
    let Some(ready) = ready(flags, &found.campaign, &job)? else { return Ok(interrupted_early()) };
    let is_poisson = flags.arrivals == Law::Poisson;
    let Some(ceiling) = highest(&ready, &job)? else { return Ok(interrupted_early()) };
    let search = aim::search(flags, ceiling, found.is_fresh)?;
    let Ready { campaign, resources, entrants, entries } = &ready;
    let mut record = campaign.record(resources, entrants, entries.clone(), now_unix_ms());
    let key = record.plan.first().ok_or_else(|| Refusal::new("it cannot take part"))?.clone();
    record.plan = places(0, &key.subject, &key.workload);
    let fact = |name: &str, value: String| Fact { name: name.into(), value };
    record.facts.push(fact(CAPACITY, command_line()));
    let kept = serde_json::to_string(flags).map_err(|error| Refusal::new(error.to_string()))?;
    record.facts.push(fact(CAPACITY_FLAGS, kept));
    record.facts.push(fact(CAPACITY_SEARCH, search.written()));
    record.facts.extend(ceiling.map(|per_s| fact(CAPACITY_CEILING, per_s.to_string())));
    let run = job.store.begin(&record)?;
    job.claim(run)?;
    terminal::notice(&format!(
        "search {run}: what {} holds with {}, {}; at most {}; Ctrl-C ends it, and keeps what is finished",
        entrants[0].subject.title,
        report::capacity::aim(&search.aim),
        if is_poisson { "Poisson arrivals" } else { "evenly spaced arrivals" },
        units::duration(flags.limit),
    ));
    go_on(flags, &mut job, &ready, &record, run)
}

fn job(found: &Prepared) -> Result<Job, Refusal> {
    if let Some(folder) = found.store.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Refusal::new(format!("{}: {error}", folder.display())))?;
    }
    Job::open(&found.campaign.project, &found.store, found.pages.clone())
}

/// Builds what must be built, and takes what is needed. None: interrupted.
fn ready<'c>(
    flags: &CapacityFlags,
    campaign: &'c Campaign,
    job: &Job,
) -> Result<Option<Ready<'c>>, Refusal> {
    let resources = weighed(campaign)?;
    let Some(resources) = flags.generators.given_to(campaign, resources, &job.halt)? else {
        return Ok(None);
    };
    resources.take()?;
    let (entrants, entries) = campaign.admit(&job.halt, &mut progress::admitting);
    if job.halt.is_asked() {
        return Ok(None);
    }
    if entrants.is_empty() {
        return Err(Refusal::new("the server cannot take part, for the reason above"));
    }
    Ok(Some(Ready { campaign, resources, entrants, entries }))
}

/// What dyno's own server achieves with the same answer; no number where that cannot be known, nothing if interrupted.
fn highest(ready: &Ready<'_>, job: &Job) -> Result<Option<Option<f64>>, Refusal> {
    let Ready { campaign, resources, entrants, .. } = ready;
    let seen = match look(campaign, &entrants[0], &job.halt) {
        Ok(seen) => seen,
        Err(outcome) if outcome.kind == OutcomeKind::Interrupted => return Ok(None),
        Err(outcome) => {
            let title = &entrants[0].subject.title;
            return Err(Refusal::new(format!("{title}: {}", outcome.says)));
        }
    };
    let questions = &campaign.workloads[0].questions;
    if questions.len() != 1 {
        return Ok(Some(None));
    }
    let Some(own) = Ceiling::of(campaign, &seen.first, resources.address)? else {
        return Ok(Some(None));
    };
    let with = (*campaign).clone().with_reference(own.subject.clone());
    let (entrants, _) = with.admit(&job.halt, &mut progress::admitting);
    let Some(task) = campaign.experiment.tasks().next() else { return Ok(Some(None)) };
    let reference = (own.subject.name.as_str(), task.to_string());
    let reference = (reference.0, reference.1.as_str());
    let found = ceiling(&with, resources, &entrants, reference, &job.halt)?;
    let found = found.filter(|_| !job.halt.is_asked());
    if let Some(found) = &found {
        terminal::notice(&ceiling_says("dyno's own server", found));
    }
    Ok(found.map(Result::ok))
}

fn resume(flags: &CapacityFlags, wanted: Option<RunId>) -> Result<ExitStatus, Refusal> {
    let path = preparation::store(flags)?.0;
    let store = Store::open_to_read(&path)?;
    let run = match wanted {
        Some(run) => run,
        None => shown::newest_unfinished(&store)?,
    };
    let record = store.run(run)?;
    drop(store);
    let fact = |name: &str| record.facts.iter().find(|fact| fact.name == name);
    let kept = fact(CAPACITY).zip(fact(CAPACITY_FLAGS));
    let (Some((command, kept)), false) = (kept, searches_of(&record).is_empty()) else {
        return Err(Refusal::new(format!(
            "run {run} is no search for a capacity; `dyno report {run}` shows it"
        )));
    };
    let asked: CapacityFlags = serde_json::from_str(&kept.value).map_err(|error| {
        Refusal::new(format!(
            "run {run}: its flags cannot be read: {error}; it was: {}",
            command.value
        ))
    })?;
    let mut found = prepared(&asked)?;
    found.store = path;
    let mut job = job(&found)?;
    job.claim(run)?;
    let Some(ready) = ready(&asked, &found.campaign, &job)? else {
        return Ok(interrupted_early());
    };
    let place = (run, job.path.as_path());
    same_instrument(&record, &ready.resources, place)?;
    same_entries(&record, &ready.entries, place)?;
    let now = found.campaign.record(&ready.resources, &ready.entrants, Vec::new(), 0);
    if (now.files, now.experiment) != (record.files.clone(), record.experiment.clone()) {
        return Err(Refusal::new(format!(
            "what run {run} measures has changed since it began; begin anew: {}",
            command.value
        )));
    }
    let kept = job.store.kept(run)?.len();
    terminal::notice(&format!("search {run} goes on after {kept} trials"));
    go_on(flags, &mut job, &ready, &record, run)
}

fn go_on(
    flags: &CapacityFlags,
    job: &mut Job,
    ready: &Ready<'_>,
    record: &RunRecord,
    run: RunId,
) -> Result<ExitStatus, Refusal> {
    let Ready { campaign, resources, entrants, .. } = ready;
    let ended = job.go_on(campaign, resources, entrants, record, run)?;
    let kept = capacity::kept(&job.store, run)?;
    if kept.is_empty() {
        job.store.remove(&[run])?;
        terminal::notice("dyno: interrupted before a trial ended; nothing was kept");
        return Ok(ExitStatus::Interrupted);
    }
    let searched = searched(record, &kept);
    let found = searched.first().ok_or_else(|| Refusal::new("the search cannot be read back"))?;
    shown::deliver(flags, &shown::finished(record, found, run), &job.path)?;
    match ended {
        Ended::Done => Ok(shown::status(found)),
        Ended::Interrupted => {
            let option = Project::store_option(&job.path);
            terminal::notice(&format!(
                "dyno: interrupted; {} kept; go on with: dyno capacity --resume {run}{option}",
                units::counted(kept.len() as u64, "trial is", "trials are")
            ));
            Ok(ExitStatus::Interrupted)
        }
    }
}
