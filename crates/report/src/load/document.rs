//! The end report of a load as a document.

use units::{bytes, count, nanos, percent, rate, time};

use super::{FinishedLoad, answers, requirements, sentence, terms, words};
use crate::agents::{self, facts_of, lost_agent};
use crate::chart::bars;
use crate::document::{
    Block, Cell, Column, Depth, Document, Drawing, Entry, Fact, Paragraph, Row, Section, Table,
    Tone,
};
use crate::paint::{Ink, Line};
use crate::written::{Written, marks};
use crate::{evidence, http2, quantile, security, written};
use analysis::{
    Figures, generator_busy, generator_cpu, generator_cpu_per_request_ns, generator_polled,
    measured_s, offered_per_s, on_time, throughput_per_s,
};
use lab::figure::Figure;
use load::{Arrivals, Distribution, Failure, Load, SECOND};

/// The figures that stand in lines, tables and books of their own here.
const IN_OTHER_WORDS: [Figure; 27] = [
    Figure::Throughput,
    Figure::Offered,
    Figure::OnTime,
    Figure::Attempted,
    Figure::Correct,
    Figure::ResponseMean,
    Figure::ResponseSd,
    Figure::ResponseMin,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP99,
    Figure::ResponseP999,
    Figure::ResponseMax,
    Figure::Failed,
    Figure::FailedShare,
    Figure::SilentShare,
    Figure::LongestSilence,
    Figure::ServiceP50,
    Figure::ServiceP99,
    Figure::ConnectP50,
    Figure::TlsP50,
    Figure::TlsP99,
    Figure::TlsResumed,
    Figure::LateP99,
    Figure::Received,
    Figure::AnswerBytes,
    Figure::GeneratorBusy,
];

/// The whole report.
pub fn document(run: &FinishedLoad) -> Document {
    let asked = &run.asked;
    let mut sections = vec![
        brief("rates", rates(run)),
        brief("steps", sections(run)),
        brief("latencies", latencies(run)),
        Section::new("percentiles", "", Depth::Full).with(percentiles(run)),
        brief("histogram", response_histogram(run)),
        brief("books", books(run)),
        brief("evidence", evidence(run)),
        brief("beside", vec![Block::Facts(beside(run))]),
        Section::new("agents", "", Depth::Brief)
            .with(run.lost.iter().map(|lost| Block::paragraph(Tone::Bad, lost_agent(lost)))),
    ];
    sections.extend(agents::section(&run.agents));
    sections.extend([
        run.verdict.section(),
        Section::new("required", "What was required", Depth::Brief).with(requirements::blocks(run)),
    ]);
    sections.retain(|section| !section.blocks.is_empty());
    let strict = run.order.limits.lenient.then(|| {
        Paragraph::new(Tone::Dim, "lenient: broken framing that old servers send is accepted")
    });
    Document {
        title: format!("{} at {}", asked.words(), asked.address),
        notes: strict.into_iter().collect(),
        answer: vec![sentence::of(run)],
        verdict: run.verdict.word,
        conditions: vec![conditions(run), written::checked(&super::checked(run))],
        sections,
        ..Document::default()
    }
}

fn brief(id: &'static str, blocks: Vec<Block>) -> Section {
    Section::new(id, "", Depth::Brief).with(blocks)
}

fn conditions(run: &FinishedLoad) -> String {
    let order = &run.order;
    let lanes = match order.lanes {
        1 => "1 lane".to_string(),
        lanes => format!("{lanes} lanes"),
    };
    let cpus = match order.cpus.as_slice() {
        [] => String::new(),
        cpus => format!(" on CPU {}", words::list(cpus)),
    };
    format!("{} · {lanes}{cpus}", words::of_load(order))
}

