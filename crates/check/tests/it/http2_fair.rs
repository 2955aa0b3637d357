//! Servers of HTTP/2 that do in their own way what the RFC allows, or break it in one place: what is said of each.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::controls::serve;
use crate::http2::{
    ACK, DATA, Frame, GOAWAY, HEADERS, OK, PROTOCOL_ERROR, RST_STREAM, SETTINGS, WHOLE,
    WINDOW_UPDATE, ZERO, consent, converse, converse_on, owed, said, target,
};
use crate::{plan, run, some};

fn verdicts(treat: impl Fn(TcpStream) + Send + Sync + 'static, ids: &[&str]) -> Vec<String> {
    let report = run(&plan(target(serve(treat)), some(ids), 1));
    let findings = report.findings.iter().filter(|it| ids.contains(&it.id.as_str()));
    findings.map(|it| format!("{} {}", it.id, it.verdict.name())).collect()
}

/// Sends the head of its answer only when content can follow it, or when something else is to be said: as nginx does
/// within TLS.
fn hold_the_head_back(client: TcpStream) {
    const HEAD: [u8; 4] = [0, 0, 0, 1];
    let (mut has_window, mut is_held) = (true, false);
    converse(client, move |frame| {
        let answer = || {
            let body = said(DATA, 1, HEAD, b"Hello");
            [said(HEADERS, 4, HEAD, OK), body].concat()
        };
        let mut said_now = owed(frame).unwrap_or_default();
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => {
                has_window = !frame.payload.ends_with(&ZERO);
            }
            HEADERS if has_window => said_now.extend(answer()),
            HEADERS => is_held = true,
            DATA if is_held => {
                is_held = false;
                said_now.extend(said(HEADERS, 4, HEAD, OK));
                said_now.extend(said(RST_STREAM, 0, HEAD, &[0, 0, 0, 5]));
            }
            WINDOW_UPDATE if frame.stream == HEAD => has_window = true,
            _ => {}
        }
        if is_held && has_window {
            is_held = false;
            said_now.extend(answer());
        }
        Some(said_now)
    });
}

#[test]
fn the_head_of_an_answer_may_wait_until_its_content_can_follow() {
    let ids = ["H2-T07", "H2-W01", "H2-W03", "H2-W11"];
    let kept = ids.map(|id| format!("{id} pass"));
    assert_eq!(verdicts(hold_the_head_back, &ids), kept);
}

/// Answers a POST before its content comes, and says that it does not need it.
fn answered_early(frame: &Frame) -> Option<Vec<u8>> {
    let mut answer = consent(frame)?;
    if frame.kind == HEADERS && frame.flags != WHOLE {
        answer.extend(said(RST_STREAM, 0, frame.stream, &ZERO));
    }
    Some(answer)
}

fn answer_early(client: TcpStream) {
    converse(client, answered_early);
}

#[test]
fn a_reset_without_an_error_after_an_answer_refuses_nothing() {
    let ids = ["H2-B03", "H2-T16", "H2-X10", "H2-X11", "H2-X13"];
    let found = verdicts(answer_early, &ids);
    let expected = ["H2-B03 pass", "H2-T16 pass", "H2-X10 fail", "H2-X11 n/a", "H2-X13 fail"];
    assert_eq!(found, expected);
}

/// Notices later that it has an error, too: its second RST_STREAM says so.
fn answer_early_and_notice_later(client: TcpStream) {
    converse(client, |frame| match frame.kind {
        2 => Some(said(RST_STREAM, 0, frame.stream, &[0, 0, 0, 6])),
        _ => answered_early(frame),
    });
}

#[test]
fn a_stream_error_counts_even_after_a_reset_without_an_error() {
    assert_eq!(verdicts(answer_early_and_notice_later, &["H2-G09"]), ["H2-G09 pass"]);
    assert_eq!(verdicts(answer_early, &["H2-G09"]), ["H2-G09 fail"]);
}

/// Sends content only when there is room for all of it.
fn hold_content_back(client: TcpStream) {
    const HEAD: [u8; 4] = [0, 0, 0, 1];
    let (mut window, mut is_owed) = (0, false);
    converse(client, move |frame| {
        let mut said_now = owed(frame).unwrap_or_default();
        let number = frame.payload.last_chunk().map_or(0, |last| u32::from_be_bytes(*last));
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => window = number,
            WINDOW_UPDATE if frame.stream == HEAD => window += number,
            HEADERS => {
                is_owed = true;
                said_now.extend(said(HEADERS, 4, HEAD, OK));
            }
            _ => {}
        }
        if is_owed && window >= 5 {
            is_owed = false;
            said_now.extend(said(DATA, 1, HEAD, b"Hello"));
        }
        Some(said_now)
    });
}

#[test]
fn a_server_may_wait_until_a_window_is_worth_a_frame() {
    let found = verdicts(hold_content_back, &["H2-W02", "H2-W04", "H2-W15"]);
    assert_eq!(found, ["H2-W02 pass", "H2-W04 n/a", "H2-W15 pass"]);
}

/// Begins with GOAWAY if the preface is wrong.
fn begin_with_goaway(mut client: TcpStream) {
    let mut preface = [0; 24];
    let _ = client.read_exact(&mut preface);
    match preface.ends_with(b"SM\r\n\r\n") {
        true => converse_on(client, consent),
        false => drop(client.write_all(&said(GOAWAY, 0, ZERO, PROTOCOL_ERROR))),
    }
}

#[test]
fn a_server_that_refuses_the_preface_owes_no_settings() {
    let found = verdicts(begin_with_goaway, &["H2-V01", "H2-F01"]);
    assert_eq!(found, ["H2-V01 pass", "H2-F01 pass"]);
}

/// Knows GET and POST alone.
fn lack_head(client: TcpStream) {
    converse(client, |frame| match frame.kind {
        HEADERS if frame.payload.windows(4).any(|it| it == b"HEAD") => {
            Some(said(HEADERS, WHOLE, frame.stream, b"\x8d"))
        }
        _ => consent(frame),
    });
}

#[test]
fn a_server_that_lacks_head_is_warned_as_over_http_1_1() {
    assert_eq!(verdicts(lack_head, &["H2-B04"]), ["H2-B04 warn"]);
}
