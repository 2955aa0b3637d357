//! The header lines that matter to a server: the host, how the body ends, and which side closes.

use memchr::memchr;

use super::{
    Framing, Head, Method, Refusal, Status, Version, Wanted, all, bad, is_authority, is_field_byte,
    is_token,
};

/// What the header lines so far contain.
#[derive(Default)]
pub(super) struct Fields<'a> {
    hosts: usize,
    length: Option<u64>,
    codings: Codings,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    unmet_expectation: bool,
    request_id: Option<&'a [u8]>,
    wanted: Wanted<'a>,
}

/// What `Transfer-Encoding` so far contains.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Codings {
    #[default]
    Unsaid,
    /// No coding, although the field was there.
    Empty,
    /// Codings, the last of which is not chunked.
    Others,
    /// Chunked, alone.
    Chunked,
    /// Chunked after others.
    OthersThenChunked,
    /// Something after chunked.
    Broken,
}

impl<'a> Fields<'a> {
    pub(super) fn take(&mut self, line: &'a [u8]) -> Result<(), Refusal> {
        let colon = memchr(b':', line).ok_or(bad("a header line without a colon"))?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        // RFC 9112, 5.1 and 5.2: no white space before the colon, no folded lines.
        if name.is_empty() || !all(name, is_token) {
            return Err(bad("a field's name is no token"));
        }
        if !all(value, is_field_byte) {
            return Err(bad("a control character in a field's value"));
        }
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => self.host(trimmed(value)),
            6 if name.eq_ignore_ascii_case(b"expect") => self.expect(trimmed(value)),
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            12 if name.eq_ignore_ascii_case(b"x-request-id") => {
                self.request_id = Some(trimmed(value));
                Ok(())
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => self.length(trimmed(value)),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.codings(value),
            _ => {
                self.wanted.take(name, value);
                Ok(())
            }
        }
    }

    fn host(&mut self, value: &[u8]) -> Result<(), Refusal> {
        self.hosts += 1;
        if self.hosts > 1 {
            return Err(bad("two Host fields"));
        }
        if is_authority(value) { Ok(()) } else { Err(bad("the Host field names no host")) }
    }

    fn expect(&mut self, value: &[u8]) -> Result<(), Refusal> {
        let known = value.eq_ignore_ascii_case(b"100-continue");
        self.expects_continue |= known;
        self.unmet_expectation |= !known;
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) -> Result<(), Refusal> {
        for option in value.split(|byte| *byte == b',').map(trimmed) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
        Ok(())
    }

    /// RFC 9112, 6.3: digits, and once. Equal repetitions may be refused too, and are.
    fn length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.length.is_some() {
            return Err(bad("two Content-Length fields"));
        }
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(bad("Content-Length is no number"));
        }
        let length = value.iter().try_fold(0_u64, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        });
        self.length = Some(length.ok_or(bad("Content-Length does not fit in 64 bits"))?);
        Ok(())
    }

    fn codings(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.codings == Codings::Unsaid {
            self.codings = Codings::Empty;
        }
        for name in list(value) {
            let chunked = name.eq_ignore_ascii_case(b"chunked");
            self.codings = match self.codings {
                Codings::Unsaid | Codings::Empty if chunked => Codings::Chunked,
                Codings::Others if chunked => Codings::OthersThenChunked,
                Codings::Unsaid | Codings::Empty | Codings::Others => Codings::Others,
                Codings::Chunked | Codings::OthersThenChunked | Codings::Broken => Codings::Broken,
            };
        }
        Ok(())
    }

    /// Writes into the head what its fields say.
    pub(super) fn conclude(&self, head: &mut Head<'a>) -> Result<(), Refusal> {
        let modern = head.version == Version::Http11;
        if modern && self.hosts == 0 {
            return Err(bad("HTTP/1.1 without a Host field"));
        }
        head.framing = self.framing(modern)?;
        if head.method == Method::Unknown {
            return Err(Refusal { status: Status::NotImplemented, why: "no such method here" });
        }
        if modern && self.unmet_expectation {
            let why = "only 100-continue may be expected";
            return Err(Refusal { status: Status::UnmetExpectation, why });
        }
        head.persists = !self.close && (modern || self.keep_alive);
        // RFC 9110, 10.1.1: an expectation in HTTP/1.0 is ignored.
        head.expects_continue = modern && self.expects_continue;
        head.request_id = self.request_id;
        head.wanted = self.wanted;
        Ok(())
    }

    fn framing(&self, modern: bool) -> Result<Framing, Refusal> {
        match (self.codings, self.length) {
            (Codings::Unsaid, None) => Ok(Framing::None),
            (Codings::Unsaid, Some(length)) => Ok(Framing::Length(length)),
            // RFC 9112, 6.1: faulty framing in HTTP/1.0, and possibly smuggling with a length.
            _ if !modern => Err(bad("Transfer-Encoding in HTTP/1.0")),
            (_, Some(_)) => Err(bad("Content-Length beside Transfer-Encoding")),
            (Codings::Chunked, None) => Ok(Framing::Chunked),
            (Codings::OthersThenChunked, None) => {
                let why = "no transfer coding but chunked here";
                Err(Refusal { status: Status::NotImplemented, why })
            }
            (Codings::Empty | Codings::Others | Codings::Broken, None) => {
                Err(bad("Transfer-Encoding does not end in chunked"))
            }
        }
    }
}

/// RFC 9110, 5.6.1: empty elements of a list are ignored.
pub(crate) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(trimmed).filter(|element| !element.is_empty())
}

/// Without the optional white space at both ends: spaces and tabs, nothing else.
pub(crate) fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
