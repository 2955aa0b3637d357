//! Reads request heads, strictly: bytes in, a `Head`, or not yet, or a `Refusal`. No socket.

mod fields;
mod wanted;

use memchr::memchr;
use units::named;

use fields::Fields;

pub(crate) use fields::{list, trimmed};
pub(crate) use wanted::Wanted;

/// The longest request line; RFC 9112, 3 recommends at least 8,000 octets.
pub(crate) const LINE_MAX: usize = 16 * 1024;
/// The largest head.
pub(crate) const HEAD_MAX: usize = 64 * 1024;
/// The most header lines.
pub(crate) const FIELDS_MAX: usize = 256;
/// The most empty octets tolerated before a request line.
const BLANK_MAX: usize = 8;

/// A head that has been parsed; it borrows the bytes from which it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a [u8],
    pub(crate) query: Option<&'a [u8]>,
    pub(crate) version: Version,
    /// Whether the peer wants the connection to stay open after the answer.
    pub(crate) persists: bool,
    pub(crate) framing: Framing,
    pub(crate) expects_continue: bool,
    /// The value of `X-Request-Id`.
    pub(crate) request_id: Option<&'a [u8]>,
    /// What it says of a file that it wants.
    pub(crate) wanted: Wanted<'a>,
    /// The header lines, unchanged.
    pub(crate) fields: &'a [u8],
    /// How many bytes the head takes.
    pub(crate) length: usize,
}

impl<'a> Head<'a> {
    /// A head of HTTP/1.1 without fields.
    pub(crate) fn bare(method: Method, path: &'a [u8], query: Option<&'a [u8]>) -> Head<'a> {
        Head {
            method,
            path,
            query,
            version: Version::Http11,
            persists: true,
            framing: Framing::None,
            expects_continue: false,
            request_id: None,
            wanted: Wanted::default(),
            fields: b"",
            length: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Head,
    Post,
    Options,
    /// A method of RFC 9110 that no resource of the oracle has.
    Known,
    /// A method of RFC 9110 that no resource of the oracle has, for a tunnel: its target is an authority.
    Connect,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Http10,
    Http11,
}

/// Where the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// A request that is refused; the connection ends with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: Status,
    pub(crate) why: &'static str,
}

named! {
    /// The status line of a refusal.
    pub(crate) enum Status {
        BadRequest = "HTTP/1.1 400 Bad Request",
        TimedOut = "HTTP/1.1 408 Request Timeout",
        TooLong = "HTTP/1.1 413 Content Too Large",
        UriTooLong = "HTTP/1.1 414 URI Too Long",
        UnmetExpectation = "HTTP/1.1 417 Expectation Failed",
        FieldsTooLarge = "HTTP/1.1 431 Request Header Fields Too Large",
        NotImplemented = "HTTP/1.1 501 Not Implemented",
        VersionUnknown = "HTTP/1.1 505 HTTP Version Not Supported",
    }
}

const fn bad(why: &'static str) -> Refusal {
    Refusal { status: Status::BadRequest, why }
}

const TOO_LARGE: Refusal =
    Refusal { status: Status::FieldsTooLarge, why: "the head is larger than 64 KiB or 256 lines" };

/// Reads a head from the front of `bytes`; `None` if more bytes are needed.
///
/// Errors come in the order of the bytes, so that the way in which they are cut makes no difference.
pub(crate) fn head(bytes: &[u8]) -> Result<Option<Head<'_>>, Refusal> {
    let mut at = blank(bytes);
    let Some(line) = line(&bytes[at..bytes.len().min(at + LINE_MAX)])? else {
        return unfinished_line(&bytes[at..]);
    };
    let (method, target, version) = request_line(line)?;
    let (path, query) = target_parts(method, target)?;
    at += line.len() + 2;

    let fields_at = at;
    let mut fields = Fields::default();
    let within = &bytes[..bytes.len().min(HEAD_MAX)];
    for _ in 0..=FIELDS_MAX {
        match self::line(&within[at..])? {
            None if bytes.len() >= HEAD_MAX => return Err(TOO_LARGE),
            None => return Ok(None),
            Some(line) => {
                at += line.len() + 2;
                if line.is_empty() {
                    let bare = Head::bare(method, path, query);
                    let fields_bytes = &bytes[fields_at..at];
                    let mut head = Head { version, fields: fields_bytes, length: at, ..bare };
                    fields.conclude(&mut head)?;
                    return Ok(Some(head));
                }
                fields.take(line)?;
            }
        }
    }
    Err(TOO_LARGE)
}

/// RFC 9112, 2.2: empty lines before a request line are ignored.
fn blank(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < BLANK_MAX && bytes[at..].starts_with(b"\r\n") {
        at += 2;
    }
    at
}

/// The next line without its CRLF, if it is complete.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, Refusal> {
    match memchr(b'\n', bytes) {
        None => Ok(None),
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => Ok(Some(&bytes[..at - 1])),
        Some(_) => Err(bad("a line ends in a bare LF")),
    }
}

