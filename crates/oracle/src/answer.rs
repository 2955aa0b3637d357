//! The right answers, and how a fault changes them. Bytes out; no socket, no clock.

mod route;
mod spoil;

use std::borrow::Cow;

use serde::Deserialize;

use crate::beats::{Rhythm, Wrap};
use crate::faults::Change;
use crate::octets::{parameter, push_chunk, push_number};
use crate::reply::Reply;
use crate::request::{Head, Method, Refusal, Version};
use crate::resource::Resource;
use crate::socket::{Accept, Disagreement, Role, accept, push_agreement};
use crate::xml;
use crate::{Config, Dataset, Root};
use route::{Route, allowed, route};

const PLAIN: &str = "text/plain";
const XML: &str = "text/xml";
const JSON: &str = "application/json";
const OCTETS: &str = "application/octet-stream";
const XML_ERROR: &[u8] = b"<http_test><error>no value specified</error></http_test>";
const HELLO: &[u8] = b"Hello, world!";
const NOWHERE: &[u8] = b"no such resource; there are /, /?value=X, /echo?value=X, /hello, \
    /user/ID, /poll/SECONDS, /delay/MILLISECONDS, /header, /json/COUNT?m=M, /static/FILE, POST to /, /echo, /user or \
    /sum, and WebSockets at /wspoll/SECONDS, /wsecho, /wsroom\n";
const NO_FILE: &[u8] = b"no such file; start with --files FOLDER\n";
const NO_DATASET: &[u8] = b"no data set; start with --dataset FILE\n";
/// RFC 6455, 4.4, and RFC 9110, 15.5.22: an answer that requires an upgrade names what to upgrade to.
const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";

/// A right answer in its parts.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) resource: Resource,
    pub(crate) status_line: &'a str,
    /// Empty where it is among the lines, or where there is none.
    pub(crate) content_type: &'static str,
    /// Header lines of its own, as `Allow: …`, or nothing.
    pub(crate) lines: Cow<'a, str>,
    pub(crate) content: Content<'a>,
    /// How long the request asks to wait for it.
    pub(crate) wait_ns: u64,
}

#[derive(Debug)]
pub(crate) enum Content<'a> {
    Octets(Cow<'a, [u8]>),
    /// No end: one chunk per period.
    Beats(Rhythm),
    /// The handshake of a WebSocket.
    Socket(Accept, Role),
}

/// What the connection knows and a request does not.
pub(crate) struct Circumstances<'a> {
    pub(crate) date: &'a [u8; 29],
    pub(crate) delay_ns: Option<u64>,
    /// Whether the connection will stay open.
    pub(crate) persists: bool,
}

/// What follows once the bytes are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Next {
    /// The answer is whole.
    Nothing,
    /// Chunks, or bare octets to HTTP/1.0.
    Beats(Rhythm, Wrap),
    /// The connection becomes a WebSocket.
    Socket(Role),
}

