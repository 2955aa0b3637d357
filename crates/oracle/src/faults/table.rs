//! The table of the faults of HTTP/1.1 and WebSockets, by the cases of the catalogue of hostile servers.

use std::time::Duration;

use super::Change::{
    Chunked, Fields, Framing, NoAccept, NoUpgrade, OneOctetChunks, OtherAccept, Right, Spoilt,
    StatusLine,
};
use super::Start::{
    Accept, NeverAccepting, Refusing, Request, RequestIn, SocketRequest, StrangersRequest,
};
use super::Step::{
    Answer, AnswerNewest, Await, Drip, Fin, Repeat, Rst, Send, Silence, Swallow, Wait,
};
use super::{FOREVER, Fault, Form, Performance, Spoil, Start, Step};

const BAD: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

const fn fault(
    case: u8,
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    start: Start,
    steps: &'static [Step],
) -> Fault {
    Fault { name, case, about, expect, start, performance: Performance::Steps(steps) }
}

/// Long enough for the peer to have read what was sent before the next step.
const BEAT: Duration = Duration::from_millis(20);
const SUCCESS: &[&str] = &[];
const STATUS: &[&str] = &["content.status"];
const OTHER_BODY: &[&str] = &["content.mismatch"];
const CUT_BODY: &[&str] = &["recv.cut_body"];
const BAD_LENGTH: &[&str] = &["proto.bad_length"];
const BAD_CHUNK: &[&str] = &["proto.bad_chunk"];
const BAD_FIELD: &[&str] = &["proto.field"];
const BAD_STATUS_LINE: &[&str] = &["proto.status_line"];
const TOO_LARGE: &[&str] = &["proto.head_too_large"];
const UNASKED: &[&str] = &["proto.unsolicited"];
const RESET: &[&str] = &["recv.reset", "recv.cut_body"];

/// The client of a WebSocket keeps its connection.
const HELD: &[&str] = &[];
const WS_LENGTH: &[&str] = &["ws.bad_length"];
const WS_CONTROL: &[&str] = &["ws.bad_control"];
const WS_FRAGMENT: &[&str] = &["ws.bad_fragment"];
const WS_BAD_CLOSE: &[&str] = &["ws.bad_goodbye"];
const WS_ACCEPT: &[&str] = &["ws.bad_accept"];
const WS_LARGE: &[&str] = &["limit.message"];
const WS_CUT: &[&str] = &["ws.cut"];

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n\
    Hello, world!";
const KILO: &[u8] = &[b'a'; 1024];
const ZEROS: &[u8] = &[0; 1024];

/// A whole gzip member of 1,051 bytes that unpacks to 1 MiB of zeros. Members may follow one another.
const BOMB_MEMBER: &[u8] = &bomb_member();

