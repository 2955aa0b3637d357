//! The flags and the server of a search, made into a campaign.

use std::path::PathBuf;
use std::time::Duration;

use campaign::Campaign;
use campaign::project::Project;
use campaign::race::label::labels;
use campaign::race::made::{self, Course};
use campaign::race::side::{self, Side};
use lab::schedule::Schedule;
use lab::subject::is_file_name;
use machine::limits::Machine;

use super::CapacityFlags;
use crate::order::flags::ArrivingFlags;
use crate::order::schedule::Spacing;
use crate::order::{schedule, stated};
use crate::shell::Refusal;
use crate::sides::{Wanted, refuse_without_files};

/// A search, read and ready.
pub(super) struct Prepared {
    pub(super) campaign: Campaign,
    pub(super) store: PathBuf,
    pub(super) pages: PathBuf,
    /// Each trial has a process of its own.
    pub(super) is_fresh: bool,
}

/// The store of searches, and the folder of its pages.
pub(super) fn store(flags: &CapacityFlags) -> Result<(PathBuf, PathBuf), Refusal> {
    let user = Project::of_user()?;
    let store = flags.store.clone().unwrap_or_else(|| user.store_path());
    let pages = user.reports(&store);
    Ok((store, pages))
}

/// Reads the server, and makes of it what the lab reads.
pub(super) fn prepared(flags: &CapacityFlags) -> Result<Prepared, Refusal> {
    let target = flags.target.as_deref().unwrap_or_default();
    let limits = flags.aim.limits(flags.asking.timeout)?;
    let project = is_file_name(target).then(|| Project::find().ok()).flatten();
    let sides = [side::read(target, project.as_ref())?];
    let urls: Vec<_> = sides.iter().filter_map(Side::url).collect();
    let manner = flags.protocol.manner(&urls, 1, flags.tls.tls_resume.percent())?;
    if urls.is_empty() && manner.protocol.is_secured() {
        flags.tls.refuse_for_started()?;
    } else {
        flags.tls.refuse_without(&urls)?;
    }
    refuse_without_files(&sides, manner.protocol)?;
    let is_fresh = urls.is_empty();
    if flags.isolate && !is_fresh {
        return Err(Refusal::new(
            "--isolate: a server that runs already cannot be given another network; leave it out",
        ));
    }
    let labels = labels(&sides, &[])?;
    let wanted = Wanted {
        path: flags.path.as_deref(),
        asking: &flags.asking,
        tls: &flags.tls,
        ready: flags.ready,
    };
    let workload = match wanted.standard(&sides, project.as_ref())? {
        Some(workload) => workload,
        None => stated::workload(&flags.asking, wanted.target(), made::CAPACITY)?,
    };
    let files_for = Machine::read().files.connections_max();
    let load = schedule::load(&arriving(flags)?, made::USUAL, files_for)?;
    let course = Course {
        name: made::CAPACITY,
        question: format!("What does {} hold?", labels[0].title),
        duration: Some(made::USUAL),
        total: None,
        warmup: flags.warmup,
        timeout: flags.asking.timeout,
        keep_alive: !flags.asking.no_keepalive,
        manner,
        rounds: Some(1),
        until_percent: None,
        pairs: None,
        limit: None,
        isolate: flags.isolate,
        check: false,
        seed: flags.asking.seed,
        slices: None,
        on_time: Some(Duration::from_nanos(limits[0].within)),
        max_failures: Some(flags.aim.failures),
    };
    let experiment = made::experiment(&labels, &workload.name, &load, &course)?;
    let subject = wanted.subject(
        manner.protocol,
        (&sides[0], &labels[0]),
        &workload.name,
        project.as_ref(),
    )?;
    let (store, pages) = store(flags)?;
    let is_named = matches!(sides[0], Side::Named(_));
    let home = project.filter(|_| is_named).map_or_else(Project::of_user, Ok)?;
    let experiment = flags.cpus.given_to(experiment);
    let campaign = Campaign::made(home, experiment, workload, vec![subject])?;
    Ok(Prepared { campaign, store, pages, is_fresh })
}

/// Requests that arrive by the law; each trial has a rate of its own.
fn arriving(flags: &CapacityFlags) -> Result<ArrivingFlags, Refusal> {
    Ok(ArrivingFlags {
        connections: flags.connections,
        rate: Some(Schedule::parse("1").map_err(Refusal::new)?),
        arrivals: Some(Spacing::Law(flags.arrivals)),
        sessions: None,
        calls: None,
        max_connections: flags.max_connections,
    })
}
