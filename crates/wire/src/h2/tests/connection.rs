use super::*;

/// What a server's bytes do to a connection that is ready and has requests on the streams 1 and 3.
fn hears(frames: &[Vec<u8>]) -> String {
    Talk::asked(order(4), [get(), get()]).after(frames)
}

#[test]
fn a_connection_begins_with_a_preface_and_is_ready_when_the_server_has_sent_its_settings() {
    let mut talk = Talk::open(order(4));
    assert_eq!(
        talk.look(),
        "> PREFACE, > SETTINGS 2=0 4=2147483647 6=65536, > WINDOW 0 +2147418112"
    );
    assert_eq!((talk.h2.room(), talk.h2.ledger.so_far().settings.len()), (0, 0));
    assert_eq!(
        talk.after(&[settings(&[(3, 100), (4, 1), (77, 1)])]),
        "introduced, ready, > SETTINGS ACK"
    );
    let (settings, connections) = talk.h2.ledger.so_far().settings[0];
    assert_eq!(connections, 1);
    assert_eq!((settings.max_concurrent_streams, settings.initial_window_size), (Some(100), 1));
    assert_eq!(settings.max_frame_size, 16_384);
    assert_eq!(talk.h2.room(), 4);
    assert_eq!(talk.after(&[frame(SETTINGS, 1, 0, &[])]), "");
}

#[test]
fn a_peer_that_does_not_begin_with_settings_is_no_http_2_server() {
    let beginnings = [
        b"HTTP/1.1 400 Bad Request\r\n".to_vec(),
        b"SSH-2.0-x\r\n".to_vec(),
        frame(SETTINGS, 1, 0, &[]),
        frame(SETTINGS, 0, 1, &[]),
        frame(PING, 0, 0, &[0; 8]),
        goaway(0, 0),
    ];
    for bytes in beginnings {
        let mut talk = Talk::open(order(1));
        talk.look();
        assert_eq!(talk.after(&[bytes]), "> GOAWAY 0 1, fault h2.preface");
    }
    let mut talk = Talk::open(order(1));
    assert_eq!(talk.h2.ended(&mut Vec::new()), Err(FrameFault::Preface.into()));
}

#[test]
fn settings_and_pings_are_acknowledged() {
    let said = hears(&[settings(&[]), frame(PING, 0, 0, &[1, 2, 3, 4, 5, 6, 7, 8])]);
    assert_eq!(said, "> SETTINGS ACK, > PING 1 8");
    assert_eq!(hears(&[frame(PING, 1, 0, &[0; 8]), frame(SETTINGS, 1, 0, &[])]), "");
    let flood = vec![frame(PING, 0, 0, &[0; 8]); 10_001];
    assert!(hears(&flood).ends_with("> GOAWAY 0 11, fault h2.frame"));
    // Whole answers in between show that the server works.
    let mut talk = Talk::asked(order(1), []);
    for turn in 0..3 {
        talk.hear(&vec![settings(&[]); 9_000].concat()).unwrap();
        talk.ask(turn, get());
        talk.hear(&ok(2 * turn + 1)).unwrap();
    }
}

#[test]
fn values_that_settings_must_not_have_are_refused() {
    let refused = "> GOAWAY 0 1, fault h2.frame";
    for (name, value) in [(2, 1), (2, 2), (5, 16_383), (5, 1 << 24), (8, 2), (9, 2)] {
        assert_eq!(hears(&[settings(&[(name, value)])]), refused, "{name}={value}");
    }
    assert_eq!(hears(&[settings(&[(4, 1 << 31)])]), "> GOAWAY 0 3, fault h2.flow");
    for (name, value) in [(2, 0), (5, 16_384), (5, (1 << 24) - 1), (8, 1), (1, u32::MAX), (6, 0)] {
        assert_eq!(hears(&[settings(&[(name, value)])]), "> SETTINGS ACK", "{name}={value}");
    }
}

