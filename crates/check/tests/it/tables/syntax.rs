//! RFC 9112: request lines, Host, fields, framing, chunks, and what happens after an error.

use super::{Line, bends, breaks, keeps};
use crate::script::Act::{self, Answer, Close, Last, Pause, Receive, Reset, Say};

pub(super) const ONLY_WARN: &[&str] = &[];

/// Accepts a page's request.
const PAGE: &[Act] = &[Answer(200, "page")];
/// Sends the body back.
const ECHO: &[Act] = &[Answer(200, "hello")];
/// Refuses, and closes.
const REFUSED: &[Act] = &[Last(400, "no")];
/// Refuses, and closes without having announced it.
const REFUSED_SILENTLY: &[Act] = &[Answer(400, "no"), Close];
/// Refuses, and stays.
const REFUSED_OPEN: &[Act] = &[Answer(400, "no")];
/// Refuses in another way, and closes.
const FORBIDDEN: &[Act] = &[Last(403, "no")];
/// Answers 5xx, and closes.
const BROKEN: &[Act] = &[Last(500, "oh")];
/// Answers 5xx, and stays.
const BROKEN_OPEN: &[Act] = &[Answer(500, "oh")];
/// Closes.
const GONE: &[Act] = &[Close];
/// Two pages.
const TWO: &[Act] = &[Answer(200, "one"), Answer(200, "two")];
/// Waits for ever.
const WAITING: &[Act] = &[];
/// An answer as in HTTP/0.9, before HTTP had versions.
const ANCIENT: &[Act] = &[Say(b"<html>page</html>"), Close];

/// The beginning of an answer.
const BEGUN: &[Act] =
    &[Say(b"HTTP/1.1 200 So\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")];
/// And the connection's end.
const BROKEN_OFF: &[Act] = &[BEGUN[0], Close];

/// Host fields that are wrong.
const HOSTS: &[&str] =
    &["H1-H01", "H1-H02", "H1-H03", "H1-H04", "H1-H05", "H1-H06", "H1-H07", "H1-H08", "H1-H09"];
/// Field lines that are wrong.
const FIELDS: &[&str] =
    &["H1-F01", "H1-F02", "H1-F03", "H1-F04", "H1-F05", "H1-F06", "H1-F07", "H1-F08", "H1-F09"];
/// Content-Length fields that are wrong.
const LENGTHS: &[&str] = &[
    "H1-L01", "H1-L02", "H1-L03", "H1-L04", "H1-L05", "H1-L06", "H1-L07", "H1-L08", "H1-L11",
    "H1-L12", "H1-L13", "H1-L14",
];
/// Transfer-Encoding fields that are wrong.
const CODINGS: &[&str] = &[
    "H1-T01", "H1-T03", "H1-T04", "H1-T05", "H1-T06", "H1-T07", "H1-T08", "H1-T09", "H1-T10",
    "H1-T11", "H1-T12",
];
/// Chunks that are malformed.
const CHUNKS: &[&str] = &[
    "H1-K01", "H1-K02", "H1-K03", "H1-K04", "H1-K05", "H1-K06", "H1-K07", "H1-K08", "H1-K09",
    "H1-K11", "H1-K14", "H1-K15", "H1-K16", "H1-K17",
];
/// Lines that are no request lines.
const NO_LINES: &[&str] =
    &["H1-Q05", "H1-Q06", "H1-Q07", "H1-Q08", "H1-R01", "H1-R02", "H1-R04", "H1-R05", "H1-R06"];

