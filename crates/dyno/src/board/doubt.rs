//! Doubts in words: their names, their figures, and the way out.

use analysis::{Alarm, Doubt, Drifting, Remark};
use lab::figure::Figure;

use super::words;
use crate::report::units::{count, percent, rate, time};

/// A doubt's stable name.
pub(super) fn id(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Unmeasured(_) => "not_measured",
        Doubt::Books { .. } => "books",
        Doubt::Connections { .. } => "connections",
        Doubt::LittlesLaw { .. } => "littles_law",
        Doubt::Stopped => "stopped",
        Doubt::OwnFailures { .. } => "own_failures",
        Doubt::Late { .. } => "instrument_late",
        Doubt::NotReached { .. } => "rate_not_reached",
        Doubt::Busy { .. } => "instrument_busy",
        Doubt::Overflows { .. } => "accept_queue_full",
        Doubt::SynRetries { .. } => "syn_retries",
        Doubt::DelayedAck { .. } => "delayed_ack",
        Doubt::Drift { .. } => "not_stationary",
        Doubt::WarmupTooShort { .. } => "warmup_too_short",
        Doubt::Steal { .. } => "cpu_stolen",
        Doubt::OtherPrograms { .. } => "machine_noise",
        Doubt::ProcessesEnded { .. } => "processes_ended",
        Doubt::MemoryKills { .. } => "memory_kills",
        Doubt::MeanAboveP99 { .. } => "mean_above_p99",
        Doubt::Ceiling { .. } => "ceiling",
        Doubt::ClockStep { .. } => "clock_step",
        Doubt::OwnLosses { .. } => "own_losses",
        Doubt::HeardLate { .. } => "instrument_heard_late",
        Doubt::NotKept { .. } => "connections_not_kept",
        Doubt::NotOpened { .. } => "connections_not_opened",
        Doubt::Silent { .. } => "connections_silent",
        Doubt::ConformanceUnderLoad { .. } => "conformance_under_load",
        Doubt::Nothing => "nothing_measured",
        Doubt::FewSamples { .. } => "too_few_samples",
    }
}