impl<'a> Answer<'a> {
    /// The right answer to a request.
    pub(crate) fn to(head: &Head<'a>, content: &'a [u8], config: &Config) -> Answer<'a> {
        let route = route(head.path);
        let lines = allowed(&route);
        let (get, post) =
            (matches!(head.method, Method::Get | Method::Head), head.method == Method::Post);
        match route {
            Route::Nowhere if head.method != Method::Connect => not_found(),
            _ if head.method == Method::Options => {
                Answer { lines: lines.into(), ..ok(Resource::Server, PLAIN, Cow::Borrowed(b"")) }
            }
            Route::Root if get => root(head.query, config.root),
            Route::Echo if get => echo(head.query),
            Route::Echo if post => ok(Resource::Post, OCTETS, Cow::Borrowed(content)),
            Route::Root | Route::Users if post => ok(Resource::Post, PLAIN, Cow::Borrowed(content)),
            Route::Delay(wait_ms) if get => delay(wait_ms),
            Route::Header if get => {
                ok(Resource::Header, PLAIN, Cow::Borrowed(head.request_id.unwrap_or_default()))
            }
            Route::Items(count) if get => items(config.dataset.as_deref(), count, head.query),
            Route::Sum if post => sum(content),
            Route::File(name) if get => {
                let file = config.files.as_ref().and_then(|all| all.answer(name, head.wanted));
                file.unwrap_or_else(no_file)
            }
            Route::Hello if get => ok(Resource::Hello, PLAIN, Cow::Borrowed(HELLO)),
            Route::User(id) if get => ok(Resource::User, PLAIN, xml::unescaped(id, false)),
            Route::Poll(every) if get => match Rhythm::asked(every, head.query) {
                Ok(rhythm) => {
                    let content = Content::Beats(rhythm);
                    Answer { content, ..ok(Resource::Poll, PLAIN, Cow::Borrowed(b"")) }
                }
                Err(why) => bad_request(Resource::Poll, why),
            },
            Route::WsPoll(every) if head.method == Method::Get => {
                match Rhythm::asked(every, head.query) {
                    Ok(rhythm) => switch(head, Resource::WsPoll, Role::Beats(rhythm)),
                    Err(why) => bad_request(Resource::WsPoll, why),
                }
            }
            Route::WsEcho if head.method == Method::Get => {
                switch(head, Resource::WsEcho, Role::Echo)
            }
            Route::WsRoom if head.method == Method::Get => {
                switch(head, Resource::WsRoom, Role::Room)
            }
            Route::Server
            | Route::Root
            | Route::Echo
            | Route::Hello
            | Route::User(_)
            | Route::Users
            | Route::Poll(_)
            | Route::WsPoll(_)
            | Route::WsEcho
            | Route::WsRoom
            | Route::Delay(_)
            | Route::Header
            | Route::Items(_)
            | Route::Sum
            | Route::File(_)
            | Route::Nowhere => not_allowed(lines),
        }
    }

    /// The answer to every request, where there is one.
    pub(crate) fn given(reply: &'a Reply) -> Answer<'a> {
        Answer {
            resource: Resource::Reply,
            status_line: &reply.status_line,
            content_type: "",
            lines: Cow::Borrowed(&reply.lines),
            content: Content::Octets(Cow::Borrowed(&reply.content)),
            wait_ns: 0,
        }
    }

    /// The answer to a request that has an answer, given or right.
    pub(crate) fn chosen(
        reply: Option<&'a Reply>,
        head: &Head<'a>,
        content: &'a [u8],
        config: &Config,
    ) -> Answer<'a> {
        reply.map_or_else(|| Answer::to(head, content, config), Answer::given)
    }

    /// The answer to a request beyond the limit of the rate.
    pub(crate) fn limited() -> Answer<'static> {
        let status_line = "HTTP/1.1 503 Service Unavailable";
        Answer { status_line, ..ok(Resource::Limited, "", Cow::Borrowed(b"")) }
    }

    /// Writes a whole answer, or the head of an endless one.
    pub(crate) fn write(
        &self,
        head: &Head<'_>,
        change: Change,
        around: &Circumstances<'_>,
        out: &mut Vec<u8>,
    ) -> Next {
        let status_line =
            if let Change::StatusLine(line) = change { line } else { self.status_line };
        out.extend_from_slice(status_line.as_bytes());
        out.extend_from_slice(b"\r\nDate: ");
        out.extend_from_slice(around.date);
        if !self.content_type.is_empty() {
            out.extend_from_slice(b"\r\nContent-Type: ");
            out.extend_from_slice(self.content_type.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(self.lines.as_bytes());
        if let Some(delay_ns) = around.delay_ns {
            out.extend_from_slice(b"x-oracle-delay-ns: ");
            push_number(out, delay_ns);
            out.extend_from_slice(b"\r\n");
        }
        let says_connection =
            matches!(change, Change::Fields(fields) if fields.starts_with("Connection"));
        if !says_connection && !self.is_socket() {
            out.extend_from_slice(connection(head.version, around.persists));
        }
        if let Change::Fields(fields) = change {
            out.extend_from_slice(fields.as_bytes());
        }
        // RFC 9110, 9.3.2: an answer to HEAD is the answer to GET without its content.
        let bodiless = head.method == Method::Head;
        match &self.content {
            // RFC 9110, 8.6: it has no length but that of the file.
            Content::Octets(_) if self.resource == Resource::NotModified => {
                out.extend_from_slice(b"\r\n");
                Next::Nothing
            }
            Content::Octets(octets) => {
                write_content(octets, bodiless, change, out);
                Next::Nothing
            }
            Content::Beats(rhythm) => {
                // RFC 9112, 6.1: no Transfer-Encoding to HTTP/1.0; there, closing ends the content.
                let chunked = head.version == Version::Http11;
                let framing: &[u8] =
                    if chunked { b"Transfer-Encoding: chunked\r\n\r\n" } else { b"\r\n" };
                out.extend_from_slice(framing);
                let wrap = if chunked { Wrap::Chunk } else { Wrap::Bare };
                if bodiless { Next::Nothing } else { Next::Beats(*rhythm, wrap) }
            }
            Content::Socket(accept, role) => {
                push_agreement(accept, change, out);
                Next::Socket(*role)
            }
        }
    }

    /// Whether only the end of the connection ends its content.
    pub(crate) fn is_close_delimited(&self, version: Version) -> bool {
        matches!(self.content, Content::Beats(_)) && version == Version::Http10
    }

    /// Whether it turns the connection into a WebSocket.
    pub(crate) fn is_socket(&self) -> bool {
        matches!(self.content, Content::Socket(..))
    }

    /// Whether no request can follow it: the peer wants none, or only the end of the connection ends the answer.
    pub(crate) fn is_last(&self, head: &Head<'_>) -> bool {
        !self.is_socket() && (!head.persists || self.is_close_delimited(head.version))
    }
}

/// Writes the answer to a refused request; the connection ends with it.
pub(crate) fn write_refusal(refusal: Refusal, date: &[u8; 29], out: &mut Vec<u8>) {
    let why = refusal.why;
    out.extend_from_slice(refusal.status.name().as_bytes());
    out.extend_from_slice(b"\r\nDate: ");
    out.extend_from_slice(date);
    out.extend_from_slice(b"\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ");
    push_number(out, why.len() as u64 + 1);
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(why.as_bytes());
    out.push(b'\n');
}

fn ok<'a>(resource: Resource, content_type: &'static str, octets: Cow<'a, [u8]>) -> Answer<'a> {
    let content = Content::Octets(octets);
    let status_line = "HTTP/1.1 200 OK";
    Answer { resource, status_line, content_type, lines: "".into(), content, wait_ns: 0 }
}

fn no_file<'a>() -> Answer<'a> {
    Answer { content: Content::Octets(Cow::Borrowed(NO_FILE)), ..not_found() }
}

fn not_found<'a>() -> Answer<'a> {
    let status_line = "HTTP/1.1 404 Not Found";
    Answer { status_line, ..ok(Resource::Unknown, PLAIN, Cow::Borrowed(NOWHERE)) }
}

fn not_allowed<'a>(lines: &'static str) -> Answer<'a> {
    let status_line = "HTTP/1.1 405 Method Not Allowed";
    let content = Cow::Borrowed(&b"not that method here\n"[..]);
    Answer { status_line, lines: lines.into(), ..ok(Resource::Unknown, PLAIN, content) }
}

