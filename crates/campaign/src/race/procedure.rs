//! A race as an experiment, made of flags. So are gates, searches for a capacity, and loads that are kept: whatever shows a
//! run can show them.

use std::time::Duration;

use lab::Refusal;
use lab::experiment::{
    Changed, Experiment, Flaw, Key, Pairs, Point, Profiling, Promised, Quick, Required, Shape,
    Subjects, Until, Wanted,
};
use lab::manner::Manner;
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

/// How long, how often, and under which conditions.
#[derive(Default)]
pub struct Procedure {
    /// `race`, `gate`, `load` or `capacity`.
    pub name: &'static str,
    pub question: String,
    /// None where `total` or the steps of the rate end a trial.
    pub duration: Option<Duration>,
    pub total: Option<u64>,
    pub warmup: Duration,
    pub timeout: Duration,
    pub keep_alive: bool,
    /// Whether requests are sent in several forms.
    pub vary: bool,
    /// Whether the sides are sampled after the rounds.
    pub why: bool,
    pub manner: Manner,
    pub rounds: Option<u64>,
    pub until_percent: Option<f64>,
    /// The rounds are pairs of the first subject and the second.
    pub pairs: Option<Pairs>,
    pub limit: Option<Duration>,
    pub isolate: bool,
    pub check: bool,
    pub seed: u64,
    /// How long the load stays with one side; none where whole trials follow one another.
    pub slices: Option<Duration>,
    /// The p99 that is to be kept, within which a request is on time.
    pub on_time: Option<Duration>,
    /// The percentage of requests that may fail.
    pub max_failures: Option<f64>,
    /// The percentage of answers that may be wrong; none: no answer may be.
    pub max_wrong: Option<f64>,
}

/// The experiment.
pub fn experiment(
    labels: &[Label],
    workload: &str,
    load: &Load,
    course: &Procedure,
) -> Result<Experiment, Refusal> {
    let (shape, point, schedule) = shape(load, called(course.name))?;
    let stated = course.rounds.map(|rounds| u32::try_from(rounds).unwrap_or(u32::MAX));
    let until = course
        .until_percent
        .map(|percent| Until::with(percent / 100.0, stated, None, course.limit));
    let usual = Promised::default();
    let experiment = Experiment {
        name: course.name.into(),
        source: SourceFile {
            name: format!("experiments/{}.toml", course.name),
            ..SourceFile::default()
        },
        question: course.question.clone(),
        article: None,
        subjects: Subjects::Named(labels.iter().map(|label| label.name.clone()).collect()),
        workloads: vec![workload.into()],
        shape,
        points: vec![point],
        total: course.total,
        duration: course.duration.or(schedule.as_ref().and_then(Schedule::length)),
        course: schedule,
        warmup: course.warmup,
        timeout: course.timeout,
        keep_alive: course.keep_alive,
        vary: course.vary,
        why: course.why.then(Profiling::default),
        spin: load::Spin::Due,
        manners: vec![course.manner],
        conditions: Wanted { isolate: course.isolate, ..Wanted::default() },
        repeat: Until::rounds(until.as_ref(), stated),
        until,
        pairs: course.pairs.clone(),
        promise: Promised {
            p99: course.on_time.unwrap_or(usual.p99),
            failed_percent: course.max_failures.unwrap_or(usual.failed_percent),
            is_stated: course.on_time.is_some(),
        },
        sought: None,
        has_ceiling: false,
        has_check: course.check,
        require: course
            .max_wrong
            .map(|percent| Required { wrong_percent: Some(percent), ..Required::default() }),
        seed: course.seed,
        // Short trials need no long rest.
        pause: (course.duration.unwrap_or(USUAL) / 6).min(Duration::from_millis(500)),
        slices: course.slices,
        history: None,
        columns: Vec::new(),
        is_quick: false,
        changed: Changed::default(),
        quick: Quick::default(),
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
