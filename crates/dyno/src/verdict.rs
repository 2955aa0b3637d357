//! `dyno load` proves itself: is it valid, suspect or invalid, why, and what is to be done. What a trial is asked, too, is
//! `analysis`'s question and threshold; here are its words, and what only somebody at a terminal has to know. Pure.

use analysis::{Drifting, Gravity, Ordered, SAMPLES_FOR_P99, of_recording};
use load::{End, Failure, Load, Order, Recording, Tally};

use crate::report::units::{count, nanos, percent, rate, time};
use crate::run;

/// What a run is worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    /// Gravest first.
    pub(crate) doubts: Vec<Doubt>,
}

/// One reason to doubt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Doubt {
    pub(crate) id: &'static str,
    pub(crate) gravity: Gravity,
    /// A sentence with the figures.
    pub(crate) says: String,
    pub(crate) what_to_do: String,
}

impl Verdict {
    /// valid, suspect or invalid: as the gravest doubt says.
    pub(crate) fn word(&self) -> &'static str {
        analysis::Verdict::by(self.doubts.iter().map(|doubt| doubt.gravity)).name()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.doubts.iter().any(|doubt| doubt.id == id)
    }
}

/// Weighs a recording.
pub(crate) fn weigh(recording: &Recording, order: &Order) -> Verdict {
    let own = [
        end(recording),
        nothing_measured(recording),
        servers_failures(&recording.total),
        under_way(&recording.total),
        too_few_for_tail(&recording.total),
        blocked(&recording.total),
    ];
    let shared = of_recording(recording, ordered(recording, order));
    let shared = shared.iter().filter_map(|doubt| told(doubt, recording, order));
    let mut doubts: Vec<Doubt> = own.into_iter().flatten().chain(shared).collect();
    doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.gravity));
    Verdict { doubts }
}

/// What the recording is held against. A session's calls are offered as they come due.
fn ordered(recording: &Recording, order: &Order) -> Ordered {
    Ordered {
        offered_per_s: run::offered_per_s(recording, &order.load),
        calls: 1,
        connections: match order.load {
            Load::Closed { connections } => u32::try_from(connections).ok(),
            Load::Open { .. } | Load::Sessions { .. } => None,
        },
    }
}

/// A shared doubt in this command's words. It has no table to mark what was not reached or is not supported in, so that
/// these two are suspect here.
fn told(found: &analysis::Doubt, recording: &Recording, order: &Order) -> Option<Doubt> {
    use analysis::Doubt as Found;
    match *found {
        Found::OwnFailures { .. } => own_failures(&recording.total, found.gravity()),
        Found::NotReached { offered_per_s, achieved_per_s } => {
            rate_not_reached(recording, offered_per_s, achieved_per_s)
        }
        Found::Busy { share } => instrument_busy(recording, order, share),
        Found::Late { p99_ms, bound_ms } => instrument_late(p99_ms, bound_ms),
        Found::LittlesLaw { in_flight, by_latencies } => littles_law(in_flight, by_latencies),
        Found::FewSamples { samples: 0 } => None,
        Found::FewSamples { samples } => too_few("p99", samples, SAMPLES_FOR_P99, Gravity::Suspect),
        Found::Drift { of, first, last } => not_stationary(of, first, last),
        Found::MeanAboveP99 { mean_ms, p99_ms, .. } => mean_above_p99(mean_ms, p99_ms),
        // Its books are asserted, its end and what it did not measure are told with more than this.
        Found::Books { .. } | Found::Stopped | Found::Nothing => None,
        // These are asked of trials only.
        Found::Unmeasured(_)
        | Found::Connections { .. }
        | Found::Overflows { .. }
        | Found::SynRetries { .. }
        | Found::DelayedAck { .. }
        | Found::WarmupTooShort { .. }
        | Found::Steal { .. }
        | Found::OtherPrograms { .. }
        | Found::ProcessesEnded { .. }
        | Found::MemoryKills { .. }
        | Found::Ceiling { .. }
        | Found::ClockStep { .. }
        | Found::OwnLosses { .. }
        | Found::HeardLate { .. }
        | Found::NotKept { .. }
        | Found::NotOpened { .. }
        | Found::Silent { .. }
        | Found::ConformanceUnderLoad { .. } => None,
    }
}

