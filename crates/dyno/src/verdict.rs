//! `dyno load` judges itself: whether its run is valid, suspect or invalid, why, and what to do. Doubts that trials
//! share, and their thresholds, are in `analysis`; here are the words, and the doubts that matter only at a terminal.
//! Pure.

use analysis::{
    Doubt as Found, Gravity, Ordered, SAMPLES_FOR_P99, measured_s, of_holding, of_recording,
    on_time,
};
use load::{End, Failure, Holding, Load, Order, Recording, Tally};

use report::doubt as dictionary;
use report::units::{count, nanos, percent, time};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunVerdict {
    /// Gravest first.
    pub(crate) doubts: Vec<Doubt>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Doubt {
    pub(crate) id: &'static str,
    pub(crate) gravity: Gravity,
    /// A sentence with the figures.
    pub(crate) says: String,
    pub(crate) what_to_do: String,
}

/// The server's accept queue, if the server is on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    /// The number of connections that it holds, if the kernel says so.
    pub(crate) backlog: Option<u32>,
    /// The number of connections that found a queue of this machine full during the load.
    pub(crate) overflows: u64,
}

impl RunVerdict {
    /// The verdict of the gravest doubt.
    pub(crate) fn whole(&self) -> analysis::Verdict {
        analysis::Verdict::by(self.doubts.iter().map(|doubt| doubt.gravity))
    }

    /// valid, suspect or invalid.
    pub(crate) fn word(&self) -> &'static str {
        self.whole().name()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Doubt> {
        self.doubts.iter().find(|doubt| doubt.id == id)
    }
}

/// Judges a recording, and what was observed of the server's accept queue.
pub(crate) fn weigh(recording: &Recording, order: &Order, queue: Option<Queue>) -> RunVerdict {
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
    let mut doubts: Vec<Doubt> = own.into_iter().flatten().chain(shared).collect();
    doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.gravity));
    RunVerdict { doubts }
}

/// Judges what this many threads held. Connections that failed, were lost or fell silent are in its table.
pub(crate) fn of_held(holding: &Holding, lanes: u64) -> RunVerdict {
    let found = of_holding(holding, lanes);
    let mut doubts: Vec<Doubt> = found
        .iter()
        .filter_map(|found| {
            let what_to_do = dictionary::way_out(found, dictionary::By::Flags);
            let says = sentence(&dictionary::says(found));
            doubt(dictionary::id(found), found.gravity(), says, what_to_do)
        })
        .chain(nothing_opened(holding))
        .collect();
    doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.gravity));
    RunVerdict { doubts }
}

fn nothing_opened(holding: &Holding) -> Option<Doubt> {
    let opened: u64 = holding.plateaus.iter().map(|plateau| plateau.opened).sum();
    let begun: u64 = holding.plateaus.iter().map(|plateau| plateau.begun).sum();
    if 0 < opened || begun == 0 {
        return None;
    }
    let says = format!("Not one of {} attempts opened a connection.", count(begun));
    doubt(
        "nothing_measured",
        Gravity::Invalid,
        says,
        "see whether the server runs, and at this address",
    )
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
fn shared_doubt(found: &Found, recording: &Recording, order: &Order) -> Option<Doubt> {
    let gravity = match found {
        // An early end and missing measurements are reported in more detail elsewhere.
        Found::Stopped | Found::Nothing | Found::FewSamples { samples: 0 } => return None,
        Found::FewSamples { .. } => Gravity::Suspect,
        _ => found.gravity(),
    };
    let what_to_do = match found {
        Found::OwnFailures { .. } => {
            let (most, _) = failures(&recording.total, Failure::is_own)?;
            own_way_out(most, order)
        }
        _ => dictionary::way_out(found, dictionary::By::Flags),
    };
    doubt(dictionary::id(found), gravity, sentence(&dictionary::says(found)), what_to_do)
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
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
            format!("It was stopped after {}.", time(measured_s(recording) * 1e9)),
            "let it run to its end to measure all that was ordered",
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

/// Too few samples even for the p99 are reported already.
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

fn blocked(total: &Tally, order: &Order) -> Option<Doubt> {
    let may_grow = matches!(order.load, Load::Open { .. } | Load::Sessions { .. });
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
        what_to_do: match may_grow {
            true => "if your clients would open more connections, allow more with --max-connections",
            false => "this is the server's time for the requests before it",
        }
        .into(),
    })
}

#[cfg(test)]
mod tests;
