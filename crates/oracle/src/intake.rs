//! Assembles a request from the pieces in which it arrives. No socket.

use crate::body::Body;
use crate::request::{Head, Refusal, head};

/// What has been read of a request that is not yet whole. Empty between requests.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    head: Vec<u8>,
    /// The head came in several pieces.
    is_split: bool,
    /// Present once the head is whole.
    body: Option<Body>,
    content: Vec<u8>,
}

/// The result of a piece of bytes.
#[derive(Debug)]
pub(crate) enum Fed<'a> {
    /// All of it was taken, and the request is not whole. The peer may be waiting for a 100.
    More { send_continue: bool },
    /// A whole request; `used` bytes of the piece belonged to it.
    Whole { head: Head<'a>, head_bytes: &'a [u8], content: &'a [u8], used: usize, is_split: bool },
}

impl Intake {
    /// Whether the head is whole, and the body is arriving.
    pub(crate) fn has_head(&self) -> bool {
        self.body.is_some()
    }

    /// What has been kept of a head.
    pub(crate) fn began(&self) -> &[u8] {
        &self.head
    }

    /// Takes the next piece. After a whole request the intake is used up: the next request needs a new one.
    pub(crate) fn feed<'a>(&'a mut self, piece: &'a [u8]) -> Result<Fed<'a>, Refusal> {
        if self.head.is_empty() {
            match head(piece)? {
                Some(head) if Body::begin(head.framing)?.is_whole() => {
                    let (used, head_bytes) = (head.length, &piece[..head.length]);
                    let (content, is_split): (&[u8], _) = (&[], false);
                    return Ok(Fed::Whole { head, head_bytes, content, used, is_split });
                }
                _ => {}
            }
        }
        self.put_together(piece)
    }

