//! A second, lenient look at an answer's bytes, for people: its status, its fields, its content, and where that differs
//! from what was expected. Sessions do the judging.

use std::fmt;

use sha2::{Digest, Sha256};

/// Bytes that a server sent, in parts. Nothing here can fail: a part that is missing is empty.
#[derive(Debug)]
pub struct AnswerParts<'a> {
    bytes: &'a [u8],
    /// Where the head begins: behind those of interim answers.
    head_at: usize,
    /// Length of all up to the empty line that ends the head; 0 if no head arrived.
    pub head_len: usize,
}

/// Fields that may differ between equal answers: those about the server, the time, the connection and the framing.
const APART: [&str; 10] = [
    "date",
    "server",
    "x-powered-by",
    "connection",
    "keep-alive",
    "etag",
    "transfer-encoding",
    "content-length",
    "vary",
    "cache-control",
];

impl<'a> AnswerParts<'a> {
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> AnswerParts<'a> {
        let mut parts = AnswerParts { bytes, head_at: 0, head_len: 0 };
        let end = |from: &[u8]| from.windows(4).position(|four| four == b"\r\n\r\n");
        while let Some(len) = end(&bytes[parts.head_len..]) {
            (parts.head_at, parts.head_len) = (parts.head_len, parts.head_len + len + 4);
            if !parts.is_interim() {
                break;
            }
        }
        parts
    }

    /// RFC 9110, 15.2: another answer follows, but for 101.
    fn is_interim(&self) -> bool {
        let is_answer = self.first_line().starts_with(b"HTTP/");
        is_answer && self.status().is_some_and(|it| it.starts_with('1') && it != "101")
    }

    /// The status code's digits.
    #[must_use]
    pub fn status(&self) -> Option<&'a str> {
        std::str::from_utf8(self.first_line()).ok()?.split(' ').nth(1)
    }

    /// Its status line, or the request line of a request.
    #[must_use]
    pub fn first_line(&self) -> &'a [u8] {
        self.bytes[self.head_at..].split(|&byte| byte == b'\r').next().unwrap_or_default()
    }

    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        let mut fields = self.fields();
        fields
            .find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// Names and values.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let lines = self.bytes[self.head_at..self.head_len].split(|&byte| byte == b'\n').skip(1);
        lines.filter_map(field_of)
    }

    /// How many bytes there are, framing included.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    fn is_chunked(&self) -> bool {
        let value = self.field("transfer-encoding").unwrap_or_default();
        let mut codings = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let last = codings.rfind(|coding| !coding.is_empty());
        last.is_some_and(|coding| coding.eq_ignore_ascii_case(b"chunked"))
    }

    /// The content, without its framing.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let rest = &self.bytes[self.head_len..];
        match self.is_chunked() {
            true => each_chunk(rest).flatten().copied().collect(),
            false => rest.to_vec(),
        }
    }

    /// How many whole chunks have arrived, not counting the last, empty one.
    #[must_use]
    pub fn chunks(&self) -> usize {
        match self.is_chunked() && self.head_len > 0 {
            true => each_chunk(&self.bytes[self.head_len..]).count(),
            false => 0,
        }
    }

    /// What two equal answers have in common: the status, all fields except those that may differ, and the content.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.status().unwrap_or_default());
        let mut fields: Vec<(Vec<u8>, &[u8])> =
            self.fields().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        fields.retain(|(name, _)| !APART.iter().any(|apart| apart.as_bytes() == name));
        fields.sort();
        for (name, value) in fields {
            digest.update(name);
            digest.update(b":");
            digest.update(value);
            digest.update(b"\n");
        }
        digest.update(self.content());
        digest.finalize().into()
    }
}

/// The name and the value on a line. The names of HTTP/2's own fields begin with a colon.
#[must_use]
pub fn field_of(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let after_first = line.get(1..)?;
    let at = 1 + after_first.iter().position(|&byte| byte == b':')?;
    Some((&line[..at], line[at + 1..].trim_ascii()))
}

/// The whole chunks of a chunked body, up to the empty one.
fn each_chunk(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let line_end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = rest[..line_end].trim_ascii_end();
        let digits = line.split(|&byte| byte == b';').next()?.trim_ascii_end();
        let len = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        let chunk = rest.get(line_end + 1..)?.get(..len)?;
        rest = rest.get(line_end + 1 + len + 2..)?;
        (len > 0).then_some(chunk)
    })
}

/// Where two bodies begin to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The number of bytes before that place, equal in both.
    pub equal: usize,
    /// What stands there in the expected one, in readable form.
    pub expected: String,
    pub came: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { equal, expected, came } = self;
        write!(
            f,
            "the bodies differ after {equal} equal bytes: {came} came, {expected} was expected"
        )
    }
}

/// How many bytes are shown before and after the place where two bodies differ.
const AROUND: usize = 16;

