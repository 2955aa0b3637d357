//! A header list as a request, strictly (RFC 9113, 8.2 and 8.3): a list that is malformed resets its stream.

use super::frames::PROTOCOL_ERROR;
use super::hpack::Fields;
use crate::request::{Head, Method, Wanted, is_token, method, target_parts};

/// A request's head as its list says it.
#[derive(Debug)]
pub(crate) struct Listed<'a> {
    pub(crate) head: Head<'a>,
    pub(crate) length: Option<u64>,
}

/// The code with which the stream is reset.
type Malformed = u32;

/// What is kept of a request that is answered later.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) fields: Fields,
    pub(crate) content: Vec<u8>,
}

impl Kept {
    pub(crate) fn head(&self) -> Head<'_> {
        listed(&self.fields).expect("this list was a request when it was kept").head
    }
}

/// What a list says, or that it is malformed.
pub(crate) fn listed(fields: &Fields) -> Result<Listed<'_>, Malformed> {
    let [mut name_of_method, mut scheme, mut path, mut authority] = [None; 4];
    let (mut host, mut length, mut request_id) = (None, None, None);
    let mut wanted = Wanted::default();
    let (mut expects_continue, mut is_regular) = (false, false);
    for (name, value) in fields.iter() {
        if let [b':', ..] = name {
            let place = match name {
                b":method" => &mut name_of_method,
                b":scheme" => &mut scheme,
                b":path" => &mut path,
                b":authority" => &mut authority,
                _ => return Err(PROTOCOL_ERROR),
            };
            // RFC 9113, 8.3: once each, and before all other fields; 8.2.1 holds for their values, too.
            if is_regular || place.replace(value).is_some() || !is_value(value) {
                return Err(PROTOCOL_ERROR);
            }
            continue;
        }
        is_regular = true;
        regular(name, value)?;
        match name {
            b"host" => host = Some(value),
            b"content-length" if length.is_some() => return Err(PROTOCOL_ERROR),
            b"content-length" => length = Some(number(value)?),
            b"x-request-id" => request_id = Some(value),
            b"expect" => expects_continue |= value.eq_ignore_ascii_case(b"100-continue"),
            _ => wanted.take(name, value),
        }
    }
    if authority.is_some() && host.is_some() && authority != host {
        return Err(PROTOCOL_ERROR);
    }
    // RFC 9113, 8.3.1: no user is in it.
    if authority.is_some_and(|authority| authority.contains(&b'@')) {
        return Err(PROTOCOL_ERROR);
    }
    let is_token = |name: &&[u8]| !name.is_empty() && name.iter().all(|byte| is_token(*byte));
    let name_of_method = name_of_method.filter(is_token).ok_or(PROTOCOL_ERROR)?;
    let method = method(name_of_method);
    let target = match (method, scheme, path, authority) {
        (Method::Connect, None, None, Some(authority)) => authority,
        (Method::Connect, ..) => return Err(PROTOCOL_ERROR),
        (_, Some(_), Some(path), _) if path.starts_with(b"/") || path == b"*" => path,
        _ => return Err(PROTOCOL_ERROR),
    };
    let (path, query) = target_parts(method, target).map_err(|_| PROTOCOL_ERROR)?;
    let head = Head { expects_continue, request_id, wanted, ..Head::bare(method, path, query) };
    Ok(Listed { head, length })
}

/// RFC 9113, 8.1: trailers have no pseudo-fields.
pub(crate) fn trailers(fields: &Fields) -> Result<(), Malformed> {
    fields.iter().try_for_each(|(name, value)| regular(name, value))
}

/// RFC 9113, 8.2: names are lower-case tokens, values have no line ends and no blanks around them, and what HTTP/1.1
/// says of a connection is not said.
fn regular(name: &[u8], value: &[u8]) -> Result<(), Malformed> {
    let is_name = |byte: &u8| is_token(*byte) && !byte.is_ascii_uppercase();
    let is_of_a_connection = is_of_a_connection(name) || name == b"te" && value != b"trailers";
    let is_wrong =
        name.is_empty() || !name.iter().all(is_name) || !is_value(value) || is_of_a_connection;
    if is_wrong { Err(PROTOCOL_ERROR) } else { Ok(()) }
}

fn is_value(value: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
        && !is_blank(value.first())
        && !is_blank(value.last())
}

/// RFC 9113, 8.2.2.
pub(crate) fn is_of_a_connection(name: &[u8]) -> bool {
    matches!(
        name,
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
    )
}

fn number(value: &[u8]) -> Result<u64, Malformed> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or(PROTOCOL_ERROR)
}
