//! Right answers made wrong in ways that only a client finds that knows the right content, or the right time.

use std::borrow::Cow;

use memchr::memmem;

use super::route::{Route, route};
use super::{Answer, Content};
use crate::Config;
use crate::faults::Spoil;
use crate::request::{Framing, Head, trimmed};
use crate::resource::Resource;

impl<'a> Answer<'a> {
    /// The answer to this request, spoilt.
    pub(crate) fn spoilt(
        self,
        spoil: Spoil,
        head: &Head<'a>,
        content: &[u8],
        config: &Config,
    ) -> Answer<'a> {
        if !spoil.alters(self.resource) {
            return self;
        }
        if let (Route::File(name), Some(files)) = (route(head.path), &config.files)
            && let Some(spoilt) = files.spoilt(name, head.wanted, spoil, &self)
        {
            return spoilt;
        }
        let Content::Octets(octets) = self.content else { return self };
        let octets = match spoil {
            Spoil::OtherBody => octets.iter().map(|octet| octet ^ 1).collect(),
            Spoil::WrongTotal => with_another_total(octets.into_owned()),
            Spoil::ShortBody => Cow::Owned(octets[..octets.len() / 2].to_vec()),
            Spoil::OtherOctet => with_another_octet(octets.into_owned()),
            Spoil::UnreadBody if self.resource == Resource::Sum => super::sum_of(&[]),
            Spoil::UnreadBody => Cow::Owned(vec![0; unread_length(head, content)]),
            Spoil::OtherField => Cow::Borrowed(first_value(head)),
            Spoil::Early
            | Spoil::FalseLabel
            | Spoil::NoLabel
            | Spoil::UnofferedCoding
            | Spoil::OtherRange
            | Spoil::WrongContentRange
            | Spoil::OtherVersion
            | Spoil::Unasked304
            | Spoil::Unasked206 => octets,
        };
        Answer { content: Content::Octets(octets), ..self }
    }
}

fn with_another_total<'a>(mut octets: Vec<u8>) -> Cow<'a, [u8]> {
    let after = |name: &[u8]| memmem::rfind(&octets, name).map(|at| at + name.len());
    if let Some(begun) = after(b"\"total\":").or_else(|| after(b"\"sum\":")) {
        let digits = octets[begun..].iter().take_while(|octet| !b",}".contains(octet)).count();
        // An even digit and the odd one after it take each other's place.
        octets[begun + digits - 1] ^= 1;
    }
    Cow::Owned(octets)
}

fn with_another_octet<'a>(mut octets: Vec<u8>) -> Cow<'a, [u8]> {
    let middle = octets.len() / 2;
    if let Some(octet) = octets.get_mut(middle) {
        *octet ^= 1;
    }
    Cow::Owned(octets)
}

/// What a server that does not read the content knows of its length.
fn unread_length(head: &Head<'_>, content: &[u8]) -> usize {
    match head.framing {
        Framing::Chunked => 0,
        Framing::Length(_) | Framing::None => content.len(),
    }
}

/// The value of the first header line.
fn first_value<'a>(head: &Head<'a>) -> &'a [u8] {
    let line = head.fields.split(|octet| *octet == b'\r').next().unwrap_or_default();
    let colon = line.iter().position(|octet| *octet == b':').map_or(line.len(), |at| at + 1);
    trimmed(&line[colon..])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Dataset;
    use crate::request::head;

    /// The content of the right answer, and of the spoilt one.
    fn contents(spoil: Spoil, request: &str, content: &str) -> (String, String) {
        let items = br#"[{"price": 3, "quantity": 7}, {"price": 5, "quantity": 2}]"#;
        let dataset = Dataset::parse(items).unwrap();
        let config = Config { dataset: Some(Arc::new(dataset)), ..Config::default() };
        let text = format!("{request}\r\nHost: h.example\r\nX-Request-Id: abc\r\n\r\n");
        let head = head(text.as_bytes()).unwrap().unwrap();
        let right = || Answer::to(&head, content.as_bytes(), &config);
        (shown(right()), shown(right().spoilt(spoil, &head, content.as_bytes(), &config)))
    }

    fn shown(answer: Answer<'_>) -> String {
        let Content::Octets(octets) = answer.content else { panic!("it is no stream") };
        String::from_utf8(octets.into_owned()).unwrap()
    }

    fn check(spoil: Spoil, request: &str, content: &str, right: &str, spoilt: &str) {
        let found = contents(spoil, request, content);
        assert_eq!(found, (right.to_owned(), spoilt.to_owned()), "{spoil:?} {request}");
    }

    #[test]
    fn each_way_spoils_what_it_names() {
        check(
            Spoil::WrongTotal,
            "GET /json/2?m=2 HTTP/1.1",
            "",
            r#"{"count":2,"items":[{"total":42,"price":3,"quantity":7},{"total":20,"price":5,"quantity":2}]}"#,
            r#"{"count":2,"items":[{"total":42,"price":3,"quantity":7},{"total":21,"price":5,"quantity":2}]}"#,
        );
        let sum = "POST /sum HTTP/1.1\r\nContent-Length: 21";
        let values = r#"{"values":[1,-5,7,9]}"#;
        let right = r#"{"count":4,"sum":12}"#;
        check(Spoil::WrongTotal, sum, values, right, r#"{"count":4,"sum":13}"#);
        check(Spoil::UnreadBody, sum, values, right, r#"{"count":0,"sum":0}"#);
        check(Spoil::ShortBody, sum, values, right, r#"{"count":4"#);
        check(Spoil::OtherOctet, sum, values, right, r#"{"count":4-"sum":12}"#);
        let echo = "POST /echo HTTP/1.1\r\nContent-Length: 3";
        check(Spoil::UnreadBody, echo, "abc", "abc", "\0\0\0");
        let chunked = "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked";
        check(Spoil::UnreadBody, chunked, "abc", "abc", "");
        check(Spoil::OtherField, "GET /header HTTP/1.1", "", "abc", "h.example");
        check(Spoil::Early, "GET /delay/15 HTTP/1.1", "", "15", "15");
    }

    #[test]
    fn what_it_does_not_name_stays_right() {
        for spoil in [Spoil::Early, Spoil::WrongTotal, Spoil::UnreadBody, Spoil::OtherField] {
            check(spoil, "GET /hello HTTP/1.1", "", "Hello, world!", "Hello, world!");
        }
    }
}
