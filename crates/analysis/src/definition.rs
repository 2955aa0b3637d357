//! What each printed figure is: its population, its time, its estimator, its interval, and its value in edge cases.
//! Names, units and meanings are those of `lab::figure` and `HeldFigure`; docs/figures.md is written from here.

mod kind;

use lab::figure::{Figure, Fold, Unit};
use lab::probe::ProbeFold;

use crate::held::HeldFigure;
pub use kind::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its stable name: in results, in CSV, under `columns`.
    pub key: &'static str,
    /// The heading of its column.
    pub title: &'static str,
    pub unit: Unit,
    pub meaning: &'static str,
    /// The requests, connections, messages or readings that it is made of.
    pub population: &'static str,
    /// The time over which it is measured.
    pub time: &'static str,
    /// What it is in one round.
    pub kind: Kind,
    /// How the rounds become one number.
    pub fold: Fold,
}

const DUE: &str = "requests due in the measured time; of sessions, all their calls";
const ANSWERED: &str = "requests due in the measured time and answered as expected; those given up at the time-out, or left at the end, as bounds (≥)";
const MEASURED: &str = "the measured time: after the warm-up, to the end of the schedule or of the duration; in slices, the side's own turns, with the wait for the last answers of each";
const FROM_DUE: &str = "from when the request was due to the last byte of its answer; what comes after the measured time counts";
const FROM_SENT: &str = "from when the request was sent to the last byte of its answer";
const CONNECTIONS: &str =
    "connections begun under load; of a pool, those opened before the measured time, too";
const HANDSHAKES: &str = "TLS handshakes done under load, full and resumed; of a pool, those before the measured time, too";
const FROM_CONNECTED: &str = "from TCP's agreement to the end of the handshake of TLS";
const SILENCES: &str = "times from one right answer (or the beginning of the measured time) to the next (or its end), over all connections, \
     threads and agents, that are longer than 100 ms, than 10 × the mean time between right answers, and than the p99 of \
     service outside them: of the answers in windows (of 100 ms; wider in a long load) that none of them touches. In a \
     schedule such a time begins when a request is due and not answered; one that failed is not answered. Times of 10 ms or \
     more in which a thread of dyno was not running are subtracted; other servers' turns are not on the clock. In a load of \
     more than 27 minutes, times shorter than a 16,384th of it do not count";
const SUBJECT: &str = "all processes of the subject";
const HELD: &str = "connections of the step";
const MESSAGES: &str = "messages that came in the step's measured part";
const STEP: &str = "the step's measured part";

