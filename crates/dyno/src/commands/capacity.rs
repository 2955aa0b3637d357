//! `dyno capacity`: the greatest rate at which a server keeps an aim, between two rates that lie a given width apart.

mod aim;
mod preparation;

use std::time::Duration;

use analysis::search::searches_of;
use archive::kept::{findings, kept};
use campaign::capacity::{ceiling, ceiling_says, places};
use campaign::race::look::look;
use campaign::{Admitted, Campaign, Ended};
use clap::Args;
use lab::amounts;
use lab::record::{
    CAPACITY, CAPACITY_CEILING, CAPACITY_FLAGS, CAPACITY_SEARCH, OutcomeKind, RunRecord,
};
use lab::schedule::{Law, rate};
use lab::search_goal;
use load::Rate;
use report::capacity::SearchOutcome;
use report::run::OfCommand;
use serde::{Deserialize, Serialize};
use store::{RunId, Store};
use terminal::progress;

use crate::ceiling::Ceiling;
use crate::one_of::one_of;
use crate::results::{OF_TRIALS, ResultFlags};
use crate::session::{Session, fact, interrupted_early, weighed};
use crate::shell::{ExitStatus, Refusal, command_line};
use crate::sides::SideFlags;
use crate::stores::{OF_USER, StoreFlag};
use aim::AimFlags;
use preparation::{Prepared, prepared};

/// Find the highest rate at which a server meets a limit, such as p99 <= 20 ms
///
/// The answer is two rates: the server meets the limit at the lower one, and not at the higher one. Short trials narrow
/// the range; full trials at both rates decide, each with a fresh process, until the rates are within --width of each
/// other. Every trial is kept, so that --resume can continue an interrupted search.
// A search keeps them, and goes on with them; where its results go is said anew.
#[derive(Args, Serialize, Deserialize)]
#[command(after_help = AFTER_HELP)]
#[command(mut_arg("store", |store| store.help(OF_USER)))]
pub(crate) struct CapacityFlags {
    /// A command in quotes, http[s]://host:port/path, a folder with subject.toml, or a server's name in subjects/
    #[arg(required_unless_present = "resume")]
    target: Option<String>,
    /// How far the two rates of the answer may lie apart
    #[arg(long, value_name = "PERCENT", value_parser = search_goal::width, default_value = search_goal::WIDTH)]
    width: f64,
    /// Begin no trial that would end later than this; the two rates may then be further apart than --width
    #[arg(long, value_name = "TIME", value_parser = search_goal::limit, default_value = search_goal::LIMIT)]
    max_time: Duration,
    /// The lowest rate that is tried, requests per second
    #[arg(long, value_name = "RATE", value_parser = rate, default_value = search_goal::LEAST)]
    min_rate: Rate,
    /// The highest rate that is tried [what dyno's own server achieves here, divided by 1.15]; rates go by steps of about
    /// a quarter of --width, so the last one may lie a step below it
    #[arg(long, value_name = "RATE", value_parser = rate)]
    max_rate: Option<Rate>,
    /// How the requests are spaced in time; with even spacing a server can hold a higher rate
    #[arg(long, value_name = "SPACING", default_value = "poisson", value_parser = one_of(Law::ALL, Law::name, Law::meaning))]
    arrivals: Law,
    /// Connections that are opened before a load starts; --max-connections may allow more
    #[arg(short, long, value_name = "N", value_parser = amounts::connections)]
    connections: Option<usize>,
    /// The most connections at once [-c, or else what the limit of open files allows, up to 10,000]
    #[arg(long, value_name = "N", value_parser = amounts::connections)]
    max_connections: Option<usize>,
    /// How long each trial loads before it counts
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none, default_value = search_goal::WARMUP)]
    warmup: Duration,
    /// Continue an interrupted search: the newest, or the one with this number
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = OF_A_NEW_SEARCH)]
    #[serde(skip)]
    resume: Option<Option<RunId>>,
    #[command(flatten)]
    #[serde(skip)]
    store: StoreFlag,
    #[command(flatten, next_help_heading = "The limits")]
    aim: AimFlags,
    #[command(flatten)]
    at: SideFlags,
    #[command(flatten)]
    #[serde(skip)]
    results: ResultFlags<OF_TRIALS>,
}

