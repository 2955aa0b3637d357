use expect_test::{Expect as Snapshot, expect};
use proptest::prelude::*;

use super::*;
use crate::{HeldSession, websocket};

fn ask() -> Ask {
    socket_ask("h", "/ws", &[]).unwrap()
}

/// The answer to the handshake that `begin(7, …)` sends.
fn agrees() -> Vec<u8> {
    let (ask, limits) = (ask(), Limits::default());
    let mut socket = Socket::new(&ask, &limits, HeldLimits::default());
    socket.begin(7, &mut Vec::new());
    let accept = socket.key.accept();
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// What a connection reports for bytes that come in these pieces, and what it answers, without masks.
fn hear<'b>(
    pieces: impl Iterator<Item = &'b [u8]>,
    ends: bool,
    held: HeldLimits,
) -> (String, Vec<u8>) {
    let (ask, limits) = (ask(), Limits::default());
    let mut socket = HeldSession::Socket(Socket::new(&ask, &limits, held));
    let (mut output, mut heard, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    socket.begin(7, &mut output);
    output.clear();
    let mut result = Ok(());
    for piece in pieces {
        let mut note = |news: HeldEvent<'_>| {
            if let HeldEvent::Part { bytes, .. } = news {
                parts.extend_from_slice(bytes);
                return;
            }
            heard.push(match news {
                HeldEvent::Message { shown, bytes } => {
                    let whole = std::mem::take(&mut parts);
                    assert_eq!(whole.len() as u64, bytes, "the parts are the whole");
                    assert!(whole.starts_with(shown));
                    format!("{:?}/{bytes}", String::from_utf8_lossy(shown))
                }
                other => format!("{other:?}"),
            });
        };
        result = result.and_then(|()| socket.receive(piece, &mut output, &mut note));
    }
    if ends {
        result = result.and_then(|()| socket.ended(&mut |_| {}));
    }
    heard.push(result.map_or_else(|fault| fault.name().to_string(), |()| "fine".into()));
    (heard.join(", "), unmasked(&output))
}

