//! How much a service answers with no server before it: what servers cannot exceed that ask it for every answer.

use std::time::Duration;

use load::Halt;
use machine::conditions::Cpus;
use machine::namespace;
use wire::Tables;

use super::Setup;
use crate::arrival::on_another_port;
use crate::command::Command;
use crate::experiment::{Experiment, Point, Shape};
use crate::manner::Task;
use crate::plan::seed_of;
use crate::record::{Fact, TrialKey};
use crate::service::{ReadyService, RunningService, ServiceCeiling, ServiceStart};

/// How long it is loaded where no time ends the trials, and at most.
const USUAL: Duration = Duration::from_secs(5);
const LONGEST_S: u64 = 30;

/// Loads a new copy of the service as long as a trial at this place and by as many connections, and says what it answers
/// or why that is unknown. None where it is not measured: the experiment wants no ceiling, the service has no CPUs of its
/// own or no command for it, the load comes from other machines, or the connections are not fixed.
#[must_use]
pub fn service_alone(
    setup: Setup<'_>,
    ready: &ReadyService,
    key: &TrialKey,
    halt: &Halt,
) -> Option<Fact> {
    let cpus = setup.split.service.as_ref().filter(|_| setup.elsewhere.is_none())?;
    let command =
        ready.service.manifest.ceiling.as_ref().filter(|_| setup.experiment.has_ceiling)?;
    let connections = connections(setup.experiment, key.point)?;
    // A thread for this alone: what it starts inherits its network and its CPUs.
    let measured = std::thread::scope(|scope| {
        let measure = || measure(setup, ready, command, cpus, key, connections, halt);
        scope.spawn(measure).join()
    });
    let panicked = |panic| std::panic::resume_unwind(panic);
    Some(ServiceCeiling::fact(&measured.unwrap_or_else(panicked)))
}

/// How many connections ask at the same time, at most.
fn connections(experiment: &Experiment, point: Point) -> Option<usize> {
    match (experiment.shape, point) {
        (Shape::Open { connections, .. }, _) => Some(connections),
        (Shape::Closed, Point::Connections(connections)) => Some(connections as usize),
        (Shape::Closed | Shape::Sessions { .. } | Shape::Held(_), _) => None,
    }
}

fn measure(
    setup: Setup<'_>,
    ready: &ReadyService,
    command: &Command,
    cpus: &Cpus,
    key: &TrialKey,
    connections: usize,
    halt: &Halt,
) -> Result<ServiceCeiling, String> {
    if setup.experiment.conditions.isolate {
        namespace::enter().map_err(|error| format!("no network of its own: {error}"))?;
    }
    let load = &setup.split.load;
    load.keep_this_thread().map_err(|error| format!("the load's CPUs {load}: {error}"))?;
    let is_halted = || halt.is_asked();
    let tables = Tables::of(seed_of(setup.experiment.seed, key));
    let start = ServiceStart {
        launcher: setup.launcher,
        ready,
        cpus: Some(cpus),
        files: Some(setup.files),
        tables: &tables,
        // There is no server.
        server_port: 0,
        is_halted: &is_halted,
    };
    let running = on_another_port(|| RunningService::start(start));
    let running = running.map_err(|outcome| outcome.says)?;
    let duration = setup.experiment.duration.unwrap_or(USUAL).as_secs_f64().ceil() as u64;
    let workload = Task::named(&key.workload).workload;
    let asked = (workload.as_str(), connections, duration.clamp(1, LONGEST_S));
    running.ceiling(command, load, asked, &is_halted)
}
