//! Doubts in words: their names, their figures, and the remedy. One dictionary for trials and for single loads.

mod agents;
mod http2;
mod remark;
mod tls;
mod way_out;

use analysis::{Alarm, Doubt, Drifting};
use lab::figure::Figure;
use units::{count, counted, percent, rate, time};

use crate::run::words;
use crate::{Findings, conduct};
pub(crate) use remark::{remark_id, remark_says, remark_way_out};
pub(crate) use way_out::{By, of_nothing_but, way_out};

/// A doubt's stable name.
pub(crate) fn id(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Unmeasured(_) => "not_measured",
        Doubt::Books { .. } => "books",
        Doubt::Connections { .. } => "connections",
        Doubt::Halted { .. } => "halted",
        Doubt::AgentsLost { .. } => "agents_lost",
        Doubt::Stopped => "stopped",
        Doubt::OwnFailures { .. } => "own_failures",
        Doubt::Late { .. } => "instrument_late",
        Doubt::StoodStill { .. } => "instrument_stood_still",
        Doubt::Silence { .. } => "silence",
        Doubt::UnderWay { .. } => "under_way",
        Doubt::NotOnTime { .. } => "not_on_time",
        Doubt::Growing { .. } => "growing",
        Doubt::CarriedIn { .. } => "carried_in",
        Doubt::Surplus { .. } => "surplus_answers",
        Doubt::UnlikeBodies { .. } => "bodies_unlike",
        Doubt::Reconnects { .. } => "connections_not_reused",
        Doubt::Busy { .. } => "instrument_busy",
        Doubt::Starved { .. } => "instrument_starved",
        Doubt::Overflows { .. } => "accept_queue_full",
        Doubt::SynRetries { .. } => "syn_retries",
        Doubt::DelayedAck { .. } => "delayed_ack",
        Doubt::Drift { .. } => "not_stationary",
        Doubt::WarmupTooShort { .. } => "warmup_too_short",
        Doubt::Steal { .. } => "cpu_stolen",
        Doubt::OtherPrograms { .. } => "machine_noise",
        Doubt::OtherDyno { .. } => "another_dyno",
        Doubt::ProcessesEnded { .. } => "processes_ended",
        Doubt::MemoryKills { .. } => "memory_kills",
        Doubt::LeftCgroup { .. } => "left_cgroup",
        Doubt::MeanAboveP99 { .. } => "mean_above_p99",
        Doubt::Ceiling { .. } => "ceiling",
        Doubt::ClockStep { .. } => "clock_step",
        Doubt::TwinBusy { .. } => "twin_busy",
        Doubt::ShortSlices { .. } => "short_slices",
        Doubt::OwnLosses { .. } => "own_losses",
        Doubt::ReceivedLate { .. } => "instrument_heard_late",
        Doubt::NotKept { .. } => "connections_not_kept",
        Doubt::NotOpened { .. } => "connections_not_opened",
        Doubt::Silent { .. } => "connections_silent",
        Doubt::ConformanceUnderLoad { .. } => "conformance_under_load",
        Doubt::Tls(doubt) => tls::id(doubt),
        Doubt::Http2(doubt) => http2::id(doubt),
        Doubt::Agents(doubt) => agents::id(doubt),
        Doubt::Nothing | Doubt::NoneRight { .. } => "nothing_measured",
        Doubt::FewSamples { .. } | Doubt::FewAlone { .. } | Doubt::FewForTail { .. } => {
            "too_few_samples"
        }
        Doubt::GaveUp(_) => "gave_up",
        Doubt::Failures { .. } => "failures",
        Doubt::Blocked { .. } => "blocked",
        Doubt::Stated { .. } => "stated",
    }
}

