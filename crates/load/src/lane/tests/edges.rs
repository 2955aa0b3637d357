//! Figures at the edges of the measured time, each compared with a truth that can be computed by hand.

use std::time::Duration;

use super::rig::{Run, after, always, at_once, classes, closed, open, sessions};
use super::{GOOD, MILLI};
use crate::arrivals::{Arrivals, Listed, Rate};
use crate::engine::{Act, Simulated};
use crate::recording::Recording;
use crate::tally::{Receipt, Tally};
use crate::{Nanos, SECOND};

fn measured(recording: &Recording) -> Nanos {
    recording.measured_until - recording.measured_from
}

/// Correct answers per second of the measured time.
fn throughput(recording: &Recording) -> f64 {
    recording.total.correct_inside as f64 * SECOND as f64 / measured(recording) as f64
}

/// The offered rate, over the time in which anything was due.
fn offered(recording: &Recording) -> f64 {
    let time = recording.scheduled_until.unwrap() - recording.measured_from;
    recording.total.due as f64 * SECOND as f64 / time as f64
}

/// Answers after a millisecond, but not between the two instants; requests of that time are answered at its end.
fn stalls(from: Nanos, until: Nanos) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    move |now| {
        let at = if (from..until).contains(&now) { until } else { now };
        vec![(at + MILLI, Act::Send(GOOD.to_vec()))]
    }
}

fn never() -> Nanos {
    3_600 * SECOND
}

/// Requests wait for the one connection. A request that is lost as soon as it is begun is handled at once and not at
/// the lane's next look, up to 100 ms later: the others would wait for it.
#[test]
fn a_connection_that_cannot_be_opened_keeps_the_next_request_waiting_for_no_look() {
    // The lane sleeps too long, so that all five are due when it begins the first.
    let engine = Simulated::new(at_once, after(MILLI)).oversleeping(10 * MILLI);
    let run = Run { max_connections: 1, ..sessions(1, 1_000, 5) };
    let seen = run.press(engine.lacking_files(1));
    let failed: u64 = classes(&seen).iter().map(|(_, count)| count).sum();
    assert_eq!((seen.correct, failed), (4, 1), "{:?}", classes(&seen));
    let slowest = seen.response.quantile(1.0).unwrap().value;
    assert!(slowest < 50 * MILLI, "{slowest}");
}

/// A server closes a resting connection, and the next request finds out when it is written: it goes out again at once,
/// and not at the lane's next look, up to 10 ms later.
#[test]
fn a_request_that_meets_a_connection_that_was_closed_goes_out_again_at_once() {
    let engine = Simulated::new(at_once, after(MILLI));
    let run = Run { total: 3, until: 5 * SECOND, ..open(1, 2) };
    let seen = run.press(engine.resetting(2));
    assert_eq!((seen.correct, seen.notes.stale_retries), (3, 1), "{:?}", classes(&seen));
    let slowest = seen.response.quantile(1.0).unwrap().value;
    assert!(slowest < 5 * MILLI, "{slowest}");
}

#[test]
fn what_is_waited_for_after_the_end_is_in_no_rate_and_not_in_flight() {
    let run = Run { until: SECOND, ..closed(7) };
    let seen = run.record([Simulated::new(at_once, after(3 * SECOND))]);
    assert_eq!((seen.total.correct, seen.total.correct_inside), (7, 0));
    let in_flight = seen.total.in_flight_area as f64 / SECOND as f64;
    assert!((in_flight - 7.0).abs() < 0.1, "seven for the measured second: {in_flight}");
}

#[test]
fn after_a_stop_what_is_under_way_is_a_bound_at_its_age() {
    let run = Run { halt_at: 2 * SECOND, timeout: 60 * SECOND, ..open(2_000, 100) };
    let seen = run.record([Simulated::new(at_once, stalls(SECOND, never()))]);
    let total = &seen.total;
    assert!(0 < total.under_way && total.failed_in_all() == 0);
    assert_eq!(total.response.censored(), total.under_way);
    assert_eq!(total.response.count(), total.attempted);
    let p99 = total.response.quantile(0.99).unwrap();
    assert!(p99.is_bound && 2 * SECOND < p99.value, "{p99:?}");
    assert!(!total.response.quantile(0.4).unwrap().is_bound);
    assert_eq!(
        (total.service.censored(), total.first_byte.censored()),
        (total.under_way, total.under_way)
    );
}

