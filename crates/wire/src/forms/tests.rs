//! Bodies in known forms, in new ones and in wrong ones, in pieces of any size.

use super::*;
use crate::ask::{Ask, Request};
use crate::dataset::Dataset;
use crate::expect::{BodyRule, Expect, Mismatch};
use crate::fixture::{encoded, judged, whole};
use crate::template::{Number, mix};

fn ask() -> Ask {
    let (count, times) = (Number::between(1, 50).unwrap(), Number::between(1, 8).unwrap());
    let rule = Meaning::Items { dataset: Dataset::of(7), count, times };
    let expect = Expect { body: BodyRule::Meaning(rule), ..Expect::default() };
    Ask::new(&Request::get("h", "/json/{number:1-50}?m={number:1-8}"), expect).unwrap()
}

fn rule(ask: &Ask) -> &Meaning {
    let BodyRule::Meaning(rule) = &ask.expect.body else { panic!("a body of JSON") };
    rule
}

fn values(n: u64) -> Values {
    Values { seq: n, random: mix(n) }
}

/// The right answer, as serde writes it, with so many blanks after it.
fn right(ask: &Ask, values: Values, blanks: usize) -> String {
    serde_json::to_string(&rule(ask).value(values)).unwrap() + &" ".repeat(blanks)
}

/// Whether one connection finds this body right that comes in pieces of this size.
fn hear(ask: &Ask, values: Values, body: &str, piece: usize, forms: &Forms) -> bool {
    let answer = whole("200 OK", "", body.as_bytes());
    let mismatch = judged(ask, values, &answer, Some(forms), piece);
    assert!(matches!(mismatch, None | Some(Mismatch::Body)));
    mismatch.is_none()
}

fn counts(forms: &Forms) -> (u64, u64) {
    let Compared { by_bytes, by_meaning, .. } = forms.take();
    (by_bytes, by_meaning)
}

fn still() -> Forms {
    Forms::new(|| 0)
}

#[test]
fn each_answer_is_parsed_once_and_then_compared_byte_for_byte() {
    let (ask, forms) = (ask(), still());
    let mut keys = std::collections::HashSet::new();
    for n in 0..5_000 {
        keys.insert(rule(&ask).key(values(n)));
        assert!(hear(&ask, values(n), &right(&ask, values(n), 0), 4_096, &forms));
    }
    assert_eq!(keys.len(), 400);
    assert_eq!(counts(&forms), (4_600, 400));
}

#[test]
fn wrong_totals_planted_at_one_in_a_thousand_are_found_exactly() {
    let (ask, forms) = (ask(), still());
    let mut found = 0;
    for n in 0..10_000 {
        // The answer to the request before it, which is right for that one only.
        let is_stale =
            n % 1_000 == 999 && rule(&ask).key(values(n)) != rule(&ask).key(values(n - 1));
        let said = if is_stale { values(n - 1) } else { values(n) };
        found += u64::from(!hear(&ask, values(n), &right(&ask, said, 0), 1_460, &forms));
        assert_eq!(forms.fault(n).is_some(), is_stale);
    }
    assert_eq!(found, 10);
    assert_eq!(counts(&forms), (10_000 - 400 - 10, 400 + 10));
}

#[test]
fn a_body_has_one_verdict_however_it_is_cut() {
    let ask = ask();
    let values = (0..).map(values).find(|it| rule(&ask).key(*it) == (2 << 32) | 3).unwrap();
    let plain = right(&ask, values, 0);
    let spaced = plain.replace(',', ", ");
    let wrong = plain.replace("\"count\":2", "\"count\":3");
    let (cut, longer) = (&plain[..plain.len() - 1], format!("{plain}x"));
    let total = plain.replacen("\"total\":", "\"total\":1", 1);
    for piece in [1, 2, 7, 100, plain.len() - 1, plain.len(), 1 << 14] {
        let forms = still();
        for _ in 0..3 {
            for body in [&plain, &spaced] {
                assert!(hear(&ask, values, body, piece, &forms), "{piece}");
            }
            for body in [wrong.as_str(), cut, &longer, &total, "{}", " "] {
                assert!(!hear(&ask, values, body, piece, &forms), "{body}, by {piece}");
            }
        }
        assert_eq!(counts(&forms), (4, 2 + 18), "{piece}");
    }
}

