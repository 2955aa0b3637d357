//! Whether all connections had the same TLS, and the TLS that was ordered.

use load::{Holding, Recording, Security};

use super::Doubt;
use crate::generator::generator_busy;

/// A share of resumed connections that differs by more than this from what was ordered is another load.
const UNLIKE: f64 = 0.01;
/// From so many handshakes on, and where there is one for two answers or more, handshakes are the load.
const HANDSHAKES: u64 = 100;
/// Beyond this share of its time, dyno's part of the handshakes may be what limits the rate.
const BUSY: f64 = 0.5;

/// What can be seen in any load.
pub(super) fn of_recording(recording: &Recording) -> Vec<Doubt> {
    let Some(security) = &recording.total.security else { return Vec::new() };
    of(security).into_iter().chain(costly(recording, security)).collect()
}

/// What can be seen of held connections, in all steps together.
pub(super) fn of_holding(holding: &Holding) -> Vec<Doubt> {
    holding.security().map_or(Vec::new(), |whole| of(&whole))
}

fn of(security: &Security) -> Vec<Doubt> {
    [mixed(security), unlike(security), retried(security)].into_iter().flatten().collect()
}

fn mixed(security: &Security) -> Option<Doubt> {
    let all = [
        ("version", &security.versions),
        ("cipher suite", &security.suites),
        ("group", &security.groups),
        ("ALPN name", &security.alpn),
    ];
    let (what, counts) = all.into_iter().find(|(_, counts)| counts.is_mixed())?;
    let sorted = counts.sorted();
    let name = |place: usize| sorted[place].0.to_string();
    Some(Doubt::TlsMixed { what, most: name(0), other: name(1) })
}

fn unlike(security: &Security) -> Option<Doubt> {
    let (resumed, meant, of) = (security.resumed, security.meant_to_resume, security.handshakes());
    let is_unlike = UNLIKE * (of as f64) < resumed.abs_diff(meant) as f64;
    is_unlike.then_some(Doubt::ResumptionUnlike { resumed, meant, of })
}

fn retried(security: &Security) -> Option<Doubt> {
    let (retried, of) = (security.retried, security.handshakes());
    (0 < retried).then_some(Doubt::HelloRetry { retried, of })
}

fn costly(recording: &Recording, security: &Security) -> Option<Doubt> {
    let handshakes = security.handshakes();
    let is_load = HANDSHAKES <= handshakes && recording.total.correct <= 2 * handshakes;
    let share = generator_busy(&recording.lanes)?;
    (is_load && BUSY < share).then_some(Doubt::HandshakesCost { handshakes, share })
}
