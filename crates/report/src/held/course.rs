//! A whole ramp along its time: how many connections were open, what they took, how late messages arrived, and what was
//! given back.

use analysis::HeldCourse;
use lab::figure::Unit;
use lab::record::OutcomeKind;

use super::named;
use crate::Findings;
use crate::chart::{About, Form, Lines, Panel, Room, SharedAxis, Stand};
use crate::detail::{CPU, MEMORY, Times};
use crate::markup::{Markup, markup};
use crate::render::html::{self, beside, dim};

/// Up to this many are unfolded from the start; if there are more, only the first.
const UNFOLDED: usize = 4;

/// The height of a panel of readings.
const HEIGHT: f64 = 56.0;

/// Every subject's ramps, each subject folded behind a line that names it.
pub(super) fn courses(findings: &Findings<'_>) -> Markup {
    let mut all: Vec<&HeldCourse> = findings.courses().iter().collect();
    let place = |course: &HeldCourse| {
        findings.board.ramps.iter().position(|ramps| ramps.workload == course.workload)
    };
    all.sort_by_key(|course| (findings.slot(&course.subject), place(course)));
    let subjects: Vec<&[&HeldCourse]> =
        all.chunk_by(|one, other| one.subject == other.subject).collect();
    if subjects.is_empty() {
        return Markup::default();
    }
    let is_few = subjects.len() <= UNFOLDED;
    let depth = |(n, courses): (usize, &&[&HeldCourse])| depth(findings, courses, is_few || n == 0);
    let depths: Markup = subjects.iter().enumerate().map(depth).collect();
    let note = "One round of each. Shaded: after all connections were closed, the server is left alone and watched: what it does \
                not give back then, it keeps.";
    markup!("<h3>A whole ramp along its time</h3>\n{}{}", dim(note), depths)
}

fn depth(findings: &Findings<'_>, courses: &[&HeldCourse], is_open: bool) -> Markup {
    let subject = courses.first().map_or("", |course| course.subject.as_str());
    let slot = findings.slot(subject);
    let figures = courses.iter().map(|course| figure(findings, course, slot)).collect();
    let figures = beside("charts", &figures).unwrap_or_default();
    html::folded(Some(slot), is_open, findings.title(subject), &figures)
}

fn figure(findings: &Findings<'_>, course: &HeldCourse, slot: usize) -> Markup {
    let ended = match course.ended {
        OutcomeKind::Measured => String::new(),
        other => format!(" · no measurement: {}", other.name()),
    };
    markup!(
        "<figure class=\"cursor\" data-label=\"{}\">\n<figcaption>{}<span>round {}{}</span></figcaption>\n{}\
         <output class=\"dim\"></output>\n</figure>\n",
        named(findings, &course.subject, &course.workload),
        course.workload,
        course.repeat + 1,
        ended,
        strips(findings, course, slot).svg(Room::Small(400.0), Stand::Page)
    )
}

fn strips(findings: &Findings<'_>, course: &HeldCourse, slot: usize) -> Lines {
    let moments = course.moments.iter();
    let columns = moments.map(|moment| (moment.from_s, moment.until_s)).collect();
    let times = Times { slot, columns };
    let until_s = course.moments.last().map_or(0.0, |moment| moment.until_s);
    let mut panels = vec![open(course, &times)];
    let readings = [MEMORY, CPU].into_iter();
    panels.extend(readings.filter_map(|shown| times.readings(&course.tracks, shown, HEIGHT)));
    panels.extend(course.probe.iter().map(|track| times.probe(track, HEIGHT)));
    panels.extend(late(course, &times));
    panels.extend(gone(course, &times));
    let title = named(findings, &course.subject, &course.workload);
    Lines {
        about: About {
            title: format!("{title}: connections and what they took, along the time"),
            description: format!("{} panels over one axis of time", panels.len()),
        },
        across: SharedAxis::Seconds(until_s),
        shaded: vec![(course.closed_s, until_s)],
        panels,
        slot: Some(slot),
        ..Lines::default()
    }
}

/// Connections, and before them the beginning of the cursor's text: the time.
fn open(course: &HeldCourse, times: &Times) -> Panel {
    let count = course.moments.iter().map(|moment| Some(moment.open as f64));
    let open = times.trace("open", Form::Line("trace"), Unit::Count, count);
    let rate = course.moments.iter().map(|moment| Some(moment.messages_per_s));
    // Not drawn: the cursor's text has it.
    let messages = times.trace("messages/s", Form::Told, Unit::PerSecond, rate);
    let traces = vec![times.at(), open, messages];
    Panel::new("open connections", "", Unit::Count, 64.0, traces)
}

/// None if no message said when it was due.
fn late(course: &HeldCourse, times: &Times) -> Option<Panel> {
    let p99 = || course.moments.iter().map(|moment| moment.late_p99.map(|late| late.value));
    p99().any(|late| late.is_some()).then(|| {
        let late = times.trace("late, p99", Form::Line("trace"), Unit::Milliseconds, p99());
        let (heading, note) = ("messages late, p99", "how late");
        let panel = Panel::new(heading, note, Unit::Milliseconds, 72.0, vec![late]);
        Panel { is_log: true, ..panel }
    })
}

/// None if no connection was lost.
fn gone(course: &HeldCourse, times: &Times) -> Option<Panel> {
    let count = || course.moments.iter().map(|moment| Some(moment.gone as f64));
    count().flatten().any(|gone| 0.0 < gone).then(|| {
        let gone = times.trace("failed or lost", Form::Columns("fill deep"), Unit::Count, count());
        Panel::new("failed or lost", "", Unit::Count, 40.0, vec![gone])
    })
}
