//! Whether a single load is valid, suspect or invalid, why, and what to do. Doubts that trials share, and their
//! thresholds, are in `analysis`; here are those that matter only where one load is looked at.

use analysis::{Doubt as Found, Gravity, Ordered, SAMPLES_FOR_P99, of_recording, on_time};
use load::{End, Failure, Load, Order, Recording, Tally};

use super::Queue;
use crate::doubt::By;
use crate::units::{count, nanos, percent};
use crate::verdict::{ExplainedDoubt, ExplainedVerdict};

/// Judges a recording, and what was observed of the server's accept queue.
pub fn weigh(recording: &Recording, order: &Order, queue: Option<Queue>) -> ExplainedVerdict {
    let own = [
        end(recording),
        nothing_measured(recording),
        servers_failures(&recording.total),
        too_few_for_tail(&recording.total),
        blocked(&recording.total, order),
    ];
    let overflowed = queue.filter(|queue| 0 < queue.overflows).map(|queue| Found::Overflows {
        overflows: queue.overflows,
        backlog: queue.backlog,
        is_isolated: false,
    });
    let shared = of_recording(recording, ordered(recording, order)).into_iter().chain(overflowed);
    let shared = shared.filter_map(|found| shared_doubt(&found, recording, order));
    ExplainedVerdict::by(own.into_iter().flatten().chain(shared).collect())
}

/// What the recording is compared with.
fn ordered(recording: &Recording, order: &Order) -> Ordered {
    Ordered {
        calls: match order.load {
            Load::Sessions { calls, .. } => calls,
            Load::Closed { .. } | Load::Open { .. } => 1,
        },
        on_time: order.load.arrivals().map(|_| on_time(recording, None)),
        connections: match order.load {
            Load::Closed { connections } => u32::try_from(connections).ok(),
            Load::Open { .. } | Load::Sessions { .. } => None,
        },
        looked_away: None,
    }
}

/// A doubt that trials share, in the words of the dictionary. Too few samples for a p99 are suspect here, where a
/// verdict is about a handful of lines and not about a table.
fn shared_doubt(found: &Found, recording: &Recording, order: &Order) -> Option<ExplainedDoubt> {
    let explained = ExplainedDoubt::of(found, By::Flags);
    match found {
        // A load that gave up and missing measurements are reported in more detail elsewhere.
        Found::Stopped | Found::Nothing | Found::FewSamples { samples: 0 } => None,
        Found::FewSamples { .. } => Some(ExplainedDoubt { gravity: Gravity::Suspect, ..explained }),
        Found::OwnFailures { .. } => {
            let (most, _) = failures(&recording.total, Failure::is_own)?;
            Some(ExplainedDoubt { what_to_do: own_way_out(most, order).into(), ..explained })
        }
        _ => Some(explained),
    }
}

/// A doubt of a load alone.
fn doubt(
    id: &'static str,
    gravity: Gravity,
    says: impl Into<String>,
    what_to_do: &str,
) -> Option<ExplainedDoubt> {
    Some(ExplainedDoubt::new(id, gravity, says, what_to_do))
}

fn end(recording: &Recording) -> Option<ExplainedDoubt> {
    match recording.end {
        End::Done | End::Halted => None,
        End::GaveUp(failure) => doubt(
            "gave_up",
            Gravity::Invalid,
            format!("It gave up: nothing but failures, mostly {failure} ({}).", failure.meaning()),
            "see whether the server runs, and at this address",
        ),
    }
}

fn nothing_measured(recording: &Recording) -> Option<ExplainedDoubt> {
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

/// The most frequent class among those that `belongs` admits, and how many they are together.
fn failures(total: &Tally, belongs: fn(Failure) -> bool) -> Option<(Failure, u64)> {
    let there = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    let all: u64 = there.clone().map(|failure| total.failures(failure)).sum();
    let most = there.max_by_key(|&failure| total.failures(failure))?;
    (0 < all).then_some((most, all))
}

fn own_way_out(failure: Failure, order: &Order) -> &'static str {
    match (failure, &order.load) {
        (Failure::NoPorts, _) => "give more addresses with --source, or a lower rate",
        (Failure::NoFiles, _) => {
            "raise the limit of open files with ulimit -n, or allow fewer connections"
        }
        (Failure::Blocked, Load::Open { .. } | Load::Sessions { .. }) => {
            "allow more connections with --max-connections, or offer less"
        }
        (Failure::Still, _) => "let nothing stop or pause dyno while it measures, and run it again",
        _ => "offer less, or give it more CPUs with --lanes and --cpus",
    }
}

fn servers_failures(total: &Tally) -> Option<ExplainedDoubt> {
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

/// Too few samples even for the p99 are reported already.
fn too_few_for_tail(total: &Tally) -> Option<ExplainedDoubt> {
    let samples = total.response.count();
    let is_supported = total.response.quantile(0.999)?.is_supported;
    let is_it = SAMPLES_FOR_P99 <= samples && !is_supported;
    let says = format!("{} samples are too few for p99.9, which takes 10,000.", count(samples));
    let what_to_do = "let it run longer (-d, -n)";
    is_it.then(|| ExplainedDoubt::new("too_few_samples", Gravity::Note, says, what_to_do))
}

fn blocked(total: &Tally, order: &Order) -> Option<ExplainedDoubt> {
    let may_grow = matches!(order.load, Load::Open { .. } | Load::Sessions { .. });
    let waited = total.blocked.count();
    let share = of_attempts(waited, total);
    let p99 = total.blocked.quantile(0.99)?.value;
    let says = format!(
        "{} of the requests waited for a free connection, 1 % of these {} or longer; this is in the response times.",
        percent(share),
        nanos(p99)
    );
    let what_to_do = match may_grow {
        true => "if your clients would open more connections, allow more with --max-connections",
        false => "this is the server's time for the requests before it",
    };
    (0.01 < share).then(|| ExplainedDoubt::new("blocked", Gravity::Note, says, what_to_do))
}

#[cfg(test)]
mod tests;
