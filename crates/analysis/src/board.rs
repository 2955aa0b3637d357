//! The tables of a run: for every workload, the figures of each subject at each place of the axis, and what they are
//! worth.

use lab::experiment::{Point, Promised};
use lab::figure::Figure;
use lab::probe::ProbeReading;
use lab::record::{Outcome, OutcomeKind};
use lab::service::ServiceCeiling;
use load::{Evidence, Failure};
use schemars::JsonSchema;
use serde::Serialize;

use crate::conduct::{Conduct, Faults};
use crate::conformance::Conformity;
use crate::cpu_shares::CpuShares;
use crate::doubt::{Doubt, Steady};
use crate::estimate::Estimate;
use crate::figures::{Figures, PlateauFigure};
use crate::held::Ramps;
use crate::judgement::Judgement;
use crate::remark::Remark;
use crate::until::Stopped;
use crate::verdict::Verdict;

/// All tables of a run, in the experiment's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    pub tables: Vec<Table>,
    /// For held connections, the results plateau by plateau: one for each workload that was held. Their tables have
    /// rows, too: trials and what they are worth, without figures.
    pub ramps: Vec<Ramps>,
    /// What the probes of the run's servers declare.
    pub readings: Vec<ProbeReading>,
    /// How far the servers that take part conform to the RFCs, in the run's order.
    pub conformities: Vec<Conformity>,
}

/// The results of one task: of a workload that was requested in one manner.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The task's name.
    pub workload: String,
    /// Servers in the run's order; for each, its places from low to high.
    pub rows: Vec<Row>,
    /// The highest throughput of each server, highest first, dyno's own server last; only where there is more than
    /// one load.
    pub peaks: Vec<Peak>,
    /// What the reader should know of the table as a whole.
    pub remarks: Vec<Remark>,
    /// The promise by which its schedules are judged.
    pub promise: Promised,
    /// The service of its workload, such as a database, was on the CPUs of the server: a rate is that of both.
    pub shares_cpu: bool,
    /// It is ordered by the servers' own CPU time for an answer: a service shares it, or the experiment wants it.
    pub by_cpu: bool,
    /// What a service that has CPUs of its own answers with no server before it, place by place; or why it is unknown.
    pub service_ceilings: Vec<(Point, Result<ServiceCeiling, String>)>,
}

/// One server under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub subject: String,
    /// It is not a competitor, but shows the limit of the load and the machine. A reference that is alone competes.
    pub is_reference: bool,
    /// Why it is not ranked: it does not meet what the experiment requires, or it gave wrong answers or failed.
    pub unmet: Option<String>,
    /// Requests that went wrong through the server's doing in the measured rounds.
    pub faults: Faults,
    /// What they mean for its figures.
    pub conduct: Conduct,
    /// The first few failures of each class with their bytes, in the order of the rounds.
    pub evidence: Vec<Evidence>,
    /// It stopped answering after a case of its conformance check.
    pub has_crashed: bool,
    /// The load.
    pub point: Point,
    /// How many rounds it takes; where their number is to be found, as far as it is known.
    pub planned: usize,
    /// Why there are no more rounds, where their number was to be found.
    pub stopped: Option<Stopped>,
    /// The rounds that were run, in their order.
    pub trials: Vec<JudgedTrial>,
    /// Why the row as a whole may not be what it seems.
    pub doubts: Vec<Doubt>,
    /// A service was on the CPUs of the server: rates are those of both.
    pub shares_cpu: bool,
    /// How busy each was, where a service has CPUs of its own.
    pub shares: Option<CpuShares>,
    /// Whether it kept up and kept the promise, what it is worth, and whether it is ranked.
    pub judgement: Judgement,
    pub(crate) estimates: [Option<Estimate>; Figure::COUNT],
}

/// One trial, and what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedTrial {
    /// Its place in the plan.
    pub number: u32,
    /// Which round, from 0.
    pub repeat: u32,
    pub outcome: Outcome,
    /// Its figures, as far as the trial got.
    pub figures: Figures,
    /// Where its steady state begins, if it had a load.
    pub steady: Option<Steady>,
    /// How many streams were ordered on each connection, and how many the server allowed, if these were fewer.
    pub streams_capped: Option<(u64, u64)>,
    /// Whether the server was sent only some of the workload's requests.
    pub is_partial: bool,
    /// Why its figures may not be what they seem.
    pub doubts: Vec<Doubt>,
}

/// Where a server had the most throughput.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "peak")]
pub struct Peak {
    /// the server
    pub subject: String,
    /// it is no competitor
    pub is_reference: bool,
    /// It does not meet what the experiment requires.
    #[serde(skip)]
    pub is_unmet: bool,
    #[serde(flatten)]
    pub point: Point,
    /// its throughput there
    #[serde(rename = "throughput_per_s")]
    pub throughput: Estimate,
    /// this was the highest load, and the server kept up there: it may be able to do more
    pub is_open: bool,
    /// the row's verdict is not valid
    pub is_doubtful: bool,
}

