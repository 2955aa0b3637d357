//! `dyno gate`: is the head worse than the base? Pairs of fresh processes until there is an answer with a known error
//! rate, or until there can be none.

mod detectable;
mod figures;
mod gate_run;
mod history;
mod output;
mod preparation;
mod sides;
mod why;

use std::time::{Duration, Instant};

use ::report::gate::{Early, FinishedGate};
use analysis::gate::{
    Against, BUILDS, GateCourse, Gated, Rule, Verdict, WhyUnclear, level_allowed, most, weigh,
};
use archive::kept::findings;
use campaign::race::look::{Difference, Look, differences, look};
use campaign::{Campaign, Entrant};
use clap::Args;
use lab::amounts;
use lab::experiment::Pairs;
use lab::figure::Figure;
use lab::record::OutcomeKind;
use load::Halt;

use crate::history::HistoryFlags;
use crate::results::{OF_PAIRS, ResultFlags};
use crate::shell::{ExitStatus, Refusal, command_line_without_passwords};
use crate::sides::SideFlags;
use crate::stores::StoreFlag;
use figures::Wanted;
use gate_run::{GateRun, Loading, Measured, builds_of};
use output::{Stop, unless_interrupted};

/// Say whether a change makes a server slower, with a known error rate: for CI
///
/// Base and head are built. For each pair (a round) both are started anew, run at the same time, and take turns under
/// load. Throughput is compared in a closed loop, CPU time for 1,000 answers at a fixed rate, and conformance to the
/// RFCs by a check. Pairs are added until they decide: worse, not worse, or cannot tell.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
#[command(mut_arg("path", |path| path.help("Without an experiment: the path that is requested [/]")))]
#[command(mut_arg("history", |history| history.help(OF_HISTORY)))]
pub(crate) struct GateFlags {
    /// The experiment whose workload and load are used: a name in experiments/, or a file
    #[arg(conflicts_with_all = ["base_cmd", "head_cmd"])]
    experiment: Option<String>,
    /// The version that the head is compared with: git:REVISION, dir:FOLDER or server:NAME
    #[arg(long, value_name = "VERSION", requires = "experiment")]
    base: Option<String>,
    /// The version that is judged, in the same form
    #[arg(long, value_name = "VERSION", requires = "experiment")]
    head: Option<String>,
    /// The server, by its name in subjects/, or `.` for a subject.toml at the top of each tree [the experiment's only one]
    #[arg(long, value_name = "NAME", requires = "experiment")]
    server: Option<String>,
    /// In place of an experiment: the command that starts the base
    #[arg(long, value_name = "COMMAND", requires = "head_cmd")]
    base_cmd: Option<String>,
    /// In place of an experiment: the command that starts the head
    #[arg(long, value_name = "COMMAND", requires = "base_cmd")]
    head_cmd: Option<String>,
    /// The smallest slow-down that must be found or ruled out. It is no tolerance: a smaller one that is found is
    /// worse, too
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    detect: f64,
    /// How often equal code may be called worse, by any of the figures
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = share)]
    alpha: f64,
    /// Begin no new round after this time, and wait no longer for another dyno in the project
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "15min")]
    max_time: Duration,
    /// The figures that decide: throughput, cpu, conformance, p99, memory
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "throughput,cpu,conformance"
    )]
    gate: Vec<Wanted>,
    /// A version that fails more of its requests is not compared, nor is one that answers wrongly more often than the
    /// experiment's `require.wrong` allows [1 %, or what the experiment says]
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent)]
    max_failures: Option<f64>,
    /// The noise between rounds of equal code here, as a standard deviation [measured with three rounds of the base]
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    noise: Option<f64>,
    /// Also measure a second build of the base; if the two builds differ, the gate cannot tell
    #[arg(long)]
    control: bool,
    /// Build each version this many times (5 to 20), each in a folder of its own; the builds take turns, and each
    /// counts once
    #[arg(long, value_name = "K", value_parser = builds)]
    builds: Option<usize>,
    /// Instead of a gate: measure the base against itself, and say how often the rule is wrong on this machine's noise
    #[arg(long, conflicts_with_all = ["show", "format", "json", "markdown", "output", "history"])]
    aa: bool,
    /// With --aa: rounds, which are pairs of the base; 6 to 60
    #[arg(long, value_name = "N", value_parser = rounds_of_equal_code, requires = "aa", default_value_if("aa", "true", "20"))]
    rounds: Option<u64>,
    /// Print which difference the gate can detect here, and how long that takes, and end
    #[arg(long, conflicts_with_all = ["format", "json", "markdown", "output"])]
    show: bool,
    /// Where the head is worse and an answer of it costs more CPU time, do not sample base and head afterwards to say
    /// where that time goes
    #[arg(long)]
    no_why: bool,
    /// Connections of the closed loop [the experiment's, or 50]
    #[arg(short, long, value_name = "N", value_parser = amounts::connections)]
    connections: Option<usize>,
    /// How long each server of a pair is loaded [the experiment's, or 3s]
    #[arg(short, short_alias = 'z', long, value_name = "TIME", value_parser = amounts::time)]
    duration: Option<Duration>,
    /// How long each is loaded before that; this is not counted [the experiment's, or 1s]
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none)]
    warmup: Option<Duration>,
    #[command(flatten)]
    store: StoreFlag,
    #[command(flatten)]
    history: HistoryFlags,
    #[command(flatten)]
    at: SideFlags,
    #[command(flatten)]
    results: ResultFlags<OF_PAIRS>,
}

