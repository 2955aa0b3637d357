//! A file of requests: a JSON object on each line. What a line does not say comes from the flags.

use std::fmt;

use lab::Refusal;
use lab::source_file::SourceFile;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::{Ask, BodyRule, Expect, Request};

use crate::Wanted;
use crate::file::BODY_MAX_BYTES;
use crate::{answer, url};

/// How much a file may have.
pub(crate) struct Most {
    requests: usize,
    /// Of all bodies together: those that are sent, and those that are expected.
    bodies_bytes: u64,
}

/// What fits into memory.
pub(crate) const MOST: Most = Most { requests: 1_000_000, bodies_bytes: BODY_MAX_BYTES };

/// One request, as a line writes it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Fields::is_empty")]
    pub(crate) headers: Fields,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expect: Option<Expected>,
}

/// What must be answered, in the words of the `--expect-…` flags.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expected {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<String>,
    #[serde(skip_serializing_if = "Fields::is_empty")]
    pub(crate) headers: Fields,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged, expecting = "a status is a number such as 200, or \"2xx\", or \"any\"")]
pub(crate) enum Status {
    Number(u16),
    Word(String),
}

/// Header fields in their order. A name that comes several times has a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields(pub(super) Vec<(String, String)>);

#[derive(Deserialize)]
#[serde(untagged, expecting = "the value of a header field is a text, or a list of texts")]
enum Values {
    One(String),
    Several(Vec<String>),
}

impl Fields {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
    }

    /// These, after those of the others that have no name of these.
    fn over(&self, others: &[(String, String)]) -> Vec<(String, String)> {
        let kept = others.iter().filter(|(name, _)| !self.has(name));
        kept.chain(&self.0).cloned().collect()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fields, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of header fields like {\"Name\": \"value\"}")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
                let mut fields = Vec::new();
                while let Some((name, values)) = map.next_entry::<String, Values>()? {
                    match values {
                        Values::One(value) => fields.push((name, value)),
                        Values::Several(values) => {
                            fields.extend(values.into_iter().map(|value| (name.clone(), value)));
                        }
                    }
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(Names)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (place, (name, value)) in self.0.iter().enumerate() {
            let values: Vec<&String> =
                self.0.iter().filter(|(other, _)| other == name).map(|(_, value)| value).collect();
            match values.as_slice() {
                _ if self.0[..place].iter().any(|(other, _)| other == name) => {}
                [_] => map.serialize_entry(name, value)?,
                several => map.serialize_entry(name, several)?,
            }
        }
        map.end()
    }
}

/// The requests of a file, each with its weight if it has one.
pub(crate) struct Lines {
    pub(crate) asks: Vec<(Option<u32>, Ask)>,
    /// Whether the path of the URL is requested by any of them.
    pub(crate) use_path_of_url: bool,
}

/// Reads a file of requests; `base` and `wanted` are what the flags say.
pub(crate) fn read(
    source: &SourceFile,
    base: &Request,
    wanted: &Wanted,
    most: &Most,
) -> Result<Lines, Refusal> {
    let mut lines = Lines { asks: Vec::new(), use_path_of_url: false };
    // Some editors begin a file with a byte order mark.
    let mut at = source.text.len() - source.text.trim_start_matches('\u{feff}').len();
    let mut bodies_bytes = 0;
    for text in source.text[at..].split_inclusive('\n') {
        let part = at..at + text.len();
        at = part.end;
        let wrong = |says: String| Refusal::new(source.wrong(Some(part.clone()), says).to_string());
        match text.trim_ascii_start().bytes().next() {
            None => continue,
            Some(b'{') => {}
            Some(b'[') => {
                let says = "this is a list, and each request is an object on a line of its own; \
                            `jq -c '.[]' FILE` writes it so";
                return Err(wrong(says.into()));
            }
            Some(_) => {
                let says = "this is no JSON object; a line is written {\"path\": \"/hello\"}";
                return Err(wrong(says.into()));
            }
        }
        let line: Line = source.parse_json(part.clone())?;
        let ask = line.ask(base, wanted).map_err(wrong)?;
        // What the flags give to each line, and what stands in other files, is not bounded by this file's size.
        bodies_bytes += line.body.as_ref().map_or(base.body.len(), String::len) as u64;
        bodies_bytes += match &ask.expect.body {
            BodyRule::Exactly(body) => body.constant().map_or(0, <[u8]>::len) as u64,
            BodyRule::Any
            | BodyRule::Length(_)
            | BodyRule::Sha256(_)
            | BodyRule::Meaning(_)
            | BodyRule::File(_) => 0,
        };
        if most.bodies_bytes < bodies_bytes {
            let says = "the bodies up to here are larger than 1 GiB, the most; expect a sha256:HEX";
            return Err(wrong(says.into()));
        }
        if lines.asks.len() == most.requests {
            return Err(wrong("at most 1,000,000 requests in a file; leave the rest out".into()));
        }
        lines.use_path_of_url |= line.path.is_none();
        lines.asks.push((line.weight, ask));
    }
    if lines.asks.is_empty() {
        return Err(Refusal::new(format!(
            "{}: there is no request in it; a line is written {{\"path\": \"/hello\"}}",
            source.name
        )));
    }
    Ok(lines)
}