/// A doubt in a sentence, with its figures.
pub(super) fn says(doubt: &Doubt) -> String {
    match *doubt {
        Doubt::ConformanceUnderLoad { ref case, ref before, ref after, others } => format!(
            "{case} was kept before the load and not after it{}: before: {before}; after, asked twice: {after}",
            if others == 0 {
                String::new()
            } else {
                format!(" (nor were {} more)", count(others as u64))
            }
        ),
        Doubt::Unmeasured(kind) => {
            format!("it is no measurement, and in no figure: {}", words::outcome(kind))
        }
        Doubt::Books { attempted, accounted } => format!(
            "the books do not balance: {} were due, {} are accounted for",
            count(attempted),
            count(accounted)
        ),
        Doubt::Connections { begun, accounted } => format!(
            "the connections do not balance: {} were begun, {} were established or failed",
            count(begun),
            count(accounted)
        ),
        Doubt::LittlesLaw { in_flight, by_latencies } => format!(
            "Little's law does not close: {in_flight:.1} requests were in flight on average, and the latencies account for \
             {by_latencies:.1}"
        ),
        Doubt::Stopped => "the load was stopped before its end".into(),
        Doubt::OwnFailures { failed, attempted } => format!(
            "{} of {} requests failed for reasons of dyno's own",
            count(failed),
            count(attempted)
        ),
        Doubt::Late { p99_ms, bound_ms } => format!(
            "dyno sent 1 % of the requests {} or more late (bound: {}); this is in the response times",
            milliseconds(p99_ms),
            milliseconds(bound_ms)
        ),
        Doubt::NotReached { offered_per_s, achieved_per_s } => format!(
            "{}/s were offered and {}/s answered in time: it did not keep up, or the trial was too short to tell",
            rate(offered_per_s),
            rate(achieved_per_s)
        ),
        Doubt::Busy { share } => format!(
            "dyno's own threads were busy {} of the time: the rate may be dyno's limit",
            percent(share)
        ),
        Doubt::Overflows { overflows, backlog, is_isolated } => {
            overflowed(overflows, backlog, is_isolated)
        }
        Doubt::SynRetries { retries, stepped, established } => format!(
            "the kernel had to ask {} times more for a connection (SYN), and {} of {} connections took a whole second, or \
             some, longer: steps at 1 s, 3 s, 7 s in the latencies are the kernel's timer",
            count(retries),
            count(stepped),
            count(established)
        ),
        Doubt::DelayedAck { p50_ms, cpu_share } => format!(
            "half the answers took {}, and the subject used {} of a CPU: this looks like Nagle's algorithm waiting for a \
             delayed acknowledgement (40 ms), not like work",
            milliseconds(p50_ms),
            percent(cpu_share)
        ),
        Doubt::Drift { of: Drifting::Achieved, first, last } => format!(
            "it was not steady: {}/s in the first third of the measured time, {}/s in the last",
            rate(first),
            rate(last)
        ),
        Doubt::Drift { of: Drifting::ResponseP50, first, last } => format!(
            "it was not steady: p50 was {} in the first third of the measured time, {} in the last",
            milliseconds(first),
            milliseconds(last)
        ),
        Doubt::WarmupTooShort { warmup_s, steady_from_s } => format!(
            "the warm-up was too short: it was steady from {} after the load's begin, and only {} were left out of the \
             figures",
            time(steady_from_s * 1e9),
            time(warmup_s * 1e9)
        ),
        Doubt::Steal { share } => {
            format!("the host took {} of a CPU's time from this machine (steal)", percent(share))
        }
        Doubt::OtherPrograms { share } => format!(
            "programs that are neither the subject nor dyno used {} of a CPU",
            percent(share)
        ),
        Doubt::ProcessesEnded { ready, fewest } => format!(
            "processes of the subject's ended under load: it had {ready} when it was ready, and {fewest} at the fewest"
        ),
        Doubt::MemoryKills { kills } => format!(
            "the kernel killed {} of the subject's processes, because they were out of memory",
            count(kills)
        ),
        Doubt::MeanAboveP99 { mean_ms, p99_ms, is_by_rate: true } => format!(
            "p99 is {}, but at this rate the connections must have waited {} on average (Little's law): this p99 is \
             nobody's, or an average",
            milliseconds(p99_ms),
            milliseconds(mean_ms)
        ),
        Doubt::MeanAboveP99 { mean_ms, p99_ms, is_by_rate: false } => format!(
            "the mean ({}) reaches the p99 ({}): fewer than one request in a hundred took most of the time",
            milliseconds(mean_ms),
            milliseconds(p99_ms)
        ),
        Doubt::Ceiling { ceiling_per_s, achieved_per_s } => format!(
            "it achieved {}/s, and the reference, which does next to nothing, comes to {}/s with this load: this may be \
             dyno's or the machine's limit, not the subject's",
            rate(achieved_per_s.round()),
            rate(ceiling_per_s.round())
        ),
        Doubt::ClockStep { step_ms } => format!(
            "the wall clock was set {} by {} while it ran: dyno's times do not follow it, the subject's timers may",
            if step_ms < 0.0 { "back" } else { "forward" },
            milliseconds(step_ms.abs())
        ),
        Doubt::OwnLosses { own, begun } => format!(
            "{} of {} connections failed or were lost for reasons of dyno's own",
            count(own),
            count(begun)
        ),
        Doubt::HeardLate { connections, own_p99_ms, late_p99_ms } => format!(
            "with {} connections one message in a hundred may have waited {} for dyno itself, and came {} late in all",
            count(connections as u64),
            milliseconds(own_p99_ms),
            milliseconds(late_p99_ms)
        ),
        Doubt::NotKept { gone, begun } => format!(
            "{} of {} connections could not be opened or were lost",
            count(gone),
            count(begun)
        ),
        Doubt::NotOpened { waiting, connections } => format!(
            "of {} connections {} neither opened nor failed in the time that a step has",
            count(connections as u64),
            count(waiting)
        ),
        Doubt::Silent { silent, connections } => format!(
            "of {} connections {} stayed open and heard nothing any more",
            count(connections as u64),
            count(silent)
        ),
        Doubt::Nothing => "not one request was due in the measured time".into(),
        Doubt::FewSamples { samples } => {
            format!("{} samples are too few for a p99, which takes 1,000", count(samples))
        }
    }
}

fn overflowed(overflows: u64, backlog: Option<u32>, is_isolated: bool) -> String {
    let queue = match (is_isolated, backlog) {
        (true, Some(backlog)) => format!("the subject's accept queue full (it holds {backlog})"),
        (true, None) => "the subject's accept queue full".into(),
        (false, Some(backlog)) => format!(
            "an accept queue of this machine full (the subject's holds {backlog}; others' count, too)"
        ),
        (false, None) => "an accept queue of this machine full (others' count, too)".into(),
    };
    format!(
        "{} connections found {queue}: such a one waits for a timer, 1 s, 3 s, 7 s …",
        count(overflows)
    )
}

