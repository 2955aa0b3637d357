//! `dyno race`: two or more servers against each other, without a file and without a project.

pub(super) mod preparation;

use std::path::Path;
use std::time::Duration;

use campaign::race::look::{Look, differences, look_thrice, usual_body};
use campaign::race::slices::{Slices, refuse_one_port};
use campaign::{Admitted, Campaign, Ended, Entrant, expected_checks};
use clap::Args;
use lab::amounts;
use lab::record::{OutcomeKind, RACE, RACE_ANSWERS, RACE_BODIES, RunRecord, TrialKey};
use store::RunId;
use terminal::progress;

use super::gate::share;
use super::report::conclude;
use crate::ceiling::{Ceiling, is_fixed};
use crate::history::HistoryFlags;
use crate::order::flags::{ArrivingFlags, WhyFlag};
use crate::results::{OF_TRIALS, ResultFlags};
use crate::session::{Session, fact, interrupted_early, weighed};
use crate::shell::{ExitStatus, Refusal, command_line};
use crate::sides::SideFlags;
use crate::stores::{OF_USER, StoreFlag};
use ::report::dry_run;
use ::report::history::Origin;
use ::report::run::{OfCommand, RaceOutcome};
use preparation::{Race, prepared};
use units::{counted, duration};

/// Compare servers that are started and loaded in turns: commands, addresses or folders
///
/// Commands and folders are started anew for each round, and the servers take turns; a server that runs already is only
/// loaded. The result is their ratio, with its interval. No file and no project is needed, and nothing is left in the
/// current folder.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
#[command(mut_arg("store", |store| store.help(OF_USER)))]
pub(crate) struct RaceFlags {
    /// Two or more: a command in quotes, http[s]://host:port/path, a folder with subject.toml, or a server's name in
    /// subjects/
    #[arg(value_name = "SERVER", required = true)]
    sides: Vec<String>,
    /// A name for the first server, then for the second, and so on [made from the command, URL or folder]
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    #[command(flatten)]
    arriving: ArrivingFlags,
    /// How long each trial loads [3s, unless -n or the steps of -r end it]
    #[arg(short, short_alias = 'z', long, value_name = "TIME", value_parser = amounts::time)]
    duration: Option<Duration>,
    /// End each trial after this many requests, or sessions with --sessions; the warm-up is not counted
    #[arg(short = 'n', long, value_name = "N", value_parser = amounts::count)]
    total: Option<u64>,
    /// How long each trial loads before it is measured [1s; with a ramp or steps none]
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none)]
    warmup: Option<Duration>,
    /// Rounds; in each of them every server has a trial [5, or with --until 6 at least]
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    rounds: Option<u64>,
    /// Add rounds until each server's throughput (at a fixed rate its p99) is known to within this margin
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent)]
    until: Option<f64>,
    /// With two servers: add rounds until it is known whether the second is worse by this much; the exit code says so
    #[arg(long, value_name = "PERCENT", value_parser = share, conflicts_with_all = ["until", "rounds", "total"])]
    detect: Option<f64>,
    /// With --until or --detect: begin no new round after this time
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    max_time: Option<Duration>,
    /// How long the load stays with a server before it moves on to the next, or `off`: whole trials follow one another
    /// [100ms; with --sessions, -n, a ramp or steps: off]
    #[arg(long, value_name = "TIME", value_parser = Slices::parse)]
    slices: Option<Slices>,
    /// End with exit code 1 before the load if the servers give different answers
    #[arg(long)]
    same: bool,
    /// Compare each body with that of the first answer: a different one is a failure, not only a doubt
    #[arg(long, conflicts_with = "expect_body")]
    same_body: bool,
    /// With -r or --sessions: a request is on time if it is answered correctly within this time after it was due
    /// [--timeout]
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    on_time: Option<Duration>,
    /// A server that fails more than this share of its requests is not compared, and the exit code is 1
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent, default_value = "1")]
    max_failures: f64,
    /// Do not measure dyno's own server, which gives the same answer and shows the highest rate that dyno and the
    /// machine can reach
    #[arg(long)]
    no_ceiling: bool,
    /// Also check how far the servers conform to the RFCs; a server that runs already must be on this machine
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    why: WhyFlag,
    #[command(flatten)]
    at: SideFlags,
    #[command(flatten, next_help_heading = "What is kept")]
    store: StoreFlag,
    #[command(flatten)]
    history: HistoryFlags,
    #[command(flatten)]
    results: ResultFlags<OF_TRIALS>,
}