const OF_HISTORY: &str = "Take the noise between pairs from earlier gates in this file, if there are enough of them, \
and append this gate to it";

const AFTER_HELP: &str = "\
git:REVISION is checked out once into the user's cache and built there; dir:FOLDER is a tree as it is, or a folder with \
subject.toml; server:NAME is a server of the project. In GitHub's CI the Markdown is added to the job's summary as well.

Examples:
  # this branch against main
  dyno gate demo --server node-http --base git:origin/main --head git:HEAD
  # what is not committed yet against the last commit
  dyno gate demo --server node-http --base git:HEAD --head dir:.
  # two commands; no file and no project is needed
  dyno gate --base-cmd './old -p {port}' --head-cmd './new -p {port}' --path /items
  # what could be seen here, and in which time
  dyno gate demo --server node-http --base git:main --head dir:. --detect 2% --show

Exit codes:
  0    not worse: a head that is worse by --detect is ruled out
  1    worse, or it newly breaks a clause of the RFCs, or it fails where the base does not
  2    cannot tell, or the gate was refused
  130  interrupted";

/// A share that is neither nothing nor all.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match amounts::percent(text)? {
        percent if 0.0 < percent && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("write a percentage above 0 % and below 100 %, like 5%".into()),
    }
}

fn builds(text: &str) -> Result<usize, String> {
    match usize::try_from(amounts::count(text)?) {
        Ok(builds) if BUILDS.contains(&builds) => Ok(builds),
        _ => Err(format!(
            "write a number of builds from {} to {}; fewer cannot say how much builds differ",
            BUILDS.start(),
            BUILDS.end()
        )),
    }
}

fn rounds_of_equal_code(text: &str) -> Result<u64, String> {
    match amounts::count(text)? {
        rounds if (6..=60).contains(&rounds) => Ok(rounds),
        _ => Err("write a number of rounds from 6 to 60".into()),
    }
}

pub(crate) fn run(flags: &GateFlags) -> Result<ExitStatus, Refusal> {
    let others: Vec<_> = flags.store.given().into_iter().chain(flags.history.named()).collect();
    flags.results.check(&others)?;
    let (alpha, detect, builds) = (flags.alpha, flags.detect, flags.builds);
    let rule = Rule { alpha, detect, builds, ..Rule::usual() };
    let staged = admissible(flags, rule).and_then(|()| GateRun::of(flags));
    let mut gate_run = match unless_interrupted(staged) {
        Ok(gate_run) => gate_run,
        Err(stop) => return output::early(flags, None, rule, stop),
    };
    match gated(&mut gate_run, flags, rule) {
        Ok(status) => Ok(status),
        Err(stop) => output::early(flags, Some(&gate_run), rule, stop),
    }
}

