//! Requests in several forms: what leaves in two segments, from when its time counts, and which failures have which form.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use wire::RequestForm;

use super::rig::{Run, after, classes, closed, open, sessions};
use super::{GOOD, MILLI, is_about};
use crate::Nanos;
use crate::engine::{Act, Conn, Peer, Simulated};
use crate::tally::Tally;

const BAD: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
const DELAY: Nanos = 5 * MILLI;

/// When each segment came, and the segment.
type Seen = Rc<RefCell<Vec<(Nanos, Conn, Vec<u8>)>>>;

/// Answers whole heads after `DELAY`; `answer` says how, from the head and from whether it came in one segment.
fn server(seen: &Seen, answer: impl Fn(&[u8], bool) -> Vec<u8> + 'static) -> Simulated<'static> {
    let (seen, mut heads) = (Rc::clone(seen), HashMap::<_, Vec<u8>>::new());
    let peer: Peer = Box::new(move |at, conn, era, bytes| {
        seen.borrow_mut().push((at, conn, bytes.to_vec()));
        let head = heads.entry((conn, era)).or_default();
        let is_first = head.is_empty();
        head.extend_from_slice(bytes);
        if !head.ends_with(b"\r\n\r\n") {
            return Vec::new();
        }
        let head = std::mem::take(head);
        vec![(at + DELAY, Act::Send(answer(&head, is_first)))]
    });
    Simulated::reading(peer)
}

fn varied(total: u64, run: Run) -> Run {
    Run { vary: true, total, until: 1_000_000 * MILLI, ..run }
}

fn segments(tally: &Tally) -> (u64, u64) {
    tally.forms.unwrap().of(RequestForm::Segments)
}

#[test]
fn a_second_segment_leaves_a_millisecond_later_and_the_time_counts_from_then() {
    for run in [closed(4), open(4, 200), sessions(10, 20, 0)] {
        let is_sessions = matches!(run.kind, crate::supply::Kind::Sessions { .. });
        let run = varied(if is_sessions { 500 } else { 5_000 }, run);
        let seen = Seen::default();
        let tally = run.press(server(&seen, |_, _| GOOD.to_vec()));
        assert_eq!((tally.correct, classes(&tally)), (5_000, vec![]));
        let (sent, failed) = segments(&tally);
        assert!((30..80).contains(&sent) && failed == 0, "{sent}");
        // No latency has the millisecond, and none of these has a latency.
        assert_eq!(tally.response.count(), 5_000 - sent);
        let (shortest, longest) = tally.response.extremes().unwrap();
        assert!(is_about(shortest, DELAY) && is_about(longest, DELAY), "{shortest} {longest}");
        assert_eq!(tally.flight.correct, u128::from(5_000 * DELAY));
        assert_eq!(tally.flight.unsent, u128::from(sent * MILLI));
        assert_eq!((tally.on_time, tally.forms.unwrap().untimed), (5_000, sent));

        let (mut halves, mut begun) = (0, HashMap::new());
        for (at, conn, piece) in seen.borrow().iter() {
            match begun.remove(conn) {
                Some(began) => {
                    assert_eq!(at - began, MILLI);
                    halves += 1;
                }
                None if piece.ends_with(b"\r\n\r\n") => {}
                None => assert_eq!(begun.insert(*conn, *at), None),
            }
        }
        assert_eq!(halves, sent);
    }
}

#[test]
fn each_form_is_counted_and_its_planted_failures_are_its_own() {
    let is_bad =
        |head: &[u8]| head.windows(b"x-unknown-".len()).any(|it| it == b"x-unknown-".as_slice());
    let answer = move |head: &[u8], _| if is_bad(head) { BAD.to_vec() } else { GOOD.to_vec() };
    let tally = varied(10_000, closed(3)).press(server(&Seen::default(), answer));
    let forms = tally.forms.unwrap();
    assert_eq!(forms.sent.iter().sum::<u64>(), 10_000);
    for form in RequestForm::ALL {
        let (sent, failed) = forms.of(form);
        assert_eq!(failed, if form == RequestForm::Unknown { sent } else { 0 });
        let usual = if form == RequestForm::Segments { 60..150 } else { 2_200..2_800 };
        // A request with one field has no other order.
        let usual = if form == RequestForm::Order { 0..1 } else { usual };
        assert!(usual.contains(&sent), "{form:?} {sent}");
    }
    assert_eq!(classes(&tally), [("content.status", forms.of(RequestForm::Unknown).0)]);
}

#[test]
fn what_was_sent_in_vain_and_then_refused_has_failed_in_its_form() {
    let (mut asked, mut begun) = (0, 0);
    let peer: Peer = Box::new(move |at, _, _, _| {
        asked += 1;
        vec![(at + DELAY, if asked == 1 { Act::Send(GOOD.to_vec()) } else { Act::Fin })]
    });
    let accept = move |now| {
        begun += 1;
        (now + 1, if begun == 1 { Act::Accept } else { Act::Refuse })
    };
    let engine = Simulated::new(accept, after(MILLI)).with_peer(peer);
    let tally = varied(2, closed(1)).press(engine);
    assert_eq!(classes(&tally), [("connect.refused", 1)]);
    let forms = tally.forms.unwrap();
    assert_eq!((forms.sent.iter().sum::<u64>(), forms.failed.iter().sum::<u64>()), (2, 1));
}

/// Answers heads that come in one segment, and does this after each other segment.
fn to_pieces(act: Option<Act>) -> Simulated<'static> {
    Simulated::reading(Box::new(move |at, _, _, bytes| {
        let is_whole = bytes.starts_with(b"GET ") && bytes.ends_with(b"\r\n\r\n");
        let act = if is_whole { Some(Act::Send(GOOD.to_vec())) } else { act.clone() };
        act.into_iter().map(|act| (at + MILLI / 2, act)).collect()
    }))
}