#[test]
fn an_ordered_number_ends_the_measured_time_when_the_last_of_them_has_ended() {
    let closed_run = Run { total: 1_000, until: u64::MAX, ..closed(8) };
    let seen = closed_run.record([Simulated::new(at_once, after(MILLI))]);
    assert_eq!((measured(&seen), throughput(&seen)), (125 * MILLI, 8_000.0));
    // One request at one per second: the second belongs to it.
    let one = Run { total: 1, until: u64::MAX, ..open(1, 1) };
    let seen = one.record([Simulated::new(at_once, after(MILLI))]);
    assert_eq!((offered(&seen), throughput(&seen), seen.total.on_time), (1.0, 1.0, 1));
    // A server that takes twice as long as the arrivals: its own rate, and the schedule's.
    let mut free_at = 0;
    let slow = move |now: Nanos| {
        free_at = now.max(free_at) + 2 * MILLI;
        vec![(free_at, Act::Send(GOOD.to_vec()))]
    };
    let run = Run { total: 1_000, until: u64::MAX, ..open(2_000, 1_000) };
    let seen = run.record([Simulated::new(at_once, slow)]);
    assert_eq!(offered(&seen), 1_000.0);
    assert!((throughput(&seen) - 500.0).abs() < 1.0, "{}", throughput(&seen));
    // A time that is over before the number is reached.
    let both = Run { total: 1_000, until: SECOND / 2, ..open(2_000, 1_000) };
    let seen = both.record([Simulated::new(at_once, after(MILLI))]);
    assert_eq!((measured(&seen), seen.total.due), (SECOND / 2, 500));
}

/// A connection that was begun at second 0 and has its deadline in second 5 carries a request that was due long before.
#[test]
fn a_deadline_that_is_nearer_than_the_one_before_is_kept() {
    let mut accepted = 0;
    let second_is_slow = move |now: Nanos| {
        accepted += 1;
        (now + if accepted == 2 { 4 * SECOND } else { 0 }, Act::Accept)
    };
    let run = Run { max_connections: 2, total: 3, until: 20 * SECOND, ..open(1, 1) };
    let tally = run.press(Simulated::new(second_is_slow, |_| Vec::new()));
    assert_eq!(tally.failed_in_all(), 3);
    let slowest = tally.last_done;
    assert!(slowest < 100 * MILLI + 2 * SECOND + 5 * SECOND + 60 * MILLI, "{slowest}");
}

#[test]
fn censored_service_times_are_bounds_wherever_they_lie() {
    // One connection, answers after 3 s: of a hundred requests per second, nearly all wait until their time is up.
    let run = Run { until: SECOND, ..open(1, 100) };
    let tally = run.press(Simulated::new(at_once, after(3 * SECOND)));
    let p50 = tally.service.quantile(0.5).unwrap();
    assert!(p50.is_bound || 3 * SECOND <= p50.value, "{p50:?}");
    // The second request left after 3 s and was given up 5 s after it was due: it is known to take 2 s, and no more is
    // known.
    let (_, most) = tally.service.extremes().unwrap();
    assert!(0 < tally.service.censored() && most < 3_010 * MILLI, "{most}");
}

#[test]
fn a_server_that_is_slow_to_accept_is_not_our_fault() {
    let slow = |now: Nanos| (now + 3 * SECOND, Act::Accept);
    for run in [
        Run { total: 5, ..sessions(1, 100, 5) },
        Run { total: 5, ..closed(5) },
        Run { total: 5, keep_alive: false, ..closed(5) },
        Run { total: 5, keep_alive: false, connections: 0, max_connections: 100, ..open(0, 100) },
    ] {
        let run = Run { until: 60 * SECOND, ..run };
        let tally = run.press(Simulated::new(slow, |_| Vec::new()));
        assert_eq!(classes(&tally), [("recv.first_byte_timeout", 5)], "{:?}", run.kind);
        let too_slow = |now: Nanos| (now + 6 * SECOND, Act::Accept);
        let tally = run.press(Simulated::new(too_slow, after(MILLI)));
        assert_eq!(classes(&tally), [("connect.timeout", 5)], "{:?}", run.kind);
    }
}

