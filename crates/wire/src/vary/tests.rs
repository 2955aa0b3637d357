//! Each form means the same, and differs only in what it is named after.

use super::*;
use crate::ask::{Ask, Request};
use crate::asks::Asks;
use crate::expect::Expect;
use crate::fixture::encoded;
use crate::h2::Scheme;

fn requests() -> Vec<Request> {
    let field = |name: &str, value: &str| (name.to_string(), value.to_string());
    let get = Request {
        headers: vec![
            field("Accept", "*/*"),
            field("X-Id", "{random:4} {seq}"),
            field("Cookie", "a=1; b=2"),
            field("X-List", "1"),
            field("x-list", "2"),
        ],
        ..Request::get("localhost:80", "/n/{seq}?{{x}")
    };
    let post = Request { method: "POST".into(), body: b"constant".to_vec(), ..get.clone() };
    vec![
        Request::get("h", "/hello"),
        Request { body: b"n={seq}".to_vec(), ..post.clone() },
        Request { body: b"{bytes:9000}{seq}".to_vec(), chunked: true, ..post.clone() },
        Request { http_1_0: true, body: Vec::new(), ..post.clone() },
        Request { headers: Vec::new(), keep_alive: false, ..post.clone() },
        post,
        get,
    ]
}

/// Method, target and version; fields by their names in lower case, in order; and the body.
type Meaning = (String, Vec<(String, String)>, Vec<u8>);

fn meaning(bytes: &[u8]) -> Meaning {
    let mut fields = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut fields);
    let httparse::Status::Complete(len) = request.parse(bytes).unwrap() else { panic!("cut") };
    let first = format!("{:?} {:?} {:?}", request.method, request.path, request.version);
    let text = |bytes: &[u8]| String::from_utf8(bytes.trim_ascii().to_vec()).unwrap();
    let fields = request.headers.iter();
    let fields = fields.map(|it| (it.name.to_ascii_lowercase(), text(it.value))).collect();
    (first, fields, bytes[len..].to_vec())
}

/// Those of one name after another; the names in the order of the alphabet.
fn by_name(mut fields: Vec<(String, String)>) -> Vec<(String, String)> {
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    fields
}

fn names(bytes: &[u8]) -> Vec<&str> {
    let head = std::str::from_utf8(&bytes[..memchr::memmem::find(bytes, b"\r\n\r\n").unwrap()]);
    head.unwrap().split("\r\n").skip(1).map(|line| line.split(':').next().unwrap()).collect()
}

#[test]
fn every_form_has_the_same_meaning_and_differs_in_what_it_is_named_after() {
    for request in requests() {
        let usual = Ask::new(&request, Expect::default()).unwrap();
        let varied = usual.clone().varied(7);
        let mut seen = [0; RequestForm::COUNT];
        for seq in 0..2_000 {
            let values = Values { seq, random: mix(seq) };
            let (plain, bytes) = (encoded(&usual, values), encoded(&varied, values));
            let form = varied.form(values).unwrap();
            seen[form.index()] += 1;
            let ((first, fields, body), other) = (meaning(&plain), meaning(&bytes));
            assert_eq!((&first, &body), (&other.0, &other.2), "{form:?}");
            let is_unknown = |(name, _): &(String, String)| name.starts_with("x-unknown-");
            let known: Vec<_> = other.1.iter().filter(|it| !is_unknown(it)).cloned().collect();
            assert_eq!(other.1.len() - known.len(), usize::from(form == RequestForm::Unknown));
            assert_eq!(by_name(known.clone()), by_name(fields.clone()), "{form:?}");
            assert_eq!(known != fields, form == RequestForm::Order);
            let is_same = bytes == plain;
            assert_eq!(
                is_same,
                matches!(form, RequestForm::AsWritten | RequestForm::Segments),
                "{form:?}"
            );
            if form == RequestForm::Case {
                let lower = |name: &&str| name.to_ascii_lowercase();
                let both = (names(&bytes), names(&plain));
                assert!(both.0.iter().map(lower).eq(both.1.iter().map(lower)) && both.0 != both.1);
            }
            let cut = varied.cut(values, &bytes);
            assert_eq!(cut.is_some(), form == RequestForm::Segments);
            let head = bytes.len() - if request.chunked { 0 } else { body.len() };
            assert!(cut.is_none_or(|cut| 0 < cut && cut < head));
        }
        let has_orders = 1 < meaning(&encoded(&usual, Values::default())).1.len();
        for form in RequestForm::ALL {
            let (least, most) = match form {
                RequestForm::Order if !has_orders => (0, 0),
                RequestForm::Segments => (5, 40),
                _ => (300, 560),
            };
            let times = seen[form.index()];
            assert!((least..=most).contains(&times), "{request:?} {form:?} {times}");
        }
    }
}

#[test]
fn the_seed_and_the_number_decide_and_what_is_written_is_read_again() {
    for request in requests() {
        let asks = |seed| Asks::one(Ask::new(&request, Expect::default()).unwrap()).varied(seed);
        let bytes = |asks: &Asks| -> Vec<Vec<u8>> {
            let all = (0..200).map(|seq| Values { seq, random: 5 });
            all.map(|values| encoded(asks.choose(values), values)).collect()
        };
        let written = serde_json::to_string(&asks(1)).unwrap();
        let read: Asks = serde_json::from_str(&written).unwrap();
        assert_eq!(bytes(&asks(1)), bytes(&read));
        assert_ne!(bytes(&asks(1)), bytes(&asks(2)));
    }
}

fn http2_fields(ask: &Ask, values: Values) -> Vec<(String, String)> {
    let fields = ask.http2(values).unwrap().fields().iter();
    let filled = fields.map(|(name, value)| {
        let mut bytes = Vec::new();
        value.fill(values, &mut bytes);
        (name.clone(), String::from_utf8(bytes).unwrap())
    });
    filled.collect()
}

#[test]
fn over_http2_only_order_and_unknown_fields_differ() {
    for request in requests() {
        let request =
            Request { http2: Some(Scheme::Http), chunked: false, http_1_0: false, ..request };
        let usual = Ask::new(&request, Expect::default()).unwrap();
        let varied = usual.clone().varied(3);
        for seq in 0..500 {
            let values = Values { seq, random: mix(seq) };
            let (plain, fields) = (http2_fields(&usual, values), http2_fields(&varied, values));
            let form = varied.form(values).unwrap();
            assert_eq!(fields[..4], plain[..4], "pseudo-header fields come first");
            assert!(fields.iter().all(|(name, _)| *name == name.to_ascii_lowercase()));
            let is_known = |(name, _): &&(String, String)| !name.starts_with("x-unknown-");
            let known: Vec<_> = fields.iter().filter(is_known).cloned().collect();
            assert_eq!(by_name(known.clone()), by_name(plain.clone()));
            match form {
                RequestForm::AsWritten => assert_eq!(fields, plain),
                RequestForm::Order => assert!(known.len() == fields.len() && known != plain),
                RequestForm::Unknown => assert!(known.len() + 1 == fields.len() && known == plain),
                RequestForm::Case | RequestForm::Spaces | RequestForm::Segments => {
                    panic!("{form:?}")
                }
            }
            assert_eq!(varied.cut(values, b"GET / HTTP/1.1\r\n\r\n"), None);
        }
    }
}
