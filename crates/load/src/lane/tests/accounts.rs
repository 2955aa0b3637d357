//! What is kept of streams that failed, so that their failures can be shown.

use super::MILLI;
use super::rig::{Run, classes, closed, open};
use super::streams::{
    Came, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, RST_STREAM, against, answer, frame,
    requested, server_but,
};
use crate::SECOND;
use crate::engine::Peer;
use crate::evidence::Evidence;

/// `:status: 200`, and a field that is inserted into the table.
const HEAD: &[u8] = &[0x88, 0x40, 1, b'x', 1, b'y'];
const SHOWN: &str = ":status: 200\nx: y\n";

/// Introduces itself, and answers each request by what these frames are for its stream, all in one read.
fn answering(frames: impl Fn(u32) -> Vec<Vec<u8>> + 'static) -> Peer {
    requested(move |now, _, _, stream| vec![(now + MILLI, frames(stream).concat())])
}

fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, HEAD)
}

/// The class, the stream, the reason, and what was received of the first failure.
fn first(run: &Run, peer: Peer) -> (&'static str, u32, String, String) {
    let seen = against(run, 4, peer);
    let Evidence { failure, stream, reason, received, .. } = seen.evidence[0].clone();
    let received = String::from_utf8(received).unwrap();
    (failure.name(), stream.unwrap_or(0), reason.unwrap_or_default(), received)
}

#[test]
fn a_stream_is_shown_with_its_fields_and_the_beginning_of_its_body() {
    let run = Run { total: 4, method: "POST", body: "n={seq}", ..closed(1) };
    let wrong = |stream| {
        if stream != 3 {
            return vec![answer(stream)];
        }
        let parts = [&b"Ru"[..], b"in"].map(|part| frame(DATA, 0, stream, part));
        // Another stream's answer stands between the parts of its body.
        vec![
            head(3),
            parts[0].clone(),
            answer(1),
            parts[1].clone(),
            frame(DATA, END_STREAM, 3, b""),
        ]
    };
    let seen =
        against(&run, 4, answering(move |stream| if stream == 1 { vec![] } else { wrong(stream) }));
    assert_eq!((seen.correct, classes(&seen)), (3, vec![("content.mismatch", 1)]));
    let kept = &seen.evidence[0];
    let request =
        ":method: POST\n:scheme: http\n:authority: h\n:path: /n/1\ncontent-length: 3\n\nn=1";
    assert_eq!(String::from_utf8_lossy(&kept.request), request);
    assert_eq!(String::from_utf8_lossy(&kept.received), format!("{SHOWN}\nRuin"));
    assert_eq!((kept.stream, kept.seq), (Some(3), 1));
    let place = kept.reason.as_deref().unwrap_or_default();
    assert!(place.starts_with("the bodies differ after "), "{place}");
    assert!(!kept.is_cut && !kept.lacks_beginning);
}

/// Bodies that take many reads, all at once on their streams: of each, its own beginning is kept.
#[test]
fn a_body_of_many_reads_is_shown_from_its_beginning() {
    let slow = requested(|now, _, _, stream| {
        let begins = [head(stream), frame(DATA, 0, stream, b"begins ")].concat();
        let pieces = (1..=60)
            .map(|nth| (now + nth * MILLI, frame(DATA, 0, stream, &[b'0' + stream as u8; 100])));
        let end = (now + 70 * MILLI, frame(DATA, END_STREAM, stream, b""));
        [(now, begins)].into_iter().chain(pieces).chain([end]).collect()
    });
    let seen = against(&Run { total: 3, ..closed(1) }, 4, slow);
    assert_eq!(classes(&seen), [("content.mismatch", 3)]);
    for kept in &seen.evidence {
        let stream = kept.stream.unwrap();
        let own = format!("{SHOWN}\nbegins {}", stream.to_string().repeat((2 << 10) - 7));
        assert_eq!(String::from_utf8_lossy(&kept.received), own);
        assert!(kept.is_cut && !kept.lacks_beginning);
    }
}

#[test]
fn what_the_server_did_to_a_stream_or_a_connection_is_said() {
    let fields = |payload: &'static [u8]| {
        answering(move |stream| vec![frame(HEADERS, END_HEADERS, stream, payload)])
    };
    let ends = |end: fn(u32) -> Vec<u8>| answering(move |stream| vec![head(stream), end(stream)]);
    for (peer, expected, received, says) in [
        (
            ends(|stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 2])),
            "h2.reset",
            SHOWN,
            "the server ended the stream: INTERNAL_ERROR",
        ),
        (
            ends(|_| frame(DATA, 0, 0, b"on the connection")),
            "h2.frame",
            SHOWN,
            "a frame that belongs to a stream came on stream 0 (DATA on stream 0, flags 0x00, 17 octets)",
        ),
        (
            fields(&[0xff, 0]),
            "h2.hpack",
            "",
            r"(HEADERS on stream 1, flags 0x04, 2 octets: \xff\x00)",
        ),
        (
            fields(b"\x88\x40\x01x\x03a\nb"),
            "h2.field",
            ":status: 200\nx: a\\nb\n",
            "control character",
        ),
        // It ends the connection for good when it breaks a rule.
        (
            answering(|stream| {
                let payload = [&stream.to_be_bytes()[..], &[0, 0, 0, 11], b"too much\x1b"].concat();
                vec![frame(GOAWAY, 0, 0, &payload), frame(DATA, 0, 0, b"")]
            }),
            "h2.frame",
            "",
            "stream 0",
        ),
    ] {
        let (class, stream, reason, kept) = first(&Run { total: 1, ..closed(1) }, peer);
        assert_eq!((class, stream, &*kept), (expected, 1, received), "{says}");
        assert!(reason.contains(says), "{says}: {reason}");
    }
}

#[test]
fn a_server_of_another_protocol_is_named() {
    let http1 = || -> Peer {
        server_but(|now, _, came| match came {
            Came::Connection => Some(vec![(now, b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]),
            _ => Some(Vec::new()),
        })
    };
    for run in [closed(1), Run { keep_alive: false, ..closed(1) }, open(1, 10)] {
        let (class, _, reason, received) = first(&Run { total: 1, ..run.clone() }, http1());
        assert_eq!((class, &*received), ("h2.preface", "HTTP/1.1 400 Bad Request\r\n\r\n"));
        // A pool's connection has not sent a request when it fails.
        let seen = against(&Run { total: 1, ..run.clone() }, 4, http1());
        assert_eq!(seen.evidence[0].request.is_empty(), run.keep_alive);
        assert!(reason.ends_with("leave out --http2"), "{reason}");
    }
}

/// More answers are under way at once than their beginnings are kept of: memory stays bounded, and what lacks is said.
#[test]
fn no_more_than_so_many_beginnings_are_kept() {
    let slow = |wrong: u32| {
        requested(move |now, connection, _, stream| {
            let end = if connection == wrong && 150 < stream { b"in" } else { b"st" };
            let begin = [head(stream), frame(DATA, 0, stream, b"Ru")].concat();
            vec![(now, begin), (now + SECOND, frame(DATA, END_STREAM, stream, end))]
        })
    };
    for (wrong, lacks_beginning) in [(0, false), (49, true)] {
        let seen = against(&Run { total: 5_000, ..closed(50) }, 100, slow(wrong));
        assert_eq!(classes(&seen), [("content.mismatch", 25)]);
        assert!(seen.evidence.iter().all(|kept| kept.lacks_beginning == lacks_beginning));
    }
}
