//! An experiment's file: its keys, how they are written, and the lines on which they stand.

mod aims;
mod manners;
mod places;
mod quick;
mod search;

use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use self::aims::{PromiseKeys, TrialKeys};
use self::manners::Counts;
use self::quick::QuickKeys;
use self::search::SearchKeys;
use super::change::manners;
use super::check::CONNECTIONS_MAX;
use super::{
    Changed, Experiment, Holds, Key, Point, Profiling, Required, Shape, Subjects, Until, Wanted,
};
use crate::amounts;
use crate::figure::Figure;
use crate::hold::usual_per_second;
use crate::schedule::Schedule;
use crate::search_goal::{self, SearchGoal};
use crate::source_file::{ConfigError, SourceFile};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    question: String,
    article: Option<String>,
    subjects: Spanned<OneOrMany>,
    workload: Spanned<OneOrMany>,
    load: Spanned<LoadKeys>,
    #[serde(default)]
    conditions: Wanted,
    #[serde(default)]
    trials: TrialKeys,
    #[serde(default)]
    promise: PromiseKeys,
    search: Option<Spanned<SearchKeys>>,
    require: Option<Spanned<Required>>,
    #[serde(default)]
    quick: QuickKeys,
    history: Option<Spanned<String>>,
    why: Option<Spanned<Profiling>>,
    #[serde(default)]
    columns: Vec<Spanned<String>>,
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

/// Reads an experiment's text.
pub(super) fn experiment(name: &str, source: SourceFile) -> Result<Experiment, ConfigError> {
    let file: File = source.parse()?;
    let reader = Reader { source: &source };
    reader.refuse_beside_search(&file)?;
    let timeout = match &file.load.get_ref().timeout {
        Some(text) => reader.time(text)?,
        None => Duration::from_secs(5),
    };
    let sought = reader.sought(&file, timeout)?;
    let (shape, points) = reader.shape(&file.load, sought.as_ref())?;
    let keys = file.load.get_ref();
    let course = reader.course(keys)?;
    let total = keys.total.as_ref().map(|total| reader.positive(total)).transpose()?;
    let duration = keys.duration.as_ref().map(|text| reader.time(text)).transpose()?;
    let duration = duration.or(course.as_ref().and_then(Schedule::length));
    let duration = sought.as_ref().map(|_| search::ABOUT).or(duration);
    let warmup = match &keys.warmup {
        Some(text) => reader.time_or_none(text)?,
        None if matches!(shape, Shape::Held(_)) || course.is_some() => Duration::ZERO,
        None => reader.usual_warmup(sought.as_ref())?,
    };
    let until = file.trials.until.as_ref().map(|text| reader.until(text, &file.trials));
    let until = until.transpose()?;
    reader.refuse_idle_bounds(&file.trials)?;
    let stated = file.trials.repeat.as_ref().map(|rounds| saturating(*rounds.get_ref()));
    let repeat = Until::rounds(until.as_ref(), stated);
    let experiment = Experiment {
        name: name.into(),
        question: file.question.clone(),
        article: file.article.clone(),
        subjects: subjects(file.subjects.get_ref()),
        workloads: file.workload.get_ref().all(),
        shape,
        points,
        course,
        total,
        duration,
        warmup,
        timeout,
        keep_alive: keys.keep_alive.unwrap_or(true),
        vary: false,
        why: file.why.as_ref().map(|why| *why.get_ref()),
        // One setting for all servers, of which none is polled for because it answers soon: each answer that wakes a
        // sleeping lane costs its server some microseconds.
        spin: keys.spin.unwrap_or(load::Spin::Due),
        manners: reader.manners(keys)?,
        conditions: file.conditions.clone(),
        repeat: if sought.is_some() { 1 } else { repeat },
        until,
        pairs: file.trials.pairs.as_ref().map(|pairs| pairs.get_ref().clone()),
        promise: match &sought {
            Some(sought) => sought.promised(),
            None => reader.promise(&file.promise)?,
        },
        sought,
        has_ceiling: file.trials.ceiling.unwrap_or(true),
        has_check: file.trials.has_check(),
        require: reader.require(file.require.as_ref(), &file.trials)?,
        seed: file.trials.seed.unwrap_or(1),
        pause: reader.pause(&file.trials)?,
        slices: file.trials.slices.as_ref().map(|text| reader.time(text)).transpose()?,
        history: file.history.as_ref().map(|name| name.get_ref().clone()),
        columns: file.columns.iter().map(|name| reader.column(name)).collect::<Result<_, _>>()?,
        is_quick: false,
        changed: Changed::default(),
        quick: reader.quick(&file.quick, &shape)?,
        source: SourceFile::default(),
    };
    let checked = experiment.checked();
    let checked = checked.map_err(|flaw| source.wrong(file.span(flaw.key), flaw.says))?;
    reader.refuse_length_of_steps(checked.course.as_ref(), keys)?;
    Ok(Experiment { source, ..checked })
}

