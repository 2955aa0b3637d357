//! The figures of a trial, number by number: one list of names for results, articles, files and tables.

use serde::{Deserialize, Serialize};

use crate::source_file::nearest;

/// A number that a trial measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
#[allow(missing_docs)] // `row` says what each one is, in the words that people read
pub enum Figure {
    Throughput,
    Offered,
    OnTime,
    Attempted,
    Correct,
    Failed,
    FailedShare,
    SilentShare,
    LongestSilence,
    ResponseMean,
    ResponseSd,
    ResponseMin,
    ResponseP50,
    ResponseP90,
    ResponseP99,
    ResponseP999,
    ResponseMax,
    ServiceP50,
    ServiceP99,
    ConnectP50,
    TlsP50,
    TlsP99,
    TlsResumed,
    LateP99,
    Received,
    AnswerBytes,
    CpuPerThousand,
    CpuShare,
    RssPeak,
    PssPeak,
    MemoryPerConnection,
    StartUp,
    Backlog,
    Processes,
    GeneratorBusy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// How many a second.
    PerSecond,
    Count,
    Percent,
    /// Milliseconds.
    Milliseconds,
    /// Bytes.
    Bytes,
    /// Units of 1,024 bytes, each second.
    KibPerSecond,
}

/// How the rounds of a figure become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// It is above zero, and rounds differ by factors: the geometric mean of the rounds.
    Factors,
    /// It may be zero: the arithmetic mean of the rounds.
    Amounts,
    /// It is between 0 and 100: likewise.
    Shares,
    /// It may be negative: likewise.
    Differences,
    /// It is the least of something: the least of all rounds, without an interval.
    Least,
    /// It is the greatest of something: the greatest of all rounds, without an interval.
    Greatest,
}

impl Unit {
    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Unit::PerSecond => "per_s",
            Unit::Count => "count",
            Unit::Percent => "percent",
            Unit::Milliseconds => "ms",
            Unit::Bytes => "bytes",
            Unit::KibPerSecond => "kib_per_s",
        }
    }

    /// How the rounds become one number, as a rule.
    #[must_use]
    pub fn fold(self) -> Fold {
        match self {
            Unit::PerSecond | Unit::Milliseconds | Unit::Bytes | Unit::KibPerSecond => {
                Fold::Factors
            }
            Unit::Count => Fold::Amounts,
            Unit::Percent => Fold::Shares,
        }
    }
}

impl TryFrom<String> for Figure {
    type Error = String;

    fn try_from(name: String) -> Result<Figure, String> {
        Figure::named(&name)
    }
}

impl From<Figure> for &'static str {
    fn from(figure: Figure) -> &'static str {
        figure.name()
    }
}

impl Figure {
    pub const COUNT: usize = Figure::ALL.len();

    /// All of them, in the order of the results.
    pub const ALL: [Figure; 35] = [
        Figure::Throughput,
        Figure::Offered,
        Figure::OnTime,
        Figure::Attempted,
        Figure::Correct,
        Figure::Failed,
        Figure::FailedShare,
        Figure::SilentShare,
        Figure::LongestSilence,
        Figure::ResponseMean,
        Figure::ResponseSd,
        Figure::ResponseMin,
        Figure::ResponseP50,
        Figure::ResponseP90,
        Figure::ResponseP99,
        Figure::ResponseP999,
        Figure::ResponseMax,
        Figure::ServiceP50,
        Figure::ServiceP99,
        Figure::ConnectP50,
        Figure::TlsP50,
        Figure::TlsP99,
        Figure::TlsResumed,
        Figure::LateP99,
        Figure::Received,
        Figure::AnswerBytes,
        Figure::CpuPerThousand,
        Figure::CpuShare,
        Figure::RssPeak,
        Figure::PssPeak,
        Figure::MemoryPerConnection,
        Figure::StartUp,
        Figure::Backlog,
        Figure::Processes,
        Figure::GeneratorBusy,
    ];

