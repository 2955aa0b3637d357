//! What a history shows as a document: the changes, every series, and a picture of each.

use analysis::trend::{EVER, LOOKS, Needed, SEGMENT, SHORTEST, TYPICAL};
use lab::figure::{Figure, Unit};
use units::{counted, percent};

use super::cause::{self, Cause, causes};
use super::line::Line;
use super::naming::{group, heading, label, name, run};
use super::series::{Machine, Per, Series, Trend};
use crate::chart::{About, Form, Lines, Panel, SharedAxis, Spot, Stand, Trust, both};
use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Fact, Row, Section, Table, Tone,
};
use crate::number_format::Written;

/// The whole history.
pub(super) fn document(trend: &Trend) -> Document {
    Document {
        label: "dyno trend".into(),
        title: format!("From run to run: {}", trend.files.join(", ")),
        answer: vec![sentence(trend)],
        conditions: vec![
            format!(
                "{} of {} on {}",
                counted(trend.series.len() as u64, "series", "series"),
                counted(trend.runs as u64, "run", "runs"),
                counted(trend.machines.len() as u64, "machine", "machines")
            ),
            format!(
                "changes by E-divisive on logarithms; of histories in which nothing changes, at most {} ever announce \
                 a change, if they are looked at after each of {LOOKS} runs",
                percent(EVER)
            ),
            format!("no level has fewer than {SEGMENT} runs"),
        ],
        sections: sections(trend),
        ..Document::default()
    }
}

/// The whole history, with a picture of each series.
pub fn illustrated(trend: &Trend) -> Document {
    let mut document = document(trend);
    let pictures = trend.series.iter().filter(|series| !series.values.is_empty());
    let pictures = pictures.flat_map(|series| {
        let picture = both(|room| curves(series).svg(room, Stand::Page));
        [Block::Heading(name(series)), Block::picture(picture)]
    });
    document.sections.push(
        Section::new("pictures", "Run by run", Depth::Page).with(pictures.collect::<Vec<_>>()),
    );
    document
}

/// The answer.
pub(super) fn sentence(trend: &Trend) -> String {
    let changed = trend.series.iter().filter(|series| !series.course.shifts.is_empty()).count();
    let all = counted(trend.series.len() as u64, "series", "series");
    let testable = trend.series.iter().filter(|it| SHORTEST <= it.values.len()).count();
    match (changed, testable) {
        (0, 0) => format!(
            "No series is long enough: a change is seen in {SHORTEST} runs or more, at least {SEGMENT} of them on either side."
        ),
        (0, _) => format!("No change that this history shows, in {all}{}.", short(trend, testable)),
        (_, _) => cause::sentence(&causes(trend)),
    }
}

/// How many series are too short to show any.
fn short(trend: &Trend, testable: usize) -> String {
    match trend.series.len() - testable {
        0 => String::new(),
        short => {
            let have = if short == 1 { "has" } else { "have" };
            format!(", of which {short} {have} fewer than the {SHORTEST} runs that show one")
        }
    }
}

fn sections(trend: &Trend) -> Vec<Section> {
    let of_causes = causes(trend).iter().flat_map(Cause::entries).collect::<Vec<_>>();
    let changes: Vec<Entry> = of_causes.into_iter().chain(withdrawn(trend)).collect();
    let broken: Vec<Entry> = trend
        .broken
        .iter()
        .map(|broken| {
            let place = format!("{} line {}: {}", broken.file, broken.number, broken.why);
            Entry::new(Tone::Doubtful, place)
        })
        .collect();
    let machines = trend.machines.iter().map(machine).collect();
    vec![
        Section::new("changes", "Changes", Depth::Brief).with([Block::Entries(changes)]),
        Section::new("series", "Every series", Depth::Brief).with(tables(trend)),
        Section::new("machines", "Machines", Depth::Brief).with([Block::Facts(machines)]),
        Section::new("broken", "Lines that were skipped", Depth::Brief)
            .noting("they stay in their file")
            .with([Block::Entries(broken)]),
    ]
}

fn machine(machine: &Machine) -> Fact {
    let facts = machine.facts.iter().map(|(name, value)| format!("{name} {value}"));
    let facts: Vec<String> = facts.collect();
    let here = if machine.is_here { "this machine: " } else { "" };
    Fact::new(machine.key.clone(), format!("{here}{}", facts.join("; ")))
}

fn withdrawn(trend: &Trend) -> impl Iterator<Item = Entry> {
    trend.series.iter().flat_map(|series| {
        let lines = series.course.withdrawn.iter().filter_map(|place| series.lines.get(*place));
        lines.map(move |line| {
            let head = format!("{}: a change is no longer announced", name(series));
            let says = format!("before the last run it was announced at {}", run(line));
            Entry::new(Tone::Doubtful, head).with(Tone::Plain, says)
        })
    })
}