#[test]
fn steps_and_ramps_are_looked_at_part_by_part() {
    let second = Duration::from_secs(1);
    let rate = |per_s| Rate::per_s(per_s).unwrap();
    let steps = Arrivals::Steps(vec![(rate(100), second), (rate(400), second), (rate(50), second)]);
    // Overloaded in the second step: the server can give only 200 answers per second.
    let mut free_at = 0;
    let busy = move |now: Nanos| {
        free_at = now.max(free_at) + 5 * MILLI;
        vec![(free_at, Act::Send(GOOD.to_vec()))]
    };
    let run = Run { until: u64::MAX, arrivals: Some(steps), ..open(1_000, 1) };
    let seen = run.record([Simulated::new(at_once, busy)]);
    let [first, full, last] = &seen.sections[..] else { panic!("{:?}", seen.sections) };
    assert_eq!((first.due, full.due, last.due), (100, 400, 50));
    assert_eq!((first.correct, full.correct, last.correct), (100, 400, 50));
    assert_eq!(first.correct_inside, 100);
    assert!(full.correct_inside.abs_diff(200) <= 1, "{}", full.correct_inside);
    let p99 = |part: &crate::section::Section| part.response.quantile(0.99).unwrap().value / MILLI;
    assert_eq!(p99(first), 5);
    assert!((900..1_010).contains(&p99(full)), "{}", p99(full));
    assert_eq!(seen.sections.iter().map(|part| part.due).sum::<u64>(), seen.total.due);

    let ramp = Arrivals::Ramp { from: rate(100), to: rate(1_000), over: 10 * second };
    let run =
        Run { until: u64::MAX, warmup: SECOND, lanes: 2, arrivals: Some(ramp), ..open(1_000, 1) };
    let engine = || Simulated::new(at_once, after(MILLI));
    let seen = run.record([engine(), engine()]);
    assert_eq!(seen.sections.len(), 9, "the first was the warm-up");
    assert!(seen.sections[0].due.abs_diff(235) <= 1, "{}", seen.sections[0].due);
    assert_eq!(seen.sections.iter().map(|part| part.due).sum::<u64>(), seen.total.due);
}

/// The file's times are the whole truth: how many were due, when the schedule ended, and the rate that was offered.
#[test]
fn listed_times_end_the_load_and_offer_their_own_rate() {
    let times: Vec<Nanos> = [0, 0, 0, 1_500, 1_500, 3_000].map(|at| at * MILLI).to_vec();
    let arrivals = Arrivals::Listed(Listed::new(&times).unwrap());
    let run = Run { until: u64::MAX, arrivals: Some(arrivals), ..open(10, 1) };
    let pressed = |run: &Run| {
        let engines = (0..run.lanes).map(|_| Simulated::new(at_once, after(MILLI)));
        let seen = run.record(engines);
        let books = (seen.total.due, seen.total.correct, seen.total.on_time);
        let scheduled = seen.scheduled_until.map(|until| (until - seen.measured_from) / MILLI);
        let parts: Vec<u64> = seen.sections.iter().map(|part| part.due).collect();
        (books, scheduled, (seen.measured_until - seen.measured_from) / MILLI, parts)
    };
    // Six arrivals in 3.6 s, the last gap included, are 1.67 in a second: one in 0.6 s, the mean gap.
    let parts = |of: [u64; 10]| of.to_vec();
    let whole = ((6, 6, 6), Some(3_600), 3_600, parts([3, 0, 0, 0, 2, 0, 0, 0, 1, 0]));
    assert_eq!(pressed(&run), whole);
    for lanes in [2, 4] {
        assert_eq!(pressed(&Run { lanes, ..run.clone() }), whole, "{lanes} threads");
    }
    let shorter = Run { until: 2 * SECOND, ..run.clone() };
    assert_eq!(pressed(&shorter), ((5, 5, 5), Some(2_000), 2_000, vec![3, 0, 0, 0, 2, 0]));
    let longer = Run { until: 60 * SECOND, ..run.clone() };
    assert_eq!(pressed(&longer), whole, "nothing is due after the last time");
    let warm = Run { warmup: SECOND, ..run.clone() };
    let seen = pressed(&warm);
    assert_eq!((seen.0, seen.1), ((3, 3, 3), Some(2_600)), "what is due before it is not counted");
    let four = Run { total: 4, lanes: 2, ..run };
    assert_eq!(pressed(&four).0, (4, 4, 4));
    assert_eq!(pressed(&four).1, Some(1_500), "until the fifth was due");
}

