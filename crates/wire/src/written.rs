//! How values are written in JSON, where serde's own way is not enough: orders are sent to other machines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::ask::{Ask, AskError, Request};
use crate::asks::Asks;
use crate::expect::Expect;
use crate::h2::Scheme;
use crate::template::{Piece, Template, TemplateError};

/// A SHA-256 in hexadecimal digits.
pub(crate) mod digest {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::expect::{hex_of, sha256_of_hex};

    pub(crate) fn serialize<S: Serializer>(
        digest: &[u8; 32],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex_of(digest))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[u8; 32], D::Error> {
        let hex = String::deserialize(deserializer)?;
        sha256_of_hex(&hex).ok_or_else(|| serde::de::Error::custom("a SHA-256 has 64 digits"))
    }
}

/// A piece of a template as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WrittenPiece {
    Text(String),
    /// In base64: bytes that are no text.
    Bytes(String),
    Seq,
    Random(u8),
}

impl From<Template> for Vec<WrittenPiece> {
    fn from(template: Template) -> Vec<WrittenPiece> {
        let written = |piece| match piece {
            Piece::Literal(bytes) => match String::from_utf8(bytes) {
                Ok(text) => WrittenPiece::Text(text),
                Err(error) => WrittenPiece::Bytes(STANDARD.encode(error.as_bytes())),
            },
            Piece::Seq => WrittenPiece::Seq,
            Piece::Random(width) => WrittenPiece::Random(width),
        };
        template.into_pieces().into_iter().map(written).collect()
    }
}

impl TryFrom<Vec<WrittenPiece>> for Template {
    type Error = TemplateError;

    fn try_from(written: Vec<WrittenPiece>) -> Result<Template, TemplateError> {
        let piece = |written| match written {
            WrittenPiece::Text(text) => Ok(Piece::Literal(text.into_bytes())),
            WrittenPiece::Bytes(text) => match STANDARD.decode(text) {
                Ok(bytes) => Ok(Piece::Literal(bytes)),
                Err(error) => Err(TemplateError::new(error.to_string())),
            },
            WrittenPiece::Seq => Ok(Piece::Seq),
            WrittenPiece::Random(width) => Piece::random(width),
        };
        Ok(Template::of(written.into_iter().map(piece).collect::<Result<Vec<_>, _>>()?))
    }
}

/// What a request was made from, and the answer to it that is expected.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenAsk {
    method: String,
    target: String,
    host: String,
    headers: Vec<(String, String)>,
    body: Template,
    http_1_0: bool,
    http2: Option<Scheme>,
    keep_alive: bool,
    expect: Expect,
}

impl From<Ask> for WrittenAsk {
    fn from(ask: Ask) -> WrittenAsk {
        let body = ask.body().rest_from(ask.body_at());
        let Request { method, target, host, headers, http_1_0, http2, keep_alive, .. } =
            ask.made_from().clone();
        let expect = ask.expect;
        WrittenAsk { method, target, host, headers, body, http_1_0, http2, keep_alive, expect }
    }
}

impl TryFrom<WrittenAsk> for Ask {
    type Error = AskError;

    fn try_from(written: WrittenAsk) -> Result<Ask, AskError> {
        let WrittenAsk { method, target, host, headers, body, http_1_0, http2, keep_alive, expect } =
            written;
        let request = Request {
            method,
            target,
            host,
            headers,
            body: Vec::new(),
            body_has_placeholders: false,
            http_1_0,
            http2,
            keep_alive,
        };
        Ask::with_body(request, body, expect)
    }
}

/// Several requests, and which of them comes when.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenAsks {
    pub(crate) asks: Vec<Ask>,
    pub(crate) choice: WrittenChoice,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WrittenChoice {
    /// By weight, in the order of the requests.
    Weights(Vec<u32>),
    /// One after the other; after each so many numbers, one place further on.
    InTurn { shift_after: u64 },
}

impl TryFrom<WrittenAsks> for Asks {
    type Error = &'static str;

    fn try_from(written: WrittenAsks) -> Result<Asks, &'static str> {
        let WrittenAsks { asks, choice } = written;
        match choice {
            WrittenChoice::Weights(weights) if weights.len() != asks.len() => {
                Err("each request has one weight")
            }
            WrittenChoice::Weights(weights) => {
                let weighted = weights.into_iter().zip(asks).collect();
                Asks::weighted(weighted).ok_or("there is no request, or a weight is 0")
            }
            WrittenChoice::InTurn { shift_after } => {
                Asks::shifted(asks, shift_after).ok_or("there is no request, or no turn")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{BodyRule, StatusRule, sha256};
    use crate::template::Values;

    fn again(ask: &Ask) -> Ask {
        let text = serde_json::to_string(ask).unwrap();
        let again: Ask = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        again
    }

    fn bytes(ask: &Ask) -> Vec<u8> {
        let mut bytes = Vec::new();
        ask.encode(Values { seq: 12, random: 3 }, &mut bytes);
        bytes
    }

    #[test]
    fn a_request_comes_out_of_its_written_form_as_it_was_made() {
        let get = Request::get("h:80", "/a?n={seq}&r={random:12}");
        let post = Request { method: "POST".into(), ..get.clone() };
        let requests = [
            get.clone(),
            post.clone(),
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
        };
        for request in requests {
            let ask = Ask::new(&request, expect.clone()).unwrap();
            let again = again(&ask);
            assert_eq!(bytes(&again), bytes(&ask), "{request:?}");
            assert_eq!(again.expect, ask.expect);
            assert_eq!(again.is_idempotent(), ask.is_idempotent());
            assert_eq!(
                (again.is_head(), again.is_over_http2()),
                (ask.is_head(), ask.is_over_http2())
            );
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
        let ask = |letter| {
            Ask::new(&Request::get("h", &format!("/{letter}")), Expect::default()).unwrap()
        };
        let all = || "abcdef".chars().map(ask).collect::<Vec<_>>();
        let made = [
            Asks::one(ask('a')),
            Asks::in_turn(all(), 4).unwrap(),
            Asks::shuffled(all(), 3, 7).unwrap(),
            Asks::weighted(
                all().into_iter().enumerate().map(|(n, it)| (n as u32 + 1, it)).collect(),
            )
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

    #[test]
    fn what_a_constructor_refuses_is_refused_when_it_is_read() {
        let good = Ask::new(&Request::get("h", "/"), Expect::default()).unwrap();
        let good = serde_json::to_value(good).unwrap();
        let refused = |field: &str, value: serde_json::Value| {
            let mut bad = good.clone();
            bad[field] = value;
            serde_json::from_value::<Ask>(bad).unwrap_err().to_string()
        };
        refused("method", "GET /x".into());
        refused("target", "/a\r\nX: y".into());
        refused("headers", serde_json::json!([["A", "c\nd: e"]]));
        refused("unknown", 1.into());
        assert!(refused("body", serde_json::json!([{ "random": 65 }])).contains("64"));
        refused(
            "expect",
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
}
