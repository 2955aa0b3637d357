//! A run as it was recorded and analysed: what all of its documents are made of, and nothing of how they are written.

use std::cell::OnceCell;
use std::time::Duration;

use analysis::search::{Searched, searched};
use analysis::why::{Explained, explained};
use analysis::{Board, Detail, Fairness, HeldCourse, JudgedTrial, Row, Table, ThenNow};
use lab::checked::Checked;
use lab::experiment::{Changed, Experiment, Point, Shape};
use lab::figure::Figure;
use lab::history::PublishedFigures;
use lab::manner::{Manner, Task};
use lab::record::{Entry, LOAD, OutcomeKind, RACE_BODIES, RunRecord, STREAMS, TrialRecord, fact};
use lab::source_file::SourceFile;
use lab::workload::Workload;
use units::duration;

use super::experiment_text;
use crate::chart::{Name, Theme};
use crate::load::finished::{self, FinishedLoad};
use crate::load::order_text;
use crate::time::utc;

/// The command that shows a run: for programs each has only what it was to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfCommand {
    /// All of the run.
    #[default]
    Report,
    Race,
    Capacity,
    /// The first load of `dyno load`.
    Load,
    /// All of its loads, and what they have in common.
    Loads,
}

/// A trial that is not in the store as it was kept.
#[derive(Clone, Debug)]
pub struct DamagedTrial {
    pub number: u32,
    /// Which it is, and what is wrong with it, in a sentence.
    pub says: String,
}

/// All findings about a run.
pub struct Findings<'a> {
    /// The run's number in its store.
    pub id: String,
    pub run: &'a RunRecord,
    /// The trials that exist and are undamaged, in any order.
    pub trials: &'a [TrialRecord],
    /// The trials that are damaged in the store: they are in no figure.
    pub damaged: Vec<DamagedTrial>,
    /// The article's figures.
    pub history: PublishedFigures,
    /// What went wrong with them.
    pub history_says: Option<String>,
    pub board: Board,
    /// The searches for capacities that its trials were made for; in any other run none.
    pub(crate) searches: Vec<Searched>,
    pub(crate) fairness: Fairness,
    /// ` --store FILE` where commands need it to find the run, else nothing.
    pub(crate) store_option: String,
    /// What a file says was ordered, where only a file's figures are known.
    pub(crate) stated: Option<String>,
    /// The loads of `dyno load` where these have just ended: more is known of them than a store keeps.
    pub(crate) ended: &'a [FinishedLoad],
    /// What is drawn of it where there is nothing but charts.
    pub drawn: Drawn,
    pub command: OfCommand,
    /// Data that only a page needs is computed on demand.
    details: OnceCell<Vec<Detail>>,
    courses: OnceCell<Vec<HeldCourse>>,
    then_now: OnceCell<Vec<ThenNow>>,
    explained: OnceCell<Vec<Explained>>,
}

