//! The cases of HTTP/2 against known servers: the oracle keeps every clause, and servers that do the same whatever is
//! requested get next to nothing.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use check::{
    Case, CaseVerdict, CheckPlan, Finding, Help, Report, Scheduling, Target, VerdictCounts,
    catalogue, check,
};

use units::rfc9113::PING;
pub(crate) use units::rfc9113::{ACK, DATA, GOAWAY, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE};

use crate::controls::{Control, always, assert_low, serve};
use crate::{Revives, oracle, plan, points, run, some, verdicts};

/// The memory of a server within the test's own process is not known; floods are judged by what it answers.
struct Steady;

impl Help for Steady {
    fn memory(&self) -> Option<u64> {
        Some(1 << 20)
    }
}

pub(crate) fn cases() -> Vec<&'static Case> {
    let cases = catalogue().iter().filter(|case| case.protocol().is_http2());
    cases.filter(|case| case.scheduling != Scheduling::Slow).collect()
}

pub(crate) fn target(address: SocketAddr) -> Target {
    Target {
        get: "/hello".into(),
        posts: vec!["/user".into()],
        is_http2: true,
        ..Target::at(address)
    }
}

/// What did not pass.
fn amiss(report: &Report) -> Vec<String> {
    let is_amiss = |verdict| !matches!(verdict, CaseVerdict::Pass | CaseVerdict::NotApplicable);
    let amiss = report.findings.iter().filter(|finding| is_amiss(finding.verdict));
    amiss.map(|it| format!("{} {}: {} {:?}", it.id, it.verdict.name(), it.why, it.rounds)).collect()
}

#[test]
fn the_oracle_keeps_every_clause_of_http2() {
    let (_oracle, address) = oracle();
    let report = check(&CheckPlan::new(target(address), cases()), &Steady, &mut |_| {});
    points(&report);
    assert_eq!(amiss(&report), Vec::<String>::new());
}

fn checked(treat: impl Fn(TcpStream) + Send + Sync + 'static) -> Report {
    run(&plan(target(serve(treat)), cases(), 1))
}

/// A frame that the client has sent: its kind, its flags, its stream, its payload.
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: [u8; 4],
    pub(crate) payload: Vec<u8>,
}

pub(crate) const WHOLE: u8 = 5;
pub(crate) const ZERO: [u8; 4] = [0; 4];
/// `:status: 200` by its place.
pub(crate) const OK: &[u8] = b"\x88";
/// PROTOCOL_ERROR on the last stream 0.
pub(crate) const PROTOCOL_ERROR: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 1];

pub(crate) fn said(kind: u8, flags: u8, stream: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream);
    frame.extend(payload);
    frame
}

/// The preface, our SETTINGS, and then each frame; what is returned for it is sent. None ends the connection.
pub(crate) fn converse(mut client: TcpStream, answer: impl FnMut(&Frame) -> Option<Vec<u8>>) {
    if client.read_exact(&mut [0; 24]).is_ok() {
        converse_on(client, answer);
    }
}

/// A conversation after the preface.
pub(crate) fn converse_on(
    mut client: TcpStream,
    mut answer: impl FnMut(&Frame) -> Option<Vec<u8>>,
) {
    let _ = client.write_all(&said(SETTINGS, 0, ZERO, b""));
    let mut head = [0; 9];
    while client.read_exact(&mut head).is_ok() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let stream = [head[5], head[6], head[7], head[8]];
        let mut frame = Frame { kind: head[3], flags: head[4], stream, payload: vec![0; length] };
        if client.read_exact(&mut frame.payload).is_err() {
            return;
        }
        let Some(said) = answer(&frame) else { return };
        if client.write_all(&said).is_err() {
            return;
        }
    }
}

/// What every server owes: acknowledgements.
pub(crate) fn owed(frame: &Frame) -> Option<Vec<u8>> {
    match (frame.kind, frame.flags) {
        (SETTINGS, flags) if flags & ACK == 0 => Some(said(SETTINGS, ACK, ZERO, b"")),
        (PING, flags) if flags & ACK == 0 => Some(said(PING, ACK, ZERO, &frame.payload)),
        _ => None,
    }
}

/// What is owed, or nothing.
pub(crate) fn keep_quiet(frame: &Frame) -> Option<Vec<u8>> {
    owed(frame).or(Some(vec![]))
}

/// 200 on every stream.
pub(crate) fn consent(frame: &Frame) -> Option<Vec<u8>> {
    match frame.kind {
        HEADERS => Some(said(HEADERS, WHOLE, frame.stream, OK)),
        _ => keep_quiet(frame),
    }
}

#[test]
fn a_server_that_does_the_same_whatever_is_requested_gets_next_to_nothing() {
    let controls: [Control; 9] = [
        ("closes at once", 2.0, drop),
        ("closes after its SETTINGS", 2.0, |client| converse(client, |_| None)),
        ("closes at the first request", 2.0, |client| {
            converse(client, |it| if it.kind == HEADERS { None } else { keep_quiet(it) });
        }),
        ("always sends GOAWAY", 5.0, |client| {
            converse(client, |it| match it.kind {
                SETTINGS => Some([keep_quiet(it)?, said(GOAWAY, 0, ZERO, PROTOCOL_ERROR)].concat()),
                _ => None,
            });
        }),
        ("resets every stream", 5.0, |client| {
            converse(client, |it| match it.kind {
                HEADERS => Some(said(RST_STREAM, 0, it.stream, &[0, 0, 0, 1])),
                _ => keep_quiet(it),
            });
        }),
        ("says nothing", 0.0, |client| always(client, b"")),
        ("says nothing after its SETTINGS", 0.0, |client| converse(client, |_| Some(vec![]))),
        ("only acknowledges", 0.0, |client| converse(client, keep_quiet)),
        ("says yes to everything", 20.0, |client| converse(client, consent)),
    ];
    assert_low(&controls, |treat| points(&checked(treat)));
}