    /// The stable name that stands in results, in `experiments/history/` and under `columns`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The figure with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Figure> {
        let named = Figure::ALL.into_iter().find(|figure| figure.name() == name);
        // Files of before 2026-12 name the throughput so.
        named.or((name == "achieved_per_s").then_some(Figure::Throughput))
    }

    /// The figure with this name, or what is wrong with the name.
    pub fn named(text: &str) -> Result<Figure, String> {
        let names = Figure::ALL.map(Figure::name);
        Figure::from_name(text).ok_or_else(|| {
            let odd = text.escape_debug();
            match nearest(text, names.into_iter()) {
                Some(near) => format!("unknown figure `{odd}`; did you mean `{near}`?"),
                None => format!("unknown figure `{odd}`; known are {}", names.join(", ")),
            }
        })
    }

    #[must_use]
    pub fn unit(self) -> Unit {
        self.row().1
    }

    #[must_use]
    pub fn heading(self) -> &'static str {
        self.row().2
    }

    /// What it is, in words that follow its heading.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.row().3
    }

    /// How its rounds become one number.
    #[must_use]
    pub fn fold(self) -> Fold {
        match self {
            Figure::ResponseMin => Fold::Least,
            Figure::ResponseMax | Figure::LongestSilence => Fold::Greatest,
            // 100 % is one CPU, and a subject may have several.
            Figure::CpuShare => Fold::Amounts,
            _ => self.unit().fold(),
        }
    }

    #[rustfmt::skip]
    fn row(self) -> (&'static str, Unit, &'static str, &'static str) {
        use Figure as F;
        use Unit::{Bytes, Count, KibPerSecond, Milliseconds, PerSecond, Percent};
        match self {
            F::Throughput => ("throughput_per_s", PerSecond, "throughput/s",
                "correct answers inside the measured time, divided by that time"),
            F::Offered => ("offered_per_s", PerSecond, "offered/s", "requests that were due by the schedule"),
            F::OnTime => ("on_time_percent", Percent, "on time",
                "requests answered as expected within the limit, of those due"),
            F::Attempted => ("attempted", Count, "samples", "requests that were due"),
            F::Correct => ("correct", Count, "correct", "requests answered as expected"),
            F::Failed => ("failed", Count, "failures", "requests that failed"),
            F::FailedShare => ("failed_percent", Percent, "failed", "requests that failed, of those due"),
            F::SilentShare => ("silent_percent", Percent, "silent", "the time in silences of the server"),
            F::LongestSilence => ("longest_silence_ms", Milliseconds, "longest silence",
                "the longest time without a right answer that is a silence; 0 without one"),
            F::ResponseMean => ("response_mean_ms", Milliseconds, "mean", "mean response time"),
            F::ResponseSd => ("response_sd_ms", Milliseconds, "sd", "standard deviation of the response time"),
            F::ResponseMin => ("response_min_ms", Milliseconds, "min", "shortest response time"),
            F::ResponseP50 => ("response_p50_ms", Milliseconds, "p50", "response time of half the requests"),
            F::ResponseP90 => ("response_p90_ms", Milliseconds, "p90", "response time of 90 % of the requests"),
            F::ResponseP99 => ("response_p99_ms", Milliseconds, "p99", "response time of 99 % of the requests"),
            F::ResponseP999 => ("response_p99_9_ms", Milliseconds, "p99.9", "response time of 99.9 % of the requests"),
            F::ResponseMax => ("response_max_ms", Milliseconds, "max", "longest response time"),
            F::ServiceP50 => ("service_p50_ms", Milliseconds, "service p50", "from sent to done, half"),
            F::ServiceP99 => ("service_p99_ms", Milliseconds, "service p99", "from sent to done, 99 %"),
            F::ConnectP50 => ("connect_p50_ms", Milliseconds, "connect p50", "time to connect, half"),
            F::TlsP50 => ("tls_p50_ms", Milliseconds, "TLS p50", "time of the TLS handshake, half"),
            F::TlsP99 => ("tls_p99_ms", Milliseconds, "TLS p99", "time of the TLS handshake, 99 %"),
            F::TlsResumed => ("tls_resumed_percent", Percent, "resumed",
                "TLS handshakes that resumed a session, of all that were done"),
            F::LateP99 => ("late_p99_ms", Milliseconds, "late p99", "dyno's own delay in sending, 99 %"),
            F::Received => ("received_kib_per_s", KibPerSecond, "KiB/s", "units of 1,024 bytes received"),
            F::AnswerBytes => ("answer_bytes", Bytes, "B/answer", "bytes of an answer on the wire, on average"),
            F::CpuPerThousand => ("cpu_ms_per_1000", Milliseconds, "CPU/1k",
                "the subject's CPU time for 1,000 correct answers"),
            F::CpuShare => ("cpu_percent", Percent, "CPU", "the subject's CPU time; 100 % is one CPU"),
            F::RssPeak => ("rss_peak_bytes", Bytes, "memory", "the most that the subject held (RSS)"),
            F::PssPeak => ("pss_peak_bytes", Bytes, "PSS", "the same, shared pages divided among processes"),
            F::MemoryPerConnection => ("memory_per_connection_bytes", Bytes, "memory/conn.",
                "the slope of the subject's memory over held connections (PSS where it could be read, else RSS)"),
            F::StartUp => ("start_up_ms", Milliseconds, "start-up", "from its start to the first right answer"),
            F::Backlog => ("backlog", Count, "backlog", "of its listening socket, as observed"),
            F::Processes => ("processes", Count, "processes", "that it had when it was ready"),
            F::GeneratorBusy => ("generator_busy_percent", Percent, "dyno busy",
                "of the time, dyno's threads had something to do"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_name_of_its_own_that_ends_in_its_unit() {
        for (at, figure) in Figure::ALL.into_iter().enumerate() {
            assert_eq!(figure as usize, at, "ALL has the order of the list");
            assert_eq!(Figure::from_name(figure.name()), Some(figure));
            let unit = figure.unit();
            assert!(unit == Unit::Count || figure.name().contains(unit.name()), "{figure:?}");
        }
    }
}
