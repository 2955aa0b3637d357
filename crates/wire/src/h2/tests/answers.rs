use super::*;

/// What comes of frames on stream 1, where this request is under way.
fn hears(ask: &Ask, frames: &[Vec<u8>]) -> String {
    Talk::asked(order(4), [ask]).after(frames)
}

fn expecting(body: BodyRule) -> Ask {
    request("GET", "", Expect { body, ..Expect::default() })
}

#[test]
fn an_answer_is_a_head_and_data_until_the_stream_ends() {
    let ask = expecting(BodyRule::Exactly(Template::literal("Rust")));
    let frames = |body: &[Vec<u8>]| [&[head(1, EH, ":status: 200")], body].concat();
    assert_eq!(hears(&ask, &frames(&[data(1, ES, "Rust")])), "1 begins, 1: 200");
    let parts = [data(1, 0, "Ru"), data(1, 0, ""), data(1, 0, "st"), data(1, ES, "")];
    assert_eq!(hears(&ask, &frames(&parts)), "1 begins, 1: 200");
    assert_eq!(hears(&ask, &frames(&[data(1, ES, "rust")])), "1 begins, 1: 200 wrong Body");
    assert_eq!(hears(&ask, &frames(&[data(1, ES, "Rus")])), "1 begins, 1: 200 wrong Body");
    assert_eq!(hears(&ask, &[ok(1)]), "1 begins, 1: 200 wrong Body");
    assert_eq!(hears(&ask, &frames(&[data(1, 0, "Rust")])), "1 begins");
}

#[test]
fn the_octets_of_an_answer_are_those_of_its_frames() {
    let mut talk = Talk::asked(order(2), [get(), get()]);
    let frames = [head(1, EH, ":status: 200"), ok(3), window(0, 1), data(1, ES, "Rust")];
    let own = frames[0].len() + frames[3].len();
    talk.hear(&frames.concat()).unwrap();
    let octets = |news: &H2News| match news {
        H2News::Answered { octets, .. } => Some(*octets),
        _ => None,
    };
    let octets: Vec<u64> = talk.news.iter().filter_map(octets).collect();
    assert_eq!(octets, [10, own as u64]);
}

#[test]
fn padding_is_no_part_of_a_body() {
    let ask = expecting(BodyRule::Exactly(Template::literal("Rust")));
    let head = head(1, EH, ":status: 200\ncontent-length: 4");
    let padded = |length: u8| {
        let payload = [&[length][..], b"Rust", &vec![9; length.into()]].concat();
        frame(DATA, PAD | ES, 1, &payload)
    };
    for length in [0, 1, 255] {
        assert_eq!(hears(&ask, &[head.clone(), padded(length)]), "1 begins, 1: 200");
    }
    // The head itself, padded and with the priority that is no more; and DATA that is nothing but padding.
    let payload = [&[3, 0, 0, 0, 0, 16][..], &[0x88], &[0; 3]].concat();
    let strange = frame(HEADERS, EH | PAD | 0x20, 1, &payload);
    let nothing = frame(DATA, PAD, 1, &[2, 0, 0]);
    assert_eq!(hears(&ask, &[strange, nothing, padded(7)]), "1 begins, 1: 200");
}

#[test]
fn heads_and_bodies_are_judged_as_in_http_1_1() {
    let headers = vec![("content-type".into(), Template::literal("text/xml"))];
    let ask = request("GET", "", Expect { headers, ..Expect::default() });
    let answer = |kind: &str| head(1, WHOLE, &format!(":status: 200\ncontent-type: {kind}"));
    assert_eq!(hears(&ask, &[answer("text/xml")]), "1 begins, 1: 200");
    assert_eq!(hears(&ask, &[answer("text/xm")]), "1 begins, 1: 200 wrong Header");
    assert_eq!(hears(&ask, &[head(1, WHOLE, ":status: 404")]), "1 begins, 1: 404 wrong Status");
    let ask = expecting(BodyRule::Length(4));
    let frames = [head(1, EH, ":status: 200"), data(1, ES, "Rusty")];
    assert_eq!(hears(&ask, &frames), "1 begins, 1: 200 wrong Body");
    let own = BodyRule::Exactly(Template::parse(b"{seq}").unwrap());
    let frames = [head(1, EH, ":status: 200"), data(1, ES, "7")];
    assert_eq!(hears(&expecting(own), &frames), "1 begins, 1: 200");
}