/// Of a number that is too large for anything, what is refused as such.
fn saturating(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl OneOrMany {
    fn all(&self) -> Vec<String> {
        match self {
            OneOrMany::One(name) => vec![name.clone()],
            OneOrMany::Many(names) => names.clone(),
        }
    }
}

fn subjects(list: &OneOrMany) -> Subjects {
    match list {
        OneOrMany::One(all) if all == "all" => Subjects::All,
        OneOrMany::One(_) | OneOrMany::Many(_) => Subjects::Named(list.all()),
    }
}

fn place_of<T>(key: Option<&Spanned<T>>) -> Option<Range<usize>> {
    key.map(Spanned::span)
}

impl File {
    /// Where a value stands; the load's own place for what is not said.
    fn span(&self, key: Key) -> Option<Range<usize>> {
        let (load, trials) = (self.load.get_ref(), &self.trials);
        let open = load.open.as_ref().map(Spanned::get_ref);
        let found = match key {
            Key::Subjects => Some(self.subjects.span()),
            Key::Workload => Some(self.workload.span()),
            Key::Points => place_of(load.points()),
            Key::MaxConnections => place_of(
                open.and_then(|open| open.max_connections.as_ref().or(open.connections.as_ref())),
            ),
            Key::Total => place_of(load.total.as_ref()),
            Key::Duration => place_of(load.duration.as_ref()),
            Key::Warmup => place_of(load.warmup.as_ref()),
            Key::Protocol => place_of(load.protocol.as_ref()),
            Key::Streams => place_of(load.streams.as_ref()),
            Key::Repeat => place_of(trials.repeat.as_ref()),
            Key::RepeatMax => place_of(trials.repeat_max.as_ref()),
            Key::Until => place_of(trials.until.as_ref()),
            Key::Slices => place_of(trials.slices.as_ref()),
            Key::Pairs => place_of(trials.pairs.as_ref()),
            Key::Failures => place_of(self.promise.failures.as_ref()),
            Key::History => place_of(self.history.as_ref()),
            Key::Quick => {
                place_of(self.quick.points.as_ref()).or(place_of(self.quick.total.as_ref()))
            }
            Key::Why => place_of(self.why.as_ref()),
            Key::Load => None,
        };
        found.or(Some(self.load.span()))
    }
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

    fn usual_warmup(&self, sought: Option<&SearchGoal>) -> Result<Duration, ConfigError> {
        match sought {
            None => Ok(Duration::from_secs(2)),
            Some(_) => {
                amounts::time(search_goal::WARMUP).map_err(|says| self.source.wrong(None, says))
            }
        }
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
            _ => Err(self.wrong(number, format!("at most {most}"))),
        }
    }

    fn shape(
        &self,
        keys: &Spanned<LoadKeys>,
        sought: Option<&SearchGoal>,
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
            is_rate_stated: held.rate.is_some(),
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
        holds.check(most).map_err(|flaw| self.wrong(&held.every, flaw.says))?;
        Ok((Shape::Held(holds), points))
    }

    fn connections(&self, at: Option<&Spanned<u64>>, usual: usize) -> Result<usize, ConfigError> {
        let upto = |number| Ok(self.upto(number, CONNECTIONS_MAX)? as usize);
        at.map_or(Ok(usual), upto)
    }

    fn column(&self, name: &Spanned<String>) -> Result<Figure, ConfigError> {
        Figure::named(name.get_ref()).map_err(|says| self.wrong(name, says))
    }
}
