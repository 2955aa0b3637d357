//! What a reader of a capacity should know.

use analysis::Gravity;
use analysis::search::Conclusion;
use units::rate;

use super::FinishedSearch;
use crate::verdict::ExplainedDoubt;

pub(super) fn of(found: &FinishedSearch<'_>) -> Vec<ExplainedDoubt> {
    let mut doubts = Vec::new();
    doubts.extend(by_conclusion(found));
    if !found.search.is_fresh {
        doubts.push(ExplainedDoubt::new(
            "capacity_one_process",
            Gravity::Note,
            "The server ran already: all trials are of one process, so that how processes differ is in no interval, and an \
             overload may have left its traces.",
            "give the command that starts the server, or a subject, and each trial gets a fresh process",
        ));
    }
    if let Some((broke, held)) = found.answer.inversions.first() {
        doubts.push(ExplainedDoubt::new(
            "capacity_inverted",
            Gravity::Suspect,
            format!(
                "It did not hold {}/s, and held {}/s: the lower rate is believed.",
                rate(*broke),
                rate(*held)
            ),
            "look at what happens at the lower rate: dyno load URL -r RATE",
        ));
    }
    if let Some(stalls) = found.answer.stalls {
        doubts.push(ExplainedDoubt::new(
            "capacity_stalls",
            Gravity::Suspect,
            format!(
                "{} of {} trials lost by far too much at rates at which others lost hardly anything: something happens \
                 now and then, and the trials are too short for it, or processes differ much.",
                stalls.trials, stalls.of
            ),
            "load it once for minutes at such a rate, and look at its course: dyno load URL -r RATE -d 5m --html page.html",
        ));
    }
    doubts
}

fn by_conclusion(found: &FinishedSearch<'_>) -> Option<ExplainedDoubt> {
    let longer = "give it more time with --limit, or ask for less with --width";
    Some(match &found.answer.conclusion {
        Conclusion::Found | Conclusion::NotMet => return None,
        Conclusion::AtLeast => ExplainedDoubt::new(
            "capacity_at_least",
            Gravity::Note,
            "The highest rate that was tried is held: the capacity may be more.",
            "load it from more machines (--load-on), or raise --most",
        ),
        Conclusion::OutOfTime { .. } => ExplainedDoubt::new(
            "capacity_out_of_time",
            Gravity::Suspect,
            format!(
                "The bracket is wider than {}, or an end of it was not found.",
                super::words::whole(found.search.width)
            ),
            longer,
        ),
        Conclusion::Unfinished { .. } => ExplainedDoubt::new(
            "capacity_unfinished",
            Gravity::Suspect,
            "The search was interrupted.",
            "go on with it: dyno capacity --resume",
        ),
        Conclusion::Wider => ExplainedDoubt::new(
            "capacity_wider",
            Gravity::Suspect,
            format!(
                "The bracket is wider than {}: thirty trials at a rate between its ends did not decide it.",
                super::words::whole(found.search.width)
            ),
            "ask for less with --width: its processes differ, or its rate is limited by chance",
        ),
        Conclusion::Collapsed { .. } => ExplainedDoubt::new(
            "capacity_collapsed",
            Gravity::Invalid,
            "The server did not recover from an overload.",
            "start it anew; give the command that starts it, or a subject, and each trial gets a fresh process",
        ),
        Conclusion::CannotTell(says) => ExplainedDoubt::new(
            "capacity_unfit",
            Gravity::Invalid,
            format!("Three trials in a row were no evidence: {says}."),
            "end other programs, or load it from another machine (--load-on)",
        ),
    })
}