impl<'a> Findings<'a> {
    /// Analyses a run.
    pub fn of(
        id: &impl ToString,
        run: &'a RunRecord,
        trials: &'a [TrialRecord],
        damaged: Vec<DamagedTrial>,
    ) -> Findings<'a> {
        let experiment = run.experiment.as_ref();
        let name = experiment.and_then(|experiment| experiment.history.as_deref());
        let (history, history_says) = match name.map(|name| history(run, name)) {
            None => (PublishedFigures::default(), None),
            Some(Ok(history)) => (history, None),
            Some(Err(says)) => (PublishedFigures::default(), Some(says)),
        };
        Findings {
            damaged,
            history,
            history_says,
            searches: searched(run, trials),
            ..Findings::on(id.to_string(), (run, trials), Board::of(run, trials))
        }
    }

    /// With what commands need to find the run's store.
    #[must_use]
    pub fn kept_where(self, store_option: String) -> Findings<'a> {
        Findings { store_option, ..self }
    }

    /// Of loads that have just ended.
    #[must_use]
    pub fn of_ended(self, ended: &'a [FinishedLoad]) -> Findings<'a> {
        Findings { ended, ..self }
    }

    /// Figures that a file states, whose order is in words.
    pub(crate) fn stated(
        id: &str,
        run: &'a RunRecord,
        board: Board,
        order: String,
    ) -> Findings<'a> {
        Findings { stated: Some(order), ..Findings::on(id.into(), (run, &[]), board) }
    }

    fn on(
        id: String,
        (run, trials): (&'a RunRecord, &'a [TrialRecord]),
        board: Board,
    ) -> Findings<'a> {
        Findings {
            id,
            run,
            trials,
            damaged: Vec::new(),
            searches: Vec::new(),
            history: PublishedFigures::default(),
            history_says: None,
            board,
            fairness: Fairness::of(run, trials),
            store_option: String::new(),
            stated: None,
            ended: &[],
            drawn: Drawn::default(),
            command: OfCommand::default(),
            details: OnceCell::new(),
            courses: OnceCell::new(),
            then_now: OnceCell::new(),
            explained: OnceCell::new(),
        }
    }

    /// How many trials the store has of it, damaged ones among them.
    pub(crate) fn kept(&self) -> usize {
        self.trials.len() + self.damaged.len()
    }

    /// The run, its number where it is kept, and when it began.
    pub(crate) fn label(&self) -> String {
        let (name, began) = (&self.run.name, utc(self.run.began_unix_ms));
        match self.is_kept() {
            true => format!("{name} · run {} · {began}", self.id),
            false => format!("{name} · {began}"),
        }
    }

    /// What the run is to answer; of loads, what was requested.
    pub(crate) fn question(&self) -> String {
        match (self.ended, &self.run.experiment) {
            ([load, ..], _) => format!("{} at {}", load.asked.words(), load.asked.address),
            ([], Some(found)) => found.question.clone(),
            ([], None) => self.run.name.clone(),
        }
    }

    /// What is damaged, a sentence for each trial.
    pub fn says_of_damage(&self) -> impl Iterator<Item = &str> {
        self.damaged.iter().map(|trial| trial.says.as_str())
    }

    /// Every subject's pictures.
    pub(crate) fn details(&self) -> &[Detail] {
        self.details.get_or_init(|| analysis::details(&self.board, self.trials))
    }

    /// Where the CPU time of answers goes, where that was sampled.
    pub(crate) fn explained(&self) -> &[Explained] {
        self.explained.get_or_init(|| explained(&self.board, self.run))
    }

    /// A ramp of held connections along its time, for each server that held any.
    pub(crate) fn courses(&self) -> &[HeldCourse] {
        self.courses.get_or_init(|| analysis::courses(self.trials, &self.board.readings))
    }

    /// The article's figures of each workload for which it has any, in its own columns.
    pub(crate) fn then_now(&self) -> &[ThenNow] {
        self.then_now.get_or_init(|| {
            let columns = self.run.experiment.as_ref().map_or(&[][..], |found| &found.columns);
            // Held connections have their own figures, and their own words for them.
            let tables = self.board.tables.iter().filter(|table| !table.is_held());
            tables.filter_map(|table| analysis::then_now(table, &self.history, columns)).collect()
        })
    }

    /// Whether it is of `dyno load`.
    pub(crate) fn is_load(&self) -> bool {
        self.load_command().is_some()
    }

    /// The command line that made it, if it is of `dyno load`.
    pub(crate) fn load_command(&self) -> Option<&str> {
        self.fact(LOAD)
    }

    /// The load, where the run is a single one of `dyno load`.
    pub(crate) fn only_load(&self) -> Option<&'a TrialRecord> {
        match self.trials {
            [trial] if self.is_load() && self.run.plan.len() == 1 => Some(trial),
            _ => None,
        }
    }

    /// Whether it is a single load that is not kept: its command was just typed, and may contain secrets.
    pub(crate) fn is_passing_load(&self) -> bool {
        self.only_load().is_some() && !self.is_kept()
    }

    /// Whether it has a number in a store; loads that are repeated and not kept have none.
    pub(crate) fn is_kept(&self) -> bool {
        self.id.bytes().all(|byte| byte.is_ascii_digit())
    }

    pub(crate) fn fact(&self, name: &str) -> Option<&str> {
        fact(&self.run.facts, name)
    }

    /// What the command line changed, as far as the experiment can be read.
    pub(crate) fn changed(&self) -> Option<&Changed> {
        self.run.experiment.as_ref().map(|experiment| &experiment.changed)
    }

    /// Whether the number of rounds was determined by the data.
    pub(super) fn is_bound(&self) -> bool {
        self.run.experiment.as_ref().is_some_and(|experiment| experiment.until.is_some())
    }

    /// The run plan's entry for a subject.
    pub(crate) fn entry(&self, subject: &str) -> Option<&Entry> {
        self.run.entries.iter().find(|entry| entry.name == subject)
    }

    /// The name that people use for a subject.
    pub fn title<'t>(&'t self, subject: &'t str) -> &'t str {
        let title = self.entry(subject).map(|entry| entry.title.as_str());
        title.filter(|title| !title.is_empty()).unwrap_or(subject)
    }

    /// A subject's row in a chart.
    pub(crate) fn name(&self, subject: &str) -> Name {
        Name::of(self.slot(subject), self.title(subject))
    }

    /// How many requests one unit of the axis offers: the calls of a session.
    pub(crate) fn calls(&self) -> f64 {
        match self.run.experiment.as_ref().map(|experiment| experiment.shape) {
            Some(Shape::Sessions { calls, .. }) => f64::from(calls),
            Some(Shape::Closed | Shape::Open { .. } | Shape::Held(_)) | None => 1.0,
        }
    }

    /// A place of the axis as people read it: offered sessions as offered requests, because throughput counts requests.
    pub(crate) fn shown(&self, point: Point) -> Point {
        self.run.experiment.as_ref().map_or(point, |experiment| experiment.as_requests(point))
    }

    /// A place of the axis with its unit.
    pub fn place(&self, point: Point) -> String {
        let over = self.streams().map_or(String::new(), |streams| match point {
            Point::Connections(_) => order_text::on_each(streams),
            Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => " over HTTP/2".into(),
        });
        experiment_text::place_in(self.run.experiment.as_ref(), point) + &over
    }

    /// How the servers were loaded, as far as an experiment can say it.
    pub(crate) fn load_in_words(&self) -> Option<String> {
        match (&self.run.experiment, self.ended) {
            (Some(experiment), _) => Some(experiment_text::load(experiment, self.streams())),
            (None, [load, ..]) => Some(order_text::of_load(&load.order)),
            (None, []) => None,
        }
    }

    /// A figure's heading: that of the share on time says the limit.
    pub(crate) fn heading(&self, figure: Figure) -> String {
        let recorded = || {
            let loaded = self.trials.iter().find_map(|trial| trial.loaded.as_ref());
            loaded.map(|loaded| Duration::from_nanos(loaded.recording.on_time_within))
        };
        let stated = self.run.experiment.as_ref().and_then(Experiment::on_time_within);
        let limit = if self.is_load() { recorded() } else { stated };
        match (figure, limit) {
            (Figure::OnTime, Some(limit)) => format!("{} ({})", figure.heading(), duration(limit)),
            _ => figure.heading().into(),
        }
    }

    /// How many requests each connection was to carry at once over HTTP/2; none over HTTP/1.x.
    pub(crate) fn streams(&self) -> Option<u64> {
        self.fact(STREAMS)?.parse().ok()
    }

    /// A place of the axis without its unit.
    pub(crate) fn place_alone(&self, point: Point) -> String {
        match self.run.experiment.as_ref().and_then(|experiment| experiment.course.as_ref()) {
            Some(course) => experiment_text::rates(course),
            None => experiment_text::place(self.shown(point)),
        }
    }

    /// The unit of a table's places.
    pub(crate) fn axis(&self, table: &Table) -> &'static str {
        table.rows.first().map_or("", |row| self.shown(row.point).unit())
    }

    /// A subject's colour and sign: its place in the run.
    pub(crate) fn slot(&self, subject: &str) -> usize {
        let place = self.run.entries.iter().position(|entry| entry.name == subject);
        place.unwrap_or(self.run.entries.len())
    }

    /// The servers that compete in a table, in the run's order.
    pub(crate) fn subjects<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let mut names: Vec<&str> = table.competitors().map(|row| row.subject.as_str()).collect();
        names.dedup();
        names
    }

    /// The name that people use for the workload of a task.
    pub fn workload_title(&self, task: &str) -> Option<String> {
        let name = Task::named(task).workload;
        self.workloads().find(|workload| workload.name == name).map(|workload| workload.title)
    }

    /// The workloads that were requested, as they were kept.
    fn workloads(&self) -> impl Iterator<Item = Workload> {
        let pages = self.run.files.iter().filter(|(path, _)| path.starts_with("workloads/"));
        pages.filter_map(|(path, text)| Workload::of_run(path, text).ok())
    }

    /// What was checked of the answers in all measured rounds of the servers; none where none was loaded.
    pub(crate) fn checked(&self) -> Option<Checked> {
        if let [load] = self.ended {
            return Some(finished::checked(load));
        }
        let expects: Vec<_> = self
            .workloads()
            .flat_map(|workload| workload.questions)
            .map(|question| question.ask.expect)
            .collect();
        let measured =
            self.trials.iter().filter(|trial| trial.outcome.kind == OutcomeKind::Measured);
        let loaded: Vec<_> = measured.filter_map(|trial| trial.loaded.as_ref()).collect();
        let tallies = loaded.iter().map(|loaded| &loaded.recording.total);
        let is_known = !loaded.is_empty() && !expects.is_empty();
        is_known.then(|| Checked::of(tallies, &expects, self.fact(RACE_BODIES)))
    }

    /// A task's name for people: where a run has several manners, HTTP/1.1 in cleartext is named, too.
    pub(crate) fn task(&self, name: &str) -> String {
        let manner = |name: &str| Task::named(name).manner;
        let is_plain = |name: &str| manner(name) == Manner::default();
        let mut tables = self.board.tables.iter();
        match is_plain(name) && tables.any(|table| !is_plain(&table.workload)) {
            true => format!("{name} {}", Manner::default()),
            false => name.into(),
        }
    }

    /// A task's name with the title of its workload: `hello over h2, 1 stream: Hello, world!`.
    pub(crate) fn titled_task(&self, name: &str) -> String {
        let title = self.workload_title(name).map(|title| format!(": {title}"));
        self.task(name) + &title.unwrap_or_default()
    }

    /// Every row of the board with its workload.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, &Row)> {
        let tables = self.board.tables.iter();
        tables.flat_map(|table| table.rows.iter().map(|row| (table.workload.as_str(), row)))
    }

    /// Every trial of the board with its workload and row.
    pub(super) fn weighed(&self) -> impl Iterator<Item = (&str, &Row, &JudgedTrial)> {
        self.rows()
            .flat_map(|(workload, row)| row.trials.iter().map(move |trial| (workload, row, trial)))
    }
}

/// Which charts are drawn of a run, and in which colours.
#[derive(Default)]
pub struct Drawn {
    /// That of one workload alone.
    pub workload: Option<String>,
    pub theme: Theme,
}

/// The published figures, which are kept with the run.
fn history(run: &RunRecord, name: &str) -> Result<PublishedFigures, String> {
    let name = format!("experiments/history/{name}");
    let Some((_, text)) = run.files.iter().find(|(path, _)| *path == name) else {
        return Err(format!("{name}: it is not among the run's files"));
    };
    PublishedFigures::parse(&SourceFile { name, text: text.clone() })
        .map_err(|error| error.to_string())
}