#[test]
fn interim_answers_and_trailers_are_skipped() {
    let interim = head(1, EH, ":status: 103\nlink: </a>");
    let frames = |interims: usize| {
        let mut frames = vec![interim.clone(); interims];
        frames.extend([head(1, EH, ":status: 200"), data(1, 0, "hi")]);
        frames.push(head(1, WHOLE, "x-sum: 1"));
        frames
    };
    assert_eq!(hears(get(), &frames(0)), "1 begins, 1: 200");
    let skipped = "1 begins, 1 interim, ".repeat(8);
    assert_eq!(hears(get(), &frames(8)), format!("{skipped}1 begins, 1: 200"));
    let flood = format!("{skipped}1 begins, 1 failed proto.interim_flood, > RST 1 11");
    assert_eq!(hears(get(), &frames(9)), flood);
}

#[test]
fn some_answers_have_no_body_whatever_they_say() {
    let head_ask = request("HEAD", "", Expect::default());
    let head =
        |status: &str, flags| head(1, flags, &format!(":status: {status}\ncontent-length: 4"));
    assert_eq!(hears(&head_ask, &[head("200", WHOLE)]), "1 begins, 1: 200");
    assert_eq!(hears(get(), &[head("304", WHOLE)]), "1 begins, 1: 304");
    assert_eq!(hears(get(), &[head("204", EH), data(1, ES, "")]), "1 begins, 1: 204");
    let broken = "1 begins, 1 failed h2.length, > RST 1 1";
    assert_eq!(hears(&head_ask, &[head("200", EH), data(1, 0, "Rust")]), broken);
    assert_eq!(hears(get(), &[head("304", EH), data(1, 0, "Rust")]), broken);
}

#[test]
fn a_length_must_be_the_bodys() {
    let head =
        |length: &str, flags| head(1, flags, &format!(":status: 200\ncontent-length: {length}"));
    let check = |frames: &[Vec<u8>], expected: &str| assert_eq!(hears(get(), frames), expected);
    check(&[head("4", EH), data(1, ES, "Rust")], "1 begins, 1: 200");
    check(&[head("4, 4", EH), data(1, ES, "Rust")], "1 begins, 1: 200");
    // Both sides have ended the stream: there is nothing to reset.
    check(&[head("4", EH), data(1, ES, "Rus")], "1 begins, 1 failed h2.length");
    check(&[head("4", WHOLE)], "1 begins, 1 failed h2.length");
    check(&[head("4", EH), data(1, 0, "Rusty")], "1 begins, 1 failed h2.length, > RST 1 1");
    let unread = "1 begins, 1 failed proto.bad_length, > RST 1 1";
    check(&[head("-4", EH)], unread);
    check(&[head("4\ncontent-length: x", EH)], unread);
    let conflict = "1 begins, 1 failed proto.length_conflict, > RST 1 1";
    check(&[head("4\ncontent-length: 5", EH)], conflict);
}