fn rates(run: &FinishedLoad) -> Vec<Block> {
    let recording = &run.recording;
    let total = &recording.total;
    let carried = match total.carried_in {
        0 => String::new(),
        carried => format!(", {} of them to requests that were due before it", count(carried)),
    };
    let seconds = time(measured_s(recording) * SECOND as f64);
    let answers = count(total.correct_inside);
    let after = match total.correct_after() {
        0 => String::new(),
        after => format!("; {} more came after it, to requests that were due in it", count(after)),
    };
    let measured = format!("{answers} correct answers in {seconds}{carried}{after}");
    let mut facts = vec![Fact::new("measured", measured)];
    if run.order.load.arrivals().is_some() {
        let on_time = on_time(recording, None);
        if let Some(offered) = offered_per_s(recording) {
            facts.push(Fact::new("offered", format!("{} requests/s", rate(offered))));
        }
        let says =
            on_time.share().map_or("no request was due in the measured time".into(), |share| {
                format!(
                    "{}: {} of {} requests that were due were answered correctly within {}",
                    percent(share),
                    count(on_time.on_time),
                    count(on_time.due),
                    nanos(on_time.within)
                )
            });
        facts.push(Fact::new("on time", says));
    }
    if let Some(throughput) = throughput_per_s(recording) {
        facts.push(Fact::new("throughput", format!("{} correct answers/s", rate(throughput))));
    }
    let silence = recording.silence;
    if 0 < silence.times {
        let says = format!(
            "{} without a right answer in all, {} at the longest",
            time(silence.sum as f64),
            time(silence.longest as f64)
        );
        facts.push(Fact::new("silence", says));
    }
    facts.extend(others(run));
    vec![Block::Facts(facts)]
}

/// A line for each figure that stands nowhere else, unless it is 0.
fn others(run: &FinishedLoad) -> impl Iterator<Item = Fact> {
    let figures = Figures::of_load(&run.recording);
    let others = Figure::OF_TRIALS.into_iter().filter(|figure| !IN_OTHER_WORDS.contains(figure));
    others.filter_map(move |figure| {
        let number = figures.get(figure).filter(|number| number.value != 0.0)?;
        let written = Written::of(figure.unit(), number.value, None);
        let marks = marks(number.is_bound, number.is_supported);
        let value = Written { marks, ..written }.marked();
        Some(Fact::new(figure.heading(), format!("{value}, {}", figure.meaning())))
    })
}

/// A row for each part of a load that changes.
fn sections(run: &FinishedLoad) -> Vec<Block> {
    let sections = &run.recording.sections;
    if sections.is_empty() {
        return Vec::new();
    }
    let began = run.recording.measured_from;
    let row = |section: &load::Section| {
        let seconds = (section.until - section.from) as f64 / SECOND as f64;
        let per_s = |count: u64| Cell::text(rate(count as f64 / seconds));
        let share = section.on_time as f64 / section.due.max(1) as f64;
        let from = nanos(section.from.saturating_sub(began)).replace(' ', "");
        let mut cells = vec![
            Cell::text(from).toned(Tone::Dim),
            per_s(section.due),
            if section.due == 0 { Cell::none() } else { Cell::text(percent(share)) },
            per_s(section.correct_inside),
        ];
        cells.extend([0.5, 0.9, 0.99].map(|q| quantile::cell(&section.response, q)));
        cells.push(Cell::text(count(section.failed)));
        Row { cells, ..Row::default() }
    };
    let heads = ["from", "due/s", "on time", "throughput/s", "p50", "p90", "p99", "failed"];
    let caption = match run.order.load.arrivals() {
        Some(Arrivals::Ramp { .. }) => "the ramp, a tenth in a row",
        Some(Arrivals::Listed(_)) => "the schedule, a tenth in a row",
        _ => "the steps, one in a row",
    };
    vec![table("steps", caption, &heads, sections.iter().map(row).collect())]
}