fn gated(gate_run: &mut GateRun<'_>, flags: &GateFlags, rule: Rule) -> Result<ExitStatus, Stop> {
    ready(gate_run, detectable::equal_pairs(rule, most(rule.builds) as u32))?;
    let began = Instant::now();
    if let Some(rounds) = flags.rounds {
        return detectable::equal_code(gate_run, rule, rounds as u32);
    }
    detectable::before(gate_run, flags, rule)?;
    if flags.show {
        return Ok(ExitStatus::Yes);
    }
    let is_open = flags.gate.iter().any(|wanted| wanted.is_at_a_rate());
    let left = |share: u32| flags.max_time.saturating_sub(began.elapsed()) / share;
    let gated = Wanted::figures(&flags.gate, false);
    let untimed =
        if gated.is_empty() { gate_run.pair_time() * detectable::UNTIMED } else { Duration::MAX };
    let time = left(if is_open { 2 } else { 1 }).min(untimed);
    let closed = pairs(rule, &flags.gate, &gated, time);
    let closed = unless_interrupted(gate_run.measure(Loading::Closed, closed))?;
    let mut runs = vec![(closed, gated, Wanted::others(&flags.gate, false))];
    let course = &runs[0].0.course;
    let is_of_use = is_open && (0 < course.counted() || runs[0].1.is_empty());
    let rate = half_of(course).filter(|_| is_of_use && flags.max_time > began.elapsed());
    if let Some(rate) = rate {
        let gated = Wanted::figures(&flags.gate, true);
        let open = pairs(rule, &flags.gate, &gated, left(1));
        let open = unless_interrupted(gate_run.measure(Loading::Open(rate), open))?;
        runs.push((open, gated, Wanted::others(&flags.gate, true)));
    }
    Ok(finish(flags, gate_run, &runs, (rule, is_open))?)
}

/// Refuses flags that do not go together.
fn admissible(flags: &GateFlags, rule: Rule) -> Result<(), Refusal> {
    flags.history.check()?;
    if flags.aa && flags.builds.is_some() {
        return Err(Refusal::new(
            "--aa: it says how often the rule is wrong on pairs of one build; leave --builds out",
        ));
    }
    let figures = figures::count(&flags.gate);
    match level_allowed(rule.alpha / figures as f64) {
        true => Ok(()),
        false => Err(Refusal::new(format!(
            "--alpha {} %: divided among {figures} figures this is {} % each, and the rule is validated from 0.05 % \
             to 20 %",
            100.0 * rule.alpha,
            100.0 * rule.alpha / figures as f64
        ))),
    }
}

/// The rule for the pairs of one load.
fn pairs(rule: Rule, gate: &[Wanted], figures: &[Figure], limit: Duration) -> Pairs {
    Pairs {
        detect: rule.detect,
        level: rule.alpha / figures::count(gate) as f64,
        missed: rule.missed,
        figures: figures.to_vec(),
        most: if figures.is_empty() { detectable::UNTIMED } else { most(rule.builds) as u32 },
        builds: rule.builds.map(|builds| builds as u32),
        limit: Some(limit.max(Duration::from_secs(1))),
    }
}

/// Half of what the base achieves, in three digits.
fn half_of(course: &GateCourse) -> Option<u64> {
    let [base, _] = course.means(Figure::Throughput, Against::Head)?;
    let half = base / 2.0;
    let digit = 10_f64.powf((half.log10().floor() - 2.0).max(0.0));
    Some(((half / digit).round() * digit) as u64).filter(|rate| 1 <= *rate)
}

