//! Whether all connections had the same TLS, and the TLS that was ordered.

use load::{Holding, Recording, Security};
use units::{count, percent};

use super::Doubt;
use super::definition::{WaysOut, family, in_percent};
use crate::generator::generator_busy;
use crate::verdict::Gravity;

/// A share of resumed connections that differs by more than this from what was ordered is another load.
const UNLIKE: f64 = 0.01;
/// From so many handshakes on, and where there is one for two answers or more, handshakes are the load.
const HANDSHAKES: u64 = 100;
/// Beyond this share of its time, dyno's part of the handshakes may be what limits the rate.
const BUSY: f64 = 0.5;

family! {
    /// What may be wrong with the TLS of a load.
    TlsDoubt;

    /// The connections differ in what they agreed on with TLS.
    Mixed {
        /// In what: `version`.
        what: &'static str,
        /// What most of them have.
        most: String,
        /// What others have.
        other: String,
    }
    id: "tls_mixed",
    gravity: Gravity::Invalid,
    when: "the connections of one load differ in version, suite, group or ALPN name",
    because: "they cost different amounts, so no figure is about one thing",
    says: format!(
        "connections differ in what they agreed on with TLS: most have the {what} `{}`, others `{}`",
        most.escape_debug(),
        other.escape_debug()
    ),
    way_out: WaysOut {
        flags: "see whether several servers answer at this address; offer only one choice (--tls, --ciphers, --groups)",
        experiment: "see whether several servers answer at its address, and let all of them have the same settings for TLS",
    },
    examples: [{ what: "version", most: "1.3".into(), other: "1.2".into() }],

    /// The server agreed on something else than the others of its table. A doubt about a row, not about a trial: it is
    /// raised with the remark of that name.
    Unlike {
        /// In what it differs: `version`.
        what: &'static str,
        mine: String,
        /// What most of the others have; none where there is no majority.
        most: Option<String>,
    }
    id: "tls_unlike",
    gravity: Gravity::Invalid,
    when: "for a row: the subject is one of those that the [remark](#remarks-about-a-table) of that name names",
    because: "its figures would compare what TLS costs, and not the servers",
    says: unlike_says(what, mine, most.as_deref()),
    way_out: WaysOut {
        flags: "give all servers the same certificate, and offer only one choice (--tls, --ciphers, --groups)",
        experiment: SAME_TLS,
    },
    examples: [
        { what: "version", mine: "1.2".into(), most: Some("1.3".into()) },
        { what: "version", mine: "1.2".into(), most: None },
    ],

    /// Another share of the connections resumed a session than was ordered.
    ResumptionUnlike {
        resumed: u64,
        /// How many were to.
        meant: u64,
        /// All handshakes.
        of: u64,
    }
    id: "resumption_unlike",
    gravity: Gravity::Suspect,
    when: format!(
        "the share of handshakes that resumed a session differs by more than {} of all handshakes from what \
         `--tls-resume`, or `tls_resume` of an experiment, ordered",
        in_percent(UNLIKE)
    ),
    because: "full and resumed handshakes differ several times in what they cost; a row of an experiment in which not one \
        handshake resumed a session, although some were to, is not ranked, and its server has no price of resumption",
    says: format!(
        "{} of {} handshakes resumed a session, and {} were to: full and resumed handshakes differ in what they cost",
        count(*resumed),
        count(*of),
        count(*meant)
    ),
    way_out: WaysOut {
        flags: "connections that are opened at once have no session to resume yet: load with --no-keepalive or --sessions, \
            and for longer; the line `TLS` says whether the server sent tickets",
        experiment: "connections that are opened at once have no session to resume yet: load with `keep_alive = false`, and \
            for a longer `duration`; the row `TLS, as agreed on` says whether the server sent tickets",
    },
    examples: [{ resumed: 3, meant: 1_000, of: 1_000 }],

    /// The server asked for another group than the first one offered, which takes a round trip.
    HelloRetry {
        retried: u64,
        /// All handshakes.
        of: u64,
    }
    id: "hello_retry",
    gravity: Gravity::Note,
    when: "the server asked for another group than the first one offered (RFC 8446, 4.1.4)",
    because: "each such handshake takes a round trip more",
    says: format!(
        "in {} of {} handshakes the server asked for another group than the first one offered, which takes a round trip more",
        count(*retried),
        count(*of)
    ),
    way_out: WaysOut {
        flags: "offer the server's group first (--groups); its name is in the line `TLS`",
        experiment: "let its settings for TLS take the group that is offered first: x25519, if dyno starts it",
    },
    examples: [{ retried: 50, of: 50 }],

    /// There was a handshake with TLS for most of the answers, and dyno's part of it may be the larger one.
    HandshakesCost {
        handshakes: u64,
        /// The share of their time in which dyno's threads were busy.
        share: f64,
    }
    id: "handshakes_cost",
    gravity: Gravity::Note,
    when: format!(
        "one handshake or more for two answers, {HANDSHAKES} of them, and dyno's threads were busy more than {} of the time",
        in_percent(BUSY)
    ),
    because: "a client's part of a handshake costs about as much as the server's, or more: the rate may be dyno's limit",
    says: format!(
        "there were {} handshakes with TLS, and dyno was busy {} of the time: a client's part of a handshake costs about as \
         much as the server's, or more, so the rate may be dyno's limit",
        count(*handshakes),
        percent(*share)
    ),
    way_out: "give dyno more CPUs, apart from the server's, and compare CPU times and not rates",
    examples: [{ handshakes: 9_000, share: 0.8 }],
}

