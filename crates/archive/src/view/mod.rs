//! The answers of `dyno view`: each time from the store, so that a run under way shows what is kept so far.

mod frame;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use analysis::Gate;
use host::{Request, Response, Status};
use lab::Refusal;
use report::markup::{Markup, markup};
use store::{RunId, RunSummary, Store};

use crate::kept::{alike, compared, differ, findings, has_words, kept, named, newest, unfinished};
use frame::framed;
use report::history::{History, Line, Trend, illustrated, kept_lines};
use report::index::{self, IndexRow};
use report::render::{Format, HTML, JSON, Screen, Shown, html};
use report::run::{Brief, Findings};

/// One store, looked at.
pub struct View {
    store: PathBuf,
    /// A page takes a CPU for a while: one at a time, so that many requests take no more than one. The holder of the
    /// lock has the known results of each run, by its number of kept trials.
    turn: Mutex<Known>,
}

/// A run that was deleted may have given its number to another one, which began at another time.
type Known = HashMap<(RunId, i64, u32), Analysed>;

/// What is known of a run.
#[derive(Clone)]
struct Analysed {
    brief: Brief,
    /// What a trend needs of it: as in a history.
    lines: Vec<Line>,
    /// A sentence for each trial that is damaged, and in no figure.
    damaged: Vec<String>,
}

/// A page takes no longer than this to analyse runs; the remaining ones are left for the next request.
const LOOKING: Duration = Duration::from_secs(2);
/// More runs than these are not listed at once.
const LISTED: usize = 300;
/// A trend shows no more runs than these, the newest.
const FOLLOWED: usize = 100;

impl View {
    pub fn new(store: PathBuf) -> View {
        View { store, turn: Mutex::default() }
    }

    pub fn answer(&self, question: &Request) -> Response {
        let mut known = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match question.path.as_str() {
            "/" => self.index(question.value("q").unwrap_or_default(), &mut known),
            "/style.css" => {
                let style = report::style() + include_str!("view.css");
                Ok(Response::of(Status::Ok, "text/css; charset=utf-8", style))
            }
            "/local-time.js" => {
                let script = include_str!("local_time.js");
                Ok(Response::of(Status::Ok, "text/javascript; charset=utf-8", script))
            }
            "/compare" => self.compared(question),
            path => match (path.strip_prefix("/run/"), path.strip_prefix("/trend/")) {
                (Some(run), _) => self.run(run, question.value("workload")),
                (None, Some(run)) => self.trend(run, &mut known),
                (None, None) => Ok(nothing("There is no such page.")),
            },
        };
        answer.unwrap_or_else(|refusal| message(Status::Failed, &refusal.to_string()))
    }

    fn open(&self) -> Result<Store, Refusal> {
        Store::open_to_read(&self.store).map_err(Refusal::from)
    }