#[test]
fn a_broken_head_fails_its_stream_only() {
    let cases = [
        ("date: now", "h2.field"),
        (":status: 200\n:status: 200", "h2.field"),
        (":status: 20", "h2.field"),
        (":status: 099", "h2.field"),
        (":status: 600", "h2.field"),
        (":status: +20", "h2.field"),
        ("date: now\n:status: 200", "h2.field"),
        (":status: 200\n:path: /", "h2.field"),
        (":status: 200\nDate: now", "h2.field"),
        (":status: 200\na b: c", "h2.field"),
        (":status: 200\na: b\rc", "h2.field"),
        (":status: 200\na: b\0", "h2.field"),
        (":status: 200\na:  b", "h2.field"),
        (":status: 200\na: b\t", "h2.field"),
        (":status: 200\nconnection: close", "h2.field"),
        (":status: 200\nkeep-alive: 5", "h2.field"),
        (":status: 200\ntransfer-encoding: chunked", "h2.field"),
        (":status: 200\nte: trailers", "h2.field"),
        (":status: 200\nupgrade: h3", "h2.field"),
        (":status: 200\nproxy-connection: close", "h2.field"),
        (":status: 101", "proto.unexpected_101"),
    ];
    let ask = get();
    for (fields, class) in cases {
        let mut talk = Talk::asked(order(2), [ask, ask]);
        let said = talk.after(&[head(1, EH, fields), ok(3)]);
        let expected = format!("1 begins, 1 failed {class}, 2 begins, 2: 200, > RST 1 1");
        assert_eq!(said, expected, "{fields:?}");
    }
    for name in [&b"a:"[..], b"", b"\x7f", b"\xe9"] {
        let bytes = [&[0x88, 0, name.len() as u8][..], name, &[1, b'c']].concat();
        let said = hears(ask, &[frame(HEADERS, EH, 1, &bytes)]);
        assert_eq!(said, "1 begins, 1 failed h2.field, > RST 1 1", "{name:?}");
    }
    let many = format!(":status: 200{}", "\na: b".repeat(129));
    assert!(hears(ask, &[head(1, EH, &many)]).contains("proto.head_too_large"));
}

#[test]
fn lenience_takes_what_old_servers_send() {
    let limits = Limits { lenient: true, ..Limits::default() };
    let (order, ask) = (H2Order { limits, ..order(1) }, get());
    let mut talk = Talk::asked(order, [ask]);
    let said = talk.after(&[head(1, WHOLE, ":status: 200\nconnection: close\na:  b ")]);
    assert_eq!(said, "1 begins, 1: 200");
}

#[test]
fn frames_in_the_wrong_order_fail_their_stream() {
    let ask = get();
    let final_head = head(1, EH, ":status: 200");
    let cases = [
        (vec![data(1, 0, "hi")], "h2.frame, > RST 1 1"),
        (vec![head(1, EH, ":status: 103"), data(1, 0, "hi")], "h2.frame, > RST 1 1"),
        (vec![head(1, WHOLE, ":status: 103")], "h2.frame"),
        (vec![final_head.clone(), head(1, EH, "a: b")], "h2.frame, > RST 1 1"),
        (vec![final_head.clone(), head(1, WHOLE, ":status: 200")], "h2.field"),
        (vec![final_head.clone(), head(1, WHOLE, "a: b\n:status: 200")], "h2.field"),
        (vec![final_head.clone(), head(1, WHOLE, "A: b")], "h2.field"),
        (vec![final_head.clone(), frame(PRIORITY, 0, 1, &[0; 4])], "h2.frame, > RST 1 6"),
        (vec![final_head.clone(), window(1, 0)], "h2.flow, > RST 1 1"),
        (vec![final_head, window(1, 0x7fff_ffff)], "h2.flow, > RST 1 3"),
    ];
    for (frames, class) in cases {
        let said = hears(ask, &frames);
        assert!(said.ends_with(&format!("1 failed {class}")), "{said}, not {class}");
    }
}

#[test]
fn nothing_grows_without_limit() {
    let limits = Limits { body: 10, head: 1_000, ..Limits::default() };
    let (order, ask) = (H2Order { limits, ..order(1) }, get());
    let hears = |frames: &[Vec<u8>]| Talk::asked(order, [ask]).after(frames);
    let large = "1 begins, 1 failed limit.body, > RST 1 8";
    assert_eq!(hears(&[head(1, EH, ":status: 200\ncontent-length: 11")]), large);
    assert_eq!(hears(&[head(1, EH, ":status: 200"), data(1, 0, "hello world")]), large);
    let fields = format!(":status: 200{}", "\na: b".repeat(40));
    let said = hears(&[head(1, EH, &fields)]);
    assert_eq!(said, "1 begins, 1 failed proto.head_too_large, > RST 1 1");
}

