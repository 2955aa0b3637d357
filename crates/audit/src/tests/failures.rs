//! Which requests failed, as each program counts them.

use super::*;

/// Of the first row: requests, failures at least, and failures at most.
fn counts(name: &str, text: &str) -> (Option<f64>, Option<f64>, f64) {
    let row = read(name, text.as_bytes(), NOTHING).unwrap().rows.remove(0);
    (row.requests, row.failed, row.failed.unwrap_or(0.0) + row.unclear)
}

#[test]
fn kinds_of_failures_of_ab_overlap_and_other_lengths_may_be_right() {
    // The first of its 400 requests was reset, so that the 359 right answers among the others have "another length".
    let text = String::from_utf8(fixture("ab-false.txt")).unwrap();
    assert_eq!(counts("ab", &text), (Some(400.0), Some(40.0), 399.0));
    assert_eq!(found("ab-false.txt", NOTHING)[0].split(' ').nth(1), Some("suspect"));
    let kinds =
        |kinds: &str| text.replace("(Connect: 0, Receive: 40, Length: 359, Exceptions: 40)", kinds);
    let cut = kinds("(Connect: 0, Receive: 0, Length: 40, Exceptions: 0)");
    assert_eq!(counts("ab", &cut), (Some(400.0), Some(0.0), 40.0));
    let refused = kinds("(Connect: 0, Receive: 0, Length: 7, Exceptions: 0)\nNon-2xx responses: 7");
    assert_eq!(counts("ab", &refused), (Some(400.0), Some(7.0), 14.0));
}

#[test]
fn requests_of_lost_connections_are_requests() {
    let wrk = String::from_utf8(fixture("wrk-healthy.txt")).unwrap();
    let lost = "Socket errors: connect 1, read 20, write 3, timeout 50\nNon-2xx or 3xx responses: 60\nRequests/sec:";
    let lost = wrk.replace("Requests/sec:", lost);
    assert_eq!(counts("wrk", &lost), (Some(640_664.0), Some(84.0), 134.0), "a refusal may be late");
    let h2load = String::from_utf8(fixture("h2load-healthy.txt")).unwrap();
    let lost = h2load.replace(
        "5120400 started, 5120003 done, 5120003 succeeded, 0 failed, 0 errored",
        "109 started, 101 done, 101 succeeded, 299 failed, 299 errored",
    );
    assert_eq!(counts("h2load", &lost), (Some(400.0), Some(299.0), 299.0));
}

#[test]
fn requests_that_were_perhaps_never_answered_may_have_failed() {
    let text = String::from_utf8(fixture("wrk-healthy.txt")).unwrap();
    let with = |requests: &str, rate: &str| {
        counts("wrk", &text.replace("640640", requests).replace("64000.10", rate))
    };
    // 0.99 ms × 6,400/s are 6.3 of 64 connections, and 6,600/s are more than a tenth of them.
    assert_eq!(with("64064", "6400.10"), (Some(64_128.0), Some(0.0), 64.0));
    assert_eq!(with("66066", "6600.10"), (Some(66_066.0), Some(0.0), 0.0));
    assert_eq!(with("640", "63.94"), (Some(704.0), Some(0.0), 64.0));
}

#[test]
fn time_outs_of_hey_are_failures_and_requests_that_oha_aborted_are_none() {
    let text = String::from_utf8(fixture("hey-false.txt")).unwrap();
    let with = |error: &str| {
        let text = text.replace("Get \"http://127.0.0.1:8080/\": EOF", error);
        let source = read("hey.txt", text.as_bytes(), NOTHING).unwrap();
        (source.rows[0].requests, source.rows[0].failed)
    };
    let late = "Get \"http://127.0.0.1:8080/\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    assert_eq!(with(late), (Some(200_120.0), Some(50_120.0)));
    assert_eq!(with("aborted due to deadline"), (Some(200_000.0), Some(50_000.0)));
}
