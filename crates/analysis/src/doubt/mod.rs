//! Why a trial's numbers may not be what they seem. Each check is one function over what the trial left behind; each
//! doubt holds its figures. None of them removes a number.

mod books;
mod drift;
mod generator;
mod held;
mod machine;
mod queue;
mod rate;
mod shape;
mod spots;
mod steady;
mod subject;

pub use books::SAMPLES_FOR_P99;

pub use steady::{Steady, steady};

use lab::experiment::Point;
use lab::record::{OutcomeKind, TrialRecord};
use load::Recording;

use crate::figures::offered_per_s;
use crate::verdict::Gravity;

/// One reason to doubt a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// It is no measurement: no figure holds it.
    Unmeasured(OutcomeKind),
    /// What was due is not what was correct, failed and under way. A fault of ours.
    Books {
        /// Due.
        attempted: u64,
        /// Correct, failed, under way.
        accounted: u64,
    },
    /// More or far fewer connections came to something than were begun. A fault of ours.
    Connections {
        /// Begun.
        begun: u64,
        /// Established or failed.
        accounted: u64,
    },
    /// Requests in flight, counted over time, are not what the latencies add up to.
    LittlesLaw {
        /// On average, counted over time.
        in_flight: f64,
        /// On average, by the latencies.
        by_latencies: f64,
    },
    /// It was stopped, or nothing but failures came.
    Stopped,
    /// Requests failed for reasons of our own.
    OwnFailures {
        /// So many.
        failed: u64,
        /// Of those due.
        attempted: u64,
    },
    /// We sent late, against the response times that this is part of.
    Late {
        /// One in a hundred left so late, milliseconds.
        p99_ms: f64,
        /// What would be tolerable.
        bound_ms: f64,
    },
    /// Less came back than was offered: it did not keep up, or the trial was too short to tell.
    NotReached {
        /// Offered each second.
        offered_per_s: f64,
        /// Achieved each second.
        achieved_per_s: f64,
    },
    /// Our own threads had hardly a free moment: the rate may be our limit.
    Busy {
        /// The share of their time.
        share: f64,
    },
    /// Connections found the accept queue full.
    Overflows {
        /// So many, during the load.
        overflows: u64,
        /// How many the subject's queue holds, as the kernel says.
        backlog: Option<u32>,
        /// The network was the trial's own: nobody else's queue can be meant.
        is_isolated: bool,
    },
    /// SYNs were sent again: such a connection takes whole seconds longer.
    SynRetries {
        /// So many, during the load.
        retries: u64,
        /// Connections that took about 1, 2, 3, … seconds: the steps of the kernel's timer.
        stepped: u64,
        /// Connections that were established.
        established: u64,
    },
    /// Half the requests took what a delayed acknowledgement takes, and the subject was idle.
    DelayedAck {
        /// The median of the service time, milliseconds.
        p50_ms: f64,
        /// The subject's CPU time, as a share of one CPU.
        cpu_share: f64,
    },
    /// The last third of the measured time was not like the first.
    Drift {
        /// What changed.
        of: Drifting,
        /// Its median over the windows of the first third.
        first: f64,
        /// Over those of the last.
        last: f64,
    },
    /// The steady state began after the measured time did: its beginning is in the figures. Seconds after the load's
    /// begin.
    WarmupTooShort {
        /// Measured time began.
        warmup_s: f64,
        /// The steady state began.
        steady_from_s: f64,
    },
    /// The host took CPU time away.
    Steal {
        /// As a share of one CPU.
        share: f64,
    },
    /// Programs that are neither subject nor dyno worked.
    OtherPrograms {
        /// As a share of one CPU.
        share: f64,
    },
    /// Processes of the subject's ended during the load.
    ProcessesEnded {
        /// When it was ready there were so many.
        ready: u32,
        /// The fewest seen during the load.
        fewest: u32,
    },
    /// The kernel killed processes of the subject's, because it was out of memory.
    MemoryKills {
        /// So many.
        kills: u64,
    },
    /// The mean lies above the p99: a few exchanges make up most of the time, or one of the two is wrong.
    MeanAboveP99 {
        /// Milliseconds.
        mean_ms: f64,
        /// Milliseconds.
        p99_ms: f64,
        /// The mean was not measured: it is what so many connections must wait at such a rate.
        is_by_rate: bool,
    },
    /// A reference, which does next to nothing, comes to hardly more with the same load: this may be our limit, or the
    /// machine's. Of a row, not of a trial.
    Ceiling {
        /// The reference's, each second.
        ceiling_per_s: f64,
        /// The row's.
        achieved_per_s: f64,
    },
    /// The wall clock was set while it ran. Our times do not follow it; the subject's timers may.
    ClockStep {
        /// Forwards; backwards if negative.
        step_ms: f64,
    },
    /// Held connections failed or were lost for reasons of our own.
    OwnLosses {
        /// So many.
        own: u64,
        /// Of those begun.
        begun: u64,
    },
    /// Our own turns may be a good part of how late messages seemed to come.
    HeardLate {
        /// Worst where so many connections were held.
        connections: usize,
        /// One message in a hundred may have waited for us so long, milliseconds.
        own_p99_ms: f64,
        /// One in a hundred came so late, milliseconds.
        late_p99_ms: f64,
    },
    /// Connections could not be opened, or were lost.
    NotKept {
        /// So many, those of our own doing not among them.
        gone: u64,
        /// Of those begun.
        begun: u64,
    },
    /// Connections were begun, and neither opened nor failed for as long as a step has time.
    NotOpened {
        /// So many, where there were the most of them.
        waiting: u64,
        /// So many were to be there.
        connections: usize,
    },
    /// Connections stayed open, and no message came any more.
    Silent {
        /// So many, where there were the most of them.
        silent: u64,
        /// So many were to be there.
        connections: usize,
    },
    /// Cases of the RFCs were kept before the load, and not after it.
    ConformanceUnderLoad {
        /// The first of them.
        case: String,
        /// What the subject did before.
        before: String,
        /// What it did after, asked twice.
        after: String,
        /// So many more.
        others: usize,
    },
    /// Not one request was due in the measured time, or no connection was begun.
    Nothing,
    /// So few samples that a p99 means nothing.
    FewSamples {
        /// So many.
        samples: u64,
    },
}