#[test]
fn a_server_ends_a_stream() {
    let mut talk = Talk::asked(order(4), [get(); 4]);
    let begun = head(7, EH, ":status: 200");
    let said = talk.after(&[rst(1, 7), rst(3, 2), rst(5, 11), begun, rst(7, 7)]);
    assert_eq!(said, "1 refused, 2 failed h2.reset, 3 failed h2.calm, 4 begins, 4 failed h2.reset");
    assert_eq!(talk.h2.room(), 4);
    let counts = talk.h2.ledger.so_far().counts;
    assert_eq!(counts.resets_received[7], 2);
    assert_eq!((counts.refused, counts.resets_sent), (1, 0));
    // A second reset crosses with the end of the stream and is allowed; DATA is not.
    assert_eq!(talk.after(&[rst(1, 0), window(3, 1)]), "");
    assert_eq!(talk.after(&[data(3, 0, "hi")]), "> GOAWAY 0 5, fault h2.frame");
}

#[test]
fn an_exchange_that_is_given_up_costs_the_others_nothing() {
    let mut talk = Talk::asked(order(2), [get(), get()]);
    let Talk { h2, news, output } = &mut talk;
    h2.abandon(id(1), news, output);
    h2.abandon(id(9), news, output);
    assert_eq!(h2.room(), 1);
    assert_eq!(talk.look(), "> RST 1 8");
    // The answer was on its way: its head is read for the table's sake, and its body counts for the windows.
    let late = frame(HEADERS, EH, 1, &[0x88, 0x40, 1, b'a', 1, b'b']);
    let said = talk.after(&[late, data(1, ES, "hi"), frame(HEADERS, WHOLE, 3, &[0x88, 0xbe])]);
    assert_eq!(said, "2 begins, 2: 200");
    // What ended as it should have is another matter.
    assert_eq!(talk.after(&[data(3, 0, "hi")]), "> GOAWAY 0 5, fault h2.frame");
}

#[test]
fn after_ten_resets_of_ours_a_connection_takes_no_more() {
    let mut talk = Talk::asked(order(20), [get(); 12]);
    let Talk { h2, news, output } = &mut talk;
    for exchange in 1..=10 {
        h2.abandon(id(exchange), news, output);
    }
    assert_eq!((news.len(), h2.room()), (0, 18));
    h2.abandon(id(11), news, output);
    assert_eq!((news.as_slice(), h2.room()), (&[H2News::Draining][..], 0));
    talk.look();
    assert_eq!(talk.after(&[ok(23)]), "12 begins, 12: 200 last");
}

#[test]
fn progress_is_each_exchanges_own() {
    let mut talk = Talk::asked(order(4), [get(); 4]);
    talk.hear(&[head(1, EH, ":status: 200"), head(3, EH, ":status: 103"), ok(7)].concat()).unwrap();
    let progress: Vec<Progress> = (1..=4).map(|number| talk.progress(number)).collect();
    let expected = [Progress::Body, Progress::Head, Progress::Requested, Progress::Idle];
    assert_eq!(progress, expected);
    let mut under_way = Vec::new();
    talk.h2.under_way(&mut under_way);
    assert_eq!(under_way, [1, 2, 3].map(|number| (id(number), expected[number as usize - 1])));
}

