//! A race as an experiment, made of flags. So are gates, searches for a capacity, and loads that are kept: whatever shows a
//! run can show them.

use std::time::Duration;

use lab::Refusal;
use lab::experiment::{Experiment, Flaw, Key, Point, Shape, Subjects};
use lab::schedule::Schedule;
use lab::source_file::SourceFile;
use load::{Arrivals, Load};

use super::label::Label;

/// How long a trial loads, where nothing else ends it.
pub const USUAL: Duration = Duration::from_secs(3);

/// What the run, its experiment and its workload are called.
pub const NAME: &str = "race";

/// What the run of a gate, its experiment and its workload are called.
pub const GATE: &str = "gate";

/// What a run of loads that are kept, repeated or in a history is called, with its experiment and its workload.
pub const LOAD: &str = "load";

/// What a search for a capacity, its experiment and its workload are called.
pub const CAPACITY: &str = "capacity";

/// How it is called in a refusal.
pub fn called(name: &str) -> &'static str {
    match name {
        NAME => "a race",
        CAPACITY => "a search for a capacity",
        GATE => "a gate",
        _ => "a load that is kept, repeated or in a history",
    }
}

/// What is asked, of these sides, with one workload and one load.
pub fn experiment(
    labels: &[Label],
    workload: &str,
    load: &Load,
    asked: Experiment,
) -> Result<Experiment, Refusal> {
    let (shape, point, course) = shape(load, called(&asked.name))?;
    let experiment = Experiment {
        source: SourceFile {
            name: format!("experiments/{}.toml", asked.name),
            ..SourceFile::default()
        },
        subjects: Subjects::Named(labels.iter().map(|label| label.name.clone()).collect()),
        workloads: vec![workload.into()],
        shape,
        points: vec![point],
        // Short trials need no long rest.
        pause: (asked.duration.unwrap_or(USUAL) / 6).min(Duration::from_millis(500)),
        duration: asked.duration.or(course.as_ref().and_then(Schedule::length)),
        course,
        spin: load::Spin::Due,
        ..asked
    };
    experiment.checked().map_err(refused)
}

/// Names the flag, where one says the value.
fn refused(flaw: Flaw) -> Refusal {
    let flag = match flaw.key {
        Key::Points => "--rate or --connections",
        Key::MaxConnections => "--max-connections",
        Key::Total => "--total",
        Key::Duration => "--duration",
        Key::Warmup => "--warmup",
        Key::Protocol => "--protocol",
        Key::Streams => "--streams",
        Key::Repeat => "--rounds",
        Key::Until => "--until",
        Key::Slices => "--slices",
        Key::Failures => "--max-failures",
        Key::Why => "--why",
        Key::Subjects
        | Key::Workload
        | Key::Load
        | Key::RepeatMax
        | Key::Pairs
        | Key::History
        | Key::Order
        | Key::Quick => return Refusal::new(flaw.says),
    };
    Refusal::new(format!("{flag}: {}", flaw.says))
}

/// The kind of load, its only place on the axis, and how its rate changes, if it does.
fn shape(load: &Load, what: &str) -> Result<(Shape, Point, Option<Schedule>), Refusal> {
    match load {
        Load::Closed { connections } => {
            let connections = u32::try_from(*connections).unwrap_or(u32::MAX);
            Ok((Shape::Closed, Point::Connections(connections), None))
        }
        Load::Open { arrivals, connections, max_connections } => {
            let schedule = match arrivals {
                Arrivals::Constant(_) | Arrivals::Poisson(_) => None,
                Arrivals::Ramp { from, to, .. } => Some(Schedule::Ramp(*from, *to)),
                Arrivals::Steps(steps) => Some(Schedule::Steps(steps.clone())),
                Arrivals::Listed(_) => {
                    return Err(Refusal::new(format!(
                        "--arrivals: {what} has no list of times; give a rate with -r"
                    )));
                }
            };
            let poisson = matches!(arrivals, Arrivals::Poisson(_));
            let (connections, max_connections) = (*connections, *max_connections);
            let shape = Shape::Open { poisson, connections, max_connections };
            Ok((shape, Point::Requests(arrivals.peak().as_f64()), schedule))
        }
        Load::Sessions { arrivals: Arrivals::Constant(rate), calls, max_connections } => {
            let shape = Shape::Sessions { calls: *calls, max_connections: *max_connections };
            Ok((shape, Point::Sessions(rate.as_f64()), None))
        }
        Load::Sessions { .. } => {
            Err(Refusal::new(format!("--arrivals: sessions of {what} begin evenly; leave it out")))
        }
    }
}

#[cfg(test)]
mod tests;