fn bad_request<'a>(resource: Resource, why: &'static str) -> Answer<'a> {
    let status_line = "HTTP/1.1 400 Bad Request";
    Answer { status_line, ..ok(resource, PLAIN, Cow::Borrowed(why.as_bytes())) }
}

/// The answer to a handshake, or the refusal.
fn switch<'a>(head: &Head<'_>, resource: Resource, role: Role) -> Answer<'a> {
    match accept(head) {
        Ok(accept) => {
            let status_line = "HTTP/1.1 101 Switching Protocols";
            let content = Content::Socket(accept, role);
            Answer { status_line, content, ..ok(resource, "", Cow::Borrowed(b"")) }
        }
        Err(Disagreement::UpgradeNeeded) => {
            let status_line = "HTTP/1.1 426 Upgrade Required";
            let content = Cow::Borrowed(&b"here is a WebSocket, version 13\n"[..]);
            Answer { status_line, lines: UPGRADE.into(), ..ok(resource, PLAIN, content) }
        }
        Err(Disagreement::Wrong(why)) => bad_request(resource, why),
    }
}

/// `/` as configured; with a query, the same as `/echo`.
fn root<'a>(query: Option<&'a [u8]>, root: Root) -> Answer<'a> {
    if query.is_some_and(|query| !only_ours(query)) {
        return Answer { resource: Resource::Echo, ..echo(query) };
    }
    let (content_type, octets) = match root {
        Root::Empty => (PLAIN, &b""[..]),
        Root::Hello => (PLAIN, HELLO),
        Root::XmlError => (XML, XML_ERROR),
    };
    ok(Resource::Root, content_type, Cow::Borrowed(octets))
}

