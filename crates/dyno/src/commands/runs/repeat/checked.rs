//! What of a stranger's run may be repeated: only what dyno starts itself, from files that the run brings along, within
//! bounds. Nothing here runs anything.

use std::path::{Component, Path};
use std::time::Duration;

use archive::keep;
use campaign::Campaign;
use lab::build::Recipe;
use lab::experiment::{Experiment, Point, Shape, Subjects};
use lab::record::{self, AGENTS, CAPACITY, Entry, LOAD, LOAD_ON, RACE, RunRecord, SUBJECT_ON};
use lab::subject::{Serving, Subject, is_file_name};
use lab::workload::{Question, Workload};
use units::{count, duration, visible};

use crate::commands::runs::publishing::LEFT_OUT;
use crate::shell::Refusal;

/// No path within a project is longer.
const PATH_MAX: usize = 300;
/// A workload's text is not longer, nor are the requests that are made of it; ...
const WORKLOAD_MAX: usize = 16 << 10;
const REQUEST_MAX: usize = 4 << 20;
/// ... and nothing else waits longer.
const WAIT_MAX: Duration = Duration::from_secs(5 * 60);
/// Folders of a project from which a run has files.
const FOLDERS: [&str; 5] = ["experiments", "probes", "services", "subjects", "workloads"];

/// It cannot be repeated, because of this.
pub(super) fn not_from_this_file(why: impl AsRef<str>) -> Refusal {
    Refusal::new(format!("cannot be repeated from this file: {}", why.as_ref()))
}

/// The experiment of a run, if all that it loads is started by dyno on this machine, within bounds; with the servers that
/// took part, and with this seed.
pub(super) fn experiment(run: &RunRecord, seed: u64) -> Result<Experiment, Refusal> {
    let kinds = [
        (LOAD, "it is a load of a URL, and only servers that dyno starts are loaded"),
        (RACE, "it is a race, whose servers are command lines of its author"),
        (CAPACITY, "it is a search for a capacity, whose figures have no rounds"),
        (SUBJECT_ON, "its servers were on another machine"),
        (LOAD_ON, "its load came from other machines"),
        (AGENTS, "its load came from agents"),
    ];
    if let Some((_, why)) = kinds.iter().find(|(name, _)| record::fact(&run.facts, name).is_some())
    {
        return Err(not_from_this_file(why));
    }
    let experiment =
        run.experiment.clone().ok_or_else(|| not_from_this_file("it has no experiment"))?;
    if run.is_search() || experiment.sought.is_some() || experiment.pairs.is_some() {
        return Err(not_from_this_file("it is a search or a gate, which ends by its own data"));
    }
    let took_part =
        |name: &String| run.entries.iter().any(|it| it.name == *name && it.skipped.is_none());
    let names = match &experiment.subjects {
        Subjects::Named(names) => names.clone(),
        Subjects::All => run.entries.iter().map(|entry| entry.name.clone()).collect(),
    };
    let names: Vec<String> = names.into_iter().filter(took_part).collect();
    if names.is_empty() || !names.iter().all(|name| is_file_name(name)) {
        return Err(not_from_this_file("no server took part in it"));
    }
    let servers = run.entries.len();
    let experiment = Experiment { subjects: Subjects::Named(names), seed, why: None, ..experiment };
    bounded(&experiment, servers)?;
    Ok(experiment)
}

/// Refuses an experiment that would take too long, or too much of the machine.
fn bounded(experiment: &Experiment, servers: usize) -> Result<(), Refusal> {
    let places = experiment.points.len() * experiment.tasks().count();
    let trials = (servers * places) as f64 * f64::from(experiment.rounds());
    let of_points = |amount: &dyn Fn(Point) -> f64| {
        experiment.points.iter().map(|it| amount(*it)).fold(0.0, f64::max)
    };
    let amounts = [
        ("trials", trials, 5_000.0),
        (
            "seconds of load in a trial",
            of_points(&|it| experiment.load_time(it).as_secs_f64()),
            900.0,
        ),
        (
            "seconds of a pause or a time-out",
            experiment.pause.max(experiment.timeout).as_secs_f64(),
            WAIT_MAX.as_secs_f64(),
        ),
        ("seconds in all", time(experiment, servers).as_secs_f64(), 43_200.0),
        ("connections", of_points(&|it| connections(experiment, it)), 50_000.0),
        ("requests a second", of_points(&|it| experiment.as_requests(it).value()), 2_000_000.0),
    ];
    match amounts.into_iter().find(|(_, is, most)| most < is) {
        None => Ok(()),
        Some((what, is, most)) => Err(not_from_this_file(format!(
            "{} {what}, and at most {} are repeated",
            count(is as u64),
            count(most as u64)
        ))),
    }
}

fn connections(experiment: &Experiment, point: Point) -> f64 {
    match experiment.shape {
        Shape::Held(_) => point.value(),
        Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. } => {
            experiment.load(point).connections_max() as f64
        }
    }
}

/// How long all trials take, as far as that is known.
pub(super) fn time(experiment: &Experiment, servers: usize) -> Duration {
    let each = experiment.points.iter().map(|point| experiment.trial_time(*point));
    let often = experiment.tasks().count() as f64 * f64::from(experiment.rounds()) * servers as f64;
    Duration::try_from_secs_f64(each.sum::<Duration>().as_secs_f64() * often)
        .unwrap_or(Duration::MAX)
}

