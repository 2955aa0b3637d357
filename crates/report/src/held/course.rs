//! A whole ramp along its time: how many connections were open, what they took, how late messages arrived, and what was
//! given back.

use analysis::{Course, Moment, Reading, Track};
use lab::figure::Unit;
use lab::record::OutcomeKind;

use super::lines::estimated;
use super::named;
use crate::Findings;
use crate::chart::{About, StripPanel, Strips, Trace, Way, panel};
use crate::detail::{of_probe, trace, unit};
use crate::markup::{Markup, markup};
use crate::render::html::{self, beside, dim};

/// Up to this many are unfolded from the start; if there are more, only the first.
const UNFOLDED: usize = 4;

/// The height of a panel of readings.
const HEIGHT: f64 = 56.0;

/// A panel of readings: its heading, its note, how it is drawn, and what is in it with its name.
type Shown = (&'static str, &'static str, Way, &'static [(Reading, &'static str, &'static str)]);

/// Every subject's ramps, each subject folded behind a line that names it.
pub(super) fn courses(findings: &Findings<'_>) -> Markup {
    let mut all: Vec<&Course> = findings.courses().iter().collect();
    let place = |course: &Course| {
        findings.board.ramps.iter().position(|ramps| ramps.workload == course.workload)
    };
    all.sort_by_key(|course| (findings.slot(&course.subject), place(course)));
    let subjects: Vec<&[&Course]> =
        all.chunk_by(|one, other| one.subject == other.subject).collect();
    if subjects.is_empty() {
        return Markup::default();
    }
    let is_few = subjects.len() <= UNFOLDED;
    let depth = |(n, courses): (usize, &&[&Course])| depth(findings, courses, is_few || n == 0);
    let depths: Markup = subjects.iter().enumerate().map(depth).collect();
    let note = "One round of each. Shaded: after all connections were closed, the server is left alone and watched: what it does \
                not give back then, it keeps.";
    markup!("<h3>A whole ramp along its time</h3>\n{}{}", dim(note), depths)
}

fn depth(findings: &Findings<'_>, courses: &[&Course], is_open: bool) -> Markup {
    let subject = courses.first().map_or("", |course| course.subject.as_str());
    let slot = findings.slot(subject);
    let figures = courses.iter().map(|course| figure(findings, course, slot)).collect();
    let figures = beside("charts", &figures).unwrap_or_default();
    html::depth(slot, is_open, findings.title(subject), None, &figures)
}

fn figure(findings: &Findings<'_>, course: &Course, slot: usize) -> Markup {
    let ended = match course.ended {
        OutcomeKind::Measured => String::new(),
        other => format!(" · no measurement: {}", other.name()),
    };
    markup!(
        "<figure class=\"cursor\" data-label=\"{}\">\n<figcaption>{}<span>round {}{}{}</span></figcaption>\n{}\
         <output class=\"dim\"></output>\n</figure>\n",
        named(findings, &course.subject, &course.workload),
        course.workload,
        course.repeat + 1,
        ended,
        given_back(findings, course),
        strips(findings, course, slot).svg(false)
    )
}

/// The memory that was given back, over all rounds.
fn given_back(findings: &Findings<'_>, course: &Course) -> Option<String> {
    let ramps = findings.board.ramps.iter().filter(|ramps| ramps.workload == course.workload);
    let held =
        ramps.flat_map(|ramps| &ramps.subjects).find(|held| held.subject == course.subject)?;
    let after = held.price.after.as_ref()?;
    let bytes = |found| estimated(Unit::Bytes, found);
    let back = after
        .given_back_percent
        .as_ref()
        .map_or(String::new(), |share| format!(": {} given back", estimated(Unit::Percent, share)));
    Some(format!(
        " · all rounds: {} {} before, {} at most, {} after{back}",
        after.of.name().to_uppercase(),
        bytes(&after.before),
        bytes(&after.peak),
        bytes(&after.after)
    ))
}

fn strips(findings: &Findings<'_>, course: &Course, slot: usize) -> Strips {
    let mut panels = vec![open(course)];
    panels.extend(readings().into_iter().filter_map(|shown| read(course, shown)));
    panels.extend(course.probe.iter().map(|track| of_probe(track, HEIGHT)));
    panels.extend(late(course));
    panels.extend(gone(course));
    let title = named(findings, &course.subject, &course.workload);
    Strips {
        about: About {
            title: format!("{title}: connections and what they took, along the time"),
            description: format!("{} panels over one axis of time", panels.len()),
            ..About::default()
        },
        slot,
        columns: course.moments.iter().map(|moment| (moment.from_s, moment.until_s)).collect(),
        measured: (0.0, course.closed_s),
        panels,
    }
}

/// Connections, and before them the beginning of the cursor's text: the time.
fn open(course: &Course) -> StripPanel {
    let when = |moment: &Moment| Some(moment.from_s * 1e3);
    let mut at = along(course, "at", "", Unit::Milliseconds, when);
    at.values.clear();
    let count = |moment: &Moment| Some(moment.open as f64);
    let open = along(course, "open", "trace", Unit::Count, count);
    let rate = |moment: &Moment| Some(moment.messages_per_s);
    // Not drawn: the cursor's text has it.
    let mut messages = along(course, "messages/s", "", Unit::PerSecond, rate);
    messages.values.clear();
    panel("open connections", "", Unit::Count, 64.0, Way::Lines, vec![at, open, messages])
}

fn readings() -> [Shown; 2] {
    [
        (
            "memory",
            "dashed: shared pages divided (PSS)",
            Way::Lines,
            &[(Reading::Rss, "memory", "trace"), (Reading::Pss, "PSS", "trace faint")],
        ),
        (
            "CPU",
            "deep: in the kernel · 100 % is one CPU",
            Way::Stack,
            &[
                (Reading::CpuSystem, "CPU in the kernel", "fill deep"),
                (Reading::CpuUser, "CPU in programs", "fill"),
            ],
        ),
    ]
}

fn read(course: &Course, (heading, note, way, all): Shown) -> Option<StripPanel> {
    let unit = unit(all[0].0);
    let track = |reading| course.tracks.iter().find(|track: &&Track| track.reading == reading);
    let of = |&(reading, name, class): &(Reading, &'static str, &'static str)| {
        Some(trace(name, class, unit, track(reading)?.values.clone()))
    };
    let traces: Vec<Trace> = all.iter().filter_map(of).collect();
    (!traces.is_empty()).then(|| panel(heading, note, unit, HEIGHT, way, traces))
}

/// None if no message said when it was due.
fn late(course: &Course) -> Option<StripPanel> {
    let p99 = |moment: &Moment| moment.late_p99.map(|late| late.value);
    let late = along(course, "late, p99", "trace", Unit::Milliseconds, p99);
    let is_any = late.values.iter().any(Option::is_some);
    let (heading, note) = ("messages late, p99", "against their beat");
    is_any.then(|| panel(heading, note, Unit::Milliseconds, 72.0, Way::Factors, vec![late]))
}

/// None if no connection was lost.
fn gone(course: &Course) -> Option<StripPanel> {
    let count = |moment: &Moment| Some(moment.gone as f64);
    let gone = along(course, "failed or lost", "fill deep", Unit::Count, count);
    let is_any = gone.values.iter().flatten().any(|value| 0.0 < *value);
    is_any.then(|| panel("failed or lost", "", Unit::Count, 40.0, Way::Columns, vec![gone]))
}

fn along(
    course: &Course,
    name: &str,
    class: &'static str,
    unit: Unit,
    of: impl Fn(&Moment) -> Option<f64>,
) -> Trace {
    trace(name, class, unit, course.moments.iter().map(of).collect())
}