/// What a search that is continued has from its beginning.
const OF_A_NEW_SEARCH: [&str; 6] =
    ["target", "width", "max_time", "min_rate", "max_rate", "arrivals"];

const AFTER_HELP: &str = "\
At each rate, dyno counts the requests that were lost: answered later than a limit, failed, or not answered. `--p99 \
20ms` is met if at most 1 % of the requests that were due were lost. The answer says how many processes were tested; \
docs/capacity.md says how often such an answer is right.

Examples:
  # a command: each trial starts it anew
  dyno capacity 'node server.js --port {port}' --p99 20ms
  # a server that runs already, two limits at once
  dyno capacity http://localhost:8080/ --p99 20ms --p99.9 100ms
  # within four minutes, to 10 %, for a program
  dyno capacity ./my-server --p99 10ms --width 10% --max-time 4min --json
  # go on with the newest search that was interrupted
  dyno capacity --resume

Exit codes:
  0    both rates are known, or the server meets the limits at the highest rate that was tried
  1    it does not meet the limits even at the lowest rate
  2    could not tell, or the search was refused
  130  interrupted; finished trials are kept, and --resume continues";

pub(crate) fn run(flags: &CapacityFlags) -> Result<ExitStatus, Refusal> {
    flags.results.check(flags.store.given().as_slice())?;
    flags.results.to_the_end(|| match flags.resume {
        None => begin(flags),
        Some(wanted) => resume(flags, wanted),
    })
}

fn begin(flags: &CapacityFlags) -> Result<ExitStatus, Refusal> {
    let Prepared { campaign, is_fresh } = prepared(flags)?;
    // What the flags alone make impossible is refused before anything starts.
    aim::search(flags, None, is_fresh)?;
    let by = (weighed(&campaign)?, &flags.at.generators);
    let mut session = Session::open(&campaign.project, flags.store.of_user()?)?;
    let admitted = session.admit(&campaign, by, &mut progress::admitting)?;
    let Some(admitted) = admitted else { return Ok(interrupted_early()) };
    if admitted.entrants.is_empty() {
        return Err(Refusal::new("the server could not be built or started (see above)"));
    }
    let Some(ceiling) = highest(&campaign, &admitted, &session)? else {
        return Ok(interrupted_early());
    };
    let search = aim::search(flags, ceiling, is_fresh)?;
    let mut record = admitted.record(&campaign);
    let key = record.plan.first().ok_or_else(|| Refusal::new("it cannot take part"))?.clone();
    record.plan = places(0, &key.subject, &key.workload);
    record.facts.push(fact(CAPACITY, command_line()));
    let kept = serde_json::to_string(flags)?;
    record.facts.push(fact(CAPACITY_FLAGS, kept));
    record.facts.push(fact(CAPACITY_SEARCH, search.written()));
    record.facts.extend(ceiling.map(|per_s| fact(CAPACITY_CEILING, per_s.to_string())));
    let run = session.keeping.begin(&record)?;
    let is_poisson = flags.arrivals == Law::Poisson;
    terminal::notice(&format!(
        "search {run}: what {} holds with {}, {}; at most {}; Ctrl-C ends it, and keeps what is finished",
        admitted.entrants[0].subject.title,
        report::capacity::aim(&search.aim),
        if is_poisson { "Poisson arrivals" } else { "evenly spaced arrivals" },
        units::duration(flags.max_time),
    ));
    go_on(flags, &mut session, (&campaign, &admitted), (&record, run))
}

