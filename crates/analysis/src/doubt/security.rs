//! Whether all connections had the same TLS, and the TLS that was ordered.

use lab::figure::generator::generator_busy;
use load::{Agreed, Holding, Recording};
use units::{count, percent};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Count, Share};
use crate::verdict::Gravity::{Invalid, Note, Suspect};

/// A share of resumed connections that differs by more than this from what was ordered is another load.
const UNLIKE: f64 = 0.01;
/// From so many handshakes on, and where there is one for two answers or more, handshakes are the load.
const HANDSHAKES: u64 = 100;
/// Beyond this share of its time, dyno's part of the handshakes may be what limits the rate.
const BUSY: f64 = 0.5;

pub(super) const ALL: &[Definition] =
    &[TLS_MIXED, TLS_UNLIKE, RESUMPTION_UNLIKE, HELLO_RETRY, HANDSHAKES_COST];

/// The connections differ in what they agreed on with TLS.
pub(crate) const TLS_MIXED: Definition = Definition::new("tls_mixed", Invalid)
    .when("the connections of one load differ in version, suite, group or ALPN name")
    .because("they cost different amounts, so that each figure is a mixture")
    .way_out("see whether several servers answer at its address, and let all of them have the same settings for TLS")
    .by_flags("see whether several servers answer at this address; offer only one choice (--tls, --ciphers, --groups)");

/// The server agreed on something else than the others of its table. A doubt about a row, not about a trial: it is
/// raised with the remark of that name.
pub(crate) const TLS_UNLIKE: Definition = Definition::new("tls_unlike", Invalid)
    .when("for a row: the server is one of those that the [remark](#remarks-about-a-table) of that name names")
    .because("its figures would compare what TLS costs, and not the servers")
    .way_out(SAME_TLS)
    .by_flags("give all servers the same certificate, and offer only one choice (--tls, --ciphers, --groups)");

/// Another share of the connections resumed a session than was ordered.
pub(crate) const RESUMPTION_UNLIKE: Definition = Definition::new("resumption_unlike", Suspect)
    .when("the share of handshakes that resumed a session differs by more than {} of all handshakes from what \
        `--tls-resume`, or `tls_resume` of an experiment, ordered")
    .thresholds(&[Share(UNLIKE)])
    .because("a full handshake costs several times as much as a resumed one; a row of an experiment in which not one \
        handshake resumed a session, although some should have, is not ranked, and its server has no price of \
        resumption")
    .way_out("connections that are opened at once have no session to resume yet: load with `keep_alive = false`, and \
        for a longer `duration`; the row `TLS, as agreed on` says whether the server sent tickets")
    .by_flags("connections that are opened at once have no session to resume yet: load with --no-keepalive or \
        --sessions, and for longer; the line `TLS` says whether the server sent tickets");

/// The server asked for another group than the first one offered, which takes a round trip.
pub(crate) const HELLO_RETRY: Definition = Definition::new("hello_retry", Note)
    .when("the server asked for another group than the first one offered (RFC 8446, 4.1.4)")
    .because("each such handshake takes a round trip more")
    .way_out(
        "let its settings for TLS take the group that is offered first: x25519, if dyno starts it",
    )
    .by_flags("offer the server's group first (--groups); its name is in the line `TLS`");

/// There was a handshake with TLS for most of the answers, and dyno's part of it may be the larger one.
pub(crate) const HANDSHAKES_COST: Definition = Definition::new("handshakes_cost", Note)
    .when("one handshake or more for two answers, {} of them, and dyno's threads were busy more than {} of the time")
    .thresholds(&[Count(HANDSHAKES), Share(BUSY)])
    .because("a client's part of a handshake costs about as much as the server's, or more: the rate may be dyno's \
        limit")
    .way_out("give dyno more CPUs, apart from the server's, and compare CPU times and not rates");

