//! A gate's sides, workload and load, read from an experiment or from the flags.

use std::time::Duration;

use campaign::project::Project;
use campaign::race::procedure::{GATE, USUAL};
use lab::experiment::{Experiment, Point, Promised, Required, Shape};
use lab::manner::Manner;
use lab::workload::Workload;

use super::GateFlags;
use super::gate_run::{BASE, HEAD};
use super::sides::{self, Named};
use crate::shell::Refusal;

const USUAL_CONNECTIONS: usize = 50;
const USUAL_WARMUP: Duration = Duration::from_secs(1);

/// A gate, as the flags say it.
pub(super) struct Prepared {
    pub(super) home: Project,
    pub(super) workload: Workload,
    pub(super) connections: usize,
    /// What is asked of both sides, but for the load and the pairs.
    pub(super) asked: Experiment,
    pub(super) sides: [Named; 2],
    /// The experiment, and what base and head are builds of.
    pub(super) about: Vec<String>,
}

/// Reads all that the flags name.
pub(super) fn prepared(flags: &GateFlags) -> Result<Prepared, Refusal> {
    match &flags.experiment {
        Some(name) => of_experiment(flags, name),
        None => of_commands(flags),
    }
}

/// Two commands, and the request of the flags.
fn of_commands(flags: &GateFlags) -> Result<Prepared, Refusal> {
    let (Some(base), Some(head)) = (&flags.base_cmd, &flags.head_cmd) else {
        return Err(Refusal::new(
            "name an experiment with --base and --head, or two commands with --base-cmd and --head-cmd",
        ));
    };
    if flags.builds.is_some() {
        return Err(Refusal::new(
            "--builds: --base-cmd and --head-cmd are run as they are, and nothing is built; name an experiment with --base \
             and --head, or leave --builds out",
        ));
    }
    let manner = manner(flags)?;
    let workload = flags.at.workload(&[], None, GATE)?;
    let of = ([BASE, HEAD], workload.name.as_str(), manner.protocol);
    let sides = sides::of_commands(flags, [base, head], of)?;
    let connections = flags.connections.unwrap_or(USUAL_CONNECTIONS);
    let asked = Experiment {
        duration: Some(flags.duration.unwrap_or(USUAL)),
        warmup: flags.warmup.unwrap_or(USUAL_WARMUP),
        timeout: flags.at.asking.timeout,
        keep_alive: !flags.at.asking.no_keepalive,
        manners: vec![manner],
        promise: Promised::of(None, flags.max_failures),
        ..Experiment::default()
    };
    let about = vec![String::new(), base.clone(), head.clone()];
    Ok(Prepared { home: Project::of_user()?, workload, connections, asked, sides, about })
}

/// An experiment's workload and load, and two trees.
fn of_experiment(flags: &GateFlags, name: &str) -> Result<Prepared, Refusal> {
    let (project, experiment) = Project::of_experiment(name)?;
    let file = &experiment.source.name;
    let (Some(base), Some(head)) = (&flags.base, &flags.head) else {
        return Err(Refusal::new(
            "name both: --base and --head, as git:REVISION, dir:FOLDER or server:NAME",
        ));
    };
    if !flags.at.asking.is_usual() || flags.at.path.is_some() {
        return Err(Refusal::new(format!(
            "the workload of {file} says what is requested; leave the flags of the request out"
        )));
    }
    let [workload] = experiment.workloads.as_slice() else {
        return Err(Refusal::new(format!(
            "{file} has {} workloads, and a gate has one; write an experiment of one of them",
            experiment.workloads.len()
        )));
    };
    let manner = match experiment.manners.as_slice() {
        _ if flags.at.protocol.is_given() => manner(flags)?,
        [manner] => resuming(flags, *manner)?,
        _ => {
            return Err(Refusal::new(format!(
                "{file} has several protocols, and a gate has one; name it with --protocol"
            )));
        }
    };
    if matches!(experiment.shape, Shape::Held(_)) {
        return Err(Refusal::new(format!(
            "{file} holds connections, which are no load for a gate"
        )));
    }
    let workload = Workload::read(&project.root, workload)?;
    let places = (&project, &experiment);
    let side = |text: &str, name: &str| sides::of_tree(flags, places, (text, name, &workload.name));
    let sides = [side(base, BASE)?, side(head, HEAD)?];
    refuse_running(&sides)?;
    let connections = flags.connections.unwrap_or_else(|| connections(&experiment));
    let about = vec![experiment.name.clone(), sides[0].of.clone(), sides[1].of.clone()];
    let failures = flags.max_failures.unwrap_or(experiment.promise.failed_percent);
    let wrong_percent = experiment.require.and_then(|required| required.wrong_percent);
    let asked = Experiment {
        duration: flags.duration.or(experiment.duration).or(Some(USUAL)),
        warmup: flags.warmup.unwrap_or(experiment.warmup),
        timeout: experiment.timeout,
        keep_alive: experiment.keep_alive,
        manners: vec![manner],
        conditions: experiment.conditions,
        promise: Promised::of(None, Some(failures)),
        require: wrong_percent.map(|_| Required { wrong_percent, ..Required::default() }),
        ..Experiment::default()
    };
    Ok(Prepared { home: project, workload, connections, asked, sides, about })
}

/// Each pair needs fresh processes.
fn refuse_running(sides: &[Named; 2]) -> Result<(), Refusal> {
    let runs = |side: &&Named| side.subject.serving.command().is_none();
    match sides.iter().find(runs) {
        None => Ok(()),
        Some(side) => Err(Refusal::new(format!(
            "--{}: it runs already, at the URL of its subject.toml, and a gate starts base and head anew for each \
             pair; name \
             a server that dyno starts, or race the two servers: `dyno race URL URL --detect 5%`",
            side.subject.name
        ))),
    }
}

/// What the flags say is spoken, with both sides.
fn manner(flags: &GateFlags) -> Result<Manner, Refusal> {
    let manner = flags.at.protocol.manner(&[], 2, flags.at.tls.tls_resume.percent())?;
    refuse_tls(flags, manner)?;
    Ok(manner)
}

/// An experiment's manner, whose connections resume as often as the flag says.
fn resuming(flags: &GateFlags, manner: Manner) -> Result<Manner, Refusal> {
    refuse_tls(flags, manner)?;
    let resumed = match flags.at.tls.tls_resume.percent() {
        0 => manner.resumed,
        percent => percent,
    };
    Ok(Manner { resumed, ..manner })
}

/// dyno starts both sides, and decides what TLS is like.
fn refuse_tls(flags: &GateFlags, manner: Manner) -> Result<(), Refusal> {
    match manner.protocol.is_secured() {
        true => flags.at.tls.refuse_for_started(),
        false => flags.at.tls.refuse_without(&[]),
    }
}

/// Of several places of a closed loop the highest; of a schedule its connections.
fn connections(experiment: &Experiment) -> usize {
    let of_point = |point: &Point| match point {
        Point::Connections(connections) => Some(*connections as usize),
        Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => None,
    };
    let closed = experiment.points.iter().filter_map(of_point).max();
    closed.unwrap_or(match experiment.shape {
        Shape::Open { connections, .. } => connections,
        Shape::Closed | Shape::Sessions { .. } | Shape::Held(_) => USUAL_CONNECTIONS,
    })
}
