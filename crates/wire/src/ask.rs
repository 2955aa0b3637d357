//! One kind of request, encoded once, and the expected answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::expect::{BodyRule, Expect, Mismatch};
use crate::file_rule::Validators;
use crate::h2::{self, Prepared, Scheme};
use crate::template::{Cursor, Template, Values, push_decimal};
use crate::vary::{RequestForm, Varied};

/// The parts of a request. `Ask::new` encodes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// GET, POST, …
    pub method: String,
    /// Path and query; `{seq}` and `{random:N}` are filled.
    pub target: String,
    /// The `Host` field, unless `headers` has one.
    pub host: String,
    /// Header fields; values may have placeholders.
    pub headers: Vec<(String, String)>,
    /// The body; it may have placeholders. An `Ask` writes it as it has read it.
    #[serde(skip)]
    pub body: Vec<u8>,
    /// Whether placeholders in `body` are filled.
    #[serde(skip)]
    pub body_has_placeholders: bool,
    /// Speak HTTP/1.0.
    pub http_1_0: bool,
    /// Speak HTTP/2 with a server that is reached so. What says how HTTP/1.1 treats its connection is left out.
    pub http2: Option<Scheme>,
    /// Send the body in chunks (RFC 9112, 7.1), so that its length is known only at its end. HTTP/2 has no chunks: there
    /// it is sent without a length.
    #[serde(default)]
    pub chunked: bool,
    /// Ask for the connection to stay open; without it each connection carries one exchange.
    pub keep_alive: bool,
}

impl Request {
    /// The request with validators that were learnt in place of their placeholder.
    #[must_use]
    pub fn with_validators(mut self, validators: &Validators) -> Request {
        self.headers.iter_mut().for_each(|field| validators.fill(field));
        self
    }

    /// `GET target` of `host`, kept alive.
    #[must_use]
    pub fn get(host: &str, target: &str) -> Request {
        Request {
            method: "GET".into(),
            target: target.into(),
            host: host.into(),
            headers: Vec::new(),
            body: Vec::new(),
            body_has_placeholders: true,
            http_1_0: false,
            http2: None,
            chunked: false,
            keep_alive: true,
        }
    }
}

/// One kind of request, encoded, and the expected answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "WrittenAsk", into = "WrittenAsk")]
pub struct Ask {
    head: Template,
    /// Where the body's length varies, the head ends in the length and this; where it is sent in chunks, in this alone.
    counted: Option<Template>,
    /// Where the body begins: in `counted` if there is one, and in `head` otherwise.
    body_at: Cursor,
    /// Its head as HTTP/2 sends it, if it was made for that.
    http2: Option<Box<Prepared>>,
    /// Its other forms, if it is sent in several.
    varied: Option<Box<Varied>>,
    pub expect: Expect,
    is_head: bool,
    is_idempotent: bool,
    /// What it was made from, but for its body.
    request: Box<Request>,
}

/// Why a request cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// The method is not a token.
    Method(String),
    /// The target has a space or a control character in it, or is empty.
    Target(String),
    /// A header field that would break the request's framing.
    Header(String),
    /// A body in chunks where there can be none.
    Chunked(&'static str),
    /// The length that a header field says, and that of the body.
    Length(String, usize),
    /// A header field, or the method CONNECT, that HTTP/2 does not have.
    NotHttp2(String),
    /// A placeholder is not well formed.
    Template(String),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Method(method) => write!(f, "`{}` is not a method", method.escape_debug()),
            AskError::Target(target) => write!(
                f,
                "`{}` cannot be requested: spaces and control characters are written %20 and so on",
                target.escape_debug()
            ),
            AskError::Header(name) => write!(
                f,
                "header `{}`: a field is written `Name: value` on one line",
                name.escape_debug()
            ),
            AskError::Chunked(says) => f.write_str(says),
            AskError::Length(said, len) => write!(
                f,
                "`Content-Length` is {}, but the body has {len} bytes: leave the field out; dyno writes it",
                said.escape_debug()
            ),
            AskError::NotHttp2(name) => {
                write!(
                    f,
                    "HTTP/2 has no `{}`: leave it out, or speak HTTP/1.1",
                    name.escape_debug()
                )
            }
            AskError::Template(says) => f.write_str(says),
        }
    }
}

impl std::error::Error for AskError {}

impl From<String> for AskError {
    fn from(says: String) -> Self {
        AskError::Template(says)
    }
}