/// Answers the plainest requests, and ends the connection for everything else.
fn refuse_the_rest(client: TcpStream) {
    let gone = || Some(said(GOAWAY, 0, ZERO, PROTOCOL_ERROR));
    let (mut is_greeted, mut has_asked, mut is_over) = (false, false, false);
    converse(client, move |frame| {
        if is_over {
            return None;
        }
        let is_plain = |method: &[u8], path: &[u8], flags: u8| {
            let begin =
                [b"\0\x07:method", method, b"\0\x07:scheme\x04http\0\x0a:authority"].concat();
            let end = [b"\0\x05:path", path].concat();
            let is_short = frame.payload.len() < 90;
            let has_both = frame.payload.starts_with(&begin) && frame.payload.ends_with(&end);
            frame.flags == flags && has_both && is_short
        };
        let is_first = !has_asked && frame.stream == [0, 0, 0, 1];
        has_asked |= frame.kind == HEADERS;
        let answer = match frame.kind {
            SETTINGS if frame.payload.len() == 12 && !is_greeted => owed(frame),
            SETTINGS if frame.flags == ACK && frame.payload.is_empty() => Some(vec![]),
            WINDOW_UPDATE
                if frame.stream == ZERO && !has_asked && frame.payload == [0, 64, 0, 0] =>
            {
                Some(vec![])
            }
            HEADERS if is_first && is_plain(b"\x03GET", b"\x06/hello", WHOLE) => {
                Some(said(HEADERS, WHOLE, frame.stream, OK))
            }
            HEADERS if is_first && is_plain(b"\x04POST", b"\x05/user", 4) => Some(vec![]),
            DATA if frame.flags == 1 && matches!(&frame.payload[..], b"hello" | b"dyno asks") => {
                let body = said(DATA, 1, frame.stream, &frame.payload);
                Some([said(HEADERS, 4, frame.stream, OK), body].concat())
            }
            _ => None,
        };
        is_greeted |= frame.kind == SETTINGS;
        answer.or_else(|| {
            is_over = true;
            gone()
        })
    });
}

fn passed(report: &Report) -> BTreeSet<&str> {
    let passed = report.findings.iter().filter(|it: &&Finding| it.verdict == CaseVerdict::Pass);
    passed.map(|it| it.id.as_str()).collect()
}

/// Between them, every case can fail.
#[test]
fn no_case_is_passed_both_by_a_server_that_takes_everything_and_by_one_that_refuses_everything() {
    let (agrees, refuses) = (checked(|client| converse(client, consent)), checked(refuse_the_rest));
    let of_both: Vec<&str> = passed(&agrees).intersection(&passed(&refuses)).copied().collect();
    println!("{}", amiss(&refuses).join("\n"));
    // The plainest requests are what both take. One case lets a server choose: it keeps the table, or ends the connection
    // for another reason than the table.
    assert_eq!(of_both, ["H2-B01", "H2-B03", "H2-P05"], "{of_both:?}");
}

#[test]
fn a_server_without_http2_does_not_offer_it_and_fails_nothing() {
    let http1 = |mut client: TcpStream| {
        let _ = client.read(&mut [0; 4096]);
        let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    };
    let report = checked(http1);
    let tally = VerdictCounts::of(&report.findings);
    assert_eq!((tally.applicable(), tally.not_applicable), (0, cases().len() - 1));
    let why = &report.findings[0].why;
    assert!(
        why.contains("not offered: the server answers its preface with `HTTP/1.1 400 Bad"),
        "{why}"
    );
}

/// Whether the server below has died.
static IS_DEAD: AtomicBool = AtomicBool::new(false);

/// A server that is right, until it gets a PING that is too short.
fn die_of_a_short_ping(client: TcpStream) {
    if IS_DEAD.load(Ordering::SeqCst) {
        return;
    }
    converse(client, |frame| match frame.kind {
        PING if frame.payload.len() != 8 => {
            IS_DEAD.store(true, Ordering::SeqCst);
            None
        }
        _ => consent(frame),
    });
}

#[test]
fn a_server_that_dies_of_a_case_has_crashed_and_the_rest_goes_on() {
    let few = some(&["H2-B01", "H2-G01", "H2-G04", "H2-G11"]);
    let plan = plan(target(serve(die_of_a_short_ping)), few, 1);
    let revives = Revives(|| IS_DEAD.store(false, Ordering::SeqCst));
    let report = check(&plan, &revives, &mut |_| {});
    let pass = CaseVerdict::Pass;
    assert_eq!(verdicts(&report), [pass, pass, CaseVerdict::Crash, pass], "{:?}", amiss(&report));
    assert!(report.findings[2].why.contains("a plain GET was not answered any more"));
    assert!(report.findings[2].evidence.sent.ends_with(b"1234567"));
}

#[test]
fn nothing_is_said_of_a_server_that_is_not_there() {
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let report = check(&CheckPlan::new(target(address), cases()), &Steady, &mut |_| {});
    let tally = VerdictCounts::of(&report.findings);
    assert_eq!((tally.pass, tally.warn, tally.fail), (0, 0, 1), "{tally}");
}
