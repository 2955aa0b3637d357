//! What a client of HTTP/2 must not do, written by hand, and how the oracle refuses it.

use oracle::Config;
use units::rfc9113::{
    CONTINUATION, DATA, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};

use crate::frames::{Raw, Seen, frame, get, setting, shown};
use crate::start;

/// How the oracle refuses what a client must not do: with a GOAWAY, or an RST_STREAM, of this code.
fn refused(config: Config, frames: &[Vec<u8>]) -> String {
    let oracle = start(Config { threads: 1, ..config });
    let mut raw = Raw::begin(&oracle, &[]);
    raw.send(&frames.concat());
    raw.send(&frame(PING, 0, 0, b"the end."));
    let is_last = |seen: &Seen| matches!(seen, Seen::Frame(GOAWAY | RST_STREAM | PING, ..));
    match raw.until(is_last).last().unwrap() {
        Seen::Frame(GOAWAY, _, _, payload) => format!("goaway {}", payload[7]),
        Seen::Frame(RST_STREAM, _, id, payload) => format!("reset {id} {}", payload[3]),
        seen => shown(seen),
    }
}

#[test]
fn what_a_client_must_not_do_is_refused() {
    let check = |frames: &[Vec<u8>], expected: &str| {
        let shown: Vec<String> =
            frames.iter().map(|frame| frame.escape_ascii().to_string()).collect();
        assert_eq!(refused(Config::default(), frames), expected, "{}", shown.join(" "));
    };
    let ask = |block: &[u8]| frame(HEADERS, 5, 1, block);
    let open = || frame(HEADERS, 4, 1, b"\x83\x86\x84");
    let fields = |more: &[u8]| ask(&[b"\x82\x86\x84", more].concat());
    check(&[frame(DATA, 0, 1, b"a")], "goaway 1");
    check(&[frame(DATA, 0, 0, b"a")], "goaway 1");
    check(&[frame(HEADERS, 5, 0, b"\x82\x86\x84")], "goaway 1");
    check(&[frame(HEADERS, 5, 2, b"\x82\x86\x84")], "goaway 1");
    check(&[frame(HEADERS, 5, 3, b"\x82\x86\x84"), ask(b"\x82\x86\x84")], "goaway 5");
    check(&[frame(RST_STREAM, 0, 1, &[0; 4])], "goaway 1");
    check(&[frame(RST_STREAM, 0, 1, &[0; 3])], "goaway 6");
    check(&[frame(PING, 0, 0, &[0; 7])], "goaway 6");
    check(&[frame(PING, 0, 1, &[0; 8])], "goaway 1");
    check(&[frame(SETTINGS, 0, 0, &[0; 5])], "goaway 6");
    check(&[frame(SETTINGS, 1, 0, &[0; 6])], "goaway 6");
    check(&[frame(SETTINGS, 0, 1, b"")], "goaway 1");
    check(&[frame(SETTINGS, 0, 0, &setting(2, 2))], "goaway 1");
    check(&[frame(SETTINGS, 0, 0, &setting(4, 1 << 31))], "goaway 3");
    check(&[frame(SETTINGS, 0, 0, &setting(5, 16_383))], "goaway 1");
    check(&[frame(WINDOW_UPDATE, 0, 0, &[0; 4])], "goaway 1");
    check(&[frame(WINDOW_UPDATE, 0, 0, &[0; 3])], "goaway 6");
    check(&[frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])], "goaway 1");
    check(&[frame(WINDOW_UPDATE, 0, 0, &[127, 255, 255, 255])], "goaway 3");
    check(&[open(), frame(WINDOW_UPDATE, 0, 1, &[0; 4])], "reset 1 1");
    check(&[open(), frame(WINDOW_UPDATE, 0, 1, &[127, 255, 255, 255])], "reset 1 3");
    check(&[frame(5, 4, 1, &[0, 0, 0, 2])], "goaway 1");
    check(&[frame(CONTINUATION, 4, 1, b"\x82")], "goaway 1");
    check(&[frame(HEADERS, 1, 1, b"\x82"), frame(PING, 0, 0, &[0; 8])], "goaway 1");
    check(&[frame(HEADERS, 1, 1, b"\x82"), frame(CONTINUATION, 4, 3, b"\x86\x84")], "goaway 1");
    check(&[frame(HEADERS, 13, 1, b"\x09\x82\x86\x84")], "goaway 1");
    check(&[frame(9, 0, 1, &[0; 16_385])], "goaway 6");
    check(&[ask(b"\x82\x86\x84\xff\xff\x7f")], "goaway 9");
    check(&[open(), frame(HEADERS, 4, 1, b"\x00\x01a\x01b")], "reset 1 1");
    check(
        &[frame(HEADERS, 5, 1, &get("/hello?delay=constant:1min")), frame(DATA, 0, 1, b"a")],
        "reset 1 5",
    );
    check(&[ask(b"\x82\x86")], "reset 1 1");
    check(&[ask(b"\x82\x82\x86\x84")], "reset 1 1");
    check(&[ask(b"\x82\x86\x84\x88")], "reset 1 1");
    check(&[ask(b"\x82\x86\x04\x00")], "reset 1 1");
    check(&[ask(b"\x82\x86\x00\x01a\x01b\x84")], "reset 1 1");
    check(&[fields(b"\x00\x01A\x01b")], "reset 1 1");
    check(&[fields(b"\x00\x01a\x02 b")], "reset 1 1");
    check(&[fields(b"\x00\x01a\x03b\r\n")], "reset 1 1");
    check(&[fields(b"\x00\x0aconnection\x05close")], "reset 1 1");
    check(&[fields(b"\x00\x02te\x04gzip")], "reset 1 1");
    check(&[fields(b"\x01\x01h\x0f\x17\x01g")], "reset 1 1");
    check(&[fields(b"\x0f\x0d\x011")], "reset 1 1");
    let short = frame(HEADERS, 4, 1, b"\x83\x86\x84\x0f\x0d\x012");
    check(&[short, frame(DATA, 1, 1, b"a")], "reset 1 1");
    let well = ["\x00\x02te\x08trailers", "\x01\x01h", ""];
    well.iter().for_each(|more| check(&[fields(more.as_bytes())], "PING 0x1 0 the end."));
    check(&[frame(0xaa, 255, 77, b"unknown")], "PING 0x1 0 the end.");
    check(&[frame(2, 0, 77, &[0; 5])], "PING 0x1 0 the end.");
}

#[test]
fn more_streams_or_more_content_than_allowed_is_refused() {
    let waiting = |id| frame(HEADERS, 5, id, &get("/hello?delay=constant:1min"));
    let config = Config { streams: 2, ..Config::default() };
    assert_eq!(refused(config.clone(), &[waiting(1), waiting(3)]), "PING 0x1 0 the end.");
    assert_eq!(refused(config, &[waiting(1), waiting(3), waiting(5)]), "reset 5 7");
    let post = frame(HEADERS, 4, 1, b"\x83\x86\x84");
    let full = vec![
        post,
        frame(SETTINGS, 1, 0, b""),
        frame(DATA, 0, 1, &[0; 10]),
        frame(DATA, 0, 1, &[0; 1]),
    ];
    let small = Config { window: 21, ..Config::default() };
    assert_eq!(refused(small.clone(), &full[..3]), "PING 0x1 0 the end.");
    let twice = [full.clone(), vec![frame(DATA, 0, 1, &[0; 22])]].concat();
    assert_eq!(refused(small, &twice), "reset 1 3");
}