    fn put_together<'a>(&'a mut self, piece: &'a [u8]) -> Result<Fed<'a>, Refusal> {
        let mut used = 0;
        let mut send_continue = false;
        if self.body.is_none() {
            let before = self.head.len();
            self.is_split = 0 < before;
            self.head.extend_from_slice(piece);
            let Some(head) = head(&self.head)? else {
                return Ok(Fed::More { send_continue: false });
            };
            let (length, framing) = (head.length, head.framing);
            send_continue = head.expects_continue && self.head.len() == length;
            used = length - before;
            self.head.truncate(length);
            self.body = Some(Body::begin(framing)?);
        }
        let body = self.body.as_mut().expect("the head is whole, so the body has begun");
        used += body.take(&piece[used..], &mut self.content)?;
        if !body.is_whole() {
            return Ok(Fed::More { send_continue });
        }
        let head = head(&self.head)?.expect("this head was whole before");
        let (head_bytes, content, is_split) = (&self.head, &self.content, self.is_split);
        Ok(Fed::Whole { head, head_bytes, content, used, is_split })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuts::cut_at;
    use crate::request::{FIELDS_MAX, HEAD_MAX, LINE_MAX};
    use proptest::prelude::*;

    /// A short form of what a connection understands that reads these pieces one after the other.
    fn understood(pieces: &[&[u8]]) -> String {
        let mut seen = Vec::new();
        let mut intake = Intake::default();
        for piece in pieces {
            let mut at = 0;
            while at < piece.len() {
                match intake.feed(&piece[at..]) {
                    Ok(Fed::More { .. }) => break,
                    Ok(Fed::Whole { head, content, used, .. }) => {
                        at += used;
                        let path = String::from_utf8_lossy(head.path);
                        let content = String::from_utf8_lossy(content);
                        let persists = if head.persists { "" } else { " last" };
                        seen.push(format!("{:?} {path} [{content}]{persists}", head.method));
                        intake = Intake::default();
                    }
                    Err(refusal) => {
                        seen.push(format!("{:?}", refusal.status));
                        return seen.join(", ");
                    }
                }
            }
        }
        seen.join(", ")
    }

    fn check(request: &str, expected: &str) {
        assert_eq!(understood(&[request.as_bytes()]), expected, "{request:?}");
    }

    const POST: &str = "POST /echo HTTP/1.1\r\nHost: h\r\n";

    #[test]
    fn well_formed_requests_are_understood() {
        check("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "Get / []");
        check("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "Get / []");
        check("GET http://h/a?b HTTP/1.1\r\nHost: h\r\n\r\n", "Get /a []");
        check("GET HTTPS://[::1]:80 HTTP/1.1\r\nHost: h\r\n\r\n", "Get / []");
        check("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "Options * []");
        check("CONNECT h:99 HTTP/1.1\r\nHost: h\r\n\r\n", "Connect  []");
        check("DELETE / HTTP/1.9\r\nHost:\r\n\r\n", "Known / []");
        check("GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n", "Get / [] last");
        check("GET / HTTP/1.0\r\n\r\n", "Get / [] last");
        check("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "Get / []");
        check(&format!("{POST}content-length: \t 5 \t\r\n\r\nhello"), "Post /echo [hello]");
        check(
            &format!("{POST}Content-Length: 1\r\n\r\nA{POST}Content-Length: 1\r\n\r\nB"),
            "Post /echo [A], Post /echo [B]",
        );
    }

    #[test]
    fn chunks_are_put_together() {
        let chunked = |body: &str, expected: &str| {
            check(&format!("{POST}Transfer-Encoding: Chunked\r\n\r\n{body}"), expected);
        };
        chunked("5\r\nhello\r\n0\r\n\r\n", "Post /echo [hello]");
        chunked(
            "5\r\nhello\r\nA\r\n0123456789\r\n00b\r\n hello worl\r\n0\r\n\r\n",
            "Post /echo [hello0123456789 hello worl]",
        );
        chunked("5;foo=bar;q=\"x;y\"\r\nhello\r\n0;z\r\n\r\n", "Post /echo [hello]");
        chunked(
            "5 ;a\r\nhello\r\n000\r\nX-T: 1\r\nContent-Length: 99\r\n\r\n",
            "Post /echo [hello]",
        );
        chunked("0\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "Post /echo [], Get / []");
        for wrong in ["zz", "-5", "0x5", "5_0", "", "5\n", "5;\n", "5 5", " 5"] {
            chunked(&format!("{wrong}\r\nhello\r\n0\r\n\r\n"), "BadRequest");
        }
        chunked("5\r\nhelloXX0\r\n\r\n", "BadRequest");
        chunked("5\r\nhello0\r\n\r\n", "BadRequest");
        chunked("5\r\nhello\r0\r\n\r\n", "BadRequest");
        chunked("5\r\nhello\r\n0\r\nno trailer\r\n\r\n", "BadRequest");
        chunked("5\r\nhello\r\n0\r\n folded\r\n\r\n", "BadRequest");
        chunked("10000000000000005\r\nhello\r\n0\r\n\r\n", "TooLong");
        chunked(&format!("5;{}\r\nhello\r\n0\r\n\r\n", "a".repeat(262_144)), "FieldsTooLarge");
        chunked(&format!("5\r\nhello\r\n0\r\nx: {}\r\n\r\n", "a".repeat(20_000)), "FieldsTooLarge");
        chunked(&"0".repeat(20_000), "FieldsTooLarge");
    }

    #[test]
    fn request_lines_that_are_none_are_refused() {
        let line = |line: &str, expected| check(&format!("{line}\r\nHost: h\r\n\r\n"), expected);
        for wrong in [
            "GET /",
            "GET  / HTTP/1.1",
            "GET / HTTP/1.A",
            "GET / http/1.1",
            "GET / HTTP/1.1 ",
            "GET / HTTP/11.1",
            "GET /a b HTTP/1.1",
            "GET /\0 HTTP/1.1",
            "GET /\u{e9} HTTP/1.1",
            "GET /#f HTTP/1.1",
            " GET / HTTP/1.1",
            "G@T / HTTP/1.1",
            "GET x HTTP/1.1",
            "GET * HTTP/1.1",
            "GET ftp://h/ HTTP/1.1",
            "GET http:/// HTTP/1.1",
            "GET\t/ HTTP/1.1",
            "GET http://a@h/ HTTP/1.1",
            "CONNECT / HTTP/1.1",
            "GET /\r HTTP/1.1",
            "GET / HTTP/1.1\r",
        ] {
            line(wrong, "BadRequest");
        }
        line("GET / HTTP/7.0", "VersionUnknown");
        line("GET / HTTP/2.0", "VersionUnknown");
        line("DYNO / HTTP/1.1", "NotImplemented");
        line("get / HTTP/1.1", "NotImplemented");
        line(&format!("{} / HTTP/1.1", "A".repeat(4096)), "NotImplemented");
        line(&format!("GET /{} HTTP/1.1", "a".repeat(262_144)), "UriTooLong");
        check("\x16\x03\x01\x00", "BadRequest");
        check("\u{80}", "BadRequest");
        check("GET / HTTP/1.1\nHost: h\n\n", "BadRequest");
        check("\n", "BadRequest");
        line(&format!("GET /?q={} HTTP/1.1", "a".repeat(7_980)), "Get / []");
    }

    #[test]
    fn header_lines_that_are_none_are_refused() {
        let field = |field: &str, expected| {
            check(&format!("GET / HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n"), expected);
        };
        for wrong in [
            "no-colon",
            ": b",
            "X[a]: b",
            "X : b",
            " X: b",
            "X: a\r\n b",
            "X: a\0b",
            "X: a\rb",
            "X: a\nY: b",
            "X: \x1b[31m",
            "Host: h",
            "Host: other",
        ] {
            field(wrong, "BadRequest");
        }
        field("X: caf\u{e9}\t!", "Get / []");
        field("Expect: the-unexpected", "UnmetExpectation");
        field(&format!("X: {}", "a".repeat(HEAD_MAX)), "FieldsTooLarge");
        field(&"X: a\r\n".repeat(FIELDS_MAX), "FieldsTooLarge");
        check("GET / HTTP/1.1\r\n\r\n", "BadRequest");
        for host in ["a/b", "a b", "a@b", "h:port", "[::1", "a, b c"] {
            check(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "BadRequest");
        }
        check("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "Get / []");
    }

    #[test]
    fn framing_that_could_be_read_in_two_ways_is_refused() {
        let framed =
            |fields: &str, expected| check(&format!("{POST}{fields}\r\n\r\nhello"), expected);
        for wrong in [
            "Content-Length: abc",
            "Content-Length: -1",
            "Content-Length: +5",
            "Content-Length: 0x5",
            "Content-Length: 5 5",
            "Content-Length: ",
            "Content-Length: 5, 6",
            "Content-Length: 5, 5",
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 18446744073709551621",
            "Content-Length : 5",
            "Transfer-Encoding : chunked\r\nContent-Length: 5",
            "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked, gzip",
            "Transfer-Encoding: xchunked",
            "Transfer-Encoding: \x0bchunked",
            "Transfer-Encoding: ,",
            "Transfer-Encoding: chunked;a=b",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
            "Transfer-Encoding:",
        ] {
            framed(wrong, "BadRequest");
        }
        framed("Transfer-Encoding: gzip, chunked", "NotImplemented");
        framed("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "NotImplemented");
        framed("Content-Length: 9223372036854775807", "TooLong");
        check("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "BadRequest");
    }

    #[test]
    fn a_body_is_asked_for_only_if_none_of_it_is_there() {
        let asks = |version: &str, body: &str| {
            let text = format!(
                "POST /echo {version}\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n{body}"
            );
            matches!(Intake::default().feed(text.as_bytes()), Ok(Fed::More { send_continue: true }))
        };
        assert!(asks("HTTP/1.1", ""));
        assert!(!asks("HTTP/1.1", "he"));
        assert!(!asks("HTTP/1.0", ""), "HTTP/1.0 knows no interim answer");
    }

    /// Requests, good and bad, one after another; a bad one ends the connection.
    fn requests() -> impl Strategy<Value = Vec<u8>> {
        let one = prop_oneof![
            4 => Just("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n".to_owned()),
            2 => "[a-z]{0,9}".prop_map(|body| format!("{POST}Content-Length: {}\r\n\r\n{body}", body.len())),
            2 => "[a-z]{1,9}".prop_map(|body| format!("{POST}Transfer-Encoding: chunked\r\n\r\n1;a=\"b\"\r\n!\r\n{:x}\r\n{body}\r\n0\r\nT: v\r\n\r\n", body.len())),
            1 => Just("\r\nGET /late HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".to_owned()),
            1 => Just(format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "a".repeat(LINE_MAX))),
            1 => Just(format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "a".repeat(HEAD_MAX))),
            1 => "[ -~\r\n\0:]{0,40}",
        ];
        proptest::collection::vec(one, 1..6).prop_map(|all| all.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn any_cut_of_the_bytes_means_the_same(
            bytes in requests(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            prop_assert_eq!(understood(&cut_at(&bytes, &cuts)), understood(&[&bytes]));
        }

        #[test]
        fn octet_by_octet_means_the_same(bytes in "[ -~\r\n\0:]{0,200}") {
            let pieces: Vec<&[u8]> = bytes.as_bytes().chunks(1).collect();
            prop_assert_eq!(understood(&pieces), understood(&[bytes.as_bytes()]));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = understood(&[b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", &bytes]);
            let _ = understood(&[&bytes]);
        }
    }
}
