//! The flags and the sides of a race, made into a campaign.

use std::time::Duration;

use ::report::history::Origin;
use analysis::gate::{MOST, Rule};
use campaign::Campaign;
use campaign::project::Project;
use campaign::race::label::{Label, labels};
use campaign::race::procedure;
use campaign::race::side::{self, Side};
use campaign::race::slices::Slices;
use lab::experiment::{Experiment, Pairs, Profiling, Promised, Until, Wanted};
use lab::figure::Figure;
use lab::manner::Manner;
use lab::subject::{Serving, Subject, is_file_name};
use load::Load;
use machine::limits::Machine;

use super::RaceFlags;
use crate::order::schedule;
use crate::origin::of_race;
use crate::session::StorePlace;
use crate::shell::Refusal;

/// How long a trial loads before it counts.
const WARMUP: Duration = Duration::from_secs(1);

/// A race, read and ready.
pub(super) struct Race {
    pub(super) campaign: Campaign,
    pub(super) place: StorePlace,
    /// What it is, for a history.
    pub(super) origin: Origin,
}

/// Reads the sides, and makes of them what the lab reads.
pub(super) fn prepared(flags: &RaceFlags) -> Result<Race, Refusal> {
    // Only a subject's name is looked up: dyno's own tree need not be unpacked for anything else.
    let has_name = flags.sides.iter().any(|text| is_file_name(text));
    let project = has_name.then(|| Project::find().ok()).flatten();
    let read = |text: &String| side::read(text, project.as_ref());
    let sides = flags.sides.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if sides.len() < 2 {
        return Err(Refusal::new(
            "a race needs two servers; to measure one server: dyno load http://localhost:8080/",
        ));
    }
    let manner = flags.at.manner(&sides)?;
    let labels = labels(&sides, &flags.name)?;
    let files_for = Machine::read().files.connections_max();
    let load =
        schedule::load(&flags.arriving, flags.duration.unwrap_or(procedure::USUAL), files_for)?;
    let workload = flags.at.workload(&sides, project.as_ref(), procedure::NAME)?;
    let asked = asked(flags, &load, &labels, manner)?;
    let times = [asked.duration, flags.warmup];
    let experiment = procedure::experiment(&labels, &workload.name, &load, asked)?;
    // Only a subject's name needs the project, for its probe, and for what was built of it before.
    let is_named = sides.iter().any(|side| matches!(side, Side::Named(_)));
    let subjects = sides
        .iter()
        .zip(&labels)
        .map(|(side, label)| {
            flags.at.subject(manner.protocol, (side, label), &workload.name, project.as_ref())
        })
        .collect::<Result<Vec<_>, _>>()?;
    refuse_for_found(flags, &subjects)?;
    let named = sides.iter().zip(&labels).zip(&subjects);
    let named: Vec<_> = named.map(|((side, label), subject)| (side, label, subject)).collect();
    let asked = (&flags.at.asking, flags.at.target());
    let origin = of_race(&named, &load, &asked, manner, times);
    let place = flags.store.of_user()?;
    let home = project.filter(|_| is_named).map_or_else(Project::of_user, Ok)?;
    let experiment = flags.at.cpus.given_to(experiment);
    let campaign = Campaign::made(home, experiment, workload, subjects)?;
    Ok(Race { campaign, place, origin })
}

/// Refuses what cannot be done for a server that runs already.
fn refuse_for_found(flags: &RaceFlags, subjects: &[Subject]) -> Result<(), Refusal> {
    let found = subjects.iter().filter_map(|subject| match &subject.serving {
        Serving::Found(site) => Some(site.address),
        Serving::ByUrl(_) | Serving::Built(_) | Serving::Own(..) => None,
    });
    for address in found {
        if flags.at.isolate {
            return Err(Refusal::new(
                "--isolate: a server that runs already cannot be given another network; leave it out",
            ));
        }
        if flags.check && !address.ip().is_loopback() {
            return Err(Refusal::new(format!(
                "--check: {address} is not on this machine, and a check may harm a server; its owner can allow it to \
                 `dyno check URL --i-may-probe-this-target`"
            )));
        }
    }
    Ok(())
}

fn asked(
    flags: &RaceFlags,
    load: &Load,
    labels: &[Label],
    manner: Manner,
) -> Result<Experiment, Refusal> {
    let titles: Vec<&str> = labels.iter().map(|label| label.title.as_str()).collect();
    let steps = flags.arriving.rate.as_ref().map(schedule::length_of).transpose()?.flatten();
    if let (Some(_), Some(_)) = (steps, flags.duration) {
        return Err(Refusal::new(
            "--duration: the steps of --rate say how long they last; leave it out",
        ));
    }
    let changes = load.arrivals().is_some_and(|arrivals| arrivals.length().is_some());
    let usual = flags.total.is_none() && steps.is_none();
    let until = |percent| Until::with(percent / 100.0, flags.rounds, None, flags.max_time);
    let until = flags.until.map(until);
    Ok(Experiment {
        name: procedure::NAME.into(),
        question: format!("{}?", titles.join(" or ")),
        duration: flags.duration.or(usual.then_some(procedure::USUAL)),
        total: flags.total,
        warmup: flags.warmup.unwrap_or(if changes { Duration::ZERO } else { WARMUP }),
        timeout: flags.at.asking.timeout,
        keep_alive: !flags.at.asking.no_keepalive,
        vary: flags.at.asking.varying.vary,
        why: flags.why.why.then(Profiling::default),
        manners: vec![manner],
        conditions: Wanted { isolate: flags.at.isolate, ..Wanted::default() },
        repeat: Until::rounds(until.as_ref(), flags.rounds),
        until,
        pairs: pairs(flags, load, labels)?,
        promise: Promised::of(flags.on_time, Some(flags.max_failures)),
        has_check: flags.check,
        seed: flags.at.asking.seed,
        slices: Slices::of(slices(flags)?, load, flags.total),
        ..Experiment::default()
    })
}

/// With `--detect` the rounds are pairs: of what the load leaves to the servers.
fn pairs(flags: &RaceFlags, load: &Load, labels: &[Label]) -> Result<Option<Pairs>, Refusal> {
    let Some(detect) = flags.detect else {
        return match (flags.max_time, flags.until) {
            (Some(_), None) => Err(Refusal::new(
                "--max-time: it bounds --until or --detect; add one of them, or leave it out",
            )),
            _ => Ok(None),
        };
    };
    if labels.len() != 2 {
        return Err(Refusal::new(
            "--detect: it is about two servers, the second against the first",
        ));
    }
    if Slices::of(slices(flags)?, load, flags.total).is_none() {
        return Err(Refusal::new(
            "--detect: both servers live at once, in slices, which this load does not have; leave it out",
        ));
    }
    let figure = match load {
        Load::Closed { .. } => Figure::Throughput,
        Load::Open { .. } | Load::Sessions { .. } => Figure::CpuPerThousand,
    };
    let Rule { alpha, missed, .. } = Rule::usual();
    let most = MOST as u32;
    Ok(Some(Pairs {
        detect,
        level: alpha,
        missed,
        figures: vec![figure],
        most,
        builds: None,
        limit: flags.max_time,
    }))
}

/// Agents do not take turns within a round: whole trials follow one another.
fn slices(flags: &RaceFlags) -> Result<Option<Slices>, Refusal> {
    match (flags.at.generators.is_given(), flags.slices) {
        (false, slices) => Ok(slices),
        (true, None | Some(Slices::Off)) => Ok(Some(Slices::Off)),
        (true, Some(_)) => Err(Refusal::new(
            "--slices: with --load-on whole trials follow one another; leave it out",
        )),
    }
}
