//! The JSON of loads, read back from a file that may hold anything: figures and verdicts, to be compared.

use std::collections::BTreeMap;

use analysis::{Board, Faults, Number, StatedLoad, Tolerated, Verdict};
use lab::experiment::Point;
use lab::figure::Figure;
use lab::plain_words;
use lab::record::{Entry, Fact, REQUEST, RunRecord};
use load::{Cut, Failure, SECOND, Sessions, Tally};
use serde::Deserialize;

use super::terms::{self, Offered, Streams};
use super::{json, repeat};
use crate::Findings;
use crate::json::FigureValue;

/// The loads of one file.
pub struct LoadsFile {
    run: RunRecord,
    name: String,
    order: String,
    point: Point,
    loads: Vec<StatedLoad>,
    tolerated: Tolerated,
}
/// All loads of files are one workload.
const WORKLOAD: &str = "load";

#[derive(Deserialize)]
struct Schema {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Many {
    loads: Vec<One>,
}

/// More requests than any load has: several loads' counts can be added.
const COUNTED_MOST: u64 = 1 << 48;

/// The name of the fact that says whether dyno polled while it waited.
pub(crate) const POLLING: &str = "polling";

#[derive(Deserialize)]
struct One {
    began_unix_ms: i64,
    verdict: Judged,
    order: Ordered,
    figures: BTreeMap<String, FigureValue>,
    books: Books,
    sessions: SessionBooks,
}

#[derive(Deserialize)]
struct Judged {
    word: Option<String>,
    doubts: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct Ordered {
    method: Option<String>,
    request_file: Option<RequestFile>,
    url: String,
    in_words: String,
    expects: String,
    load: Loaded,
    warmup_s: f64,
    timeout_s: f64,
    on_time_within_s: f64,
    max_failures_percent: f64,
    keep_alive: bool,
    lenient: bool,
    lanes: u64,
    spin: String,
    tls: Option<Offered>,
    http2: Option<Streams>,
    spread: String,
}

/// Its name is its owner's: two files are alike if their content is.
#[derive(Deserialize)]
struct RequestFile {
    sha256: String,
    requests: u64,
    order: String,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Loaded {
    Closed { connections: u32 },
    Open { arrivals: Arrivals },
    Sessions { arrivals: Arrivals },
}

/// The highest rate, whatever the law; of listed times, the mean one.
#[derive(Deserialize)]
struct Arrivals {
    per_s: Option<f64>,
    from_per_s: Option<f64>,
    to_per_s: Option<f64>,
    #[serde(default)]
    steps: Vec<Step>,
    times: Option<u64>,
    length_s: Option<f64>,
}

#[derive(Deserialize)]
struct Step {
    per_s: f64,
}

#[derive(Deserialize)]
struct Books {
    attempted: u64,
    by_class: BTreeMap<String, u64>,
}

/// Of a load without sessions, zeros.
#[derive(Deserialize)]
struct SessionBooks {
    attempted: u64,
    cut: u64,
    cut_calls_min: u32,
    cut_calls_max: u32,
}

impl LoadsFile {
    /// Reads the text of the file with this name, or says why it is none.
    pub fn read(name: &str, text: &str) -> Result<LoadsFile, String> {
        let wrong = |error: serde_json::Error| {
            let says = plain_words::of_json(&error);
            format!("it is no JSON of `dyno load`: line {}, {says}", error.line())
        };
        let Schema { schema } = serde_json::from_str(text).map_err(wrong)?;
        let loads = match schema.as_deref() {
            Some(json::SCHEMA) => vec![serde_json::from_str(text).map_err(wrong)?],
            Some(repeat::SCHEMA) => serde_json::from_str::<Many>(text).map_err(wrong)?.loads,
            Some(other) => {
                return Err(format!(
                    "its schema is `{}`, and only {} and {} are compared as files: `dyno load --json` writes them; runs \
                     are compared by their numbers in a store",
                    other.escape_debug(),
                    json::SCHEMA,
                    repeat::SCHEMA
                ));
            }
            None => {
                return Err("it has no `schema`: name a file that `dyno load --json` wrote".into());
            }
        };
        let Some(first) = loads.first() else { return Err("there is no load in it".into()) };
        let facts = first.order.facts();
        if loads.iter().any(|load| load.order.facts() != facts) {
            return Err("its loads are not of one kind".into());
        }
        let order = first.order.in_words.clone();
        let began_unix_ms = first.began_unix_ms;
        let run = RunRecord {
            name: WORKLOAD.into(),
            began_unix_ms,
            facts,
            entries: vec![Entry { name: name.into(), title: name.into(), ..Entry::default() }],
            ..RunRecord::default()
        };
        let point = first.order.load.point().ok_or("its load has no rate and no connections")?;
        let failed_percent = first.order.max_failures_percent;
        let tolerated = Tolerated { failed_percent, ..Tolerated::default() };
        let loads = loads.into_iter().map(One::stated).collect::<Result<_, _>>()?;
        Ok(LoadsFile { run, name: name.into(), order, point, loads, tolerated })
    }