/// A doubt in a sentence, with its figures.
pub(crate) fn says(doubt: &Doubt) -> String {
    match *doubt {
        Doubt::ConformanceUnderLoad { ref case, ref before, ref after, others } => format!(
            "{case} was kept before the load and not after it{}: before: {before}; after, in both attempts: {after}",
            if others == 0 {
                String::new()
            } else {
                format!(" (nor were {} more)", count(others as u64))
            }
        ),
        Doubt::Unmeasured(kind) => {
            format!("this trial is no measurement, and is in no figure: {}", words::outcome(kind))
        }
        Doubt::Books { rule, one, other } => format!(
            "the books do not balance: {rule} must agree, and are {} and {}",
            count(one),
            count(other)
        ),
        Doubt::Connections { begun, accounted } => format!(
            "the connections do not balance: {} were begun, {} were established or failed",
            count(begun),
            count(accounted)
        ),
        Doubt::Halted { after_s } => {
            format!("it was stopped after {}; the figures are of that time", time(after_s * 1e9))
        }
        Doubt::AgentsLost { lost, of, share } => format!(
            "{} of {} were lost, and {} of the load with them: the figures are those of the others",
            count(lost),
            counted(of, "agent", "agents"),
            percent(share)
        ),
        Doubt::Stopped => "the load gave up before its end".into(),
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
        Doubt::StoodStill { longest_ms, share, p99_ms, ref agent } => format!(
            "{} stood still for {} at a stretch, {} of the time in all{}: what the server did meanwhile is not known",
            agent.as_ref().map_or("dyno itself".into(), |agent| format!("agent {agent}")),
            milliseconds(longest_ms),
            percent(share),
            match p99_ms {
                0.0 => String::new(),
                p99_ms => format!(" (the p99 of what it measured: {})", milliseconds(p99_ms)),
            }
        ),
        Doubt::Silence { longest_ms, from_ms, times, share } => format!(
            "the server gave no right answer for {} from {} on{}: {} of the measured time, in which requests waited for it",
            milliseconds(longest_ms),
            milliseconds(from_ms),
            match times {
                1 => String::new(),
                times => format!(" (the longest of {} silences)", count(times)),
            },
            percent(share)
        ),
        Doubt::UnderWay { left, due } => format!(
            "{} of {} requests were neither answered nor given up when the load ended",
            count(left),
            count(due)
        ),
        Doubt::NotOnTime { on_time, due, within_ms } => format!(
            "the server did not keep up: {} of the {} requests that were due ({}) were answered correctly within {}",
            count(on_time),
            count(due),
            percent(on_time as f64 / due.max(1) as f64),
            milliseconds(within_ms)
        ),
        Doubt::Growing { first_ms, last_ms } => format!(
            "the response times grew as long as the load lasted, from a p50 of {} in the first third to {} in the last: more \
             came than was answered",
            milliseconds(first_ms),
            milliseconds(last_ms)
        ),
        Doubt::CarriedIn { carried_in, inside, excess } => carried(carried_in, inside, excess),
        Doubt::Surplus { answers, bytes, correct } => format!(
            "more came than was requested: {} answers without a request, {} answers with bytes behind them (of {} correct \
             answers); such connections were closed",
            count(answers),
            count(bytes),
            count(correct)
        ),
        Doubt::UnlikeBodies { unlike, correct } => format!(
            "{} of {} correct answers had another body than the three before the load, which were equal",
            count(unlike),
            count(correct)
        ),
        Doubt::Reconnects { announced, unannounced, answers } => {
            closed(announced, unannounced, answers)
        }
        Doubt::Starved { busy, cpu } => format!(
            "dyno's own threads had something to do {} of the time, and a CPU for {} of it: other programs, or a limit on \
             its CPU time, kept it waiting",
            percent(busy),
            percent(cpu)
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
        Doubt::Drift { of: Drifting::Throughput, first, last } => format!(
            "the throughput was not steady: {}/s in the first third of the measured time, {}/s in the last",
            rate(first),
            rate(last)
        ),
        Doubt::Drift { of: Drifting::ResponseP50, first, last } => format!(
            "the response time was not steady: p50 was {} in the first third of the measured time, {} in the last",
            milliseconds(first),
            milliseconds(last)
        ),
        Doubt::WarmupTooShort { warmup_s, steady_from_s } => format!(
            "the warm-up was too short: the load was steady from {} after its beginning, and only {} were left out of the \
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
        Doubt::OtherDyno { ref process } => {
            format!("another dyno was loading a server on this machine: {process}")
        }
        Doubt::ProcessesEnded { ready, fewest } => format!(
            "processes of the subject's ended under load: it had {ready} when it was ready, and {fewest} at the fewest"
        ),
        Doubt::MemoryKills { kills } => format!(
            "the kernel killed {} of the subject's processes, because they were out of memory",
            count(kills)
        ),
        Doubt::LeftCgroup { share } => format!(
            "its processes used {} of their CPU time outside of the cgroup in which dyno started them: CPU time is that of \
             its processes, in steps of 10 ms",
            percent(share)
        ),
        Doubt::MeanAboveP99 { mean_ms, p99_ms, is_by_rate: true } => format!(
            "p99 is {}, but at this rate the connections must have waited {} on average (Little's law): this p99 is \
             of no distribution, or an average",
            milliseconds(p99_ms),
            milliseconds(mean_ms)
        ),
        Doubt::MeanAboveP99 { mean_ms, p99_ms, is_by_rate: false } => format!(
            "the mean ({}) reaches the p99 ({}): a few requests were so slow that they raised the mean above it, or it is an average",
            milliseconds(mean_ms),
            milliseconds(p99_ms)
        ),
        Doubt::Ceiling { by_agents, ceiling_per_s, throughput_per_s } => format!(
            "it achieved {}/s, and the reference, which does next to nothing, reaches {}/s with this load: this may be {}, \
             not the subject's",
            rate(throughput_per_s.round()),
            rate(ceiling_per_s.round()),
            match by_agents {
                true =>
                    "the limit of the machines that the load came from, or of the network between",
                false => "dyno's or the machine's limit",
            }
        ),
        Doubt::TwinBusy { share, own } => format!(
            "it used {} of a CPU while the load was with another server, and {} under load: the servers disturb one another",
            percent(share),
            percent(own)
        ),
        Doubt::ShortSlices { share } => format!(
            "{} of its slices went by waiting for their last answers, while ever fewer requests were under way: that \
             lowers its rate",
            percent(share)
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
        Doubt::ReceivedLate { connections, own_p99_ms, late_p99_ms } => format!(
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
        Doubt::Tls(ref doubt) => tls::says(doubt),
        Doubt::Http2(ref doubt) => http2::says(doubt),
        Doubt::Agents(ref doubt) => agents::says(doubt),
        Doubt::Silent { silent, connections } => format!(
            "of {} connections {} stayed open and received nothing any more",
            count(connections as u64),
            count(silent)
        ),
        Doubt::Nothing => "not one request was due in the measured time".into(),
        Doubt::FewSamples { samples } | Doubt::FewAlone { samples } => {
            format!("{} samples are too few for a p99, which takes 1,000", count(samples))
        }
        Doubt::FewForTail { samples } => {
            format!("{} samples are too few for p99.9, which takes 10,000", count(samples))
        }
        Doubt::GaveUp(failure) => {
            format!("it gave up: nothing but failures, mostly {failure} ({})", failure.meaning())
        }
        Doubt::NoneRight { attempted: 0, .. } => {
            "nothing was attempted in the measured time".into()
        }
        Doubt::NoneRight { attempted, mostly } => {
            let mostly = mostly
                .map_or(String::new(), |most| format!(", mostly {most} ({})", most.meaning()));
            format!("not one of {} attempts was answered as expected{mostly}", count(attempted))
        }
        Doubt::Failures { faults, mostly } => format!(
            "{} of {} {} ({}) {}{}",
            count(faults.all()),
            count(faults.of),
            if faults.of_sessions { "sessions" } else { "attempts" },
            percent(faults.all() as f64 / faults.of.max(1) as f64),
            if faults.of_sessions { "were not completed" } else { "failed" },
            match mostly.filter(|_| faults.cut.sessions == 0) {
                Some(mostly) => format!(", mostly {mostly} ({})", mostly.meaning()),
                None => conduct::why(faults),
            }
        ),
        Doubt::Blocked { share, p99_ms, .. } => format!(
            "{} of the requests waited for a free connection, 1 % of these {} or longer; this is in the response times",
            percent(share),
            milliseconds(p99_ms)
        ),
        Doubt::Stated { verdict, ref ids } => {
            format!("the load was judged {}: {}", verdict.name(), ids.join(", "))
        }
    }
}

/// A kind of close that did not happen is not named.
fn closed(announced: u64, unannounced: u64, answers: u64) -> String {
    let parts =
        [(announced, "as their last answer had announced"), (unannounced, "without a word")];
    let texts: Vec<String> = parts
        .into_iter()
        .filter(|(times, _)| 0 < *times)
        .map(|(times, how)| format!("{} {how}", count(times)))
        .collect();
    format!(
        "connections that were to be kept were closed by the server: {}, at {} answers",
        texts.join(", "),
        count(answers)
    )
}

fn carried(carried_in: u64, inside: u64, excess: i64) -> String {
    let share = percent(carried_in as f64 / inside.max(1) as f64);
    let all = format!(
        "{} of the {} correct answers inside the measured time ({share}) were to requests that had been due before it",
        count(carried_in),
        count(inside)
    );
    match u64::try_from(excess) {
        Ok(excess) if 0 < excess => format!(
            "{all}: the throughput is {} answers more than the requests of that time account for",
            count(excess)
        ),
        Ok(_) | Err(_) => format!("{all}: a queue from before it was worked off"),
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
        "{} {} found {queue}: the kernel tries again only after 1 s, 3 s, 7 s …",
        count(overflows),
        if overflows == 1 { "connection" } else { "connections" }
    )
}

/// What is odd about a table, and what to do about it.
pub(crate) fn alarm(findings: &Findings<'_>, alarm: &Alarm) -> String {
    let number = |value| words::number(alarm.figure, value);
    let range = match (number(alarm.low), number(alarm.high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    let what = match alarm.figure {
        Figure::Throughput => format!("achieved {range}/s"),
        figure => format!("share one {}, {range}", figure.heading()),
    };
    let subjects: Vec<&str> = alarm.subjects.iter().map(|name| findings.title(name)).collect();
    format!(
        "{} at {}: {} of {} subjects {what} ({}); see how busy dyno and the CPUs were, and what the oracle reaches here \
         (`dyno calibrate`)",
        findings.task(&alarm.workload),
        words::place_and_unit(findings.shown(alarm.point)),
        alarm.subjects.len(),
        alarm.of,
        subjects.join(", ")
    )
}

fn milliseconds(value: f64) -> String {
    time(value * 1e6)
}

#[cfg(test)]
mod tests;
