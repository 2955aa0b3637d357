//! The experiment's file as understood: which subjects, what is asked, how hard, how often, under which conditions.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use load::{Arrivals, Load, Rate};
use serde::Deserialize;
use toml::Spanned;

use crate::amounts::{self, Cpus};
use crate::misread::{Misread, Page};
use crate::subject::is_file_name;

/// One comparison.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its file's name, without the ending.
    pub name: String,
    /// Its file.
    pub page: Page,
    /// What it is to answer.
    pub question: String,
    /// The article whose design it has.
    pub article: Option<String>,
    /// Who takes part.
    pub subjects: Subjects,
    /// What is asked, by the names of workloads; at least one.
    pub workloads: Vec<String>,
    /// How requests arrive.
    pub shape: Shape,
    /// How hard, from one trial to the next; at least one.
    pub points: Vec<Point>,
    /// When a trial's load ends: after so many requests (of sessions: sessions), after so long, or what comes first.
    pub total: Option<u64>,
    /// The same, in time.
    pub duration: Option<Duration>,
    /// Pressed before that, and not counted.
    pub warmup: Duration,
    /// An exchange that takes longer has failed.
    pub timeout: Duration,
    /// Whether a connection carries more than one exchange.
    pub keep_alive: bool,
    /// What is the same for all.
    pub conditions: Wanted,
    /// Rounds.
    pub repeat: u32,
    /// Where all chance comes from.
    pub seed: u64,
    /// Rest between two trials.
    pub pause: Duration,
    /// The file of published figures in `experiments/history/`.
    pub history: Option<String>,
    /// Times and repeats were shrunk.
    pub is_quick: bool,
    quick: Quick,
}

/// Who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// All that answer the workloads.
    All,
    /// These.
    Named(Vec<String>),
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A closed loop.
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
}

/// How hard a trial presses: one place on the experiment's axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// A closed loop of so many connections.
    Connections(u32),
    /// So many requests a second arrive.
    Requests(f64),
    /// So many sessions a second arrive.
    Sessions(f64),
}

impl Point {
    /// The place on the axis.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Point::Connections(connections) => f64::from(connections),
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
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self {
            Point::Connections(1) => "connection",
            Point::Connections(_) | Point::Requests(_) | Point::Sessions(_) => self.unit(),
        };
        write!(f, "{} {unit}", self.value())
    }
}

