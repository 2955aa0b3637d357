//! What a load can check about itself: its counts, its own pauses, and the requests carried over its borders.

use lab::figure::Terms;
use load::LaneReport;

use super::*;

/// What breaks a rule of the books, and what is then said.
type Broken = (fn(&mut Recording), &'static str);

/// Each rule, broken by one.
#[test]
fn counts_that_must_agree_and_do_not_are_a_fault_of_ours() {
    let rule = |change: fn(&mut Recording)| {
        let found = check(change);
        let says = found.first().filter(|doubt| doubt.is(&books::BOOKS)).map(Doubt::says);
        let rule = says.and_then(|says| says.strip_prefix("the counts do not add up: "));
        let rule = rule.and_then(|rule| rule.split_once(" must be equal"));
        rule.unwrap_or_else(|| panic!("{found:?}")).0.to_owned()
    };
    let broken: [Broken; 9] = [
        (|it| it.total.due += 1, "due, and attempted"),
        (|it| it.total.on_time += 1, "on time, and correct"),
        (|it| it.total.correct_inside += 1, "correct inside the measured time, and correct"),
        (
            |it| (it.total.carried_in, it.total.correct_inside) = (1, it.total.correct_inside + 1),
            "answers to what was due before, and what was in flight then",
        ),
        (|it| it.total.response.record(MS), "response times, and requests that have one"),
        (|it| it.total.service.record(MS), "service times, and response times"),
        (|it| it.total.first_byte.record(MS), "service times, and times to the first byte"),
        (
            |it| it.total.flight.area += u128::from(MS),
            "milliseconds in flight over time, and one by one",
        ),
        (|it| it.sections = vec![part(19_999)], "due, and due in the parts"),
    ];
    for (change, expected) in broken {
        assert_eq!(rule(change), expected);
    }
    // Calls of sessions are due even if the sessions never get to them.
    let mut trial = healthy();
    trial.key.point = Point::Sessions(200.0);
    recording(&mut trial).total.due = 21_000;
    let found = doubts(&trial, Terms { calls: 10, ..ONE });
    expect!["not_on_time (note): the server did not keep up: 20,000 of the 21,000 requests that were due (95 %) were answered correctly within 5.00 s"]
        .assert_eq(&told([&found]));
}

/// What is wrong with the books of ten connections whose answers were to wait so long.
fn books_of_waits(shortest: u64) -> Option<String> {
    let mut trial = healthy();
    trial.key.point = Point::Connections(10);
    let answers = recording(&mut trial).total.correct;
    let waited = Waited { answers, early: 0, early_by: 0, shortest };
    recording(&mut trial).total.waited = Some(waited);
    let found = doubts(&trial, ONE);
    found.iter().find(|doubt| doubt.is(&books::BOOKS)).map(|doubt| doubt.says().to_owned())
}

/// Ten connections have at most 10 × (1 + 10 s ÷ 4 ms) answers that took 4 ms or more.
#[test]
fn no_closed_loop_has_more_answers_than_it_can_have_waited_for() {
    assert_eq!(books_of_waits(5 * MS), None);
    assert_eq!(
        books_of_waits(7 * MS).as_deref(),
        Some(
            "the counts do not add up: answers, and waits for them must be equal, and are 20,000 and 16,670"
        )
    );
}

#[test]
fn a_server_that_was_silent_is_doubted_by_the_share_of_the_time() {
    let doubts = |sum: u64| {
        check(|recording| {
            let from = recording.measured_from + 2 * SECOND;
            recording.silence = load::Silence { longest: sum, from, sum, times: 1 };
        })
    };
    assert_eq!(doubts(100 * MS), [], "1 % of ten seconds");
    expect!["silence (suspect): the server gave no correct answer for 700 ms, from 2.00 s on: 7.0 % of the measured time, in which requests waited"]
        .assert_eq(&told([&doubts(700 * MS)]));
    let gravity = |sum| doubts(sum)[0].gravity();
    assert_eq!([SECOND, 1_400 * MS].map(gravity), [Gravity::Suspect, Gravity::Invalid]);
    assert_eq!(check(|recording| recording.silence = load::Silence::default()), []);
}

#[test]
fn an_instrument_that_stood_still_says_so() {
    let doubts = |longest: u64, sum: u64| {
        check(|recording| {
            recording.total.still = load::Still { sum, overslept: longest, kept_waiting: 0 };
        })
    };
    assert_eq!(doubts(4 * MS, 4 * MS), [], "any scheduler does that");
    let gravity = |doubts: Vec<Doubt>| doubts[0].gravity();
    assert_eq!(gravity(doubts(90 * MS, 90 * MS)), Gravity::Suspect);
    assert_eq!(gravity(doubts(2 * SECOND, 2 * SECOND)), Gravity::Invalid);
    // A monitor that reads ten times a second, but once did not for two seconds.
    let found = of_trial(|trial| {
        let looks = (0..=130_u64).filter(|at| !(50..70).contains(at));
        let points: Vec<_> = looks.map(|at| (at * SECOND / 10, 1.0)).collect();
        trial.series = vec![series("subject.processes", "count", &points)];
    });
    expect![[r#"
        instrument_stood_still (suspect): dyno was not running for up to 20.0 ms, 0.2 % of the time in all (the p99 of what it measured: 1.00 ms): answers that arrived meanwhile are timed too late
        instrument_stood_still (suspect): dyno was not running for up to 6.00 ms, < 0.1 % of the time in all (the p99 of what it measured: 1.00 ms): answers that arrived meanwhile are timed too late
        instrument_stood_still (invalid): dyno was not running for up to 2.00 s, 20 % of the time in all (the p99 of what it measured: 1.00 ms): answers that arrived meanwhile are timed too late"#]]
    // Six milliseconds are longer than the p99.
    .assert_eq(&told([&doubts(20 * MS, 20 * MS), &doubts(6 * MS, 6 * MS), &found]));
}

#[test]
fn what_is_carried_in_is_said_and_doubted_where_it_makes_a_rate() {
    let doubts = |carried_in: u64, inside: u64| {
        check(|recording| {
            (recording.total.carried_in, recording.total.correct_inside) = (carried_in, inside);
            let warmup = Window { is_warmup: true, attempted: 9_000, ..window(SECOND, 0, 1) };
            recording.windows = vec![warmup];
        })
    };
    assert_eq!(doubts(100, 20_000), [], "as much as is left at the end");
    expect![[r#"
        carried_in (note): 5,000 of the 20,000 correct answers inside the measured time (25 %) were to requests that had been due before it: a backlog from before was worked off
        carried_in (suspect): 5,000 of the 25,000 correct answers inside the measured time (20 %) were to requests that had been due before it: the throughput is 5,000 answers more than the requests of that time account for"#]]
    // 5,000 were carried in, and as many of the 20,000 due were carried out: the server's own rate, and an old queue.
    .assert_eq(&told([&doubts(5_000, 20_000), &doubts(5_000, 25_000)]));
}

#[test]
fn more_than_was_asked_for_and_connections_that_do_not_last_are_said() {
    let doubts =
        |change: fn(&mut load::Notes)| check(|recording| change(&mut recording.total.notes));
    expect![[r#"
        surplus_answers (suspect): more was received than was requested: 3 answers without a request, 0 answers followed by further bytes (of 20,000 correct answers); such connections were closed
        connections_not_reused (note): the server closed connections that should have stayed open: 20,000 after it had announced this, of 20,000 answers in all"#]]
    .assert_eq(&told([
        &doubts(|notes| notes.unsolicited = 3),
        &doubts(|notes| notes.announced_closes = 20_000),
    ]));
    assert_eq!(doubts(|notes| notes.stale_retries = 10_000)[0].gravity(), Gravity::Suspect);
    assert_eq!(doubts(|notes| notes.idle_closed = 50), []);
}

#[test]
fn what_is_left_at_the_end_is_said() {
    let doubts = |left: u64| {
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
    expect!["under_way (note): 1 of 20,001 requests were neither answered nor given up when the load ended"]
        .assert_eq(&told([&doubts(1)]));
    assert_eq!(doubts(100)[0].gravity(), Gravity::Suspect);
}

/// The doubts about a load of two threads that have parsed bodies for so long: each, where that is known.
fn doubts_of_parsing(meaning_ns: u64, each: [Option<u64>; 2]) -> Vec<String> {
    let found = check(|recording| {
        let compared = Compared { by_bytes: 9, by_meaning: 20_000, meaning_ns };
        recording.total.compared = Some(compared);
        let lane = recording.lanes[0];
        recording.lanes = each.map(|meaning| LaneReport { meaning, ..lane }).into();
    });
    found.iter().map(|doubt| doubt.says().to_owned()).collect()
}

/// A second of the ten, and a little more. The mean over threads hides the one that was too busy to look at its answers.
#[test]
fn parsing_most_bodies_is_doubted_above_a_tenth_of_the_time_of_any_thread() {
    let (enough, more) = (SECOND, SECOND * 11 / 10);
    let unknown = [None; 2];
    assert_eq!(doubts_of_parsing(2 * enough, unknown), Vec::<String>::new());
    assert_eq!(doubts_of_parsing(2 * enough, [Some(enough); 2]), Vec::<String>::new());
    let says = "a thread of dyno spent 11 % of its time parsing bodies or decoding files: in all, 20,000 were compared by \
                their meaning, 9 by their bytes";
    assert_eq!(doubts_of_parsing(2 * more, unknown), [says]);
    assert_eq!(doubts_of_parsing(more, [Some(0), Some(more)]), [says]);
}
