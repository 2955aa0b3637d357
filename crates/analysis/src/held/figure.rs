//! The figures of a plateau of held connections.

use lab::figure::{Fold, Unit};
use lab::probe::ProbeFigure;

/// A figure of one plateau: one of dyno's own, or one that a probe's manifest declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlateauFigure<'d> {
    /// The same for all subjects.
    Own(HeldFigure),
    /// For the subjects with that probe.
    Probe(&'d ProbeFigure),
}

/// One of dyno's own figures of a plateau.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // `row` says what each one is, in the words that people read
pub enum HeldFigure {
    Open,
    Failed,
    Lost,
    Silent,
    Waiting,
    BegunAgain,
    ConnectP50,
    ConnectP99,
    AgreeP50,
    AgreeP99,
    LateP50,
    LateP99,
    LateMax,
    GapP50,
    GapP99,
    Messages,
    Missed,
    OwnP99,
    Received,
    RssMean,
    RssMax,
    PssMean,
    PssMax,
    IoRead,
    IoWritten,
    CpuShare,
    CpuPerThousand,
    GeneratorCpu,
}

impl<'d> PlateauFigure<'d> {
    /// The stable name that stands in results.
    #[must_use]
    pub fn name(self) -> &'d str {
        match self {
            PlateauFigure::Own(figure) => figure.name(),
            PlateauFigure::Probe(figure) => &figure.name,
        }
    }

    /// What it counts.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            PlateauFigure::Own(figure) => figure.unit(),
            PlateauFigure::Probe(figure) => figure.unit,
        }
    }

    /// The heading of its column.
    #[must_use]
    pub fn heading(self) -> &'d str {
        match self {
            PlateauFigure::Own(figure) => figure.heading(),
            PlateauFigure::Probe(figure) => &figure.heading,
        }
    }

    /// What it is, in words that follow its heading.
    #[must_use]
    pub fn meaning(self) -> &'d str {
        match self {
            PlateauFigure::Own(figure) => figure.meaning(),
            PlateauFigure::Probe(figure) => &figure.meaning,
        }
    }

    /// How its rounds become one number.
    pub(super) fn fold(self) -> Fold {
        match self {
            PlateauFigure::Own(figure) => figure.fold(),
            PlateauFigure::Probe(figure) => figure.fold.rounds(figure.unit),
        }
    }
}

impl From<HeldFigure> for PlateauFigure<'_> {
    fn from(figure: HeldFigure) -> Self {
        PlateauFigure::Own(figure)
    }
}

impl<'d> From<&'d ProbeFigure> for PlateauFigure<'d> {
    fn from(figure: &'d ProbeFigure) -> Self {
        PlateauFigure::Probe(figure)
    }
}

impl HeldFigure {
    pub const COUNT: usize = HeldFigure::ALL.len();

    /// All of them, in the order of the results.
    pub const ALL: [HeldFigure; 28] = [
        HeldFigure::Open,
        HeldFigure::Failed,
        HeldFigure::Lost,
        HeldFigure::Silent,
        HeldFigure::Waiting,
        HeldFigure::BegunAgain,
        HeldFigure::ConnectP50,
        HeldFigure::ConnectP99,
        HeldFigure::AgreeP50,
        HeldFigure::AgreeP99,
        HeldFigure::LateP50,
        HeldFigure::LateP99,
        HeldFigure::LateMax,
        HeldFigure::GapP50,
        HeldFigure::GapP99,
        HeldFigure::Messages,
        HeldFigure::Missed,
        HeldFigure::OwnP99,
        HeldFigure::Received,
        HeldFigure::RssMean,
        HeldFigure::RssMax,
        HeldFigure::PssMean,
        HeldFigure::PssMax,
        HeldFigure::IoRead,
        HeldFigure::IoWritten,
        HeldFigure::CpuShare,
        HeldFigure::CpuPerThousand,
        HeldFigure::GeneratorCpu,
    ];