/// Builds both sides, and asks each of their builds once: they must answer alike.
fn ready(gate_run: &mut GateRun<'_>, pairs: Pairs) -> Result<(), Stop> {
    let (campaign, admitted) = unless_interrupted(gate_run.built(pairs))?;
    let mut looks = Vec::new();
    for (entrant, build) in builds_of(&admitted.entrants) {
        let seen = looked_at(&campaign, (entrant, build), &gate_run.session.halt)?;
        let (subject, built) = entrant.build(build);
        if let Some(apart) = gate_run.apart(&subject.name, built, &campaign) {
            let found = apart.check_places(&seen.places);
            found.map_err(|says| Refusal::new(format!("the {}: {says}", seen.title)))?;
        }
        looks.push(seen);
    }
    // Those that live at once: builds of one side never do.
    for together in looks.chunks(admitted.entrants.len().max(1)) {
        campaign::race::slices::refuse_one_port(&campaign, together)?;
    }
    // What is of the fields alone is said only where the contents are alike.
    match differences(&looks).into_iter().min_by_key(|found| found.is_of_fields) {
        None => {}
        Some(Difference { says, is_of_fields: true }) => {
            terminal::notice(&format!("dyno: {says}"));
        }
        Some(Difference { says, is_of_fields: false }) => {
            let says = format!("{says} They do different work, and are not comparable");
            return Err(Stop::new(Early::Refused, says));
        }
    }
    unless_interrupted(gate_run.check_base(&campaign, &admitted))
}

/// Asks a build of a side once. One that fails is looked at again before anything is said of it: a start may fail by
/// accident.
fn looked_at(
    campaign: &Campaign,
    (entrant, build): (&Entrant, usize),
    halt: &Halt,
) -> Result<Look, Stop> {
    let title = entrant.title(build);
    let mut tries = 2;
    loop {
        let outcome = match look(campaign, entrant, build, halt) {
            Ok(seen) => return Ok(seen),
            Err(_) if halt.is_asked() => return unless_interrupted(Ok(None)),
            Err(outcome) => outcome,
        };
        tries -= 1;
        if 0 < tries && outcome.kind != OutcomeKind::Unable {
            let says = format!("dyno: the {title}: {}; it is started once more", outcome.says);
            terminal::notice(&says);
            continue;
        }
        let is_head = entrant.subject.name == gate_run::HEAD && outcome.kind != OutcomeKind::Unable;
        let early = if is_head { Early::HeadFails } else { Early::Refused };
        return Err(Stop::new(early, format!("the {title}: {}", outcome.says)));
    }
}

type LoadRun = (Measured, Vec<Figure>, Vec<Figure>);

fn finish(
    flags: &GateFlags,
    gate_run: &mut GateRun<'_>,
    runs: &[LoadRun],
    (rule, is_open): (Rule, bool),
) -> Result<ExitStatus, Refusal> {
    let first = &runs[0].0;
    let is_gated = flags.gate.contains(&Wanted::Conformance);
    let newly_broken = is_gated.then(|| figures::newly_broken(&first.run));
    let broken = newly_broken.as_ref().and_then(|it| it.as_ref().ok()).map_or(0, Vec::len);
    let loads: Vec<Gated<'_>> = runs
        .iter()
        .map(|(measured, gated, shown)| Gated {
            course: &measured.course,
            gated: gated.clone(),
            shown: shown.clone(),
        })
        .collect();
    let mut weighing = weigh(&loads, rule, broken);
    if weighing.verdict == Verdict::NotWorse {
        weighing.verdict = match newly_broken {
            Some(Err(_)) => Verdict::CannotTell(WhyUnclear::Conformance),
            _ if is_open && runs.len() < 2 => Verdict::CannotTell(WhyUnclear::Limit),
            _ => Verdict::NotWorse,
        };
    }
    let why = why::sampled(flags, gate_run, runs, &weighing);
    let store = gate_run.session.store();
    let why = why.as_ref().map(|why| match why {
        Ok((id, loaded)) => Ok(findings(store, *id, loaded)),
        Err(says) => Err(says.clone()),
    });
    let command = command_line_without_passwords();
    let [base, head] = gate_run.titles();
    let finished = FinishedGate {
        weighing: &weighing,
        early: None,
        base,
        head,
        newly_broken,
        equal: output::equal(gate_run.equal.as_ref()),
        command: &command,
        runs: runs.iter().map(|(measured, ..)| measured.id.to_string()).collect(),
        run: Some(&first.run),
        trials: &first.trials,
        why,
    };
    let status = output::tell(flags, &finished)?;
    if flags.history.is_given() {
        history::append(flags, gate_run, runs, &weighing)?;
    }
    Ok(status)
}