#[test]
fn whole_answers_are_counted_by_status_and_size_whether_right_or_wrong() {
    let missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
    let mut count = 0;
    let bad = missing.clone();
    let server = move |now: Nanos| {
        count += 1;
        let bytes = if count % 4 == 0 { bad.clone() } else { GOOD.to_vec() };
        let (head, rest) = bytes.split_at(10);
        vec![(now + MILLI, Act::Send(head.to_vec())), (now + 2 * MILLI, Act::Send(rest.to_vec()))]
    };
    let tally = Run { total: 20, ..closed(1) }.press(Simulated::new(at_once, server));
    assert_eq!(tally.answers.statuses(), [(200, 15), (404, 5)]);
    let sizes = (GOOD.len() as u64, missing.len() as u64);
    let extremes = (sizes.0.min(sizes.1), sizes.0.max(sizes.1));
    assert_eq!(tally.answers.extremes_bytes(), Some(extremes));
    let resets = always(MILLI, &[Act::Send(GOOD[..20].to_vec()), Act::Reset]);
    let tally = Run { total: 5, ..closed(1) }.press(Simulated::new(at_once, resets));
    assert_eq!(tally.answers.total(), 0, "only whole answers are counted");
}

#[test]
fn the_first_wrong_answers_are_kept_with_their_bytes() {
    let wrong = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nRuss".to_vec();
    let run = Run { total: 20, ..closed(1) };
    let tally = run.press(Simulated::new(at_once, always(MILLI, &[Act::Send(wrong.clone())])));
    assert_eq!(tally.connections.established, 1, "the connection is sound");
    let kept = &tally.evidence;
    assert_eq!((kept.len(), kept[0].seq, kept[2].seq), (3, 0, 2));
    assert!(kept[0].request.starts_with(b"GET /n/0 HTTP/1.1\r\n"));
    assert_eq!(kept[0].expected, "a status from 200 to 299\na body of 4 bytes: Rust");
    assert_eq!(
        (&kept[0].received, kept[0].is_cut, kept[0].lacks_beginning),
        (&wrong, false, false)
    );

    let tally = run.press(Simulated::new(at_once, move |now| in_pieces(now, &wrong, 10)));
    let seen: Vec<(bool, usize)> =
        tally.evidence.iter().map(|kept| (kept.lacks_beginning, kept.received.len())).collect();
    assert_eq!(seen, [(false, 42); 3], "in several reads, from the first answer on");
}

/// An answer that takes several reads, each of this many bytes at most.
fn in_pieces(now: Nanos, bytes: &[u8], each: usize) -> Vec<(Nanos, Act)> {
    let piece =
        |(at, piece): (usize, &[u8])| (now + (1 + at as u64) * MILLI, Act::Send(piece.to_vec()));
    bytes.chunks(each).enumerate().map(piece).collect()
}

#[test]
fn of_a_long_wrong_answer_in_several_reads_the_beginning_is_kept() {
    let mut long = b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n".to_vec();
    long.extend((0..6000_u32).map(|place| b'a' + (place % 26) as u8));
    let run = Run { total: 3, ..closed(1) };
    for (each, kept_len) in [(1_000, 2 << 10), (9_000, 4 << 10)] {
        let long_again = long.clone();
        let tally =
            run.press(Simulated::new(at_once, move |now| in_pieces(now, &long_again, each)));
        let kept = &tally.evidence[0];
        assert!(kept.is_cut && !kept.lacks_beginning, "in pieces of {each}");
        assert!(kept.received == long[..kept_len], "in pieces of {each}");
    }
}