/// Writes the files of a run below a folder, which is new; their format bounds their size. That of its experiment is not
/// needed: the run keeps what was read of it.
pub(super) fn write(run: &RunRecord, root: &Path) -> Result<(), Refusal> {
    let own = run.experiment.as_ref().map_or("", |it| it.source.name.as_str());
    let files: Vec<_> = run.files.iter().filter(|(path, _)| path != own).collect();
    if let Some((path, _)) = files.iter().find(|(path, _)| !is_inside(path)) {
        let path = visible(path);
        return Err(not_from_this_file(format!("`{path}` is no path within a project")));
    }
    let sends_secret = |(path, text): &&&(String, String)| {
        path.starts_with("workloads/") && text.contains("{secret}")
    };
    if let Some((path, _)) = files.iter().find(sends_secret) {
        let says = format!("`{path}` sends a secret, which was replaced when the run was exported");
        return Err(not_from_this_file(says));
    }
    // Nothing in the folder is a link: it was made for these files.
    let files = files
        .into_iter()
        .map(|(path, text)| (path.as_str(), text.as_bytes(), text.starts_with("#!")));
    keep::create(root, files)
        .map_err(|(path, error)| not_from_this_file(format!("`{}`: {error}", visible(path))))
}

/// A path that stays in its folder of a project.
fn is_inside(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| {
        Path::new(part).components().eq([Component::Normal(part.as_ref())])
            && !part.chars().any(char::is_control)
    };
    path.len() <= PATH_MAX
        && 1 < parts.len()
        && FOLDERS.contains(&parts[0])
        && parts.iter().all(is_plain)
}

/// Refuses what is not started from the file's own sources, or not bounded.
pub(super) fn refuse_foreign(run: &RunRecord, campaign: &Campaign) -> Result<(), Refusal> {
    for member in &campaign.members {
        let subject = member.subject.as_ref().map_err(not_from_this_file)?;
        let name = &subject.name;
        let refused = |why: &str| Err(not_from_this_file(format!("server `{name}` {why}")));
        match subject.serving {
            Serving::Built(_) => {}
            Serving::Own(..) => return refused("runs in a folder of its author's machine (`in`)"),
            Serving::ByUrl(_) | Serving::Found(_) => {
                return refused("is a URL, and only servers that dyno starts are loaded");
            }
        }
        if WAIT_MAX < subject.ready {
            return refused(&format!("may take longer than {} to start", duration(WAIT_MAX)));
        }
        // A reference that took no part is only tried.
        let took_part = |it: &Entry| it.name == *name && it.skipped.is_none();
        let is_measured = run.entries.iter().any(took_part) || !campaign.is_extra(name);
        if is_measured && !has_sources(run, campaign, subject) {
            return refused("has no sources in it");
        }
    }
    if let Some(service) = campaign.services.iter().find(|it| WAIT_MAX < it.manifest.ready_within) {
        return Err(not_from_this_file(format!(
            "service `{}` may take longer than {} to start",
            service.name,
            duration(WAIT_MAX)
        )));
    }
    let encoded = |question: &Question| {
        let mut request = Vec::new();
        question.ask.encode(wire::Values::default(), &mut request);
        request.len()
    };
    let is_large = |it: &&Workload| {
        WORKLOAD_MAX < it.source.text.len()
            || it.questions.iter().any(|it| REQUEST_MAX < encoded(it))
    };
    // A check asks for workloads of the file that no trial has.
    if let Some(workload) = campaign.spoken.iter().find(is_large) {
        let (text, request) = (WORKLOAD_MAX >> 10, REQUEST_MAX >> 20);
        return Err(not_from_this_file(format!(
            "workload `{}` is too large: at most {text} kB, and {request} MB a request",
            workload.name
        )));
    }
    let left_out = run.files.iter().find(|(path, _)| path.ends_with(&format!("/{LEFT_OUT}")));
    match left_out.and_then(|(_, text)| Some(text.lines().next()?.rsplit(' ').next()?.to_string()))
    {
        Some(path) => Err(not_from_this_file(format!(
            "`{}` was too large for it, or is no text; ask its author for the file",
            visible(&path)
        ))),
        None => Ok(()),
    }
}

/// Whether it is a file of this folder other than its manifest.
fn is_source(path: &str, folder: &Path) -> bool {
    Path::new(path).strip_prefix(folder).is_ok_and(|below| below != Path::new("subject.toml"))
}

/// Whether that of which a server is built is there. One of a manifest alone, as dyno's own, has the hash that it had when
/// it was measured.
fn has_sources(run: &RunRecord, campaign: &Campaign, subject: &Subject) -> bool {
    let root = &campaign.project.root;
    let folders = [Some(&subject.folder), subject.from.as_ref()].into_iter().flatten();
    let mut folders = folders.map(|folder| folder.strip_prefix(root).unwrap_or(folder));
    if folders.any(|folder| run.files.iter().any(|(path, _)| is_source(path, folder))) {
        return true;
    }
    let built = campaign.cache.folder(Recipe::from(subject)).ok();
    let hash = built.as_ref().and_then(|folder| folder.file_name()?.to_str());
    let entry = run.entries.iter().find(|entry| entry.name == subject.name);
    entry.is_some_and(|entry| Some(entry.build.as_str()) == hash)
}

#[cfg(test)]
mod tests;
