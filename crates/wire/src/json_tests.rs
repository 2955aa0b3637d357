//! What is written as JSON is read back as it was: orders are sent to other machines.

use crate::ask::{Ask, Request};
use crate::asks::Asks;
use crate::expect::{BodyRule, Expect, StatusRule, sha256};
use crate::fixture::encoded;
use crate::h2::Scheme;
use crate::template::{Template, Values};

fn again(ask: &Ask) -> Ask {
    let text = serde_json::to_string(ask).unwrap();
    let again: Ask = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    again
}

fn bytes(ask: &Ask) -> Vec<u8> {
    encoded(ask, Values { seq: 12, random: 3 })
}

#[test]
fn a_request_comes_out_of_its_written_form_as_it_was_made() {
    let get = Request::get("h:80", "/a?n={seq}&r={random:12}&k={number:1-50}");
    let post = Request { method: "POST".into(), ..get.clone() };
    let requests = [
        get.clone(),
        post.clone(),
        Request { body: b"{bytes:5000}{seq}{integers:5}".to_vec(), chunked: true, ..post.clone() },
        Request { body: b"n={seq} {x".to_vec(), keep_alive: false, ..post.clone() },
        Request { body: b"constant".to_vec(), http_1_0: true, ..post.clone() },
        // Braces that stand for themselves, and bytes that are no text.
        Request {
            body: b"{seq}\xff{random:99}".to_vec(),
            body_has_placeholders: false,
            ..post.clone()
        },
        Request {
            body: b"5\r\n{seq}\r\n".to_vec(),
            headers: vec![("Content-Length".into(), "4".into()), ("X".into(), "{seq}".into())],
            ..post.clone()
        },
        Request { http2: Some(Scheme::Https), body: b"{seq}".to_vec(), ..post },
        Request { method: "HEAD".into(), http2: Some(Scheme::Http), ..get },
    ];
    let expect = Expect {
        status: StatusRule::Exactly(201),
        headers: vec![("x".into(), Template::parse(b"a{seq}").unwrap())],
        body: BodyRule::Sha256(sha256(b"x")),
        body_is_usual: true,
        wait_ns: Some(15_000_000),
    };
    for request in requests {
        let ask = Ask::new(&request, expect.clone()).unwrap();
        let again = again(&ask);
        assert_eq!(bytes(&again), bytes(&ask), "{request:?}");
        assert_eq!(again.expect, ask.expect);
        assert_eq!(again.is_idempotent(), ask.is_idempotent());
        assert_eq!((again.is_head(), again.is_over_http2()), (ask.is_head(), ask.is_over_http2()));
        let shown = |ask: &Ask| {
            let mut shown = Vec::new();
            ask.show(Values { seq: 12, random: 3 }, &mut shown);
            shown
        };
        assert_eq!(shown(&again), shown(&ask));
    }
}

#[test]
fn several_requests_come_in_the_same_order_as_before() {
    let ask =
        |letter| Ask::new(&Request::get("h", &format!("/{letter}")), Expect::default()).unwrap();
    let all = || "abcdef".chars().map(ask).collect::<Vec<_>>();
    let made = [
        Asks::one(ask('a')),
        Asks::in_turn(all(), 4).unwrap(),
        Asks::shuffled(all(), 3, 7).unwrap(),
        Asks::weighted(all().into_iter().enumerate().map(|(n, it)| (n as u32 + 1, it)).collect())
            .unwrap(),
    ];
    for asks in made {
        let text = serde_json::to_string(&asks).unwrap();
        let again: Asks = serde_json::from_str(&text).unwrap();
        for seq in 0..100 {
            let values = Values { seq, random: sha256(&[seq as u8])[0].into() };
            assert_eq!(bytes(again.choose(values)), bytes(asks.choose(values)));
        }
    }
}

/// Why an ask is refused in which one field has this value.
fn refusal(mut ask: serde_json::Value, field: &str, value: serde_json::Value) -> String {
    let (parent, key) = field.rsplit_once('/').unwrap();
    ask.pointer_mut(parent).unwrap()[key] = value;
    serde_json::from_value::<Ask>(ask).unwrap_err().to_string()
}

#[test]
fn what_a_constructor_refuses_is_refused_when_it_is_read() {
    let good = Ask::new(&Request::get("h", "/"), Expect::default()).unwrap();
    let good = serde_json::to_value(good).unwrap();
    let refused = |field, value| refusal(good.clone(), field, value);
    refused("/request/method", "GET /x".into());
    refused("/unknown", 1.into());
    assert!(refused("/body", serde_json::json!([{ "random": 65 }])).contains("64"));
    refused(
        "/expect",
        serde_json::json!({ "status": "any", "headers": [], "body": { "sha256": "00" } }),
    );
    for bad in [
        serde_json::json!({ "asks": [], "choice": { "in_turn": { "shift_after": 1 } } }),
        serde_json::json!({ "asks": [good.clone()], "choice": { "in_turn": { "shift_after": 0 } } }),
        serde_json::json!({ "asks": [good.clone()], "choice": { "weights": [0] } }),
        serde_json::json!({ "asks": [good.clone()], "choice": { "weights": [1, 1] } }),
    ] {
        assert!(serde_json::from_value::<Asks>(bad).is_err());
    }
}
