//! Whether the answers are what was requested, and connections were kept as they were to be.

use load::Recording;

use super::Doubt;
use crate::rates::silent_share;

/// If a smaller share of connections is opened anew, no rate depends on it.
const RECONNECTS: f64 = 0.01;
/// And so few do not matter in any case.
const RECONNECTS_AT_LEAST: u64 = 10;
/// If silences take a smaller share of the measured time, no rate depends on them.
const SILENT: f64 = 0.01;

pub(super) fn surplus(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let (answers, bytes, correct) = (total.notes.unsolicited, total.notes.surplus, total.correct);
    (0 < answers + bytes).then_some(Doubt::Surplus { answers, bytes, correct })
}

pub(super) fn unlike_bodies(recording: &Recording) -> Option<Doubt> {
    let (unlike, correct) = (recording.total.notes.unlike_bodies, recording.total.correct);
    (0 < unlike).then_some(Doubt::UnlikeBodies { unlike, correct })
}

pub(super) fn reconnects(recording: &Recording) -> Option<Doubt> {
    let total = &recording.total;
    let announced = total.notes.announced_closes;
    let unannounced = total.notes.idle_closed + total.notes.stale_retries;
    let least = ((RECONNECTS * total.answered as f64) as u64).max(RECONNECTS_AT_LEAST);
    let answers = total.answered;
    (least < announced + unannounced).then_some(Doubt::Reconnects {
        announced,
        unannounced,
        answers,
    })
}

/// Whether the server answered all the time.
pub(super) fn silence(recording: &Recording) -> Option<Doubt> {
    let (silence, share) = (recording.silence, silent_share(recording)?);
    let ms = |ns: u64| ns as f64 / 1e6;
    (SILENT < share).then(|| Doubt::Silence {
        longest_ms: ms(silence.longest),
        from_ms: ms(silence.from.saturating_sub(recording.measured_from)),
        times: silence.times,
        share,
    })
}
