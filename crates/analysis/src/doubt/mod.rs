//! Reasons why a trial's numbers may not be what they seem. Each check is one function over what the trial left behind;
//! each doubt has its figures. None of them removes a number.

mod agents;
mod alone;
mod answers;
mod books;
mod drift;
mod generator;
mod gravity;
mod held;
mod http2;
mod machine;
mod queue;
mod rate;
mod reasons;
mod security;
mod shape;
mod spots;
mod steady;
mod still;
mod subject;

pub use agents::{AgentsDoubt, of_agents, of_link};
pub use alone::{agents_lost, most_seen, of_load, overflowed};
pub use books::SAMPLES_FOR_P99;
pub use drift::Drifting;
pub use generator::{BusyAgent, LateAgent};
pub use held::of_holding;
pub use http2::Http2Doubt;
pub use reasons::{Ordered, doubts, of_recording};
pub use security::TlsDoubt;

pub use steady::{Steady, steady};

use lab::record::OutcomeKind;
use load::Failure;

use crate::conduct::Faults;
use crate::verdict::Verdict;

/// One reason to doubt a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// It is not a measurement: no figure includes it.
    Unmeasured(OutcomeKind),
    /// Two counts that must agree do not. A fault of dyno.
    Books {
        /// What must agree, in words.
        rule: &'static str,
        /// The first count.
        one: u64,
        /// The second count.
        other: u64,
    },
    /// More, or far fewer, connections were established or failed than were begun. A fault of dyno.
    Connections {
        /// Begun.
        begun: u64,
        /// Established or failed.
        accounted: u64,
    },
    /// It was stopped before its end: what was measured until then is valid for its time.
    Halted {
        /// How long it was measured, seconds.
        after_s: f64,
    },
    /// Agents were lost, and with them their share of the load.
    AgentsLost {
        lost: u64,
        of: u64,
        /// The share of the load that they had.
        share: f64,
    },
    /// It gave up, because there were only failures.
    Stopped,
    /// Requests failed for reasons of dyno's own.
    OwnFailures {
        /// How many failed.
        failed: u64,
        /// How many were due.
        attempted: u64,
    },
    /// dyno sent late, relative to the response times, which include this delay.
    Late {
        /// The p99 of the delay, milliseconds.
        p99_ms: f64,
        /// The delay that would be tolerable, milliseconds.
        bound_ms: f64,
    },
    /// dyno stood still: it was stopped, paused with the whole machine, or kept from the CPU. What the server did
    /// meanwhile is unknown, and its answers waited unread.
    StoodStill {
        /// The longest time, milliseconds.
        longest_ms: f64,
        /// All such times together, as a share of the measured time.
        share: f64,
        /// The p99 of the response time that is printed, milliseconds.
        p99_ms: f64,
        /// Which agent it was, where agents carried out the load.
        agent: Option<String>,
    },
    /// For a time no right answer came at all, though requests were wanted: the server, or the way to it, was out.
    Silence {
        /// The longest such time, and when it began in the measured time, milliseconds.
        longest_ms: f64,
        from_ms: f64,
        times: u64,
        /// All of them together, as a share of the measured time.
        share: f64,
    },
    /// Some requests were neither answered nor given up when the load ended.
    UnderWay {
        left: u64,
        /// How many were due.
        due: u64,
    },
    /// The server did not keep up: too few of the requests that were due were answered as expected in time.
    NotOnTime {
        /// How many were.
        on_time: u64,
        /// How many were due.
        due: u64,
        /// The limit, from the time at which each was due, milliseconds.
        within_ms: f64,
    },
    /// The server did not keep up: response times grew for as long as the load lasted.
    Growing {
        /// Their median in the first third of the measured time, milliseconds.
        first_ms: f64,
        /// Their median in the last third, milliseconds.
        last_ms: f64,
    },
    /// Answers to requests that were due before the measured time arrived inside it.
    CarriedIn {
        carried_in: u64,
        /// All correct answers inside the measured time.
        inside: u64,
        /// Correct answers inside it, minus those to requests that were due in it: if this is positive, the server
        /// cannot sustain the rate.
        excess: i64,
    },
    /// Bodies differed from the one that a server had given several times before the load.
    UnlikeBodies {
        /// Correct answers with such a body.
        unlike: u64,
        /// How many correct answers there were.
        correct: u64,
    },
    /// More arrived than was requested: duplicate answers, or bytes after an answer.
    Surplus {
        /// Answers for which no request waited.
        answers: u64,
        /// Answers that were followed by extra bytes.
        bytes: u64,
        /// How many correct answers there were.
        correct: u64,
    },
    /// Connections that were to be kept open were closed, and opened again.
    Reconnects {
        /// How many were closed as their last answer had announced.
        announced: u64,
        /// How many were closed without notice.
        unannounced: u64,
        /// How many answers there were.
        answers: u64,
    },
    /// dyno's own threads were almost never idle: the rate may be the limit of dyno.
    Busy {
        /// The share of the time in which they were busy.
        share: f64,
    },
    /// dyno's own threads had something to do, but other programs had the CPU.
    Starved {
        /// The share of their time in which they had something to do.
        busy: f64,
        /// The share of their time for which they had a CPU.
        cpu: f64,
    },
    /// Connections found the accept queue full.
    Overflows {
        /// How many, during the load.
        overflows: u64,
        /// How many the subject's queue holds, as the kernel reports it.
        backlog: Option<u32>,
        /// The trial had a network of its own: the counter cannot include any other queue.
        is_isolated: bool,
    },
    /// SYNs were sent again: such a connection takes whole seconds longer.
    SynRetries {
        /// How many, during the load.
        retries: u64,
        /// Connections that took about 1, 2, 3, … seconds: the steps of the kernel's timer.
        stepped: u64,
        /// Connections that were established.
        established: u64,
    },
    /// Half the requests took as long as a delayed acknowledgement takes, and the subject was idle.
    DelayedAck {
        /// The median of the service time, milliseconds.
        p50_ms: f64,
        /// The subject's CPU time, as a share of one CPU.
        cpu_share: f64,
    },
    /// The last third of the measured time was not like the first.
    Drift {
        /// The quantity that changed.
        of: Drifting,
        /// Its median over the windows of the first third.
        first: f64,
        /// Its median over those of the last third.
        last: f64,
    },
    /// The steady state began after the measured time did: the figures include what came before it. Seconds since the
    /// start of the load.
    WarmupTooShort {
        /// When the measured time began.
        warmup_s: f64,
        /// When the steady state began.
        steady_from_s: f64,
    },
    /// The host took CPU time away.
    Steal {
        /// The time taken, as a share of one CPU.
        share: f64,
    },
    /// Programs that are neither the subject nor dyno used the CPU.
    OtherPrograms {
        /// Their time, as a share of one CPU.
        share: f64,
    },
    /// Another dyno loaded a server on this machine as the trial began or ended. Its CPU time is judged by
    /// `OtherPrograms`.
    OtherDyno {
        /// Its process, its command and where it runs.
        process: String,
    },
    /// Processes of the subject ended during the load.
    ProcessesEnded {
        /// How many there were when it was ready.
        ready: u32,
        /// The smallest number observed during the load.
        fewest: u32,
    },
    /// The kernel killed processes of the subject because it was out of memory.
    MemoryKills {
        kills: u64,
    },
    /// The mean is above the p99: a few exchanges make up most of the time, or one of the two is wrong.
    MeanAboveP99 {
        /// The mean, milliseconds.
        mean_ms: f64,
        /// The p99, milliseconds.
        p99_ms: f64,
        /// The mean was not measured: it is the time that so many connections must wait at such a rate.
        is_by_rate: bool,
    },
    /// A reference, which does almost nothing, achieves hardly more with the same load: this may be the limit of dyno
    /// or of the machine, or of the agents and the network if the load came from there. A doubt about a row, not about a
    /// trial.
    Ceiling {
        by_agents: bool,
        /// The reference's rate, each second.
        ceiling_per_s: f64,
        /// The row's rate, each second.
        throughput_per_s: f64,
    },
    /// Processes of the subject's left its cgroup: their CPU time is known in the steps of `/proc` only.
    LeftCgroup {
        /// The share of its CPU time that its cgroup did not count.
        share: f64,
    },
    /// The subject used the CPU while the load was with another: the two disturb each other.
    TwinBusy {
        /// Its CPU time in the turns of the others, as a share of one CPU.
        share: f64,
        /// The same in its own turns.
        own: f64,
    },
    /// Much of its slices went by waiting for the last answers, while ever fewer requests were under way.
    ShortSlices {
        /// That time as a share of its slices.
        share: f64,
    },
    /// The wall clock was set during the trial. dyno's times do not follow it; the subject's timers may.
    ClockStep {
        /// How far it was set forwards, milliseconds; backwards if negative.
        step_ms: f64,
    },
    /// Held connections failed or were lost for reasons of dyno's own.
    OwnLosses {
        own: u64,
        begun: u64,
    },
    /// dyno's own turns may be a large part of how late messages seemed to arrive.
    ReceivedLate {
        /// The number of held connections at which it was worst.
        connections: usize,
        /// The p99 of the time that a message may have waited for dyno, milliseconds.
        own_p99_ms: f64,
        /// The p99 of the lateness, milliseconds.
        late_p99_ms: f64,
    },
    /// Connections could not be opened, or were lost.
    NotKept {
        /// How many, without those that dyno itself caused.
        gone: u64,
        begun: u64,
    },
    /// Connections were begun, and neither opened nor failed in all the time of a step.
    NotOpened {
        /// How many, on the step with the most of them.
        waiting: u64,
        /// How many connections that step was to have.
        connections: usize,
    },
    /// Connections stayed open, but received no more messages.
    Silent {
        /// How many, on the step with the most of them.
        silent: u64,
        /// How many connections that step was to have.
        connections: usize,
    },
    /// Cases of the RFCs passed before the load and failed after it.
    ConformanceUnderLoad {
        /// The first of them.
        case: String,
        /// What the subject did before.
        before: String,
        /// What it did after the load, in both attempts.
        after: String,
        others: usize,
    },
    /// Something about the TLS of its connections.
    Tls(TlsDoubt),
    /// Something about the HTTP/2 of its connections.
    Http2(Http2Doubt),
    Agents(AgentsDoubt),
    /// No request was due in the measured time, or no connection was begun.
    Nothing,
    /// There are so few samples that a p99 means nothing.
    FewSamples {
        samples: u64,
    },
    /// The same of a load that stands alone.
    FewAlone {
        samples: u64,
    },
    /// A load that stands alone has enough samples for a p99, and too few for a p99.9.
    FewForTail {
        samples: u64,
    },
    /// It ended by itself, because there were only failures.
    GaveUp(Failure),
    /// Not one of its requests was answered as expected; the class of failure that was seen most.
    NoneRight {
        attempted: u64,
        mostly: Option<Failure>,
    },
    /// Some of its requests failed, or its sessions were not completed, and not for a reason of dyno's own.
    Failures {
        faults: Faults,
        /// The class that was seen most, wrong answers included; none where the server only ended connections.
        mostly: Option<Failure>,
    },
    /// Such a share of its requests had to wait for a free connection.
    Blocked {
        share: f64,
        /// The p99 of this wait, milliseconds.
        p99_ms: f64,
        /// The load may open more connections.
        may_grow: bool,
    },
    /// A file that says what a load measured says this of its verdict, with the names of its doubts.
    Stated {
        verdict: Verdict,
        ids: Vec<String>,
    },
}

#[cfg(test)]
mod tests;
