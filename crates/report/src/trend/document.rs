//! A trend as a document: for each plan, the newest first, a picture and a table of each workload, and what changed
//! between the runs.

use analysis::{Leading, Verdict};
use lab::figure::Unit;
use units::counted;

use super::{Change, Figures, RunFigures, Server};
use crate::chart::{About, Curves, Panel, Series, Spot, Stand, Trust, both};
use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Paragraph, Row, Section, Sign, Table, Tone,
};
use crate::time::utc;

/// The runs of one experiment, oldest first.
pub fn document(runs: &[RunFigures]) -> Document {
    let mut plans: Vec<Vec<&RunFigures>> = Vec::new();
    for run in runs.iter().rev() {
        match plans.iter_mut().find(|runs| runs[0].plan == run.plan) {
            Some(runs) => runs.insert(0, run),
            None => plans.push(vec![run]),
        }
    }
    let name = runs.last().map_or("", |run| &run.experiment);
    let mut conditions = vec![
        "Runs of one plan are in one picture. A line joins only runs of one machine, one kernel and one version of dyno."
            .to_string(),
    ];
    if 1 < plans.len() {
        let plans = counted(plans.len() as u64, "plan", "plans");
        conditions.push(format!(
            "The plan changed (the experiment's file, its workloads, or --quick): {plans}, the newest first; figures of \
             different plans are not alike."
        ));
    }
    Document {
        label: "run by run".into(),
        title: format!("{name}, run by run"),
        notes: runs.iter().flat_map(notes).collect(),
        conditions,
        sections: plans.iter().enumerate().flat_map(|(place, runs)| plan(runs, place)).collect(),
        ..Document::default()
    }
}

/// What a reader must know of a run before its figures.
fn notes(run: &RunFigures) -> impl Iterator<Item = Paragraph> {
    let named = run.named();
    run.damaged.iter().map(move |says| Paragraph::new(Tone::Doubtful, format!("{named}: {says}")))
}

/// What the runs of one plan say.
struct Course<'t> {
    /// Oldest first.
    runs: &'t [&'t RunFigures],
    /// What changed before each of them; nothing before the first.
    changes: Vec<Change>,
    /// In the newest run first.
    subjects: Vec<&'t Server>,
    leading: Leading,
    workload: &'t str,
}

fn plan(runs: &[&RunFigures], place: usize) -> Vec<Section> {
    let Some(newest) = runs.last() else { return Vec::new() };
    let none = std::iter::once(Change::default());
    let pairs = runs.windows(2).map(|pair| Change::between(pair[0], pair[1]));
    let changes: Vec<Change> = none.chain(pairs).collect();
    let mut sections: Vec<Section> = newest
        .tables
        .iter()
        .enumerate()
        .map(|(n, table)| {
            let course = Course {
                runs,
                changes: changes.clone(),
                subjects: subjects(runs, &table.workload),
                leading: table.leading,
                workload: &table.workload,
            };
            section(&course, table, &format!("{place}-{n}"))
        })
        .collect();
    let is_earlier = 0 < place;
    for section in sections.iter_mut().filter(|_| is_earlier) {
        section.heading = format!("{} (an earlier plan)", section.heading);
    }
    let entries = entries(runs, &changes);
    if let (Some(last), false) = (sections.last_mut(), entries.is_empty()) {
        last.blocks.push(Block::Heading("What changed between the runs".into()));
        last.blocks.push(Block::Entries(entries));
    }
    sections
}

/// Each server once, as it is in the newest run that has it.
fn subjects<'t>(runs: &[&'t RunFigures], workload: &str) -> Vec<&'t Server> {
    let mut found: Vec<&Server> = Vec::new();
    for server in runs.iter().rev().filter_map(|run| run.table(workload)).flat_map(|it| &it.servers)
    {
        if !found.iter().any(|other| other.subject == server.subject) {
            found.push(server);
        }
    }
    found
}

fn section(course: &Course<'_>, table: &Figures, key: &str) -> Section {
    let heading = table.title.clone();
    let quick = if course.runs.iter().any(|run| run.plan.is_quick) { ", quick" } else { "" };
    let note = format!("{}{quick}", counted(course.runs.len() as u64, "run", "runs"));
    let picture = both(["t", "u"], 0, &|id, room| {
        course.curves(&format!("{id}{key}")).svg(room, Stand::Page)
    });
    Section::new(format!("trend{key}"), heading, Depth::Brief)
        .noting(note)
        .with([Block::picture(picture), Block::Table(course.table(key))])
}

fn entries(runs: &[&RunFigures], changes: &[Change]) -> Vec<Entry> {
    let changed = runs.iter().zip(changes).filter(|(_, change)| change.is_any());
    let entry = |(run, change): (&&RunFigures, &Change)| {
        let head = format!("before run {}: {} changed", run.id, change.words.join(", "));
        change
            .says
            .iter()
            .fold(Entry::new(Tone::Doubtful, head), |entry, says| entry.with(Tone::Dim, says))
    };
    changed.map(entry).collect()
}

impl RunFigures {
    fn table(&self, workload: &str) -> Option<&Figures> {
        self.tables.iter().find(|table| table.workload == workload)
    }