/// What to do about it.
pub(super) fn way_out(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Unmeasured(_) => "see what it left behind",
        Doubt::Books { .. } | Doubt::Connections { .. } => "this is a fault of dyno: report it",
        Doubt::LittlesLaw { .. } => {
            "the subject changed within the trial, or this is a fault of dyno: look at the windows, and report it"
        }
        Doubt::Stopped => "let it run to its end",
        Doubt::OwnFailures { .. } => {
            "see their classes below; offer less, or give dyno more of what it lacked"
        }
        Doubt::Late { .. } => "give dyno a CPU of its own, or offer less",
        Doubt::NotReached { .. } => "offer less to see the latency of a server that keeps up",
        Doubt::Busy { .. } => "give dyno more CPUs, apart from the subject's",
        Doubt::Overflows { .. } => {
            "that is a finding about its backlog, not its speed: raise it (and net.core.somaxconn), or open fewer \
             connections at once"
        }
        Doubt::SynRetries { .. } => {
            "read max and p99.9 as connections refused, not as slow answers; raise the backlog, or connect more slowly"
        }
        Doubt::DelayedAck { .. } => {
            "let it send head and body in one write, or set TCP_NODELAY; and see what its entry says of it"
        }
        Doubt::Drift { .. } => {
            "warm up for longer, or measure for longer and look for what fills up"
        }
        Doubt::WarmupTooShort { .. } => "give `load.warmup` more time than that",
        Doubt::Steal { .. } => "use a machine that is not shared, or more rounds",
        Doubt::OtherPrograms { .. } => "stop them, and run it again",
        Doubt::ProcessesEnded { .. } => {
            "see what it wrote, and whether it restarts its workers by design"
        }
        Doubt::MemoryKills { .. } => "allow it more memory, or say that this is its limit",
        Doubt::MeanAboveP99 { .. } => {
            "look at p99.9, max and the slowest exchanges before either is quoted"
        }
        Doubt::Ceiling { .. } => {
            "give dyno more CPUs, or another machine; or say that it is at least so fast"
        }
        Doubt::ClockStep { .. } => {
            "keep the clock still while it is measured (timedatectl set-ntp)"
        }
        Doubt::OwnLosses { .. } => {
            "see their causes below; hold fewer, or give dyno more of what it lacked"
        }
        Doubt::HeardLate { .. } => "give dyno more CPUs, apart from the subject's, or hold fewer",
        Doubt::NotKept { .. } => "see their causes below, and what it wrote",
        Doubt::NotOpened { .. } => {
            "it takes no more at once (workers, its backlog): see its settings, and what it wrote"
        }
        Doubt::Silent { .. } => {
            "it keeps sockets that it no longer serves: see what it wrote, and its limits"
        }
        Doubt::ConformanceUnderLoad { .. } => {
            "it is another server under load: see what it wrote, its limits, and `dyno check` for the case"
        }
        Doubt::Nothing => "offer more, or measure for longer",
        Doubt::FewSamples { .. } => "measure for longer",
    }
}

/// A remark's stable name.
pub(super) fn remark_id(remark: &Remark) -> &'static str {
    match remark {
        Remark::NoCeiling(_) => "no_ceiling",
        Remark::Apart(_) => "answers_apart",
        Remark::AskedUnlike { .. } => "asked_unlike",
    }
}

/// A remark in a sentence.
pub(super) fn remark_says(remark: &Remark) -> String {
    match remark {
        Remark::NoCeiling(points) => {
            let at = match points.as_slice() {
                [only] => only.to_string(),
                many => {
                    let places = many.iter().map(|&point| words::place(point));
                    let unit = many.first().map_or("", |point| point.unit());
                    format!("{} {unit}", places.collect::<Vec<_>>().join(", "))
                }
            };
            format!(
                "no reference was measured at {at}: how far dyno and the machine come there is not known"
            )
        }
        Remark::Apart(answers) => format!(
            "to `{}`, {} answered otherwise than {}; all were right",
            answers.ask,
            answers.apart.join(", "),
            answers.alike.join(", ")
        ),
        Remark::AskedUnlike { ask, subjects } => format!(
            "not all were sent the same bytes: `{ask}` was another request for {}",
            subjects.join(", ")
        ),
    }
}

/// What to do about a remark.
pub(super) fn remark_way_out(remark: &Remark) -> &'static str {
    match remark {
        Remark::NoCeiling(_) => {
            "let a subject of tier `reference` take part, and see why if it could not"
        }
        Remark::Apart(_) => "see what differs between their answers before they are compared",
        Remark::AskedUnlike { .. } => "this is a fault of dyno: report it",
    }
}

/// What is odd about a table, and what to do about it.
pub(super) fn alarm(alarm: &Alarm) -> String {
    let number = |value| words::number(alarm.figure, value);
    let range = match (number(alarm.low), number(alarm.high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    let what = match alarm.figure {
        Figure::Achieved => format!("achieved {range}/s"),
        figure => format!("share one {}, {range}", figure.heading()),
    };
    format!(
        "{} at {}: {} of {} subjects {what} ({}); see how busy dyno and the CPUs were, and what the oracle comes to here \
         (`dyno calibrate`)",
        alarm.workload,
        alarm.point,
        alarm.subjects.len(),
        alarm.of,
        alarm.subjects.join(", ")
    )
}

fn milliseconds(value: f64) -> String {
    time(value * 1e6)
}

#[cfg(test)]
mod tests;