    /// The stable name that stands in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().0
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
            HeldFigure::LateMax => Fold::Greatest,
            // 100 % is one CPU.
            HeldFigure::CpuShare | HeldFigure::GeneratorCpu => Fold::Amounts,
            _ => self.unit().fold(),
        }
    }

    #[rustfmt::skip]
    fn row(self) -> (&'static str, Unit, &'static str, &'static str) {
        use HeldFigure as H;
        use Unit::{Bytes, Count, KibPerSecond, Milliseconds, PerSecond, Percent};
        match self {
            H::Open => ("open", Count, "open", "connections over which messages could come, at the plateau's end"),
            H::Failed => ("failed", Count, "failed", "connections that never opened, from the step's begin on"),
            H::Lost => ("lost", Count, "lost", "connections that were open and are no more, from the step's begin on"),
            H::Silent => ("silent", Count, "silent", "connections that are open and receive nothing, at the plateau's end"),
            H::Waiting => ("waiting", Count, "waiting", "connections that are begun and neither open nor failed, at the plateau's end"),
            H::BegunAgain => ("begun_again", Count, "again", "connections that were begun again"),
            H::ConnectP50 => ("connect_p50_ms", Milliseconds, "connect p50", "time to connect (TCP), half of the step's connections"),
            H::ConnectP99 => ("connect_p99_ms", Milliseconds, "connect p99", "time to connect (TCP), 99 % of them"),
            H::AgreeP50 => ("agree_p50_ms", Milliseconds, "agree p50", "from there to the head or the handshake, half"),
            H::AgreeP99 => ("agree_p99_ms", Milliseconds, "agree p99", "from there to the head or the handshake, 99 %"),
            H::LateP50 => ("push_late_p50_ms", Milliseconds, "late p50", "messages against their beat, half"),
            H::LateP99 => ("push_late_p99_ms", Milliseconds, "late p99", "messages against their beat, 99 %"),
            H::LateMax => ("push_late_max_ms", Milliseconds, "late max", "messages against their beat, the latest"),
            H::GapP50 => ("gap_p50_ms", Milliseconds, "gap p50", "from one message to the next on a connection, half"),
            H::GapP99 => ("gap_p99_ms", Milliseconds, "gap p99", "from one message to the next on a connection, 99 %"),
            H::Messages => ("messages_per_s", PerSecond, "messages/s", "messages that came each second, over whole beats"),
            H::Missed => ("missed", Count, "missed", "beats that never came, where messages are numbered"),
            H::OwnP99 => ("own_late_p99_ms", Milliseconds, "own p99", "the most that dyno itself may have added to a message's lateness, 99 %"),
            H::Received => ("received_kib_per_s", KibPerSecond, "KiB/s", "units of 1,024 bytes received"),
            H::RssMean => ("rss_mean_bytes", Bytes, "RSS", "the subject's resident memory, on average"),
            H::RssMax => ("rss_max_bytes", Bytes, "RSS max", "the subject's resident memory, the most"),
            H::PssMean => ("pss_mean_bytes", Bytes, "PSS", "the same with shared pages divided among processes, on average"),
            H::PssMax => ("pss_max_bytes", Bytes, "PSS max", "the same with shared pages divided among processes, the most"),
            H::IoRead => ("io_read_kib_per_s", KibPerSecond, "read", "what the subject's `read` and its kin returned; `recv` is not counted by the kernel"),
            H::IoWritten => ("io_written_kib_per_s", KibPerSecond, "written", "what the subject's `write` and its kin took; `send` is not counted by the kernel"),
            H::CpuShare => ("cpu_percent", Percent, "CPU", "the subject's CPU time; 100 % is one CPU"),
            H::CpuPerThousand => ("cpu_ms_per_1000", Milliseconds, "CPU/1k", "the subject's CPU time for 1,000 messages"),
            H::GeneratorCpu => ("generator_cpu_percent", Percent, "dyno CPU", "CPU time of dyno's lanes; 100 % is one CPU"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_name_of_its_own_and_its_place() {
        let names: std::collections::BTreeSet<&str> =
            HeldFigure::ALL.into_iter().map(HeldFigure::name).collect();
        assert_eq!(names.len(), HeldFigure::COUNT);
        assert!(HeldFigure::ALL.iter().enumerate().all(|(at, figure)| *figure as usize == at));
        let first = |name: &&str| name.split('_').next().unwrap_or_default().to_string();
        let own: std::collections::BTreeSet<String> = names.iter().map(first).collect();
        assert!(own.iter().eq(lab::probe::TAKEN), "which names a probe must not use");
    }
}