    fn server(&self, workload: &str, subject: &str) -> Option<&Server> {
        self.table(workload)?.servers.iter().find(|server| server.subject == subject)
    }

    /// `run 3 (2026-11-21 13:28 UTC)`
    fn named(&self) -> String {
        format!("run {} ({})", self.id, utc(self.began_unix_ms))
    }
}

/// The heading of a figure, its unit, and whether its axis goes by factors.
fn figure(leading: Leading) -> (&'static str, Unit, bool) {
    match leading {
        Leading::Throughput => ("throughput/s", Unit::PerSecond, false),
        Leading::P99 => ("p99 of the response time", Unit::Milliseconds, true),
        Leading::Capacity => ("the highest rate that kept the promise", Unit::PerSecond, false),
        Leading::Memory => ("memory of a connection, KiB", Unit::Count, false),
    }
}

impl Course<'_> {
    fn curves(&self, id: &str) -> Curves {
        let (heading, unit, is_log) = figure(self.leading);
        let series = |server: &&Server| Series {
            title: server.title.clone(),
            slot: server.slot,
            dash: 0,
            points: self.spots(&server.subject),
        };
        let series: Vec<Series> = self.subjects.iter().map(series).collect();
        let is_broken = self.changes.iter().any(Change::is_any);
        let note = if is_broken { "upright: what changed" } else { "" };
        let panel = Panel { is_log, ..Panel::new(heading, note, unit, 260.0, series) };
        let changes = self.changes.iter().enumerate().filter(|(_, change)| change.is_any());
        let about = About {
            id: id.into(),
            title: format!("{}: {heading}", self.workload),
            description: "Each server's leading figure, run by run; the table has all of them"
                .into(),
        };
        Curves {
            about,
            axis: "runs, oldest first".into(),
            panels: vec![panel],
            first: self.subjects.iter().map(|server| server.slot).collect(),
            names: self.runs.iter().map(|run| run.id.clone()).collect(),
            breaks: changes.map(|(n, change)| (n as f64, change.words.join(", "))).collect(),
        }
    }

    fn spots(&self, subject: &str) -> Vec<Spot> {
        let mut is_after_gap = false;
        let mut spots = Vec::new();
        for (place, run) in self.runs.iter().enumerate() {
            is_after_gap |= self.changes[place].is_any();
            let found = run.server(self.workload, subject);
            let Some(server) = found.filter(|server| server.verdict.is_some()) else {
                is_after_gap = true;
                continue;
            };
            let is_invalid = server.value.is_none() || server.verdict == Some(Verdict::Invalid);
            spots.push(Spot {
                x: place as f64 + 0.5,
                value: server.value.unwrap_or(f64::NAN),
                interval: server.interval.filter(|_| !is_invalid),
                trust: match is_invalid {
                    true => Trust::Invalid,
                    false => Trust::Full.or_doubtful(server.is_doubtful),
                },
                is_after_gap: is_after_gap || is_invalid,
                says: format!("{}: {}", run.named(), server.says()),
            });
            is_after_gap = is_invalid;
        }
        spots
    }

    fn table(&self, key: &str) -> Table {
        let (heading, ..) = figure(self.leading);
        let mut columns = vec![
            Column::new("subject", "server", 0).left(),
            Column::new("run", "run", 0),
            Column::new("figure", heading, 0),
            Column::new("verdict", "verdict", 1).left(),
            Column::new("began", "began", 3).left(),
            Column::new("version", "version", 4).left().folding(),
        ];
        if self.subjects.iter().any(|server| server.place.is_some()) {
            columns.push(Column::new("place", "at", 5).left().folding());
        }
        let has_place = columns.len() == 7;
        let row = |run: &RunFigures, server: &Server| {
            let verdict = server
                .verdict
                .map(|verdict| Cell { sign: Sign::Verdict(verdict), ..Cell::text(verdict.name()) });
            let run_number = run.id.parse().ok();
            let mut cells = vec![
                Cell { sign: Sign::Slot, ..Cell::text(server.title.clone()) },
                Cell::text(run.id.clone()).valued(run_number),
                server.cell.clone().valued(server.value),
                verdict.unwrap_or_else(Cell::none),
                Cell::text(utc(run.began_unix_ms)),
                Cell::text(server.version.clone()),
            ];
            cells.extend(has_place.then(|| Cell::text(server.place.clone().unwrap_or_default())));
            Row { slot: Some(server.slot), cells, ..Row::default() }
        };
        let rows = self.subjects.iter().flat_map(|one| {
            let of_run =
                |run: &&RunFigures| Some(row(run, run.server(self.workload, &one.subject)?));
            self.runs.iter().filter_map(of_run).collect::<Vec<_>>()
        });
        Table::of(format!("trend{key}"), columns, rows)
    }
}

impl Server {
    /// The figure with its interval, its verdict, and the server's version.
    fn says(&self) -> String {
        let place = self.place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
        let verdict = self.verdict.map_or("not run", Verdict::name);
        format!("{}{place}, {verdict}; {}", self.cell.whole_text(), self.version)
    }
}