fn doubt(
    id: &'static str,
    gravity: Gravity,
    says: String,
    what_to_do: impl Into<String>,
) -> Option<Doubt> {
    Some(Doubt { id, gravity, says, what_to_do: what_to_do.into() })
}

fn end(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done => None,
        End::Halted => doubt(
            "halted",
            Gravity::Note,
            format!("It was stopped after {}.", time(run::measured_s(recording) * 1e9)),
            "let it run to its end for the numbers that were ordered",
        ),
        End::GaveUp(failure) => doubt(
            "gave_up",
            Gravity::Invalid,
            format!("It gave up: nothing but failures, mostly {failure} ({}).", failure.meaning()),
            "see whether the server runs, and at this address",
        ),
    }
}

fn nothing_measured(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    if 0 < total.correct {
        return None;
    }
    let mostly = failures(total, |_| true)
        .map_or(String::new(), |(most, _)| format!(", mostly {most} ({})", most.meaning()));
    let says = match total.attempted {
        0 => "Nothing was attempted in the measured time.".into(),
        attempted => {
            format!("Not one of {} attempts was answered as expected{mostly}.", count(attempted))
        }
    };
    let what_to_do = "ask once by hand (curl -v) and compare with what is expected";
    doubt("nothing_measured", Gravity::Invalid, says, what_to_do)
}

fn of_attempts(failed: u64, total: &Tally) -> f64 {
    failed as f64 / total.attempted.max(1) as f64
}

/// The class seen most among those that `belongs` admits, and how many they are together.
fn failures(total: &Tally, belongs: fn(Failure) -> bool) -> Option<(Failure, u64)> {
    let there = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    let all: u64 = there.clone().map(|failure| total.failures(failure)).sum();
    let most = there.max_by_key(|&failure| total.failures(failure))?;
    (0 < all).then_some((most, all))
}

fn own_failures(total: &Tally, gravity: Gravity) -> Option<Doubt> {
    let (most, failed) = failures(total, Failure::is_own)?;
    let share = of_attempts(failed, total);
    let says = format!(
        "{} of {} attempts ({}) failed by the instrument's own doing, mostly {most}.",
        count(failed),
        count(total.attempted),
        percent(share)
    );
    doubt("own_failures", gravity, says, own_way_out(most))
}

fn own_way_out(failure: Failure) -> &'static str {
    match failure {
        Failure::NoPorts => "give more addresses with --source, or a lower rate",
        Failure::NoFiles => {
            "raise the limit of open files with ulimit -n, or allow fewer connections"
        }
        Failure::Blocked => "allow more with --max-connections, or offer less",
        _ => "offer less, or give it more CPUs with --lanes and --cpus",
    }
}

fn servers_failures(total: &Tally) -> Option<Doubt> {
    let (most, failed) =
        failures(total, |failure| !failure.is_own()).filter(|_| 0 < total.correct)?;
    let share = of_attempts(failed, total);
    let says = format!(
        "{} of {} attempts ({}) failed, mostly {most} ({}).",
        count(failed),
        count(total.attempted),
        percent(share),
        most.meaning()
    );
    let gravity = if 0.01 < share { Gravity::Suspect } else { Gravity::Note };
    let what_to_do = "the latencies are mostly those of the others: find the cause, or offer less";
    doubt("failures", gravity, says, what_to_do)
}

fn under_way(total: &Tally) -> Option<Doubt> {
    let left = total.under_way;
    (0 < left).then(|| Doubt {
        id: "under_way",
        gravity: if 0.01 < of_attempts(left, total) { Gravity::Suspect } else { Gravity::Note },
        says: format!(
            "{} of {} attempts were neither answered nor failed when it ended.",
            count(left),
            count(total.attempted)
        ),
        what_to_do: "their latencies are missing: let it run to its end".into(),
    })
}

fn rate_not_reached(recording: &Recording, offered: f64, achieved: f64) -> Option<Doubt> {
    let total = &recording.total;
    let says = format!(
        "{}/s were offered and {}/s ({}) were answered in time: of {} due, {} failed, {} came after \
         the end, {} never.",
        rate(offered),
        rate(achieved),
        percent(achieved / offered),
        count(total.attempted),
        count(total.failed_in_all()),
        count(total.correct - total.correct_inside.min(total.correct)),
        count(total.under_way),
    );
    let what_to_do = "offer less to see the latency of a server that keeps up, or press it closed \
                      (-c) to see its limit";
    doubt("rate_not_reached", Gravity::Suspect, says, what_to_do)
}

