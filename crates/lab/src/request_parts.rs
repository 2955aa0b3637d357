//! What a request says: its fields and its content, whichever protocol carried it and whatever its octets were.

use std::collections::BTreeMap;

use wire::{AnswerParts, field_of};

/// A request that was kept: the bytes of HTTP/1.x, or the list of fields of HTTP/2, a line each, an empty line, and the
/// content. Nothing here can fail: what is neither is all content.
#[derive(Debug, Default, PartialEq, Eq)]
struct RequestParts<'a> {
    is_http2: bool,
    /// By name in lower case, the values in the order in which they stand. RFC 9110, 5.3: the order of fields with
    /// different names means nothing. The request line is fields, too, by their names in HTTP/2.
    fields: BTreeMap<Vec<u8>, Vec<&'a [u8]>>,
    content: Vec<u8>,
}

/// What HTTP/2 has no fields for, because its frames say it or it has no such thing: RFC 9113, 8.2.2. A length may
/// stand there, and need not.
const OF_HTTP1: [&str; 7] = [
    VERSION,
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// The version of a request line, which is no field of either protocol.
const VERSION: &str = ":version";

/// Whether two requests have the same fields and content. What only one of the two protocols demands is left out where
/// one request was sent over HTTP/1.x and the other over HTTP/2.
pub(crate) fn are_alike(one: &[u8], other: &[u8]) -> bool {
    if one == other {
        return true;
    }
    let (mut one, mut other) = (RequestParts::of(one), RequestParts::of(other));
    if one.is_http2 != other.is_http2 {
        one.leave_protocol_out();
        other.leave_protocol_out();
    }
    (one.fields, one.content) == (other.fields, other.content)
}

impl<'a> RequestParts<'a> {
    fn of(bytes: &'a [u8]) -> RequestParts<'a> {
        let is_http2 = bytes.starts_with(b":");
        let mut parts = match is_http2 {
            true => RequestParts { is_http2, ..RequestParts::listed(bytes) },
            false => RequestParts::over_http1(bytes),
        };
        // RFC 9113, 8.3.1: in place of it, HTTP/2 has a field of its own.
        if let Some(mut hosts) = parts.fields.remove(&b"host"[..]) {
            parts.fields.entry(b":authority".to_vec()).or_default().append(&mut hosts);
        }
        // By these each server is told what it calls a version of its file.
        for named in [&b"if-none-match"[..], b"if-modified-since"] {
            parts.fields.remove(named);
        }
        // How the server is reached is said by HTTP/2 alone.
        parts.fields.remove(&b":scheme"[..]);
        parts
    }

    /// The fields, a line each, an empty line, and the content.
    fn listed(bytes: &'a [u8]) -> RequestParts<'a> {
        let end = bytes.windows(2).position(|two| two == b"\n\n");
        let (head, content) =
            end.map_or((bytes, &b""[..]), |end| (&bytes[..end], &bytes[end + 2..]));
        let mut parts = RequestParts { content: content.to_vec(), ..RequestParts::default() };
        head.split(|&byte| byte == b'\n').filter_map(field_of).for_each(|field| parts.add(field));
        parts
    }

    fn over_http1(bytes: &'a [u8]) -> RequestParts<'a> {
        let request = AnswerParts::of(bytes);
        let mut parts = RequestParts { content: request.content(), ..RequestParts::default() };
        let line = request.first_line().splitn(3, |&byte| byte == b' ');
        [&b":method"[..], b":path", VERSION.as_bytes()]
            .into_iter()
            .zip(line)
            .for_each(|it| parts.add(it));
        request.fields().for_each(|field| parts.add(field));
        parts
    }

    fn add(&mut self, (name, value): (&[u8], &'a [u8])) {
        self.fields.entry(name.to_ascii_lowercase()).or_default().push(value);
    }

    fn leave_protocol_out(&mut self) {
        self.fields.retain(|name, _| !OF_HTTP1.iter().any(|other| other.as_bytes() == name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVER_1: &str = "POST /a?b=1 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nX-A: 2\r\nX-B: 3\r\nContent-Length: 4\r\n\
                          Connection: close\r\n\r\nRust";
    const OVER_2: &str = ":method: POST\n:scheme: https\n:authority: h\n:path: /a?b=1\nx-a: 1\nx-a: 2\nx-b: 3\n\
                          content-length: 4\n\nRust";

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        assert_eq!(are_alike(one.as_bytes(), other.as_bytes()), expected, "{one:?} {other:?}");
        assert_eq!(are_alike(other.as_bytes(), one.as_bytes()), expected, "{other:?} {one:?}");
    }

    #[test]
    fn the_same_fields_and_content_are_one_request_over_both_protocols() {
        check(OVER_1, OVER_2, true);
        check(OVER_1, &OVER_2.replace("content-length: 4\n", ""), true);
        check(&OVER_1.replace("Connection: close", "Keep-Alive: 5"), OVER_2, true);
        check(&OVER_1.replace("1.1", "1.0"), OVER_2, true);
        check(OVER_2, &OVER_2.replace("https", "http"), true);
        let chunked = OVER_1.replace("Content-Length: 4", "Transfer-Encoding: chunked");
        check(&chunked.replace("Rust", "1\r\nR\r\n3\r\nust\r\n0\r\n\r\n"), OVER_2, true);
    }

    #[test]
    fn case_of_names_and_order_of_different_names_mean_nothing() {
        check(OVER_1, &OVER_1.replace("X-A", "x-a").replace("Host", "HOST"), true);
        check(
            OVER_1,
            &OVER_1.replace("X-B: 3\r\n", "").replace("X-A: 1", "X-B: 3\r\nX-A: 1"),
            true,
        );
        check(OVER_2, &OVER_2.replace("x-b: 3\n", "").replace("x-a: 1", "x-b:3\nx-a: 1"), true);
    }

    #[test]
    fn whatever_a_server_could_tell_apart_is_another_request() {
        let changes = [
            ("POST", "PUT"),
            ("b=1", "b=2"),
            ("Host: h", "Host: i"),
            (":authority: h", ":authority: i"),
            ("a: 1", "a: 2"),
            ("a: 2", "a: 1"),
            ("b: 3", "c: 3"),
            ("A: 1", "A: 2"),
            ("A: 2", "A: 1"),
            ("B: 3", "C: 3"),
            ("Rust", "rust"),
        ];
        for (old, new) in changes {
            for (one, other) in
                [(OVER_1, OVER_1), (OVER_1, OVER_2), (OVER_2, OVER_1), (OVER_2, OVER_2)]
            {
                let changed = other.replacen(old, new, 1);
                check(one, &changed, changed == other);
            }
        }
        // The order of fields with one name has a meaning.
        let turned = |text: &str| {
            text.replace("A: 1", "A: 0").replace("A: 2", "A: 1").replace("A: 0", "A: 2")
        };
        check(OVER_1, &turned(OVER_1), false);
        check(OVER_2, &turned(OVER_1), false);
        check(OVER_2, &turned(&OVER_2.replace("-a", "-A")), false);
    }

    #[test]
    fn what_a_connection_is_asked_for_counts_within_one_protocol() {
        check(OVER_1, &OVER_1.replace("Connection: close\r\n", ""), false);
        check(OVER_1, &OVER_1.replace("1.1", "1.0"), false);
        check(OVER_2, &OVER_2.replace("content-length: 4\n", ""), false);
    }

    #[test]
    fn what_is_no_request_is_compared_as_it_is() {
        check(":method: GET", ":method: GET\n", true);
        check(":method: GET\n\n", ":method: GET\n\nx", false);
        check("", "", true);
        check("", OVER_1, false);
        check("GET /", "GET /2", false);
        check("GET / HTTP/1.1", "GET / HTTP/1.1\r\n\r\n", false);
        check("\r\n\r\nx", "\r\n\r\ny", false);
    }
}
