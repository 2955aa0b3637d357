//! A run that proves itself: is it valid, suspect or invalid, why, and what is to be done. Pure.

use load::{End, Failure, Load, Order, Recording, SECOND, Tally};

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

/// How grave a doubt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gravity {
    /// To be known; the numbers stand.
    Note,
    /// Some of the numbers may be wrong.
    Suspect,
    /// The numbers do not answer the question.
    Invalid,
}

impl Gravity {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Gravity::Note => "note",
            Gravity::Suspect => "suspect",
            Gravity::Invalid => "invalid",
        }
    }
}

impl Verdict {
    /// valid, suspect or invalid: as the gravest doubt says.
    pub(crate) fn word(&self) -> &'static str {
        match self.doubts.iter().map(|doubt| doubt.gravity).max() {
            None | Some(Gravity::Note) => "valid",
            Some(Gravity::Suspect) => "suspect",
            Some(Gravity::Invalid) => "invalid",
        }
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.doubts.iter().any(|doubt| doubt.id == id)
    }
}

/// Weighs a recording.
pub(crate) fn weigh(recording: &Recording, order: &Order) -> Verdict {
    let doubts = [
        end(recording),
        nothing_measured(recording),
        own_failures(&recording.total),
        servers_failures(&recording.total),
        under_way(&recording.total),
        rate_not_reached(recording, order),
        instrument_busy(recording, order),
        instrument_late(&recording.total),
        littles_law(recording),
        too_few(&recording.total),
        blocked(&recording.total),
    ];
    let mut doubts: Vec<Doubt> = doubts.into_iter().flatten().collect();
    doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.gravity));
    Verdict { doubts }
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

fn own_failures(total: &Tally) -> Option<Doubt> {
    let (most, failed) = failures(total, Failure::is_own)?;
    let share = of_attempts(failed, total);
    let says = format!(
        "{} of {} attempts ({}) failed by the instrument's own doing, mostly {most}.",
        count(failed),
        count(total.attempted),
        percent(share)
    );
    let gravity = if 0.01 < share { Gravity::Invalid } else { Gravity::Suspect };
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

fn rate_not_reached(recording: &Recording, order: &Order) -> Option<Doubt> {
    let offered = run::offered_per_s(recording, &order.load)?;
    let achieved = run::achieved_per_s(recording);
    let seconds = run::measured_s(recording);
    // What is asked in the last moments is answered after the end even by a server that keeps up.
    // In overload the median grows with the backlog, but only half as fast as the shortfall.
    let median = recording.total.response.quantile(0.5).map_or(0, |median| median.value);
    let in_time = (1.0 - median as f64 / SECOND as f64 / seconds).max(0.0);
    if 0.99 * offered * in_time - 1.0 / seconds <= achieved {
        return None;
    }
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

fn instrument_busy(recording: &Recording, order: &Order) -> Option<Doubt> {
    let busy = run::busy_share(&recording.lanes);
    // A run of some milliseconds is all beginning: it is busy with its connections.
    if busy <= 0.9 || run::measured_s(recording) < 0.1 {
        return None;
    }
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

fn instrument_late(total: &Tally) -> Option<Doubt> {
    let late = total.late.quantile(0.99)?.value;
    let median = total.response.quantile(0.5)?.value;
    let bound = 1_000_000.max(median / 10);
    (bound < late).then(|| Doubt {
        id: "instrument_late",
        gravity: Gravity::Suspect,
        says: format!(
            "The instrument itself sent 1 % of the requests {} or more late (bound: {}); this is in \
             the response times.",
            nanos(late),
            nanos(bound)
        ),
        what_to_do: "free a CPU for it (--cpus), try --spin always, or offer less".into(),
    })
}

/// Mean in flight = rate × mean time in flight. The left side was counted over time, the right
/// side comes from the latencies: if they differ, one of the two is wrong.
fn littles_law(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let wall = run::measured_s(recording) * SECOND as f64;
    let area = total.in_flight_area as f64;
    let served = total.service.mean() * total.service.count() as f64;
    // An exchange that failed early was in flight for some part of its time-out, unknown to us.
    let most = served + total.failed_in_all() as f64 * recording.timeout as f64;
    // What was in flight when the measured time began counts on the left side only.
    let in_flight = area / wall.max(1.0);
    let tolerance = 0.05 * area + in_flight * total.service.mean();
    if total.service.count() < 1_000 || (served - tolerance <= area && area <= most + tolerance) {
        return None;
    }
    let says = format!(
        "Little's law does not close: {in_flight:.1} requests were in flight on average, and the \
         latencies account for {:.1}.",
        served / wall.max(1.0)
    );
    let what_to_do = "the load or the server changed within the run, or this is a fault of dyno: \
                      look at the windows (--json), and report it";
    doubt("littles_law", Gravity::Suspect, says, what_to_do)
}

fn too_few(total: &Tally) -> Option<Doubt> {
    let answers = total.response.count();
    let lacks = |q| total.response.quantile(q).is_some_and(|quantile| !quantile.is_supported);
    let (which, needed, gravity) = if lacks(0.99) {
        ("p99", 1_000, Gravity::Suspect)
    } else if lacks(0.999) {
        ("p99.9", 10_000, Gravity::Note)
    } else {
        return None;
    };
    let says = format!(
        "{} samples are too few for {which}, which takes {}.",
        count(answers),
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
