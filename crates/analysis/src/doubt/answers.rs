//! Whether the answers are what was requested, and connections were kept as they were to be.

use load::Recording;
use units::{count, percent, time};

use super::Doubt;
use super::definition::{Weight, family, in_percent};
use crate::rates::silent_share;
use crate::verdict::Gravity;

/// If a smaller share of connections is opened anew, no rate depends on it.
const RECONNECTS: f64 = 0.01;
/// And so few do not matter in any case.
const RECONNECTS_AT_LEAST: u64 = 10;
/// If a smaller share of connections is closed without notice, no rate depends on it.
const UNANNOUNCED: f64 = 0.01;
/// If silences take a smaller share of the measured time, no rate depends on them.
const SILENT: f64 = 0.01;
/// If they take a larger share, the rest is not a sample of what was ordered.
const SILENT_INVALID: f64 = 0.1;

family! {
    /// Answers that are missing, too many, or others than were requested; and connections that were not kept.
    AnswersDoubt;

    /// For a time no right answer came at all, though requests were wanted: the server, or the way to it, was out.
    Silence {
        /// The longest such time, milliseconds.
        longest_ms: f64,
        /// When it began in the measured time, milliseconds.
        from_ms: f64,
        times: u64,
        /// All of them together, as a share of the measured time.
        share: f64,
    }
    id: "silence",
    gravity: Weight::ByShare {
        usual: Gravity::Suspect,
        graver: Gravity::Invalid,
        part: *share,
        whole: 1.0,
        bound: SILENT_INVALID,
        of: "of the measured time",
    },
    when: format!(
        "silences of the server took more than {} of the measured time. A silence is a time without a right answer on any \
         connection, thread or agent, although requests were wanted, that is longer than 100 ms, than 10 × the mean time \
         between right answers, and than the p99 of service outside it ([exactly](figures.md#silent_percent)); times in \
         which dyno was not running do not count",
        in_percent(SILENT)
    ),
    because: "in a closed loop an outage hides: few requests meet it, so failures and percentiles look as before, and only \
        the rate is lower",
    says: format!(
        "the server gave no right answer for {} from {} on{}: {} of the measured time, in which requests waited for it",
        time(longest_ms * 1e6),
        time(from_ms * 1e6),
        match times {
            1 => String::new(),
            times => format!(" (the longest of {} silences)", count(*times)),
        },
        percent(*share)
    ),
    way_out: "see in the server's log what happened then (a restart, a pause, a full accept queue); rates and percentiles \
        are of the rest of the time",
    examples: [
        { longest_ms: 700.0, from_ms: 2_000.0, times: 1, share: 0.14 },
        { longest_ms: 120.0, from_ms: 40.0, times: 3, share: 0.03 },
    ],

    /// More arrived than was requested: duplicate answers, or bytes after an answer.
    Surplus {
        /// Answers for which no request waited.
        answers: u64,
        /// Answers that were followed by extra bytes.
        bytes: u64,
        /// How many correct answers there were.
        correct: u64,
    }
    id: "surplus_answers",
    gravity: Gravity::Suspect,
    when: "an answer came that no request waited for, or bytes behind an answer",
    because: "a client that reads them as the next answer has an answer to another request",
    says: format!(
        "more came than was requested: {} answers without a request, {} answers with bytes behind them (of {} correct \
         answers); such connections were closed",
        count(*answers),
        count(*bytes),
        count(*correct)
    ),
    way_out: "ask once by hand (curl -v) and compare with what is expected",
    examples: [{ answers: 3, bytes: 0, correct: 1_000 }],

    /// Bodies differed from the one that a server had given several times before the load.
    UnlikeBodies {
        /// Correct answers with such a body.
        unlike: u64,
        /// How many correct answers there were.
        correct: u64,
    }
    id: "bodies_unlike",
    gravity: Gravity::Suspect,
    when: "in a race whose request has no placeholder, and whose answer's body is not stated: a correct answer had another \
        body than three answers over 2.1 s before the load, which were equal",
    because: "a server that answers something else under load does other work, or is wrong; `--same-body` makes such \
        answers failures",
    says: format!(
        "{} of {} correct answers had another body than the three before the load, which were equal",
        count(*unlike),
        count(*correct)
    ),
    way_out: "`--same-body` makes them failures, which are shown with their bytes; `--expect-body` states the right body",
    examples: [{ unlike: 3, correct: 1_000 }],

    /// Connections that were to be kept open were closed, and opened again.
    Reconnects {
        /// How many were closed as their last answer had announced.
        announced: u64,
        /// How many were closed without notice.
        unannounced: u64,
        /// How many answers there were.
        answers: u64,
    }
    id: "connections_not_reused",
    gravity: Weight::ByShare {
        usual: Gravity::Note,
        graver: Gravity::Suspect,
        part: *unannounced as f64,
        whole: *answers as f64,
        bound: UNANNOUNCED,
        of: "of the answers, counting unannounced closes",
    },
    when: format!(
        "connections that were to be kept were closed at more than {} of the answers (and {RECONNECTS_AT_LEAST})",
        in_percent(RECONNECTS)
    ),
    because: "the cost of connecting is in the figures",
    says: reconnects_says(*announced, *unannounced, *answers),
    way_out: "see the server's limits of requests or of time for a connection; what it costs to connect is in the figures",
    examples: [
        { announced: 900, unannounced: 0, answers: 1_000 },
        { announced: 0, unannounced: 500, answers: 1_000 },
    ],
}

/// A kind of close that was not seen is not mentioned.
fn reconnects_says(announced: u64, unannounced: u64, answers: u64) -> String {
    let kinds =
        [(announced, "as their last answer had announced"), (unannounced, "without notice")];
    let texts: Vec<String> = kinds
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

/// All of it.
pub(super) fn of_recording(recording: &Recording) -> impl Iterator<Item = Doubt> {
    let all =
        [silence(recording), surplus(recording), unlike_bodies(recording), reconnects(recording)];
    all.into_iter().flatten().map(Doubt::from)
}

fn surplus(recording: &Recording) -> Option<AnswersDoubt> {
    let total = &recording.total;
    let (answers, bytes, correct) = (total.notes.unsolicited, total.notes.surplus, total.correct);
    (0 < answers + bytes).then_some(AnswersDoubt::Surplus { answers, bytes, correct })
}

fn unlike_bodies(recording: &Recording) -> Option<AnswersDoubt> {
    let (unlike, correct) = (recording.total.notes.unlike_bodies, recording.total.correct);
    (0 < unlike).then_some(AnswersDoubt::UnlikeBodies { unlike, correct })
}

fn reconnects(recording: &Recording) -> Option<AnswersDoubt> {
    let total = &recording.total;
    let announced = total.notes.announced_closes;
    let unannounced = total.notes.idle_closed + total.notes.stale_retries;
    let least = ((RECONNECTS * total.answered as f64) as u64).max(RECONNECTS_AT_LEAST);
    let answers = total.answered;
    (least < announced + unannounced).then_some(AnswersDoubt::Reconnects {
        announced,
        unannounced,
        answers,
    })
}

/// Whether the server answered all the time.
fn silence(recording: &Recording) -> Option<AnswersDoubt> {
    let (silence, share) = recording.silence.zip(silent_share(recording))?;
    let ms = |ns: u64| ns as f64 / 1e6;
    (SILENT < share).then(|| AnswersDoubt::Silence {
        longest_ms: ms(silence.longest),
        from_ms: ms(silence.from.saturating_sub(recording.measured_from)),
        times: silence.times,
        share,
    })
}
