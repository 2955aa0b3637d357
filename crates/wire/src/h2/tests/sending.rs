use super::*;

#[test]
fn a_body_is_sent_as_far_as_the_windows_go() {
    let (order, ask) = (order(2), post(50_000));
    let mut talk = Talk::ready(order, &[(4, 20_000)]);
    talk.ask(1, &ask);
    let said = "1 stalls, > HEADERS 1, > DATA 1 16384, > DATA 1 3616";
    assert_eq!(talk.look(), said);
    assert!(!talk.h2.has_more());
    // Nothing is sent by what is received, only by the lane's next turn.
    assert_eq!(talk.after(&[window(1, 10_000)]), "");
    assert!(talk.h2.has_more());
    talk.go_on();
    assert_eq!(talk.look(), "1 flows, 1 stalls, > DATA 1 10000");
    talk.hear(&window(1, 1 << 20)).unwrap();
    talk.go_on();
    assert_eq!(talk.look(), "1 flows, > DATA 1 16384, > DATA 1 3616 end");
    assert_eq!(talk.h2.ledger.so_far().counts.stalls, 2);
    assert_eq!(talk.after(&[ok(1)]), "1 begins, 1: 200");
}

#[test]
fn all_streams_share_the_connections_window() {
    let (order, ask) = (order(3), post(40_000));
    let mut talk = Talk::ready(order, &[(4, 1 << 20)]);
    talk.ask(1, &ask);
    talk.ask(2, &ask);
    let said = "2 stalls, > HEADERS 1, > DATA 1 16384, > DATA 1 16384, > DATA 1 7232 end, \
                > HEADERS 3, > DATA 3 16384, > DATA 3 9151";
    assert_eq!(talk.look(), said);
    talk.ask(3, &ask);
    assert_eq!(talk.look(), "3 stalls, > HEADERS 5");
    talk.hear(&window(0, 40_000)).unwrap();
    talk.go_on();
    // By turns.
    let said = talk.look();
    assert!(said.contains("> DATA 3") && said.contains("> DATA 5"), "{said}");
    assert!(!talk.h2.has_more());
    talk.hear(&window(0, 1 << 20)).unwrap();
    talk.go_on();
    assert!(!talk.look().contains("stalls"));
    assert_eq!(talk.after(&[ok(3), ok(5)]), "2 begins, 2: 200, 3 begins, 3: 200");
}

#[test]
fn a_window_may_fall_below_zero() {
    let (order, ask) = (order(1), post(30_000));
    let mut talk = Talk::ready(order, &[(4, 20_000)]);
    talk.ask(1, &ask);
    talk.look();
    // 20,000 were sent; now only 5,000 were allowed: 15,000 must come back before anything goes on.
    talk.hear(&[settings(&[(4, 5_000)]), window(1, 15_000)].concat()).unwrap();
    assert!(!talk.h2.has_more());
    talk.hear(&window(1, 1)).unwrap();
    talk.look();
    talk.go_on();
    assert_eq!(talk.look(), "1 flows, 1 stalls, > DATA 1 1");
    talk.hear(&settings(&[(4, 30_000)])).unwrap();
    talk.go_on();
    assert_eq!(talk.look(), "1 flows, > SETTINGS ACK, > DATA 1 9999 end");
}

#[test]
fn a_window_below_zero_lets_nothing_through_while_others_send() {
    let (order, ask) = (order(2), post(30_000));
    let mut talk = Talk::ready(order, &[(4, 10_000)]);
    talk.ask(1, &ask);
    talk.ask(2, &ask);
    talk.hear(&[settings(&[(4, 5_000)]), window(3, 6_000)].concat()).unwrap();
    talk.look();
    talk.go_on();
    assert_eq!(talk.look(), "2 flows, 2 stalls, > DATA 3 1000");
}

#[test]
fn each_exchange_says_for_itself_that_it_stalls() {
    let (order, ask) = (order(1), post(30));
    let mut talk = Talk::ready(order, &[(4, 10)]);
    for (exchange, stream) in (1..7).zip((1..).step_by(2)) {
        talk.ask(exchange, &ask);
        let said = format!("{exchange} stalls, > HEADERS {stream}, > DATA {stream} 10");
        assert_eq!(talk.look(), said);
        assert_eq!(talk.after(&[rst(stream, 7)]), format!("{exchange} refused"));
    }
}

#[test]
fn a_setting_may_not_make_a_window_too_large() {
    let (order, ask) = (order(1), post(1));
    let mut talk = Talk::ready(order, &[(4, 0)]);
    talk.ask(1, &ask);
    talk.hear(&window(1, 0x7fff_ffff)).unwrap();
    talk.look();
    assert_eq!(talk.after(&[settings(&[(4, 1)])]), "> GOAWAY 0 3, fault h2.flow");
}

#[test]
fn the_body_that_is_sent_is_the_requests() {
    let values = |seq| Values { seq, random: 5 };
    let body = format!("<{}{{seq}}-{{random:40}}-{}>", "a".repeat(20), "b".repeat(30));
    let ask = request("PUT", &body, Expect::default());
    for (size, seq) in [(1, 3), (7, 44), (1_000, 12_345)] {
        let mut talk = Talk::ready(order(1), &[(4, 0)]);
        talk.h2.submit(id(1), &ask, values(seq), &mut talk.news, &mut talk.output);
        assert_eq!(talk.look(), "1 stalls, > HEADERS 1");
        let mut received: Vec<u8> = Vec::new();
        while 0 < talk.h2.unsent {
            talk.hear(&window(1, size)).unwrap();
            talk.go_on();
            received.extend(payloads(&std::mem::take(&mut talk.output)));
        }
        let mut expected = Vec::new();
        Template::parse(body.as_bytes()).unwrap().fill(values(seq), &mut expected);
        assert_eq!(received, expected, "by {size}");
    }
}

