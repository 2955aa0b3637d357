//! Servers that do the same whatever is requested. What they score shows what a score is worth.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use check::{CaseVerdict, Finding, Protocol, Report};

use crate::script::{Act, answer, play};
use crate::scripted::target;
use crate::{plan, points, quick, run};

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

/// All cases for HTTP/1.1.
fn checked(treat: fn(TcpStream)) -> Report {
    let cases = quick().filter(|case| case.protocol() == Protocol::Http);
    run(&plan(target(serve(treat)), cases.collect(), 1))
}

fn shown_points(report: &Report) -> f64 {
    let earned =
        |finding: &&Finding| matches!(finding.verdict, CaseVerdict::Pass | CaseVerdict::Warn);
    for finding in report.findings.iter().filter(earned) {
        println!("{} {} {}", finding.id, finding.verdict.name(), finding.why);
    }
    points(report)
}

/// Until a client sends something.
fn received(client: &mut TcpStream) -> bool {
    client.read(&mut [0; 16 << 10]).is_ok_and(|count| count > 0)
}

/// Plays this as soon as a client sends something.
fn once(mut client: TcpStream, acts: &[Act]) {
    if received(&mut client) {
        play(acts, &mut client);
    }
}

/// Says this whatever a client sends.
pub(crate) fn always(mut client: TcpStream, says: &[u8]) {
    while received(&mut client) {
        let _ = client.write_all(says);
    }
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

/// Each connection gets one more octet of an answer than the one before.
fn breaks_off(mut client: TcpStream) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if received(&mut client) {
        let whole = answer(200, "hello", "");
        let stage = NEXT.fetch_add(1, Ordering::Relaxed) % whole.len();
        let _ = client.write_all(&whole[..stage]);
    }
}

/// What a server does, whatever is requested, and how many points it gets at most.
pub(crate) type Control = (&'static str, f64, fn(TcpStream));

/// All at the same time.
pub(crate) fn assert_low(controls: &[Control], points: fn(fn(TcpStream)) -> f64) {
    std::thread::scope(|scope| {
        for (does, most, treat) in controls {
            scope.spawn(move || {
                let points = points(*treat);
                assert!(points <= *most, "a server that {does} gets {points}");
            });
        }
    });
}

const FLOOD_OF_ANSWERS: [Act; 2] = [Act::Answer(200, ""), Act::Flood(b"HTTP/1.1 100 Go\r\n\r\n")];
const GARBAGE: [Act; 2] = [Act::Say(b"\x80\xffHTTP\0\r\n\r\n\x01\x02"), Act::Close];

#[test]
fn a_server_that_does_the_same_whatever_is_requested_gets_next_to_nothing() {
    // Where an answer comes late on a busy machine, a case or two that ask for silence are passed.
    let controls: [Control; 12] = [
        ("closes at once", 2.0, drop),
        ("closes at the first octet", 2.0, |mut client| _ = received(&mut client)),
        ("never answers", 2.0, |client| always(client, b"")),
        ("refuses everything", 5.0, |client| once(client, &[Act::Last(400, "")])),
        ("has no page", 5.0, |client| always(client, &answer(404, "", ""))),
        ("says yes to everything", 22.0, |client| always(client, &answer(200, "", ""))),
        ("can just run the benchmark", 22.0, bench),
        ("gives back whatever comes", 2.0, |mut client| _ = play(&[Act::Mirror], &mut client)),
        ("floods", 2.0, |mut client| _ = play(&[Act::Flood(b"flood\r\n")], &mut client)),
        ("floods with answers", 2.0, |client| once(client, &FLOOD_OF_ANSWERS)),
        ("talks garbage", 2.0, |client| once(client, &GARBAGE)),
        ("breaks off at any stage", 2.0, breaks_off),
    ];
    assert_low(&controls, |treat| shown_points(&checked(treat)));
}
