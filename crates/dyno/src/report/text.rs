//! The end report: a table that can stand alone.

use analysis::{Gravity, measured_s, offered_per_s, on_time, throughput_per_s};
use load::{Arrivals, Distribution, Failure, Load, SECOND};

use super::figures::{self, SHOWN};
use super::paint::{Ink, Line, wrapped};
use super::table::{self, Cell};
use super::units::{bytes, count, nanos, percent, rate, tight, time};
use super::{evidence, histogram, sentence};
use crate::order::words;
use crate::run::{self, Run};

/// Where values begin.
const LABEL: usize = 12;
/// No line is wider, unless a single word is.
const WIDTH: usize = 80;

/// The whole report.
pub(crate) fn of(run: &Run, is_coloured: bool) -> String {
    let sections = [
        heading(run),
        wrapped(&sentence::of(run), WIDTH)
            .into_iter()
            .map(|line| Line::ink(Ink::Bold, line))
            .collect(),
        rates(run),
        latencies(run),
        response_histogram(run),
        failures(run),
        evidence(run),
        beside(run),
        verdict(run),
    ];
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        for line in section {
            text.push_str(line.shown(is_coloured).trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn row(label: &str, text: impl Into<String>) -> Line {
    Line::ink(Ink::Dim, format!("{label:<LABEL$}")).and(Ink::Plain, text)
}

fn heading(run: &Run) -> Vec<Line> {
    let asked = &run.asked;
    let order = &run.order;
    let lanes = match order.lanes {
        1 => "1 lane".to_string(),
        lanes => format!("{lanes} lanes"),
    };
    let cpus = match order.cpus.as_slice() {
        [] => String::new(),
        cpus => format!(" on CPU {}", words::list(cpus)),
    };
    let mut lines = vec![
        Line::ink(Ink::Bold, format!("{} {}", asked.method, asked.url))
            .and(Ink::Dim, format!("  at {}", asked.address)),
    ];
    let load = format!("{} · {lanes}{cpus}", words::of_load(order));
    lines.extend(wrapped(&load, WIDTH).into_iter().map(|line| Line::ink(Ink::Dim, line)));
    if order.limits.lenient {
        lines
            .push(Line::ink(Ink::Dim, "lenient: broken framing that old servers send is accepted"));
    }
    lines
}

fn rates(run: &Run) -> Vec<Line> {
    let recording = &run.recording;
    let total = &recording.total;
    let seconds = measured_s(recording);
    let carried = match total.carried_in {
        0 => String::new(),
        carried => format!(", {} of them to requests that were due before it", count(carried)),
    };
    let mut lines = vec![row(
        "measured",
        format!(
            "{} correct answers in {}{carried}",
            count(total.correct_inside),
            time(seconds * SECOND as f64)
        ),
    )];
    if run.order.load.arrivals().is_some() {
        let offered = rate(offered_per_s(recording).unwrap_or(0.0));
        let on_time = on_time(recording, None);
        lines.push(row("offered", format!("{offered} requests/s")));
        lines.push(row(
            "on time",
            format!(
                "{}: {} of {} requests that were due were answered correctly within {}",
                percent(on_time.share().unwrap_or(0.0)),
                count(on_time.on_time),
                count(on_time.due),
                nanos(on_time.within)
            ),
        ));
    }
    let throughput = rate(throughput_per_s(recording).unwrap_or(0.0));
    lines.push(row("throughput", format!("{throughput} correct answers/s")));
    lines.extend(sections(run));
    lines
}

/// The parts of a load that changes, a line each.
fn sections(run: &Run) -> Vec<Line> {
    let sections = &run.recording.sections;
    if sections.is_empty() {
        return Vec::new();
    }
    let heads = ["from", "due/s", "on time", "answers/s", "p50", "p90", "p99", "failed"];
    let mut rows: Vec<Vec<Cell>> = vec![heads.map(|head| Cell::ink(Ink::Dim, head)).to_vec()];
    let began = run.recording.measured_from;
    rows.extend(sections.iter().map(|section| {
        let seconds = (section.until - section.from) as f64 / SECOND as f64;
        let per_s = |count: u64| Cell::plain(rate(count as f64 / seconds));
        let share = section.on_time as f64 / section.due.max(1) as f64;
        let mut cells = vec![
            Cell::ink(Ink::Dim, nanos(section.from.saturating_sub(began)).replace(' ', "")),
            per_s(section.due),
            Cell::plain(if section.due == 0 { "–".into() } else { percent(share) }),
            per_s(section.correct_inside),
        ];
        cells.extend([0.5, 0.9, 0.99].map(|q| figures::cell(&section.response, q)));
        cells.push(Cell::plain(count(section.failed)));
        cells
    }));
    let title = match run.order.load.arrivals() {
        Some(Arrivals::Ramp { .. }) => "the ramp, a tenth in a line",
        _ => "the steps, one in a line",
    };
    let mut lines = vec![Line::plain(""), Line::ink(Ink::Dim, title)];
    lines.extend(table::lines(&rows, 6));
    lines
}

fn latencies(run: &Run) -> Vec<Line> {
    let total = &run.recording.total;
    let all = [
        ("response", &total.response),
        ("service", &total.service),
        ("first byte", &total.first_byte),
        ("connect", &total.connect),
        ("blocked", &total.blocked),
        ("late", &total.late),
    ];
    let there: Vec<_> = all.into_iter().filter(|(_, there)| 0 < there.count()).collect();
    if there.is_empty() {
        return Vec::new();
    }
    let head =
        ["", "samples", "mean", "sd"].into_iter().chain(SHOWN.map(|(name, _)| name)).chain(["max"]);
    let mut rows = vec![head.map(|name| Cell::ink(Ink::Dim, name)).collect()];
    rows.extend(there.iter().map(|(name, distribution)| latency_row(name, distribution)));
    let mut lines = table::lines(&rows, LABEL);
    if there.iter().any(|(_, distribution)| figures::is_any_unsupported(distribution)) {
        lines.push(Line::ink(
            Ink::Dim,
            "* fewer than 10 samples lie beyond: not supported by the sample",
        ));
    }
    let censored = total.response.censored();
    if 0 < censored {
        lines.push(Line::ink(
            Ink::Dim,
            format!("≥ {} samples were given up, and would have taken longer", count(censored)),
        ));
    }
    lines
}

fn latency_row(name: &str, distribution: &Distribution) -> Vec<Cell> {
    let mut row = vec![
        Cell::ink(Ink::Dim, name),
        Cell::plain(count(distribution.count())),
        Cell::plain(tight(distribution.mean())),
        Cell::plain(tight(distribution.standard_deviation())),
    ];
    row.extend(SHOWN.map(|(_, q)| figures::cell(distribution, q)));
    row.push(Cell::plain(figures::max(distribution)));
    row
}

fn response_histogram(run: &Run) -> Vec<Line> {
    let bins = histogram::lines(run.recording.total.response.histogram());
    let title = Line::ink(Ink::Dim, "response time, how many answers took how long");
    if bins.is_empty() { bins } else { std::iter::once(title).chain(bins).collect() }
}

fn failures(run: &Run) -> Vec<Line> {
    let total = &run.recording.total;
    let ink = if total.failed_in_all() == 0 { Ink::Plain } else { Ink::Bad };
    let mut lines = vec![
        Line::ink(Ink::Dim, format!("{:<LABEL$}", "books"))
            .and(
                Ink::Plain,
                format!(
                    "attempted {} = correct {} + ",
                    count(total.attempted),
                    count(total.correct)
                ),
            )
            .and(ink, format!("failed {}", count(total.failed_in_all())))
            .and(Ink::Plain, format!(" + under way {}", count(total.under_way))),
    ];
    let seen = Failure::ALL.into_iter().filter(|&failure| 0 < total.failures(failure));
    let rows: Vec<Vec<Cell>> = seen
        .map(|failure| {
            let times = total.failures(failure);
            vec![
                Cell::plain(" ".repeat(LABEL)),
                Cell::ink(Ink::Bad, count(times)),
                Cell::plain(percent(times as f64 / total.attempted.max(1) as f64)),
                Cell::plain(format!("{:<26}{}", failure.name(), failure.meaning())),
            ]
        })
        .collect();
    lines.extend(left_last(rows));
    let sessions = &total.sessions;
    if let Load::Sessions { .. } = run.order.load {
        let under_way = sessions.attempted.saturating_sub(sessions.complete + sessions.failed);
        lines.push(row(
            "sessions",
            format!(
                "attempted {} = complete {} + failed {} + under way {}",
                count(sessions.attempted),
                count(sessions.complete),
                count(sessions.failed),
                count(under_way)
            ),
        ));
    }
    lines
}

/// Of each class of failure the first one, with its bytes.
fn evidence(run: &Run) -> Vec<Line> {
    let mut lines = Vec::new();
    for kept in evidence::first_of_each(&run.recording.total.evidence) {
        lines.push(Line::ink(Ink::Dim, evidence::title(kept)));
        for (label, text) in evidence::parts(kept) {
            let label = Line::ink(Ink::Dim, format!("  {label:<width$}", width = LABEL - 2));
            lines.extend(beside_label(label, Ink::Plain, &text));
        }
    }
    lines
}

/// A table whose last column is text, to the left.
fn left_last(mut rows: Vec<Vec<Cell>>) -> Vec<Line> {
    let texts: Vec<Option<Cell>> = rows.iter_mut().map(Vec::pop).collect();
    let lines = table::lines(&rows, LABEL - 2);
    let with = |(line, text): (Line, Option<Cell>)| match text {
        Some(text) => text.after(line),
        None => line,
    };
    lines.into_iter().zip(texts).map(with).collect()
}

/// Connections, bytes, notes, and the instrument.
fn beside(run: &Run) -> Vec<Line> {
    let total = &run.recording.total;
    let connections = &total.connections;
    let mut lines = vec![
        row(
            "connections",
            format!(
                "{} begun, {} established, {} failed",
                count(connections.begun),
                count(connections.established),
                count(connections.failed)
            ),
        ),
        row(
            "bytes",
            format!("{} sent, {} received", bytes(total.bytes_sent), bytes(total.bytes_received)),
        ),
    ];
    lines.extend(queue(run));
    lines.extend(notes(run));
    lines.extend(generator(run));
    lines
}

/// The server's accept queue, where the server is on this machine.
fn queue(run: &Run) -> Option<Line> {
    let queue = run.queue?;
    let holds = queue.backlog.map_or("the server's".into(), |backlog| {
        format!("the server's holds {} connections", count(u64::from(backlog)))
    });
    let overflows = match queue.overflows {
        0 => "no accept queue of this machine was full".to_string(),
        1 => "once a connection found an accept queue of this machine full".to_string(),
        many => format!("{} connections found an accept queue of this machine full", count(many)),
    };
    Some(row("queue", format!("{holds}; {overflows}")))
}

fn notes(run: &Run) -> Option<Line> {
    let notes = &run.recording.total.notes;
    let all = [
        (notes.announced_closes, "answers after which the server closed, as it had announced"),
        (notes.stale_retries, "sent once more because a reused connection was closed"),
        (notes.idle_closed, "idle connections closed by the server"),
        (notes.surplus, "answers with bytes behind them"),
        (notes.unsolicited, "answers without a request"),
    ];
    let there = all.into_iter().filter(|(times, _)| 0 < *times);
    let texts: Vec<String> =
        there.map(|(times, what)| format!("{} {what}", count(times))).collect();
    (!texts.is_empty()).then(|| row("notes", texts.join("; ")))
}

fn generator(run: &Run) -> [Line; 3] {
    let recording = &run.recording;
    let each = run::cpu_per_request_ns(recording).map_or("–".into(), time);
    let busy: Vec<String> =
        recording.lanes.iter().map(|lane| percent(run::busy_share(&[*lane]))).collect();
    let late = recording.total.late.quantile(0.99).map_or("–".into(), figures::shown);
    let work = format!(
        "busy {}, polling {} of the time, p99 {late} late",
        busy.join(", "),
        percent(run::polled_share(&recording.lanes)),
    );
    let cpu = format!(
        "{} of CPU time, polling included; {each} a request",
        nanos(run::lanes_cpu(recording))
    );
    let memory = run.costs.peak_memory_bytes.map_or("–".into(), bytes);
    let view = nanos(run.costs.live_view_cpu);
    let costs = format!("{memory} of memory at the most, {view} of CPU time for the live view");
    [row("instrument", work), row("", cpu), row("", costs)]
}

fn verdict(run: &Run) -> Vec<Line> {
    let word = run.verdict.word();
    let ink = match word {
        "valid" => Ink::Good,
        "suspect" => Ink::Doubtful,
        _ => Ink::Bad,
    };
    let mut lines = vec![Line::ink(Ink::Dim, format!("{:<LABEL$}", "verdict")).and(ink, word)];
    for doubt in &run.verdict.doubts {
        let ink = match doubt.gravity {
            Gravity::Note => Ink::Dim,
            Gravity::Suspect => Ink::Doubtful,
            Gravity::Invalid => Ink::Bad,
        };
        let name = Line::ink(ink, format!("  {:<width$}", doubt.gravity.name(), width = LABEL - 2));
        lines.extend(beside_label(name, Ink::Plain, &doubt.says));
        lines.extend(beside_label(
            Line::plain(" ".repeat(LABEL - 2) + "→ "),
            Ink::Dim,
            &doubt.what_to_do,
        ));
    }
    lines
}

/// A label with a text to its right, in as many lines as it takes.
fn beside_label(label: Line, ink: Ink, text: &str) -> Vec<Line> {
    let mut labels =
        std::iter::once(label).chain(std::iter::repeat(Line::plain(" ".repeat(LABEL))));
    let texts = wrapped(text, WIDTH - LABEL);
    texts.into_iter().filter_map(|text| Some(labels.next()?.and(ink, text))).collect()
}

#[cfg(test)]
mod tests;
