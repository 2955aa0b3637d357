//! The results of ramps against their connections: a line for each subject and workload, all of them in one chart.

use analysis::{Estimate, HeldSubject, Plateau, PlateauFigure};
use lab::figure::{Figure, Unit};
use lab::probe::{ProbeFold, ProbeReading};

use super::lines::{Line, estimated, memory, memory_max};
use crate::Findings;
use crate::chart::{About, Lines, Panel, Series, Spot, Stand, both};
use crate::markup::{Markup, markup};
use crate::number_format::unsaid;
use crate::render::html::dim;

/// A value of a plateau.
#[derive(Clone, Copy)]
enum Of<'f> {
    Figure(PlateauFigure<'f>),
    /// The memory that a connection's price is made of.
    Memory,
    /// The most of the same.
    MemoryMax,
}

impl Of<'_> {
    fn estimate(self, held: &HeldSubject, plateau: &Plateau) -> Option<Estimate> {
        match self {
            Of::Figure(figure) => plateau.estimate(figure),
            Of::Memory => memory(held, plateau),
            Of::MemoryMax => memory_max(held, plateau),
        }
    }
}

/// One panel: marks and lines of one value, and thin lines of another.
struct Shown<'f> {
    heading: &'f str,
    note: &'f str,
    unit: Unit,
    height: f64,
    value: Of<'f>,
    thin: Option<Of<'f>>,
}

/// Means with marks, and the most as a thin line.
const MEAN_AND_MOST: &str = "mean of the plateau; thin: the most";

/// More lines than these are drawn without thin ones beside them, and one way only.
const CROWD: usize = 16;

/// A heading with its picture, which is empty where nothing was read.
struct Picture<'f> {
    heading: &'static str,
    says: &'static str,
    /// For the load and the machine, references are the measure; what references cost does not matter.
    has_references: bool,
    panels: Vec<Shown<'f>>,
}

/// All of them.
pub(super) fn curves(findings: &Findings<'_>, lines: &[Line<'_>]) -> Markup {
    let all = [took(), worked(), inside(&findings.board.readings), connecting(), lateness()];
    all.into_iter().map(|picture| picture.drawn(lines)).collect()
}

/// What a workload's connections took, and how late its messages came.
pub(super) fn signature(findings: &Findings<'_>, workload: &str, lines: &[Line<'_>]) -> Lines {
    let competing: Vec<&Line<'_>> = lines.iter().filter(|line| !line.held.is_reference).collect();
    let all: Vec<&Line<'_>> = lines.iter().collect();
    let memory = took().panels.into_iter().take(1);
    let late = lateness().panels.into_iter().take(1);
    let panels = memory
        .filter_map(|shown| shown.panel(&competing, false))
        .chain(late.filter_map(|shown| shown.panel(&all, true)));
    Lines {
        about: About {
            title: format!("{}: {workload}", findings.run.name),
            description: "Memory and lateness, against the connections that are open".into(),
        },
        axis: "open connections".into(),
        panels: panels.collect(),
        ..Lines::default()
    }
}

fn of(figure: Figure) -> Of<'static> {
    Of::Figure(figure.into())
}

fn took() -> Picture<'static> {
    let memory = Shown {
        heading: "memory",
        note: MEAN_AND_MOST,
        unit: Unit::Bytes,
        height: 230.0,
        value: Of::Memory,
        thin: Some(Of::MemoryMax),
    };
    Picture {
        heading: "Memory",
        says: "All processes of a server together: PSS where it was read on every plateau, else RSS. Where the line is straight, its slope is the price of \
               a connection.",
        has_references: false,
        panels: vec![memory],
    }
}

fn worked() -> Picture<'static> {
    let shown = |heading, note, unit, figure| {
        let value = of(figure);
        Shown { heading, note, unit, height: 150.0, value, thin: None }
    };
    Picture {
        heading: "Work",
        says: "What the messages take, and keeping the connections that they come over.",
        has_references: false,
        panels: vec![
            shown("CPU", "100 % is one CPU", Unit::Percent, Figure::StepCpuShare),
            shown(
                "CPU for 1,000 messages",
                "less is better",
                Unit::Milliseconds,
                Figure::StepCpuPerThousand,
            ),
        ],
    }
}

fn inside(readings: &[ProbeReading]) -> Picture<'_> {
    Picture {
        heading: "Inside the server's runtime",
        says: "What a probe in the server's runtime reports of it, over the measured part of each step.",
        has_references: false,
        panels: readings.iter().filter_map(of_probe).collect(),
    }
}

