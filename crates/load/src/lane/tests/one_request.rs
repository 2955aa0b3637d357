//! Connections of HTTP/2 that are made for one request, or for one session: they send it at once.

use super::MILLI;
use super::rig::{Run, classes, closed, open, sessions};
use super::streams::{
    Came, MAX_CONCURRENT_STREAMS, RST_STREAM, against, answer, frame, server, settings,
};
use crate::SECOND;
use crate::engine::Peer;

/// Introduces itself only with its first answer, as servers do that read before they write.
fn reading_first() -> Peer {
    server(|now, _, came| match came {
        Came::Connection | Came::Head(_) | Came::Reset(_) | Came::Window(_) => Vec::new(),
        Came::Request(1, stream) => {
            vec![(now + MILLI, [settings(&[(MAX_CONCURRENT_STREAMS, 1)]), answer(stream)].concat())]
        }
        Came::Request(_, stream) => vec![(now + MILLI, answer(stream))],
    })
}

#[test]
fn one_request_is_sent_with_the_preface() {
    for run in [closed(4), open(4, 100)] {
        let run = Run { keep_alive: false, total: 50, method: "POST", body: "a body", ..run };
        let seen = against(&run, 1, reading_first());
        assert_eq!((seen.correct, classes(&seen)), (50, vec![]));
        let slowest = seen.response.quantile(1.0).unwrap().value;
        assert!(slowest <= 2 * MILLI, "nothing waited for SETTINGS: {slowest}");
    }
    let seen = against(&sessions(3, 100, 20), 1, reading_first());
    assert_eq!((seen.correct, classes(&seen)), (60, vec![]));
    assert_eq!(seen.connections.begun, 20);
    // A pool's connections wait until the server has said what it takes.
    let pool = Run { total: 1, timeout: 100 * MILLI, ..closed(1) };
    assert_eq!(classes(&against(&pool, 1, reading_first())), [("h2.timeout", 1)]);
}

#[test]
fn a_server_that_does_not_introduce_itself_is_no_server_of_http_2() {
    let answers_at_once = server(|now, _, came| match came {
        Came::Request(_, stream) => vec![(now, answer(stream))],
        Came::Connection | Came::Head(_) | Came::Reset(_) | Came::Window(_) => Vec::new(),
    });
    let run = Run { keep_alive: false, total: 5, ..closed(1) };
    let seen = against(&run, 1, answers_at_once);
    assert_eq!((seen.correct, classes(&seen)), (0, vec![("h2.preface", 5)]));
    // Silence is a server that is slow, as far as one can see.
    let mute = server(|_, _, _| Vec::new());
    let run = Run { total: 2, timeout: 100 * MILLI, ..run };
    assert_eq!(classes(&against(&run, 1, mute)), [("recv.first_byte_timeout", 2)]);
}

/// Such a connection sends its request before the SETTINGS of the server have come. If the server then refuses the stream,
/// the request goes out again.
#[test]
fn a_refused_request_that_was_sent_before_settings_goes_out_again() {
    let mut refused = 0;
    let refuses = server(move |now, _, came| match came {
        Came::Connection => vec![(now, settings(&[]))],
        Came::Request(_, stream) if refused < 3 => {
            refused += 1;
            vec![(now, frame(RST_STREAM, 0, stream, &[0, 0, 0, 7]))]
        }
        Came::Request(_, stream) => vec![(now, answer(stream))],
        Came::Head(_) | Came::Reset(_) | Came::Window(_) => Vec::new(),
    });
    let run = Run { keep_alive: false, total: 10, until: SECOND, ..closed(2) };
    let seen = against(&run, 1, refuses);
    assert_eq!((seen.correct, seen.notes.refused, classes(&seen)), (10, 3, vec![]));
}