#[must_use]
pub fn of_requests(figure: Figure) -> Definition {
    use Kind::{
        Count, Deviation, Moment, Quantile, QuantileOfDone, Rate, Reading, Share, ShareOfDue,
        Silence, Start,
    };
    let (population, time, kind) = match figure {
        Figure::Throughput => (
            "answers as expected that came in the measured time, whenever their requests were due",
            MEASURED,
            Rate,
        ),
        Figure::Offered => (
            DUE,
            "the part of the measured time in which requests were due; in slices, the side's own turns with the wait for the last answers of each, in which none is due, so that it is below the rate that was ordered; none of a closed loop",
            Rate,
        ),
        Figure::OnTime => (
            DUE,
            "from when each was due; the limit is the time-out, or `--on-time` or the promised p99 where that is said and less; none of a closed loop",
            ShareOfDue,
        ),
        Figure::Attempted => (
            "requests due in the measured time; of sessions, the calls that were begun",
            MEASURED,
            Count,
        ),
        Figure::Correct => {
            ("of these, those answered as expected", "whenever the answer came", Count)
        }
        Figure::Failed => (
            "of these, those that failed by any of the classes of failures",
            "whenever they failed",
            Count,
        ),
        Figure::FailedShare => ("`failed`, of `attempted`", MEASURED, ShareOfDue),
        Figure::SilentShare => (SILENCES, MEASURED, Silence),
        Figure::LongestSilence => ("silences, as in `silent_percent`", MEASURED, Silence),
        Figure::ResponseMean | Figure::ResponseMin | Figure::ResponseMax => {
            (ANSWERED, FROM_DUE, Moment)
        }
        Figure::ResponseSd => (ANSWERED, FROM_DUE, Deviation),
        Figure::ResponseP50 | Figure::ResponseP90 | Figure::ResponseP99 | Figure::ResponseP999 => {
            (ANSWERED, FROM_DUE, Quantile)
        }
        Figure::ServiceP50 | Figure::ServiceP99 => (ANSWERED, FROM_SENT, Quantile),
        Figure::ConnectP50 => {
            (CONNECTIONS, "from the start of a connection to TCP's agreement", QuantileOfDone)
        }
        Figure::TlsP50 | Figure::TlsP99 => (HANDSHAKES, FROM_CONNECTED, QuantileOfDone),
        Figure::TlsResumed => (HANDSHAKES, "the whole load", Share),
        Figure::LateP99 => (
            "requests due in the measured time and sent",
            "from when the request was due and had a free connection, or with HTTP/2 a free stream, to when it was sent; of \
         its wait for one before that, what dyno's stalls have put back the queue: the sum of these since some last \
         waited, each as the share of the connections or streams that were free after it",
            Quantile,
        ),
        Figure::Received => ("bytes read from the server's connections", MEASURED, Rate),
        Figure::AnswerBytes => (
            "bytes read, by the whole answers that they were, right or wrong",
            "the whole load",
            Rate,
        ),
        Figure::CpuPerThousand => (
            SUBJECT,
            "CPU time each second of the measured time, by the throughput. On loopback it includes what waking dyno's \
                 threads costs, which is alike for all servers (`load.spin`; [µs for an \
                 answer](bench.md#what-the-clients-sleep-costs-the-server))",
            Reading,
        ),
        Figure::CpuShare => (SUBJECT, MEASURED, Reading),
        Figure::RssPeak | Figure::PssPeak => (
            SUBJECT,
            "from the start of the trial to the end of the measured time, ten readings a second",
            Reading,
        ),
        Figure::MemoryPerConnection => (
            SUBJECT,
            "least squares over the steps of a ramp: the mean memory of each against its open connections",
            Reading,
        ),
        Figure::StartUp => {
            (SUBJECT, "from the start of its command to its first right answer", Start)
        }
        Figure::Backlog | Figure::Processes => (SUBJECT, "when it was ready", Start),
        Figure::GeneratorBusy => ("dyno's own threads", "from the load's begin to its end", Share),
    };
    Definition {
        key: figure.name(),
        title: figure.heading(),
        unit: figure.unit(),
        meaning: figure.meaning(),
        population,
        time,
        kind,
        fold: figure.fold(),
    }
}

/// A figure of held connections, for one step.
#[must_use]
pub fn of_held(figure: HeldFigure) -> Definition {
    use HeldFigure as H;
    let (population, time, kind) = match figure {
        H::Open | H::Silent | H::Waiting => (HELD, "at the step's end", Kind::Count),
        H::Failed | H::Lost | H::BegunAgain => {
            (HELD, "from the step's begin to its end", Kind::Count)
        }
        H::ConnectP50 | H::ConnectP99 => {
            (HELD, "from the start of a connection to TCP's agreement", Kind::Quantile)
        }
        H::AgreeP50 | H::AgreeP99 => (
            HELD,
            "from TCP's agreement to the head of the answer or the handshake",
            Kind::Quantile,
        ),
        H::LateP50 | H::LateP99 => {
            (MESSAGES, "from when the message was due to when it came", Kind::Quantile)
        }
        H::LateMax => (MESSAGES, "from when the message was due to when it came", Kind::Moment),
        H::GapP50 | H::GapP99 => {
            (MESSAGES, "from one message to the next on the same connection", Kind::Quantile)
        }
        H::Messages => {
            (MESSAGES, "its whole beats, where the beat is known; else all of it", Kind::Rate)
        }
        H::Missed => ("beats that are numbered and never came", STEP, Kind::Count),
        H::OwnP99 => {
            (MESSAGES, "the turn of dyno's own thread that read the message", Kind::Quantile)
        }
        H::Received => ("bytes read from all held connections", STEP, Kind::Rate),
        H::CpuShare | H::CpuPerThousand | H::RssMean | H::RssMax | H::PssMean | H::PssMax => {
            (SUBJECT, STEP, Kind::Reading)
        }
        H::IoRead | H::IoWritten => (SUBJECT, STEP, Kind::Reading),
        H::GeneratorCpu => ("dyno's own threads", STEP, Kind::Share),
    };
    Definition {
        key: figure.name(),
        title: figure.heading(),
        unit: figure.unit(),
        meaning: figure.meaning(),
        population,
        time,
        kind,
        fold: figure.fold(),
    }
}