/// What an experiment wants to be the same for all subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// CPUs of the subject; none: half of what there is.
    pub subject_cpus: Option<Cpus>,
    /// CPUs of the load.
    pub load_cpus: Option<Cpus>,
    /// The most memory that the subject may hold.
    pub memory: Option<u64>,
    /// The most files that one of its processes may open.
    pub files: Option<u64>,
    /// Whether each trial has a network of its own.
    pub isolate: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    question: String,
    article: Option<String>,
    subjects: Spanned<OneOrMany>,
    workload: Spanned<OneOrMany>,
    load: Spanned<LoadKeys>,
    #[serde(default)]
    conditions: ConditionKeys,
    #[serde(default)]
    trials: TrialKeys,
    #[serde(default)]
    quick: QuickKeys,
    history: Option<Spanned<String>>,
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
    closed: Option<Spanned<ClosedKeys>>,
    open: Option<Spanned<OpenKeys>>,
    sessions: Option<Spanned<SessionKeys>>,
    total: Option<Spanned<u64>>,
    duration: Option<Spanned<String>>,
    warmup: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
    keep_alive: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClosedKeys {
    connections: Spanned<Places>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenKeys {
    rate: Spanned<Places>,
    #[serde(default)]
    arrivals: Gaps,
    connections: Option<Spanned<u64>>,
    max_connections: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionKeys {
    rate: Spanned<Places>,
    calls: Spanned<u64>,
    max_connections: Option<Spanned<u64>>,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Gaps {
    #[default]
    Constant,
    Poisson,
}

/// Where on the axis: a number, a list, or from, to and step.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of numbers, or { from, to, step }")]
enum Places {
    One(f64),
    Many(Vec<f64>),
    Span { from: f64, to: f64, step: f64 },
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionKeys {
    subject_cpus: Option<Spanned<String>>,
    load_cpus: Option<Spanned<String>>,
    memory: Option<Spanned<String>>,
    files: Option<Spanned<u64>>,
    #[serde(default)]
    isolate: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrialKeys {
    repeat: Option<Spanned<u64>>,
    seed: Option<u64>,
    pause: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuickKeys {
    points: Option<Spanned<Places>>,
    repeat: Option<Spanned<u64>>,
    total: Option<Spanned<u64>>,
    duration: Option<Spanned<String>>,
    warmup: Option<Spanned<String>>,
}

/// What `--quick` makes of it, where the file says so.
#[derive(Clone, Debug, Default)]
struct Quick {
    points: Option<Vec<Point>>,
    repeat: Option<u32>,
    total: Option<u64>,
    duration: Option<Duration>,
    warmup: Option<Duration>,
}

/// More places than this are no curve.
const POINTS_MAX: usize = 200;
const CONNECTIONS_MAX: u64 = 1_000_000;
const REPEATS_MAX: u64 = 1_000;

impl Experiment {
    /// Reads an experiment's file; `name` is how messages call it.
    pub fn read(path: &Path, shown: &str) -> Result<Experiment, Misread> {
        let page = Page::read(path, shown)?;
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        Experiment::parse(name, page)
    }

    /// Reads an experiment's text.
    pub fn parse(name: &str, page: Page) -> Result<Experiment, Misread> {
        let file: File = page.parse()?;
        let reader = Reader { page: &page };
        let (shape, points) = reader.shape(&file.load)?;
        let keys = file.load.get_ref();
        let total = keys.total.as_ref().map(|total| reader.positive(total)).transpose()?;
        let duration = keys.duration.as_ref().map(|text| reader.time(text)).transpose()?;
        if total.is_none() && duration.is_none() {
            let says = "a load that never ends; give it a `total` or a `duration`";
            return Err(page.wrong(Some(file.load.span()), says));
        }
        let warmup = match &keys.warmup {
            Some(text) => reader.time_or_none(text)?,
            None => Duration::from_secs(2),
        };
        let timeout = match &keys.timeout {
            Some(text) => reader.time(text)?,
            None => Duration::from_secs(5),
        };
        let quick = reader.quick(&file.quick, &shape)?;
        let (repeat, pause) = reader.trials(&file.trials)?;
        Ok(Experiment {
            name: name.into(),
            question: file.question,
            article: file.article,
            subjects: reader.subjects(&file.subjects)?,
            workloads: reader.names(&file.workload)?,
            shape,
            points,
            total,
            duration,
            warmup,
            timeout,
            keep_alive: keys.keep_alive.unwrap_or(true),
            conditions: reader.conditions(&file.conditions)?,
            repeat,
            seed: file.trials.seed.unwrap_or(1),
            pause,
            history: file.history.map(|text| reader.history(&text)).transpose()?,
            is_quick: false,
            quick,
            page,
        })
    }

    /// The same with less of everything: what the file says under `[quick]`; else one round, at most 2 s or a
    /// tenth of the requests a trial, and half a second of warm-up.
    #[must_use]
    pub fn quickened(self) -> Experiment {
        let quick = self.quick.clone();
        let shorter = |time: Duration, limit| time.min(Duration::from_millis(limit));
        Experiment {
            is_quick: true,
            points: quick.points.unwrap_or(self.points),
            repeat: quick.repeat.unwrap_or(1),
            total: self.total.map(|total| quick.total.unwrap_or((total / 10).max(1))),
            duration: self.duration.map(|time| quick.duration.unwrap_or(shorter(time, 2_000))),
            warmup: quick.warmup.unwrap_or(shorter(self.warmup, 500)),
            ..self
        }
    }

    /// The load at a place of the axis.
    #[must_use]
    pub fn load(&self, point: Point) -> Load {
        let constant = |rate: f64| Arrivals::Constant(as_rate(rate).expect("points were checked"));
        match (self.shape, point) {
            (Shape::Sessions { calls, max_connections }, point) => {
                Load::Sessions { arrivals: constant(point.value()), calls, max_connections }
            }
            (Shape::Open { poisson, connections, max_connections }, point) => {
                let rate = as_rate(point.value()).expect("points were checked");
                let arrivals =
                    if poisson { Arrivals::Poisson(rate) } else { Arrivals::Constant(rate) };
                Load::Open { arrivals, connections, max_connections }
            }
            (Shape::Closed, point) => Load::Closed { connections: point.value() as usize },
        }
    }

    /// About how long a trial's load will take, warm-up and measurement.
    #[must_use]
    pub fn load_time(&self, point: Point) -> Duration {
        /// What a server is taken for when nobody knows: requests a second.
        const GUESS: f64 = 10_000.0;
        let rate = match point {
            Point::Connections(_) => GUESS,
            Point::Requests(rate) | Point::Sessions(rate) => rate,
        };
        let by_total = self.total.map(|total| Duration::from_secs_f64(total as f64 / rate));
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

/// Reads parts of one page.
struct Reader<'p> {
    page: &'p Page,
}

impl Reader<'_> {
    fn wrong<T>(&self, at: &Spanned<T>, says: impl Into<String>) -> Misread {
        self.page.wrong(Some(at.span()), says)
    }

    fn time(&self, text: &Spanned<String>) -> Result<Duration, Misread> {
        amounts::time(text.get_ref()).map_err(|says| self.wrong(text, says))
    }

    fn time_or_none(&self, text: &Spanned<String>) -> Result<Duration, Misread> {
        amounts::time_or_none(text.get_ref()).map_err(|says| self.wrong(text, says))
    }

    fn positive(&self, number: &Spanned<u64>) -> Result<u64, Misread> {
        match *number.get_ref() {
            0 => Err(self.wrong(number, "it must be at least 1")),
            number => Ok(number),
        }
    }

    fn upto(&self, number: &Spanned<u64>, most: u64) -> Result<u64, Misread> {
        match self.positive(number)? {
            number if number <= most => Ok(number),
            _ => Err(self.wrong(number, format!("{most} is the most"))),
        }
    }

    fn names(&self, list: &Spanned<OneOrMany>) -> Result<Vec<String>, Misread> {
        let names = match list.get_ref() {
            OneOrMany::One(name) => vec![name.clone()],
            OneOrMany::Many(names) => names.clone(),
        };
        if let Some(odd) = names.iter().find(|name| !is_file_name(name)) {
            let says = format!("`{}` is no name; names are of a-z, 0-9 and -", odd.escape_debug());
            return Err(self.wrong(list, says));
        }
        if names.is_empty() {
            return Err(self.wrong(list, "an empty list; name at least one"));
        }
        match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            Some(at) => Err(self.wrong(list, format!("`{}` stands here twice", names[at]))),
            None => Ok(names),
        }
    }

    fn subjects(&self, list: &Spanned<OneOrMany>) -> Result<Subjects, Misread> {
        match list.get_ref() {
            OneOrMany::One(all) if all == "all" => Ok(Subjects::All),
            OneOrMany::One(_) | OneOrMany::Many(_) => Ok(Subjects::Named(self.names(list)?)),
        }
    }

    fn shape(&self, keys: &Spanned<LoadKeys>) -> Result<(Shape, Vec<Point>), Misread> {
        let load = keys.get_ref();
        let (shape, places) = match (&load.closed, &load.open, &load.sessions) {
            (Some(closed), None, None) => (Shape::Closed, &closed.get_ref().connections),
            (None, Some(open), None) => {
                let open = open.get_ref();
                let connections = self.connections(open.connections.as_ref(), 10)?;
                let max_connections = self.connections(open.max_connections.as_ref(), 1_000)?;
                if max_connections < connections {
                    let at = open.max_connections.as_ref().or(open.connections.as_ref());
                    let says = "the pool's most is less than what it starts with";
                    return Err(self.page.wrong(at.map(Spanned::span), says));
                }
                let poisson = open.arrivals == Gaps::Poisson;
                (Shape::Open { poisson, connections, max_connections }, &open.rate)
            }
            (None, None, Some(sessions)) => {
                let sessions = sessions.get_ref();
                let calls = self.upto(&sessions.calls, 1_000_000)? as u32;
                let max_connections =
                    self.connections(sessions.max_connections.as_ref(), 10_000)?;
                (Shape::Sessions { calls, max_connections }, &sessions.rate)
            }
            _ => return Err(self.wrong(keys, "name one of `closed`, `open` and `sessions`")),
        };
        let points = self.points(places, &shape)?;
        Ok((shape, points))
    }

    fn connections(&self, number: Option<&Spanned<u64>>, usual: usize) -> Result<usize, Misread> {
        let upto = |number| Ok(self.upto(number, CONNECTIONS_MAX)? as usize);
        number.map_or(Ok(usual), upto)
    }

    fn points(&self, places: &Spanned<Places>, shape: &Shape) -> Result<Vec<Point>, Misread> {
        let values = match places.get_ref().clone() {
            Places::One(value) => vec![value],
            Places::Many(values) => values,
            Places::Span { from, to, step } if 0.0 < step && from <= to && to.is_finite() => {
                let steps = ((to - from) / step + 1e-9).floor();
                if POINTS_MAX as f64 <= steps {
                    return Err(self.wrong(places, format!("more than {POINTS_MAX} points")));
                }
                (0..=steps as usize).map(|step_no| from + step_no as f64 * step).collect()
            }
            Places::Span { .. } => {
                return Err(self.wrong(places, "`from` must not be above `to`, and `step` above 0"));
            }
        };
        if values.is_empty() || POINTS_MAX < values.len() {
            return Err(
                self.wrong(places, format!("between 1 and {POINTS_MAX} points can be pressed"))
            );
        }
        values.into_iter().map(|value| self.point(places, shape, value)).collect()
    }

    fn point(&self, at: &Spanned<Places>, shape: &Shape, value: f64) -> Result<Point, Misread> {
        let is_rate = as_rate(value).is_some();
        match shape {
            Shape::Closed
                if value.fract() == 0.0 && (1.0..=CONNECTIONS_MAX as f64).contains(&value) =>
            {
                Ok(Point::Connections(value as u32))
            }
            Shape::Closed => {
                Err(self
                    .wrong(at, format!("{value} connections; a whole number from 1 to 1,000,000")))
            }
            Shape::Open { .. } if is_rate => Ok(Point::Requests(value)),
            Shape::Sessions { .. } if is_rate => Ok(Point::Sessions(value)),
            Shape::Open { .. } | Shape::Sessions { .. } => {
                Err(self
                    .wrong(at, format!("{value} is no rate; from 0.001 to 100,000,000 a second")))
            }
        }
    }

    fn conditions(&self, keys: &ConditionKeys) -> Result<Wanted, Misread> {
        let cpus = |text: &Option<Spanned<String>>| match text {
            None => Ok(None),
            Some(text) => {
                amounts::cpus(text.get_ref()).map(Some).map_err(|says| self.wrong(text, says))
            }
        };
        let memory = match &keys.memory {
            None => None,
            Some(text) => {
                Some(amounts::bytes(text.get_ref()).map_err(|says| self.wrong(text, says))?)
            }
        };
        Ok(Wanted {
            subject_cpus: cpus(&keys.subject_cpus)?,
            load_cpus: cpus(&keys.load_cpus)?,
            memory,
            files: keys.files.as_ref().map(|files| self.upto(files, 1 << 30)).transpose()?,
            isolate: keys.isolate,
        })
    }

    fn trials(&self, keys: &TrialKeys) -> Result<(u32, Duration), Misread> {
        let repeat = match &keys.repeat {
            None => 3,
            Some(repeat) => self.upto(repeat, REPEATS_MAX)? as u32,
        };
        let pause = match &keys.pause {
            None => Duration::from_millis(500),
            Some(text) => self.time_or_none(text)?,
        };
        Ok((repeat, pause))
    }

    fn quick(&self, keys: &QuickKeys, shape: &Shape) -> Result<Quick, Misread> {
        Ok(Quick {
            points: keys.points.as_ref().map(|points| self.points(points, shape)).transpose()?,
            repeat: match &keys.repeat {
                None => None,
                Some(repeat) => Some(self.upto(repeat, REPEATS_MAX)? as u32),
            },
            total: keys.total.as_ref().map(|total| self.positive(total)).transpose()?,
            duration: keys.duration.as_ref().map(|text| self.time(text)).transpose()?,
            warmup: keys.warmup.as_ref().map(|text| self.time_or_none(text)).transpose()?,
        })
    }

    fn history(&self, text: &Spanned<String>) -> Result<String, Misread> {
        let stem = text.get_ref().strip_suffix(".csv").filter(|stem| is_file_name(stem));
        match stem {
            Some(_) => Ok(text.get_ref().clone()),
            None => {
                Err(self.wrong(text, "name a file in experiments/history/, as in \"name.csv\""))
            }
        }
    }
}

#[cfg(test)]
mod tests;