/// A table for what was measured each time, under its name.
fn tables(trend: &Trend) -> Vec<Block> {
    let groups = trend.series.chunk_by(|one, next| group(one) == group(next));
    groups
        .flat_map(|series| [Block::Heading(group(&series[0])), Block::Table(table(series))])
        .collect()
}

fn table(series: &[Series]) -> Table {
    let columns = vec![
        Column::new("series", "series", 0).left(),
        Column::new("runs", "runs", 0),
        Column::new("level", "level", 0).meaning("the mean of its newest level").explained(),
        Column::new("spread", "spread", 2)
            .meaning("the standard deviation of a run around its level")
            .explained(),
        Column::new("changes", "changes", 1),
        Column::new("seen", "5 % seen", 2)
            .meaning("after how many runs a change by 5 % is announced in nine of ten cases")
            .explained(),
        Column::new("machine", "machine", 3).left().folding(),
        Column::new("left-out", "left out", 4)
            .meaning("runs that were no measurement, or only a bound")
            .explained()
            .folding(),
    ];
    debug_assert!((TYPICAL - 0.05).abs() < 1e-9, "the heading says it");
    Table::of("series", columns, series.iter().map(row))
}

fn row(series: &Series) -> Row {
    let course = &series.course;
    let level = course.levels.last();
    let unit = unit(series);
    let seen = match course.typical {
        Some(Needed::Runs(runs)) => Cell::number(runs),
        Some(Needed::MoreThan(runs)) => Cell::text(format!(">{runs}")),
        None => Cell::none(),
    };
    let cells = vec![
        Cell::text(label(series)),
        Cell::number(series.values.len()),
        level.map_or_else(Cell::none, |level| {
            Cell::text(shown(unit, level.mean)).valued(Some(level.mean))
        }),
        Cell::share(course.spread),
        Cell::number(course.shifts.len()),
        seen,
        Cell::text(series.common().map_or("", |line| &line.machine)),
        Cell::number(series.left_out),
    ];
    Row { cells, ..Row::default() }
}

/// None: a ratio.
fn unit(series: &Series) -> Option<Unit> {
    series.figure.map(Figure::unit).filter(|_| series.per == Per::Nothing)
}

fn shown(unit: Option<Unit>, value: f64) -> String {
    unit.map_or_else(|| Written::bare(value, None), |unit| Written::of(unit, value, None)).value
}

fn curves(series: &Series) -> Lines {
    let unit = unit(series);
    let spots =
        series.values.iter().zip(&series.lines).enumerate().map(|(n, (value, line))| Spot {
            x: n as f64 + 0.5,
            value: *value,
            trust: if line.verdict == "valid" { Trust::Full } else { Trust::Doubtful },
            says: format!("{}: {}", run(line), shown(unit, *value)),
            ..Spot::default()
        });
    let runs = crate::chart::Series {
        title: "runs".into(),
        points: spots.collect(),
        ..crate::chart::Series::default()
    };
    let levels = series.course.levels.iter().flat_map(|level| {
        let end = |x: f64, is_after_gap| {
            let says = format!("level {}", shown(unit, level.mean));
            Spot { x, value: level.mean, is_after_gap, says, ..Spot::default() }
        };
        [end(level.first as f64, true), end(level.end as f64, false)]
    });
    let levels = crate::chart::Series {
        slot: 1,
        form: Form::Line("thin"),
        points: levels.collect(),
        ..crate::chart::Series::default()
    };
    let panel = Panel::new(
        heading(series),
        "upright: a change",
        unit.unwrap_or(Unit::Count),
        200.0,
        vec![levels, runs],
    );
    let breaks = series.course.shifts.iter().map(|shift| {
        let commit = series.lines.get(shift.first).and_then(|line| line.run.commit.as_deref());
        (shift.first as f64, commit.map_or(String::new(), |hash| hash[..hash.len().min(8)].into()))
    });
    let short = |line: &Line| {
        line.run.commit.as_deref().map_or("–".into(), |it| it[..it.len().min(7)].into())
    };
    Lines {
        about: About {
            title: name(series),
            description: "Each run's figure, and the levels between which it changed".into(),
        },
        across: SharedAxis::Names(series.lines.iter().map(short).collect()),
        axis: "runs, oldest first".into(),
        panels: vec![panel],
        breaks: breaks.collect(),
        ..Lines::default()
    }
}
