use expect_test::expect;
use load::{Failure, Folded, Recording, SECOND, Window};

use super::*;
use crate::load::fixture::{MS, answer_after, closed, fail, finished, healthy, open, window};

/// 20,000 requests in 10 s, in two windows of unlike rates; 2,000 of them took 9 ms.
fn run() -> FinishedLoad {
    let mut recording = healthy();
    answer_after(&mut recording.total, &[(18_000, MS), (2_000, 9 * MS)]);
    recording.total.bytes_received = 20_000 * 115;
    recording.total.received_inside = 20_000 * 115;
    (0..20_000).for_each(|_| recording.total.answers.count(200, 115));
    let times = Folded::of(&recording.total.response);
    let window = |from: u64, correct: u64| Window {
        in_flight_area: u128::from(5 * SECOND),
        ..window(from * SECOND..(from + 5) * SECOND, correct, &times)
    };
    recording.windows = vec![window(0, 9_000), window(5, 11_000)];
    finished(closed(), recording)
}

#[test]
fn wrk_s_shape_has_dyno_s_numbers() {
    expect![[r#"
        Running 10s test @ http://localhost:8080/hello
          1 threads and 10 connections
          Thread Stats   Avg      Stdev     Max   +/- Stdev
            Latency     1.80ms    2.40ms   9.00ms   90.00%
            Req/Sec     2.00k   282.84     2.20k   100.00%
          Latency Distribution
             50%    1.00ms
             75%    1.00ms
             90%    1.00ms
             99%    9.00ms
          20000 requests in 10.00s, 2.19MB read
        Requests/sec:   2000.00
        Transfer/sec:    224.61KB
    "#]]
    .assert_eq(&text(&run(), Tool::Wrk, true));
}

#[test]
fn a_length_that_is_no_whole_number_of_seconds_has_two_digits_as_wrk_s_others_have() {
    for (ns, shown) in [(1_060_120_904, "1.06s"), (325_338_239, "325.34ms"), (2_000_000_000, "2s")]
    {
        let mut run = run();
        run.order.stop.duration = None;
        run.recording.measured_until = run.recording.measured_from + ns;
        let text = text(&run, Tool::Wrk, false);
        assert!(text.starts_with(&format!("Running {shown} test @ ")), "{text}");
    }
}

#[test]
fn hey_s_shape_has_dyno_s_numbers() {
    expect![[r#"

        Summary:
          Total:	10.0000 secs
          Slowest:	0.0090 secs
          Fastest:	0.0010 secs
          Average:	0.0018 secs
          Requests/sec:	2000.0000
  
          Total data:	2300000 bytes
          Size/request:	115 bytes

        Response time histogram:
          0.001 [18000]	|■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
          0.002 [0]	|
          0.003 [0]	|
          0.003 [0]	|
          0.004 [0]	|
          0.005 [0]	|
          0.006 [0]	|
          0.007 [0]	|
          0.007 [0]	|
          0.008 [0]	|
          0.009 [2000]	|■■■■


        Latency distribution:
          10% in 0.0010 secs
          25% in 0.0010 secs
          50% in 0.0010 secs
          75% in 0.0010 secs
          90% in 0.0010 secs
          95% in 0.0090 secs
          99% in 0.0090 secs

        Details (average, fastest, slowest):
          DNS+dialup:	0.0000 secs, 0.0000 secs, 0.0000 secs
          resp wait:	0.0018 secs, 0.0010 secs, 0.0090 secs

        Status code distribution:
          [200]	20000 responses
    "#]]
    .assert_eq(&text(&run(), Tool::Hey, false));
}

#[test]
fn hey_s_shape_has_every_answer_by_its_real_status() {
    let mut recording = healthy();
    (0..600).for_each(|_| recording.total.answers.count(204, 100));
    (0..200).for_each(|_| recording.total.answers.count(503, 200));
    (0..200).for_each(|_| recording.total.answers.count(200, 100));
    let text = text(&finished(closed(), recording), Tool::Hey, false);
    assert!(text.contains("Total data:\t120000 bytes\n  Size/request:\t120 bytes\n"), "{text}");
    let statuses = "Status code distribution:\n  [200]\t200 responses\n  [204]\t600 responses\n  [503]\t200 responses\n";
    assert!(text.contains(statuses), "{text}");
}

/// It failed in so many ways.
fn failing() -> Recording {
    let mut recording = healthy();
    let ways = ["connect.refused", "recv.reset", "send.reset", "recv.deadline", "content.status"];
    for (name, times) in ways.into_iter().zip(1..) {
        fail(&mut recording, Failure::named(name).unwrap(), times);
    }
    recording
}

#[test]
fn errors_stand_where_wrk_has_them_and_only_if_there_are_any() {
    let mut recording = failing();
    // A redirect is no error to wrk, whatever was expected.
    for status in [503, 503, 404, 301, 200] {
        recording.total.answers.count(status, 10);
    }
    let run = finished(open(), recording);
    let text = text(&run, Tool::Wrk, false);
    assert!(text.contains("  Socket errors: connect 1, read 2, write 3, timeout 4\n"), "{text}");
    assert!(text.contains("  Non-2xx or 3xx responses: 3\n"), "{text}");
    assert!(!text.contains("Latency Distribution"), "{text}");
    let hey = super::text(&run, Tool::Hey, false);
    assert!(hey.contains("Error distribution:\n  [1]\tGET http://localhost:8080/hello: connect"));
    assert!(hey.contains("  [2]\tGET http://localhost:8080/hello: content.status"), "{hey}");
}

#[test]
fn the_verdict_and_every_doubt_stand_beside_it() {
    let mut recording = healthy();
    fail(&mut recording, Failure::Deadline, 400);
    let lines = beside(&finished(open(), recording));
    assert!(lines[0].starts_with("The server failed 2.0 %"), "{lines:?}");
    assert_eq!(lines[1], "verdict: suspect");
    assert!(lines[2].starts_with("suspect: 400 of 20,000 attempts (2.0 %) failed"), "{lines:?}");
}

#[test]
fn a_load_without_an_answer_divides_by_nothing() {
    let mut recording = healthy();
    recording.total = load::Tally::new(SECOND);
    recording.windows.clear();
    recording.measured_until = recording.measured_from;
    let run = finished(open(), recording);
    for tool in [Tool::Wrk, Tool::Hey, Tool::Zrk] {
        let text = text(&run, tool, true);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}

/// What zrk would write, without its histogram.
fn zrk(run: &FinishedLoad) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(&text(run, Tool::Zrk, false)).unwrap();
    let mut remove = |key: &str| value.as_object_mut().unwrap().remove(key).unwrap().to_string();
    assert!(remove("latency_histogram").starts_with("\"HIST"), "version 2, compressed");
    assert!(remove("zrk_version").starts_with("\"dyno "));
    value
}

#[test]
fn zrk_s_shape_has_the_keys_that_scripts_read() {
    let mut recording = healthy();
    (0..20_000).for_each(|_| recording.total.answers.count(200, 115));
    recording.total.received_inside = 2_300_000;
    expect![[r#"
        {
          "achieved_rate": 2000.0,
          "bytes": 2300000,
          "bytes_per_sec": 230000.0,
          "config": {
            "closed": false,
            "connections": 100,
            "duration_s": 10.0,
            "target_rate": 2000.0,
            "timeout_ms": 5000
          },
          "duration_s": 10.0,
          "error_rate": 0.0,
          "errors": {
            "connect": 0,
            "deadline": 0,
            "non_2xx_3xx": 0,
            "read": 0,
            "timeout": 0,
            "write": 0
          },
          "latency_us": {
            "max": 1000,
            "mean": 1000.0,
            "min": 999,
            "p50": 1000,
            "p75": 1000,
            "p90": 1000,
            "p99": 1000,
            "p99_9": 1000,
            "p99_99": 1000,
            "stdev": 0.0
          },
          "max_schedule_lag_us": 10,
          "rate_ratio": 1.0,
          "requests": 20000,
          "status_codes": {
            "1xx": 0,
            "2xx": 20000,
            "3xx": 0,
            "4xx": 0,
            "5xx": 0
          },
          "target": {
            "method": "GET",
            "url": "http://localhost:8080/hello"
          },
          "target_rate": 2000.0
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&zrk(&finished(open(), recording))).unwrap());
}

#[test]
fn a_closed_loop_has_the_target_that_it_reached_as_zrk_s_has() {
    let found = zrk(&run());
    assert_eq!(found["config"]["closed"], true);
    assert_eq!(
        (&found["target_rate"], &found["rate_ratio"]),
        (&found["achieved_rate"], &1.0.into())
    );
}

#[test]
fn every_failure_is_among_zrk_s_errors() {
    let mut recording = failing();
    fail(&mut recording, Failure::named("content.mismatch").unwrap(), 60);
    (0..5).for_each(|_| recording.total.answers.count(503, 10));
    let errors = &zrk(&finished(open(), recording))["errors"];
    let value_of = |key: &str| errors[key].as_u64().unwrap();
    assert_eq!(
        ["connect", "read", "write", "timeout", "non_2xx_3xx"].map(value_of),
        [1, 62, 3, 4, 5]
    );
}

#[test]
fn an_audit_of_what_has_zrk_s_shape_finds_nothing() {
    let mut recording = healthy();
    (0..20_000).for_each(|_| recording.total.answers.count(200, 115));
    for order in [open(), closed()] {
        let text = text(&finished(order, recording.clone()), Tool::Zrk, false);
        let stated = audit::Stated::default();
        let source = audit::read("zrk.json", text.as_bytes(), stated).unwrap();
        assert_eq!(source.format, audit::Format::Zrk);
        let found = audit::audit(vec![source]);
        assert_eq!(found.verdict(), Some(analysis::Verdict::Valid), "{found:?}");
    }
}