impl Line {
    /// The request, with what the flags say of all requests.
    pub(crate) fn ask(&self, base: &Request, wanted: &Wanted) -> Result<Ask, String> {
        if self.weight == Some(0) {
            return Err("a weight of 0 is never requested; leave the line out".into());
        }
        let own_body = self.body.is_some();
        let own_method = self.method.clone().or(wanted.method.clone());
        let usual = if own_body { "POST" } else { base.method.as_str() };
        let request = Request {
            method: own_method.unwrap_or_else(|| usual.into()),
            target: match &self.path {
                Some(path) => url::target(path)?,
                None => base.target.clone(),
            },
            headers: self.headers.over(&base.headers),
            body: self.body.clone().map_or_else(|| base.body.clone(), String::into_bytes),
            body_has_placeholders: own_body || base.body_has_placeholders,
            ..base.clone()
        };
        Ask::new(&request, self.expect(wanted)?).map_err(|error| error.to_string())
    }

    fn expect(&self, wanted: &Wanted) -> Result<Expect, String> {
        let Some(own) = &self.expect else {
            return Ok(wanted.expect.clone());
        };
        let worded = |refusal: Refusal| refusal.to_string();
        let status = match &own.status {
            None => Ok(wanted.expect.status),
            Some(Status::Number(number)) => answer::status(&number.to_string()),
            Some(Status::Word(word)) => answer::status(word),
        };
        let wanted_headers =
            wanted.expect.headers.iter().filter(|(name, _)| !own.headers.has(name));
        let mut headers: Vec<_> = wanted_headers.cloned().collect();
        headers.extend(answer::headers("`expect.headers`", &own.headers.0).map_err(worded)?);
        let body = match &own.body {
            None => wanted.expect.body.clone(),
            Some(text) => answer::body_rule("`expect.body`", text).map_err(worded)?,
        };
        Ok(Expect {
            status: status.map_err(|says| format!("`expect.status` {says}"))?,
            headers,
            body,
            ..Expect::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of the requests of a file, and what they expect; the flags gave a header, a body and a status.
    fn check(text: &str) -> Result<Vec<String>, String> {
        let base = Request {
            method: "POST".into(),
            headers: vec![("X-One".into(), "flag".into())],
            body: b"from the flags".to_vec(),
            ..Request::get("h", "/of-url")
        };
        let status = Some(wire::StatusRule::Exactly(202));
        let fields = [("Server".into(), "flag".into())];
        let expect = answer::expect(status, &fields, Some("flag {seq}")).unwrap();
        let source = SourceFile { name: "r.jsonl".into(), text: text.into() };
        let wanted = Wanted { method: None, expect };
        let lines = read(&source, &base, &wanted, &MOST).map_err(|refusal| refusal.to_string())?;
        let shown = |(weight, ask): &(Option<u32>, Ask)| {
            let values = wire::Values { seq: 7, random: 1 };
            let mut bytes = Vec::new();
            ask.encode(values, &mut bytes);
            let sent = String::from_utf8(bytes).unwrap().replace("\r\n", "|");
            format!("{weight:?} {sent} → {}", ask.expect.described(values))
        };
        Ok(lines.asks.iter().map(shown).collect())
    }

    #[test]
    fn what_a_line_does_not_say_comes_from_the_url_and_the_flags() {
        let lines = check("\u{feff}{}\n").unwrap();
        let expected =
            "None POST /of-url HTTP/1.1|Host: h|X-One: flag|Content-Length: 14||from the flags → ";
        assert!(lines[0].starts_with(expected), "{lines:?}");
        for part in ["202", "flag 7", "server"] {
            assert!(lines[0].to_ascii_lowercase().contains(part), "{part}: {lines:?}");
        }
    }

    #[test]
    fn a_line_says_all_of_a_request_and_of_its_answer() {
        let lines = check(
            "\n{\"method\": \"PUT\", \"path\": \"/a b?n={seq}#x\", \"headers\": {\"x-one\": \"line\", \"B\": [\"1\", \"2\"]}, \
             \"body\": \"n={seq}\", \"weight\": 3, \"expect\": {\"status\": 201, \"body\": \"length:5\", \
             \"headers\": {\"SERVER\": \"line\"}}}\r\n\n{\"body\": \"\", \"expect\": {\"status\": \"any\"}}",
        )
        .unwrap();
        let sent = "Some(3) PUT /a%20b?n=7 HTTP/1.1|Host: h|x-one: line|B: 1|B: 2|Content-Length: 3||n=7 → ";
        assert!(lines[0].starts_with(sent), "{lines:?}");
        let (_, expected) = lines[0].split_once('→').unwrap();
        assert!(
            ["201", "line"].iter().all(|it| expected.contains(it)) && !expected.contains("flag")
        );
        let sent = "None POST /of-url HTTP/1.1|Host: h|X-One: flag|Content-Length: 0|| → ";
        assert!(lines[1].starts_with(sent), "{lines:?}");
        assert_eq!(lines.len(), 2, "empty lines are none");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file_and_the_line() {
        for (line, says) in [
            ("{\"pth\": \"/\"}", "unknown key `pth`; did you mean `path`?"),
            ("{\"path\": 3}", "column 10: `3` is given where a text is expected"),
            ("{\"path\": \"/\"", "the JSON does not end on this line"),
            ("{\"path\": \"/\"} {}", "column 15: trailing characters"),
            ("{\"path\": \"/\", \"path\": \"/\"}", "the key `path` is given twice"),
            ("[{}]", "this is a list"),
            ("path", "this is no JSON object; a line is written"),
            ("{\"path\": \"hello\"}", "`hello` is not a path: it begins with /"),
            ("{\"path\": \"http://h/\"}", "`http://h/` is not a path"),
            ("{\"path\": \"/\\n\"}", "control characters"),
            ("{\"path\": \"/{random:99}\"}", "{random:N}"),
            ("{\"method\": \"G T\"}", "`G T` is not a method"),
            ("{\"headers\": {\"A\": \"b\\nc\"}}", "header `A`"),
            ("{\"headers\": {\"A\": 1}}", "is a text, or a list of texts"),
            ("{\"headers\": [\"A: 1\"]}", "an object of header fields like"),
            ("{\"body\": {\"a\": 1}}", "an object is given where a text is expected"),
            ("{\"weight\": 0}", "a weight of 0"),
            ("{\"weight\": -1}", "column 13: `-1` is given where a whole number from 0 to"),
            ("{\"weight\": 1.5}", "column 14: `1.5` is given where a whole number from 0 to"),
            ("{\"expect\": 5}", "column 12: `5` is given where an object is expected"),
            ("{\"weight\": 4294967296}", "column"),
            ("{\"expect\": {\"status\": 99}}", "`expect.status` `99` is not a status"),
            ("{\"expect\": {\"status\": 70000}}", "a status is a number such as 200"),
            ("{\"expect\": {\"bdy\": \"\"}}", "unknown key `bdy`; did you mean `body`?"),
            ("{\"expect\": {\"body\": \"@/no/such\"}}", "`expect.body` /no/such: "),
            ("{\"expect\": {\"headers\": {\"a\": \"{random:0}\"}}}", "`expect.headers` "),
        ] {
            let refused = check(&format!("{{}}\n\n{line}\n")).unwrap_err();
            assert!(refused.starts_with("r.jsonl:3: "), "{line}: {refused}");
            assert!(refused.contains(says), "{line}: {refused}");
        }
        assert!(check("\n \n").unwrap_err().contains("r.jsonl: there is no request in it"));
        assert!(check(&format!("{{\"path\":{}", "[".repeat(100_000))).is_err());
    }

    #[test]
    fn more_than_fits_into_memory_is_refused() {
        let base = Request { body: b"ten bytes.".to_vec(), ..Request::get("h", "/") };
        let wanted = Wanted { method: None, expect: Expect::default() };
        let refused = |most: &Most, text: &str| {
            let source = SourceFile { name: "r".into(), text: text.into() };
            read(&source, &base, &wanted, most).err().unwrap().to_string()
        };
        let (two, small) = (Most { requests: 2, ..MOST }, Most { bodies_bytes: 30, ..MOST });
        let long = "{\"expect\": {\"body\": \"twenty-one bytes long\"}}";
        for (most, text, says) in [
            (&two, "{}\n{}\n{}\n", "r:3: at most 1,000,000 requests"),
            (&small, "{}\n{}\n{}\n{}\n", "r:4: the bodies up to here"),
            (&small, long, "r:1: the bodies up to here"),
        ] {
            let refused = refused(most, text);
            assert!(refused.starts_with(says), "{refused}");
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let fields = |pairs: &[(&str, &str)]| {
            Fields(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
        };
        let line = Line {
            method: Some("POST".into()),
            path: Some("/".into()),
            headers: fields(&[("a", "1"), ("a", "2"), ("b", "\"3\"")]),
            body: Some("\n".into()),
            weight: Some(2),
            expect: Some(Expected { status: Some(Status::Number(200)), ..Expected::default() }),
        };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(
            text,
            "{\"method\":\"POST\",\"path\":\"/\",\"headers\":{\"a\":[\"1\",\"2\"],\"b\":\"\\\"3\\\"\"},\"body\":\"\\n\",\
             \"weight\":2,\"expect\":{\"status\":200}}"
        );
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
    }
}
