//! RFC 6455. The oracle opens the WebSocket and answers the first ping; a script begins when the last part of the case
//! has arrived.

use super::{Line, bends, breaks, keeps};
use crate::script::Act::{self, Answer, Close, Mirror, Reset, Say};

pub(super) const ONLY_WARN: &[&str] = &[];

/// An opened WebSocket: the proof that the key was read, by default that of the usual key, and other fields.
macro_rules! opened {
    ($more:literal) => {
        opened!("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", $more)
    };
    ($accept:literal, $more:literal) => {
        Say(concat!(
            "HTTP/1.1 101 So\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
            $accept,
            "\r\n",
            $more,
            "\r\n"
        )
        .as_bytes())
    };
}

const OPENED: Act = opened!("");
const WRONGLY: Act = opened!("S3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "");
const OURS: &[u8] = b"HTTP/1.1 426 So\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n";

const X125: &[u8] = &filled::<2, 127>([0x81, 125]);
const X126: &[u8] = &filled::<4, 130>([0x81, 126, 0, 126]);
const X127: &[u8] = &filled::<4, 131>([0x81, 126, 0, 127]);
const X65535: &[u8] = &filled::<4, 65_539>([0x81, 126, 0xff, 0xff]);
const X65536: &[u8] = &filled::<10, 65_546>([0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
const PONG125: &[u8] = &filled::<2, 127>([0x8a, 125]);

/// A frame: its head, and then `x`.
const fn filled<const HEAD: usize, const LEN: usize>(head: [u8; HEAD]) -> [u8; LEN] {
    let (mut frame, mut at) = ([b'x'; LEN], 0);
    while at < HEAD {
        frame[at] = head[at];
        at += 1;
    }
    frame
}

/// Frames that must end the connection, whatever else a server does.
const ENDING: &[&str] = &[
    "WS-F04", "WS-F05", "WS-F06", "WS-F19", "WS-F20", "WS-F09", "WS-F10", "WS-G03", "WS-G04",
    "WS-F07", "WS-F08", "WS-P05", "WS-F17",
];
/// Handshakes that must not open a WebSocket.
const HANDSHAKES: &[&str] =
    &["WS-H03", "WS-H04", "WS-H05", "WS-H06", "WS-H09", "WS-H10", "WS-H11", "WS-H12"];
/// A Close that is malformed.
const CLOSES: &[&str] = &["WS-F15", "WS-C05", "WS-C06", "WS-C07", "WS-C08", "WS-C09"];
/// Texts that are not UTF-8.
const NOT_UTF8: &[&str] = &["WS-F11", "WS-U02", "WS-U03", "WS-U04", "WS-U05", "WS-U06"];

pub(super) const TABLE: &[Line] = &[
    keeps(&["WS-H01", "WS-H07", "WS-H13", "WS-H15"], &[OPENED]),
    breaks(&["WS-H01", "WS-H07", "WS-H15"], &[WRONGLY]),
    breaks(
        &["WS-H01", "WS-H07", "WS-H08", "WS-H13", "WS-H14", "WS-H15", "WS-H16", "WS-H17"],
        &[Answer(200, "")],
    ),
    breaks(&["WS-H07", "WS-H08", "WS-H14", "WS-H15", "WS-H16", "WS-H17"], &[Answer(400, "")]),
    keeps(&["WS-H02"], &[Say(OURS)]),
    bends(&["WS-H02"], &[Answer(400, "")]),
    bends(&["WS-H02"], &[Close]),
    bends(HANDSHAKES, &[Say(b"HTTP/1.1 400 So\r\nContent-Length: 9\r\n\r\nno"), Close]),
    bends(&["WS-H02"], &[Say(b"HTTP/1.1 400 So\r\nContent-Length: 9\r\n\r\nno"), Close]),
    // Other flaws of the answer are H1-V02's business.
    keeps(&["WS-H01"], &[opened!("Content-Length: 0\r\n")]),
    bends(&["WS-G01"], &[Say(b"\x88\x02\x03\xf0")]),
    bends(&["WS-H02"], &[Answer(500, "")]),
    breaks(&["WS-H02"], &[OPENED]),
    breaks(&["WS-H02"], &[Answer(200, "")]),
    keeps(&["WS-H03", "WS-H04", "WS-H10", "WS-H12"], &[Answer(400, "")]),
    bends(&["WS-H03", "WS-H04", "WS-H10", "WS-H12"], &[Answer(200, "")]),
    bends(&["WS-H03", "WS-H04", "WS-H10", "WS-H12"], &[Answer(500, "")]),
    bends(HANDSHAKES, &[Close]),
    breaks(&["WS-H03", "WS-H05", "WS-H06", "WS-H09", "WS-H10", "WS-H11", "WS-H12"], &[OPENED]),
    bends(&["WS-H04"], &[opened!("lKZfoIRZy6JSLC69dh83fis/tKM=", "")]),
    breaks(HANDSHAKES, &[]),
    keeps(&["WS-H05", "WS-H06", "WS-H09", "WS-H11"], &[Answer(405, "")]),
    keeps(&["WS-H05", "WS-H06", "WS-H09", "WS-H11"], &[Answer(200, "hello")]),
    bends(&["WS-H06", "WS-H09", "WS-H11"], &[Answer(500, "")]),
    keeps(&["WS-H08"], &[opened!("wUzq/k0c8TfgpOqz7vtgqG/6p1A=", "")]),
    breaks(
        &["WS-H08"],
        &[opened!(
            "wUzq/k0c8TfgpOqz7vtgqG/6p1A=",
            "Sec-WebSocket-Extensions: permessage-deflate\r\n"
        )],
    ),
    keeps(&["WS-H13"], &[opened!("Sec-WebSocket-Protocol: dyno-two\r\n")]),
    bends(&["WS-H13"], &[Answer(400, "")]),
    breaks(&["WS-H13"], &[opened!("Sec-WebSocket-Protocol: chat\r\n")]),
    keeps(&["WS-H14"], &[opened!("6TSttpMMSNs1CrOC0xpDFklc1ss=", "")]),
    breaks(
        &["WS-H14"],
        &[opened!("6TSttpMMSNs1CrOC0xpDFklc1ss=", "Sec-WebSocket-Protocol: chat\r\n")],
    ),
    breaks(&["WS-H15"], &[opened!("Sec-WebSocket-Extensions: x-dyno-nonesuch\r\n")]),
    keeps(&["WS-H16"], &[opened!("C/0nmHhBztSRGR1CwL6Tf4ZjwpY=", "")]),
    breaks(&["WS-H16"], &[OPENED]),
    keeps(&["WS-H17"], &[opened!("Or6jAXm15h6Ms7jRYVWTVH5Kfr8=", "")]),
    keeps(&["WS-B01"], &[Say(b"\x8a\x05again")]),
    breaks(&["WS-B01"], &[]),
    breaks(&["WS-B01"], &[Close]),
    breaks(&["WS-B01"], &[Say(b"\x8a\x05other")]),
    keeps(&["WS-B02"], &[Say(b"\x81\x06second")]),
    breaks(&["WS-B02"], &[]),
    breaks(&["WS-B02"], &[Say(b"\x81\x05other")]),
    keeps(&["WS-B03"], &[Say(b"\x8a\x05after")]),
    bends(&["WS-B03"], &[Say(b"\x88\x02\x03\xeb"), Close]),
    bends(&["WS-B03"], &[Say(b"\x88\x02\x03\xf0")]),
    breaks(&["WS-B03"], &[Say(b"\x88\x02\x03\xea")]),
    breaks(&["WS-B03"], &[]),
    // Frames that must end the connection.
    keeps(ENDING, &[Say(b"\x88\x02\x03\xea"), Close]),
    keeps(&["WS-F14", "WS-F03", "WS-F16"], &[Say(b"\x88\x02\x03\xea"), Close]),
    keeps(ENDING, &[Close]),
    keeps(&["WS-F14"], &[Close]),
    keeps(ENDING, &[Reset]),
    keeps(&["WS-F14"], &[Reset]),
    keeps(ENDING, &[Say(b"\x88\x00")]),
    keeps(&["WS-F14"], &[Say(b"\x88\x00")]),
    breaks(ENDING, &[]),
    breaks(&["WS-F14", "WS-F03"], &[]),
    breaks(ENDING, &[Say(b"\x88\x02\x03\xe8"), Close]),
    breaks(ENDING, &[Say(b"\x88\x02\x03\xed"), Close]),
    breaks(&["WS-F14"], &[Say(b"\x88\x02\x03\xed"), Close]),
    breaks(&["WS-F04", "WS-F05", "WS-F06", "WS-F19", "WS-F20"], &[Say(b"\x81\x05hello"), Close]),
    breaks(&["WS-F09"], &[Say(b"\x81\x01b"), Close]),
    breaks(&["WS-F10"], &[Say(b"\x81\x01x"), Close]),
    breaks(&["WS-G03", "WS-G04"], &[Say(b"\x81\x03abc"), Close]),
    bends(&["WS-F03"], &[Say(b"\x81\x05hello")]),
    // Frames that must be accepted.
    keeps(&["WS-F21", "WS-F02", "WS-G01", "WS-G02"], &[Say(b"\x81\x05hello"), Say(b"\x8a\x01p")]),
    breaks(&["WS-F21", "WS-G01", "WS-G02"], &[Say(b"\x81\x04hell")]),
    breaks(&["WS-F02"], &[Say(b"\x81\x05hello")]),
    breaks(&["WS-F02"], &[Say(b"\x8a\x01p"), Say(b"\x81\x02lo")]),
    keeps(&["WS-F02", "WS-G02"], &[Say(b"\x8a\x01p\x01\x03hel\x80\x02lo")]),
    breaks(&["WS-F02"], &[Say(b"\x8a\x81\0\0\0\0p\x81\x85\0\0\0\0hello")]),
    breaks(&["WS-G02"], &[Say(b"\xc1\x05hello")]),
    keeps(&["WS-F22"], &[Say(b"\x81\x00")]),
    breaks(&["WS-F22"], &[]),
    keeps(&["WS-F23"], &[Say(X125)]),
    breaks(&["WS-F23"], &[Say(X126)]),
    keeps(&["WS-F24"], &[Say(X126), Say(X127)]),
    breaks(&["WS-F24"], &[Say(X126)]),
    keeps(&["WS-F25"], &[Say(X65535)]),
    breaks(&["WS-F25"], &[Say(X125)]),
    keeps(&["WS-F26"], &[Say(X65536)]),
    breaks(&["WS-F26"], &[Say(X65535)]),
    bends(&["WS-F25", "WS-F26"], &[Say(b"\x88\x02\x03\xf1")]),
    breaks(&["WS-F25", "WS-F26"], &[Close]),
    keeps(&["WS-F27"], &[Say(b"\x82\x08\x00\xff\xc3\x28\x80\r\n\x81")]),
    breaks(&["WS-F27"], &[Say(b"\x88\x02\x03\xef")]),
    keeps(&["WS-F28"], &[Say(b"\x8a\x04slow")]),
    breaks(&["WS-F28"], &[Say(b"\x8a\x04rnls")]),
    breaks(&["WS-F28"], &[Close]),
    keeps(&["WS-F29"], &[Say(b"\x81\x03one"), Say(b"\x81\x03two"), Say(b"\x8a\x05three")]),
    breaks(&["WS-F29"], &[Say(b"\x81\x03one"), Say(b"\x81\x03two")]),
    breaks(&["WS-F29"], &[Say(b"\x81\x03one"), Say(b"\x8a\x05three")]),
    keeps(&["WS-F01"], &[Say(b"\x8a\x03abc")]),
    breaks(&["WS-F01"], &[Say(b"\x8a\x03abd")]),
    breaks(&["WS-F01"], &[Say(b"\x89\x03abc")]),
    breaks(&["WS-F01"], &[]),
    keeps(&["WS-P01"], &[Say(b"\x8a\x00")]),
    breaks(&["WS-P01"], &[Say(b"\x8a\x01x")]),
    keeps(&["WS-P02"], &[Say(PONG125)]),
    breaks(&["WS-P02"], &[Say(b"\x8a\x01x")]),
    keeps(&["WS-P03"], &[Say(b"\x8a\x01c")]),
    keeps(&["WS-P03"], &[Say(b"\x8a\x01a"), Say(b"\x8a\x01b"), Say(b"\x8a\x01c")]),
    breaks(&["WS-P03"], &[Say(b"\x8a\x01a")]),
    keeps(&["WS-P04"], &[Say(b"\x8a\x05after")]),
    breaks(&["WS-P04"], &[Close]),
    breaks(&["WS-P04"], &[Say(b"\x8a\x03hey")]),
    // The Close.
    keeps(&["WS-F13", "WS-C01", "WS-C02", "WS-C03"], &[Say(b"\x88\x02\x03\xe8"), Close]),
    bends(&["WS-F13"], &[Say(b"\x88\x00"), Close]),
    breaks(&["WS-F13", "WS-C01", "WS-C02", "WS-C03"], &[Close]),
    breaks(&["WS-F13", "WS-C01", "WS-C02", "WS-C03"], &[]),
    breaks(&["WS-C01"], &[Say(b"\x88\x02\x03\xe8")]),
    keeps(&["WS-F13", "WS-C02", "WS-C03"], &[Say(b"\x88\x02\x03\xe8")]),
    breaks(&["WS-C03"], &[Say(b"\x88\x02\x03\xe8"), Say(b"\x81\x04late")]),
    keeps(&["WS-C04"], &[Say(b"\x88\x02\x03\xef")]),
    bends(&["WS-C04"], &[Say(b"\x88\x02\x03\xea")]),
    bends(&["WS-C04"], &[Say(b"\x88\x02\x03\xe8")]),
    breaks(&["WS-C04"], &[]),
    breaks(&["WS-C04"], &[Say(b"\x88\x02\x03\xee")]),
    keeps(CLOSES, &[Say(b"\x88\x02\x03\xea")]),
    bends(CLOSES, &[Close]),
    bends(CLOSES, &[Say(b"\x88\x02\x03\xef")]),
    bends(&["WS-F14", "WS-F15", "WS-C05", "WS-C06"], &[Say(b"\x88\x02\x03\xe8")]),
    breaks(&["WS-F15", "WS-C05", "WS-C06"], &[Say(b"\x88\x02\x03\xf7")]),
    breaks(CLOSES, &[]),
    bends(&["WS-C07", "WS-C08", "WS-C09"], &[Say(b"\x88\x02\x03\xe8")]),
    keeps(&["WS-C10"], &[Say(b"\x88\x02\x0b\xb8")]),
    keeps(&["WS-C11"], &[Say(b"\x88\x02\x13\x87")]),
    bends(&["WS-C10", "WS-C11"], &[Say(b"\x88\x02\x03\xe8")]),
    breaks(&["WS-C10", "WS-C11"], &[Say(b"\x88\x02\x03\xea")]),
    breaks(&["WS-C10", "WS-C11"], &[]),
    // Text.
    keeps(&["WS-F12"], &[Say(b"\x81\x02\xce\xba")]),
    breaks(&["WS-F12"], &[Say(b"\x88\x02\x03\xef")]),
    breaks(&["WS-F12"], &[]),
    keeps(
        &["WS-U01"],
        &[Say(
            b"\x81\x14\0a\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xef\xbb\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf",
        )],
    ),
    breaks(&["WS-U01"], &[Say(b"\x88\x02\x03\xef")]),
    keeps(NOT_UTF8, &[Say(b"\x88\x02\x03\xef")]),
    bends(NOT_UTF8, &[Say(b"\x88\x02\x03\xea")]),
    bends(NOT_UTF8, &[Close]),
    breaks(NOT_UTF8, &[]),
    breaks(NOT_UTF8, &[Say(b"\x88\x02\x03\xe8")]),
    breaks(&["WS-F11"], &[Say(b"\x81\x02\xc3\x28"), Close]),
    breaks(&["WS-U02"], &[Say(b"\x81\x02\xc0\xaf"), Close]),
    breaks(&["WS-U03"], &[Say(b"\x81\x03\xed\xa0\x80"), Close]),
    breaks(&["WS-U04"], &[Say(b"\x81\x04\xf4\x90\x80\x80"), Close]),
    breaks(&["WS-U05"], &[Say(b"\x81\x04caf\xc3"), Close]),
    breaks(&["WS-U06"], &[Say(b"\x81\x04a\xe2\x82b"), Close]),
    // Large frames and messages.
    bends(&["WS-F16", "WS-F18"], &[]),
    bends(&["WS-F16", "WS-F18"], &[Say(b"\x88\x02\x03\xe8")]),
    breaks(&["WS-F16", "WS-F18"], &[Say(b"\x8a\x05over?")]),
    keeps(&["WS-F18", "WS-S01"], &[Say(b"\x88\x02\x03\xf1"), Close]),
    keeps(&["WS-F18", "WS-S01"], &[Say(b"\x8a\x05still")]),
    keeps(&["WS-F18"], &[Mirror]),
    breaks(&["WS-S01"], &[]),
];