#[test]
fn what_came_of_a_lost_answer_is_not_taken_for_the_next_one() {
    let wrong = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nRuss".to_vec();
    let mut count = 0;
    let expected = wrong.clone();
    let server = move |now: Nanos| {
        count += 1;
        match count {
            1..=5 => {
                vec![(now + MILLI, Act::Send(GOOD[..20].to_vec())), (now + 2 * MILLI, Act::Reset)]
            }
            _ => in_pieces(now, &wrong, 30),
        }
    };
    let tally = Run { total: 6, ..closed(1) }.press(Simulated::new(at_once, server));
    let last = tally.evidence.last().unwrap();
    assert_eq!((last.seq, &last.received), (5, &expected));
}

#[test]
fn a_close_that_was_announced_and_one_that_was_not_are_distinguished() {
    let run = Run { total: 50, ..closed(1) };
    let announced = [Act::Send(super::LAST.to_vec()), Act::Fin];
    let tally = run.press(Simulated::new(at_once, always(MILLI, &announced)));
    assert_eq!((tally.notes.announced_closes, tally.notes.idle_closed), (50, 0));
    let silent = [Act::Send(GOOD.to_vec()), Act::Fin];
    let tally = run.press(Simulated::new(at_once, always(MILLI, &silent)));
    assert_eq!(tally.notes.announced_closes, 0);
    assert_eq!(tally.notes.idle_closed + tally.notes.stale_retries, 50, "{:?}", tally.notes);
}

/// Answers whose second half comes late: of every tenth request after `late`, of the others with the first.
fn in_halves(late: Nanos) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    let mut count = 0;
    let (head, rest) = GOOD.split_at(GOOD.len() / 2);
    move |now| {
        count += 1;
        let begun = now + MILLI;
        let whole = if count % 10 == 0 { begun + late } else { begun };
        vec![(begun, Act::Send(head.to_vec())), (whole, Act::Send(rest.to_vec()))]
    }
}

#[test]
fn the_longest_receipt_is_from_the_first_byte_of_an_answer_to_its_last() {
    let total = |late: Nanos, until: Nanos| {
        let run = Run { until, ..open(100, 50) };
        run.record([Simulated::new(at_once, in_halves(late))]).total
    };
    let slow = total(70 * MILLI, 2 * SECOND);
    assert_eq!(slow.correct, 100, "{:?}", classes(&slow));
    assert_eq!(slow.receipt, Some(Receipt { longest: 70 * MILLI, given_up: 0 }));
    let at_once = total(0, 2 * SECOND);
    assert_eq!(at_once.receipt, Some(Receipt { longest: 0, given_up: 0 }), "one read has all");
    // Given up after the time-out of 5 s, a millisecond of which was the wait for the first byte.
    let never = total(never(), 2 * SECOND);
    let longest = 5 * SECOND - MILLI;
    assert_eq!(never.receipt, Some(Receipt { longest, given_up: 10 }), "{:?}", classes(&never));
    assert_eq!(Tally::new(SECOND).receipt, None, "nothing had begun");
}

#[test]
fn a_receipt_of_the_warm_up_is_none_of_the_measured_time() {
    let run = Run { warmup: SECOND, until: SECOND, ..open(100, 50) };
    let mut is_first = true;
    let first_is_slow = move |now: Nanos| {
        let late = if std::mem::take(&mut is_first) { 500 * MILLI } else { 20 * MILLI };
        let (head, rest) = GOOD.split_at(GOOD.len() / 2);
        let begun = now + MILLI;
        vec![(begun, Act::Send(head.to_vec())), (begun + late, Act::Send(rest.to_vec()))]
    };
    let total = run.record([Simulated::new(at_once, first_is_slow)]).total;
    assert_eq!(total.receipt, Some(Receipt { longest: 20 * MILLI, given_up: 0 }));
}