/// The distributions of which `dyno load` prints quantiles, by their names in its JSON: which requests, and from when.
pub const OF_LOAD: [(&str, &str, &str); 8] = [
    ("response", ANSWERED, FROM_DUE),
    ("service", ANSWERED, FROM_SENT),
    ("first_byte", ANSWERED, "from when the request was sent to the first byte of its answer"),
    (
        "late",
        "requests due in the measured time and sent",
        "from when the request was due and had a free connection, or with HTTP/2 a free stream, to when it was sent",
    ),
    (
        "blocked",
        "of these, those that had to wait for a free connection of the pool",
        "from when the request was due to when a connection, or with HTTP/2 a stream, was free, without what is late",
    ),
    ("connect", CONNECTIONS, "from the start of a connection to TCP's agreement"),
    ("handshake", HANDSHAKES, FROM_CONNECTED),
    (
        "ready",
        CONNECTIONS,
        "from the end of the handshake, or without TLS from TCP's agreement, to the SETTINGS of an HTTP/2 server",
    ),
];

/// How the rounds become one number, and its interval.
#[must_use]
pub fn estimator(fold: Fold) -> &'static str {
    match fold {
        Fold::Factors => {
            "geometric mean of the rounds; interval by Student's t on logarithms. A round of 0: arithmetic mean and interval, not below 0"
        }
        Fold::Amounts => "arithmetic mean of the rounds; interval by Student's t, not below 0",
        Fold::Shares => "arithmetic mean of the rounds; interval by Student's t, within 0–100 %",
        Fold::Differences => "arithmetic mean of the rounds; interval by Student's t",
        Fold::Least => "the least of all rounds; no interval",
        Fold::Greatest => "the greatest of all rounds; no interval",
    }
}

/// The text of docs/figures.md.
#[must_use]
pub fn figures_page() -> String {
    let mut page = String::from(HEAD);
    for (title, about, figures) in [
        ("Figures of requests", OF_REQUESTS, Figure::ALL.map(of_requests).to_vec()),
        ("Figures of held connections", OF_HELD, HeldFigure::ALL.map(of_held).to_vec()),
    ] {
        page.push_str(&format!("\n## {title}\n\n{about}\n"));
        for figure in figures {
            page.push_str(&entry(&figure));
        }
    }
    page.push_str(OF_PROBES);
    for (key, fold, name, unit, round) in &PROBE_FOLDS {
        let rounds = estimator(fold.rounds(*unit));
        page.push_str(&format!("| {key} | `{name}` | {round} | {rounds} |\n"));
    }
    page.push_str(&format!("\nEdges: {}\n", Kind::Reading.edges()));
    page.push_str(crate::price::PAGE);
    page.push_str(LOAD);
    for (name, population, time) in OF_LOAD {
        page.push_str(&format!("| `{name}` | {population} | {time} |\n"));
    }
    page.lines().map(filled).collect()
}

/// Prose in lines of at most 120 columns; the rows of a table stay whole.
fn filled(line: &str) -> String {
    const WIDTH: usize = 120;
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let (mut text, mut room) = (String::new(), WIDTH);
    for (place, word) in line.split(' ').enumerate() {
        let length = word.chars().count() + 1;
        if place == 0 {
            room += 1;
        } else if length <= room || line.starts_with('|') {
            text.push(' ');
        } else {
            text = text + "\n" + indent;
            room = WIDTH + 1 - indent.len();
        }
        text.push_str(word);
        room = room.saturating_sub(length);
    }
    text + "\n"
}

fn entry(figure: &Definition) -> String {
    format!(
        "\n### `{}`\n\n*{}*, {}: {}.\n\n- of: {}\n- time: {}\n- rounds: {}\n- edges: {}\n",
        figure.key,
        figure.title,
        unit(figure.unit),
        figure.meaning,
        figure.population,
        figure.time,
        estimator(figure.fold),
        figure.kind.edges()
    )
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "per second",
        Unit::Count => "a number",
        Unit::Percent => "percent",
        Unit::Milliseconds => "milliseconds",
        Unit::Bytes => "bytes",
        Unit::KibPerSecond => "units of 1,024 bytes per second",
    }
}

const HEAD: &str = "# Figures

Every figure that dyno prints, and what it is. This page is written by a test from the table that all reports use
(`crates/analysis/src/definition.rs`, `crates/lab/src/figure.rs`);
`UPDATE_EXPECT=1 cargo test -p dyno-analysis definition` writes it anew.