/// What may change over a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drifting {
    /// Correct answers each second.
    Achieved,
    /// The median of the response time, milliseconds.
    ResponseP50,
}

/// More of our own failures than this share, and the rest is no sample of what was ordered.
const OWN_FAILURES: f64 = 0.01;

impl Doubt {
    /// What it does to the verdict. docs/validity.md says why.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        match *self {
            Doubt::Unmeasured(_)
            | Doubt::Books { .. }
            | Doubt::Connections { .. }
            | Doubt::Stopped
            | Doubt::Nothing => Gravity::Invalid,
            Doubt::OwnFailures { failed, attempted }
            | Doubt::OwnLosses { own: failed, begun: attempted } => {
                let is_small = failed as f64 <= OWN_FAILURES * attempted as f64;
                if is_small { Gravity::Suspect } else { Gravity::Invalid }
            }
            Doubt::LittlesLaw { .. }
            | Doubt::Late { .. }
            | Doubt::HeardLate { .. }
            | Doubt::Busy { .. }
            | Doubt::Overflows { .. }
            | Doubt::SynRetries { .. }
            | Doubt::DelayedAck { .. }
            | Doubt::Drift { .. }
            | Doubt::WarmupTooShort { .. }
            | Doubt::Steal { .. }
            | Doubt::OtherPrograms { .. }
            | Doubt::ProcessesEnded { .. }
            | Doubt::MemoryKills { .. }
            | Doubt::MeanAboveP99 { .. }
            | Doubt::Ceiling { .. }
            | Doubt::ClockStep { .. }
            | Doubt::ConformanceUnderLoad { .. } => Gravity::Suspect,
            // Findings about the subject; and percentiles that are not supported are marked one by one.
            Doubt::NotReached { .. }
            | Doubt::NotKept { .. }
            | Doubt::NotOpened { .. }
            | Doubt::Silent { .. }
            | Doubt::FewSamples { .. } => Gravity::Note,
        }
    }
}

/// All reasons to doubt what was measured, the instrument's faults first. A session makes so many `calls`.
#[must_use]
pub fn doubts(trial: &TrialRecord, calls: u32) -> Vec<Doubt> {
    let kind = trial.outcome.kind;
    let unmeasured = (kind != OutcomeKind::Measured).then_some(Doubt::Unmeasured(kind));
    unmeasured
        .into_iter()
        .chain(of_pressed(trial, calls))
        .chain(of_held(trial))
        .chain(spots::conformance_under_load(trial))
        .collect()
}

fn of_held(trial: &TrialRecord) -> Vec<Doubt> {
    let Some(held) = &trial.held else { return Vec::new() };
    let beside = [
        queue::overflows(trial),
        queue::syn_retries(trial),
        machine::steal(trial),
        machine::other_programs(trial),
        machine::clock_step(trial),
        subject::processes_ended(trial),
        subject::memory_kills(trial),
    ];
    held::all(trial, held).into_iter().chain(beside.into_iter().flatten()).collect()
}

fn of_pressed(trial: &TrialRecord, calls: u32) -> Vec<Doubt> {
    let Some(pressed) = &trial.pressed else { return Vec::new() };
    let (recording, point) = (&pressed.recording, trial.key.point);
    let ordered = Ordered {
        offered_per_s: offered_per_s(recording, point, calls),
        calls,
        connections: match point {
            Point::Connections(connections) => Some(connections),
            Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => None,
        },
    };
    let beside = [
        books::connections(trial),
        queue::overflows(trial),
        queue::syn_retries(trial),
        shape::delayed_ack(trial),
        machine::steal(trial),
        machine::other_programs(trial),
        machine::clock_step(trial),
        subject::processes_ended(trial),
        subject::memory_kills(trial),
    ];
    let mut doubts = of_recording(recording, ordered);
    doubts.extend(beside.into_iter().flatten());
    // Who does not keep up has no steady state to wait for.
    if !doubts.iter().any(|doubt| matches!(doubt, Doubt::NotReached { .. }))
        && let Some(found) = steady::warmup_too_short(recording)
    {
        // It says more than that the first third was unlike the last.
        doubts.retain(|doubt| !matches!(doubt, Doubt::Drift { .. }));
        doubts.push(found);
    }
    doubts
}

/// What a load was to be, as far as its recording is held against it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ordered {
    /// What the schedule asked for; none of a closed loop.
    pub offered_per_s: Option<f64>,
    /// Requests that wait for one another in a session; else 1.
    pub calls: u32,
    /// Of a closed loop.
    pub connections: Option<u32>,
}

/// What can be asked of any recording, whoever made it: a trial or `dyno load`. The instrument's faults first.
#[must_use]
pub fn of_recording(recording: &Recording, ordered: Ordered) -> Vec<Doubt> {
    let not_reached = rate::not_reached(recording, ordered);
    // Who does not keep up waits longer and longer: that is said already.
    let drift = if not_reached.is_none() { drift::drift(recording) } else { None };
    let all = [
        books::books(recording),
        books::littles_law(recording),
        books::stopped(recording),
        books::own_failures(recording),
        generator::late(recording),
        not_reached,
        generator::busy(recording),
        drift,
        shape::mean_above_p99(recording, ordered.connections),
        books::few_samples(recording),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