/// How servers come to agree on the same TLS, wherever dyno says what is offered.
pub const SAME_TLS: &str = "give all servers the same certificate chain (a server that dyno starts should send {cert} \
    unchanged), and look in their settings for what makes them choose another version, suite or group";

fn unlike_says(what: &str, mine: &str, most: Option<&str>) -> String {
    let others = match most {
        Some(most) => format!("that of most others `{}`", most.escape_debug()),
        None => "that of others is another, without a majority for any".into(),
    };
    format!(
        "the {what} that it agreed on with TLS is `{}`, and {others}: they differ in what TLS costs them",
        mine.escape_debug()
    )
}

/// What can be seen in any load.
pub(super) fn of_recording(recording: &Recording) -> Vec<Doubt> {
    let Some(security) = &recording.total.security else { return Vec::new() };
    let all = of(security).into_iter().chain(costly(recording, security));
    all.map(Doubt::from).collect()
}

/// What can be seen of held connections, in all steps together.
pub(super) fn of_holding(holding: &Holding) -> Vec<Doubt> {
    let found = holding.security().map_or(Vec::new(), |whole| of(&whole));
    found.into_iter().map(Doubt::from).collect()
}

fn of(security: &Security) -> Vec<TlsDoubt> {
    [mixed(security), unlike(security), retried(security)].into_iter().flatten().collect()
}

fn mixed(security: &Security) -> Option<TlsDoubt> {
    let all = [
        ("version", &security.versions),
        ("cipher suite", &security.suites),
        ("group", &security.groups),
        ("ALPN name", &security.alpn),
    ];
    let (what, counts) = all.into_iter().find(|(_, counts)| counts.is_mixed())?;
    let sorted = counts.sorted();
    let name = |place: usize| sorted[place].0.to_string();
    Some(TlsDoubt::Mixed { what, most: name(0), other: name(1) })
}

fn unlike(security: &Security) -> Option<TlsDoubt> {
    let (resumed, meant, of) = (security.resumed, security.meant_to_resume, security.handshakes());
    let is_unlike = UNLIKE * (of as f64) < resumed.abs_diff(meant) as f64;
    is_unlike.then_some(TlsDoubt::ResumptionUnlike { resumed, meant, of })
}

fn retried(security: &Security) -> Option<TlsDoubt> {
    let (retried, of) = (security.retried, security.handshakes());
    (0 < retried).then_some(TlsDoubt::HelloRetry { retried, of })
}

fn costly(recording: &Recording, security: &Security) -> Option<TlsDoubt> {
    let handshakes = security.handshakes();
    let is_load = HANDSHAKES <= handshakes && recording.total.correct <= 2 * handshakes;
    let share = generator_busy(&recording.lanes)?;
    (is_load && BUSY < share).then_some(TlsDoubt::HandshakesCost { handshakes, share })
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