/// What dyno's own server achieves with the same answer; no number where that cannot be known, nothing if interrupted.
fn highest(
    campaign: &Campaign,
    Admitted { resources, entrants, .. }: &Admitted,
    session: &Session,
) -> Result<Option<Option<f64>>, Refusal> {
    let seen = match look(campaign, &entrants[0], 0, &session.halt) {
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
    let with = campaign.clone().with_reference(own.subject.clone());
    let (entrants, _) = with.admit(&session.halt, &mut progress::admitting);
    let Some(task) = campaign.experiment.tasks().next() else { return Ok(Some(None)) };
    let reference = (own.subject.name.as_str(), task.to_string());
    let reference = (reference.0, reference.1.as_str());
    let found = ceiling(&with, resources, &entrants, reference, &session.halt)?;
    let found = found.filter(|_| !session.halt.is_asked());
    if let Some(found) = &found {
        terminal::notice(&ceiling_says("dyno's own server", found));
    }
    Ok(found.map(Result::ok))
}

fn resume(flags: &CapacityFlags, wanted: Option<RunId>) -> Result<ExitStatus, Refusal> {
    let place = flags.store.of_user()?;
    let store = Store::open_to_read(&place.path)?;
    let run = match wanted {
        Some(run) => run,
        None => newest_unfinished(&store)?,
    };
    let record = store.run(run)?;
    drop(store);
    let fact = |name: &str| record.facts.iter().find(|fact| fact.name == name);
    let kept = fact(CAPACITY).zip(fact(CAPACITY_FLAGS));
    let (Some((command, kept)), false) = (kept, searches_of(&record).is_empty()) else {
        return Err(Refusal::new(format!(
            "run {run} is not a capacity search; `dyno report {run}` shows it"
        )));
    };
    let command = &command.value;
    let unreadable = |says: String| {
        Refusal::new(format!("run {run}: its flags cannot be read: {says}; it was: {command}"))
    };
    let asked: CapacityFlags =
        serde_json::from_str(&kept.value).map_err(|error| unreadable(error.to_string()))?;
    // All other times are those of its experiment, which is checked.
    amounts::time(&amounts::written(asked.at.ready)).map_err(unreadable)?;
    let Prepared { campaign, .. } = prepared(&asked)?;
    let mut session = Session::open(&campaign.project, place)?;
    session.keeping.claim(run)?;
    let again = session.admit_again(&campaign, &asked.at.generators, (&record, run))?;
    let Some(admitted) = again else { return Ok(interrupted_early()) };
    let now = admitted.record(&campaign);
    if (&now.files, &now.experiment) != (&record.files, &record.experiment) {
        return Err(Refusal::new(format!(
            "what run {run} measures has changed since it began; begin anew: {command}"
        )));
    }
    let kept = session.store().kept(run)?.len();
    terminal::notice(&format!("resuming search {run} after {kept} trials"));
    go_on(flags, &mut session, (&campaign, &admitted), (&record, run))
}

fn go_on(
    flags: &CapacityFlags,
    session: &mut Session,
    (campaign, admitted): (&Campaign, &Admitted),
    (record, run): (&RunRecord, RunId),
) -> Result<ExitStatus, Refusal> {
    let ended = session.measure(campaign, admitted, (record, run));
    let is_empty = match &ended {
        Ok(_) => session.delete_if_empty(run)?,
        Err(_) => session.store().kept(run).is_ok_and(|kept| kept.is_empty()),
    };
    if is_empty {
        return ended.map(|_| ExitStatus::Interrupted);
    }
    let loaded = kept(session.store(), run)?;
    let mut findings = findings(session.store(), run, &loaded);
    findings.command = OfCommand::Capacity;
    let outcome =
        findings.capacity().ok_or_else(|| Refusal::new("the search cannot be read back"))?;
    let delivered = flags.results.deliver(&findings, false);
    let option = session.store_option();
    terminal::notice(&format!("kept as run {run}: dyno report {run}{option}"));
    let ended = ended?;
    delivered?;
    match (ended, outcome) {
        (Ended::Done, SearchOutcome::Found) => Ok(ExitStatus::Yes),
        (Ended::Done, SearchOutcome::NotMet) => Ok(ExitStatus::No),
        (Ended::Done, SearchOutcome::CannotTell) => Ok(ExitStatus::CouldNotTell),
        (Ended::Interrupted, _) => {
            terminal::notice(&format!(
                "dyno: interrupted; {} kept; continue with: dyno capacity --resume {run}{option}",
                units::counted(loaded.1.len() as u64, "trial is", "trials are"),
            ));
            Ok(ExitStatus::Interrupted)
        }
    }
}

/// The newest search that was interrupted.
fn newest_unfinished(store: &Store) -> Result<RunId, Refusal> {
    let mut runs = store.runs()?;
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    for run in runs.iter().filter(|run| !run.is_finished && run.damage.is_none()) {
        if store.run(run.id)?.facts.iter().any(|fact| fact.name == CAPACITY) {
            return Ok(run.id);
        }
    }
    Err(Refusal::new(format!(
        "{}: no search for a capacity is unfinished; begin one: dyno capacity TARGET --p99 20ms",
        store.path().display()
    )))
}
