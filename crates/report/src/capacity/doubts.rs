//! What a reader of a capacity should know.

use analysis::Gravity;
use analysis::search::{Conclusion, Ending};
use lab::record::OutcomeKind;
use lab::search_goal::SaidBy;
use units::rate;

use super::{FinishedSearch, sentence};
use crate::verdict::ExplainedDoubt;

pub(super) fn of(found: &FinishedSearch<'_>) -> Vec<ExplainedDoubt> {
    let mut doubts = Vec::new();
    doubts.extend(by_conclusion(found));
    if !found.of.search.is_fresh {
        doubts.push(ExplainedDoubt::new(
            "capacity_one_process",
            Gravity::Note,
            "The server ran already: all trials use one process, so the interval does not contain how processes \
             differ, and an overload may have left traces.",
            "give the command that starts the server, or its name in subjects/, and each trial gets a fresh process",
        ));
    }
    doubts.extend(found.endings.iter().map(|ending| ended(found, ending)));
    doubts.extend(sentence::noise(found).map(|says| {
        ExplainedDoubt::new(
            "capacity_noise",
            Gravity::Note,
            says,
            "end other programs, or load it from another machine (--load-on)",
        )
    }));
    if let Some(odd) = found.odd {
        doubts.push(ExplainedDoubt::new(
            "capacity_odd_trial",
            Gravity::Invalid,
            format!(
                "Trial {} is damaged, missing, or not the one that this search makes there: it and all that followed are \
                 left out.",
                odd.number
            ),
            "search anew",
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
                "{} of {} trials lost by far too much at rates at which others lost hardly anything: something \
                 happens occasionally, and the trials are too short for it, or processes differ a lot.",
                stalls.trials, stalls.of
            ),
            "load it once for minutes at such a rate, and look at its course: dyno load URL -r RATE -d 5m -o page.html",
        ));
    }
    doubts
}

/// Trials that were no measurement. What a server does above its capacity is no doubt about the bracket; a wrong answer to
/// a single request is one about the server.
fn ended(found: &FinishedSearch<'_>, ending: &Ending) -> ExplainedDoubt {
    let is_wrong = ending.kind == OutcomeKind::Wrong;
    let gravity = if is_wrong { Gravity::Suspect } else { Gravity::Note };
    ExplainedDoubt::new(
        "capacity_trials_ended",
        gravity,
        format!(
            "{} of {} trials were no measurement ({}): {}.",
            ending.times,
            found.answer.trials,
            ending.kind.meaning(),
            ending.says.trim_end_matches('.')
        ),
        SEE,
    )
}

const SEE: &str =
    "see what the server wrote, and what it was asked, in \"What went wrong\" of the report";

/// Whether what ended a trial is looked for in the server.
fn is_of_the_server(kind: OutcomeKind) -> bool {
    use OutcomeKind::{Died, NotReady, Wrong, WrongServer};
    matches!(kind, NotReady | Died | WrongServer | Wrong)
}

/// Why no more is known, as the answer says it.
fn by_conclusion(found: &FinishedSearch<'_>) -> Option<ExplainedDoubt> {
    let key = |name: &str| found.by().key(name);
    let (id, gravity, what_to_do) = match &found.answer.conclusion {
        Conclusion::Found | Conclusion::NotMet => return None,
        Conclusion::AtLeast => (
            "capacity_at_least",
            Gravity::Note,
            format!("load it from more machines (--load-on), or raise {}", key("most")),
        ),
        Conclusion::OutOfTime { .. } => (
            "capacity_out_of_time",
            Gravity::Suspect,
            format!(
                "give it more time with {}, or ask for less with {}",
                key("limit"),
                key("width")
            ),
        ),
        Conclusion::Unfinished { .. } => (
            "capacity_unfinished",
            Gravity::Suspect,
            match found.by() {
                SaidBy::Flags => "resume it: dyno capacity --resume".into(),
                SaidBy::File => "resume it: dyno run --resume".into(),
            },
        ),
        Conclusion::Wider => (
            "capacity_wider",
            Gravity::Suspect,
            "ask for a wider answer: its processes differ, or its rate is limited by chance".into(),
        ),
        Conclusion::Collapsed { .. } => ("capacity_collapsed", Gravity::Invalid, RESTART.into()),
        Conclusion::CannotTell { .. } => (
            "capacity_unfit",
            Gravity::Invalid,
            match found.endings.iter().any(|ending| is_of_the_server(ending.kind)) {
                true => SEE.into(),
                false => "end other programs, or load it from another machine (--load-on)".into(),
            },
        ),
    };
    Some(ExplainedDoubt::new(id, gravity, sentence::open(found)?, what_to_do))
}

const RESTART: &str = "restart it; give the command that starts it, or its name in subjects/, and each trial gets a \
                       fresh process";
