//! An experiment as a value: which subjects, which workloads, how much load, how many rounds, under which conditions.
//! Files and flags are two readers of it, and a run keeps it as JSON; what holds of all of them is in `check.rs`.

mod change;
mod check;
mod manners;
mod pairs;
mod reader;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::amounts::{Cpus, bytes_text, percent_text};
use crate::figure::Figure;
use crate::manner::Manner;
use crate::schedule::Schedule;
use crate::search_goal::SearchGoal;
use crate::source_file::{ConfigError, SourceFile};
use load::{Arrivals, Load, Ramp, Rate};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

pub use change::{Change, Changed};
pub use check::{Flaw, Key};
pub use pairs::Pairs;

/// The default says nothing, and cannot be run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Its file's name, without the ending.
    pub name: String,
    /// The file that it was read from. One that was made of flags has none, and the name stands for them.
    pub source: SourceFile,
    /// The question that it is to answer.
    pub question: String,
    /// The article whose design it has.
    pub article: Option<String>,
    /// The servers that take part.
    pub subjects: Subjects,
    /// The names of its workloads; at least one.
    pub workloads: Vec<String>,
    /// How requests arrive.
    pub shape: Shape,
    /// How much load, from one trial to the next; at least one. Of a search, whose trials find their rates, the lowest.
    pub points: Vec<Point>,
    /// Each server's capacity is searched for, and this is what it must keep.
    pub sought: Option<SearchGoal>,
    /// The ramp or the steps that the rate goes through in each trial; its only point is then the highest rate.
    pub course: Option<Schedule>,
    /// When a trial's load ends: after so many requests (of sessions: sessions), after so long, or after whichever is
    /// first.
    pub total: Option<u64>,
    /// When a trial's load ends, as a time.
    pub duration: Option<Duration>,
    /// Load before that, which is not counted.
    pub warmup: Duration,
    /// An exchange that takes longer has failed.
    pub timeout: Duration,
    /// Whether a connection carries more than one exchange.
    pub keep_alive: bool,
    /// Whether requests are sent in several forms, whatever their workload says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vary: bool,
    /// After the rounds, servers are sampled: where their CPU time goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Profiling>,
    /// Whether dyno polls while it waits.
    pub spin: load::Spin,
    /// How requests travel; each workload is requested in each of these manners. At least one.
    pub manners: Vec<Manner>,
    /// The conditions that are the same for all servers.
    pub conditions: Wanted,
    /// The number of rounds; where the number is to be found, the smallest.
    pub repeat: u32,
    /// Rounds go on until the figures' intervals are so narrow.
    pub until: Option<Until>,
    /// Rounds are pairs, and go on until these have an answer.
    pub pairs: Option<Pairs>,
    /// What a server must keep: its capacity is the greatest load at which it does.
    pub promise: Promised,
    /// Whether a server of tier `reference` is added as a reference, so that there is a ceiling.
    pub has_ceiling: bool,
    /// Whether the servers are checked for their conformance to the RFCs.
    pub has_check: bool,
    /// What a server must meet to be ranked.
    pub require: Option<Required>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The rest between two trials.
    pub pause: Duration,
    /// All servers of a round live at once, and the load stays with each of them for so long at a time; none where
    /// trials follow one another.
    pub slices: Option<Duration>,
    /// The file of published figures in `experiments/history/`.
    pub history: Option<String>,
    /// The figure by which its tables are ordered, where it is not the usual one of its load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// The columns of its tables, where its article had its own; empty: the usual ones.
    pub columns: Vec<Figure>,
    /// Times and repeats were shrunk.
    pub is_quick: bool,
    /// What the command line changed for this run.
    pub changed: Changed,
    pub quick: Quick,
}

/// By what the servers of a table are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The server's own CPU time for an answer: of one rate that all of them keep it is what differs.
    Cpu,
}

/// How servers are sampled after the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profiling {
    /// Sampled trials of each server and load.
    #[serde(default = "usual_trials")]
    pub trials: u32,
    /// Samples a second of each CPU.
    #[serde(default = "usual_hz")]
    pub hz: u32,
}

/// With fewer, a change of 1 µs in 20 is not named nine times in ten: `analysis/why` has the simulation.
fn usual_trials() -> u32 {
    6
}

/// No round number: a server that works at a constant rate would always be met at the same instants of its work.
fn usual_hz() -> u32 {
    997
}

impl Default for Profiling {
    fn default() -> Profiling {
        Profiling { trials: usual_trials(), hz: usual_hz() }
    }
}