/// Where two bodies begin to differ; none if they are equal, or what came is cut before that place.
#[must_use]
pub fn first_difference(expected: &[u8], came: &[u8], is_cut: bool) -> Option<Difference> {
    let equal = expected.iter().zip(came).take_while(|(one, other)| one == other).count();
    if equal == expected.len() && equal == came.len() || equal == came.len() && is_cut {
        return None;
    }
    Some(Difference { equal, expected: around(expected, equal), came: around(came, equal) })
}

/// The bytes on both sides of a place, safe to show.
fn around(bytes: &[u8], place: usize) -> String {
    let (from, until) = (place.saturating_sub(AROUND), (place + AROUND).min(bytes.len()));
    // Quotation marks stay as they are: most bodies are JSON.
    let shown = |&byte: &u8| match byte {
        b'"' | b'\'' => char::from(byte).to_string(),
        _ => byte.escape_ascii().to_string(),
    };
    let text: String = bytes[from..until].iter().map(shown).collect();
    let before = if 0 < from { "…" } else { "" };
    let after = if until < bytes.len() { "…" } else { "" };
    let end = if bytes.len() == place { "the end after " } else { "" };
    format!("{end}`{before}{text}{after}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown_with_its_surroundings() {
        let body =
            |price: &str| format!("{}'price': {price}, 'stock': 12, 'name'", "x".repeat(300));
        let whole = body("10.5");
        let says = |came: &str, is_cut| {
            let found = first_difference(whole.as_bytes(), came.as_bytes(), is_cut);
            found.map(|found| found.to_string())
        };
        assert_eq!(says(&whole, false), None);
        assert_eq!(
            says(&body("10.75"), false).unwrap(),
            "the bodies differ after 312 equal bytes: `…xxxx'price': 10.75, 'stock': 12,…` came, \
             `…xxxx'price': 10.5, 'stock': 12, …` was expected"
        );
        let end = says(&whole[..300], false).unwrap();
        assert!(
            end.starts_with("the bodies differ after 300 equal bytes: the end after `…xxx"),
            "{end}"
        );
        assert_eq!(says(&whole[..300], true), None, "the rest is not known");
        let longer = says(&format!("{whole}\n"), false).unwrap();
        assert!(longer.contains(r"\n` came, the end after `…"), "{longer}");
    }

    fn digest(text: &str) -> [u8; 32] {
        AnswerParts::of(text.as_bytes()).digest()
    }

    #[test]
    fn framing_server_and_order_of_fields_make_no_difference() {
        let fixed = "HTTP/1.1 200 OK\r\nServer: a\r\nB: 1\r\nContent-Type: t\r\nContent-Length: 4\r\n\r\nRust";
        let chunked = "HTTP/1.1 200 Fine\r\ncontent-type: t\r\nb:1\r\nTransfer-Encoding: chunked\r\n\r\n\
                       1\r\nR\r\n3;x=y\r\nust\r\n0\r\n\r\n";
        assert_eq!(AnswerParts::of(chunked.as_bytes()).content(), b"Rust");
        assert_eq!(AnswerParts::of(chunked.as_bytes()).chunks(), 2);
        assert_eq!(digest(fixed), digest(chunked));
        assert_eq!(digest(fixed), digest(&chunked.replace("chunked", ", Chunked ,")));
        for (old, new) in [("200", "201"), ("Rust", "rust"), (": t", ": u"), ("B: 1", "B: 2")] {
            assert_ne!(digest(fixed), digest(&fixed.replace(old, new)), "{new}");
        }
    }

    #[test]
    fn interim_answers_are_no_part_of_the_answer() {
        let early = "HTTP/1.1 103 Early Hints\r\nETag: no\r\n\r\n";
        let text = format!("{early}HTTP/1.1 100 \r\n\r\nHTTP/1.1 200 OK\r\nETag: yes\r\n\r\nRust");
        let answer = AnswerParts::of(text.as_bytes());
        assert_eq!((answer.status(), answer.field("etag")), (Some("200"), Some(&b"yes"[..])));
        assert_eq!((answer.content(), answer.head_len), (b"Rust".to_vec(), text.len() - 4));
        assert_eq!(digest(&text), digest("HTTP/1.1 200 OK\r\nETag: yes\r\n\r\nRust"));
        assert_eq!(AnswerParts::of(early.as_bytes()).status(), Some("103"), "the rest is missing");
        let socket = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n\x01\x02\r\n\r\n";
        assert_eq!(AnswerParts::of(socket.as_bytes()).content().len(), 6);
    }

    #[test]
    fn what_is_no_answer_has_no_parts() {
        for text in ["", "\r\n\r\n", "x", "HTTP/1.1", "\r\n\r\nzz\r\n"] {
            let answer = AnswerParts::of(text.as_bytes());
            let _ = (answer.status(), answer.field("x"), answer.content(), answer.digest());
            assert_eq!(answer.chunks(), 0);
        }
        let huge = "H 1 2\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx";
        assert_eq!(AnswerParts::of(huge.as_bytes()).chunks(), 0);
    }
}