/// Dyno's frames as a server would read them.
fn unmasked(mut output: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    while let [first, second, rest @ ..] = output {
        assert_eq!(second & 0x80, 0x80, "a client masks");
        let len = usize::from(second & 0x7f);
        assert!(len < 126, "these tests are answered in few words");
        let (mask, payload) = rest.split_at(4);
        plain.extend_from_slice(&[*first, len as u8]);
        plain
            .extend(payload[..len].iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        output = &payload[len..];
    }
    plain
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    websocket::frame(first, None, payload)
}

fn after_handshake(frames: &[u8]) -> (String, Vec<u8>) {
    let bytes = [agrees(), frames.to_vec()].concat();
    hear(std::iter::once(&bytes[..]), false, HeldLimits::default())
}

fn check(frames: &[u8], expected: &Snapshot) {
    expected.assert_eq(&after_handshake(frames).0);
}

#[test]
fn the_request_is_that_of_a_websocket() {
    let (ask, limits) = (ask(), Limits::default());
    let mut output = Vec::new();
    Socket::new(&ask, &limits, HeldLimits::default()).begin(7, &mut output);
    expect![[r#"
        GET /ws HTTP/1.1
        Host: h
        Upgrade: websocket
        Connection: Upgrade
        Sec-WebSocket-Version: 13
        Sec-WebSocket-Key: 1w0yWeThy2McZjz01zxMBA==

    "#]]
    .assert_eq(&String::from_utf8(output).unwrap().replace('\r', ""));
}

#[test]
fn a_handshake_is_agreed_or_it_is_said_why_not() {
    let offered = |field: &str| format!("Sec-WebSocket-{field}\r\nUpgrade: web");
    for (old, new, expected) in [
        ("", "", "Opened, ws.cut"),
        ("101", "200", "ws.not_switched"),
        ("websocket", "h2c", "ws.no_upgrade"),
        ("keep-alive, Upgrade", "close", "ws.no_upgrade"),
        ("Accept: ", "Accept: A", "ws.bad_accept"),
        ("Accept: ", "Except: ", "ws.bad_accept"),
        ("Upgrade: web", &offered("Extensions: permessage-deflate"), "ws.not_offered"),
        ("Upgrade: web", &offered("Protocol: chat"), "ws.not_offered"),
        ("HTTP/1.1", "HTTP/1.0", "proto.version"),
        ("HTTP/1.1", "SSH-2.0", "proto.status_line"),
    ] {
        let head = String::from_utf8(agrees()).unwrap().replace(old, new);
        let heard = hear(std::iter::once(head.as_bytes()), true, HeldLimits::default()).0;
        assert_eq!(heard, expected, "{new} for {old}");
    }
    for (cut, expected) in [(40, "recv.cut_head"), (0, "recv.empty")] {
        let heard = hear(std::iter::once(&agrees()[..cut]), true, HeldLimits::default()).0;
        assert_eq!(heard, expected);
    }
}

#[test]
fn messages_come_whole_in_one_frame_or_in_many() {
    check(&frame(0x81, b"beat=1"), &expect![[r#"Opened, "beat=1"/6, fine"#]]);
    let (heard, _) = after_handshake(&frame(0x82, &[b'x'; 300]));
    assert_eq!(heard, format!("Opened, \"{}\"/300, fine", "x".repeat(crate::MESSAGE_SHOWN)));
    let pieces = [frame(0x01, b"be"), frame(0x89, b"!"), frame(0x00, b""), frame(0x80, b"at")];
    check(&pieces.concat(), &expect![[r#"Opened, Ping, "beat"/4, fine"#]]);
    check(&frame(0x81, b""), &expect![[r#"Opened, ""/0, fine"#]]);
}

#[test]
fn a_ping_is_answered_with_its_own_payload_and_a_close_with_its_code() {
    let (heard, answered) = after_handshake(&[frame(0x89, b"you?"), frame(0x8a, b"")].concat());
    assert_eq!((heard.as_str(), &answered[..]), ("Opened, Ping, Pong, fine", &b"\x8a\x04you?"[..]));
    let (heard, answered) =
        after_handshake(&[frame(0x88, b"\x03\xe9bye"), frame(0x81, b"x")].concat());
    assert_eq!(heard, "Opened, Close(Some(1001)), fine");
    assert_eq!(answered, b"\x88\x02\x03\xe9");
    let (heard, answered) = after_handshake(&frame(0x88, b""));
    assert_eq!((heard.as_str(), &answered[..]), ("Opened, Close(None), fine", &b"\x88\x00"[..]));
}

#[test]
fn what_a_server_must_not_send_has_a_name_and_is_answered() {
    check(&frame(0xc1, b"x"), &expect!["Opened, ws.reserved_bits"]);
    check(&frame(0x83, b"x"), &expect!["Opened, ws.opcode"]);
    check(&frame(0x8b, b"x"), &expect!["Opened, ws.opcode"]);
    check(&[0x81, 0x81, 1, 2, 3, 4, 5], &expect!["Opened, ws.masked"]);
    check(&[0x81, 126, 0, 125], &expect!["Opened, ws.bad_length"]);
    check(&[0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], &expect!["Opened, ws.bad_length"]);
    check(&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], &expect!["Opened, ws.bad_length"]);
    check(&frame(0x09, b"x"), &expect!["Opened, ws.bad_control"]);
    check(&frame(0x89, &[0; 126]), &expect!["Opened, ws.bad_control"]);
    check(&frame(0x80, b"x"), &expect!["Opened, ws.bad_fragment"]);
    check(&[frame(0x01, b"x"), frame(0x81, b"y")].concat(), &expect!["Opened, ws.bad_fragment"]);
    check(&frame(0x81, b"\xff"), &expect!["Opened, ws.not_utf8"]);
    check(&[frame(0x01, b"\xf4"), frame(0x00, b"\x90")].concat(), &expect!["Opened, ws.not_utf8"]);
    check(&frame(0x81, b"\xe2\x82"), &expect!["Opened, ws.not_utf8"]);
    check(
        &[frame(0x01, b"\xe2\x82"), frame(0x80, b"\xac")].concat(),
        &expect![[r#"Opened, "€"/3, fine"#]],
    );
    check(&frame(0x88, b"\x03"), &expect!["Opened, ws.bad_goodbye"]);
    check(&frame(0x88, b"\x03\xed"), &expect!["Opened, ws.bad_goodbye"]);
    check(&frame(0x88, b"\x03\xe8\xff"), &expect!["Opened, ws.not_utf8"]);
    assert_eq!(after_handshake(&frame(0xc1, b"x")).1, b"\x88\x02\x03\xea");
    assert_eq!(after_handshake(&frame(0x81, b"\xff")).1, b"\x88\x02\x03\xef");
}

#[test]
fn no_message_grows_beyond_the_limit_however_it_is_cut() {
    let held = HeldLimits { message: 100, fragments: 5 };
    let heard = |frames: Vec<u8>| {
        let bytes = [agrees(), frames].concat();
        hear(std::iter::once(&bytes[..]), false, held).0
    };
    assert_eq!(heard(frame(0x82, &[0; 101])), "Opened, limit.message");
    let many = [frame(0x02, &[0; 60]), frame(0x00, &[0; 60])].concat();
    assert_eq!(heard(many), "Opened, limit.message");
    let endless = [frame(0x02, b""), frame(0x00, b"").repeat(5)].concat();
    assert_eq!(heard(endless), "Opened, limit.message");
    // A length beyond all memory is only a number.
    assert_eq!(
        heard(vec![0x82, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255]),
        "Opened, limit.message"
    );
}

#[test]
fn a_flood_of_pings_is_answered_up_to_a_bound() {
    let (_, answered) = after_handshake(&frame(0x89, &[0; 100]).repeat(10_000));
    assert!((OUTPUT_MAX / 2..OUTPUT_MAX + 200).contains(&answered.len()), "{}", answered.len());
}

#[test]
fn a_client_speaks_while_it_is_connected_and_sends_one_close() {
    let (ask, limits) = (ask(), Limits::default());
    let mut socket = Socket::new(&ask, &limits, HeldLimits::default());
    let mut output = Vec::new();
    socket.begin(7, &mut output);
    assert!(!socket.send_text(b"early", &mut output));
    socket.receive(&agrees(), &mut output, &mut |_| {}).unwrap();
    output.clear();
    assert!(socket.send_text(b"hello", &mut output));
    assert_eq!(unmasked(&output), b"\x81\x05hello");
    socket.leave(&mut output);
    socket.leave(&mut output);
    assert_eq!(unmasked(&output), b"\x81\x05hello\x88\x02\x03\xe8");
    assert!(!socket.send_text(b"late", &mut output));
    assert_eq!(socket.receive(&frame(0x88, b"\x03\xe8"), &mut output, &mut |_| {}), Ok(()));
    assert_eq!((output.len(), socket.ended()), (11 + 8, Ok(())));
}

#[test]
fn long_words_of_ours_have_their_length_in_front() {
    for (len, head) in [
        (125, &[0x81, 0xfd][..]),
        (126, &[0x81, 0xfe, 0, 126]),
        (70_000, &[0x81, 0xff, 0, 0, 0, 0, 0, 1, 0x11, 0x70]),
    ] {
        let mut output = Vec::new();
        push_frame(Opcode::Text, &vec![b'x'; len], [1, 2, 3, 4], &mut output);
        assert!(output.starts_with(head), "{len}");
        assert_eq!(output.len(), head.len() + 4 + len);
    }
}

#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<HeldSession<'_>>() <= 320, "{}", size_of::<HeldSession<'_>>());
}

fn frames() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => (prop_oneof![Just(0x81_u8), Just(0x01), Just(0x00), Just(0x80), Just(0x82), Just(0x89), Just(0x8a), Just(0x88), any::<u8>()],
              prop_oneof![proptest::collection::vec(any::<u8>(), 0..9), "[a-z€ß]{0,70}".prop_map(String::into_bytes)])
            .prop_map(|(first, payload)| frame(first, &payload)),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_cut_means_the_same(frames in frames(), size in 1_usize..9) {
        let bytes = [agrees(), frames].concat();
        let whole = hear(std::iter::once(&bytes[..]), true, HeldLimits::default());
        let cut = hear(bytes.chunks(size), true, HeldLimits::default());
        prop_assert_eq!(whole, cut);
    }
}
