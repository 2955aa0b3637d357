//! Whether the answers are what was requested, and connections were kept as they were to be.

use lab::figure::rates::silent_share;
use load::Recording;
use units::{count, nanos, percent};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Count, Share};
use crate::verdict::Gravity::{Invalid, Note, Suspect};

/// If a smaller share of connections is opened anew, no rate depends on it.
const RECONNECTS: f64 = 0.01;
/// So few connections that are opened anew matter in no case.
const RECONNECTS_AT_LEAST: u64 = 10;
/// If a smaller share of connections is closed without notice, no rate depends on it.
const UNANNOUNCED: f64 = 0.01;
/// If silences take a smaller share of the measured time, no rate depends on them.
const SILENT: f64 = 0.01;
/// If they take a larger share, the rest is not a sample of what was ordered.
const SILENT_INVALID: f64 = 0.1;

pub(super) const ALL: &[Definition] =
    &[SILENCE, SURPLUS_ANSWERS, BODIES_UNLIKE, CONNECTIONS_NOT_REUSED];

/// For a time no correct answer came at all, though requests were wanted: the server, or the way to it, was out.
pub(crate) const SILENCE: Definition = Definition::new("silence", Suspect)
    .graver_above(SILENT_INVALID, "of the measured time", Invalid)
    .when("silences of the server took more than {} of the measured time. A silence is a time without a correct answer \
        on any connection, thread or agent, although requests were wanted, that is longer than 100 ms, than 10 × the \
        mean time between correct answers, than twice the median of service, and than the p99 of service outside \
        it ([exactly](figures.md#silent_percent)); times in which dyno was not running do not count")
    .thresholds(&[Share(SILENT)])
    .because("a closed loop hides an outage: few requests are affected, so failures and percentiles hardly change, \
        and only the rate is lower")
    .way_out("see in the server's log what happened then (a restart, a pause, a full accept queue); rates include \
        this time, and percentiles hardly show it in a closed loop");

/// More arrived than was requested: duplicate answers, or bytes after an answer.
pub(crate) const SURPLUS_ANSWERS: Definition = Definition::new("surplus_answers", Suspect)
    .when(
        "an answer came for which there was no request, or an answer was followed by further bytes",
    )
    .because("a client that takes them for its next answer has the answer to a different request")
    .way_out("ask once by hand (curl -v) and compare with what is expected");

/// Bodies differed from the one that a server had given several times before the load.
pub(crate) const BODIES_UNLIKE: Definition = Definition::new("bodies_unlike", Suspect)
    .when("in a race whose request has no placeholder, and whose answer's body is not stated: a correct answer had \
        another body than three answers over 2.1 s before the load, which were equal")
    .because("a server that answers something else under load does other work, or is wrong; `--same-body` makes such \
        answers failures")
    .way_out("`--same-body` makes them failures, which are shown with their bytes; `--expect-body` states the right \
        body");

/// Connections that were to be kept open were closed, and opened again.
pub(crate) const CONNECTIONS_NOT_REUSED: Definition = Definition::new("connections_not_reused", Note)
    .graver_above(UNANNOUNCED, "of the answers, counting unannounced closes", Suspect)
    .when("the server closed connections that should have stayed open, at more than {} of the answers (and {})")
    .thresholds(&[Share(RECONNECTS), Count(RECONNECTS_AT_LEAST)])
    .because("the cost of connecting is in the figures")
    .way_out("look at the server's limits on requests or time per connection; the figures include the cost of \
        connecting");

/// A kind of close that was not seen is not mentioned.
fn reconnects_says(announced: u64, unannounced: u64, answers: u64) -> String {
    let kinds = [(announced, "after it had announced this"), (unannounced, "without notice")];
    let texts: Vec<String> = kinds
        .into_iter()
        .filter(|(times, _)| 0 < *times)
        .map(|(times, how)| format!("{} {how}", count(times)))
        .collect();
    format!(
        "the server closed connections that should have stayed open: {}, of {} answers in all",
        texts.join(", "),
        count(answers)
    )
}

/// Every doubt about the answers of a load and the connections on which they came.
pub(super) fn of_recording(recording: &Recording) -> impl Iterator<Item = Doubt> {
    let all =
        [silence(recording), surplus(recording), unlike_bodies(recording), reconnects(recording)];
    all.into_iter().flatten()
}

fn surplus(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let (answers, bytes, correct) = (total.notes.unsolicited, total.notes.surplus, total.correct);
    (0 < answers + bytes).then(|| SURPLUS_ANSWERS.found(format!(
        "more was received than was requested: {} answers without a request, {} answers followed by further bytes (of \
         {} correct answers); such connections were closed",
        count(answers),
        count(bytes),
        count(correct)
    )))
}

fn unlike_bodies(recording: &Recording) -> Option<Doubt> {
    let (unlike, correct) = (recording.total.notes.unlike_bodies, recording.total.correct);
    (0 < unlike).then(|| BODIES_UNLIKE.found(format!(
        "{} of {} correct answers had another body than the three before the load, which were equal",
        count(unlike),
        count(correct)
    )))
}

fn reconnects(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let announced = total.notes.announced_closes;
    let unannounced = total.notes.idle_closed + total.notes.stale_retries;
    let least = ((RECONNECTS * total.answered as f64) as u64).max(RECONNECTS_AT_LEAST);
    let answers = total.answered;
    (least < announced + unannounced).then(|| {
        CONNECTIONS_NOT_REUSED.found_in(
            unannounced as f64,
            answers as f64,
            reconnects_says(announced, unannounced, answers),
        )
    })
}

/// Whether the server answered all the time.
fn silence(recording: &Recording) -> Option<Doubt> {
    let (silence, share) = (recording.silence, silent_share(recording)?);
    (SILENT < share).then(|| {
        let others = match silence.times {
            1 => String::new(),
            times => format!(" (the longest of {} silences)", count(times)),
        };
        SILENCE.found_in(
            share,
            1.0,
            format!(
                "the server gave no correct answer for {}, from {} on{others}: {} of the measured time, in which \
                 requests waited",
                nanos(silence.longest),
                nanos(silence.from.saturating_sub(recording.measured_from)),
                percent(share)
            ),
        )
    })
}
