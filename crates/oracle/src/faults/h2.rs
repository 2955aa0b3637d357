//! The table of the faults of HTTP/2, by the cases of the catalogue of hostile servers.

use std::time::Duration;

use super::acts::Act::{
    Answer, Await, Content, Drip, Fields, Fin, Frame, GoAway, Greet, Mute, Raw, Repeat, Reset, Rst,
    Settings, Silence, Unacknowledging, Wait,
};
use super::acts::On::{Connection, Idle, Last, Own, This};
use super::acts::{Act, FOREVER, Style, USUAL};
use super::{Fault, Performance, Start};
use crate::h2::frames::{
    ACK, CANCEL, CONTINUATION, DATA, ENABLE_PUSH, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM,
    GOAWAY, HEADER_TABLE_SIZE, HEADERS, INITIAL_WINDOW_SIZE, INTERNAL_ERROR,
    MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE, NO_ERROR, PADDED, PING, PRIORITY,
    PROTOCOL_ERROR, PUSH_PROMISE, REFUSED_STREAM, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use crate::h2::hpack::Manner;

const fn stream(
    case: u8,
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    acts: &'static [Act],
) -> Fault {
    Fault { name, case, about, expect, start: Start::Stream, performance: Performance::Acts(acts) }
}

const fn connection(
    case: u8,
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    acts: &'static [Act],
) -> Fault {
    Fault { name, case, about, expect, start: Start::Preface, performance: Performance::Acts(acts) }
}

const SUCCESS: &[&str] = &[];
const RESET: &[&str] = &["h2.reset"];
const REFUSED: &[&str] = &["h2.refused"];
const CALM: &[&str] = &["h2.calm"];
const FRAME: &[&str] = &["h2.frame"];
const HPACK: &[&str] = &["h2.hpack"];
const FLOW: &[&str] = &["h2.flow"];
const LENGTH: &[&str] = &["h2.length"];
const GONE: &[&str] = &["h2.goaway"];
const PREFACE: &[&str] = &["h2.preface"];
const FIELD: &[&str] = &["h2.field"];
const STATUS: &[&str] = &["h2.field"];
const UNANSWERED: &[&str] = &["recv.first_byte_timeout", "recv.deadline"];
const CUT_BODY: &[&str] = &["recv.cut_body"];

const HELLO: &[u8] = b"Hello, world!";
const HEAD: Act =
    Fields(&[(":status", "200"), ("content-type", "text/plain"), ("content-length", "13")], 0);
const BODY: Act = Frame(DATA, END_STREAM, This, HELLO);
const HALF: Act = Frame(DATA, 0, This, b"Hello,");
const WHOLE: Act = Answer(USUAL);
const KILO: &[u8] = &[b'a'; 1024];
const FULL: &[u8] = &[b'a'; 16_384];
const BEAT: Duration = Duration::from_millis(20);
const WHILE: Duration = Duration::from_millis(200);
/// What a right answer's HEADERS have, beside END_HEADERS, is `:status: 200` in one octet.
const OK: &[u8] = b"\x88";
const ENTRY: &[u8] = &entry();

/// A literal of 4,000 octets that is put into the table.
const fn entry() -> [u8; 4006] {
    let head = *b"\x40\x01x\x7f\xa1\x1e";
    let mut entry = [b'a'; 4006];
    let mut at = 0;
    while at < head.len() {
        entry[at] = head[at];
        at += 1;
    }
    entry
}

/// 16,000 references to the entry: 64 MB of fields in a block of 20 kB.
const BOMB: &[u8] = &[0xbe; 16_000];

const fn styled(manner: Manner) -> Act {
    Answer(Style { manner, ..USUAL })
}

#[rustfmt::skip]
pub(super) const STREAMS: &[Fault] = &[
    stream(45, "h2-reset-refused", "resets the stream as refused: not touched", REFUSED, &[Reset(REFUSED_STREAM)]),
    stream(45, "h2-reset-cancel", "resets the stream as cancelled", RESET, &[Reset(CANCEL)]),
    stream(45, "h2-reset-internal", "resets the stream for an error of its own", RESET, &[Reset(INTERNAL_ERROR)]),
    stream(45, "h2-reset-calm", "resets the stream and asks for calm", CALM, &[Reset(ENHANCE_YOUR_CALM)]),
    stream(45, "h2-reset-unknown", "resets the stream with a code that does not exist", RESET, &[Reset(0xdead_beef)]),
    stream(45, "h2-reset-after-head", "resets the stream after the head", RESET, &[HEAD, Reset(INTERNAL_ERROR)]),
    stream(45, "h2-reset-mid-body", "resets the stream in the middle of the body", RESET, &[HEAD, HALF, Reset(CANCEL)]),
    stream(45, "h2-reset-no-error", "resets the stream without an error, in the middle of the body", RESET,
        &[HEAD, HALF, Reset(NO_ERROR)]),
    stream(45, "h2-reset-after-answer", "answers well, then resets the stream without an error", SUCCESS,
        &[WHOLE, Reset(NO_ERROR)]),
    stream(46, "h2-one-octet-data", "the right body in frames of one octet", SUCCESS,
        &[Answer(Style { data_max: 1, ..USUAL })]),
    stream(46, "h2-padded", "pads every frame with 255 octets", SUCCESS,
        &[Answer(Style { padding: Some(255), ..USUAL })]),
    stream(46, "h2-continuation", "the head in CONTINUATION frames of one octet", SUCCESS,
        &[Answer(Style { block_max: 1, ..USUAL })]),
    stream(46, "h2-empty-data", "a hundred empty frames before the body", SUCCESS,
        &[HEAD, Repeat(DATA, 0, This, b"", 100), BODY]),
    stream(46, "h2-empty-data-flood", "empty frames for ever", &["h2.frame", "h2.calm", "recv.deadline"],
        &[HEAD, Repeat(DATA, 0, This, b"", FOREVER)]),
    stream(46, "h2-padding-too-long", "more padding than the frame has room for", FRAME,
        &[HEAD, Frame(DATA, END_STREAM | PADDED, This, b"\xffHello")]),
    stream(46, "h2-continuation-flood", "a head of ever more CONTINUATION frames",
        &["proto.head_too_large", "h2.frame", "h2.calm"],
        &[Frame(HEADERS, 0, This, OK), Repeat(CONTINUATION, 0, This, b"\x00\x01x\x01a", FOREVER)]),
    stream(46, "h2-continuation-empty-flood", "a head of ever more CONTINUATION frames with nothing in them",
        &["h2.frame", "proto.head_too_large", "h2.calm", "recv.deadline"],
        &[Frame(HEADERS, 0, This, OK), Repeat(CONTINUATION, 0, This, b"", FOREVER)]),
    stream(46, "h2-continuation-interrupted", "another frame between the parts of a head", FRAME,
        &[Frame(HEADERS, 0, This, OK), Frame(PING, 0, Connection, b"inbetwee"), Frame(CONTINUATION, END_HEADERS, This, b"")]),
    stream(46, "h2-continuation-elsewhere", "goes on with the head on another stream", FRAME,
        &[Frame(HEADERS, 0, This, OK), Frame(CONTINUATION, END_HEADERS, Idle, b"")]),
    stream(46, "h2-continuation-alone", "goes on with a head that was not begun", FRAME,
        &[Frame(CONTINUATION, END_HEADERS, This, OK)]),
    stream(46, "h2-frame-too-large", "announces a frame of 16 MiB", FRAME,
        &[HEAD, Raw(b"\xff\xff\xff\0\0\0\0\0\x01"), Frame(DATA, END_STREAM, This, FULL)]),
    stream(46, "h2-unknown-frame", "frames of an unknown type around the answer", SUCCESS,
        &[Frame(0xfa, 0xff, This, b"unknown"), WHOLE, Frame(0xfb, 0, Connection, KILO)]),
    stream(46, "h2-unknown-frame-in-head", "a frame of an unknown type between the parts of a head", FRAME,
        &[Frame(HEADERS, 0, This, OK), Frame(0xfa, 0, This, b""), Frame(CONTINUATION, END_HEADERS, This, b"")]),
    stream(46, "h2-priority", "sends priorities, which mean nothing any more", SUCCESS,
        &[Frame(PRIORITY, 0, This, b"\0\0\0\0\x10"), WHOLE]),
    stream(47, "h2-no-status", "a head without a status", STATUS,
        &[Fields(&[("content-length", "13")], 0), BODY]),
    stream(47, "h2-two-statuses", "a head with two statuses", STATUS,
        &[Fields(&[(":status", "200"), (":status", "404"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-late-status", "the status after another field", STATUS,
        &[Fields(&[("content-length", "13"), (":status", "200")], 0), BODY]),
    stream(47, "h2-status-2000", "a status of four digits", STATUS,
        &[Fields(&[(":status", "2000"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-status-word", "a status that is no number", STATUS,
        &[Fields(&[(":status", "OK"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-status-101", "switches protocols, which HTTP/2 cannot", &["proto.unexpected_101", "h2.frame"],
        &[Fields(&[(":status", "101")], 0), WHOLE]),
    stream(47, "h2-unknown-pseudo", "a pseudo-field that does not exist", FIELD,
        &[Fields(&[(":status", "200"), (":moon", "full"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-request-pseudo", "a pseudo-field of a request", FIELD,
        &[Fields(&[(":status", "200"), (":path", "/hello"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-upper-case", "a field's name in upper case", FIELD,
        &[Fields(&[(":status", "200"), ("X-Upper", "a"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-empty-name", "a field without a name", FIELD,
        &[Fields(&[(":status", "200"), ("", "a"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-name-with-space", "a field's name with a blank", FIELD,
        &[Fields(&[(":status", "200"), ("x a", "a"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-nul-in-field", "a NUL in a field's value", FIELD,
        &[Fields(&[(":status", "200"), ("x-nul", "a\0b"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-line-in-field", "a line end in a field's value, and a field of its own behind it", FIELD,
        &[Fields(&[(":status", "200"), ("x-line", "a\r\nset-cookie: b"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-connection-field", "a field that says what HTTP/1.1 says of a connection", FIELD,
        &[Fields(&[(":status", "200"), ("connection", "keep-alive"), ("content-length", "13")], 0), BODY]),
    stream(47, "h2-transfer-encoding", "says that its body is chunked", FIELD,
        &[Fields(&[(":status", "200"), ("transfer-encoding", "chunked")], 0), BODY]),
    stream(47, "h2-huge-field", "a field of 1 MiB", &["proto.head_too_large", "h2.frame", "h2.calm"],
        &[Frame(HEADERS, 0, This, b"\x88\x00\x01x\x7f\x81\xff\x3f"), Repeat(CONTINUATION, 0, This, KILO, 1024),
          Frame(CONTINUATION, END_HEADERS, This, b""), BODY]),
    stream(47, "h2-interim", "an interim answer, then the right one", SUCCESS,
        &[Fields(&[(":status", "103")], 0), WHOLE]),
    stream(47, "h2-interim-end", "an interim answer that ends the stream", FRAME,
        &[Fields(&[(":status", "103")], END_STREAM)]),
    stream(47, "h2-interim-flood", "interim answers for ever", &["proto.interim_flood"],
        &[Repeat(HEADERS, END_HEADERS, This, b"\x08\x03103", FOREVER)]),
    stream(47, "h2-trailers", "the right answer, with trailers", SUCCESS,
        &[Answer(Style { trailers: &[("x-trailer", "a")], ..USUAL })]),
    stream(47, "h2-trailers-status", "trailers with a status", FIELD,
        &[HEAD, Frame(DATA, 0, This, HELLO), Fields(&[(":status", "200")], END_STREAM)]),
    stream(47, "h2-trailers-open", "trailers that do not end the stream, and more content", FRAME,
        &[HEAD, HALF, Fields(&[("x-trailer", "a")], 0), Frame(DATA, END_STREAM, This, b" world!")]),
    stream(48, "h2-length-short", "less content than content-length says", LENGTH,
        &[Fields(&[(":status", "200"), ("content-length", "14")], 0), BODY]),
    stream(48, "h2-length-long", "more content than content-length says", LENGTH,
        &[Fields(&[(":status", "200"), ("content-length", "12")], 0), BODY]),
    stream(48, "h2-length-no-content", "content-length: 13, and no content", LENGTH,
        &[Fields(&[(":status", "200"), ("content-length", "13")], END_STREAM)]),
    stream(48, "h2-length-plus", "content-length: +13", &["proto.bad_length", "h2.length"],
        &[Fields(&[(":status", "200"), ("content-length", "+13")], 0), BODY]),
    stream(48, "h2-two-lengths", "two different lengths", &["proto.length_conflict", "h2.length"],
        &[Fields(&[(":status", "200"), ("content-length", "13"), ("content-length", "14")], 0), BODY]),
    stream(48, "h2-status-500", "an error in place of the answer", &["content.status"],
        &[Fields(&[(":status", "500"), ("content-length", "13")], 0), BODY]),
    stream(48, "h2-mute", "never answers on the stream", UNANSWERED, &[Mute]),
    stream(48, "h2-stalled-body", "half a body, and never another octet", &["recv.idle_timeout", "recv.deadline"],
        &[HEAD, HALF, Mute]),
    stream(48, "h2-drip-body", "a body of one octet a second", &["recv.deadline"],
        &[Fields(&[(":status", "200"), ("content-length", "1000000")], 0), Drip(b"drip")]),
    stream(48, "h2-endless-body", "a body that never ends, as fast as the windows allow", &["limit.body", "recv.deadline"],
        &[Fields(&[(":status", "200")], 0), Content(KILO, FOREVER)]),
    stream(49, "h2-window-overflow", "a body that never ends, whatever the windows allow", &["h2.flow", "limit.body", "recv.deadline", "h2.goaway"],
        &[Fields(&[(":status", "200")], 0), Repeat(DATA, 0, This, FULL, FOREVER)]),
    stream(49, "h2-update-zero", "raises the stream's window by nothing", &["h2.flow", "h2.frame"],
        &[Frame(WINDOW_UPDATE, 0, This, b"\0\0\0\0"), WHOLE]),
    stream(49, "h2-update-zero-connection", "raises the connection's window by nothing", &["h2.flow", "h2.frame"],
        &[Frame(WINDOW_UPDATE, 0, Connection, b"\0\0\0\0"), WHOLE]),
    stream(49, "h2-update-overflow", "raises the stream's window above 2^31 - 1", FLOW,
        &[HEAD, Repeat(WINDOW_UPDATE, 0, This, b"\x7f\xff\xff\xff", 2), BODY]),
    stream(49, "h2-update-overflow-connection", "raises the connection's window above 2^31 - 1", FLOW,
        &[Repeat(WINDOW_UPDATE, 0, Connection, b"\x7f\xff\xff\xff", 2), WHOLE]),
    stream(49, "h2-update-short", "a WINDOW_UPDATE of three octets", FRAME,
        &[Frame(WINDOW_UPDATE, 0, This, b"\0\0\x01"), WHOLE]),
    stream(50, "h2-data-first", "content before the head", FRAME, &[Frame(DATA, 0, This, HELLO), WHOLE]),
    stream(50, "h2-data-after-end", "content after the end of the stream", FRAME,
        &[WHOLE, Frame(DATA, 0, This, HELLO)]),
    stream(50, "h2-head-after-end", "another head after the end of the stream", FRAME,
        &[WHOLE, Frame(HEADERS, END_HEADERS | END_STREAM, This, OK)]),
    stream(50, "h2-data-idle", "content on a stream that was not opened", FRAME,
        &[Frame(DATA, END_STREAM, Idle, HELLO), WHOLE]),
    stream(50, "h2-data-connection", "content on no stream at all", FRAME,
        &[Frame(DATA, END_STREAM, Connection, HELLO), WHOLE]),
    stream(50, "h2-head-idle", "a head on a stream that was not opened", FRAME,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, Idle, OK), WHOLE]),
    stream(50, "h2-head-own", "a head on a stream of its own that was not promised", FRAME,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, Own, OK), WHOLE]),
    stream(50, "h2-reset-idle", "resets a stream that was not opened", FRAME,
        &[Frame(RST_STREAM, 0, Idle, b"\0\0\0\x08"), WHOLE]),
    stream(50, "h2-reset-short", "an RST_STREAM of three octets", FRAME,
        &[Frame(RST_STREAM, 0, This, b"\0\0\x08"), WHOLE]),
    stream(50, "h2-push", "promises a push that was forbidden", &["h2.push", "h2.frame"],
        &[Frame(PUSH_PROMISE, END_HEADERS, This, b"\0\0\0\x02\x82\x84\x86"), WHOLE]),
    stream(50, "h2-ping-short", "a PING of seven octets", FRAME, &[Frame(PING, 0, Connection, b"sevenoc"), WHOLE]),
    stream(50, "h2-ping-stream", "a PING on a stream", FRAME, &[Frame(PING, 0, This, b"eightoct"), WHOLE]),
    stream(51, "h2-hpack-inserted", "puts every field into the table and refers to none, as nginx does", SUCCESS,
        &[styled(Manner::Inserted)]),
    stream(51, "h2-hpack-static", "uses no table but the static one", SUCCESS, &[styled(Manner::Static)]),
    stream(51, "h2-hpack-plain", "every field a literal, without Huffman's code", SUCCESS, &[styled(Manner::Plain)]),
    stream(51, "h2-hpack-never", "every field a literal that is never to be indexed", SUCCESS, &[styled(Manner::Never)]),
    stream(51, "h2-hpack-resizing", "empties the table and opens it again with every answer", SUCCESS,
        &[styled(Manner::Resizing)]),
    stream(51, "h2-hpack-place-0", "refers to place 0 of the table", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x80")]),
    stream(51, "h2-hpack-no-place", "refers to a place beyond the table", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x88\xff\xff\x03")]),
    stream(51, "h2-hpack-cut", "a field that goes on after the end of the head", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x88\x00\x7f")]),
    stream(51, "h2-hpack-number", "a number that never ends", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x88\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")]),
    stream(51, "h2-hpack-size-too-large", "a table that is larger than SETTINGS allow", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x3f\xff\xff\xff\x7f\x88")]),
    stream(51, "h2-hpack-size-late", "a new size for the table after the first field", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x88\x20")]),
    stream(51, "h2-hpack-huffman-end", "the end of the string within a string", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x88\x00\x01x\x84\xff\xff\xff\xff")]),
    stream(51, "h2-hpack-huffman-padding", "a string with an octet of padding", HPACK,
        &[Frame(HEADERS, END_HEADERS | END_STREAM, This, b"\x88\x00\x01x\x82\x1f\xff")]),
    stream(51, "h2-hpack-bomb", "a head of 20 kB that unpacks to 64 MB", &["proto.head_too_large", "h2.hpack", "h2.calm"],
        &[Frame(HEADERS, 0, This, OK), Frame(CONTINUATION, 0, This, ENTRY), Frame(CONTINUATION, END_HEADERS, This, BOMB), BODY]),
    stream(52, "h2-goaway", "says that this stream is the last, answers it, and ends the connection", SUCCESS,
        &[GoAway(This, NO_ERROR, b""), WHOLE, Fin]),
    stream(52, "h2-goaway-unprocessed", "says that no stream was answered, and ends the connection",
        &["h2.refused", "h2.goaway"], &[GoAway(Connection, NO_ERROR, b""), Fin]),
    stream(52, "h2-goaway-last", "says that all streams will be answered, answers, and says which were", SUCCESS,
        &[GoAway(Last, NO_ERROR, b""), WHOLE, GoAway(This, NO_ERROR, b""), Fin]),
    stream(52, "h2-goaway-error", "ends the connection for an error of its own", GONE,
        &[GoAway(This, INTERNAL_ERROR, b"something broke"), Fin]),
    stream(52, "h2-goaway-calm", "ends the connection and asks for calm", CALM,
        &[GoAway(This, ENHANCE_YOUR_CALM, b"too_many_pings"), Fin]),
    stream(52, "h2-goaway-protocol", "ends the connection for an error of the client's", GONE,
        &[GoAway(This, PROTOCOL_ERROR, b""), Fin]),
    stream(52, "h2-goaway-open", "says that this stream is the last, and neither answers nor ends the connection",
        UNANSWERED, &[GoAway(This, NO_ERROR, b""), Mute]),
    stream(52, "h2-goaway-short", "a GOAWAY of seven octets", FRAME, &[Frame(GOAWAY, 0, Connection, b"\0\0\0\0\0\0\0"), WHOLE]),
    stream(52, "h2-fin", "ends the connection without a word", &["recv.empty"], &[Fin]),
    stream(52, "h2-fin-mid-body", "ends the connection in the middle of the body", CUT_BODY, &[HEAD, HALF, Fin]),
    stream(52, "h2-fin-mid-frame", "ends the connection in the middle of a frame", &["recv.cut_body", "recv.cut_head"],
        &[HEAD, Raw(b"\0\0\x0d\0\x01\0\0"), Fin]),
    stream(52, "h2-rst", "resets the TCP connection in the middle of the body", &["recv.reset", "recv.cut_body"],
        &[HEAD, HALF, Wait(BEAT), Rst]),
];

#[rustfmt::skip]
pub(super) const CONNECTIONS: &[Fault] = &[
    connection(53, "h2-limit-one", "allows one stream at a time", SUCCESS, &[Settings(&[(MAX_CONCURRENT_STREAMS, 1)])]),
    connection(53, "h2-limit-zero", "allows no stream, and a hundred after a while", SUCCESS,
        &[Settings(&[(MAX_CONCURRENT_STREAMS, 0)]), Wait(WHILE), Settings(&[(MAX_CONCURRENT_STREAMS, 100)])]),
    connection(53, "h2-limit-never", "allows no stream, ever", &["h2.timeout"],
        &[Settings(&[(MAX_CONCURRENT_STREAMS, 0)])]),
    connection(53, "h2-limit-lowered", "allows a hundred streams, and one after the tenth request", SUCCESS,
        &[Settings(&[(MAX_CONCURRENT_STREAMS, 100)]), Await(10), Settings(&[(MAX_CONCURRENT_STREAMS, 1)])]),
    connection(53, "h2-window-zero", "allows no content of a request, ever", SUCCESS,
        &[Settings(&[(INITIAL_WINDOW_SIZE, 0)])]),
    connection(53, "h2-window-late", "allows no content of a request, and 64 KiB a while after the first", SUCCESS,
        &[Settings(&[(INITIAL_WINDOW_SIZE, 0)]), Await(1), Wait(WHILE), Settings(&[(INITIAL_WINDOW_SIZE, 65_535)])]),
    connection(53, "h2-window-changes", "closes and opens the windows of requests as they come", SUCCESS,
        &[Settings(&[(INITIAL_WINDOW_SIZE, 65_535)]), Await(2), Settings(&[(INITIAL_WINDOW_SIZE, 0)]), Await(4),
          Settings(&[(INITIAL_WINDOW_SIZE, 1)]), Await(6), Settings(&[(INITIAL_WINDOW_SIZE, 100_000)])]),
    connection(53, "h2-table-zero", "allows no table for the fields of requests", SUCCESS,
        &[Settings(&[(HEADER_TABLE_SIZE, 0)])]),
    connection(53, "h2-table-changes", "closes and opens the table for the fields of requests", SUCCESS,
        &[Settings(&[(HEADER_TABLE_SIZE, 4096)]), Await(2), Settings(&[(HEADER_TABLE_SIZE, 0)]), Await(4),
          Settings(&[(HEADER_TABLE_SIZE, 4096)])]),
    connection(53, "h2-list-64", "says that it reads no more than 64 octets of fields", SUCCESS,
        &[Settings(&[(MAX_HEADER_LIST_SIZE, 64)])]),
    connection(53, "h2-frames-large", "says that it reads frames of 16 MiB", SUCCESS,
        &[Settings(&[(MAX_FRAME_SIZE, 16_777_215)])]),
    connection(53, "h2-settings-unknown", "settings that do not exist", SUCCESS,
        &[Settings(&[(0xaaaa, 1), (MAX_CONCURRENT_STREAMS, 100), (0xfafa, 0xffff_ffff)])]),
    connection(53, "h2-settings-unacknowledged", "never acknowledges the client's SETTINGS", SUCCESS,
        &[Unacknowledging, Greet]),
    connection(53, "h2-settings-burst", "a thousand SETTINGS", SUCCESS, &[Greet, Repeat(SETTINGS, 0, Connection, b"", 1000)]),
    connection(53, "h2-settings-flood", "SETTINGS for ever", &["h2.calm", "h2.frame", "recv.deadline"],
        &[Greet, Repeat(SETTINGS, 0, Connection, b"", FOREVER)]),
    connection(53, "h2-settings-odd", "SETTINGS of five octets", FRAME, &[Frame(SETTINGS, 0, Connection, b"\0\x03\0\0\0")]),
    connection(53, "h2-settings-stream", "SETTINGS on a stream", FRAME,
        &[Greet, Frame(SETTINGS, 0, This, b"")]),
    connection(53, "h2-settings-ack-full", "an acknowledgement that says something", FRAME,
        &[Greet, Frame(SETTINGS, ACK, Connection, b"\0\x03\0\0\0\x64")]),
    connection(53, "h2-settings-window", "a window above 2^31 - 1", &["h2.flow", "h2.frame"],
        &[Settings(&[(INITIAL_WINDOW_SIZE, 0x8000_0000)])]),
    connection(53, "h2-settings-frame", "frames of at most a hundred octets", FRAME, &[Settings(&[(MAX_FRAME_SIZE, 100)])]),
    connection(53, "h2-settings-push", "allows the client to be pushed to, which only a client can", FRAME,
        &[Settings(&[(ENABLE_PUSH, 1)])]),
    connection(53, "h2-ping-burst", "a thousand PINGs", SUCCESS, &[Greet, Repeat(PING, 0, Connection, b"pingping", 1000)]),
    connection(53, "h2-ping-flood", "PINGs for ever", &["h2.calm", "h2.frame", "recv.deadline"],
        &[Greet, Repeat(PING, 0, Connection, b"pingping", FOREVER)]),
    connection(53, "h2-goaway-10", "ends each connection in peace after ten requests", SUCCESS,
        &[Greet, Await(10), GoAway(This, NO_ERROR, b"")]),
    connection(54, "h2-silence", "reads the preface, and neither reads nor answers from then on",
        &["h2.timeout"], &[Silence]),
    connection(54, "h2-silence-after-settings", "sends SETTINGS, and nothing from then on", UNANSWERED, &[Greet, Silence]),
    connection(54, "h2-no-settings", "begins with a PING in place of SETTINGS", PREFACE,
        &[Frame(PING, 0, Connection, b"pingping")]),
    connection(54, "h2-http1-answer", "answers the preface as a server of HTTP/1.1 does", PREFACE,
        &[Raw(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), Fin]),
    connection(54, "h2-fin-at-preface", "ends the connection as soon as the preface has come", &["h2.preface", "recv.empty"],
        &[Fin]),
    connection(54, "h2-goaway-at-once", "ends each connection before it has answered anything", &["h2.refused", "h2.goaway"],
        &[Greet, GoAway(Connection, NO_ERROR, b""), Fin]),
];