#[test]
fn equal_heads_are_read_once() {
    let mut talk = Talk::asked(order(1), []);
    // Inserts with every answer and never refers to it, as some servers do; then all from the table, as others do.
    let inserting = [&[0x88, 0x61, 3][..], b"now", &[0x76, 1, b'x']].concat();
    for (turn, block) in
        [&inserting[..]; 200].into_iter().chain([&[0x88, 0xbf, 0xbe][..]; 5]).enumerate()
    {
        talk.ask(1, get());
        talk.hear(&frame(HEADERS, WHOLE, 2 * turn as u32 + 1, block)).unwrap();
    }
    let heads = talk.h2.ledger.so_far().heads;
    assert_eq!((heads.blocks, heads.known), (205, 199 + 4));
    assert_eq!(heads.octets, 200 * 9 + 5 * 3);
    assert_eq!(heads.list_octets, 205 * (42 + 39 + 39));
}

/// Answers, one after the other, to requests of these kinds, and how many of their heads were known.
fn heads(answers: &[(&Ask, &[u8])]) -> (Vec<String>, u64) {
    let mut talk = Talk::ready(order(1), &[]);
    let mut said = Vec::new();
    for (turn, (ask, block)) in answers.iter().enumerate() {
        talk.ask(0, ask);
        talk.look();
        talk.hear(&frame(HEADERS, WHOLE, 2 * turn as u32 + 1, block)).unwrap();
        said.extend(note(talk.news[1]));
    }
    (said, talk.h2.ledger.so_far().heads.known)
}

#[test]
fn a_head_is_known_only_so_long_as_the_table_is_the_same() {
    let ask = get();
    // Statuses that are inserted; the newest entry; and that entry with an insertion after it.
    let (lost, broken, newest) = (b"\x48\x03404", b"\x48\x03500", b"\xbe");
    let shifting = b"\xbe\x40\x01a\x01b";
    let answers = |blocks: &[&[u8]]| heads(&blocks.iter().map(|it| (ask, *it)).collect::<Vec<_>>());
    let (said, known) = answers(&[lost, broken, newest, newest, lost, newest, newest]);
    let expected = ["0: 404", "0: 500", "0: 500", "0: 500", "0: 404", "0: 404", "0: 404"];
    assert_eq!((said, known), (expected.map(String::from).to_vec(), 3));
    let (said, known) = answers(&[lost, shifting, shifting]);
    assert_eq!((said.join(", ").as_str(), known), ("0: 404, 0: 404, 0 failed h2.field", 0));
    // The table's size changes what is in it.
    let (said, known) = answers(&[lost, newest, b"\x20\x3f\xe1\x1f\x88", broken, newest]);
    assert_eq!(said.join(", "), "0: 404, 0: 404, 0: 200, 0: 500, 0: 500");
    assert_eq!(known, 0);
    let mut talk = Talk::asked(order(4), [ask; 4]);
    let blocks: [&[u8]; 4] = [lost, newest, b"\x20\x88", newest];
    let frames = [1, 3, 5, 7].into_iter().zip(blocks);
    let frames = frames.map(|(stream, block)| frame(HEADERS, WHOLE, stream, block));
    let said = talk.after(&frames.collect::<Vec<_>>());
    assert!(said.ends_with("3: 200, 4 begins, > GOAWAY 0 9, fault h2.hpack"), "{said}");
}

#[test]
fn a_known_head_is_judged_for_its_own_request() {
    let with = |value: &str| {
        let headers = vec![("a".into(), Template::parse(value.as_bytes()).unwrap())];
        request("GET", "", Expect { headers, ..Expect::default() })
    };
    let (right, wrong, own, any) = (with("b"), with("c"), with("{seq}"), get());
    let block: &[u8] = b"\x88\x00\x01a\x01b";
    let kinds = [&right, &right, &wrong, &wrong, any, &own, &own];
    let (said, known) = heads(&kinds.map(|ask| (ask, block)));
    let expected = ["", "", " wrong Header", " wrong Header", "", " wrong Header", " wrong Header"];
    assert_eq!(said, expected.map(|end| format!("0: 200{end}")));
    assert_eq!(known, 3);
}
