//! Why a trial's numbers may not be what they seem. Each check is one function over what the trial left behind; each
//! doubt holds its figures. None of them removes a number.

mod answers;
mod books;
mod drift;
mod generator;
mod gravity;
mod held;
mod machine;
mod queue;
mod rate;
mod shape;
mod spots;
mod steady;
mod still;
mod subject;

pub use books::SAMPLES_FOR_P99;
pub use held::of_holding;

pub use steady::{Steady, steady};

use lab::experiment::Point;
use lab::record::{OutcomeKind, TrialRecord};
use load::{Nanos, Recording};

use crate::rates::OnTime;
use crate::readings;
use crate::terms::Terms;

/// One reason to doubt a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// It is no measurement: no figure holds it.
    Unmeasured(OutcomeKind),
    /// Two counts that must agree do not. A fault of ours.
    Books {
        /// What must agree, in words.
        rule: &'static str,
        /// The one count.
        one: u64,
        /// The other.
        other: u64,
    },
    /// More or far fewer connections came to something than were begun. A fault of ours.
    Connections {
        /// Begun.
        begun: u64,
        /// Established or failed.
        accounted: u64,
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
    /// We stood still: stopped, paused with the whole machine, or kept from the CPU. What the server did meanwhile is not
    /// known, and its answers lay unread.
    StoodStill {
        /// The longest time, milliseconds.
        longest_ms: f64,
        /// All such times together, of the measured time.
        share: f64,
        /// The p99 of the response time that is printed, milliseconds.
        p99_ms: f64,
    },
    /// Requests were neither answered nor given up when the load ended.
    UnderWay {
        /// So many.
        left: u64,
        /// Of those due.
        due: u64,
    },
    /// The server did not keep up: too few of the requests that were due were answered as expected in time.
    NotOnTime {
        /// So many were.
        on_time: u64,
        /// Of so many.
        due: u64,
        /// The limit, from when each was due, milliseconds.
        within_ms: f64,
    },
    /// The server did not keep up: response times grew as long as the load lasted.
    Growing {
        /// Their median in the first third of the measured time, milliseconds.
        first_ms: f64,
        /// In the last.
        last_ms: f64,
    },
    /// Answers to requests that had been due before the measured time came inside it.
    CarriedIn {
        /// So many.
        carried_in: u64,
        /// Of all correct answers inside the measured time.
        inside: u64,
        /// Correct answers inside it, less those that it was asked for in it: more of the first than of the second are no
        /// rate that the server can keep.
        excess: i64,
    },
    /// More came than was asked for: answers twice, or bytes after them.
    Surplus {
        /// Answers that no request waited for.
        answers: u64,
        /// Answers with something behind them.
        bytes: u64,
        /// Of so many correct answers.
        correct: u64,
    },
    /// Connections that were to be kept were closed, and opened again.
    Reconnects {
        /// So many were closed as their last answer had said.
        announced: u64,
        /// So many without a word.
        unannounced: u64,
        /// Of so many answers.
        answers: u64,
    },
    /// Our own threads had hardly a free moment: the rate may be our limit.
    Busy {
        /// The share of their time.
        share: f64,
    },
    /// Our own threads had something to do, and others had the CPU.
    Starved {
        /// The share of their time in which they had something to do.
        busy: f64,
        /// The share of their time for which they had a CPU.
        cpu: f64,
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
    /// Another dyno loaded a server on this machine as the trial began or ended. What it took of the CPUs is for
    /// `OtherPrograms` to judge.
    OtherDyno {
        /// Its process, its command and where it runs.
        who: String,
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

/// All reasons to doubt what was measured, the instrument's faults first.
#[must_use]
pub fn doubts(trial: &TrialRecord, terms: Terms) -> Vec<Doubt> {
    let kind = trial.outcome.kind;
    let unmeasured = (kind != OutcomeKind::Measured).then_some(Doubt::Unmeasured(kind));
    unmeasured
        .into_iter()
        .chain(of_pressed(trial, terms))
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
        machine::other_dyno(trial),
        machine::clock_step(trial),
        subject::processes_ended(trial),
        subject::memory_kills(trial),
    ];
    held::all(trial, held).into_iter().chain(beside.into_iter().flatten()).collect()
}

fn of_pressed(trial: &TrialRecord, terms: Terms) -> Vec<Doubt> {
    let Some(pressed) = &trial.pressed else { return Vec::new() };
    let (recording, point) = (&pressed.recording, trial.key.point);
    let ordered = Ordered {
        calls: terms.calls,
        on_time: terms.on_time(recording, point),
        connections: match point {
            Point::Connections(connections) => Some(connections),
            Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => None,
        },
        looked_away: readings::longest_gap(trial),
    };
    let beside = [
        books::connections(trial),
        queue::overflows(trial),
        queue::syn_retries(trial),
        shape::delayed_ack(trial),
        machine::steal(trial),
        machine::other_programs(trial),
        machine::other_dyno(trial),
        machine::clock_step(trial),
        subject::processes_ended(trial),
        subject::memory_kills(trial),
    ];
    let mut doubts = of_recording(recording, ordered);
    doubts.extend(beside.into_iter().flatten());
    // A server that does not keep up has no steady state to wait for.
    if !doubts.iter().any(Doubt::is_behind)
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
    /// Requests that wait for one another in a session; else 1.
    pub calls: u32,
    /// What of a schedule's requests was on time; none of a closed loop.
    pub on_time: Option<OnTime>,
    /// Of a closed loop.
    pub connections: Option<u32>,
    /// The longest time in which no monitor looked, though it was to; none where there was no monitor.
    pub looked_away: Option<Nanos>,
}

/// What can be asked of any recording, be it a trial's or `dyno load`'s. The instrument's faults first.
#[must_use]
pub fn of_recording(recording: &Recording, ordered: Ordered) -> Vec<Doubt> {
    let behind = rate::not_on_time(ordered).or_else(|| rate::growing(recording, ordered));
    // A server that does not keep up answers later and later, and a load that changes is not steady: neither is news.
    let is_steady = behind.is_none() && recording.sections.is_empty();
    let drift = if is_steady { drift::drift(recording) } else { None };
    let all = [
        books::books(recording, ordered),
        books::stopped(recording),
        books::own_failures(recording),
        still::stood_still(recording, ordered),
        generator::late(recording),
        books::under_way(recording),
        behind,
        rate::carried_in(recording, ordered),
        generator::busy(recording),
        answers::surplus(recording),
        answers::reconnects(recording),
        drift,
        shape::mean_above_p99(recording, ordered.connections),
        books::few_samples(recording),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