#[test]
fn the_length_of_a_body_is_said() {
    let length = |method: &str, body: &str, seq: u64| {
        let (order, ask) = (order(1), request(method, body, Expect::default()));
        let mut talk = Talk::ready(order, &[]);
        let values = Values { seq, random: 1 };
        talk.h2.submit(id(1), &ask, values, &mut talk.news, &mut talk.output);
        let mut decoder = hpack::Decoder::new(4096);
        let head = 9 + usize::from(talk.output[2]);
        decoder.decode(&payloads(&talk.output[..head]), 1 << 16).unwrap();
        let field = decoder.fields().find(|(name, _)| *name == b"content-length");
        field.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    };
    assert_eq!(length("GET", "", 0), None);
    assert_eq!(length("POST", "", 0).as_deref(), Some("0"));
    assert_eq!(length("POST", "Rust", 0).as_deref(), Some("4"));
    assert_eq!(length("PUT", "{seq}{random:12}", 5).as_deref(), Some("13"));
    assert_eq!(length("PUT", "{seq}{random:12}", 1 << 60).as_deref(), Some("31"));
}

#[test]
fn an_answer_before_the_end_of_the_request_ends_both() {
    let (order, ask) = (order(2), post(100_000));
    let mut talk = Talk::ready(order, &[]);
    talk.ask(1, &ask);
    talk.look();
    let said = talk.after(&[ok(1), rst(1, 0), window(0, 1 << 20), window(1, 1 << 20)]);
    assert_eq!(said, "1 begins, 1: 200, > RST 1 8");
    assert!(!talk.h2.has_more());
    assert_eq!(talk.h2.room(), 2);
}

#[test]
fn what_a_lost_stream_has_not_sent_is_forgotten() {
    let (order, ask) = (order(3), post(100_000));
    let mut talk = Talk::ready(order, &[(4, 10)]);
    for exchange in 1..=3 {
        talk.ask(exchange, &ask);
    }
    let Talk { h2, news, output } = &mut talk;
    h2.abandon(id(1), news, output);
    talk.hear(&[rst(3, 7), goaway(3, 0)].concat()).unwrap();
    assert_eq!((talk.h2.unsent, talk.h2.under_way), (0, 0));
    talk.hear(&window(0, 1 << 20)).unwrap();
    assert!(!talk.h2.has_more());
}

#[test]
fn a_large_body_is_appended_in_batches_and_copied_nowhere_else() {
    let (order, ask) = (order(1), post(3 << 20));
    let mut talk = Talk::ready(order, &[(4, 0x7fff_ffff)]);
    talk.hear(&window(0, 0x7fff_0000)).unwrap();
    talk.look();
    talk.ask(1, &ask);
    let mut batches = 0;
    loop {
        assert!(talk.output.len() < 300 << 10, "{}", talk.output.len());
        talk.output.clear();
        batches += 1;
        if !talk.h2.has_more() {
            break;
        }
        talk.h2.send_more(&mut talk.news, &mut talk.output);
    }
    assert_eq!((batches, talk.h2.unsent), (12, 0));
}

#[test]
fn a_head_too_long_for_one_frame_is_continued() {
    let long = "x".repeat(40_000);
    let headers = vec![("X-Long".to_string(), format!("{{seq}}{long}"))];
    let request = Request { headers, ..Request::get("localhost", "/") };
    let ask =
        Ask::new(&Request { http2: Some(Scheme::Https), ..request }, Expect::default()).unwrap();
    let mut talk = Talk::ready(order(1), &[]);
    talk.ask(1, &ask);
    let mut decoder = hpack::Decoder::new(4096);
    decoder.decode(&payloads(&talk.output), 1 << 17).unwrap();
    assert_eq!(decoder.fields().last().unwrap().1.len(), 40_001);
    assert_eq!(talk.look(), "> HEADERS 1 end …, > CONTINUATION 1 …, > CONTINUATION 1");
}

#[test]
fn what_http_2_does_not_have_is_refused_with_its_name() {
    let ask = |method: &str, target: &str, name: &str, value: &str| {
        let headers = vec![(name.to_string(), value.to_string())];
        let request = Request { method: method.into(), headers, ..Request::get("h", target) };
        Ask::new(&Request { http2: Some(Scheme::Http), ..request }, Expect::default())
    };
    for (name, value) in [("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"), ("TE", "gzip")] {
        let error = ask("GET", "/", name, value).unwrap_err().to_string();
        assert!(error.contains(&format!("`{}`", name.to_lowercase())), "{error}");
    }
    assert!(ask("CONNECT", "h:1", "a", "b").unwrap_err().to_string().contains("CONNECT"));
    assert!(ask("GET", "http://h/", "a", "b").is_err());
    for (name, value) in [("Connection", "close"), ("Keep-Alive", "5"), ("TE", "trailers")] {
        assert!(ask("OPTIONS", "*", name, value).is_ok());
    }
}