fn instrument_busy(recording: &Recording, order: &Order, busy: f64) -> Option<Doubt> {
    let so = match order.load {
        Load::Closed { .. } => {
            "the rate may be the instrument's limit and not the server's, and the latencies hold \
             waiting of its own"
        }
        Load::Open { .. } | Load::Sessions { .. } => "the latencies may hold waiting of its own",
    };
    let lanes = match recording.lanes.len() {
        1 => "Its one lane was".to_string(),
        lanes => format!("Its {lanes} lanes were"),
    };
    let says = format!("{lanes} busy {} of the time: {so}.", percent(busy));
    let what_to_do = "give it more lanes (--lanes) on CPUs of their own (--cpus), apart from the \
                      server's";
    doubt("instrument_busy", Gravity::Suspect, says, what_to_do)
}

fn instrument_late(p99_ms: f64, bound_ms: f64) -> Option<Doubt> {
    let says = format!(
        "The instrument itself sent 1 % of the requests {} or more late (bound: {}); this is in the \
         response times.",
        time(p99_ms * 1e6),
        time(bound_ms * 1e6)
    );
    let what_to_do = "free a CPU for it (--cpus), try --spin always, or offer less";
    doubt("instrument_late", Gravity::Suspect, says, what_to_do)
}

fn littles_law(in_flight: f64, by_latencies: f64) -> Option<Doubt> {
    let says = format!(
        "Little's law does not close: {in_flight:.1} requests were in flight on average, and the \
         latencies account for {by_latencies:.1}."
    );
    let what_to_do = "the load or the server changed within the run, or this is a fault of dyno: \
                      look at the windows (--json), and report it";
    doubt("littles_law", Gravity::Suspect, says, what_to_do)
}

fn not_stationary(of: Drifting, first: f64, last: f64) -> Option<Doubt> {
    let (what, first, last) = match of {
        Drifting::Achieved => {
            ("it answered", format!("{}/s", rate(first)), format!("{}/s", rate(last)))
        }
        Drifting::ResponseP50 => ("half took", time(first * 1e6), time(last * 1e6)),
    };
    let says = format!(
        "It was not steady: in the first third of the measured time {what} {first}, in the last {last}."
    );
    let what_to_do =
        "warm up for longer (--warmup), or measure for longer (-d) and look for what fills up";
    doubt("not_stationary", Gravity::Suspect, says, what_to_do)
}

fn mean_above_p99(mean_ms: f64, p99_ms: f64) -> Option<Doubt> {
    let says = format!(
        "The mean ({}) reaches the p99 ({}): fewer than one request in a hundred took most of \
         the time.",
        time(mean_ms * 1e6),
        time(p99_ms * 1e6)
    );
    let what_to_do = "look at p99.9 and max before either is quoted";
    doubt("mean_above_p99", Gravity::Suspect, says, what_to_do)
}

/// Fewer than the p99 takes is said already.
fn too_few_for_tail(total: &Tally) -> Option<Doubt> {
    let samples = total.response.count();
    let is_supported = total.response.quantile(0.999)?.is_supported;
    let is_it = SAMPLES_FOR_P99 <= samples && !is_supported;
    is_it.then(|| too_few("p99.9", samples, 10_000, Gravity::Note)).flatten()
}

fn too_few(which: &str, samples: u64, needed: u64, gravity: Gravity) -> Option<Doubt> {
    let says = format!(
        "{} samples are too few for {which}, which takes {}.",
        count(samples),
        count(needed)
    );
    doubt("too_few_samples", gravity, says, "let it run longer (-d, -n)")
}

fn blocked(total: &Tally) -> Option<Doubt> {
    let waited = total.blocked.count();
    let share = of_attempts(waited, total);
    let p99 = total.blocked.quantile(0.99)?.value;
    (0.01 < share).then(|| Doubt {
        id: "blocked",
        gravity: Gravity::Note,
        says: format!(
            "{} of the requests waited for a free connection, 1 % of these {} or longer; this is in \
             the response times.",
            percent(share),
            nanos(p99)
        ),
        what_to_do: "if your clients would open more connections, allow more with --max-connections"
            .into(),
    })
}

#[cfg(test)]
mod tests;