#[test]
fn frames_of_the_wrong_shape_end_the_connection() {
    let size = "> GOAWAY 0 6, fault h2.frame";
    let protocol = "> GOAWAY 0 1, fault h2.frame";
    let cases = [
        (frame(SETTINGS, 0, 0, &[0; 5]), size),
        (frame(SETTINGS, 1, 0, &[0; 6]), size),
        (frame(PING, 0, 0, &[0; 7]), size),
        (frame(GOAWAY, 0, 0, &[0; 7]), size),
        (frame(WINDOW_UPDATE, 0, 0, &[0; 5]), size),
        (frame(RST_STREAM, 0, 1, &[0; 3]), size),
        (frame(DATA, PAD, 1, &[]), size),
        (frame(77, 0, 0, &[0; 16_385]), size),
        (frame(SETTINGS, 0, 1, &[]), protocol),
        (frame(PING, 0, 1, &[0; 8]), protocol),
        (frame(GOAWAY, 0, 1, &[0; 8]), protocol),
        (frame(DATA, 0, 0, &[]), protocol),
        (frame(HEADERS, EH, 0, &[0x88]), protocol),
        (frame(RST_STREAM, 0, 0, &[0; 4]), protocol),
        (frame(PRIORITY, 0, 0, &[0; 5]), protocol),
        (frame(CONTINUATION, EH, 1, &[]), protocol),
        (frame(PUSH_PROMISE, EH, 1, &[0; 4]), "> GOAWAY 0 1, fault h2.push"),
        (window(0, 0), "> GOAWAY 0 1, fault h2.flow"),
        (window(0, 0x7fff_ffff), "> GOAWAY 0 3, fault h2.flow"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(hears(std::slice::from_ref(&bytes)), expected, "{bytes:?}");
    }
    // What is wrong within a payload that belongs to a stream.
    let begins = |rest| format!("1 begins, {rest}");
    let padded = frame(HEADERS, EH | PAD, 1, &[1]);
    assert_eq!(hears(&[padded]), begins(protocol));
    assert_eq!(hears(&[frame(HEADERS, EH | 0x20, 1, &[0; 4])]), begins(size));
    assert_eq!(hears(&[frame(HEADERS, EH | PAD, 1, &[])]), begins(size));
    assert_eq!(hears(&[head(1, EH, ":status: 200"), frame(DATA, PAD, 1, &[1])]), begins(protocol));
    let bad_block = "1 begins, > GOAWAY 0 9, fault h2.hpack";
    assert_eq!(hears(&[frame(HEADERS, EH, 1, &[0x80])]), bad_block);
}

#[test]
fn unknown_frames_and_old_ones_are_skipped() {
    let frames = [
        frame(77, 0xff, 0, b"whatever"),
        frame(10, 0, 3, b"alt-svc"),
        frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 9]),
        frame(PRIORITY, 0, 99, &[0; 5]),
        ok(1),
    ];
    assert_eq!(hears(&frames), "1 begins, 1: 200");
}

#[test]
fn frames_come_only_on_streams_that_requests_opened() {
    let idle = "> GOAWAY 0 1, fault h2.frame";
    for bytes in [ok(5), ok(2), data(7, 0, ""), rst(5, 0), window(5, 1), window(2, 1)] {
        assert_eq!(hears(&[bytes]), idle);
    }
    let closed = "1 begins, 1: 200, > GOAWAY 0 5, fault h2.frame";
    assert_eq!(hears(&[ok(1), ok(1)]), closed);
    assert_eq!(hears(&[ok(1), data(1, 0, "")]), closed);
    // These may still be on their way.
    assert_eq!(hears(&[ok(1), window(1, 5), rst(1, 0)]), "1 begins, 1: 200");
}

#[test]
fn a_block_of_fields_may_come_in_many_frames_that_nothing_interrupts() {
    let bytes = block(":status: 200\ndate: now");
    let start = frame(HEADERS, ES, 1, &bytes[..5]);
    let middle = frame(CONTINUATION, 0, 1, &bytes[5..5]);
    let end = frame(CONTINUATION, EH, 1, &bytes[5..]);
    let all = [vec![start.clone()], vec![middle.clone(); 63], vec![end.clone()]].concat();
    assert_eq!(hears(&all), "1 begins, 1: 200");
    let all = [vec![start.clone()], vec![middle.clone(); 64], vec![end]].concat();
    assert_eq!(hears(&all), "1 begins, > GOAWAY 0 11, fault h2.frame");
    let broken = "1 begins, > GOAWAY 0 1, fault h2.frame";
    let others =
        [window(0, 1), frame(CONTINUATION, EH, 3, &[]), ok(1), frame(77, 0, 0, &[]), settings(&[])];
    for other in others {
        assert_eq!(hears(&[start.clone(), other]), broken);
    }
    // Five frames of 16 KiB are more than the limit of 64 KiB and one frame.
    let large = frame(CONTINUATION, 0, 1, &[0; 16_384]);
    let said = hears(&[vec![start], vec![large; 5]].concat());
    assert_eq!(said, "1 begins, > GOAWAY 0 11, fault h2.frame");
}

