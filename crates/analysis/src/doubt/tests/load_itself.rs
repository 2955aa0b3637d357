//! What a load can check about itself: its counts, its own pauses, and the requests carried over its borders.

use super::*;
use crate::terms::Terms;

/// Each rule, broken by one.
#[test]
fn counts_that_must_agree_and_do_not_are_a_fault_of_ours() {
    let rule = |change: fn(&mut Recording)| {
        let found = check(change);
        match found[..] {
            [Doubt::Books { rule, .. }, ..] => rule,
            _ => panic!("{found:?}"),
        }
    };
    assert_eq!(rule(|recording| recording.total.due += 1), "due, and attempted");
    assert_eq!(rule(|recording| recording.total.on_time += 1), "on time, and correct");
    assert_eq!(
        rule(|recording| recording.total.correct_inside += 1),
        "correct inside the measured time, and correct"
    );
    assert_eq!(
        rule(|recording| {
            recording.total.carried_in += 1;
            recording.total.correct_inside += 1;
        }),
        "answers to what was due before, and what was under way then"
    );
    assert_eq!(
        rule(|recording| recording.total.response.record(MS)),
        "response times, and requests that have one"
    );
    assert_eq!(
        rule(|recording| recording.total.service.record(MS)),
        "service times, and response times"
    );
    assert_eq!(
        rule(|recording| recording.total.first_byte.record(MS)),
        "service times, and times to the first byte"
    );
    assert_eq!(
        rule(|recording| recording.total.flight.area += u128::from(MS)),
        "milliseconds in flight over time, and one by one"
    );
    let of_parts = |recording: &mut Recording| {
        let part = load::Section {
            from: 0,
            until: 1,
            due: 19_999,
            correct: 0,
            on_time: 0,
            failed: 0,
            correct_inside: 0,
            response: Distribution::new(SECOND),
        };
        recording.sections = vec![part];
    };
    assert_eq!(rule(of_parts), "due, and due in the parts");
    // Calls of sessions are due even if the sessions never get to them.
    let mut trial = healthy();
    trial.key.point = Point::Sessions(200.0);
    recording(&mut trial).total.due = 21_000;
    let found = doubts(&trial, Terms { calls: 10, ..ONE });
    assert!(matches!(found[..], [Doubt::NotOnTime { due: 21_000, .. }]), "{found:?}");
}

#[test]
fn a_server_that_was_silent_is_doubted_by_the_share_of_the_time() {
    let of = |sum: u64| {
        check(|recording| {
            let from = recording.measured_from + 2 * SECOND;
            recording.silence = load::Silence { longest: sum, from, sum, times: 1 };
        })
    };
    assert_eq!(of(100 * MS), [], "1 % of ten seconds");
    let (some, much) = (of(700 * MS), of(1_400 * MS));
    let expected = matches!(
        some[..],
        [Doubt::Silence { longest_ms: 700.0, from_ms: 2_000.0, times: 1, share }] if (share - 0.07).abs() < 1e-9
    );
    assert!(expected, "{some:?}");
    assert_eq!((some[0].gravity(), of(SECOND)[0].gravity()), (Gravity::Suspect, Gravity::Suspect));
    assert_eq!(much[0].gravity(), Gravity::Invalid);
    assert_eq!(check(|recording| recording.silence = load::Silence::default()), []);
}

#[test]
fn an_instrument_that_stood_still_says_so() {
    let of = |longest: u64, sum: u64| {
        check(|recording| {
            recording.total.still = load::Still { sum, overslept: longest, kept_waiting: 0 };
        })
    };
    let expected =
        |longest_ms, share| vec![Doubt::StoodStill { longest_ms, share, p99_ms: 1.0, agent: None }];
    let near = |mut found: Vec<Doubt>| {
        if let [Doubt::StoodStill { p99_ms, .. }] = &mut found[..] {
            *p99_ms = p99_ms.round();
        }
        found
    };
    assert_eq!(of(4 * MS, 4 * MS), [], "any scheduler does that");
    assert_eq!(near(of(20 * MS, 20 * MS)), expected(20.0, 0.002));
    assert_eq!(near(of(6 * MS, 6 * MS)), expected(6.0, 0.000_6), "longer than the p99");
    let gravity = |doubts: Vec<Doubt>| doubts[0].gravity();
    assert_eq!(gravity(of(90 * MS, 90 * MS)), Gravity::Suspect);
    assert_eq!(gravity(of(2 * SECOND, 2 * SECOND)), Gravity::Invalid);
    // A monitor that reads ten times a second, but once did not for two seconds.
    let found = of_trial(|trial| {
        let looks = (0..=130_u64).filter(|at| !(50..70).contains(at));
        let points: Vec<_> = looks.map(|at| (at * SECOND / 10, 1.0)).collect();
        trial.series = vec![series("subject.processes", "count", &points)];
    });
    assert!(matches!(found[..], [Doubt::StoodStill { longest_ms: 2_000.0, .. }]), "{found:?}");
}

#[test]
fn what_is_carried_in_is_said_and_doubted_where_it_makes_a_rate() {
    let of = |carried_in: u64, inside: u64| {
        check(|recording| {
            (recording.total.carried_in, recording.total.correct_inside) = (carried_in, inside);
            let warmup = Window {
                is_warmup: true,
                attempted: 9_000,
                correct: 0,
                ..windows(|_| (0, 1)).remove(0)
            };
            recording.windows = vec![warmup];
        })
    };
    assert_eq!(of(100, 20_000), [], "as much as is left at the end");
    // 5,000 were carried in, and as many of the 20,000 due were carried out: the server's own rate, and an old queue.
    assert_eq!(
        of(5_000, 20_000),
        [Doubt::CarriedIn { carried_in: 5_000, inside: 20_000, excess: 0 }]
    );
    assert_eq!(of(5_000, 20_000)[0].gravity(), Gravity::Note);
    let more = of(5_000, 25_000);
    assert_eq!(more, [Doubt::CarriedIn { carried_in: 5_000, inside: 25_000, excess: 5_000 }]);
    assert_eq!(more[0].gravity(), Gravity::Suspect);
}

#[test]
fn more_than_was_asked_for_and_connections_that_do_not_last_are_said() {
    let of = |change: fn(&mut load::Notes)| check(|recording| change(&mut recording.total.notes));
    let doubled = of(|notes| notes.unsolicited = 3);
    assert_eq!(doubled, [Doubt::Surplus { answers: 3, bytes: 0, correct: 20_000 }]);
    assert_eq!(doubled[0].gravity(), Gravity::Suspect);
    let announced = of(|notes| notes.announced_closes = 20_000);
    assert_eq!(
        announced,
        [Doubt::Reconnects { announced: 20_000, unannounced: 0, answers: 20_000 }]
    );
    assert_eq!(announced[0].gravity(), Gravity::Note);
    assert_eq!(of(|notes| notes.stale_retries = 10_000)[0].gravity(), Gravity::Suspect);
    assert_eq!(of(|notes| notes.idle_closed = 50), []);
}

#[test]
fn what_is_left_at_the_end_is_said() {
    let of = |left: u64| {
        check(|recording| {
            let total = &mut recording.total;
            total.attempted += left;
            total.due += left;
            total.under_way = left;
            for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
                (0..left).for_each(|_| times.record_censored(MS));
            }
        })
    };
    assert_eq!(of(1), [Doubt::UnderWay { left: 1, due: 20_001 }]);
    assert_eq!(of(1)[0].gravity(), Gravity::Note);
    assert_eq!(of(100)[0].gravity(), Gravity::Suspect);
}
