//! Where a head ends, and what it says about the body that follows.

use std::mem::MaybeUninit;

use crate::ask::Ask;
use crate::expect::Mismatch;
use crate::fault::WireFault;
use crate::file_rule::Delivery;
use crate::h1::Limits;
use crate::template::Values;

pub(super) const FIELDS_MAX: usize = 128;

/// How a body's end is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Fixed(u64),
    Chunked,
    UntilClose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) framing: Framing,
    pub(crate) keeps_alive: bool,
    pub(crate) mismatch: Option<Mismatch>,
    pub(crate) delivery: Delivery,
}

/// How far a head has been looked through. `line <= at`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scan {
    at: usize,
    line: usize,
}

impl Scan {
    pub(crate) fn is_at_start(&self) -> bool {
        self.at == 0
    }

    /// Continues to look for the empty line; returns where the head ends. Checks bytes strictly in
    /// their order, so that the verdict is the same however they were cut.
    pub(crate) fn find_end(
        &mut self,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<usize>, WireFault> {
        const BEGINS: &[u8] = b"HTTP/";
        if self.at < BEGINS.len() {
            let len = bytes.len().min(BEGINS.len());
            if bytes[..len] != BEGINS[..len] {
                return Err(WireFault::StatusLine);
            }
        }
        let upto = bytes.len().min(limits.head);
        for found in memchr::memchr_iter(b'\n', &bytes[self.at..upto]) {
            let newline = self.at + found;
            let has_cr = bytes[newline - 1] == b'\r';
            // RFC 9112, 2.2: a bare LF may be taken for the end of a line, and two readers that
            // disagree on it see two different answers.
            if !has_cr && !limits.lenient {
                return Err(WireFault::Field);
            }
            if newline == self.line + usize::from(has_cr) {
                return Ok(Some(newline + 1));
            }
            self.line = newline + 1;
        }
        self.at = upto;
        if upto == limits.head { Err(WireFault::HeadTooLarge) } else { Ok(None) }
    }
}

impl Head {
    pub(crate) fn read(
        bytes: &[u8],
        ask: &Ask,
        values: Values,
        limits: &Limits,
    ) -> Result<Head, WireFault> {
        let mut fields = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        let fields = &mut fields[..limits.fields.min(FIELDS_MAX)];
        let mut response = httparse::Response::new(&mut []);
        httparse::ParserConfig::default()
            .allow_obsolete_multiline_headers_in_responses(limits.lenient)
            .allow_spaces_after_header_name_in_responses(limits.lenient)
            .parse_response_with_uninit_headers(&mut response, bytes, fields)
            .map_err(fault)?;
        let status = response.code.ok_or(WireFault::StatusLine)?;
        if !(100..600).contains(&status) {
            return Err(WireFault::StatusLine);
        }
        let is_1_0 = response.version == Some(0);
        let says = Fields::read(response.headers)?;
        let fields = response.headers.iter().map(|field| (field.name.as_bytes(), field.value));
        let judged = ask.expect.judge_head(status, &fields, values);
        Ok(Head {
            status,
            framing: says.framing(status, ask.is_head(), limits)?,
            keeps_alive: says.keeps_alive(is_1_0),
            mismatch: judged.err(),
            delivery: judged.unwrap_or_default(),
        })
    }
}

pub(crate) fn fault(error: httparse::Error) -> WireFault {
    match error {
        httparse::Error::Status => WireFault::StatusLine,
        httparse::Error::Version => WireFault::Version,
        httparse::Error::TooManyHeaders => WireFault::HeadTooLarge,
        httparse::Error::HeaderName
        | httparse::Error::HeaderValue
        | httparse::Error::NewLine
        | httparse::Error::Token => WireFault::Field,
    }
}

/// The fields that decide how the body ends and whether the connection is kept.
#[derive(Debug, Default)]
struct Fields {
    length: Option<u64>,
    is_encoded: bool,
    /// `chunked` is the last coding named.
    ends_chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    fn read(fields: &[httparse::Header<'_>]) -> Result<Fields, WireFault> {
        let mut says = Fields::default();
        for field in fields {
            // The lengths differ, so most fields cost one comparison.
            match field.name.len() {
                10 if field.name.eq_ignore_ascii_case("connection") => {
                    says.read_connection(field.value);
                }
                14 if field.name.eq_ignore_ascii_case("content-length") => {
                    says.length = Some(read_length(says.length, field.value)?);
                }
                17 if field.name.eq_ignore_ascii_case("transfer-encoding") => {
                    says.read_encoding(field.value)?;
                }
                _ => {}
            }
        }
        Ok(says)
    }

    fn read_connection(&mut self, value: &[u8]) {
        for token in tokens(value) {
            self.close |= token.eq_ignore_ascii_case(b"close");
            self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn read_encoding(&mut self, value: &[u8]) -> Result<(), WireFault> {
        self.is_encoded = true;
        for token in tokens(value) {
            // RFC 9112, 6.1: chunked is applied once, and last.
            if self.ends_chunked {
                return Err(WireFault::LengthConflict);
            }
            self.ends_chunked = token.eq_ignore_ascii_case(b"chunked");
        }
        Ok(())
    }

    /// RFC 9112, 6.3, with the rules in its order.
    fn framing(&self, status: u16, to_head: bool, limits: &Limits) -> Result<Framing, WireFault> {
        if has_no_body(status, to_head) {
            return Ok(Framing::Fixed(0));
        }
        match (self.is_encoded, self.length) {
            (true, Some(_)) if !limits.lenient => Err(WireFault::LengthConflict),
            (true, _) if self.ends_chunked => Ok(Framing::Chunked),
            (false, Some(length)) => Ok(Framing::Fixed(length)),
            (true, _) | (false, None) => Ok(Framing::UntilClose),
        }
    }

    /// RFC 9112, 9.3; and 6.1: an HTTP/1.0 answer with a transfer coding cannot be trusted.
    fn keeps_alive(&self, is_1_0: bool) -> bool {
        !self.close && (!is_1_0 || (self.keep_alive && !self.is_encoded))
    }
}

/// The value of a content-length, where another one may have been `known` before.
///
/// RFC 9112, 6.3: the same length given twice is one length; two different lengths are an attack.
pub(crate) fn read_length(known: Option<u64>, value: &[u8]) -> Result<u64, WireFault> {
    let mut known = known;
    for token in value.split(|&byte| byte == b',') {
        let length = decimal(token.trim_ascii()).ok_or(WireFault::BadLength)?;
        if known.is_some_and(|other| other != length) {
            return Err(WireFault::LengthConflict);
        }
        known = Some(length);
    }
    known.ok_or(WireFault::BadLength)
}

/// RFC 9110, 6.4.1 and 9.3.2: answers to HEAD, and those with these statuses, have no body, whatever they say.
pub(crate) fn has_no_body(status: u16, to_head: bool) -> bool {
    to_head || status < 200 || status == 204 || status == 304
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// Digits only: no sign, no point, no blank, and the value must fit.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
