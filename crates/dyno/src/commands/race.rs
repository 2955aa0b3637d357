//! `dyno race`: two or more servers against each other, without a file and without a project.

pub(super) mod preparation;

use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::keep;
use campaign::race::look::{Look, differences, look_thrice, usual_body};
use campaign::race::slices::{Slices, refuse_one_port};
use campaign::{Campaign, Ended, Entrant, expected_checks, now_unix_ms};
use clap::Args;
use lab::amounts;
use lab::record::{Fact, OutcomeKind, RACE, RACE_ANSWERS, RACE_BODIES, RunRecord, TrialKey};
use store::RunId;
use terminal::progress;

use super::gate::share;
use super::report::{self, How, formats};
use super::run::CpuFlags;
use crate::ceiling::{Ceiling, is_fixed};
use crate::generators::GeneratorFlags;
use crate::history::HistoryFlags;
use crate::job::{Job, interrupted_early, weighed};
use crate::order::flags::{ArrivingFlags, AskingFlags};
use crate::order::protocol::ProtocolFlags;
use crate::order::tls::TlsFlags;
use crate::shell::{ExitStatus, Refusal, command_line};
use ::report::dry_run;
use ::report::history::Origin;
use ::report::render::Format;
use ::report::run::RaceOutcome;
use preparation::{Race, prepared};
use units::{counted, duration};

/// Race servers against each other: commands, addresses, folders or subjects
///
/// Commands and folders are started anew for each round, and the sides take turns; a server that runs already is only
/// loaded. The end is a ratio with the interval that decides. No file and no project is needed, and nothing is left in
/// the current folder.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RaceFlags {
    /// Two or more: a command in quotes, http[s]://host:port/path, a folder with subject.toml, or a subject's name
    #[arg(value_name = "SIDE", required = true)]
    sides: Vec<String>,
    /// The name of a side, for the first, the second and so on [made from the side]
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
    /// How long each trial loads before that; this is not counted [1s; with a ramp or steps none]
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none)]
    warmup: Option<Duration>,
    /// Rounds; in each of them every side has a trial [5, or with --until 6 at least]
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    rounds: Option<u64>,
    /// Go on until the figures are known to so many percent to either side
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent)]
    until: Option<f64>,
    /// Of two sides: go on until it is known whether the second is worse by so much, and say so with the exit code
    #[arg(long, value_name = "PERCENT", value_parser = share, conflicts_with_all = ["until", "rounds", "total"])]
    detect: Option<f64>,
    /// With --until or --detect: begin no new round after so long
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    limit: Option<Duration>,

    /// How long the load stays with a side before it moves on to the next, or `off`: whole trials follow one another
    /// [100ms; with --sessions, -n, a ramp or steps: off]
    #[arg(long, value_name = "TIME", value_parser = Slices::parse)]
    slices: Option<Slices>,

    /// The path that the sides are asked for; a URL may have its own [/, and of subjects alone what they are made for]
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    #[command(flatten)]
    asking: AskingFlags,
    /// End with exit code 1 before the load if the sides do not answer alike
    #[arg(long)]
    same: bool,
    /// Compare each body with that of the first answer: another one is a failure, not only a doubt
    #[arg(long, conflicts_with = "expect_body")]
    same_body: bool,

    /// A request of a schedule is on time if it is answered correctly this long after it was due [--timeout]
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    on_time: Option<Duration>,
    /// A side that fails more than this share of its requests is not compared, and the exit code is 1
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent, default_value = "1")]
    max_failures: f64,
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
    /// Leave dyno's own server out, which gives the sides' answer and shows how far the load and the machine come
    #[arg(long)]
    no_ceiling: bool,
    /// Check how much of the RFCs the sides keep, too; a server that runs already must be on this machine
    #[arg(long)]
    check: bool,

    /// Keep the run in this file [default: dyno/runs.sqlite in the user's state folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// How the results are shown
    #[arg(long, value_parser = formats(), default_value = Format::Text.name())]
    format: Format,
    /// The same as --format md
    #[arg(long, conflicts_with = "format")]
    markdown: bool,
    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "markdown"])]
    json: bool,
    /// Write the results to this file, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    history: HistoryFlags,
}

const AFTER_HELP: &str = "\
A command runs as you, in the current folder, with your environment, and without a shell. `{port}` in it is replaced by \
a free port, which is in the variable PORT, too; if it listens on another port of its own choice, that \
one is taken.

Examples:
  # two commands, each started anew for each of five rounds
  dyno race 'node a.js --port {port}' 'node b.js --port {port}'
  # two servers that run already
  dyno race http://localhost:8001/ http://localhost:8002/
  # two folders with subject.toml, until the figures are known to 3 %
  dyno race ./before ./after --path /api/items --until 3%
  # until it is known whether the second is 3 % slower than the first
  dyno race './before -p {port}' './after -p {port}' --detect 3%
  # appended to a history, whose changes `dyno trend` finds; the sides' commands are written into it
  dyno race './main -p {port}' './mine -p {port}' --history perf/history.jsonl
  # at one rate: what does an answer cost, and how long does it take?
  dyno race './old -p {port}' './new -p {port}' -r 2000

Exit codes:
  0    all sides were measured, whatever the ratio
  1    a side could not be measured through its own fault, answered wrongly, or failed more than --max-failures of the
       requests; with --same, the sides do not answer alike; with --detect, the second is worse
  2    could not tell: a side's figures are invalid, or the race was refused; with --detect also that its pairs do not say
  130  interrupted; what is finished is kept";

