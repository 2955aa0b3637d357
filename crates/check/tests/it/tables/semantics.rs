//! RFC 9110 and the part of RFC 9112 that is not syntax: methods, connections, expectations, answers, conditions,
//! limits. Slow cases have shortened copies, which are tested where they are defined.

use check::{CaseVerdict, case};

use super::{Line, bends, breaks, keeps, lacks};
use crate::script::Act::{self, Answer, Close, Flood, Last, Receive, Say, With};
use crate::scripted::Scripted;
use crate::{oracle, plan, run, verdicts};

pub(super) const ONLY_WARN: &[&str] = &[];

const HELLO: Act = Answer(200, "hello");
/// An answer to HEAD.
const HEAD: Act = Say(
    b"HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n",
);
const MISSING: Act = Say(
    b"HTTP/1.1 404 No\r\nDate: {date}\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n",
);
const CONTINUE: Act = Say(b"HTTP/1.1 100 Continue\r\n\r\n");
const REFUSED: Act =
    Say(b"HTTP/1.1 405 No\r\nDate: {date}\r\nAllow: GET\r\nContent-Length: 0\r\n\r\n");
const KEPT: Act = With(200, "Connection: keep-alive\r\n", "hello");
const KEPT_OLD: Act =
    Say(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello");
const ZIPPED: Act = With(200, "Content-Encoding: gzip\r\n", "hello");
const TAGGED: Act = With(200, "ETag: \"a\"\r\n", "hello");
const RETAGGED: Act = With(200, "ETag: \"b\"\r\n", "hello");
const TIMED: Act = With(200, "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "hello");
const TAGGED_AND_TIMED: Act =
    With(200, "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"a\"\r\n", "hello");
const UNMODIFIED: Act = Say(b"HTTP/1.1 304 Not Modified\r\nDate: {date}\r\nETag: \"a\"\r\n\r\n");
const PART: Act = With(206, "Content-Range: bytes 0-0/5\r\n", "h");

pub(super) const TABLE: &[Line] = &[
    // Methods.
    keeps(&["H1-B02"], &[HEAD, Receive, HELLO]),
    lacks(&["H1-M05"], &[HEAD, Receive, HELLO]),
    keeps(&["H1-M04"], &[MISSING, Receive, HELLO]),
    lacks(&["H1-M04"], &[HEAD, Receive, HELLO]),
    keeps(&["H1-B02"], &[Say(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), Close]),
    keeps(&["H1-M05"], &[REFUSED, Receive, HELLO]),
    bends(&["H1-B02"], &[HEAD, Close]),
    bends(&["H1-M05"], &[REFUSED, Close]),
    bends(&["H1-M04"], &[MISSING, Close]),
    breaks(&["H1-B02", "H1-M05"], &[HELLO, Receive, HELLO]),
    breaks(&["H1-M04"], &[Answer(404, "no such page"), Receive, HELLO]),
    breaks(&["H1-B02", "H1-M05"], &[HEAD, Receive, Say(b"hello"), HELLO]),
    breaks(&["H1-B02"], &[HEAD]),
    breaks(&["H1-M05"], &[REFUSED]),
    breaks(&["H1-M04"], &[MISSING]),
    keeps(&["H1-M01"], &[HEAD]),
    bends(&["H1-M01"], &[REFUSED]),
    breaks(&["H1-M01"], &[Last(500, "")]),
    breaks(&["H1-M01"], &[HELLO]),
    breaks(&["H1-M01"], &[]),
    keeps(&["H1-M02"], &[HEAD, Receive, HELLO, Receive, HELLO]),
    breaks(&["H1-M02"], &[Answer(200, ""), Receive, HELLO, Receive, HELLO]),
    lacks(&["H1-M02"], &[HEAD, Receive, HELLO, Receive, Answer(200, "another")]),
    lacks(&["H1-M02"], &[Say(b"HTTP/1.1 200 OK\r\n\r\n"), Receive, HELLO, Receive, HELLO]),
    keeps(&["H1-M03"], &[HEAD, Receive, HELLO]),
    bends(&["H1-M03"], &[Say(b"HTTP/1.1 200 OK\r\n\r\n"), Receive, HELLO]),
    breaks(&["H1-M03"], &[Last(500, "")]),
    lacks(&["H1-M03"], &[REFUSED, Receive, HELLO]),
    keeps(&["H1-M06"], &[REFUSED]),
    keeps(
        &["H1-M06"],
        &[Say(b"HTTP/1.1 200 OK\r\nContent-Type: message/http\r\nContent-Length: 5\r\n\r\nTRACE")],
    ),
    bends(&["H1-M06"], &[HELLO]),
    breaks(
        &["H1-M06"],
        &[Say(b"HTTP/1.1 200 OK\r\nContent-Type: message/http\r\nContent-Length: 21\r\n\r\n\
              Cookie: dyno=secret\r\n")],
    ),
    breaks(&["H1-M06"], &[]),
    keeps(&["H1-M07"], &[Say(b"HTTP/1.1 200 OK\r\nAllow: GET\r\nContent-Length: 0\r\n\r\n")]),
    bends(&["H1-M07"], &[HELLO]),
    breaks(&["H1-M07"], &[Last(500, "")]),
    lacks(&["H1-M07"], &[REFUSED]),
    keeps(&["H1-A09"], &[HELLO]),
    bends(&["H1-A09"], &[REFUSED]),
    breaks(&["H1-A09"], &[Last(400, "")]),
    keeps(&["H1-R09"], &[Last(501, "")]),
    bends(&["H1-R09"], &[Answer(404, "")]),
    bends(&["H1-R09"], &[HELLO]),
    breaks(&["H1-R09"], &[Last(500, "")]),
    breaks(&["H1-R09"], &[Close]),
    keeps(&["H1-R10"], &[Last(400, "")]),
    bends(&["H1-R10"], &[Close]),
    breaks(&["H1-R10"], &[HELLO]),
    // Connections.
    keeps(&["H1-A10"], &[HELLO, Receive, HELLO]),
    bends(&["H1-A10"], &[Last(200, "hello")]),
    // An HTTP/1.0 answer says by its version that it is the last one.
    bends(&["H1-A10"], &[Say(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), Close]),
    breaks(&["H1-A10"], &[KEPT_OLD, Close]),
    breaks(&["H1-A10"], &[HELLO, Close]),
    breaks(&["H1-A10"], &[HELLO]),
    keeps(&["H1-A11"], &[Answer(200, "A"), Answer(200, "B"), Answer(200, "C")]),
    bends(&["H1-A11"], &[Last(200, "A")]),
    breaks(&["H1-A11"], &[Answer(200, "A"), Answer(200, "C"), Answer(200, "B")]),
    bends(&["H1-A11"], &[Answer(200, "A"), Close]),
    keeps(&["H1-C01", "H1-C02", "H1-C03", "H1-C12", "H1-C13", "H1-C14"], &[Last(200, "")]),
    keeps(&["H1-C01", "H1-C12", "H1-C13", "H1-C14"], &[HELLO, Close]),
    breaks(&["H1-C01", "H1-C02", "H1-C12", "H1-C13", "H1-C14"], &[HELLO]),
    breaks(&["H1-C02"], &[HELLO, HELLO, Close]),
    breaks(&["H1-C02"], &[Close]),
    bends(&["H1-C03"], &[HELLO]),
    bends(&["H1-C03"], &[Last(505, "")]),
    breaks(&["H1-C03"], &[Say(b"HTTP/1.1 200 OK\r\n\r\nwhere does it end?")]),
    keeps(&["H1-C04"], &[HELLO]),
    breaks(
        &["H1-C04"],
        &[Say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), Close],
    ),
    keeps(&["H1-C05"], &[Receive, HELLO]),
    bends(&["H1-C05"], &[Last(417, "")]),
    bends(&["H1-C05"], &[Last(505, "")]),
    breaks(&["H1-C05"], &[CONTINUE, Receive, HELLO]),
    keeps(&["H1-C06", "H1-C07", "H1-C15"], &[HELLO]),
    bends(&["H1-C06", "H1-C07", "H1-C15"], &[Last(400, "")]),
    breaks(
        &["H1-C06", "H1-C07", "H1-C15"],
        &[Say(b"HTTP/1.1 101 Now\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")],
    ),
    keeps(&["H1-C15"], &[Say(b"HTTP/1.1 101 Now\r\nUpgrade: h2c\r\n\r\n\0\0\0\x04\0\0\0\0\0")]),
    keeps(&["H1-C08"], &[Last(200, "")]),
    breaks(&["H1-C08"], &[HELLO, Close]),
    lacks(&["H1-C08"], &[Answer(404, "")]),
    keeps(&["H1-C09"], &[KEPT, Receive, KEPT]),
    breaks(&["H1-C09"], &[KEPT, Close]),
    lacks(&["H1-C09"], &[Last(200, "")]),
    keeps(&["H1-C10"], &[HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO]),
    bends(&["H1-C10"], &[HELLO, HELLO, Last(200, "hello")]),
    breaks(&["H1-C10"], &[HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO, HELLO]),
    bends(&["H1-C10"], &[HELLO, Close]),
    breaks(&["H1-C10"], &[Close]),
    keeps(&["H1-C11"], &[HELLO, Answer(200, "dyno-A"), HELLO, Answer(200, "dyno-B")]),
    bends(&["H1-C11"], &[HELLO, Last(200, "dyno-A")]),
    breaks(&["H1-C11"], &[HELLO, HELLO, Answer(200, "dyno-A"), Answer(200, "dyno-B")]),
    breaks(&["H1-C11"], &[HELLO, Answer(200, "dyno-B"), HELLO, Answer(200, "dyno-A")]),
    keeps(&["H1-C18"], &[Last(200, "")]),
    lacks(&["H1-C18"], &[HELLO]),
    breaks(&["H1-C18"], &[With(200, "Connection: close\r\n", "")]),
    // Expectations.
    keeps(&["H1-A13", "H1-P01"], &[CONTINUE, Receive, HELLO]),
    keeps(&["H1-A13"], &[Last(417, "")]),
    keeps(&["H1-P01"], &[Last(200, "")]),
    bends(&["H1-P01"], &[Last(417, "")]),
    breaks(&["H1-A13", "H1-P01"], &[Receive, HELLO]),
    breaks(&["H1-A13", "H1-P01"], &[CONTINUE, Receive, Last(200, "other")]),
    keeps(&["H1-P02"], &[HELLO]),
    keeps(&["H1-P02"], &[CONTINUE, HELLO]),
    bends(&["H1-P02"], &[Last(417, "")]),
    breaks(&["H1-P02"], &[CONTINUE]),
    keeps(&["H1-P03"], &[Last(417, "")]),
    keeps(&["H1-P03"], &[HELLO]),
    bends(&["H1-P03"], &[Last(400, "")]),
    breaks(&["H1-P03"], &[Last(500, "")]),
    // Answers.
    keeps(&["H1-V01", "H1-V03", "H1-V05"], &[HELLO]),
    bends(
        &["H1-V01"],
        &[Say(
            b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
        )],
    ),
    breaks(
        &["H1-V01"],
        &[Say(b"HTTP/1.1 200 OK\r\nDate: Sun Nov  6 08:49:37 1994\r\nContent-Length: 0\r\n\r\n")],
    ),
    breaks(&["H1-V01", "H1-V03"], &[Say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")]),
    lacks(&["H1-V03"], &[Answer(200, "")]),
    keeps(&["H1-V04"], &[REFUSED, Receive, Answer(501, ""), Receive, REFUSED]),
    breaks(&["H1-V04"], &[REFUSED, Receive, Answer(501, ""), Receive, Answer(405, "")]),
    breaks(&["H1-V04"], &[Last(405, "")]),
    lacks(&["H1-V04"], &[HELLO, Receive, Answer(501, ""), Receive, HELLO]),
    breaks(&["H1-V05"], &[With(200, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "")]),
    breaks(&["H1-V05"], &[With(200, "Content-Length: 0\r\n", "")]),
    lacks(&["H1-V05"], &[Answer(404, "")]),
    keeps(&["H1-V06"], &[ZIPPED, Receive, HELLO]),
    bends(&["H1-V06"], &[ZIPPED, Receive, Answer(406, "")]),
    breaks(&["H1-V06"], &[ZIPPED, Receive, ZIPPED]),
    lacks(&["H1-V06"], &[HELLO, Receive, HELLO]),
    keeps(
        &["H1-V07"],
        &[With(200, "Vary: Origin, Accept-Encoding\r\nContent-Encoding: gzip\r\n", "hello")],
    ),
    breaks(&["H1-V07"], &[ZIPPED]),
    lacks(&["H1-V07"], &[HELLO]),
    keeps(&["H1-V08"], &[Answer(404, "")]),
    breaks(&["H1-V08"], &[Say(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")]),
    lacks(&["H1-V08"], &[HELLO]),
    keeps(&["H1-V09"], &[Last(400, "")]),
    bends(&["H1-V09"], &[Say(b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n")]),
    breaks(&["H1-V09"], &[Close]),
    lacks(&["H1-V09"], &[HELLO]),
    // Conditions.
    keeps(&["H1-N01"], &[TAGGED, Receive, UNMODIFIED, Receive, TAGGED]),
    keeps(&["H1-N01"], &[TAGGED, Receive, UNMODIFIED, Close]),
    breaks(&["H1-N01"], &[TAGGED, Receive, TAGGED, Receive, TAGGED]),
    breaks(&["H1-N01"], &[TAGGED, Receive, UNMODIFIED, Say(b"hello"), Receive, TAGGED]),
    lacks(&["H1-N01"], &[HELLO]),
    lacks(&["H1-N01"], &[TAGGED, Receive, RETAGGED, Receive, TAGGED]),
    keeps(&["H1-N02"], &[TAGGED, Receive, UNMODIFIED]),
    breaks(
        &["H1-N02"],
        &[TAGGED, Receive, Say(b"HTTP/1.1 304 Not Modified\r\nDate: {date}\r\n\r\n")],
    ),
    lacks(&["H1-N02"], &[TAGGED, Receive, TAGGED]),
    keeps(&["H1-N03"], &[TAGGED_AND_TIMED, Receive, TAGGED_AND_TIMED]),
    breaks(&["H1-N03"], &[TAGGED_AND_TIMED, Receive, UNMODIFIED]),
    lacks(&["H1-N03"], &[TAGGED]),
    lacks(&["H1-N03"], &[TIMED, Receive, UNMODIFIED]),
    keeps(&["H1-N04", "H1-N05", "H1-N06"], &[TAGGED, Receive, UNMODIFIED, Receive, UNMODIFIED]),
    breaks(&["H1-N04", "H1-N05", "H1-N06"], &[TAGGED, Receive, UNMODIFIED, Receive, TAGGED]),
    lacks(&["H1-N04", "H1-N05", "H1-N06"], &[TAGGED, Receive, TAGGED, Receive, TAGGED]),
    keeps(&["H1-N07"], &[TAGGED]),
    keeps(&["H1-N07"], &[Say(b"HTTP/1.1 200 OK\r\nETag: W/\"\"\r\nContent-Length: 0\r\n\r\n")]),
    breaks(&["H1-N07"], &[Say(b"HTTP/1.1 200 OK\r\nETag: a1\r\nContent-Length: 0\r\n\r\n")]),
    breaks(&["H1-N07"], &[Say(b"HTTP/1.1 200 OK\r\nETag: w/\"a\"\r\nContent-Length: 0\r\n\r\n")]),
    lacks(&["H1-N07"], &[HELLO]),
    keeps(&["H1-N08"], &[TIMED]),
    lacks(&["H1-N08"], &[HELLO]),
    breaks(&["H1-N08"], &[UNMODIFIED]),
    breaks(&["H1-N08"], &[Last(400, "")]),
    keeps(&["H1-N09"], &[TIMED, Receive, UNMODIFIED]),
    breaks(&["H1-N09"], &[TIMED, Receive, TIMED]),
    lacks(&["H1-N09"], &[TIMED, Receive, HELLO]),
    keeps(&["H1-G01"], &[PART]),
    breaks(&["H1-G01"], &[Answer(206, "h")]),
    breaks(&["H1-G01"], &[With(206, "Content-Range: bytes 0-0/5\r\n", "hello")]),
    lacks(&["H1-G01"], &[HELLO]),
    keeps(&["H1-G02"], &[PART, Receive, With(416, "Content-Range: bytes */5\r\n", "")]),
    bends(&["H1-G02"], &[PART, Receive, Answer(416, "")]),
    bends(&["H1-G02"], &[PART, Receive, HELLO]),
    breaks(&["H1-G02"], &[PART, Receive, PART]),
    lacks(&["H1-G02"], &[HELLO, Receive, HELLO]),
    keeps(&["H1-G03"], &[PART, Receive, HELLO]),
    keeps(&["H1-G03"], &[PART, Receive, Last(400, "")]),
    bends(&["H1-G03"], &[PART, Close]),
    breaks(
        &["H1-G03"],
        &[
            PART,
            Receive,
            Say(b"HTTP/1.1 206 Partial\r\nContent-Length: 100000\r\n\r\n"),
            Say(&[b'h'; 100_000]),
        ],
    ),
    breaks(&["H1-G03"], &[PART, Receive, Flood(b"HTTP/1.1 206 Partial\r\n\r\nhello")]),
    lacks(&["H1-G03"], &[HELLO, Receive, HELLO]),
    keeps(&["H1-G04"], &[HELLO]),
    keeps(&["H1-G05"], &[With(200, "Accept-Ranges: bytes\r\n", "hello")]),
    lacks(&["H1-G05"], &[HELLO]),
    breaks(&["H1-G04"], &[With(206, "Content-Range: bytes 0-4/5\r\n", "hello")]),
    breaks(&["H1-G04", "H1-G05"], &[PART]),
    breaks(&["H1-G05"], &[Last(416, "")]),
    // Limits.
    keeps(&["H1-S01"], &[Last(414, "")]),
    bends(&["H1-S01"], &[Last(400, "")]),
    bends(&["H1-S01", "H1-S02", "H1-S03", "H1-S04"], &[HELLO]),
    bends(&["H1-S01", "H1-S02", "H1-S03", "H1-S04", "H1-S05"], &[Last(500, "")]),
    breaks(&["H1-S01", "H1-S02", "H1-S03", "H1-S04"], &[]),
    breaks(&["H1-S01", "H1-S02", "H1-S03", "H1-S04"], &[HELLO, HELLO]),
    breaks(&["H1-S05"], &[HELLO]),
    keeps(&["H1-S02", "H1-S03"], &[Last(431, "")]),
    bends(&["H1-S02", "H1-S03"], &[Last(404, "")]),
    bends(&["H1-S02", "H1-S03"], &[Close]),
    keeps(&["H1-S04"], &[Last(501, "")]),
    keeps(&["H1-S05"], &[Last(413, "")]),
    bends(&["H1-S05"], &[]),
    bends(&["H1-S05"], &[Last(411, "")]),
];

#[test]
fn one_answer_out_of_form_is_held_against_the_server() {
    let (_oracle, address) = oracle();
    let said = |script: &'static [Act]| {
        let (dated, passive) = (case("H1-V01").unwrap(), case("H1-V02").unwrap());
        let server = Scripted::start(address, dated, Box::new(move |_| script));
        verdicts(&run(&plan(server.target(), vec![dated, passive], 1)))
    };
    assert_eq!(said(&[HELLO]), [CaseVerdict::Pass, CaseVerdict::Pass]);
    let without_blank = &[Say(b"HTTP/1.1 200\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n")];
    assert_eq!(said(without_blank), [CaseVerdict::Pass, CaseVerdict::Fail]);
}
