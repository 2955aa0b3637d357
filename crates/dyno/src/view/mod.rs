//! What `dyno view` answers: each time from the store, so that a run under way shows what is kept so far.

mod frame;
mod index;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use host::{Answer, Question, Status};
use report::escaped;
use store::{RunId, Store};

use crate::board::{self, Told};
use crate::commands::report::kept;
use crate::commands::{Refusal, compare};
use frame::{FORM_POLICY, framed};

/// One store, looked at.
pub(crate) struct View {
    store: PathBuf,
    /// Where published figures are looked for that a run has not kept.
    root: Option<PathBuf>,
    /// A page takes a CPU for a while: one at a time, so that asking a lot takes no more than one.
    turn: Mutex<()>,
}

/// A run in the shape that is asked for.
#[derive(Clone, Copy)]
enum Shape {
    Page,
    Markdown,
    Csv,
    Json,
    Chart,
}

impl Shape {
    /// What stands behind the run's number in an address.
    fn of(ending: &str) -> Option<Shape> {
        match ending {
            "" => Some(Shape::Page),
            ".md" => Some(Shape::Markdown),
            ".csv" => Some(Shape::Csv),
            ".json" => Some(Shape::Json),
            ".svg" => Some(Shape::Chart),
            _ => None,
        }
    }
}

impl View {
    pub(crate) fn new(store: PathBuf, root: Option<PathBuf>) -> View {
        View { store, root, turn: Mutex::new(()) }
    }

    pub(crate) fn answer(&self, question: &Question) -> Answer {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match question.path.as_str() {
            "/" => self.index(question.value("q").unwrap_or_default()),
            "/style.css" => {
                Ok(Answer::of(Status::Ok, "text/css; charset=utf-8", include_str!("view.css")))
            }
            "/compare" => self.compared(question),
            path => match path.strip_prefix("/run/") {
                Some(run) => self.run(run, question.value("workload")),
                None => Ok(nothing("There is no such page.")),
            },
        };
        answer.unwrap_or_else(|refusal| told(Status::Failed, &refusal.to_string()))
    }

    fn open(&self) -> Result<Store, Refusal> {
        Store::open_to_read(&self.store).map_err(|error| Refusal::new(error.to_string()))
    }

    fn index(&self, search: &str) -> Result<Answer, Refusal> {
        let body = index::body(&self.open()?, search)?;
        Ok(Answer::page(Status::Ok, FORM_POLICY, framed("Runs", &body)))
    }

    /// `7`, or `7.csv`; of charts that of a workload, or of the first.
    fn run(&self, asked: &str, workload: Option<&str>) -> Result<Answer, Refusal> {
        let digits = asked.bytes().take_while(u8::is_ascii_digit).count();
        let (number, ending) = asked.split_at(digits);
        let (Ok(id), Some(shape)) = (number.parse::<RunId>(), Shape::of(ending)) else {
            return Ok(nothing(&format!("There is no run {asked}.")));
        };
        let store = self.open()?;
        let runs = store.runs().map_err(|error| Refusal::new(error.to_string()))?;
        if !runs.iter().any(|run| run.id == id) {
            return Ok(nothing(&format!("There is no run {id}.")));
        }
        let (run, trials, damaged) = kept(&store, id)?;
        shaped(&Told::of(&id, &run, &trials, damaged, self.root.as_deref()), shape, workload)
    }

    fn compared(&self, question: &Question) -> Result<Answer, Refusal> {
        let [a, b] = ["a", "b"].map(|side| question.value(side).unwrap_or_default().trim());
        let form = index::comparing(a, b);
        if a.is_empty() || b.is_empty() {
            return Ok(told_with(Status::Ok, "Name two runs, or two subjects.", &form));
        }
        match compare::page(&self.open()?, a, b) {
            Ok(part) => {
                let body =
                    format!("<h1>Compared: {} and {}</h1>\n{part}{form}", escaped(a), escaped(b));
                Ok(Answer::page(Status::Ok, FORM_POLICY, framed("Compared", &body)))
            }
            Err(refusal) => Ok(told_with(Status::NotFound, &refusal.to_string(), &form)),
        }
    }
}

/// The run's page is the one that `dyno report` writes, byte by byte; what it may do it says itself.
fn shaped(told: &Told<'_>, shape: Shape, workload: Option<&str>) -> Result<Answer, Refusal> {
    let saved = |kind, text: String, ending: &str| {
        Answer::of(Status::Ok, kind, text).saved_as(format!("run-{}.{ending}", told.id))
    };
    Ok(match shape {
        Shape::Page => {
            let page = board::page(told);
            let policy = frame::policy_of(&page).to_string();
            Answer::page(Status::Ok, &policy, page)
        }
        Shape::Markdown => saved("text/markdown; charset=utf-8", board::markdown(told), "md"),
        Shape::Csv => saved("text/csv; charset=utf-8", board::csv(told), "csv"),
        Shape::Json => {
            let json = board::json(told).map_err(|error| Refusal::new(error.to_string()))?;
            saved("application/json", json, "json")
        }
        Shape::Chart => match chart(told, workload) {
            Some(svg) => saved("image/svg+xml", svg, "svg"),
            None => nothing("This run has no such chart."),
        },
    })
}

fn chart(told: &Told<'_>, workload: Option<&str>) -> Option<String> {
    let workload = workload.or_else(|| board::workloads(told).first().copied())?;
    board::svg(told, workload, report::Theme::Auto)
}

fn nothing(says: &str) -> Answer {
    told(Status::NotFound, says)
}

fn told(status: Status, says: &str) -> Answer {
    told_with(status, says, "")
}

/// A sentence, which may hold what somebody typed, and some of our own markup behind it.
fn told_with(status: Status, says: &str, behind: &str) -> Answer {
    let body = format!("<p class=\"lede\">{}</p>\n{behind}", escaped(says));
    Answer::page(status, FORM_POLICY, framed("dyno", &body))
}