impl Ask {
    pub fn new(request: &Request, expect: Expect) -> Result<Ask, AskError> {
        let body = if request.body_has_placeholders {
            Template::parse(&request.body)?
        } else {
            Template::literal(request.body.as_slice())
        };
        let Request { method, target, host, headers, .. } = request;
        let request = Request {
            method: method.clone(),
            target: target.clone(),
            host: host.clone(),
            headers: headers.clone(),
            body: Vec::new(),
            ..*request
        };
        Ask::with_body(request, body, expect)
    }

    /// An ask with a body that has been read; that of the request is not used.
    pub(crate) fn with_body(
        request: Request,
        body: Template,
        expect: Expect,
    ) -> Result<Ask, AskError> {
        let ask = Ask::over_http1(request, body, expect)?;
        match ask.request.http2 {
            None => Ok(ask),
            Some(scheme) => ask.and_over_http2(scheme),
        }
    }

    fn over_http1(mut request: Request, body: Template, expect: Expect) -> Result<Ask, AskError> {
        check(&request)?;
        check_framing(&mut request, &body)?;
        let head = Template::parse(head(&request).as_bytes())?;
        if head.has_bytes() {
            let says = "`{bytes:N}` stands for bytes that only a body may have";
            return Err(AskError::Template(says.into()));
        }
        let is_head = request.method == "HEAD";
        let ends = Template::literal(*b"\r\n\r\n");
        let length_is_said = has(&request, "content-length");
        let sends_body = !body.is_empty() || request.method == "POST";
        let (head, body_at, counted) = if request.chunked {
            let says = match (request.http_1_0, length_is_said, body.is_empty()) {
                (true, _, _) => Some("HTTP/1.0 has no chunks"),
                (_, true, _) => {
                    Some("a body in chunks says its length itself; leave the field out")
                }
                (_, _, true) => Some("there is no body to be sent in chunks"),
                (false, false, false) => None,
            };
            says.map_or(Ok(()), |says| Err(AskError::Chunked(says)))?;
            (head.joined(Template::literal(*CHUNKED)), Cursor::default(), Some(body))
        } else if length_is_said || !sends_body {
            let head = head.joined(ends);
            (head.clone().joined(body), head.end(), None)
        } else if let Some(constant) = body.constant() {
            let length = format!("\r\nContent-Length: {}\r\n\r\n", constant.len());
            let head = head.joined(Template::literal(length));
            (head.clone().joined(body), head.end(), None)
        } else {
            let head = head.joined(Template::literal(*b"\r\nContent-Length: "));
            (head, Cursor::default(), Some(body))
        };
        Ok(Ask {
            head,
            counted,
            body_at,
            http2: None,
            varied: None,
            // RFC 9110, 9.3.2: answers to HEAD have no body.
            expect: match is_head {
                true => Expect { body: BodyRule::Any, body_is_usual: false, ..expect },
                false => expect,
            },
            is_head,
            // RFC 9110, 9.2.2: only these may be sent again without knowledge of what they do.
            is_idempotent: ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]
                .contains(&request.method.as_str()),
            request: Box::new(request),
        })
    }

    fn and_over_http2(mut self, scheme: Scheme) -> Result<Ask, AskError> {
        let length = self.body_len(Values::default());
        let is_post = self.request.method == "POST";
        let says_length = self.counted.is_none() && (0 < length || is_post);
        let fields = h2::fields(&self.request, scheme, says_length.then_some(length))?;
        let mut prepared = Prepared::new(fields, self.counted.is_some() && !self.request.chunked);
        h2::assign_places(&mut [&mut prepared]);
        self.http2 = Some(Box::new(prepared));
        Ok(self)
    }

    /// The ask in forms that the seed and the number of each request determine.
    pub(crate) fn varied(self, seed: u64) -> Ask {
        let varied = match &self.http2 {
            Some(prepared) => Varied::of_http2(prepared, seed),
            None if self.counted.is_some() => Varied::of_http1(&self.head, seed),
            None => Varied::of_http1(&self.head.until(self.body_at), seed),
        };
        Ask { varied: Some(Box::new(varied)), ..self }
    }

    /// The form of one of its requests; none if all are as they were written.
    #[must_use]
    pub fn form(&self, values: Values) -> Option<RequestForm> {
        self.varied.as_ref().map(|varied| varied.form(values))
    }

    /// Where the first segment ends, if this request of HTTP/1.1 has a head in two.
    #[must_use]
    pub fn cut(&self, values: Values, request: &[u8]) -> Option<usize> {
        self.varied.as_ref()?.cut(values, request)
    }

    /// What it was made from, but for its body.
    #[must_use]
    pub fn made_from(&self) -> &Request {
        &self.request
    }

    /// Makes what its answers are compared with, where that takes long: before a load begins.
    pub fn prepare(&self) {
        if let BodyRule::File(rule) = &self.expect.body {
            rule.files().make();
        }
    }

    /// Its head as HTTP/2 sends it, if it was made for that.
    pub(crate) fn http2(&self, values: Values) -> Option<&Prepared> {
        let varied = self.varied.as_ref().and_then(|varied| varied.http2(values));
        varied.or(self.http2.as_deref())
    }

    /// All heads of it that HTTP/2 may send.
    pub(crate) fn http2_mut(&mut self) -> impl Iterator<Item = &mut Prepared> {
        let varied = self.varied.as_deref_mut().map(Varied::http2_mut).unwrap_or_default();
        self.http2.as_deref_mut().into_iter().chain(varied)
    }

    /// Whether it was made for HTTP/2.
    #[must_use]
    pub fn is_over_http2(&self) -> bool {
        self.http2.is_some()
    }

    /// Whether the request has no placeholder.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.counted.is_none() && self.head.constant().is_some()
    }

    /// The bytes that have the body from `body_at` on.
    pub(crate) fn body(&self) -> &Template {
        self.counted.as_ref().unwrap_or(&self.head)
    }

    pub(crate) fn body_at(&self) -> Cursor {
        self.body_at
    }

    pub(crate) fn body_len(&self, values: Values) -> u64 {
        self.body().len_from(self.body_at, values) as u64
    }

    /// The rule for the body of an answer; if the answer is already wrong, its body is only counted.
    pub(crate) fn body_rule(&self, mismatch: Option<Mismatch>) -> &BodyRule {
        if mismatch.is_some() { &BodyRule::Any } else { &self.expect.body }
    }

    /// The request's bytes, if they are always the same.
    #[must_use]
    pub fn constant(&self) -> Option<&[u8]> {
        if self.is_constant() { self.head.constant() } else { None }
    }

    /// The bytes of this request, if they need no encoding.
    pub(crate) fn ready(&self, values: Values) -> Option<&[u8]> {
        let Some(head) = self.varied.as_ref().and_then(|varied| varied.http1(values)) else {
            return self.constant();
        };
        // Its body stands elsewhere.
        let has_none = self.counted.is_none() && self.head.end() == self.body_at;
        if has_none { head.constant() } else { None }
    }

    /// Appends the request's bytes.
    pub fn encode(&self, values: Values, output: &mut Vec<u8>) {
        match self.varied.as_ref().and_then(|varied| varied.http1(values)) {
            None => self.head.fill(values, output),
            Some(head) => {
                head.fill(values, output);
                if self.counted.is_none() {
                    self.head.fill_from(&mut self.body_at(), values, usize::MAX, output);
                }
            }
        }
        if let Some(body) = &self.counted {
            if self.request.chunked {
                return push_chunks(body, values, output);
            }
            push_decimal(body.filled_len(values) as u64, output);
            output.extend_from_slice(b"\r\n\r\n");
            body.fill(values, output);
        }
    }

    /// Appends the request as it is shown: its bytes, or where it is made for HTTP/2 its fields and its body.
    pub fn show(&self, values: Values, output: &mut Vec<u8>) {
        let Some(prepared) = self.http2(values) else { return self.encode(values, output) };
        let length = self.body_len(values);
        prepared.show(values, length, output);
        if 0 < length {
            output.push(b'\n');
            self.body().fill_from(&mut self.body_at(), values, length as usize, output);
        }
    }

    /// RFC 9110, 9.3.2: an answer to HEAD never has a body.
    #[must_use]
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// Whether it may be sent again when a reused connection turns out to be closed.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }
}

