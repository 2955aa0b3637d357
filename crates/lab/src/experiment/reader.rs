//! The experiment's keys, and how they are read: no code after this file checks a number again.

mod aims;
mod changed;
mod manners;
mod pairs;
mod places;
mod quick;
mod searched;

use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use self::aims::{PromiseKeys, RequireKeys, TrialKeys};
use self::changed::ChangedKeys;
use self::manners::Counts;
use self::quick::QuickKeys;
use self::searched::SearchKeys;
use super::{Experiment, Holds, Point, Shape, Subjects, Wanted};
use crate::amounts;
use crate::figure::Figure;
use crate::hold::usual_per_second;
use crate::schedule::Schedule;
use crate::sought::{self, Sought};
use crate::source_file::{ConfigError, SourceFile};
use crate::subject::is_file_name;

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
    promise: PromiseKeys,
    search: Option<Spanned<SearchKeys>>,
    require: Option<Spanned<RequireKeys>>,
    #[serde(default)]
    quick: QuickKeys,
    history: Option<Spanned<String>>,
    #[serde(default)]
    columns: Vec<Spanned<String>>,
    changed: Option<ChangedKeys>,
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
    held: Option<Spanned<HeldKeys>>,
    total: Option<Spanned<u64>>,
    duration: Option<Spanned<String>>,
    warmup: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
    keep_alive: Option<bool>,
    spin: Option<load::Spin>,
    protocol: Option<Spanned<OneOrMany>>,
    streams: Option<Spanned<Counts>>,
    tls_resume: Option<Spanned<Counts>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClosedKeys {
    connections: Spanned<Points>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenKeys {
    rate: Spanned<Points>,
    arrivals: Option<Gaps>,
    connections: Option<Spanned<u64>>,
    max_connections: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionKeys {
    rate: Spanned<Points>,
    calls: Spanned<u64>,
    max_connections: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldKeys {
    connections: Spanned<Points>,
    step: Option<Spanned<u64>>,
    every: Spanned<String>,
    rate: Option<Spanned<u64>>,
    settle: Option<Spanned<String>>,
    beat: Option<Spanned<String>>,
    silence: Option<Spanned<String>>,
    reopen: Option<bool>,
    drain: Option<Spanned<String>>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Gaps {
    Constant,
    Poisson,
}

/// Where on the axis: a number, a list, or from, to and step; of a rate also a ramp or steps as `--rate` has them, or
/// `search`.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a number, a list of numbers, or { from, to, step }")]
enum Points {
    One(f64),
    Course(String),
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

/// A curve has no more places than this.
const POINTS_MAX: usize = 200;
const CONNECTIONS_MAX: u64 = 1_000_000;
const REPEATS_MAX: u64 = 1_000;

/// Reads an experiment's text.
pub(super) fn experiment(name: &str, source: SourceFile) -> Result<Experiment, ConfigError> {
    let mut file: File = source.parse()?;
    let reader = Reader { source: &source };
    let changed = reader.change(&mut file)?;
    reader.refuse_beside_search(&file)?;
    let timeout = match &file.load.get_ref().timeout {
        Some(text) => reader.time(text)?,
        None => Duration::from_secs(5),
    };
    let sought = reader.sought(&file, timeout)?;
    let (shape, points) = reader.shape(&file.load, sought.as_ref())?;
    let keys = file.load.get_ref();
    let course = reader.course(keys, &file.quick)?;
    let total = keys.total.as_ref().map(|total| reader.positive(total)).transpose()?;
    let duration = keys.duration.as_ref().map(|text| reader.time(text)).transpose()?;
    let duration = duration.or(course.as_ref().and_then(Schedule::length));
    if let (Shape::Held(_), Some(span)) = (
        shape,
        keys.total.as_ref().map(Spanned::span).or(keys.duration.as_ref().map(Spanned::span)),
    ) {
        let says =
            "held connections end after their last step; say `every`, not `total` or `duration`";
        return Err(source.wrong(Some(span), says));
    }
    let duration = sought.as_ref().map(|_| searched::ABOUT).or(duration);
    if total.is_none() && duration.is_none() && !matches!(shape, Shape::Held(_)) {
        let says = "a load that never ends; give it a `total` or a `duration`";
        return Err(source.wrong(Some(file.load.span()), says));
    }
    let warmup = match &keys.warmup {
        Some(text) => reader.time_or_none(text)?,
        None if matches!(shape, Shape::Held(_)) || course.is_some() => Duration::ZERO,
        None if sought.is_some() => {
            amounts::time(sought::WARMUP).map_err(|says| source.wrong(None, says))?
        }
        None => Duration::from_secs(2),
    };
    let quick = reader.quick(&file.quick, &shape)?;
    let rounds = reader.rounds(&file.trials)?;
    let slices = reader.slices(&file.trials, &shape, keys)?;
    let pairs = file.trials.pairs.as_ref();
    let pairs = pairs.map(|keys| reader.pairs(keys, &file.subjects));
    Ok(Experiment {
        name: name.into(),
        question: file.question,
        article: file.article,
        subjects: reader.subjects(&file.subjects)?,
        workloads: reader.names(&file.workload)?,
        shape,
        points,
        course,
        total,
        duration,
        warmup,
        timeout,
        keep_alive: keys.keep_alive.unwrap_or(true),
        // One setting for all servers, of which none is polled for because it answers soon: each answer that wakes a
        // sleeping lane costs its server some microseconds.
        spin: keys.spin.unwrap_or(load::Spin::Due),
        manners: reader.manners(keys, &shape)?,
        conditions: reader.conditions(&file.conditions)?,
        repeat: if sought.is_some() { 1 } else { rounds.repeat },
        until: rounds.until,
        pairs: pairs.transpose()?,
        promise: match &sought {
            Some(sought) => sought.promised(),
            None => reader.promise(&file.promise)?,
        },
        sought,
        has_ceiling: file.trials.ceiling.unwrap_or(true),
        has_check: file.trials.has_check(),
        require: reader.require(file.require.as_ref(), &file.trials)?,
        seed: file.trials.seed.unwrap_or(1),
        pause: rounds.pause,
        slices,
        history: file.history.map(|text| reader.history(&text)).transpose()?,
        columns: file.columns.iter().map(|name| reader.column(name)).collect::<Result<_, _>>()?,
        is_quick: false,
        changed,
        quick,
        source,
    })
}

/// Reads parts of one page.
struct Reader<'p> {
    source: &'p SourceFile,
}

impl Reader<'_> {
    fn wrong<T>(&self, at: &Spanned<T>, says: impl Into<String>) -> ConfigError {
        self.source.wrong(Some(at.span()), says)
    }

    fn time(&self, text: &Spanned<String>) -> Result<Duration, ConfigError> {
        amounts::time(text.get_ref()).map_err(|says| self.wrong(text, says))
    }

    fn time_or_none(&self, text: &Spanned<String>) -> Result<Duration, ConfigError> {
        amounts::time_or_none(text.get_ref()).map_err(|says| self.wrong(text, says))
    }

    fn positive(&self, number: &Spanned<u64>) -> Result<u64, ConfigError> {
        match *number.get_ref() {
            0 => Err(self.wrong(number, "it must be at least 1")),
            number => Ok(number),
        }
    }

    fn upto(&self, number: &Spanned<u64>, most: u64) -> Result<u64, ConfigError> {
        match self.positive(number)? {
            number if number <= most => Ok(number),
            _ => Err(self.wrong(number, format!("{most} is the most"))),
        }
    }

    fn names(&self, list: &Spanned<OneOrMany>) -> Result<Vec<String>, ConfigError> {
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

    fn subjects(&self, list: &Spanned<OneOrMany>) -> Result<Subjects, ConfigError> {
        match list.get_ref() {
            OneOrMany::One(all) if all == "all" => Ok(Subjects::All),
            OneOrMany::One(_) | OneOrMany::Many(_) => Ok(Subjects::Named(self.names(list)?)),
        }
    }

    fn shape(
        &self,
        keys: &Spanned<LoadKeys>,
        sought: Option<&Sought>,
    ) -> Result<(Shape, Vec<Point>), ConfigError> {
        let load = keys.get_ref();
        if let Some(held) = &load.held {
            return self.held(keys, held.get_ref());
        }
        let (shape, places) = match (&load.closed, &load.open, &load.sessions) {
            (Some(closed), None, None) => (Shape::Closed, &closed.get_ref().connections),
            (None, Some(open), None) => {
                let open = open.get_ref();
                let connections = self.connections(open.connections.as_ref(), 10)?;
                let max_connections = self.connections(open.max_connections.as_ref(), 1_000)?;
                if max_connections < connections {
                    let at = open.max_connections.as_ref().or(open.connections.as_ref());
                    let says = "the pool's most is less than what it starts with";
                    return Err(self.source.wrong(at.map(Spanned::span), says));
                }
                // The requests of a search arrive at random, unless its file says otherwise.
                let poisson = match &open.arrivals {
                    Some(gaps) => *gaps == Gaps::Poisson,
                    None => sought.is_some(),
                };
                (Shape::Open { poisson, connections, max_connections }, &open.rate)
            }
            (None, None, Some(sessions)) => {
                let sessions = sessions.get_ref();
                let calls = self.upto(&sessions.calls, 1_000_000)? as u32;
                let max_connections =
                    self.connections(sessions.max_connections.as_ref(), 10_000)?;
                (Shape::Sessions { calls, max_connections }, &sessions.rate)
            }
            _ => {
                return Err(self.wrong(keys, "name one of `closed`, `open`, `sessions` and `held`"));
            }
        };
        let points = match sought {
            Some(sought) => vec![Point::Requests(sought.least)],
            None => self.points(places, &shape)?,
        };
        Ok((shape, points))
    }

    /// Connections that are kept open: the steps must leave time to measure.
    fn held(
        &self,
        keys: &Spanned<LoadKeys>,
        held: &HeldKeys,
    ) -> Result<(Shape, Vec<Point>), ConfigError> {
        let load = keys.get_ref();
        if load.closed.is_some() || load.open.is_some() || load.sessions.is_some() {
            return Err(self.wrong(keys, "`held` stands alone"));
        }
        let every = self.time(&held.every)?;
        let time = |text: &Option<Spanned<String>>, usual| match text {
            Some(text) => self.time_or_none(text),
            None => Ok(usual),
        };
        let beat = held.beat.as_ref().map(|text| self.time(text)).transpose()?;
        let usual_silence = beat.map_or(Duration::from_secs(5), |beat| beat * 3);
        let mut holds = Holds {
            step: self.connections(held.step.as_ref(), usize::MAX)?,
            every,
            per_second: 0,
            settle: time(&held.settle, Duration::from_secs(2))?,
            beat,
            silence: time(&held.silence, usual_silence)?,
            reopen: held.reopen.unwrap_or(true),
            drain: time(&held.drain, Duration::from_secs(5))?,
        };
        let points = self.points(&held.connections, &Shape::Held(holds))?;
        let most = points.iter().map(|point| point.value() as usize).max().unwrap_or(1);
        let step = holds.step.min(most);
        holds.per_second = match &held.rate {
            Some(rate) => self.upto(rate, 1_000_000)? as u32,
            None => usual_per_second(step, every),
        };
        let boot =
            Duration::from_secs_f64(step as f64 / f64::from(holds.per_second)) + holds.settle;
        if every <= boot {
            let says = format!(
                "a step of {step} takes {:.1} s to begin and to settle, which leaves no time to measure",
                boot.as_secs_f64()
            );
            return Err(self.wrong(&held.every, says));
        }
        Ok((Shape::Held(holds), points))
    }

    fn connections(&self, at: Option<&Spanned<u64>>, usual: usize) -> Result<usize, ConfigError> {
        let upto = |number| Ok(self.upto(number, CONNECTIONS_MAX)? as usize);
        at.map_or(Ok(usual), upto)
    }

    fn conditions(&self, keys: &ConditionKeys) -> Result<Wanted, ConfigError> {
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

    fn column(&self, name: &Spanned<String>) -> Result<Figure, ConfigError> {
        Figure::named(name.get_ref()).map_err(|says| self.wrong(name, says))
    }

    fn history(&self, text: &Spanned<String>) -> Result<String, ConfigError> {
        let stem = text.get_ref().strip_suffix(".csv").filter(|stem| is_file_name(stem));
        match stem {
            Some(_) => Ok(text.get_ref().clone()),
            None => {
                Err(self.wrong(text, "name a file in experiments/history/, as in \"name.csv\""))
            }
        }
    }
}