    fn index(&self, search: &str, known: &mut Known) -> Result<Response, Refusal> {
        let store = self.open()?;
        let (runs, has_more) = newest(&store, LISTED, |run| has_words(run, search))?;
        let until = Instant::now() + LOOKING;
        let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.damage.is_none() && 0 < run.kept) {
            *alike.entry(&run.group).or_default() += 1;
        }
        let records: Vec<_> = runs.iter().map(|run| store.run(run.id).ok()).collect();
        let rows = runs.iter().zip(&records).map(|(run, record)| IndexRow {
            id: run.id.to_string(),
            group: &run.group,
            began_unix_ms: run.began_unix_ms,
            is_quick: run.is_quick,
            planned: run.planned,
            kept: run.kept,
            unfinished: unfinished(run),
            damage: run.damage.as_deref(),
            record: record.as_ref(),
            is_repeated: alike.get(run.group.as_str()).is_some_and(|runs| 1 < *runs),
            brief: self.analysed(&store, run, known, until).map(|found| found.brief),
        });
        let body = index::body(search, &rows.collect::<Vec<_>>(), has_more);
        Ok(framed(Status::Ok, "Runs", &body))
    }

    /// Analyses a run unless its result is known; None if it cannot be read, or time is up.
    fn analysed(
        &self,
        store: &Store,
        run: &RunSummary,
        known: &mut Known,
        until: Instant,
    ) -> Option<Analysed> {
        let key = (run.id, run.began_unix_ms, run.kept);
        if let Some(found) = known.get(&key) {
            return Some(found.clone());
        }
        if run.damage.is_some() || until < Instant::now() {
            return None;
        }
        let loaded = kept(store, run.id).ok()?;
        let found = findings(store, run.id, &loaded);
        let analysed = Analysed {
            brief: found.brief(),
            lines: kept_lines(&found),
            damaged: found.says_of_damage().map(|says| format!("run {}: {says}", run.id)).collect(),
        };
        // What it was with fewer trials is not needed any more.
        known.retain(|(id, ..), _| *id != run.id);
        known.insert(key, analysed.clone());
        Some(analysed)
    }

    /// All runs of the experiment of which this is one.
    fn trend(&self, asked: &str, known: &mut Known) -> Result<Response, Refusal> {
        let store = self.open()?;
        let Some(id) = known_run(&store, asked)? else {
            return Ok(nothing(&format!("There is no run {asked}.")));
        };
        let (runs, has_older) = alike(&store, id, FOLLOWED)?;
        let until = Instant::now() + LOOKING;
        let (mut ids, mut lines, mut damaged) = (Vec::new(), Vec::new(), Vec::new());
        for run in runs.iter().rev() {
            let Some(found) = self.analysed(&store, run, known, until) else { continue };
            ids.insert(0, run.id.to_string());
            lines.extend(found.lines);
            damaged.extend(found.damaged);
        }
        let name = runs.first().map_or("", |run| &run.name);
        let document = illustrated(&Trend::of(vec![name.into()], History::of(lines), ""));
        let body = index::trend(&document, &ids, &damaged, (runs.len() - ids.len(), has_older));
        Ok(framed(Status::Ok, &document.title, &body))
    }

    /// `7`, or `7.csv`; as a chart, that of a workload, or the first.
    fn run(&self, asked: &str, workload: Option<&str>) -> Result<Response, Refusal> {
        let digits = asked.bytes().take_while(u8::is_ascii_digit).count();
        let (number, ending) = asked.split_at(digits);
        let format = match ending.strip_prefix('.') {
            None => Some(&HTML).filter(|_| ending.is_empty()),
            Some(ending) => Format::of_ending(ending),
        };
        let store = self.open()?;
        let (Some(id), Some(format)) = (known_run(&store, number)?, format) else {
            return Ok(nothing(&format!("There is no run {asked}.")));
        };
        let loaded = kept(&store, id)?;
        shaped(&mut findings(&store, id, &loaded), format, workload)
    }

    /// Two sides, named as on the command line: a title, and the page's body.
    fn sides(&self, a: &str, b: &str) -> Result<(String, Markup), Refusal> {
        let (a, b) = (named(a)?, named(b)?);
        differ(&a, &b)?;
        let (document, title) = compared(&self.open()?, &a, &b, Gate::default(), |compared| {
            let document = compared.document();
            Ok((html::document(&document), document.title))
        })?;
        let links = [("A", &a), ("B", &b)].map(|(name, side)| {
            markup!(" <a href=\"/run/{0}\">{1}: run {0}</a>", side.run.to_string(), name)
        });
        let links: Markup = links.into_iter().collect();
        Ok((title, markup!("<p>{}</p>\n{}", links, document)))
    }

    fn compared(&self, question: &Request) -> Result<Response, Refusal> {
        let [a, b] = ["a", "b"].map(|side| question.value(side).unwrap_or_default().trim());
        let form = index::comparing(a, b);
        if a.is_empty() || b.is_empty() {
            return Ok(message_with(Status::Ok, "Name two runs, or two servers.", &form));
        }
        match self.sides(a, b) {
            Ok((title, part)) => {
                let body = markup!("<h1>{}</h1>\n{}{}", title, part, form);
                Ok(framed(Status::Ok, "Compared", &body))
            }
            Err(refusal) => Ok(message_with(Status::NotFound, &refusal.to_string(), &form)),
        }
    }
}

/// The number of a run, if the store has that run.
fn known_run(store: &Store, number: &str) -> Result<Option<RunId>, Refusal> {
    let Ok(id) = number.parse::<RunId>() else { return Ok(None) };
    Ok(store.summary(id)?.map(|run| run.id))
}

/// The width of a text that is not shown on a terminal.
const TEXT_WIDTH: usize = 120;

/// The run's page is the one that `dyno report` writes, byte by byte; its policy is the one that it declares.
fn shaped(
    found: &mut Findings<'_>,
    format: &Format,
    workload: Option<&str>,
) -> Result<Response, Refusal> {
    let screen = Screen { is_full: true, ..Screen::file(TEXT_WIDTH) };
    found.drawn.workload = workload.map(String::from);
    let text = match format.of(found, screen) {
        Ok(text) => text,
        Err(says) if *format == JSON => return Err(Refusal::new(says)),
        Err(says) => {
            return Ok(nothing(&format!("There is no {} of this run: {says}.", format.name)));
        }
    };
    if *format == HTML {
        let policy = frame::policy_of(&text).to_string();
        return Ok(Response::page(Status::Ok, &policy, text));
    }
    let name = format!("run-{}.{}", found.id, format.ending);
    Ok(Response::of(Status::Ok, format.media_type, text).saved_as(name))
}

fn nothing(says: &str) -> Response {
    message(Status::NotFound, says)
}

fn message(status: Status, says: &str) -> Response {
    message_with(status, says, &Markup::default())
}

/// A sentence, which may contain user input, and some of our own markup after it.
fn message_with(status: Status, says: &str, behind: &Markup) -> Response {
    framed(status, "dyno", &markup!("<p class=\"lede\">{}</p>\n{}", says, behind))
}