#[test]
fn goaway_drains_and_refuses_what_lies_beyond_its_last_stream() {
    let mut talk = Talk::asked(order(4), [get(); 3]);
    assert_eq!(talk.after(&[goaway(0x7fff_ffff, 0)]), "draining");
    assert_eq!(talk.h2.room(), 0);
    assert_eq!(talk.after(&[ok(1), goaway(3, 0)]), "1 begins, 1: 200 last, 3 refused");
    assert_eq!(talk.after(&[ok(3)]), "2 begins, 2: 200 last");
    assert_eq!(talk.h2.ended(&mut Vec::new()), Ok(()));
    assert_eq!(talk.h2.ledger.so_far().counts.refused, 1);
    assert_eq!(talk.after(&[goaway(5, 0)]), "> GOAWAY 0 1, fault h2.frame");
}

#[test]
fn a_goaway_with_an_error_is_why_the_answers_under_way_end() {
    for (code, class) in [(2, "h2.goaway"), (11, "h2.calm"), (99, "h2.goaway")] {
        let mut talk = Talk::asked(order(4), [get(); 2]);
        assert_eq!(talk.after(&[goaway(1, code)]), "draining, 2 refused");
        assert_eq!(talk.h2.ended(&mut Vec::new()).unwrap_err().name(), class);
    }
}

#[test]
fn room_is_what_the_server_allows_of_what_is_wanted() {
    let mut talk = Talk::ready(order(5), &[(3, 2)]);
    assert_eq!(talk.h2.room(), 2);
    talk.ask(1, get());
    talk.ask(2, get());
    assert_eq!((talk.look().as_str(), talk.h2.room()), ("> HEADERS 1 end, > HEADERS 3 end", 0));
    assert_eq!(talk.after(&[settings(&[(3, 9)])]), "room, > SETTINGS ACK");
    assert_eq!(talk.h2.room(), 3);
    talk.ask(3, get());
    talk.look();
    // Lowered under way: those that are under way go on, and room comes back when few enough are.
    assert_eq!(talk.after(&[settings(&[(3, 1)])]), "> SETTINGS ACK");
    assert_eq!(talk.h2.room(), 0);
    talk.hear(&[ok(1), ok(3)].concat()).unwrap();
    assert_eq!(talk.h2.room(), 0);
    talk.hear(&ok(5)).unwrap();
    assert_eq!(talk.h2.room(), 1);
    assert!(talk.after(&[settings(&[(3, 0)])]).ends_with("> SETTINGS ACK"));
    assert_eq!(talk.h2.room(), 0);
    assert_eq!(talk.after(&[settings(&[(3, 3)])]), "room, > SETTINGS ACK");
}

#[test]
fn a_slow_stream_is_in_no_others_way() {
    let mut talk = Talk::asked(order(2), [get()]);
    let mut streams = Vec::new();
    for exchange in 2..100 {
        talk.ask(exchange, get());
        let bytes = std::mem::take(&mut talk.output);
        let stream = u32::from_be_bytes(bytes[5..9].try_into().unwrap());
        talk.hear(&ok(stream)).unwrap();
        streams.push(stream);
    }
    assert!(streams.windows(2).all(|pair| pair[0] < pair[1] && pair[1] % 2 == 1), "{streams:?}");
    talk.look();
    assert_eq!(talk.after(&[ok(1)]), "1 begins, 1: 200");
}

#[test]
fn a_connection_whose_numbers_are_used_up_is_drained() {
    let mut talk = Talk::asked(order(2), []);
    talk.h2.next_stream = 0x7fff_ffff - 14;
    let mut asked = 0;
    while 0 < talk.h2.room() {
        talk.ask(asked, get());
        let stream = talk.h2.next_stream - 2;
        assert!(stream <= 0x7fff_ffff);
        talk.hear(&ok(stream)).unwrap();
        asked += 1;
    }
    assert!((1..8).contains(&asked), "{asked}");
    assert!(talk.look().contains("draining"));
}