/// A request line without an end: incomplete, or too long, or one that can never become valid.
fn unfinished_line<'a>(line: &[u8]) -> Result<Option<Head<'a>>, Refusal> {
    let method = line.iter().take_while(|byte| is_token(**byte)).count();
    let after = line.get(method);
    let garbage = after.is_some_and(|byte| *byte != b' ' && line != b"\r");
    if garbage || (after.is_some() && method == 0 && line != b"\r") {
        Err(bad("no method where a request line should begin"))
    } else if line.len() < LINE_MAX {
        Ok(None)
    } else if after.is_some() {
        Err(Refusal { status: Status::UriTooLong, why: "the request line is longer than 16 KiB" })
    } else {
        Err(Refusal { status: Status::NotImplemented, why: "a method of 16 KiB" })
    }
}

fn request_line(line: &[u8]) -> Result<(Method, &[u8], Version), Refusal> {
    let method_end = memchr(b' ', line).ok_or(bad("a request line of one word"))?;
    let (method, rest) = (&line[..method_end], &line[method_end + 1..]);
    if method.is_empty() || !all(method, is_token) {
        return Err(bad("no method where a request line should begin"));
    }
    let target_end = rest.iter().rposition(|byte| *byte == b' ');
    let target_end = target_end.ok_or(bad("a request line without a version"))?;
    let (target, version) = (&rest[..target_end], &rest[target_end + 1..]);
    Ok((self::method(method), target, self::version(version)?))
}

/// RFC 9110, 9.1: methods are case-sensitive.
pub(crate) fn method(name: &[u8]) -> Method {
    match name {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        b"POST" => Method::Post,
        b"OPTIONS" => Method::Options,
        b"PUT" | b"DELETE" | b"PATCH" | b"TRACE" => Method::Known,
        b"CONNECT" => Method::Connect,
        _ => Method::Unknown,
    }
}

/// RFC 9112, 2.3: case-sensitive, one digit each; a higher minor version is read as HTTP/1.1.
fn version(name: &[u8]) -> Result<Version, Refusal> {
    match name {
        b"HTTP/1.1" => Ok(Version::Http11),
        b"HTTP/1.0" => Ok(Version::Http10),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            if *major == b'1' {
                return Ok(Version::Http11);
            }
            Err(Refusal { status: Status::VersionUnknown, why: "this server speaks HTTP/1.1" })
        }
        _ => Err(bad("no HTTP version where a request line should end")),
    }
}

/// RFC 9112, 3.2: the four forms of a target, as path and query.
pub(crate) fn target_parts(
    method: Method,
    target: &[u8],
) -> Result<(&[u8], Option<&[u8]>), Refusal> {
    const NO_TARGET: Refusal = bad("the request target is none");
    if !all(target, |byte| byte.is_ascii_graphic() & (byte != b'#')) {
        return Err(NO_TARGET);
    }
    match (target, method) {
        (_, Method::Connect) if is_authority(target) && !target.is_empty() => Ok((b"", None)),
        (_, Method::Connect) => Err(NO_TARGET),
        ([b'/', ..], _) => Ok(split_query(target)),
        (b"*", Method::Options) => Ok((b"*", None)),
        _ => absolute(target).ok_or(NO_TARGET),
    }
}

/// RFC 9112, 3.2.2: a server accepts the absolute form; its authority stands for `Host`.
fn absolute(target: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let scheme = memchr::memmem::find(target, b"://")?;
    let known = ["http", "https"];
    if !known.iter().any(|name| target[..scheme].eq_ignore_ascii_case(name.as_bytes())) {
        return None;
    }
    let rest = &target[scheme + 3..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    if authority.is_empty() || !is_authority(authority) {
        return None;
    }
    let (path, query) = split_query(rest);
    Some((if path.is_empty() { b"/" } else { path }, query))
}

fn split_query(target: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr(b'?', target) {
        Some(at) => (&target[..at], Some(&target[at + 1..])),
        None => (target, None),
    }
}

/// Whether all bytes satisfy this; without an early end, so that one instruction can check many of them.
fn all(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(true, |so_far, byte| so_far & is_such(*byte))
}

/// Letters, digits and these.
const fn letters_digits_and(others: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        table[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
}

/// RFC 9110, 5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    const TOKEN: [bool; 256] = letters_digits_and(b"!#$%&'*+-.^_`|~");
    TOKEN[usize::from(byte)]
}

/// RFC 9110, 5.5: no control character but the tab.
pub(crate) fn is_field_byte(byte: u8) -> bool {
    (byte >= b' ') & (byte != 0x7f) | (byte == b'\t')
}

/// A host, perhaps with a port; an empty one is valid too (RFC 9112, 3.2).
fn is_authority(text: &[u8]) -> bool {
    const NAME: [bool; 256] = letters_digits_and(b"-._~!$&'()*+,;=%");
    const LITERAL: [bool; 256] = letters_digits_and(b":.-_~!$&'()*+,;=");
    let (host, port) = match text.iter().rposition(|byte| *byte == b':') {
        Some(at) if text[at + 1..].iter().all(u8::is_ascii_digit) => (&text[..at], &text[at + 1..]),
        _ => (text, &[][..]),
    };
    port.len() <= 5
        && match host {
            [b'[', inside @ .., b']'] => {
                !inside.is_empty() && all(inside, |byte| LITERAL[usize::from(byte)])
            }
            name => all(name, |byte| NAME[usize::from(byte)]),
        }
}