    /// Both, as sides of a comparison. They stand in one row whatever their loads: how these differ is said beside it.
    pub fn findings<'t>(a: &'t LoadsFile, b: &'t LoadsFile) -> [Findings<'t>; 2] {
        [a, b].map(|file| {
            let names = [&*file.name, WORKLOAD];
            let board = Board::of_stated(names, a.point, &file.loads, file.tolerated);
            Findings::stated(&file.name, &file.run, board, file.order.clone())
        })
    }

    /// The name of its only subject.
    pub fn subject(&self) -> &str {
        &self.name
    }
}

impl Ordered {
    fn request(&self) -> String {
        match (&self.method, &self.request_file) {
            (_, Some(RequestFile { sha256, requests, order })) => format!(
                "{requests} of the file with SHA-256 {sha256}, {}, to {}",
                order.replace('_', " "),
                self.url
            ),
            (Some(method), None) => format!("{method} {}", self.url),
            (None, None) => self.url.clone(),
        }
    }

    /// Whatever two loads may have in common, or not.
    fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact { name: name.into(), value };
        let seconds = |seconds: f64| format!("{seconds} s");
        let yes = |is: bool| if is { "yes" } else { "no" }.to_string();
        let facts = [
            fact(REQUEST, self.request()),
            fact("load", self.in_words.clone()),
            fact("warm-up", seconds(self.warmup_s)),
            fact("time-out", seconds(self.timeout_s)),
            fact("on time within", seconds(self.on_time_within_s)),
            fact("connections kept", yes(self.keep_alive)),
            fact("lenient", yes(self.lenient)),
            fact("lanes", self.lanes.to_string()),
            fact(POLLING, self.spin.clone()),
            fact("expected of an answer", self.expects.clone()),
        ];
        let terms = terms::facts(self.http2.as_ref(), &self.spread, self.tls.as_ref());
        facts.into_iter().chain(terms).collect()
    }
}

impl Loaded {
    fn point(&self) -> Option<Point> {
        match self {
            Loaded::Closed { connections } => {
                (0 < *connections).then_some(Point::Connections(*connections))
            }
            Loaded::Open { arrivals } => arrivals.peak().map(Point::Requests),
            Loaded::Sessions { arrivals } => arrivals.peak().map(Point::Sessions),
        }
    }
}

impl Arrivals {
    fn peak(&self) -> Option<f64> {
        let rates = [self.per_s, self.from_per_s, self.to_per_s].into_iter().flatten();
        let listed = self.times.zip(self.length_s).map(|(times, length)| times as f64 / length);
        let all = rates.chain(self.steps.iter().map(|step| step.per_s)).chain(listed);
        all.filter(|rate| 0.0 < *rate && rate.is_finite()).reduce(f64::max)
    }
}

impl One {
    fn stated(self) -> Result<StatedLoad, String> {
        let word = self.verdict.word.as_deref();
        let all = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
        let verdict = all.into_iter().find(|verdict| Some(verdict.name()) == word);
        let faults = self.faults()?;
        let numbers = self.figures.into_iter();
        let numbers: Vec<(Figure, Number)> = numbers
            .filter_map(|(name, found)| Some((Figure::from_name(&name)?, found.into())))
            .collect();
        if let Some((figure, number)) = numbers.iter().find(|(_, number)| number.value < 0.0) {
            return Err(format!("{} is {}, and cannot be below 0", figure.name(), number.value));
        }
        Ok(StatedLoad {
            numbers,
            verdict: verdict.ok_or("its verdict is none of valid, suspect and invalid")?,
            doubts: self.verdict.doubts.into_iter().map(|doubt| doubt.id).collect(),
            faults,
        })
    }

    /// From the counts.
    fn faults(&self) -> Result<Faults, String> {
        let (Books { attempted, by_class, .. }, sessions) = (&self.books, &self.sessions);
        let mut total = Tally::new(SECOND);
        total.attempted = *attempted;
        for (name, times) in by_class {
            let failure = Failure::from_name(name)
                .ok_or_else(|| format!("it has failures of the unknown class `{name}`"))?;
            total.failed[failure.index()] = *times;
        }
        let SessionBooks { attempted: of, cut, cut_calls_min, cut_calls_max } = *sessions;
        let (calls_min, calls_max) = (cut_calls_min, cut_calls_max);
        let cut = Cut { sessions: cut, unreached: 0, calls_min, calls_max };
        total.sessions = Sessions { attempted: of, cut, ..Sessions::default() };
        let all = by_class.values().chain([&cut.sessions]).map(|times| u128::from(*times));
        if COUNTED_MOST < *attempted || COUNTED_MOST < of || u128::from(COUNTED_MOST) < all.sum() {
            return Err("it counts more requests than there can be".into());
        }
        Ok(Faults::of([&total]))
    }
}

#[cfg(test)]
mod tests;
