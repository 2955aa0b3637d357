//! A request, parsed; and whether it may be answered.

use crate::response::{Response, Status};

/// The most header fields that a request may have.
const FIELDS: usize = 64;

/// The target of a request, with all escapes decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The path, including its first slash.
    pub path: String,
    /// Names and values after the question mark, in their order.
    pub query: Vec<(String, String)>,
    /// Only the head of the answer is wanted.
    pub(crate) is_head: bool,
}

/// The result of parsing the bytes so far.
pub(crate) enum Read {
    /// The head is incomplete.
    Partial,
    /// The head is complete.
    Request(Request),
    /// It is refused.
    Refused(Response),
}

impl Request {
    /// The first value of this name after the question mark.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Parses a head as far as it has arrived, and judges it once it is complete.
pub(crate) fn read(bytes: &[u8], port: u16) -> Read {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => Read::Partial,
        Ok(httparse::Status::Complete(_)) => match judged(&request, port) {
            Ok(question) => Read::Request(question),
            Err(answer) => Read::Refused(answer),
        },
        Err(httparse::Error::TooManyHeaders) => Read::Refused(Response::too_large()),
        Err(_) => Read::Refused(Response::text(Status::Bad, "this is no HTTP/1.1 request\n")),
    }
}

fn judged(request: &httparse::Request<'_, '_>, port: u16) -> Result<Request, Response> {
    let bad = |says: &str| Response::text(Status::Bad, says);
    let all = |name: &str| -> Vec<&[u8]> {
        let named = |field: &&httparse::Header<'_>| field.name.eq_ignore_ascii_case(name);
        request.headers.iter().filter(named).map(|field| field.value).collect()
    };
    // A web page reads what its reader's machine serves through a name that resolves to this machine and is not ours
    // (DNS rebinding).
    match all("host")[..] {
        [host] if is_ours(host, port) => {}
        [_] => {
            return Err(Response::text(
                Status::Misdirected,
                "this Host is not served here: ask for 127.0.0.1 or localhost, with the port\n",
            ));
        }
        _ => return Err(bad("a request has one Host\n")),
    }
    let is =
        |name: &str, value: &[u8]| all(name).iter().any(|other| other.eq_ignore_ascii_case(value));
    if is("sec-fetch-site", b"cross-site") && !is("sec-fetch-mode", b"navigate") {
        return Err(Response::text(Status::Forbidden, "not for the pages of another site\n"));
    }
    let is_head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => {
            return Err(Response::text(
                Status::NotAllowed,
                "only GET and HEAD: nothing is changed here\n",
            ));
        }
    };
    if !all("transfer-encoding").is_empty() || all("content-length").iter().any(|it| *it != b"0") {
        return Err(bad("no body is taken\n"));
    }
    let target = request.path.filter(|target| target.starts_with('/'));
    let parsed = target.and_then(parsed);
    let (path, query) = parsed.ok_or_else(|| bad("this is not a path with UTF-8 in it\n"))?;
    Ok(Request { path, query, is_head })
}

/// Whether this Host field comes from a browser that its own user sent to this machine.
fn is_ours(host: &[u8], port: u16) -> bool {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    let is = |name: &str| {
        let whole = format!("{name}:{port}");
        host.eq_ignore_ascii_case(whole.as_bytes())
            || (port == 80 && host.eq_ignore_ascii_case(name.as_bytes()))
    };
    names.into_iter().any(is)
}

type Parsed = (String, Vec<(String, String)>);

fn parsed(target: &str) -> Option<Parsed> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((plain(name, true)?, plain(value, true)?))
    });
    Some((plain(path, false)?, pairs.collect::<Option<_>>()?))
}

/// A text with its escapes decoded; in a form's fields a plus stands for a space.
fn plain(text: &str, is_form: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            b'+' if is_form => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