const fn bomb_member() -> [u8; 1051] {
    let head =
        *b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x31\x01\0\0\0\xc2\xa0\xf5\x4f\x6d\x08\x5f\xa0";
    let tail = *b"\x3e\x03\x1c\xea\x38\xa7\0\0\x10\0";
    let mut member = [0; 1051];
    let mut at = 0;
    while at < head.len() {
        member[at] = head[at];
        at += 1;
    }
    at = 0;
    while at < tail.len() {
        member[1051 - tail.len() + at] = tail[at];
        at += 1;
    }
    member
}

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    fault(1, "refuse", "refuses every connection",
        &["connect.refused"], Refusing, &[]),
    fault(2, "silent", "accepts, then neither reads nor answers",
        &["recv.first_byte_timeout", "recv.deadline"], Accept, &[Silence]),
    fault(2, "mute", "reads requests and answers none",
        &["recv.first_byte_timeout", "recv.deadline"], Request, &[Swallow]),
    fault(3, "backlog-full", "its accept queue is full, so the kernel drops every SYN",
        &["connect.timeout"], NeverAccepting, &[]),
    fault(4, "fin-at-accept", "ends the connection as soon as it stands",
        &["recv.empty"], Accept, &[Fin]),
    fault(4, "fin-at-request", "reads the request and ends the connection without a word",
        &["recv.empty"], Request, &[Fin]),
    fault(5, "rst-at-accept", "resets the connection as soon as it stands",
        &["recv.reset", "connect.reset", "send.reset"], Accept, &[Rst]),
    fault(5, "rst-at-request", "reads the request and resets the connection",
        // To the client this looks like a reset at accept.
        &["recv.reset", "connect.reset"], Request, &[Rst]),
    fault(5, "rst-after-head", "resets the connection after the answer's head",
        RESET, Request, &[Send(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n"), Wait(BEAT), Rst]),
    fault(5, "rst-mid-body", "resets the connection in the middle of the body",
        RESET, Request, &[Send(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello"), Wait(BEAT), Rst]),
    fault(5, "rst-after-answer", "answers well, then resets the connection",
        SUCCESS, Request, &[Answer(Right), Rst]),
    fault(6, "fin-in-head", "ends the connection in the middle of a header line",
        &["recv.cut_head"], Request, &[Send(b"HTTP/1.1 200 OK\r\nContent-Le"), Fin]),
    fault(6, "fin-in-status-line", "ends the connection in the middle of the status line",
        &["recv.cut_head"], Request, &[Send(b"HTTP/1.1 20"), Fin]),
    fault(7, "cut-body", "announces 1,000 octets, sends ten and ends the connection",
        CUT_BODY, Request, &[Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nHello, wor"), Fin]),
    fault(8, "cut-chunked", "ends the connection before the last chunk",
        CUT_BODY, Request, &[Send(CHUNKED), Send(b"d\r\nHello, world!\r\n"), Fin]),
    fault(8, "cut-chunk", "ends the connection in the middle of a chunk",
        CUT_BODY, Request, &[Send(CHUNKED), Send(b"d\r\nHello"), Fin]),
    fault(9, "garbage-banner", "sends an SSH banner in place of an answer",
        BAD_STATUS_LINE, Request, &[Send(b"SSH-2.0-OpenSSH_9.2p1\r\n"), Answer(Right)]),
    fault(9, "garbage-tls", "sends a TLS alert in place of an answer",
        BAD_STATUS_LINE, Request, &[Send(b"\x15\x03\x01\0\x02\x02\x46\r\n\r\n"), Fin]),
    fault(9, "banner-at-accept", "sends a mail server's banner before it was asked anything",
        &["proto.unsolicited", "proto.surplus", "proto.status_line"], Accept, &[Send(b"220 mail.example ESMTP\r\n")]),
    fault(10, "status-999", "answers with a status that cannot be",
        BAD_STATUS_LINE, Request, &[Answer(StatusLine("HTTP/1.1 999 Odd"))]),
    fault(10, "status-2000", "answers with a status of four digits",
        BAD_STATUS_LINE, Request, &[Answer(StatusLine("HTTP/1.1 2000 OK"))]),
    fault(10, "version-9-9", "answers in HTTP/9.9",
        &["proto.version", "proto.status_line"], Request, &[Answer(StatusLine("HTTP/9.9 200 OK"))]),
    fault(10, "icy", "answers like an old radio stream: ICY 200 OK",
        &["proto.status_line", "proto.version"], Request, &[Answer(StatusLine("ICY 200 OK"))]),
    fault(11, "endless-status-line", "its status line never ends",
        TOO_LARGE, Request, &[Send(b"HTTP/1.1 200 "), Repeat(KILO, FOREVER)]),
    fault(11, "endless-head-line", "a header line never ends",
        TOO_LARGE, Request, &[Send(b"HTTP/1.1 200 OK\r\nX-Long: "), Repeat(KILO, FOREVER)]),
    fault(12, "endless-header-lines", "its header lines never end",
        TOO_LARGE, Request, &[Send(b"HTTP/1.1 200 OK\r\n"), Repeat(b"X-More: and more\r\n", FOREVER)]),
    fault(13, "nul-in-field", "a NUL in a field's value",
        BAD_FIELD, Request, &[Answer(Fields("X-Nul: a\0b\r\n"))]),
    fault(13, "bare-cr", "a bare CR in a field's value",
        BAD_FIELD, Request, &[Answer(Fields("X-Cr: a\rb\r\n"))]),
    fault(13, "bare-lf", "a header line ends in a bare LF",
        BAD_FIELD, Request, &[Answer(Fields("X-Lf: a\n"))]),
    fault(13, "space-before-colon", "white space between a field's name and the colon",
        BAD_FIELD, Request, &[Answer(Fields("X-Space : a\r\n"))]),
    fault(13, "obs-fold", "a header line folded over two lines",
        BAD_FIELD, Request, &[Answer(Fields("X-Fold: a\r\n b\r\n"))]),
    fault(14, "content-length-two", "two different lengths in two lines",
        &["proto.length_conflict"], Request, &[Answer(Framing("Content-Length: 13\r\nContent-Length: 14\r\n"))]),
    fault(14, "content-length-list", "two different lengths in one line",
        &["proto.length_conflict", "proto.bad_length"], Request, &[Answer(Framing("Content-Length: 13, 14\r\n"))]),
    fault(15, "content-length-negative", "Content-Length: -13",
        BAD_LENGTH, Request, &[Answer(Framing("Content-Length: -13\r\n"))]),
    fault(15, "content-length-plus", "Content-Length: +13",
        BAD_LENGTH, Request, &[Answer(Framing("Content-Length: +13\r\n"))]),
    fault(15, "content-length-fraction", "Content-Length: 13.0",
        BAD_LENGTH, Request, &[Answer(Framing("Content-Length: 13.0\r\n"))]),
    fault(15, "content-length-hex", "Content-Length: 0xd",
        BAD_LENGTH, Request, &[Answer(Framing("Content-Length: 0xd\r\n"))]),
    fault(15, "content-length-empty", "a Content-Length without a number",
        BAD_LENGTH, Request, &[Answer(Framing("Content-Length: \r\n"))]),
    fault(15, "content-length-overflow", "Content-Length: 2^64 + 13",
        BAD_LENGTH, Request, &[Answer(Framing("Content-Length: 18446744073709551629\r\n"))]),
    fault(16, "length-and-chunked", "Content-Length beside Transfer-Encoding: chunked",
        &["proto.length_conflict"], Request,
        &[Answer(Chunked("Content-Length: 13\r\nTransfer-Encoding: chunked\r\n"))]),
    fault(17, "chunked-1-0", "chunked in an answer that says HTTP/1.0; then closes",
        SUCCESS, Request,
        &[Send(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!\r\n0\r\n\r\n"), Fin]),
    fault(17, "chunked-204", "a 204 that announces chunks, and sends none",
        STATUS, Request, &[Send(b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n")]),
    fault(17, "chunked-304", "a 304 that announces chunks, and sends none",
        STATUS, Request, &[Send(b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n")]),
    fault(17, "chunked-103", "an interim answer that announces chunks, then the right answer",
        SUCCESS, Request,
        &[Send(b"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n"), Answer(Right)]),
    fault(18, "chunk-size-huge", "a chunk of ffffffffffffffff octets",
        &["proto.bad_chunk", "limit.body", "recv.cut_body"], Request,
        &[Send(CHUNKED), Send(b"ffffffffffffffff\r\nHello, world!\r\n0\r\n\r\n"), Fin]),
    fault(18, "chunk-size-17-digits", "a chunk size that overflows 64 bits to 13",
        BAD_CHUNK, Request,
        &[Send(CHUNKED), Send(b"1000000000000000d\r\nHello, world!\r\n0\r\n\r\n"), Fin]),
    fault(19, "chunk-size-zz", "a chunk size that is no number",
        BAD_CHUNK, Request, &[Send(CHUNKED), Send(b"zz\r\nHello, world!\r\n0\r\n\r\n")]),
    fault(19, "chunk-without-crlf", "no CRLF after a chunk's data",
        BAD_CHUNK, Request, &[Send(CHUNKED), Send(b"d\r\nHello, world!0\r\n\r\n")]),
    fault(20, "huge-chunk-extension", "a chunk extension of 1 GiB",
        TOO_LARGE, Request,
        &[Send(CHUNKED), Send(b"d;x="), Repeat(KILO, 1 << 20), Send(b"\r\nHello, world!\r\n0\r\n\r\n")]),
    fault(20, "huge-trailers", "trailers of 1 GiB",
        TOO_LARGE, Request,
        &[Send(CHUNKED), Send(b"d\r\nHello, world!\r\n0\r\n"), Repeat(b"X-More: and more\r\n", 1 << 26), Send(b"\r\n")]),
    fault(21, "one-octet-chunks", "the right body in chunks of one octet",
        SUCCESS, Request, &[Answer(OneOctetChunks)]),
    fault(21, "million-chunks", "a body of a million chunks of one octet",
        &["content.mismatch", "limit.body"], Request,
        &[Send(CHUNKED), Repeat(b"1\r\nx\r\n", 1_000_000), Send(b"0\r\n\r\n")]),
    fault(22, "endless-body", "a body without a length that never ends",
        &["limit.body", "recv.deadline"], Request,
        &[Send(b"HTTP/1.1 200 OK\r\n\r\n"), Repeat(KILO, FOREVER)]),
    fault(22, "endless-chunks", "chunks that never end",
        &["limit.body", "recv.deadline"], Request,
        &[Send(CHUNKED), Repeat(b"10\r\n0123456789abcdef\r\n", FOREVER)]),
    fault(23, "drip-body", "a body of one octet a second",
        &["recv.deadline"], Request,
        &[Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), Drip(b"drip")]),
    fault(23, "stalled-body", "half a body, and never another octet",
        &["recv.idle_timeout", "recv.deadline"], Request,
        &[Send(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello,"), Silence]),
    fault(24, "drip-head", "a head of one octet a second",
        &["recv.deadline"], Request, &[Send(b"HTTP/1.1 200 OK\r\nX-Slow: "), Drip(b"drip")]),
    fault(25, "surplus-bytes", "the right answer, and octets after it that are none",
        &["proto.surplus"], Request, &[Answer(Right), Send(b"EXTRA")]),
    fault(26, "two-answers", "two whole answers to each request",
        UNASKED, Request, &[Answer(Right), Send(HELLO)]),
    fault(27, "answer-before-request", "answers as soon as the connection stands",
        UNASKED, Accept, &[Send(HELLO)]),
    fault(28, "out-of-order", "answers two pipelined requests in the wrong order",
        // A client that does not pipeline gets nothing for a second.
        &["content.mismatch", "recv.first_byte_timeout"], Request,
        &[Await(Duration::from_secs(1)), AnswerNewest, Answer(Right)]),
    fault(28, "too-few", "answers every second request only",
        &["recv.deadline", "recv.first_byte_timeout"], Request,
        &[Answer(Right), Await(Duration::from_secs(86_400)), Swallow]),
    fault(29, "interim-flood", "100 Continue for ever",
        &["proto.interim_flood"], Request, &[Repeat(b"HTTP/1.1 100 Continue\r\n\r\n", FOREVER)]),
    fault(29, "interim-nine", "nine interim answers, then the right one",
        &["proto.interim_flood"], Request, &[Repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n", 9), Answer(Right)]),
    fault(29, "interim-eight", "eight interim answers, then the right one",
        SUCCESS, Request, &[Repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n", 8), Answer(Right)]),
    fault(29, "unasked-100", "a 100 Continue that was not requested, then the right answer",
        SUCCESS, Request, &[Send(b"HTTP/1.1 100 Continue\r\n\r\n"), Answer(Right)]),
    fault(30, "unasked-101", "switches to a protocol that was not requested",
        &["proto.unexpected_101"], Request,
        &[Send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")]),
    fault(31, "redirect-loop", "redirects to itself",
        STATUS, Request, &[Send(b"HTTP/1.1 302 Found\r\nLocation: /hello?fault=redirect-loop\r\nContent-Length: 0\r\n\r\n")]),
    fault(31, "redirect-elsewhere", "redirects to another host",
        STATUS, Request, &[Send(b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n")]),
    fault(31, "redirect-file", "redirects to a file",
        STATUS, Request, &[Send(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")]),
    fault(31, "redirect-metadata", "redirects to a cloud's metadata address",
        STATUS, Request,
        &[Send(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nContent-Length: 0\r\n\r\n")]),
    fault(32, "retry-after-503", "503, to be retried in thirty years",
        STATUS, Request, &[Send(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n")]),
    fault(32, "retry-after-408", "408, to be retried in thirty years, and closes",
        STATUS, Request,
        &[Send(b"HTTP/1.1 408 Request Timeout\r\nRetry-After: 1000000000\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), Fin]),
    fault(33, "ask-credentials", "401: asks for credentials",
        STATUS, Request,
        &[Send(b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"dyno\"\r\nContent-Length: 0\r\n\r\n")]),
    fault(33, "cookie-1-mib", "a cookie of 1 MiB",
        TOO_LARGE, Request,
        &[Send(b"HTTP/1.1 200 OK\r\nSet-Cookie: crumb="), Repeat(KILO, 1024), Send(b"\r\nContent-Length: 0\r\n\r\n")]),
    fault(34, "close-lies-open", "says `Connection: close` and keeps it open",
        SUCCESS, Request, &[Answer(Fields("Connection: close\r\n"))]),
    fault(34, "keep-alive-lies-close", "says `Connection: keep-alive` and closes",
        SUCCESS, Request, &[Answer(Fields("Connection: keep-alive\r\n")), Fin]),
    fault(35, "gzip-bomb", "1 MiB of gzip that unpacks to 1 GiB",
        &["limit.ratio", "content.decode", "content.mismatch", "limit.body"], Request,
        &[Send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1076224\r\n\r\n"), Repeat(BOMB_MEMBER, 1024)]),
    fault(35, "stacked-codings", "says that its body is gzipped ten times over",
        &["content.decode", "content.mismatch", "limit.ratio"], Request,
        &[Send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip\r\nContent-Length: 1051\r\n\r\n"), Send(BOMB_MEMBER)]),
    fault(36, "error-page-200", "an error page with status 200",
        OTHER_BODY, Request,
        &[Send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 43\r\n\r\n<html><h1>500 Something broke</h1></html>\r\n")]),
    fault(36, "case-sensitive", "400 to a request that writes `host` in lower case",
        SUCCESS, RequestIn(Form::LowerCase), &[Send(BAD)]),
    fault(36, "unknown-field", "400 to a request with a field whose name begins with x-unknown",
        SUCCESS, RequestIn(Form::UnknownField), &[Send(BAD)]),
    fault(36, "no-other-spaces", "400 to a request without exactly one space around the value of Host, before it",
        SUCCESS, RequestIn(Form::Spaces), &[Send(BAD)]),
    fault(36, "host-first", "400 to a request whose first field is not Host",
        SUCCESS, RequestIn(Form::HostLater), &[Send(BAD)]),
    fault(36, "split-head", "400 to a request whose head is read in several pieces",
        SUCCESS, RequestIn(Form::SplitHead), &[Send(BAD)]),
    fault(37, "cheat-user-agent", "answers well only to requests whose head says dyno",
        OTHER_BODY, StrangersRequest, &[Answer(Spoilt(Spoil::OtherBody))]),
    fault(37, "cheat-canned", "answers Hello, world! to anything: only canary requests find out",
        SUCCESS, Request, &[Send(HELLO), Swallow]),
    fault(38, "html-in-head", "markup and script in its Server field",
        SUCCESS, Request, &[Answer(Fields("X-Powered-By: <script>alert(1)</script>\r\n"))]),
    fault(38, "ansi-headers", "terminal escapes in a field's value",
        BAD_FIELD, Request, &[Answer(Fields("X-Powered-By: \x1b]0;owned\x07\x1b[31mred\r\n"))]),
    fault(38, "ansi-reason", "terminal escapes in the reason phrase",
        BAD_STATUS_LINE, Request, &[Answer(StatusLine("HTTP/1.1 200 \x1b[2J\x1b[31mOK"))]),
    fault(38, "ansi-body", "terminal escapes in the body",
        OTHER_BODY, Request,
        &[Send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\n\x1b[31mHello\x1b[0m")]),
    fault(41, "ws-wrong-accept", "its handshake proves another key",
        WS_ACCEPT, SocketRequest, &[Answer(OtherAccept)]),
    fault(41, "ws-no-accept", "its handshake proves nothing",
        WS_ACCEPT, SocketRequest, &[Answer(NoAccept)]),
    fault(41, "ws-200", "answers a handshake with status 200",
        &["ws.not_switched"], SocketRequest, &[Answer(StatusLine("HTTP/1.1 200 OK"))]),
    fault(41, "ws-no-upgrade", "switches without saying to what",
        &["ws.no_upgrade"], SocketRequest, &[Answer(NoUpgrade)]),
    fault(41, "ws-extension", "agrees to an extension that was not offered",
        &["ws.not_offered"], SocketRequest, &[Answer(Fields("Sec-WebSocket-Extensions: permessage-deflate\r\n"))]),
    fault(41, "ws-subprotocol", "agrees to a subprotocol that was not offered",
        &["ws.not_offered"], SocketRequest, &[Answer(Fields("Sec-WebSocket-Protocol: chat\r\n"))]),
    fault(42, "ws-masked", "masks a frame, as only a client may",
        &["ws.masked"], SocketRequest, &[Answer(Right), Send(b"\x81\x82\x01\x02\x03\x04Ik")]),
    fault(43, "ws-reserved-bit", "sets the bit of a compression that was not agreed on",
        &["ws.reserved_bits"], SocketRequest, &[Answer(Right), Send(b"\xc1\x02Hi")]),
    fault(43, "ws-reserved-opcode", "an operation that does not exist",
        &["ws.opcode"], SocketRequest, &[Answer(Right), Send(b"\x83\x02Hi")]),
    fault(43, "ws-long-length", "two bytes for a length that one would do for",
        WS_LENGTH, SocketRequest, &[Answer(Right), Send(b"\x81\x7e\0\x02Hi")]),
    fault(43, "ws-negative-length", "a length of 64 bits with the highest one set",
        WS_LENGTH, SocketRequest, &[Answer(Right), Send(b"\x82\x7f\x80\0\0\0\0\0\0\x02Hi")]),
    fault(43, "ws-control-126", "a ping of 126 bytes",
        WS_CONTROL, SocketRequest, &[Answer(Right), Send(b"\x89\x7e\0\x7e"), Repeat(b"p", 126)]),
    fault(43, "ws-fragmented-ping", "a ping in two fragments",
        WS_CONTROL, SocketRequest, &[Answer(Right), Send(b"\x09\x01p\x80\x01p")]),
    fault(43, "ws-continuation", "goes on with a message that was not begun",
        WS_FRAGMENT, SocketRequest, &[Answer(Right), Send(b"\x80\x02Hi")]),
    fault(43, "ws-text-within-text", "begins a message within another",
        WS_FRAGMENT, SocketRequest, &[Answer(Right), Send(b"\x01\x02Hi\x81\x02Hi")]),
    fault(44, "ws-lying-length", "a frame that announces 100 bytes, has ten, and ends the connection",
        WS_CUT, SocketRequest, &[Answer(Right), Send(b"\x81\x64Hello, wor"), Fin]),
    fault(44, "ws-ping-flood", "pings for ever, and nothing else",
        HELD, SocketRequest, &[Answer(Right), Repeat(b"\x89\x04ping", FOREVER)]),
    fault(44, "ws-endless-fragments", "a message of ever more fragments",
        WS_LARGE, SocketRequest, &[Answer(Right), Send(b"\x02\x01a"), Repeat(b"\0\x01a", FOREVER)]),
    fault(44, "ws-empty-fragments", "a message of ever more fragments with nothing in them",
        WS_LARGE, SocketRequest, &[Answer(Right), Send(b"\x01\0"), Repeat(b"\0\0", FOREVER)]),
    fault(44, "ws-huge-message", "a message of 1 GiB of zeros in one frame",
        WS_LARGE, SocketRequest,
        &[Answer(Right), Send(b"\x82\x7f\0\0\0\0\x40\0\0\0"), Repeat(ZEROS, 1 << 20)]),
    fault(44, "ws-bad-utf8", "a text that is none",
        &["ws.not_utf8"], SocketRequest, &[Answer(Right), Send(b"\x81\x04Hi\xc3\x28")]),
    fault(44, "ws-close-1005", "a Close with a code that must not be sent",
        WS_BAD_CLOSE, SocketRequest, &[Answer(Right), Send(b"\x88\x02\x03\xed"), Fin]),
    fault(44, "ws-close-half", "a Close with half a code",
        WS_BAD_CLOSE, SocketRequest, &[Answer(Right), Send(b"\x88\x01\x03"), Fin]),
    fault(44, "ws-cut", "ends the connection without a Close",
        WS_CUT, SocketRequest, &[Answer(Right), Fin]),
    fault(44, "ws-silent", "a right handshake, and never another byte",
        HELD, SocketRequest, &[Answer(Right), Silence]),
];