/// The servers that take part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subjects {
    /// All servers that answer the workloads.
    #[default]
    All,
    /// The servers with these names.
    Named(Vec<String>),
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A closed loop.
    #[default]
    Closed,
    /// On a schedule, on a pool of connections.
    Open {
        /// Whether the gaps are random.
        poisson: bool,
        /// Opened before the start.
        connections: usize,
        /// The pool grows up to this.
        max_connections: usize,
    },
    /// Connections arrive on a schedule, each makes its calls and closes.
    Sessions {
        /// Requests on each.
        calls: u32,
        /// More at once wait for a place.
        max_connections: usize,
    },
    /// Connections are added in steps and kept; a trial is a whole ramp.
    Held(Holds),
}

/// How held connections are added, and what is expected of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holds {
    /// How many are added at once.
    pub step: usize,
    /// The time from one step to the next.
    pub every: Duration,
    /// How many are begun each second.
    pub per_second: u32,
    /// The file says so; otherwise it is the usual number for these steps.
    pub is_rate_stated: bool,
    /// The time between the start of a step's last connection and the measurement.
    pub settle: Duration,
    /// The time between two messages.
    pub beat: Option<Duration>,
    /// A connection that receives nothing for so long is silent.
    pub silence: Duration,
    /// Whether lost connections are opened again.
    pub reopen: bool,
    /// After all have been closed, the server is watched for so long.
    pub drain: Duration,
}

/// How much load a trial makes: one place on the experiment's axis.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "Place", into = "Place")]
#[schemars(inline)]
pub enum Point {
    /// A closed loop of so many connections.
    Connections(u32),
    /// So many requests a second arrive.
    Requests(f64),
    /// So many sessions a second arrive.
    Sessions(f64),
    /// So many connections are held in the end.
    Held(u32),
}

impl Point {
    /// So much on the axis of this unit.
    pub fn at(value: f64, unit: &str) -> Result<Point, String> {
        let whole = || {
            let count = value as u32;
            let is_whole = f64::from(count) == value;
            is_whole.then_some(count).ok_or_else(|| format!("{value} {unit}: a whole number"))
        };
        match unit {
            "connections" => whole().map(Point::Connections),
            "requests/s" => Ok(Point::Requests(value)),
            "sessions/s" => Ok(Point::Sessions(value)),
            "held connections" => whole().map(Point::Held),
            _ => Err(format!("no place is counted in `{}`", unit.escape_debug())),
        }
    }

    /// The load.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Point::Connections(connections) | Point::Held(connections) => f64::from(connections),
            Point::Requests(rate) | Point::Sessions(rate) => rate,
        }
    }

    /// What the axis counts.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Point::Connections(_) => "connections",
            Point::Requests(_) => "requests/s",
            Point::Sessions(_) => "sessions/s",
            Point::Held(_) => "held connections",
        }
    }

    /// Whether a schedule says when requests are due, whatever the server does.
    #[must_use]
    pub fn is_scheduled(self) -> bool {
        match self {
            Point::Connections(_) | Point::Held(_) => false,
            Point::Requests(_) | Point::Sessions(_) => true,
        }
    }
}

impl Ord for Point {
    /// From low to high; of equal numbers by what they count.
    fn cmp(&self, other: &Point) -> Ordering {
        let by_value = self.value().total_cmp(&other.value());
        by_value.then_with(|| self.unit().cmp(other.unit()))
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Point) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Point) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Point {}

/// A place of the axis as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[derive(schemars::JsonSchema)]
struct Place {
    /// the load
    point: f64,
    /// the axis: connections, requests/s, sessions/s or held connections
    point_unit: Cow<'static, str>,
}

impl From<Point> for Place {
    fn from(point: Point) -> Place {
        Place { point: point.value(), point_unit: Cow::Borrowed(point.unit()) }
    }
}

impl TryFrom<Place> for Point {
    type Error = String;

    fn try_from(Place { point, point_unit }: Place) -> Result<Point, String> {
        Point::at(point, &point_unit)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self {
            Point::Connections(1) => "connection",
            Point::Held(1) => "held connection",
            Point::Connections(_) | Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => {
                self.unit()
            }
        };
        write!(f, "{} {unit}", self.value())
    }
}

/// The conditions that an experiment wants to be the same for all servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// CPUs of the server; none: half of those that there are.
    pub subject_cpus: Option<Cpus>,
    pub load_cpus: Option<Cpus>,
    /// The most memory that the server may hold.
    #[serde(default, with = "bytes_text")]
    pub memory: Option<u64>,
    /// The most files that one of its processes may open.
    #[serde(default, deserialize_with = "files")]
    pub files: Option<u64>,
    /// Whether each trial has a network of its own.
    #[serde(default)]
    pub isolate: bool,
}

fn files<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(0) => Err(D::Error::custom("it must be at least 1")),
        Some(files) if FILES_MAX < files => Err(D::Error::custom(format!("at most {FILES_MAX}"))),
        files => Ok(files),
    }
}

