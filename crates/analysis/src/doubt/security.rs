//! Whether all connections had the same TLS, and the TLS that was ordered.

use lab::figure::generator::generator_busy;
use load::{Holding, Recording, Security};

use super::Doubt;
use crate::verdict::Gravity;

/// What may be wrong with the TLS of a load.
#[derive(Clone, Debug, PartialEq)]
pub enum TlsDoubt {
    /// The connections differ in what they agreed on with TLS.
    Mixed {
        /// In what: `version`.
        what: &'static str,
        /// What most of them have.
        most: String,
        /// What others have.
        other: String,
    },
    /// The server agreed on something else than the others of its table. A doubt about a row, not about a trial.
    Unlike {
        /// In what it differs: `version`.
        what: &'static str,
        mine: String,
        /// What most of the others have; none where there is no majority.
        most: Option<String>,
    },
    /// Another share of the connections resumed a session than was ordered.
    ResumptionUnlike {
        resumed: u64,
        /// How many were to.
        meant: u64,
        /// All handshakes.
        of: u64,
    },
    /// The server asked for another group than the first one offered, which takes a round trip.
    HelloRetry {
        retried: u64,
        /// All handshakes.
        of: u64,
    },
    /// There was a handshake with TLS for most of the answers, and dyno's part of it may be the larger one.
    HandshakesCost {
        handshakes: u64,
        /// The share of their time in which dyno's threads were busy.
        share: f64,
    },
}

impl TlsDoubt {
    pub(super) fn gravity(&self) -> Gravity {
        match self {
            TlsDoubt::Mixed { .. } | TlsDoubt::Unlike { .. } => Gravity::Invalid,
            TlsDoubt::ResumptionUnlike { .. } => Gravity::Suspect,
            TlsDoubt::HelloRetry { .. } | TlsDoubt::HandshakesCost { .. } => Gravity::Note,
        }
    }
}

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
    Some(Doubt::Tls(TlsDoubt::Mixed { what, most: name(0), other: name(1) }))
}

fn unlike(security: &Security) -> Option<Doubt> {
    let (resumed, meant, of) = (security.resumed, security.meant_to_resume, security.handshakes());
    let is_unlike = UNLIKE * (of as f64) < resumed.abs_diff(meant) as f64;
    is_unlike.then_some(Doubt::Tls(TlsDoubt::ResumptionUnlike { resumed, meant, of }))
}

fn retried(security: &Security) -> Option<Doubt> {
    let (retried, of) = (security.retried, security.handshakes());
    (0 < retried).then_some(Doubt::Tls(TlsDoubt::HelloRetry { retried, of }))
}

fn costly(recording: &Recording, security: &Security) -> Option<Doubt> {
    let handshakes = security.handshakes();
    let is_load = HANDSHAKES <= handshakes && recording.total.correct <= 2 * handshakes;
    let share = generator_busy(&recording.lanes)?;
    (is_load && BUSY < share).then_some(Doubt::Tls(TlsDoubt::HandshakesCost { handshakes, share }))
}

#[cfg(test)]
mod tests {
    use load::{LaneReport, Tally};

    use super::*;

    /// Ten thousand answers in 10 s on connections that agree, by a lane that is busy for a tenth of the time.
    fn recording(change: impl FnOnce(&mut Security, &mut LaneReport)) -> Recording {
        let mut security = Security::new(load::SECOND);
        (security.full, security.tickets) = (50, 100);
        for (counts, name) in [
            (&mut security.versions, "1.3"),
            (&mut security.suites, "TLS_AES_128_GCM_SHA256"),
            (&mut security.groups, "x25519"),
            (&mut security.alpn, "http/1.1"),
        ] {
            counts.add(name, 50);
        }
        let wall = 10 * load::SECOND;
        let mut lane = LaneReport { wall, idle: wall / 10 * 9, ..LaneReport::default() };
        change(&mut security, &mut lane);
        let mut total = Tally::new(load::SECOND);
        (total.correct, total.security) = (10_000, Some(Box::new(security)));
        Recording { lanes: vec![lane], ..Recording::new(total, 0..wall, load::SECOND) }
    }

    fn found(change: impl FnOnce(&mut Security, &mut LaneReport)) -> Vec<Doubt> {
        of_recording(&recording(change))
    }

    #[test]
    fn connections_that_agree_raise_no_doubt_and_others_do() {
        assert_eq!(found(|_, _| {}), []);
        let mixed = |what, most: &str, other: &str| {
            vec![Doubt::Tls(TlsDoubt::Mixed { what, most: most.into(), other: other.into() })]
        };
        assert_eq!(found(|it, _| it.versions.add("1.2", 1)), mixed("version", "1.3", "1.2"));
        assert_eq!(found(|it, _| it.groups.add("p", 60)), mixed("group", "p", "x25519"));
        assert_eq!(found(|it, _| it.alpn.add("", 1)), mixed("ALPN name", "http/1.1", ""));
    }

    #[test]
    fn resumption_is_compared_with_what_was_ordered() {
        let unlike = |resumed, meant| {
            let found = found(|it, _| {
                (it.full, it.resumed, it.meant_to_resume) = (1_000 - resumed, resumed, meant);
            });
            found.iter().any(|doubt| matches!(doubt, Doubt::Tls(TlsDoubt::ResumptionUnlike { .. })))
        };
        let all = [unlike(0, 0), unlike(990, 1_000), unlike(989, 1_000), unlike(0, 1_000)];
        assert_eq!(all, [false, false, true, true]);
        assert!(unlike(500, 250), "more than were ordered");
    }

    #[test]
    fn a_round_trip_more_and_costly_handshakes_are_noted() {
        assert_eq!(
            found(|it, _| it.retried = 7),
            [Doubt::Tls(TlsDoubt::HelloRetry { retried: 7, of: 50 })]
        );
        let costly = |handshakes, idle| {
            found(|it, lane| (it.full, lane.idle) = (handshakes, idle * load::SECOND))
        };
        let doubt = Doubt::Tls(TlsDoubt::HandshakesCost { handshakes: 10_000, share: 0.6 });
        assert_eq!(costly(10_000, 4), [doubt]);
        assert_eq!((costly(10_000, 6), costly(1_000, 1)), (vec![], vec![]));
    }

    #[test]
    fn held_connections_are_judged_over_all_steps() {
        let step = |version: &str| {
            let mut security = Security::new(load::SECOND);
            security.full = 10;
            security.versions.add(version, 10);
            load::Plateau { security: Some(Box::new(security)), ..load::Plateau::default() }
        };
        let held = |versions: [&str; 2]| Holding {
            plateaus: versions.map(step).into(),
            windows: Vec::new(),
            closed_at: 0,
            was_halted: false,
        };
        assert_eq!(of_holding(&held(["1.3", "1.3"])), []);
        assert_eq!(of_holding(&held(["1.3", "1.2"])).len(), 1);
    }
}