const CHUNKED: &[u8; 32] = b"\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A body is cut into chunks of this length, so that a server has to put some together.
const CHUNK: usize = 4 << 10;

fn push_chunks(body: &Template, values: Values, output: &mut Vec<u8>) {
    let (mut left, mut cursor) = (body.filled_len(values), Cursor::default());
    while 0 < left {
        let len = left.min(CHUNK);
        push_hexadecimal(len, output);
        output.extend_from_slice(b"\r\n");
        body.fill_from(&mut cursor, values, len, output);
        output.extend_from_slice(b"\r\n");
        left -= len;
    }
    output.extend_from_slice(b"0\r\n\r\n");
}

fn push_hexadecimal(number: usize, output: &mut Vec<u8>) {
    let digits = number.checked_ilog2().unwrap_or(0) / 4 + 1;
    for digit in (0..digits).rev() {
        output.push(b"0123456789abcdef"[(number >> (4 * digit)) & 15]);
    }
}

pub(crate) fn has(request: &Request, name: &str) -> bool {
    request.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
}

/// The head without its last two line ends.
fn head(request: &Request) -> String {
    let version = if request.http_1_0 { "1.0" } else { "1.1" };
    let mut head = format!("{} {} HTTP/{version}", request.method, request.target);
    let mut field = |name: &str, value: &str| {
        ["\r\n", name, ": ", value].iter().for_each(|part| head.push_str(part));
    };
    if !has(request, "host") {
        field("Host", &request.host);
    }
    for (name, value) in &request.headers {
        field(name, value);
    }
    if !has(request, "connection") {
        match (request.http_1_0, request.keep_alive) {
            (false, true) | (true, false) => {}
            (false, false) => field("Connection", "close"),
            (true, true) => field("Connection", "keep-alive"),
        }
    }
    head
}