const FILES_MAX: u64 = 1 << 30;

/// Rounds go on until the figure that a row is judged by has a 95 % interval that is narrow enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// To either side: 0.03 is ±3 %.
    pub within: f64,
    /// But no more rounds than this.
    pub repeat_max: u32,
    /// And no new round after the trials have taken so long.
    pub limit: Option<Duration>,
}

/// What a server is to keep while the offered load grows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promised {
    /// 99 % of the requests are answered within this.
    pub p99: Duration,
    /// At most this percentage of requests fails.
    pub failed_percent: f64,
    /// The experiment's file states the p99; otherwise it is the default.
    pub is_stated: bool,
}

impl Default for Promised {
    fn default() -> Promised {
        Promised::of(None, None)
    }
}

impl Promised {
    /// What is stated, and the usual in place of what is not.
    #[must_use]
    pub fn of(p99: Option<Duration>, failed_percent: Option<f64>) -> Promised {
        Promised {
            p99: p99.unwrap_or(Duration::from_millis(100)),
            failed_percent: failed_percent.unwrap_or(1.0),
            is_stated: p99.is_some(),
        }
    }

    /// The p99 in the unit of its figure.
    #[must_use]
    pub fn p99_ms(self) -> f64 {
        self.p99.as_secs_f64() * 1e3
    }
}

/// How much a server may break and still be ranked; a clause that is not named may be broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Required {
    /// At most so many broken clauses that oblige.
    pub must_broken: Option<usize>,
    /// At most so many broken clauses that advise.
    pub should_broken: Option<usize>,
    /// At most so many failures that an attacker could use.
    pub security: Option<usize>,
    /// The percentage of requests that may be answered with the wrong content; none if it is not stated.
    #[serde(default, rename = "wrong", with = "percent_text")]
    pub wrong_percent: Option<f64>,
}

impl Required {
    /// Whether it requires something that only a conformance check finds.
    #[must_use]
    pub fn needs_check(&self) -> bool {
        [self.must_broken, self.should_broken, self.security].iter().any(Option::is_some)
    }
}

/// What `--quick` changes, where the file says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quick {
    points: Option<Vec<Point>>,
    repeat: Option<u32>,
    total: Option<u64>,
    duration: Option<Duration>,
    warmup: Option<Duration>,
    step: Option<usize>,
    every: Option<Duration>,
    width: Option<f64>,
    limit: Option<Duration>,
}

impl Experiment {
    /// A request of a schedule is on time if it is answered within the time that the file promises for its p99, or else
    /// within the time-out; a closed loop has no schedule.
    #[must_use]
    pub fn on_time_within(&self) -> Option<Duration> {
        match self.shape {
            Shape::Open { .. } | Shape::Sessions { .. } if self.promise.is_stated => {
                Some(self.promise.p99.min(self.timeout))
            }
            Shape::Open { .. } | Shape::Sessions { .. } => Some(self.timeout),
            Shape::Closed | Shape::Held(_) => None,
        }
    }

    /// Reads an experiment's file; `shown` is its name in messages.
    pub fn read(path: &Path, shown: &str) -> Result<Experiment, ConfigError> {
        let source = SourceFile::read(path, shown)?;
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        Experiment::parse(name, source)
    }