pub(crate) fn run(flags: &RaceFlags) -> Result<ExitStatus, Refusal> {
    if let Some(path) = &flags.output {
        keep::check_all(&[("--output", path)], flags.history.named().as_slice())?;
    }
    flags.history.begin(Path::new("."))?;
    let Race { campaign, store, pages, origin } = prepared(flags)?;
    let resources = weighed(&campaign)?;
    if let Some(folder) = store.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Refusal::new(format!("{}: {error}", folder.display())))?;
    }
    let mut job = Job::open(&campaign.project, &store, pages)?;
    let Some(resources) = flags.generators.given_to(&campaign, resources, &job.halt)? else {
        return Ok(interrupted_early());
    };
    resources.take()?;
    let (entrants, _) = campaign.admit(&job.halt, &mut progress::admitting);
    if job.halt.is_asked() {
        return Ok(interrupted_early());
    }
    if entrants.len() < campaign.members.len() {
        return Err(Refusal::new("a side cannot take part, for the reason above"));
    }
    let looks = match looked(&campaign, &entrants, &job)? {
        Ok(looks) => looks,
        Err(status) => return Ok(status),
    };
    refuse_one_port(&campaign, &looks)?;
    let differences: Vec<String> = differences(&looks).into_iter().map(|it| it.says).collect();
    for says in &differences {
        terminal::notice(&format!("dyno: {says}"));
    }
    if flags.same && !differences.is_empty() {
        terminal::notice("dyno: the sides do not answer alike, which --same demands");
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
    let (entrants, entries) = campaign.admit(&job.halt, &mut progress::admitting);
    let mut record = campaign.record(&resources, &entrants, entries, now_unix_ms());
    let fact = |name: &str, value: String| Fact { name: name.into(), value };
    record.facts.push(fact(RACE, command_line()));
    record.facts.extend(not_compared.map(|why| fact(RACE_BODIES, why)));
    record.facts.extend(differences.into_iter().map(|says| fact(RACE_ANSWERS, says)));
    let run = job.store.begin(&record)?;
    job.claim(run)?;
    announce(&campaign, &record, run, &job)?;
    let ended = job.go_on(&campaign, &resources, &entrants, &record, run)?;
    let kept = job.store.kept(run)?.len();
    if ended == Ended::Interrupted && kept == 0 {
        job.store.remove(&[run])?;
        terminal::notice("dyno: interrupted before a trial ended; nothing was kept");
        return Ok(ExitStatus::Interrupted);
    }
    finish(flags, &job, (run, kept), (&campaign, &origin), ended)
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
            "--same-body: it compares the bodies of one request without placeholders, whose right body is not stated; \
             leave it out",
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
    campaign: &Campaign,
    entrants: &[Entrant],
    job: &Job,
) -> Result<Result<Vec<Look>, ExitStatus>, Refusal> {
    let mut looks = Vec::new();
    for entrant in entrants {
        let title = &entrant.subject.title;
        let seen = match look_thrice(campaign, entrant, &job.halt) {
            Ok(seen) => seen,
            Err(outcome) if outcome.kind == OutcomeKind::Interrupted => {
                return Ok(Err(interrupted_early()));
            }
            Err(outcome) => {
                terminal::notice(&format!("dyno: {title}: {}", outcome.says));
                let is_ours = outcome.kind == OutcomeKind::Unable;
                let status = if is_ours { ExitStatus::CouldNotTell } else { ExitStatus::No };
                return Ok(Err(status));
            }
        };
        if let Some(moved) = &seen.moved {
            terminal::notice(&format!("{title}: {}; that one is taken", moved.value));
        }
        looks.push(seen);
    }
    Ok(Ok(looks))
}

fn announce(campaign: &Campaign, record: &RunRecord, run: RunId, job: &Job) -> Result<(), Refusal> {
    let left: Vec<&TrialKey> = record.plan.iter().collect();
    let checks = expected_checks(campaign, record, &job.store)?;
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
    job: &Job,
    (run, kept): (RunId, usize),
    (campaign, origin): (&Campaign, &Origin),
    ended: Ended,
) -> Result<ExitStatus, Refusal> {
    let format = match (flags.json, flags.markdown) {
        (true, _) => Format::Json,
        (_, true) => Format::Markdown,
        (false, false) => flags.format,
    };
    let how = How { format, is_full: false, output: flags.output.as_deref() };
    let reported = report::finish_race(job, run, campaign, how);
    if ended == Ended::Interrupted {
        if let Err(refusal) = reported {
            terminal::notice(&format!("dyno: {refusal}"));
        }
        let trials = counted(kept as u64, "trial is", "trials are");
        terminal::notice(&format!(
            "dyno: interrupted; {trials} kept as run {run}; a race cannot be resumed, the same command begins it anew"
        ));
        flags.history.leave_out();
        return Ok(ExitStatus::Interrupted);
    }
    let outcome = reported?;
    flags.history.end(&job.store, run, origin)?;
    Ok(match outcome {
        RaceOutcome::Measured => ExitStatus::Yes,
        RaceOutcome::Failed => ExitStatus::No,
        RaceOutcome::CannotTell => ExitStatus::CouldNotTell,
    })
}