const AFTER_HELP: &str = "\
A command runs as you, in the current folder, with your environment, and without a shell. `{port}` in it is replaced by \
a free port, which is also in the variable PORT; if the server listens on another port, dyno uses that one.

Examples:
  # two commands, each started anew for each of five rounds
  dyno race 'node a.js --port {port}' 'node b.js --port {port}'
  # two servers that run already
  dyno race http://localhost:8001/ http://localhost:8002/
  # two folders with subject.toml, until the figures are known to 3 %
  dyno race ./before ./after --path /api/items --until 3%
  # until it is known whether the second is 3 % slower than the first
  dyno race './before -p {port}' './after -p {port}' --detect 3%
  # append to a history, with the servers' commands; `dyno trend` finds its changes
  dyno race './main -p {port}' './mine -p {port}' --history perf/history.jsonl
  # at one rate: what does an answer cost, and how long does it take?
  dyno race './old -p {port}' './new -p {port}' -r 2000

Exit codes:
  0    all servers were measured, whatever the ratio
  1    a server could not be measured through its own fault, answered wrongly, or failed more than
       --max-failures of the requests; with --same, the servers do not answer alike; with --detect,
       the second is worse
  2    could not tell: a server's figures are invalid, or the race was refused; with --detect also if
       the rounds do not decide
  130  interrupted; finished trials are kept";

pub(crate) fn run(flags: &RaceFlags) -> Result<ExitStatus, Refusal> {
    flags.results.check(flags.history.named().as_slice())?;
    flags.results.to_the_end(|| raced(flags))
}

fn raced(flags: &RaceFlags) -> Result<ExitStatus, Refusal> {
    flags.history.begin(Path::new("."))?;
    let Race { campaign, place, origin } = prepared(flags)?;
    let by = (weighed(&campaign)?, &flags.at.generators);
    let mut session = Session::open(&campaign.project, place)?;
    let admitted = session.admit(&campaign, by, &mut progress::admitting)?;
    let Some(admitted) = admitted else { return Ok(interrupted_early()) };
    let Admitted { resources, entrants, .. } = admitted;
    if entrants.len() < campaign.members.len() {
        return Err(Refusal::new("a server could not be built or started (see above)"));
    }
    let looks = match looked(flags, &campaign, &entrants, &session)? {
        Ok(looks) => looks,
        Err(status) => return Ok(status),
    };
    refuse_one_port(&campaign, &looks)?;
    let differences: Vec<String> = differences(&looks).into_iter().map(|it| it.says).collect();
    for says in &differences {
        terminal::notice(&format!("dyno: {says}"));
    }
    if flags.same && !differences.is_empty() {
        flags.results.fail("the servers do not answer alike, which --same demands".into());
        return Ok(ExitStatus::No);
    }
    let questions = &campaign.workloads[0].questions;
    let is_known = differences.is_empty() || is_fixed(&questions[0].ask.expect);
    let ceiling = match is_known && questions.len() == 1 && !flags.no_ceiling {
        true => Ceiling::of(&campaign, &looks[0].first, resources.address)?,
        false => None,
    };
    let campaign = match &ceiling {
        Some(ceiling) => campaign.with_reference(ceiling.subject.clone()),
        None => campaign,
    };
    let (campaign, not_compared) = with_body(campaign, &looks, flags.same_body)?;
    let (entrants, entries) = campaign.admit(&session.halt, &mut progress::admitting);
    let admitted = Admitted { resources, entrants, entries };
    let mut record = admitted.record(&campaign);
    record.facts.push(fact(RACE, command_line()));
    record.facts.extend(not_compared.map(|why| fact(RACE_BODIES, why)));
    record.facts.extend(differences.into_iter().map(|says| fact(RACE_ANSWERS, says)));
    let run = session.keeping.begin(&record)?;
    announce(&campaign, &record, run, &session)?;
    let ended = session.measure(&campaign, &admitted, (&record, run));
    if matches!(ended, Ok(Ended::Interrupted)) && session.delete_if_empty(run)? {
        return Ok(ExitStatus::Interrupted);
    }
    finish(flags, &session, run, &origin, ended)
}

