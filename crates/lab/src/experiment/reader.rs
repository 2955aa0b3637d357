//! An experiment's file: its keys, how they are written, and the lines on which they stand.

mod aims;
mod manners;
mod places;
mod quick;
mod search;
mod written;

use std::time::Duration;

use serde::Deserialize;

use self::aims::{PromiseKeys, TrialKeys, required};
use self::manners::Counts;
use self::quick::QuickKeys;
use self::search::SearchKeys;
use self::written::{Connections, Count, Time, TimeOrNone};
use super::change::manners;
use super::{
    Experiment, Flaw, Holds, Key, Order, Point, Profiling, Required, Shape, Subjects, Until, Wanted,
};
use crate::amounts;
use crate::figure::Figure;
use crate::hold::usual_per_second;
use crate::schedule::{Law, Schedule};
use crate::search_goal::{self, SearchGoal};
use crate::source_file::{ConfigError, SourceFile};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    question: String,
    article: Option<String>,
    subjects: OneOrMany,
    workload: OneOrMany,
    load: LoadKeys,
    #[serde(default)]
    conditions: Wanted,
    #[serde(default)]
    trials: TrialKeys,
    #[serde(default)]
    promise: PromiseKeys,
    search: Option<SearchKeys>,
    require: Option<Required>,
    #[serde(default)]
    quick: QuickKeys,
    history: Option<String>,
    order: Option<Order>,
    why: Option<Profiling>,
    #[serde(default)]
    columns: Vec<Figure>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a name or a list of names")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadKeys {
    closed: Option<ClosedKeys>,
    open: Option<OpenKeys>,
    sessions: Option<SessionKeys>,
    held: Option<HeldKeys>,
    total: Option<Count<{ u64::MAX }>>,
    duration: Option<Time>,
    warmup: Option<TimeOrNone>,
    timeout: Option<Time>,
    keep_alive: Option<bool>,
    spin: Option<load::Spin>,
    protocol: Option<OneOrMany>,
    streams: Option<Counts>,
    tls_resume: Option<Counts>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClosedKeys {
    connections: Points,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenKeys {
    rate: Points,
    arrivals: Option<Law>,
    connections: Option<Connections>,
    max_connections: Option<Connections>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionKeys {
    rate: Points,
    calls: Count<1_000_000>,
    max_connections: Option<Connections>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldKeys {
    connections: Points,
    step: Option<Connections>,
    every: Time,
    rate: Option<Count<1_000_000>>,
    settle: Option<TimeOrNone>,
    beat: Option<Time>,
    silence: Option<TimeOrNone>,
    reopen: Option<bool>,
    drain: Option<TimeOrNone>,
}

/// Where on the axis: a number, a list, or from, to and step; of a rate also a ramp or steps as `--rate` has them, or
/// `search`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of numbers, or { from, to, step }")]
enum Points {
    One(f64),
    Course(String),
    Many(Vec<f64>),
    Span { from: f64, to: f64, step: f64 },
}

/// What is wrong with a file, and where: at the first of these keys that it has.
struct FileFlaw {
    paths: Vec<&'static str>,
    says: String,
}

impl FileFlaw {
    fn at(path: &'static str, says: impl Into<String>) -> FileFlaw {
        FileFlaw { paths: vec![path], says: says.into() }
    }

    /// A default value that cannot be read.
    fn of_default(says: String) -> FileFlaw {
        FileFlaw { paths: Vec::new(), says }
    }
}

impl From<Flaw> for FileFlaw {
    fn from(Flaw { key, says }: Flaw) -> FileFlaw {
        FileFlaw { paths: paths(key).to_vec(), says }
    }
}

/// Where a value may stand; the load's own place for what is not said.
fn paths(key: Key) -> &'static [&'static str] {
    match key {
        Key::Subjects => &["subjects"],
        Key::Workload => &["workload"],
        Key::Load => &["load"],
        Key::Points => &[
            "load.closed.connections",
            "load.open.rate",
            "load.sessions.rate",
            "load.held.connections",
        ],
        Key::MaxConnections => &["load.open.max_connections", "load.open.connections", "load"],
        Key::Total => &["load.total", "load"],
        Key::Duration => &["load.duration", "load"],
        Key::Warmup => &["load.warmup", "load"],
        Key::Protocol => &["load.protocol", "load"],
        Key::Streams => &["load.streams", "load"],
        Key::Repeat => &["trials.repeat", "load"],
        Key::RepeatMax => &["trials.repeat_max", "load"],
        Key::Until => &["trials.until", "load"],
        Key::Slices => &["trials.slices", "load"],
        Key::Pairs => &["trials.pairs", "load"],
        Key::Failures => &["promise.failures", "load"],
        Key::History => &["history", "load"],
        Key::Order => &["order", "load"],
        Key::Quick => &["quick.points", "quick.total", "load"],
        Key::Why => &["why", "load"],
    }
}

/// Reads an experiment's text.
pub(super) fn experiment(name: &str, source: SourceFile) -> Result<Experiment, ConfigError> {
    let file: File = source.parse()?;
    search::refuse_beside(&file, &source)?;
    let read = read(name, &file);
    let read = read.map_err(|FileFlaw { paths, says }| source.wrong_at(&paths, says))?;
    Ok(Experiment { source, ..read })
}

/// The experiment, if it can be run.
fn read(name: &str, file: &File) -> Result<Experiment, FileFlaw> {
    let (load, trials) = (&file.load, &file.trials);
    let timeout = load.timeout.map_or(Duration::from_secs(5), |time| time.0);
    let sought = search::sought(file, timeout)?;
    let (shape, points) = load.shape(sought.as_ref())?;
    let course = load.course()?;
    let duration = match &sought {
        Some(_) => Some(search::ABOUT),
        None => load.duration.map(|time| time.0).or(course.as_ref().and_then(Schedule::length)),
    };
    let until = trials.until()?;
    let experiment = Experiment {
        name: name.into(),
        question: file.question.clone(),
        article: file.article.clone(),
        subjects: file.subjects.subjects(),
        workloads: file.workload.all(),
        shape,
        points,
        total: load.total.map(|total| total.0),
        duration,
        warmup: load.warmup(&shape, course.as_ref(), sought.as_ref())?,
        course,
        timeout,
        keep_alive: load.keep_alive.unwrap_or(true),
        why: file.why,
        // One setting for all servers, of which none is polled for because it answers soon: each answer that wakes a
        // sleeping lane costs its server some microseconds.
        spin: load.spin.unwrap_or(load::Spin::Due),
        manners: load.manners()?,
        conditions: file.conditions.clone(),
        repeat: match &sought {
            Some(_) => 1,
            None => Until::rounds(until.as_ref(), trials.repeat),
        },
        until,
        pairs: trials.pairs.clone(),
        promise: sought.as_ref().map_or_else(|| file.promise.promised(), SearchGoal::promised),
        sought,
        has_ceiling: trials.ceiling.unwrap_or(true),
        has_check: trials.check.unwrap_or(true),
        require: required(file.require, trials)?,
        seed: trials.seed.unwrap_or(1),
        pause: trials.pause.map_or(Duration::from_millis(500), |time| time.0),
        slices: trials.slices.map(|time| time.0),
        history: file.history.clone(),
        order: file.order,
        columns: file.columns.clone(),
        quick: file.quick.read(&shape)?,
        ..Experiment::default()
    };
    let checked = experiment.checked()?;
    if let (Some(Schedule::Steps(_)), Some(_)) = (&checked.course, &load.duration) {
        let says = "steps say how long they last; leave `duration` out";
        return Err(FileFlaw::at("load.duration", says));
    }
    Ok(checked)
}

impl OneOrMany {
    fn all(&self) -> Vec<String> {
        match self {
            OneOrMany::One(name) => vec![name.clone()],
            OneOrMany::Many(names) => names.clone(),
        }
    }

    fn subjects(&self) -> Subjects {
        match self {
            OneOrMany::One(all) if all == "all" => Subjects::All,
            OneOrMany::One(_) | OneOrMany::Many(_) => Subjects::Named(self.all()),
        }
    }
}

impl LoadKeys {
    fn shape(&self, sought: Option<&SearchGoal>) -> Result<(Shape, Vec<Point>), FileFlaw> {
        let number = |count: Option<Connections>, usual| count.map_or(usual, |it| it.0 as usize);
        let (shape, places) = match (&self.closed, &self.open, &self.sessions, &self.held) {
            (Some(closed), None, None, None) => (Shape::Closed, &closed.connections),
            (None, Some(open), None, None) => {
                let shape = Shape::Open {
                    // The requests of a search arrive at random, unless its file says otherwise.
                    poisson: match &open.arrivals {
                        Some(law) => *law == Law::Poisson,
                        None => sought.is_some(),
                    },
                    connections: number(open.connections, 10),
                    max_connections: number(open.max_connections, 1_000),
                };
                (shape, &open.rate)
            }
            (None, None, Some(sessions), None) => {
                let max_connections = number(sessions.max_connections, 10_000);
                (
                    Shape::Sessions { calls: sessions.calls.0 as u32, max_connections },
                    &sessions.rate,
                )
            }
            (None, None, None, Some(held)) => return held.ramp(),
            (.., Some(_)) => return Err(FileFlaw::at("load", "`held` stands alone")),
            (.., None) => {
                let says = "name one of `closed`, `open`, `sessions` and `held`";
                return Err(FileFlaw::at("load", says));
            }
        };
        match sought {
            Some(sought) => Ok((shape, vec![Point::Requests(sought.least)])),
            None => Ok((shape, places.on_axis(&shape)?)),
        }
    }

    fn warmup(
        &self,
        shape: &Shape,
        course: Option<&Schedule>,
        sought: Option<&SearchGoal>,
    ) -> Result<Duration, FileFlaw> {
        match self.warmup {
            Some(time) => Ok(time.0),
            None if matches!(shape, Shape::Held(_)) || course.is_some() => Ok(Duration::ZERO),
            None if sought.is_some() => {
                amounts::time(search_goal::WARMUP).map_err(FileFlaw::of_default)
            }
            None => Ok(Duration::from_secs(2)),
        }
    }
}

impl HeldKeys {
    /// Connections that are kept open: the steps must leave time to measure.
    fn ramp(&self) -> Result<(Shape, Vec<Point>), FileFlaw> {
        let time = |time: Option<TimeOrNone>, usual| time.map_or(usual, |time| time.0);
        let every = self.every.0;
        let beat = self.beat.map(|time| time.0);
        let usual_silence = beat.map_or(Duration::from_secs(5), |beat| beat * 3);
        let mut holds = Holds {
            step: self.step.map_or(usize::MAX, |step| step.0 as usize),
            every,
            per_second: 0,
            is_rate_stated: self.rate.is_some(),
            settle: time(self.settle, Duration::from_secs(2)),
            beat,
            silence: time(self.silence, usual_silence),
            reopen: self.reopen.unwrap_or(true),
            drain: time(self.drain, Duration::from_secs(5)),
        };
        let points = self.connections.on_axis(&Shape::Held(holds))?;
        let most = points.iter().map(|point| point.value() as usize).max().unwrap_or(1);
        holds.per_second = match self.rate {
            Some(rate) => rate.0 as u32,
            None => usual_per_second(holds.step.min(most), every),
        };
        holds.check(most).map_err(|flaw| FileFlaw::at("load.held.every", flaw.says))?;
        Ok((Shape::Held(holds), points))
    }
}