/// How servers come to agree on the same TLS, wherever dyno says what is offered.
pub(crate) const SAME_TLS: &str = "give all servers the same certificate chain (a server that dyno starts should send {cert} \
    unchanged), and look in their settings for what makes them choose another version, suite or group";

/// The doubt about a server that agreed on something else than most others, if most of them agree.
pub(crate) fn unlike(what: &str, mine: &str, most: Option<&str>) -> Doubt {
    let others = match most {
        Some(most) => format!("that of most others `{}`", most.escape_debug()),
        None => "the others differ, without a majority for any".into(),
    };
    TLS_UNLIKE.found(format!(
        "the {what} that it agreed on with TLS is `{}`, and {others}: they differ in what TLS costs them",
        mine.escape_debug()
    ))
}

/// What can be seen in any load.
pub(super) fn of_recording(recording: &Recording) -> Vec<Doubt> {
    let Some(security) = &recording.total.security else { return Vec::new() };
    of(&security.agreed).into_iter().chain(costly(recording, &security.agreed)).collect()
}

/// What can be seen of held connections, in all steps together.
pub(super) fn of_holding(holding: &Holding) -> Vec<Doubt> {
    holding.security().map_or(Vec::new(), |whole| of(&whole.agreed))
}

fn of(agreed: &Agreed) -> Vec<Doubt> {
    [mixed(agreed), resumed(agreed), retried(agreed)].into_iter().flatten().collect()
}

fn mixed(agreed: &Agreed) -> Option<Doubt> {
    let all = [
        ("version", &agreed.versions),
        ("cipher suite", &agreed.suites),
        ("group", &agreed.groups),
        ("ALPN name", &agreed.alpn),
    ];
    let (what, counts) = all.into_iter().find(|(_, counts)| counts.is_mixed())?;
    let sorted = counts.sorted();
    let name = |place: usize| sorted[place].0.to_string();
    let says = format!(
        "connections differ in what they agreed on with TLS: most have the {what} `{}`, others `{}`",
        name(0).escape_debug(),
        name(1).escape_debug()
    );
    Some(TLS_MIXED.found(says))
}

fn resumed(agreed: &Agreed) -> Option<Doubt> {
    let (resumed, meant, of) = (agreed.resumed, agreed.meant_to_resume, agreed.handshakes());
    let is_unlike = UNLIKE * (of as f64) < resumed.abs_diff(meant) as f64;
    is_unlike.then(|| RESUMPTION_UNLIKE.found(format!(
        "{} of {} handshakes resumed a session, and {} should have: a full handshake costs more than a resumed one",
        count(resumed),
        count(of),
        count(meant)
    )))
}

fn retried(agreed: &Agreed) -> Option<Doubt> {
    let (retried, of) = (agreed.retried, agreed.handshakes());
    (0 < retried).then(|| HELLO_RETRY.found(format!(
        "in {} of {} handshakes the server asked for another group than the first one offered, which takes a round \
         trip more",
        count(retried),
        count(of)
    )))
}

fn costly(recording: &Recording, agreed: &Agreed) -> Option<Doubt> {
    let handshakes = agreed.handshakes();
    let is_load = HANDSHAKES <= handshakes && recording.total.correct <= 2 * handshakes;
    let share = generator_busy(&recording.lanes)?;
    (is_load && BUSY < share).then(|| HANDSHAKES_COST.found(format!(
        "there were {} handshakes with TLS, and dyno was busy {} of the time: a client's part of a handshake costs \
         about as much as the server's, or more, so the rate may be dyno's limit",
        count(handshakes),
        percent(share)
    )))
}

#[cfg(test)]
mod tests {
    use load::{LaneReport, Security, Tally};

    use expect_test::expect;

    use super::*;
    use crate::fixture::told;