fn check(request: &Request) -> Result<(), AskError> {
    let is_token = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !text.is_empty() && text.bytes().all(allowed)
    };
    let is_printable = |text: &str| !text.bytes().any(|byte| byte.is_ascii_control());
    if !is_token(&request.method) {
        return Err(AskError::Method(request.method.clone()));
    }
    if request.target.is_empty()
        || request.target.contains(' ')
        || !request.target.is_ascii()
        || !is_printable(&request.target)
    {
        return Err(AskError::Target(request.target.clone()));
    }
    if !is_printable(&request.host) {
        return Err(AskError::Header("Host".into()));
    }
    let is_field = |(name, value): &&(String, String)| {
        is_token(name) && is_printable(&value.replace('\t', " "))
    };
    match request.headers.iter().find(|field| !is_field(field)) {
        Some((name, _)) => Err(AskError::Header(name.clone())),
        None => Ok(()),
    }
}

/// A request that would not end where the server expects it is refused. `Transfer-Encoding: chunked` is carried out, as
/// curl does.
fn check_framing(request: &mut Request, body: &Template) -> Result<(), AskError> {
    let stated = |name: &'static str| {
        let is_named = move |field: &&(String, String)| field.0.eq_ignore_ascii_case(name);
        request.headers.iter().filter(is_named).map(|field| field.1.trim())
    };
    if let Some(body) = body.constant() {
        let length = body.len().to_string();
        if let Some(wrong) = stated("content-length").find(|value| *value != length) {
            return Err(AskError::Length(wrong.into(), body.len()));
        }
    }
    let codings = stated("transfer-encoding").count();
    if codings == 0 || request.http2.is_some() {
        return Ok(());
    }
    if 1 < codings || !stated("transfer-encoding").all(|it| it.eq_ignore_ascii_case("chunked")) {
        return Err(AskError::Chunked("the only `Transfer-Encoding` that dyno sends is `chunked`"));
    }
    request.headers.retain(|field| !field.0.eq_ignore_ascii_case("transfer-encoding"));
    request.chunked = true;
    Ok(())
}

/// What a request was made from, and the answer to it that is expected.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAsk {
    request: Request,
    body: Template,
    expect: Expect,
    /// The seed of its other forms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vary: Option<u64>,
}

impl From<Ask> for WrittenAsk {
    fn from(ask: Ask) -> WrittenAsk {
        let body = ask.body().rest_from(ask.body_at());
        let vary = ask.varied.as_ref().map(|varied| varied.seed());
        WrittenAsk { request: *ask.request, body, expect: ask.expect, vary }
    }
}

impl TryFrom<WrittenAsk> for Ask {
    type Error = AskError;

