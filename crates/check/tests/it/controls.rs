//! Servers that do the same whatever is requested. What they score shows what a score is worth.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use check::{CaseVerdict, CheckPlan, Finding, Protocol, Report, VerdictCounts, check};

use crate::script::{Act, answer, play};
use crate::scripted::target;
use crate::{NoHelp, SHORT, quick};

/// A server that treats every connection this way, on threads that end with the test.
pub(crate) fn serve(treat: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let treat = Arc::new(treat);
    std::thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            let treat = Arc::clone(&treat);
            std::thread::spawn(move || treat(client));
        }
    });
    address
}

/// All cases for HTTP/1.1, twice, within a time that is enough even on a busy machine.
fn checked(treat: fn(TcpStream)) -> Report {
    const LIMIT: Duration = Duration::from_secs(300);
    let cases = quick().filter(|case| case.protocol() == Protocol::Http);
    let target = target(serve(treat));
    let plan = CheckPlan {
        rounds: 2,
        limit: LIMIT,
        patience: SHORT,
        ..CheckPlan::new(target, cases.collect())
    };
    check(&plan, &NoHelp, &mut |_| {})
}

fn points(treat: fn(TcpStream)) -> f64 {
    let report = checked(treat);
    let tally = VerdictCounts::of(&report.findings);
    let earned =
        |finding: &&Finding| matches!(finding.verdict, CaseVerdict::Pass | CaseVerdict::Warn);
    for finding in report.findings.iter().filter(earned) {
        println!("{} {} {}", finding.id, finding.verdict.name(), finding.why);
    }
    println!("{tally}: {:.1} in {} ms {}", tally.points(), report.took_ms, report.cut_short);
    tally.points()
}

/// Until a client sends something.
fn received(client: &mut TcpStream) -> bool {
    client.read(&mut [0; 16 << 10]).is_ok_and(|count| count > 0)
}

#[test]
fn a_server_that_closes_at_once_gets_nothing() {
    assert!(points(drop) <= 2.0);
}

#[test]
fn a_server_that_closes_at_the_first_octet_gets_nothing() {
    assert!(points(|mut client| _ = received(&mut client)) <= 2.0);
}

#[test]
fn a_server_that_never_answers_gets_nothing() {
    assert!(points(|mut client| while received(&mut client) {}) <= 2.0);
}

#[test]
fn a_server_that_refuses_everything_gets_nothing() {
    let refuse = |mut client: TcpStream| {
        if received(&mut client) {
            play(&[Act::Last(400, "")], &mut client);
        }
    };
    assert!(points(refuse) <= 5.0);
}

#[test]
fn a_server_that_has_no_page_gets_nothing() {
    let refuse = |mut client: TcpStream| {
        while received(&mut client) {
            let _ = client.write_all(&answer(404, "", ""));
        }
    };
    assert!(points(refuse) <= 5.0);
}

#[test]
fn a_server_that_says_yes_to_everything_gets_little() {
    let agree = |mut client: TcpStream| {
        while received(&mut client) {
            let _ = client.write_all(&answer(200, "", ""));
        }
    };
    assert!(points(agree) <= 20.0);
}

/// What is enough for a benchmark: an answer for every empty line, pipelined or not, with a current date.
fn bench(mut client: TcpStream) {
    let (mut last, mut buffer) = ([0; 4], [0; 16 << 10]);
    while let Some(count) = client.read(&mut buffer).ok().filter(|count| *count > 0) {
        for octet in &buffer[..count] {
            last.rotate_left(1);
            last[3] = *octet;
            if &last == b"\r\n\r\n" && client.write_all(&answer(200, "Hello, world!", "")).is_err()
            {
                return;
            }
        }
    }
}

#[test]
fn a_server_that_can_just_run_the_benchmark_gets_little() {
    assert!(points(bench) <= 20.0);
}

#[test]
fn a_server_that_gives_back_whatever_comes_gets_nothing() {
    assert!(points(|mut client| _ = play(&[Act::Mirror], &mut client)) <= 2.0);
}

#[test]
fn a_server_that_floods_gets_nothing_and_does_not_keep_us() {
    assert!(points(|mut client| _ = play(&[Act::Flood(b"flood\r\n")], &mut client)) <= 2.0);
    let answers = |mut client: TcpStream| {
        if received(&mut client) {
            play(&[Act::Answer(200, ""), Act::Flood(b"HTTP/1.1 100 Go\r\n\r\n")], &mut client);
        }
    };
    assert!(points(answers) <= 2.0);
}

#[test]
fn a_server_that_talks_garbage_gets_nothing() {
    let garbage = |mut client: TcpStream| {
        if received(&mut client) {
            play(&[Act::Say(b"\x80\xffHTTP\0\r\n\r\n\x01\x02"), Act::Close], &mut client);
        }
    };
    assert!(points(garbage) <= 2.0);
}

#[test]
fn a_server_that_breaks_off_at_any_stage_gets_nothing() {
    // Each connection gets one more octet of an answer than the one before.
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let stages = |mut client: TcpStream| {
        if received(&mut client) {
            let whole = answer(200, "hello", "");
            let stage = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % whole.len();
            let _ = client.write_all(&whole[..stage]);
        }
    };
    assert!(points(stages) <= 2.0);
}