    /// Ten thousand answers in 10 s on connections that agree, by a lane that is busy for a tenth of the time.
    fn recording(change: impl FnOnce(&mut Agreed, &mut LaneReport)) -> Recording {
        let mut security = Security::new(load::SECOND);
        let agreed = &mut security.agreed;
        (agreed.full, agreed.tickets) = (50, 100);
        for (counts, name) in [
            (&mut agreed.versions, "1.3"),
            (&mut agreed.suites, "TLS_AES_128_GCM_SHA256"),
            (&mut agreed.groups, "x25519"),
            (&mut agreed.alpn, "http/1.1"),
        ] {
            counts.add(name, 50);
        }
        let wall = 10 * load::SECOND;
        let mut lane = LaneReport { wall, idle: wall / 10 * 9, ..LaneReport::default() };
        change(agreed, &mut lane);
        let mut total = Tally::new(load::SECOND);
        (total.correct, total.security) = (10_000, Some(Box::new(security)));
        Recording { lanes: vec![lane], ..Recording::new(total, 0..wall, load::SECOND) }
    }

    fn found(change: impl FnOnce(&mut Agreed, &mut LaneReport)) -> Vec<Doubt> {
        of_recording(&recording(change))
    }

    #[test]
    fn connections_that_agree_raise_no_doubt_and_others_do() {
        assert_eq!(found(|_, _| {}), []);
        expect![[r#"
            tls_mixed (invalid): connections differ in what they agreed on with TLS: most have the version `1.3`, others `1.2`
            tls_mixed (invalid): connections differ in what they agreed on with TLS: most have the group `p`, others `x25519`
            tls_mixed (invalid): connections differ in what they agreed on with TLS: most have the ALPN name `http/1.1`, others ``"#]]
        .assert_eq(&told([
            &found(|it, _| it.versions.add("1.2", 1)),
            &found(|it, _| it.groups.add("p", 60)),
            &found(|it, _| it.alpn.add("", 1)),
        ]));
    }

    #[test]
    fn resumption_is_compared_with_what_was_ordered() {
        let unlike = |resumed, meant| {
            let found = found(|it, _| {
                (it.full, it.resumed, it.meant_to_resume) = (1_000 - resumed, resumed, meant);
            });
            found.iter().any(|doubt| doubt.is(&RESUMPTION_UNLIKE))
        };
        let all = [unlike(0, 0), unlike(990, 1_000), unlike(989, 1_000), unlike(0, 1_000)];
        assert_eq!(all, [false, false, true, true]);
        assert!(unlike(500, 250), "more than were ordered");
    }

    #[test]
    fn a_round_trip_more_and_costly_handshakes_are_noted() {
        let costly = |handshakes, idle| {
            found(|it, lane| (it.full, lane.idle) = (handshakes, idle * load::SECOND))
        };
        expect![[r#"
            hello_retry (note): in 7 of 50 handshakes the server asked for another group than the first one offered, which takes a round trip more
            handshakes_cost (note): there were 10,000 handshakes with TLS, and dyno was busy 60 % of the time: a client's part of a handshake costs about as much as the server's, or more, so the rate may be dyno's limit"#]]
        .assert_eq(&told([&found(|it, _| it.retried = 7), &costly(10_000, 4)]));
        assert_eq!((costly(10_000, 6), costly(1_000, 1)), (vec![], vec![]));
    }

    #[test]
    fn held_connections_are_judged_over_all_steps() {
        let step = |version: &str| {
            let mut security = Security::new(load::SECOND);
            security.agreed.full = 10;
            security.agreed.versions.add(version, 10);
            load::Plateau { security: Some(Box::new(security)), ..load::Plateau::default() }
        };
        let held = |versions: [&str; 2]| {
            let (plateaus, windows) = (versions.map(step).into(), Vec::new());
            Holding { plateaus, windows, closed_at: 0, was_halted: false }
        };
        assert_eq!(of_holding(&held(["1.3", "1.3"])), []);
        assert_eq!(of_holding(&held(["1.3", "1.2"])).len(), 1);
    }
}