#[test]
fn the_windows_of_the_order_are_announced_and_kept_open() {
    let windows = Windows::new(10, 70_000).unwrap();
    let (order, ask) = (H2Order { windows, ..order(2) }, get());
    let mut talk = Talk::open(order);
    let settings = "> SETTINGS 2=0 4=10 6=65536, > WINDOW 0 +4465";
    assert_eq!(talk.look(), format!("> PREFACE, {settings}"));
    let mut talk = Talk::asked(order, [ask, ask]);
    let opened = head(1, EH, ":status: 200");
    assert_eq!(talk.after(&[opened, data(1, 0, "12345")]), "1 begins");
    assert_eq!(talk.after(&[data(1, 0, "6")]), "> WINDOW 1 +6");
    // Of ten, all ten are used; then one more than ten.
    assert_eq!(talk.after(&[data(1, 0, "1234567890")]), "starved, > WINDOW 1 +10");
    // What was given in the same read came too late for the server: it has used up all that it had.
    let said = talk.after(&[data(1, 0, "123456"), data(1, 0, "7890"), data(1, 0, "1234")]);
    assert_eq!(said, "fed, starved, fed, > WINDOW 1 +6, > WINDOW 1 +8");
    assert_eq!(talk.after(&[data(1, 0, "1234567890+")]), "1 failed h2.flow, > RST 1 3");
    // A stream that has ended needs no window.
    let frames = [head(3, EH, ":status: 200"), data(3, ES, "1234567890")];
    assert_eq!(talk.after(&frames), "2 begins, 2: 200");
    assert_eq!(Windows::new(0, 70_000), None);
    assert_eq!(Windows::new(10, 65_534), None);
    assert_eq!(Windows::new(1 << 31, 70_000), None);
}

#[test]
fn data_counts_for_the_connection_whatever_becomes_of_its_stream() {
    let windows = Windows::new(1 << 20, 65_535).unwrap();
    let (order, ask) = (H2Order { windows, ..order(2) }, get());
    let mut talk = Talk::asked(order, [ask, ask]);
    let Talk { h2, news, output } = &mut talk;
    h2.abandon(id(1), news, output);
    talk.look();
    let late = data(1, 0, &"x".repeat(16_000));
    assert_eq!(talk.after(&[late.clone(), late.clone()]), "");
    assert_eq!(talk.after(&[late]), "> WINDOW 0 +48000");
    let counts = talk.h2.ledger.so_far().counts;
    assert_eq!((counts.window_updates_sent, counts.frames_received[0]), (1, 3));
    // All of the connection's window at once, in a single read.
    let full = [data(1, 0, &"x".repeat(16_384)), data(1, 0, &"x".repeat(16_383))].concat();
    let said = talk.after(&[full.clone(), full, data(1, 0, "x")]);
    assert!(said.starts_with("starved"), "{said}");
}

#[test]
fn what_is_counted_is_what_came() {
    let mut talk = Talk::asked(order(3), [get(); 3]);
    talk.hear(&[ok(1), ok(3), frame(PING, 0, 0, &[0; 8])].concat()).unwrap();
    talk.hear(&window(0, 1)).unwrap();
    talk.hear(&ok(5)).unwrap();
    let counts = talk.h2.ledger.so_far().counts;
    assert_eq!((counts.answers, counts.reads_with_answers), (3, 2));
    assert_eq!(counts.frames_received, [0, 3, 0, 0, 1, 0, 1, 0, 1, 0, 0]);
    assert_eq!(counts.goaways, [0; ErrorCode::COUNT]);
    talk.h2.close(&mut talk.output);
    assert!(talk.look().ends_with("> GOAWAY 0 0"));
    assert_eq!(talk.h2.room(), 0);
    // What was seen belongs to the lane, and outlives the connection.
    talk.h2.reset();
    assert_eq!((talk.h2.ledger.take().counts, talk.h2.room()), (counts, 0));
    assert_eq!(talk.h2.ledger.take(), Facts::default());
}

#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<H2<'_>>() <= 1_600, "{}", size_of::<H2<'_>>());
    assert!(size_of::<Slot<'_>>() <= 224, "{}", size_of::<Slot<'_>>());
}

#[test]
fn every_fault_says_what_it_means_and_what_answers_it() {
    for fault in FrameFault::ALL {
        let shown = H2Fault::from(*fault).to_string();
        assert!(shown.starts_with("h2.") && 20 < shown.len(), "{shown}");
        assert_ne!(H2Fault::from(*fault).code(), ErrorCode::NoError);
    }
    let reset = H2Fault::Reset(ErrorCode::InternalError).to_string();
    assert_eq!(reset, "h2.reset: the server ended the stream: INTERNAL_ERROR");
}