pub(super) const TABLE: &[Line] = &[
    keeps(&["H1-B01"], PAGE),
    keeps(&["H1-B01"], &[Pause(200), Answer(200, "")]),
    breaks(&["H1-B01"], &[Answer(404, "")]),
    breaks(&["H1-B01"], &[Receive]),
    breaks(&["H1-B01"], &[Reset]),
    keeps(&["H1-B03", "H1-B04", "H1-B05", "H1-B06"], ECHO),
    breaks(&["H1-B03", "H1-B04"], &[Answer(200, "hell")]),
    breaks(&["H1-B05", "H1-B06"], FORBIDDEN),
    breaks(&["H1-B05", "H1-B06", "H1-T07", "H1-T08"], TWO),
    breaks(&["H1-B03", "H1-B05"], &[Last(411, "")]),
    bends(&["H1-B04", "H1-B06"], &[Last(411, "")]),
    // Accepted request lines.
    keeps(&["H1-A06", "H1-A07", "H1-A08", "H1-Q01", "H1-Q02"], PAGE),
    bends(&["H1-A06", "H1-Q01", "H1-Q02"], REFUSED),
    bends(&["H1-A08"], &[Last(414, "")]),
    bends(&["H1-Q02"], &[Last(505, "")]),
    keeps(&["H1-A08"], &[Answer(404, "")]),
    breaks(&["H1-A06", "H1-A08", "H1-Q01", "H1-Q02"], WAITING),
    breaks(&["H1-A07"], REFUSED),
    breaks(&["H1-Q01"], &[Answer(404, "")]),
    breaks(&["H1-A06", "H1-A08", "H1-Q02"], GONE),
    keeps(&["H1-A12"], ECHO),
    breaks(&["H1-A12"], REFUSED),
    breaks(&["H1-A12"], &[Answer(200, "h")]),
    // Request lines that can be read in more than one way.
    keeps(&["H1-Q03"], TWO),
    breaks(&["H1-Q03"], PAGE),
    keeps(&["H1-Q04"], PAGE),
    keeps(&["H1-Q03", "H1-Q04"], REFUSED_OPEN),
    bends(&["H1-Q03", "H1-Q04"], GONE),
    breaks(&["H1-Q03", "H1-Q04"], WAITING),
    breaks(&["H1-Q04"], ANCIENT),
    // Lines that are no request lines.
    keeps(NO_LINES, REFUSED_OPEN),
    keeps(&["H1-Q05", "H1-Q06", "H1-R04", "H1-R05"], &[Answer(301, "")]),
    keeps(&["H1-Q08", "H1-R01", "H1-R02", "H1-R03", "H1-R06"], &[Last(505, "")]),
    keeps(&["H1-Q07"], &[Answer(501, "")]),
    bends(&["H1-Q07"], PAGE),
    bends(NO_LINES, FORBIDDEN),
    bends(&["H1-R03"], FORBIDDEN),
    bends(&["H1-Q05", "H1-Q06", "H1-Q08", "H1-R03", "H1-R04", "H1-R06"], GONE),
    breaks(&["H1-Q05", "H1-Q06", "H1-Q08", "H1-R01", "H1-R02", "H1-R04", "H1-R05"], PAGE),
    bends(&["H1-R03"], PAGE),
    breaks(&["H1-R03"], BROKEN),
    breaks(&["H1-R06"], ANCIENT),
    breaks(&["H1-R06"], PAGE),
    breaks(&["H1-Q07", "H1-R04", "H1-R05", "H1-R06"], BROKEN),
    // Not HTTP at all.
    keeps(&["H1-R07", "H1-R08"], REFUSED),
    keeps(&["H1-R07", "H1-R08"], REFUSED_SILENTLY),
    bends(&["H1-R07", "H1-R08"], REFUSED_OPEN),
    bends(&["H1-R07", "H1-R08"], &[Reset]),
    bends(&["H1-R08"], WAITING),
    breaks(&["H1-R07"], WAITING),
    breaks(&["H1-R07", "H1-R08"], PAGE),
    breaks(&["H1-R07", "H1-R08"], BROKEN),
    breaks(&["H1-R08"], &[Say(b"\x15\x03\x01\0\x02\x02\x16"), Close]),
    // Host.
    keeps(HOSTS, REFUSED_OPEN),
    bends(HOSTS, FORBIDDEN),
    bends(&["H1-H01", "H1-H02", "H1-H04", "H1-H06"], GONE),
    bends(&["H1-H06"], &[Last(505, "")]),
    breaks(HOSTS, PAGE),
    breaks(&["H1-H01", "H1-H02", "H1-H03", "H1-H04"], WAITING),
    // Field lines.
    keeps(&["H1-A05", "H1-F11"], ECHO),
    breaks(&["H1-A05", "H1-F11"], REFUSED),
    breaks(&["H1-A05", "H1-F11"], &[Answer(200, "")]),
    keeps(&["H1-F12"], PAGE),
    bends(&["H1-F12", "H1-F13"], REFUSED),
    breaks(&["H1-F12"], BROKEN),
    keeps(&["H1-F13"], &[Answer(200, ""), Close]),
    breaks(&["H1-F13"], PAGE),
    keeps(FIELDS, REFUSED_OPEN),
    keeps(&["H1-F14", "H1-F15", "H1-F16"], REFUSED),
    bends(FIELDS, FORBIDDEN),
    bends(&["H1-F14", "H1-F15", "H1-F16"], FORBIDDEN),
    bends(&["H1-F01", "H1-F02", "H1-F03", "H1-F04", "H1-F05", "H1-F06", "H1-F10"], GONE),
    bends(&["H1-F03", "H1-F15"], BROKEN),
    bends(&["H1-F05", "H1-F06", "H1-F07"], PAGE),
    breaks(&["H1-F01", "H1-F02", "H1-F08", "H1-F09", "H1-F14", "H1-F16"], PAGE),
    breaks(&["H1-F01", "H1-F02", "H1-F05", "H1-F06", "H1-F07", "H1-F08", "H1-F09"], BROKEN),
    breaks(&["H1-F03", "H1-F15"], BROKEN_OPEN),
    breaks(&["H1-F06"], WAITING),
    keeps(&["H1-F03"], &[Last(200, "")]),
    breaks(&["H1-F03"], &[Answer(200, "0\r\n\r\n")]),
    breaks(&["H1-F03"], &[Last(200, "0\r\n\r\n")]),
    breaks(&["H1-F03"], &[Answer(200, "")]),
    keeps(&["H1-F15"], ECHO),
    breaks(&["H1-F15"], &[Answer(200, "")]),
    keeps(&["H1-F04"], &[Answer(200, ""), Answer(200, "page")]),
    breaks(&["H1-F04"], TWO),
    breaks(&["H1-F04"], &[Answer(200, "GET /"), Last(501, "")]),
    keeps(&["H1-F10"], &[Answer(404, "no /%0d%0aX-Dyno-Injected:%20yes")]),
    keeps(&["H1-F10"], &[Answer(200, "\r\nX-Dyno-Injected: yes\r\n")]),
    breaks(
        &["H1-F10"],
        &[Say(
            b"HTTP/1.1 301 So\r\nLocation: /\r\nX-Dyno-Injected: yes\r\nContent-Length: 0\r\n\r\n",
        )],
    ),
    breaks(&["H1-F10"], WAITING),
    // Content-Length.
    keeps(LENGTHS, REFUSED),
    keeps(&["H1-L09", "H1-L15", "H1-L16"], REFUSED),
    keeps(&["H1-L01", "H1-L08"], REFUSED_SILENTLY),
    keeps(&["H1-L09"], &[Answer(413, "")]),
    keeps(&["H1-L15", "H1-L16", "H1-L18"], ECHO),
    keeps(&["H1-L17"], &[Answer(200, "0123456789")]),
    bends(LENGTHS, REFUSED_OPEN),
    bends(&["H1-L10", "H1-L15", "H1-L16", "H1-L17", "H1-L18"], REFUSED_OPEN),
    bends(&["H1-L01", "H1-L05", "H1-L09", "H1-L10", "H1-L15"], FORBIDDEN),
    bends(&["H1-L01", "H1-L06", "H1-L09", "H1-L10", "H1-L16"], BROKEN),
    bends(&["H1-L01", "H1-L08", "H1-L09", "H1-L15"], GONE),
    bends(&["H1-L09"], WAITING),
    // Half an answer does not count as waiting.
    breaks(&["H1-L09", "H1-K09", "H1-R08"], &[Say(b"HTTP/1.1 4")]),
    bends(&["H1-L17", "H1-L18"], &[Last(413, "")]),
    breaks(LENGTHS, ECHO),
    breaks(&["H1-L09", "H1-L10"], ECHO),
    breaks(&["H1-L01", "H1-L07"], BROKEN_OPEN),
    breaks(&["H1-L01", "H1-L10", "H1-L15", "H1-L18"], WAITING),
    breaks(&["H1-L15", "H1-L16", "H1-L18"], &[Answer(200, "")]),
    breaks(&["H1-L17"], &[Answer(200, "01234567")]),
    keeps(&["H1-L10"], GONE),
    keeps(&["H1-L10", "H1-K11"], BROKEN_OFF),
    breaks(&["H1-L10", "H1-K11"], BEGUN),
    // Transfer-Encoding.
    keeps(CODINGS, REFUSED),
    keeps(&["H1-T02"], REFUSED),
    keeps(&["H1-T04", "H1-T07", "H1-T08"], &[Answer(501, "")]),
    keeps(&["H1-T01", "H1-T02", "H1-T06"], &[Last(200, "")]),
    keeps(&["H1-T13", "H1-T14"], ECHO),
    bends(CODINGS, FORBIDDEN),
    bends(&["H1-T01", "H1-T02", "H1-T03", "H1-T04", "H1-T06", "H1-T07"], GONE),
    bends(&["H1-T03", "H1-T05", "H1-T09", "H1-T10", "H1-T11", "H1-T12"], &[Answer(501, "")]),
    bends(&["H1-T03", "H1-T05"], BROKEN),
    bends(&["H1-T07", "H1-T08"], ECHO),
    bends(&["H1-T13", "H1-T14"], REFUSED),
    breaks(&["H1-T01", "H1-T06"], REFUSED_OPEN),
    breaks(&["H1-T01", "H1-T06"], &[Answer(200, "")]),
    breaks(&["H1-T06"], &[Answer(200, ""), Last(400, "")]),
    breaks(&["H1-T01"], &[Last(200, "0\r\n\r\n")]),
    breaks(&["H1-T02"], &[Answer(200, "0\r\n\r\n"), Answer(404, "")]),
    breaks(&["H1-T02"], &[Answer(200, ""), Last(404, "")]),
    breaks(&["H1-T02"], PAGE),
    breaks(&["H1-T03", "H1-T04", "H1-T05", "H1-T09", "H1-T10", "H1-T11", "H1-T12"], ECHO),
    breaks(&["H1-T03", "H1-T04", "H1-T05", "H1-T07", "H1-T08"], WAITING),
    breaks(&["H1-T13", "H1-T14"], &[Answer(200, "5\r\nhello\r\n0\r\n\r\n")]),
    breaks(&["H1-T13", "H1-T14"], WAITING),
    // Chunks that are well-formed.
    keeps(&["H1-A01"], &[Answer(200, "hello0123456789 hello worl")]),
    bends(&["H1-A01"], &[Last(411, "")]),
    breaks(&["H1-A01"], ECHO),
    keeps(&["H1-A02", "H1-A04", "H1-K12", "H1-K13"], ECHO),
    breaks(&["H1-A02", "H1-A04"], REFUSED),
    breaks(&["H1-A02", "H1-A04", "H1-K12", "H1-K13"], &[Answer(200, "")]),
    bends(&["H1-K12", "H1-K13"], REFUSED),
    bends(&["H1-K13"], &[Last(413, "")]),
    bends(&["H1-A03", "H1-K12", "H1-K13", "H1-L17", "H1-L18", "H1-T13", "H1-T14"], GONE),
    keeps(&["H1-A03"], TWO),
    keeps(&["H1-A03"], REFUSED),
    bends(&["H1-A03"], REFUSED_OPEN),
    breaks(&["H1-A03"], PAGE),
    breaks(&["H1-A03"], &[Last(200, "")]),
    // A server that closes after every answer has had no chance to take more.
    keeps(&["H1-A03"], &[Last(200, "hello")]),
    keeps(&["H1-Q03", "H1-F04"], &[Last(200, "")]),
    breaks(&["H1-F04"], &[Last(200, "GET /")]),
    // Chunks that are malformed.
    keeps(CHUNKS, REFUSED),
    keeps(&["H1-K10", "H1-K18", "H1-K19"], REFUSED),
    keeps(&["H1-K09", "H1-K10"], &[Last(413, "")]),
    keeps(&["H1-K11"], GONE),
    bends(CHUNKS, REFUSED_OPEN),
    bends(&["H1-K18", "H1-K19"], REFUSED_OPEN),
    bends(&["H1-K01", "H1-K07", "H1-K09", "H1-K11"], FORBIDDEN),
    bends(&["H1-K01", "H1-K09", "H1-K10", "H1-K11"], BROKEN),
    bends(&["H1-K01", "H1-K09", "H1-K10"], GONE),
    bends(&["H1-K09"], WAITING),
    bends(&["H1-K10", "H1-K18", "H1-K19"], ECHO),
    breaks(CHUNKS, ECHO),
    breaks(&["H1-K01", "H1-K10", "H1-K18", "H1-K19"], BROKEN_OPEN),
    breaks(&["H1-K01", "H1-K10", "H1-K11", "H1-K18", "H1-K19"], WAITING),
    breaks(&["H1-K18"], &[Answer(200, "hel")]),
    // What happens after an error.
    keeps(&["H1-E01", "H1-E02", "H1-E05"], TWO),
    keeps(&["H1-E01", "H1-E02", "H1-E03", "H1-E04"], REFUSED),
    keeps(&["H1-E01", "H1-E02"], &[Answer(404, ""), Answer(200, "")]),
    bends(&["H1-E01", "H1-E02", "H1-E03", "H1-E04"], GONE),
    bends(&["H1-E03", "H1-E04"], BROKEN),
    bends(&["H1-E03", "H1-E04"], FORBIDDEN),
    bends(&["H1-E05"], &[Last(200, "hello")]),
    bends(&["H1-E05"], &[Answer(200, "hello"), Last(400, "")]),
    breaks(&["H1-E01", "H1-E02"], &[Answer(200, ""), Answer(404, ""), Answer(200, "")]),
    breaks(&["H1-E01", "H1-E02"], &[Answer(200, ""), Answer(404, "")]),
    breaks(&["H1-E01", "H1-E02"], &[Answer(404, ""), Answer(404, "")]),
    breaks(&["H1-E01", "H1-E02"], PAGE),
    bends(&["H1-E03", "H1-E04"], REFUSED_OPEN),
    breaks(&["H1-E03", "H1-E04"], &[Answer(400, ""), Answer(200, "")]),
    breaks(&["H1-E03", "H1-E04"], &[Answer(400, ""), Last(200, "")]),
    breaks(&["H1-E05"], ECHO),
    breaks(&["H1-E05"], WAITING),
];
