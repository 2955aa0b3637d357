//! What is known of one load besides the figures of its row.

use analysis::{
    Figures, Number, generator_busy, generator_cpu, generator_cpu_per_request_ns, generator_on_cpu,
    generator_polled, measured_s, on_time,
};
use lab::figure::{self, Figure};
use load::{Distribution, Failure, SECOND, Tally};
use units::{bytes, count, counted, nanos, percent, rate, time};

use super::answers;
use super::known::KnownLoad;
use crate::agents::facts_of;
use crate::chart::bars;
use crate::document::{
    Block, Cell, Column, Depth, Drawing, Entry, Fact, MORE, Row, Section, Table, Tone,
};
use crate::number_format::{Written, marks};
use crate::paint::Line;
use crate::{evidence, http2, quantile, security};

impl KnownLoad<'_> {
    /// All of it, in the order in which it is read.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let brief = |id: &'static str, blocks| Section::new(id, "", Depth::Brief).with(blocks);
        vec![
            brief("rates", vec![Block::Facts(self.rates())]),
            brief("steps", self.steps()),
            brief("latencies", vec![Block::Table(self.latencies())]),
            brief("histogram", self.histogram()),
            brief("books", self.books()),
            brief("evidence", self.evidence()),
            brief("beside", vec![Block::Facts(self.beside())]),
        ]
    }

    /// A line for each figure that a run's table has of its rows, unless it is 0. The times of responses stand in a table
    /// of their own.
    fn rates(&self) -> Vec<Fact> {
        let figures = Figures::of_load(self.recording);
        let is_shown = |figure: &Figure| {
            figure.column() != figure::Column::Nowhere && !figure.name().starts_with("response_")
        };
        let shown = Figure::OF_TRIALS.into_iter().filter(is_shown);
        shown.filter_map(|figure| self.rate(figure, figures.get(figure)?)).collect()
    }

    fn rate(&self, figure: Figure, number: Number) -> Option<Fact> {
        let about = match figure {
            Figure::Throughput => self.measured(),
            Figure::OnTime => self.on_time(),
            // The books have the failures by their classes.
            Figure::FailedShare => return None,
            _ if number.value == 0.0 => return None,
            _ => figure.meaning().into(),
        };
        let written = Written::of(figure.unit(), number.value, None);
        let marks = marks(number.is_bound, number.is_supported);
        let value = Written { marks, ..written }.marked();
        Some(Fact::new(figure.heading(), format!("{value}: {about}")))
    }

    /// What the throughput was made of.
    fn measured(&self) -> String {
        let total = &self.recording.total;
        let carried = match total.carried_in {
            0 => String::new(),
            carried => format!(", {} of them to requests that were due before it", count(carried)),
        };
        let seconds = time(measured_s(self.recording) * SECOND as f64);
        let answers = counted(total.correct_inside, "correct answer", "correct answers");
        let after = match total.correct_after() {
            0 => String::new(),
            after => {
                format!("; {} more arrived after the measured time", count(after))
            }
        };
        format!("{answers} in {seconds}{carried}{after}")
    }

    fn on_time(&self) -> String {
        let on_time = on_time(self.recording, None);
        format!(
            "{} of {} requests that were due were answered correctly within {}",
            count(on_time.on_time),
            count(on_time.due),
            nanos(on_time.within)
        )
    }

    /// A row for each part of a load that changes.
    fn steps(&self) -> Vec<Block> {
        let sections = &self.recording.sections;
        if sections.is_empty() {
            return Vec::new();
        }
        let began = self.recording.measured_from;
        let rows = sections.iter().map(|section| {
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
        });
        let heads = [
            ("from", 0),
            ("due/s", 2),
            ("on time", 2),
            ("throughput/s", 0),
            ("p50", 0),
            ("p90", 3),
            ("p99", 0),
            ("failed", 2),
        ];
        let caption = "each step, or each tenth of a ramp or of listed times";
        let table = Table::of("steps", Column::listed(&heads), rows).captioned(caption);
        vec![Block::Table(table)]
    }

    /// The times of which there are samples, each with its name.
    fn times(&self) -> Vec<(&'static str, &Distribution)> {
        let total = &self.recording.total;
        let handshake = total.security.as_deref().map(|seen| ("handshake", &seen.handshake));
        let ready = total.http2.as_deref().and_then(|seen| Some(("ready", seen.ready.as_ref()?)));
        let all = [
            Some(("response", &total.response)),
            Some(("service", &total.service)),
            Some(("first byte", &total.first_byte)),
            Some(("connect", &total.connect)),
            handshake,
            ready,
            Some(("waited for a connection", &total.blocked)),
            Some(("sent late", &total.late)),
        ];
        all.into_iter().flatten().filter(|(_, there)| 0 < there.count()).collect()
    }

    /// A row for each kind of time; a full report has more percentiles.
    fn latencies(&self) -> Table {
        let rows = self.times().into_iter().map(|(name, times)| {
            let mut cells = vec![
                Cell::text(name).toned(Tone::Dim),
                Cell::text(count(times.count())),
                quantile::moment_cell(times, |all| all.mean),
                quantile::moment_cell(times, |all| all.sd),
            ];
            cells.extend(PERCENTILES.map(|(_, q, _)| quantile::cell(times, q)));
            cells.push(quantile::moment_cell(times, |all| all.max));
            Row { cells, ..Row::default() }
        });
        let mut heads = vec![("", 0), ("samples", 2), ("mean", 3), ("sd", 4)];
        heads.extend(PERCENTILES.map(|(name, _, priority)| (name, priority)));
        heads.push(("max", 0));
        Table::of("latencies", Column::listed(&heads), rows).captioned(TIMES_COUNT_FROM)
    }

    fn histogram(&self) -> Vec<Block> {
        let bars = bars::lines(&self.recording.total.response);
        if bars.is_empty() {
            return Vec::new();
        }
        let title = Line::toned(Tone::Dim, "response time: number of samples in each range");
        let lines = std::iter::once(title).chain(bars).collect();
        vec![Block::Drawing(Drawing { lines, is_brief: true, ..Drawing::default() })]
    }

    fn books(&self) -> Vec<Block> {
        let total = &self.recording.total;
        let failed = total.failed_in_all();
        let mut facts = vec![Fact::new(
            "requests",
            format!(
                "attempted {} = correct {} + failed {} + in flight {}",
                count(total.attempted),
                count(total.correct),
                count(failed),
                count(total.under_way)
            ),
        )];
        let sessions = &total.sessions;
        if 0 < sessions.attempted {
            let under_way = sessions.attempted.saturating_sub(sessions.complete + sessions.failed);
            facts.push(Fact::new(
                "sessions",
                format!(
                    "attempted {} = complete {} + failed {} + in flight {}",
                    count(sessions.attempted),
                    count(sessions.complete),
                    count(sessions.failed),
                    count(under_way)
                ),
            ));
        }
        facts.extend(answers::facts(total));
        let seen = Failure::ALL.into_iter().filter(|&failure| 0 < total.failures(failure));
        let entries = seen.map(|failure| {
            let times = total.failures(failure);
            let share = percent(times as f64 / total.attempted.max(1) as f64);
            let instead = if failure.is_about_status() { &self.instead[..] } else { "" };
            let says =
                format!("{} ({share}) {failure}: {}{instead}", count(times), failure.meaning());
            Entry::new(Tone::Bad, says)
        });
        let mut failures: Vec<Entry> = entries.collect();
        failures.extend(total.security.iter().flat_map(|seen| security::reasons(seen)));
        vec![Block::Facts(facts), Block::Entries(failures)]
    }

    /// The first failure of each class, with its bytes.
    fn evidence(&self) -> Vec<Block> {
        let all = evidence::first_of_each(&self.recording.total.evidence);
        let entry = |kept| {
            let entry = Entry::new(Tone::Dim, evidence::title(kept));
            evidence::lines(kept).fold(entry, |entry, line| entry.with(Tone::Plain, line))
        };
        vec![Block::Entries(all.map(entry).collect())]
    }

    /// Connections, bytes, notes, and what dyno itself needed.
    fn beside(&self) -> Vec<Fact> {
        let total = &self.recording.total;
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
                format!(
                    "{} sent, {} received",
                    bytes(total.bytes_sent),
                    bytes(total.bytes_received)
                ),
            ),
        ];
        facts.extend(total.security.iter().map(|seen| security::fact(seen, self.is_unverified)));
        // Without a connection, nothing is known of them.
        let is_connected = 0 < connections.established;
        facts.extend(total.http2.as_deref().filter(|_| is_connected).map(http2::fact));
        facts.extend(self.queue());
        facts.extend(notes(total));
        facts.extend(facts_of(self.agents));
        facts.push(self.generator());
        facts
    }

    /// The server's accept queue, if the server is on this machine.
    fn queue(&self) -> Option<Fact> {
        let queue = self.queue?;
        let holds = queue.backlog.map_or("the server's".into(), |backlog| {
            format!("the server's accept queue holds {} connections", count(u64::from(backlog)))
        });
        let overflows = match queue.overflows {
            0 => "no accept queue of this machine was full".to_string(),
            1 => "once a connection found an accept queue of this machine full".to_string(),
            many => {
                format!("{} connections found an accept queue of this machine full", count(many))
            }
        };
        Some(Fact::new("queue", format!("{holds}; {overflows}")))
    }

    fn generator(&self) -> Fact {
        let recording = self.recording;
        let share = |found: Option<f64>| percent(found.unwrap_or(0.0));
        let each = generator_cpu_per_request_ns(recording).map_or("–".into(), time);
        let busy: Vec<String> =
            recording.lanes.iter().map(|lane| share(generator_busy(&[*lane]))).collect();
        let late = recording.total.late.quantile(0.99).map_or("–".into(), quantile::shown);
        let live_view = match self.costs.live_view_cpu {
            0 => String::new(),
            cpu => format!(", {} of CPU time for the live view", nanos(cpu)),
        };
        let threads = counted(busy.len() as u64, "thread", "threads");
        let fact = Fact::new(
            "dyno",
            format!(
                "{threads} busy {} of the time (waiting for a CPU included), polling {}, on a CPU {}",
                busy.join(", "),
                share(generator_polled(&recording.lanes)),
                share(generator_on_cpu(&recording.lanes)),
            ),
        )
        .and(format!(
            "{} of CPU time, {each} a request; sent late p99 {late}",
            nanos(generator_cpu(&recording.lanes))
        ));
        match self.costs.peak_memory_bytes.map(bytes) {
            None => fact,
            Some(memory) => fact.and(format!("{memory} of memory at most{live_view}")),
        }
    }
}

/// Which of the rows is the number of other tools.
const TIMES_COUNT_FROM: &str =
    "response: from when due; service: from when sent (as wrk, hey and ab count)";

/// Each with its share, and how soon its column is left out.
const PERCENTILES: [(&str, f64, u8); 7] = [
    ("p50", 0.5, 0),
    ("p75", 0.75, MORE),
    ("p90", 0.9, 2),
    ("p95", 0.95, MORE),
    ("p99", 0.99, 0),
    ("p99.9", 0.999, 0),
    ("p99.99", 0.9999, MORE),
];

fn notes(total: &Tally) -> Option<Fact> {
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