/// Whether a query holds nothing but parameters for the oracle itself.
fn only_ours(query: &[u8]) -> bool {
    let ours = |pair: &[u8]| pair.starts_with(b"delay=") || pair.starts_with(b"fault=");
    query.split(|byte| *byte == b'&').all(ours)
}

fn echo<'a>(query: Option<&[u8]>) -> Answer<'a> {
    let Some(value) = query.and_then(|query| parameter(query, b"value=")) else {
        return ok(Resource::Echo, XML, Cow::Borrowed(XML_ERROR));
    };
    let mut text = Vec::with_capacity(value.len() + 48);
    text.extend_from_slice(b"<http_test><value>");
    xml::push_text(&mut text, &xml::unescaped(value, true));
    text.extend_from_slice(b"</value></http_test>");
    ok(Resource::Echo, XML, Cow::Owned(text))
}

fn delay<'a>(wait_ms: u32) -> Answer<'a> {
    let mut digits = Vec::with_capacity(5);
    push_number(&mut digits, u64::from(wait_ms));
    let wait_ns = u64::from(wait_ms) * 1_000_000;
    Answer { wait_ns, ..ok(Resource::Delay, PLAIN, Cow::Owned(digits)) }
}

fn items<'a>(dataset: Option<&Dataset>, count: usize, query: Option<&[u8]>) -> Answer<'a> {
    let Some(dataset) = dataset else {
        return Answer { content: Content::Octets(Cow::Borrowed(NO_DATASET)), ..not_found() };
    };
    let factor = query.and_then(|query| parameter(query, b"m="));
    let factor = factor.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let Some(factor) = factor else {
        return bad_request(Resource::Items, "m is a whole number, as in /json/5?m=2\n");
    };
    match dataset.first(count, factor) {
        Some(octets) => ok(Resource::Items, JSON, Cow::Owned(octets)),
        None => not_found(),
    }
}

#[derive(Deserialize)]
struct Numbers {
    values: Vec<i64>,
}

fn sum<'a>(content: &[u8]) -> Answer<'a> {
    match serde_json::from_slice::<Numbers>(content) {
        Ok(numbers) => ok(Resource::Sum, JSON, sum_of(&numbers.values)),
        Err(_) => bad_request(Resource::Sum, "what is summed is {\"values\":[…]}, whole numbers\n"),
    }
}

/// A form of the oracle's own: the sum is its last member.
fn sum_of<'a>(values: &[i64]) -> Cow<'a, [u8]> {
    let sum: i128 = values.iter().copied().map(i128::from).sum();
    let text = format!("{{\"count\":{},\"sum\":{sum}}}", values.len());
    Cow::Owned(text.into_bytes())
}

/// RFC 9112, 9.3: HTTP/1.1 persists unless a field forbids it, HTTP/1.0 only if a field asks for it.
fn connection(version: Version, persists: bool) -> &'static [u8] {
    match (version, persists) {
        (Version::Http11, true) => b"",
        (Version::Http10, true) => b"Connection: keep-alive\r\n",
        (_, false) => b"Connection: close\r\n",
    }
}

fn write_content(octets: &[u8], bodiless: bool, change: Change, out: &mut Vec<u8>) {
    let (framing, chunk_size) = match change {
        Change::Framing(fields) => (Some(fields), None),
        Change::Chunked(fields) => (Some(fields), Some(octets.len().max(1))),
        Change::OneOctetChunks => (Some("Transfer-Encoding: chunked\r\n"), Some(1)),
        Change::Right
        | Change::StatusLine(_)
        | Change::Fields(_)
        | Change::Spoilt(_)
        | Change::NoUpgrade
        | Change::NoAccept
        | Change::OtherAccept => (None, None),
    };
    match framing {
        Some(fields) => out.extend_from_slice(fields.as_bytes()),
        None => {
            out.extend_from_slice(b"Content-Length: ");
            push_number(out, octets.len() as u64);
            out.extend_from_slice(b"\r\n");
        }
    }
    out.extend_from_slice(b"\r\n");
    match chunk_size {
        _ if bodiless => {}
        Some(size) => write_chunks(octets, size, out),
        None => out.extend_from_slice(octets),
    }
}

fn write_chunks(octets: &[u8], size: usize, out: &mut Vec<u8>) {
    for chunk in octets.chunks(size) {
        push_chunk(out, chunk);
    }
    out.extend_from_slice(b"0\r\n\r\n");
}