    fn try_from(written: WrittenAsk) -> Result<Ask, AskError> {
        let ask = Ask::with_body(written.request, written.body, written.expect)?;
        Ok(match written.vary {
            None => ask,
            Some(seed) => ask.varied(seed),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::encoded;
    use expect_test::{Expect as Snapshot, expect};

    fn check_bytes(request: &Request, expected: &Snapshot) {
        let ask = Ask::new(request, Expect::default()).unwrap();
        let bytes = encoded(&ask, Values { seq: 10, random: 3 });
        expected.assert_eq(&String::from_utf8(bytes).unwrap().replace('\r', ""));
    }

    #[test]
    fn a_plain_get_is_always_the_same_bytes() {
        let request = Request::get("localhost:80", "/hello");
        assert!(Ask::new(&request, Expect::default()).unwrap().constant().is_some());
        check_bytes(
            &request,
            &expect![[r#"
                GET /hello HTTP/1.1
                Host: localhost:80

            "#]],
        );
    }

    #[test]
    fn a_body_whose_length_varies_is_counted_each_time() {
        let request = Request {
            method: "POST".into(),
            headers: vec![("X-Id".into(), "{random:4}".into())],
            body: b"n={seq}".to_vec(),
            keep_alive: false,
            ..Request::get("h", "/user")
        };
        check_bytes(
            &request,
            &expect![[r#"
                POST /user HTTP/1.1
                Host: h
                X-Id: 9py5
                Connection: close
                Content-Length: 4

                n=10"#]],
        );
    }

    #[test]
    fn a_body_in_chunks_says_its_length_piece_by_piece() {
        let request = Request {
            method: "POST".into(),
            body: b"n={seq}".to_vec(),
            chunked: true,
            ..Request::get("h", "/sum")
        };
        check_bytes(
            &request,
            &expect![[r#"
                POST /sum HTTP/1.1
                Host: h
                Transfer-Encoding: chunked

                4
                n=10
                0

            "#]],
        );
        let large = Request { body: b"{bytes:10000}".to_vec(), ..request.clone() };
        let bytes = |request: &Request| {
            let ask = Ask::new(request, Expect::default()).unwrap();
            encoded(&ask, Values { seq: 0, random: 5 })
        };
        let chunks = bytes(&large);
        let whole = bytes(&Request { chunked: false, ..large });
        let body = &whole[whole.len() - 10_000..];
        let parts = [&b"1000\r\n"[..], &body[..4_096], b"\r\n1000\r\n", &body[4_096..8_192]];
        let last = [&b"\r\n710\r\n"[..], &body[8_192..], b"\r\n0\r\n\r\n"];
        assert!(chunks.ends_with(&[parts.concat(), last.concat()].concat()));
        let refused = |request: Request| Ask::new(&request, Expect::default()).is_err();
        assert!(refused(Request { http_1_0: true, ..request.clone() }));
        assert!(refused(Request { body: Vec::new(), ..request.clone() }));
        let length = vec![("Content-Length".into(), "4".into())];
        assert!(refused(Request { headers: length, ..request.clone() }));
        assert!(refused(Request { target: "/{bytes:8}".into(), ..request }));
    }

    #[test]
    fn a_framing_that_a_header_field_states_is_carried_out_or_refused() {
        let stated = |fields: &[(&str, &str)], body: &str| {
            let request = Request {
                method: "POST".into(),
                body: body.into(),
                headers: fields.iter().map(|it| (it.0.into(), it.1.into())).collect(),
                ..Request::get("h", "/sum")
            };
            let ask = Ask::new(&request, Expect::default()).map_err(|error| error.to_string())?;
            let bytes = encoded(&ask, Values { seq: 10, random: 0 });
            Ok::<_, String>(String::from_utf8(bytes).unwrap())
        };
        let chunked = ("transfer-encoding", "Chunked");
        let chunks = "POST /sum HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
                      4\r\nn=10\r\n0\r\n\r\n";
        assert_eq!(stated(&[chunked], "n={seq}").unwrap(), chunks);
        let length = |value| ("Content-Length", value);
        assert!(stated(&[length("4")], "n=10").unwrap().ends_with("4\r\n\r\nn=10"));
        // The length of a body that changes is not known before.
        assert!(stated(&[length("4")], "n={seq}").is_ok());
        for (fields, body, says) in [
            (&[chunked][..], "", "there is no body to be sent in chunks"),
            (&[chunked, chunked], "n", "the only `Transfer-Encoding`"),
            (&[("Transfer-Encoding", "gzip, chunked")], "n", "the only `Transfer-Encoding`"),
            (&[chunked, length("4")], "n=10", "a body in chunks says its length itself"),
            (&[length("5")], "n=10", "`Content-Length` is 5, but the body has 4 bytes"),
            (
                &[length("4"), length("5")],
                "n=10",
                "`Content-Length` is 5, but the body has 4 bytes",
            ),
            (&[length("+4")], "n=10", "`Content-Length` is +4, but the body has 4 bytes"),
        ] {
            let said = stated(fields, body).unwrap_err();
            assert!(said.starts_with(says), "{fields:?}: {said}");
        }
    }

    #[test]
    fn what_would_break_the_requests_framing_is_refused() {
        let broken = |change: fn(&mut Request)| {
            let mut request = Request::get("h", "/");
            change(&mut request);
            Ask::new(&request, Expect::default()).is_err()
        };
        assert!(broken(|r| r.method = "GET /x".into()));
        assert!(broken(|r| r.target = "/a b".into()));
        assert!(broken(|r| r.target = "/a\r\nX:y".into()));
        assert!(broken(|r| r.host = "h\r\nX: y".into()));
        assert!(broken(|r| r.headers.push(("A b".into(), "c".into()))));
        assert!(broken(|r| r.headers.push(("A".into(), "c\nd: e".into()))));
    }
}