/// The first figure of a reading with marks, the second as a thin line.
fn of_probe(reading: &ProbeReading) -> Option<Shown<'_>> {
    let (first, second) = (reading.figures.first()?, reading.figures.get(1));
    Some(Shown {
        heading: &reading.title,
        note: match (&first.fold, second) {
            (ProbeFold::Mean, Some(_)) => MEAN_AND_MOST,
            (ProbeFold::Max, Some(_)) => "the most of the plateau; thin: its mean",
            (ProbeFold::Mean | ProbeFold::Per(_), _) => "mean of the plateau",
            (ProbeFold::Max, None) => "the most of the plateau",
            (ProbeFold::Growth, _) => unsaid(first.unit),
        },
        unit: first.unit,
        height: 150.0,
        value: Of::Figure(first.into()),
        thin: second.map(|second| Of::Figure(second.into())),
    })
}

fn connecting() -> Picture<'static> {
    const NOTE: &str = "p99 with marks, p50 thin";
    Picture {
        heading: "Connecting along the ramp",
        says: "Those that each step adds, while all others are held.",
        has_references: true,
        panels: vec![
            time(
                "until TCP is connected",
                NOTE,
                of(Figure::StepConnectP99),
                Some(of(Figure::StepConnectP50)),
            ),
            time(
                "from there to the head or the handshake",
                NOTE,
                of(Figure::AgreeP99),
                Some(of(Figure::AgreeP50)),
            ),
        ],
    }
}

fn lateness() -> Picture<'static> {
    Picture {
        heading: "How late messages came",
        says: "How long after it was due each message came. What dyno's own server shows, too, is the delay of the \
            machine and of dyno.",
        has_references: true,
        panels: vec![
            time(
                "late",
                "p99 with marks, p50 thin",
                of(Figure::PushLateP99),
                Some(of(Figure::PushLateP50)),
            ),
            time("the latest of all", "the most of a plateau", of(Figure::PushLateMax), None),
        ],
    }
}

fn time(
    heading: &'static str,
    note: &'static str,
    value: Of<'static>,
    thin: Option<Of<'static>>,
) -> Shown<'static> {
    Shown { heading, note, unit: Unit::Milliseconds, height: 160.0, value, thin }
}

impl Picture<'_> {
    fn drawn(&self, lines: &[Line<'_>]) -> Markup {
        let is_shown = |line: &&Line<'_>| self.has_references || !line.held.is_reference;
        let shown: Vec<&Line<'_>> = lines.iter().filter(is_shown).collect();
        let panel = |panel: &Shown<'_>| panel.panel(&shown, self.has_references);
        let panels: Vec<Panel> = self.panels.iter().filter_map(panel).collect();
        if panels.is_empty() {
            return Markup::default();
        }
        let headings: Vec<&str> = panels.iter().map(|panel| panel.heading.as_str()).collect();
        let description = format!("{}; against the connections that are open", headings.join("; "));
        let chart = Lines {
            about: About { title: self.heading.into(), description },
            axis: "open connections".into(),
            panels,
            ..Lines::default()
        };
        let drawn = both(|room| chart.svg(room, Stand::Page));
        markup!("<h3>{}</h3>\n{}{}", self.heading, dim(self.says), drawn)
    }
}

impl Shown<'_> {
    /// None if no subject has the value. Times that the load measures go by factors.
    fn panel(&self, lines: &[&Line<'_>], is_log: bool) -> Option<Panel> {
        let series = |of: Of<'_>| -> Vec<Series> {
            lines.iter().filter_map(|line| self.series(line, of)).collect()
        };
        let marked = series(self.value);
        if marked.is_empty() {
            return None;
        }
        let is_crowd = CROWD < marked.len();
        let thin = self.thin.filter(|_| !is_crowd).map(series).unwrap_or_default().into_iter();
        let drawn = thin.map(|series| series.lined("thin")).chain(marked).collect();
        Some(Panel {
            is_log,
            way: (is_log && !is_crowd).then_some("time"),
            ..Panel::new(self.heading, self.note, self.unit, self.height, drawn)
        })
    }

    fn series(&self, line: &Line<'_>, of: Of<'_>) -> Option<Series> {
        let spots = line.held.plateaus.iter().filter_map(|plateau| {
            let (found, open) = (of.estimate(line.held, plateau)?, plateau.estimate(Figure::Open)?);
            let many = super::lines::number(Unit::Count, open.value);
            Some(Spot {
                x: open.value,
                value: found.value,
                interval: found.interval(),
                trust: line.trust(),
                says: format!("{} with {many} open", estimated(self.unit, &found)),
                ..Spot::default()
            })
        });
        let points: Vec<Spot> = spots.collect();
        let (title, slot, dash) = (line.title.clone(), line.slot, line.dash);
        (!points.is_empty()).then_some(Series { title, slot, dash, points, ..Series::default() })
    }
}