#[test]
fn a_server_that_answers_or_closes_after_the_first_segment_fails_the_requests_in_two() {
    let refuse =
        |head: &[u8], is_first| if is_first { GOOD.to_vec() } else { [BAD, head].concat() };
    let tally = varied(5_000, closed(2)).press(server(&Seen::default(), refuse));
    assert_eq!((segments(&tally).0, segments(&tally).0), segments(&tally));
    for act in [Act::Send(BAD.to_vec()), Act::Fin, Act::Reset] {
        let tally = varied(5_000, closed(2)).press(to_pieces(Some(act)));
        let (sent, failed) = segments(&tally);
        assert!(30 < sent && sent == failed, "{sent} {failed} {:?}", classes(&tally));
        assert_eq!(tally.failed_in_all(), failed);
    }
}

#[test]
fn two_segments_of_which_no_answer_comes_time_out_from_the_second_one() {
    let run = Run { timeout: 20 * MILLI, ..varied(2_000, closed(1)) };
    let tally = run.press(to_pieces(None));
    let (sent, failed) = segments(&tally);
    assert!(5 < sent && sent == failed);
    assert_eq!((tally.response.censored(), tally.forms.unwrap().untimed_given_up), (0, sent));
    assert_eq!(classes(&tally), [("recv.first_byte_timeout", sent)]);
    assert!(u128::from(sent * 20 * MILLI) <= tally.flight.failed, "{:?}", tally.flight);
}

#[test]
fn a_head_in_two_segments_is_no_request_without_an_answer() {
    let body = "[{\"id\":1,\"randomNumber\":7}]";
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let run = Run { meaning: Some(wire::Meaning::Updated(1)), ..varied(2_000, closed(4)) };
    let tally = run.press(server(&Seen::default(), move |_, _| answer.clone().into_bytes()));
    assert!(0 < segments(&tally).0 && tally.correct == 2_000);
    let written = tally.written.unwrap();
    assert_eq!((written.answered_rows, written.unanswered), (2_000, 0));
}