#[test]
fn the_ninth_form_is_parsed_each_time_and_is_right() {
    let (ask, forms) = (ask(), still());
    for _ in 0..5 {
        for blanks in 0..9 {
            let body =
                right(&ask, values(1), 0).replacen(':', &format!(":{}", " ".repeat(blanks)), 1);
            assert!(hear(&ask, values(1), &body, 1_000, &forms));
        }
    }
    assert_eq!(counts(&forms), (4 * 8, 9 + 4));
}

#[test]
fn forms_have_no_more_than_their_bytes_together() {
    let (ask, forms) = (ask(), still());
    // The longest body that is kept: 32 of them are all that there may be.
    let body = |n| {
        let plain = right(&ask, values(n), 0);
        let blanks = BODY_MAX - plain.len();
        plain + &" ".repeat(blanks)
    };
    let mut keys = Vec::new();
    for n in 0.. {
        let key = rule(&ask).key(values(n));
        if !keys.contains(&key) {
            keys.push(key);
            assert!(hear(&ask, values(n), &body(n), 1 << 20, &forms));
        }
        if keys.len() == 33 {
            assert!(hear(&ask, values(n), &body(n), 1 << 20, &forms));
            break;
        }
    }
    assert_eq!(counts(&forms), (0, 34));
    assert!(!hear(&ask, values(0), &(body(0) + " "), 1 << 10, &still()), "it is too long");
}

/// The sum of the 150 integers that a request has.
fn sum_sent(ask: &Ask, values: Values) -> u64 {
    let text = String::from_utf8(encoded(ask, values)).unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let sent: serde_json::Value = serde_json::from_str(body).unwrap();
    let all = sent["values"].as_array().unwrap();
    assert_eq!(all.len(), 150);
    all.iter().map(|value| value.as_u64().unwrap()).sum()
}

/// A body with the sum is compared byte for byte, with the sum of each request in its place.
#[test]
fn sums_are_compared_byte_for_byte_though_each_is_another() {
    let expect = Expect { body: BodyRule::Meaning(Meaning::Sum(150)), ..Expect::default() };
    let request = Request {
        method: "POST".into(),
        body: br#"{"values":[{integers:150}]}"#.to_vec(),
        ..Request::get("h", "/sum")
    };
    let ask = Ask::new(&request, expect).unwrap();
    let sum_of = |values| sum_sent(&ask, values);
    for form in [
        |sum: u64| format!(r#"{{"sum":{sum},"count":150}}"#),
        |sum: u64| format!("{{\"count\": 150.0, \"sum\": {sum}.0 }}\n"),
    ] {
        let forms = still();
        for n in 0..1_000 {
            let sum = sum_of(values(n));
            assert!(hear(&ask, values(n), &form(sum), 9, &forms));
            if n % 100 == 0 {
                assert!(!hear(&ask, values(n), &form(sum + 1), 9, &forms));
                assert!(!hear(&ask, values(n), &form(sum_of(values(n + 1))), 9, &forms));
            }
        }
        assert_eq!(counts(&forms), (999, 1 + 20));
    }
    // One that is written so that its digits are not there is right, and parsed each time.
    let forms = still();
    for n in 0..10 {
        let mut digits = sum_of(values(n)).to_string();
        digits.insert(1, '.');
        let body = format!(r#"{{"sum":{digits}e{},"count":150}}"#, digits.len() - 2);
        assert!(hear(&ask, values(n), &body, 64, &forms), "{body}");
    }
    assert_eq!(counts(&forms), (0, 10));
}

#[test]
fn a_data_set_is_that_of_its_seed_and_no_other() {
    let text = Dataset::of(3).to_json();
    assert_eq!(text, Dataset::from(3).to_json());
    assert_ne!(text, Dataset::of(4).to_json());
    let all: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(all.len(), 50);
    for (at, item) in all.iter().enumerate() {
        assert_eq!(item["id"], at + 1);
        let members = ["id", "name", "category", "price", "quantity", "active", "tags", "rating"];
        assert!(members.iter().all(|name| !item[name].is_null()), "{item}");
        assert_eq!(item.as_object().unwrap().len(), members.len());
    }
    let ask = ask();
    let expected = serde_json::to_value(rule(&ask).value(values(5))).unwrap();
    for (item, seeded) in expected["items"]
        .as_array()
        .unwrap()
        .iter()
        .zip(serde_json::from_str::<Vec<serde_json::Value>>(&Dataset::of(7).to_json()).unwrap())
    {
        let number = |name: &str| seeded[name].as_u64().unwrap();
        let times = rule(&ask).key(values(5)) & 0xffff_ffff;
        assert_eq!(item["total"], number("price") * number("quantity") * times);
    }
}