impl Board {
    /// How far a server conforms to the RFCs; nothing for one that does not take part.
    #[must_use]
    pub fn conformity(&self, subject: &str) -> Option<&Conformity> {
        self.conformities.iter().find(|found| found.subject == subject)
    }

    /// Every figure of a plateau: dyno's own, then those that probes declare.
    pub fn plateau_figures(&self) -> impl Iterator<Item = PlateauFigure<'_>> {
        let probe = self.readings.iter().flat_map(|reading| &reading.figures);
        Figure::OF_STEPS.into_iter().map(PlateauFigure::from).chain(probe.map(PlateauFigure::from))
    }

    /// How many trials the run takes, as far as it is known.
    #[must_use]
    pub fn planned(&self) -> usize {
        self.tables.iter().flat_map(|table| &table.rows).map(|row| row.planned).sum()
    }
}

impl Table {
    /// A table of which nothing has been found as a whole.
    pub(crate) fn of_rows(workload: String, rows: Vec<Row>, promise: Promised) -> Table {
        Table {
            workload,
            rows,
            peaks: Vec::new(),
            remarks: Vec::new(),
            promise,
            shares_cpu: false,
            by_cpu: false,
            service_ceilings: Vec::new(),
        }
    }

    /// Its rows without references.
    pub fn competitors(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_reference)
    }

    /// Whether its trials held connections: the results are in the board's `ramps`, and its rows have no figures.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.point, Point::Held(_)))
    }

    /// Whether any server was loaded under more than one load.
    #[must_use]
    pub fn is_curve(&self) -> bool {
        self.rows.windows(2).any(|pair| pair[0].subject == pair[1].subject)
    }
}

impl Row {
    /// A row of these rounds, which has not been judged.
    pub(crate) fn of_rounds(subject: &str, point: Point, trials: Vec<JudgedTrial>) -> Row {
        let mut row = Row {
            subject: subject.into(),
            is_reference: false,
            unmet: None,
            faults: Faults::default(),
            conduct: Conduct::Sound,
            evidence: Vec::new(),
            has_crashed: false,
            point,
            planned: trials.len(),
            stopped: None,
            trials,
            doubts: Vec::new(),
            shares_cpu: false,
            shares: None,
            judgement: Judgement::default(),
            estimates: [None; Figure::COUNT],
        };
        row.estimates = Figure::ALL.map(|figure| {
            let rounds = row.measured_trials().filter_map(|trial| trial.figures.get(figure));
            Estimate::of(&rounds.collect::<Vec<_>>(), figure.fold())
        });
        row
    }

    /// The rounds that were measured.
    pub(crate) fn measured_trials(&self) -> impl Iterator<Item = &JudgedTrial> {
        self.trials.iter().filter(|trial| trial.is_measured())
    }

    /// A figure over the rounds that were measured.
    #[must_use]
    pub fn estimate(&self, figure: Figure) -> Option<Estimate> {
        self.estimates[figure as usize]
    }

    #[must_use]
    pub fn measured(&self) -> usize {
        self.measured_trials().count()
    }

    /// Rounds that are not a measurement, by how they ended.
    #[must_use]
    pub fn unmeasured(&self) -> Vec<(OutcomeKind, usize)> {
        let times =
            |kind| (kind, self.trials.iter().filter(|trial| trial.outcome.kind == kind).count());
        let all = OutcomeKind::ALL.map(times).into_iter();
        all.filter(|(kind, times)| *kind != OutcomeKind::Measured && 0 < *times).collect()
    }

    /// Failures in all measured rounds, by class.
    #[must_use]
    pub fn failures(&self) -> Vec<(Failure, u64)> {
        let mut sums = [0; Failure::COUNT];
        for trial in self.measured_trials() {
            for (failure, times) in &trial.figures.failures {
                sums[failure.index()] += times;
            }
        }
        Failure::ALL.into_iter().zip(sums).filter(|(_, times)| 0 < *times).collect()
    }

    /// A reason more why it is not ranked.
    pub(crate) fn lack(&mut self, says: String) {
        self.unmet = Some(match self.unmet.take() {
            Some(other) => format!("{other}; {says}"),
            None => says,
        });
    }

    /// Whether its figures are not valid: they are then marked wherever they are shown.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        0 < self.measured() && self.verdict() != Some(Verdict::Valid)
    }
}

impl JudgedTrial {
    /// Whether it is included in the figures.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.outcome.kind == OutcomeKind::Measured
    }
}