    /// As a run keeps it. The text of its file is kept beside it.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("it has no value that JSON cannot say")
    }

    /// The experiment that was kept so.
    pub fn of_json(json: &str) -> Result<Experiment, String> {
        let read: Experiment = serde_json::from_str(json).map_err(|error| error.to_string())?;
        read.checked().map_err(|flaw| flaw.says)
    }

    /// Reads an experiment's text.
    pub fn parse(name: &str, source: SourceFile) -> Result<Experiment, ConfigError> {
        reader::experiment(name, source)
    }

    /// The experiment with less of everything: what the file says under `[quick]`; otherwise one round, at most 2 s or
    /// a tenth of the requests for each trial, and half a second of warm-up. The number of rounds is then fixed.
    #[must_use]
    pub fn quickened(self) -> Experiment {
        let quick = self.quick.clone();
        let shorter = |time: Duration, limit| time.min(Duration::from_millis(limit));
        let shape = match self.shape {
            Shape::Held(holds) => Shape::Held(Holds {
                step: quick.step.unwrap_or(holds.step),
                every: quick.every.unwrap_or(shorter(holds.every, 4_000)),
                settle: shorter(holds.settle, 500),
                drain: shorter(holds.drain, 1_000),
                ..holds
            }),
            other => other,
        };
        Experiment {
            is_quick: true,
            shape,
            points: quick.points.unwrap_or(self.points),
            repeat: quick.repeat.unwrap_or(1),
            until: None,
            pairs: None,
            sought: self.sought.map(|sought| sought.quickened(quick.width, quick.limit)),
            total: self.total.map(|total| quick.total.unwrap_or((total / 10).max(1))),
            duration: match &self.course {
                // Steps have lengths of their own.
                Some(Schedule::Steps(_)) => self.duration,
                _ => self.duration.map(|time| quick.duration.unwrap_or(shorter(time, 2_000))),
            },
            warmup: quick.warmup.unwrap_or(shorter(self.warmup, 500)),
            ..self
        }
    }

    /// The greatest number of rounds that there may be.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        match &self.pairs {
            Some(pairs) => pairs.rounds_max(),
            None => self.until.map_or(self.repeat, |until| until.repeat_max),
        }
    }

    /// The load under a load.
    #[must_use]
    pub fn load(&self, point: Point) -> Load {
        let constant = |rate: f64| Arrivals::Constant(as_rate(rate).expect("points were checked"));
        match (self.shape, point) {
            (Shape::Sessions { calls, max_connections }, point) => {
                Load::Sessions { arrivals: constant(point.value()), calls, max_connections }
            }
            (Shape::Open { poisson, connections, max_connections }, point) => {
                let rate = as_rate(point.value()).expect("points were checked");
                let arrivals = match &self.course {
                    Some(course) => course.arrivals(self.duration.unwrap_or_default()),
                    None if poisson => Arrivals::Poisson(rate),
                    None => Arrivals::Constant(rate),
                };
                Load::Open { arrivals, connections, max_connections }
            }
            // The load of held connections is made by `ramp`; for estimates they count as connections.
            (Shape::Closed | Shape::Held(_), point) => {
                Load::Closed { connections: point.value() as usize }
            }
        }
    }

    /// How held connections are added up to a place of the axis; none for any other load.
    #[must_use]
    pub fn ramp(&self, point: Point) -> Option<Ramp> {
        let Shape::Held(holds) = self.shape else { return None };
        let connections = point.value() as usize;
        Some(Ramp {
            connections,
            step: holds.step.min(connections),
            every: holds.every,
            per_second: f64::from(holds.per_second),
            settle: holds.settle,
        })
    }

    /// A place of the axis as people read it: offered sessions as offered requests, because throughput counts requests.
    #[must_use]
    pub fn as_requests(&self, point: Point) -> Point {
        match (point, self.shape) {
            (Point::Sessions(rate), Shape::Sessions { calls, .. }) => {
                Point::Requests(rate * f64::from(calls))
            }
            _ => point,
        }
    }

    /// About how long a trial takes, for a server that starts at once.
    #[must_use]
    pub fn trial_time(&self, point: Point) -> Duration {
        /// Besides its load: start, first answers, stop.
        const AROUND: Duration = Duration::from_millis(500);
        /// And for the cheapest cases of the RFCs, before and after the load.
        const SPOTS: Duration = Duration::from_millis(400);
        let spots = if self.has_spots() { SPOTS } else { Duration::ZERO };
        self.load_time(point) + AROUND + spots + self.pause
    }

    /// Whether the cheapest cases of the RFCs are played around each load. They are not in pairs: a server may leave
    /// malformed requests unanswered, and each pair would wait for it for seconds.
    #[must_use]
    pub fn has_spots(&self) -> bool {
        self.has_check && self.pairs.is_none()
    }

    /// About how long a trial's load will take, warm-up and measurement.
    #[must_use]
    pub fn load_time(&self, point: Point) -> Duration {
        /// The rate that is assumed where it is unknown: requests a second.
        const GUESS: f64 = 10_000.0;
        /// Some three centuries: what a file says may be more than a time can be.
        const LONGEST: Duration = Duration::from_secs(10_000_000_000);
        if let (Shape::Held(holds), Some(ramp)) = (self.shape, self.ramp(point)) {
            return Duration::from_nanos(ramp.end()) + holds.drain;
        }
        let rate = match point {
            Point::Connections(_) | Point::Held(_) => GUESS,
            Point::Requests(rate) | Point::Sessions(rate) => rate,
        };
        let by_total = self.total.map(|total| {
            let time = Duration::try_from_secs_f64(total as f64 / rate);
            time.map_or(LONGEST, |time| time.min(LONGEST))
        });
        let measured = match (by_total, self.duration) {
            (Some(total), Some(duration)) => total.min(duration),
            (Some(time), None) | (None, Some(time)) => time,
            (None, None) => Duration::ZERO,
        };
        self.warmup + measured
    }
}

fn as_rate(rate: f64) -> Option<Rate> {
    format!("{rate}").parse().ok()
}

#[cfg(test)]
pub(crate) mod tests;