/// A table of one view, whose columns all stay; the first is to the left.
fn table(key: &str, caption: &str, heads: &[&'static str], rows: Vec<Row>) -> Block {
    let column = |(place, head): (usize, &&'static str)| {
        let column = Column::new(*head, *head, 0);
        if place == 0 { column.left() } else { column }
    };
    let columns = heads.iter().enumerate().map(column).collect();
    Block::Table(Table::of(key, columns, rows).captioned(caption))
}

/// The times of which there are samples, each with its name.
fn times(run: &FinishedLoad) -> Vec<(&'static str, &Distribution)> {
    let total = &run.recording.total;
    let handshake = total.security.as_deref().map(|seen| ("handshake", &seen.handshake));
    let ready = total.http2.as_deref().and_then(|seen| Some(("ready", seen.ready.as_ref()?)));
    let all = [
        Some(("response", &total.response)),
        Some(("service", &total.service)),
        Some(("first byte", &total.first_byte)),
        Some(("connect", &total.connect)),
        handshake,
        ready,
        Some(("blocked", &total.blocked)),
        Some(("late", &total.late)),
    ];
    all.into_iter().flatten().filter(|(_, there)| 0 < there.count()).collect()
}

/// More percentiles than the first table has room for: a row for each.
fn percentiles(run: &FinishedLoad) -> Vec<Block> {
    let times = times(run);
    let row = |(name, q): (&str, Option<f64>)| {
        let of = |(_, distribution): &(&str, &Distribution)| match q {
            Some(q) => quantile::cell(distribution, q),
            None => quantile::moment_cell(distribution, |all| all.max),
        };
        let cells = std::iter::once(Cell::text(name).toned(Tone::Dim)).chain(times.iter().map(of));
        Row { cells: cells.collect(), ..Row::default() }
    };
    let mut heads = vec![""];
    heads.extend(times.iter().map(|(name, _)| *name));
    match times.is_empty() {
        true => Vec::new(),
        false => vec![table("percentiles", "", &heads, PERCENTILES.map(row).into())],
    }
}

/// The rows of the full table; the last one is the largest value.
const PERCENTILES: [(&str, Option<f64>); 8] = [
    ("p50", Some(0.5)),
    ("p75", Some(0.75)),
    ("p90", Some(0.9)),
    ("p95", Some(0.95)),
    ("p99", Some(0.99)),
    ("p99.9", Some(0.999)),
    ("p99.99", Some(0.9999)),
    ("max", None),
];

fn latencies(run: &FinishedLoad) -> Vec<Block> {
    let row = |(name, distribution): (&str, &Distribution)| {
        let mut cells = vec![
            Cell::text(name).toned(Tone::Dim),
            Cell::text(count(distribution.count())),
            quantile::moment_cell(distribution, |all| all.mean),
            quantile::moment_cell(distribution, |all| all.sd),
        ];
        cells.extend([0.5, 0.9, 0.99, 0.999].map(|q| quantile::cell(distribution, q)));
        cells.push(quantile::moment_cell(distribution, |all| all.max));
        Row { cells, ..Row::default() }
    };
    let rows: Vec<Row> = times(run).into_iter().map(row).collect();
    let heads = ["", "samples", "mean", "sd", "p50", "p90", "p99", "p99.9", "max"];
    match rows.is_empty() {
        true => Vec::new(),
        false => vec![table("latencies", "", &heads, rows)],
    }
}

fn response_histogram(run: &FinishedLoad) -> Vec<Block> {
    let bars = bars::lines(&run.recording.total.response.histogram());
    if bars.is_empty() {
        return Vec::new();
    }
    let title = Line::ink(Ink::Dim, "response time, how many answers took how long");
    let lines = std::iter::once(title).chain(bars).collect();
    vec![Block::Drawing(Drawing { lines, is_brief: true, ..Drawing::default() })]
}

fn books(run: &FinishedLoad) -> Vec<Block> {
    let total = &run.recording.total;
    let failed = total.failed_in_all();
    let mut facts = vec![Fact::new(
        "books",
        format!(
            "attempted {} = correct {} + failed {} + under way {}",
            count(total.attempted),
            count(total.correct),
            count(failed),
            count(total.under_way)
        ),
    )];
    if let Load::Sessions { .. } = run.order.load {
        let sessions = &total.sessions;
        let under_way = sessions.attempted.saturating_sub(sessions.complete + sessions.failed);
        facts.push(Fact::new(
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
    facts.extend(answers::facts(run));
    let mut blocks = vec![Block::Facts(facts)];
    let seen = Failure::ALL.into_iter().filter(|&failure| 0 < total.failures(failure));
    let one = |failure: Failure| {
        let times = total.failures(failure);
        let share = percent(times as f64 / total.attempted.max(1) as f64);
        let instead = answers::instead(failure, &total.answers, &run.order);
        let says = format!("{} ({share}) {failure}: {}{instead}", count(times), failure.meaning());
        Entry::new(Tone::Bad, says)
    };
    let mut failures: Vec<Entry> = seen.map(one).collect();
    failures.extend(total.security.iter().flat_map(|seen| security::reasons(seen)));
    blocks.extend((!failures.is_empty()).then_some(Block::Entries(failures)));
    blocks
}

/// The first failure of each class, with its bytes.
fn evidence(run: &FinishedLoad) -> Vec<Block> {
    let one = |kept| {
        let parts = evidence::parts(kept).into_iter();
        parts.fold(Entry::new(Tone::Dim, evidence::title(kept)), |entry, (label, text)| {
            entry.with(Tone::Plain, format!("{label}: {text}"))
        })
    };
    let all: Vec<Entry> = evidence::first_of_each(&run.recording.total.evidence).map(one).collect();
    if all.is_empty() { Vec::new() } else { vec![Block::Entries(all)] }
}

/// Connections, bytes, notes, and the instrument.
fn beside(run: &FinishedLoad) -> Vec<Fact> {
    let total = &run.recording.total;
    let connections = &total.connections;
    let mut facts = vec![
        Fact::new(
            "connections",
            format!(
                "{} begun, {} established, {} failed",
                count(connections.begun),
                count(connections.established),
                count(connections.failed)
            ),
        ),
        Fact::new(
            "bytes",
            format!("{} sent, {} received", bytes(total.bytes_sent), bytes(total.bytes_received)),
        ),
    ];
    let is_unverified = terms::is_unverified(&terms::of(&run.order));
    facts.extend(total.security.iter().map(|seen| security::fact(seen, is_unverified)));
    // Without a connection, nothing is known of them.
    let is_connected = 0 < connections.established;
    facts.extend(total.http2.as_deref().filter(|_| is_connected).map(http2::fact));
    facts.extend(queue(run));
    facts.extend(notes(run));
    facts.extend(facts_of(&run.agents));
    facts.push(generator(run));
    facts
}

/// The server's accept queue, if the server is on this machine.
fn queue(run: &FinishedLoad) -> Option<Fact> {
    let queue = run.queue?;
    let holds = queue.backlog.map_or("the server's".into(), |backlog| {
        format!("the server's holds {} connections", count(u64::from(backlog)))
    });
    let overflows = match queue.overflows {
        0 => "no accept queue of this machine was full".to_string(),
        1 => "once a connection found an accept queue of this machine full".to_string(),
        many => format!("{} connections found an accept queue of this machine full", count(many)),
    };
    Some(Fact::new("queue", format!("{holds}; {overflows}")))
}

fn notes(run: &FinishedLoad) -> Option<Fact> {
    let total = &run.recording.total;
    let notes = &total.notes;
    // The line of HTTP/2 says it already.
    let is_said = total.http2.as_deref().is_some_and(|seen| 0 < seen.traffic.refused);
    let refused = if is_said { 0 } else { notes.refused };
    let idle = match notes.idle_closed {
        1 => "idle connection closed by the server",
        _ => "idle connections closed by the server",
    };
    let all = [
        (notes.announced_closes, "answers after which the server closed, as it had announced"),
        (notes.stale_retries, "sent once more because a reused connection was closed"),
        (refused, "sent once more because the server refused them unread"),
        (notes.idle_closed, idle),
        (notes.surplus, "answers with bytes behind them"),
        (notes.unsolicited, "answers without a request"),
    ];
    let there = all.into_iter().filter(|(times, _)| 0 < *times);
    let texts: Vec<String> =
        there.map(|(times, what)| format!("{} {what}", count(times))).collect();
    (!texts.is_empty()).then(|| Fact::new("notes", texts.join("; ")))
}

fn generator(run: &FinishedLoad) -> Fact {
    let recording = &run.recording;
    let share = |found: Option<f64>| percent(found.unwrap_or(0.0));
    let each = generator_cpu_per_request_ns(recording).map_or("–".into(), time);
    let busy: Vec<String> =
        recording.lanes.iter().map(|lane| share(generator_busy(&[*lane]))).collect();
    let late = recording.total.late.quantile(0.99).map_or("–".into(), quantile::shown);
    let memory = run.costs.peak_memory_bytes.map_or("–".into(), bytes);
    let live_view = match run.costs.live_view_cpu {
        0 => String::new(),
        cpu => format!(", {} of CPU time for the live view", nanos(cpu)),
    };
    Fact::new(
        "instrument",
        format!(
            "busy {}, polling {} of the time, p99 {late} late",
            busy.join(", "),
            share(generator_polled(&recording.lanes)),
        ),
    )
    .and(format!(
        "{} of CPU time, polling included; {each} a request",
        nanos(generator_cpu(&recording.lanes))
    ))
    .and(format!("{memory} of memory at the most{live_view}"))
}

#[cfg(test)]
mod tests;