What holds for all:

- A **round** is a trial with a fresh process. A row's figure is the mean of its measured rounds: the value that is
  printed is what its interval is about. A ratio of two figures is the ratio of the two values.
- **95 % interval**: Student's t over the rounds. One round has none, and names no winner. It does not contain what
  differs from one run to the next.
- **Bounds** (`≥`): where requests were given up or left, the truth is no less. A bound in any round makes the value a
  bound. Its interval is open above: `[≥4.21s]` has its low end, which is that of the rounds as if each had ended where
  it was given up. A ratio of which one side is a bound is one itself where the true ratio can only be further from 1:
  `≥50× [≥18]`, or `≤0.02× [≤0.06]` where the first side is the bound; elsewhere there is none. Every format says so:
  with `≥`, in JSON as `is_bound`, in CSV in a column beside the figure, whose name ends in `_bound`.
- Rounds that are no measurement are in no figure. Rounds in doubt are included, and the figure is marked.
- Times are kept in histograms with three digits; a quantile is the least value that so many of the samples do not
  exceed.
- **Digits**: people are shown the digits that the interval supports, up to the second digit of half its width, and
  never more than three, apart from whole numbers; without an interval three, and whole numbers in full. CSV and JSON
  have all of them.
- **Units**: a time or a size has the unit that fits it, because one column may hold 80 µs and 8 s, and three digits in
  each are easier to read than 0.08 and 8,000; the unit stands at every value, and sorting goes by the true value. An
  interval is written in the unit of its value.
";

const OF_REQUESTS: &str = "A trial's, from `dyno run`: text, page, Markdown, CSV and JSON. `dyno load` prints the same of its one trial.";

const OF_HELD: &str = "Of each step of a ramp (`dyno run` of a `held` load; `dyno hold` prints the same of its one ramp). A step that was not reached has none.";

const OF_PROBES: &str = "
## Figures of a probe's readings

A probe's manifest declares its readings and how they are folded ([subjects.md](subjects.md#what-a-probe-declares));
nothing about any virtual machine is built into dyno. Each fold is a figure of each step of a ramp: a column of
tables, CSV and JSON. Its name begins as the manifest says (`NAME`) and ends in its unit. It is made of what the probe
in the subject read in the step's measured part.

| fold | name | one round | rounds |
|---|---|---|---|
";

/// The fold of a probe's reading, what it is there, the name of the figure, its unit, and what it is in one round.
#[rustfmt::skip]
const PROBE_FOLDS: [(&str, ProbeFold, &str, Unit, &str); 10] = [
    ("mean", ProbeFold::Mean, "NAME_mean_bytes", Unit::Bytes, "the mean of the readings"),
    ("mean", ProbeFold::Mean, "NAME_mean_percent", Unit::Percent, "the same, of a ratio"),
    ("mean", ProbeFold::Mean, "NAME_mean", Unit::Count, "the same, of a count"),
    ("mean", ProbeFold::Mean, "NAME_mean_ms", Unit::Milliseconds, "the same, of nanoseconds"),
    ("mean", ProbeFold::Mean, "NAME_mean_per_s", Unit::PerSecond, "the same, of hertz"),
    ("max", ProbeFold::Max, "NAME_max_bytes", Unit::Bytes, "the greatest reading; in other units as the mean"),
    ("growth", ProbeFold::Growth, "NAME_kib_per_s", Unit::KibPerSecond, "bytes by which it grew each second, in units of 1,024"),
    ("growth", ProbeFold::Growth, "NAME_per_s", Unit::PerSecond, "how much it grew each second, of a count"),
    ("growth", ProbeFold::Growth, "NAME_percent", Unit::Percent, "nanoseconds by which it grew, of the time; 100 % is one CPU"),
    ("mean, with `per`", ProbeFold::Per(String::new()), "NAME_bytes_per_ONE", Unit::Bytes, "the mean, divided by the mean of another reading"),
];

const LOAD: &str = "
## What `dyno load` prints

One trial, so no mean of rounds and no interval. *throughput* is `throughput_per_s`, *offered* `offered_per_s`, *on
time* `on_time_percent` as above. The times, each with p50, p90, p99, p99.9 and its longest, and with the edges of a
quantile:

| distribution | of | time |
|---|---|---|
";

#[cfg(test)]
mod tests;