/// The campaign with the body that every answer is compared with; or why bodies are not compared under load, where that
/// was looked at.
fn with_body(
    campaign: Campaign,
    looks: &[Look],
    demanded: bool,
) -> Result<(Campaign, Option<String>), Refusal> {
    let was_seen = looks.iter().all(|look| look.is_steady.is_some());
    if !was_seen && demanded {
        return Err(Refusal::new(
            "--same-body needs a single request without placeholders and without a stated body; leave it out",
        ));
    }
    match usual_body(looks) {
        _ if !was_seen => Ok((campaign, None)),
        Ok(body) => Ok((campaign.with_body(&body, !demanded)?, None)),
        Err(why) if demanded => Err(Refusal::new(format!("--same-body: {why}"))),
        Err(why) => Ok((campaign, Some(why))),
    }
}

/// Asks every side. A side that fails ends the race.
fn looked(
    flags: &RaceFlags,
    campaign: &Campaign,
    entrants: &[Entrant],
    session: &Session,
) -> Result<Result<Vec<Look>, ExitStatus>, Refusal> {
    let mut looks = Vec::new();
    for entrant in entrants {
        let title = &entrant.subject.title;
        let seen = match look_thrice(campaign, entrant, &session.halt) {
            Ok(seen) => seen,
            Err(outcome) if outcome.kind == OutcomeKind::Interrupted => {
                return Ok(Err(interrupted_early()));
            }
            Err(outcome) => {
                flags.results.fail(format!("{title}: {}", outcome.says));
                let is_ours = outcome.kind == OutcomeKind::Unable;
                let status = if is_ours { ExitStatus::CouldNotTell } else { ExitStatus::No };
                return Ok(Err(status));
            }
        };
        if let Some(moved) = &seen.moved {
            terminal::notice(&format!("{title}: {}; that port is used", moved.value));
        }
        looks.push(seen);
    }
    Ok(Ok(looks))
}

fn announce(
    campaign: &Campaign,
    record: &RunRecord,
    run: RunId,
    session: &Session,
) -> Result<(), Refusal> {
    let left: Vec<&TrialKey> = record.plan.iter().collect();
    let checks = expected_checks(campaign, record, session.store())?;
    let sides = campaign.members.iter().filter(|member| !campaign.is_extra(&member.name));
    let titles: Vec<&str> =
        sides.filter_map(|it| Some(it.subject.as_ref().ok()?.title.as_str())).collect();
    terminal::notice(&format!(
        "race {run}: {}\n  {} of {}; {}; Ctrl-C ends it, and keeps what is finished",
        titles.join(" against "),
        dry_run::trials(&campaign.experiment, &left),
        duration(campaign.experiment.load_time(record.plan[0].point)),
        dry_run::time(&campaign.experiment, &left, checks),
    ));
    Ok(())
}

fn finish(
    flags: &RaceFlags,
    session: &Session,
    run: RunId,
    origin: &Origin,
    ended: Result<Ended, Refusal>,
) -> Result<ExitStatus, Refusal> {
    let reported = conclude(session, (run, ended), &flags.results, |found| {
        found.command = OfCommand::Race;
        flags.results.deliver(found, false)?;
        Ok(found.race())
    })?;
    let Some(outcome) = reported else {
        let kept = session.store().kept(run)?.len();
        let trials = counted(kept as u64, "trial is", "trials are");
        terminal::notice(&format!(
            "dyno: interrupted; {trials} kept as run {run}; a race cannot be resumed, the same command begins it anew"
        ));
        flags.history.leave_out();
        return Ok(ExitStatus::Interrupted);
    };
    flags.history.end(session.store(), run, origin)?;
    Ok(match outcome {
        RaceOutcome::Measured => ExitStatus::Yes,
        RaceOutcome::Failed => ExitStatus::No,
        RaceOutcome::CannotTell => ExitStatus::CouldNotTell,
    })
}
