use expect_test::expect;
use load::{Arrivals, End, Failure, Load, Order, Rate, Recording, SECOND};

use crate::load::fixture::{MS, closed, fail, finished, healthy, open, order, told};
use crate::render::Shown;
use crate::render::{self, Screen};
use crate::run::tests::parts;

fn shown(order: Order, change: impl FnOnce(&mut Recording)) -> String {
    let mut recording = healthy();
    change(&mut recording);
    let run = finished(order, recording);
    let screen = Screen::file(80);
    told(&run, |findings| render::text(&findings.document(), screen))
}

/// What an open load with doubts does not have.
#[test]
fn a_healthy_closed_loop() {
    let text = shown(closed(), |_| {});
    let begin = ["closed: ", "verdict", "throughput", "  1.00 ms", "The server", "1.00 ms"];
    let wanted = text.lines().filter(|line| begin.iter().any(|begin| line.starts_with(begin)));
    expect![[r#"
        closed: 10 connections, one request at a time on each, for 10 s
        verdict: valid
        throughput/s  2,000: 20,000 correct answers in 10.0 s
          1.00 ms – 1.20 ms  20,000  ████████████████████████████████████████
        verdict: valid
        The server answered 2,000 requests/s on 10 connections, half of them within
        1.00 ms and 99 % within 1.00 ms."#]]
    .assert_eq(&wanted.collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_open_load_with_failures_and_doubts() {
    let change = |recording: &mut Recording| {
        fail(recording, Failure::Deadline, 600);
        fail(recording, Failure::ConnectRefused, 3);
        let total = &mut recording.total;
        total.blocked.record_many(3 * MS, 5);
        total.notes.stale_retries = 2;
        recording.lanes[0].idle = SECOND / 2;
        recording.lanes[0].cpu_time = 9 * SECOND;
    };
    expect![[r#"
            two · 2026-11-21 13:28 UTC
            GET http://localhost:8080/hello at 127.0.0.1:8080
            open: 2,000 requests/s, evenly spaced, on 10 to 100 connections, for 10 s
            checked: status 2xx of 19,397 answers; the bodies were not compared
            A CPU · Linux 6.18 · server on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno 0.1.0
            · seed 7
            verdict: suspect

            throughput/s  1,940: 19,397 correct answers in 10.0 s
            offered/s     2,000: requests that were due by the schedule
            on time       97%: 19,397 of 20,000 requests that were due were answered
                          correctly within 5.00 s

            response: from when due; service: from when sent (as wrk, hey and ab count)
                                     samples    mean     p50     p90     p99   p99.9     max
            response                  19,997  ≥151ms  1.00ms  1.00ms  ≥5.00s  ≥5.00s  ≥5.00s
            service                   19,997  ≥151ms  1.00ms  1.00ms  ≥5.00s  ≥5.00s  ≥5.00s
            first byte                19,997  ≥151ms  1.00ms  1.00ms  ≥5.00s  ≥5.00s  ≥5.00s
            waited for a connection        5  3.00ms  3.00ms* 3.00ms* 3.00ms* 3.00ms* 3.00ms
            sent late                 20,000  10.0µs  10.0µs  10.0µs  10.0µs  10.0µs  10.0µs
            ≥ requests were given up at the time-out: the true value is no lower · * fewer
            than 10 samples lie beyond this percentile

            response time: number of samples in each range
              1.00 ms – 2.00 ms  19,397  ████████████████████████████████████████
              2.00 ms – 5.00 ms       0
              5.00 ms – 10.0 ms       0
              10.0 ms – 20.0 ms       0
              20.0 ms – 50.0 ms       0
              50.0 ms –  100 ms       0
               100 ms –  200 ms       0
               200 ms –  500 ms       0
               500 ms –  1.00 s       0
               1.00 s –  2.00 s       0
               2.00 s –  5.00 s       0
               5.00 s –  10.0 s     600  █▎

            requests  attempted 20,000 = correct 19,397 + failed 603 + in flight 0
            3 (< 0.1 %) connect.refused: no server listens there
            600 (3.0 %) recv.deadline: the answer began and did not end within the time-out

            connections  0 begun, 0 established, 0 failed
            bytes        0 B sent, 0 B received
            notes        2 sent once more because a reused connection was closed
            dyno         1 thread busy 95 % of the time (waiting for a CPU included),
                         polling 0 %, on a CPU 90 %
                         9.00 s of CPU time, 450 µs a request; sent late p99 10.0 µs
                         5.00 MB of memory at most, 2.00 ms of CPU time for the live view

            What to doubt
            suspect, failures: 603 of 20,000 attempts (3.0 %) failed, mostly recv.deadline
            (the answer began and did not end within the time-out).
              what to do: the latencies are mostly those of the successful requests: find
              the cause, or offer less
            suspect, instrument busy: Dyno's own threads were busy 95 % of the time: the
            rate may be dyno's limit.
              what to do: give dyno more threads (--threads) on CPUs of their own
              (--load-cpus), apart from the server's
            note, not on time: The server did not keep up: 19,397 of the 20,000 requests
            that were due (97 %) were answered correctly within 5.00 s.
              what to do: offer less to see the latency of a server that keeps up, or load
              it in a closed loop (-c) to see its limit

            in short
            verdict: suspect
            The server failed 3.0 % of the requests (603 of 20,000), mostly recv.deadline;
            it answered 97 % of 2,000 requests/s correctly and on time (limit 5.00 s), half
            of them within 1.00 ms, but 3.0 % took 5.00 s or longer; dyno was busy 95 % of
            the time, and may be what did not keep up.
        "#]]
    .assert_eq(&shown(open(), change));
}

#[test]
fn nothing_but_refusals() {
    let change = |recording: &mut Recording| {
        let attempted = recording.total.attempted;
        recording.total = load::Tally::new(5 * SECOND);
        recording.total.attempted = attempted;
        recording.total.correct = attempted;
        recording.total.correct_inside = attempted;
        fail(recording, Failure::ConnectRefused, attempted);
        recording.end = End::GaveUp(Failure::ConnectRefused);
    };
    expect![[r#"
        throughput/s  0: 0 correct answers in 10.0 s

        requests  attempted 20,000 = correct 0 + failed 20,000 + in flight 0
        20,000 (100 %) connect.refused: no server listens there

        What to doubt
        invalid, gave up: Dyno gave up, because every request failed with
        connect.refused (no server listens there).
          what to do: check that the server runs, and that it listens on this address
        invalid, nothing measured: Not one of 20,000 attempts was answered as expected,
        all connect.refused (no server listens there).
          what to do: ask once by hand (curl -v) and compare with what is expected

        in short
        verdict: invalid
        Every one of 20,000 attempts failed, then it gave up: no server listens on
        127.0.0.1:1."#]]
    .assert_eq(&parts(
        &shown(closed(), change),
        &["throughput/s", "requests ", "What to doubt", "in short"],
    ));
}

#[test]
fn offered_sessions_are_said_as_the_requests_that_they_offer() {
    let arrivals = Arrivals::Constant(Rate::per_s(200).unwrap());
    let sessions = order(Load::Sessions { arrivals, calls: 10, max_connections: 100 });
    let text = shown(sessions, |recording| {
        let sessions = &mut recording.total.sessions;
        (sessions.attempted, sessions.complete) = (2_000, 2_000);
    });
    let of_them = |line: &&str| ["sessions", "requests"].iter().any(|word| line.contains(word));
    let lines: Vec<&str> = text.lines().filter(of_them).collect();
    expect![[r#"
        sessions of 10 calls: 2,000 requests/s, evenly spaced, for 10 s
        offered/s     2,000: requests that were due by the schedule
        on time       100%: 20,000 of 20,000 requests that were due were answered
        requests  attempted 20,000 = correct 20,000 + failed 0 + in flight 0
        sessions  attempted 2,000 = complete 2,000 + failed 0 + in flight 0
        The server completed 2,000 of 2,000 sessions of 10 calls, and answered 2,000 of
        2,000 requests/s, half of them within 1.00 ms and 99 % within 1.00 ms."#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn correct_answers_outside_the_measured_time_are_told_apart_from_those_within() {
    let text = shown(closed(), |recording| {
        let total = &mut recording.total;
        (total.correct, total.correct_inside, total.carried_in) = (20_000, 19_993, 3);
    });
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "throughput/s 1,999: 19,993 correct answers in 10.0 s, 3 of them to requests that were due before it; \
        10 more arrived after the measured time";
    assert!(words.contains(says), "{text}");
}

#[test]
fn where_nothing_was_due_no_share_of_it_is_shown() {
    let text = shown(open(), |recording| recording.total = load::Tally::new(5 * SECOND));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("not one request was due"), "{text}");
    assert!(!words.contains("on time"), "no share is not a share of 0: {text}");
    assert!(!words.contains("throughput/s"), "no rate is not a rate of 0: {text}");
}
