//! What the fields of an answer mean: its status, its length, and whether it is what was expected.

use super::fault::{FrameFault, H2Fault};
use crate::ask::Ask;
use crate::expect::Mismatch;
use crate::fault::WireFault;
use crate::file_rule::Delivery;
use crate::h1::{Limits, read_length};
use crate::template::Values;

/// The head of an answer, interim or final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) length: Option<u64>,
    pub(super) mismatch: Option<Mismatch>,
    pub(super) delivery: Delivery,
}

/// Names and values, in their order.
pub(super) trait Fields<'f>: Iterator<Item = (&'f [u8], &'f [u8])> + Clone {}

impl<'f, F: Iterator<Item = (&'f [u8], &'f [u8])> + Clone> Fields<'f> for F {}

pub(super) fn read_head<'f>(
    fields: &impl Fields<'f>,
    ask: &Ask,
    values: Values,
    limits: &Limits,
) -> Result<Head, H2Fault> {
    let (mut status, mut length, mut has_begun, mut count) = (None, None, false, 0);
    for (name, value) in fields.clone() {
        if name.first() == Some(&b':') {
            // RFC 9113, 8.3.2: an answer has one of these; and 8.3: it stands before all others.
            if name != b":status" || has_begun {
                return Err(FrameFault::PseudoField.into());
            }
            if status.replace(read_status(value).ok_or(FrameFault::NoStatus)?).is_some() {
                return Err(FrameFault::NoStatus.into());
            }
            continue;
        }
        has_begun = true;
        check_field(name, value, limits)?;
        if name == b"content-length" {
            length = Some(read_length(length, value)?);
        }
        count += 1;
    }
    if limits.fields < count {
        return Err(WireFault::HeadTooLarge.into());
    }
    let status = status.ok_or(FrameFault::NoStatus)?;
    let judged = ask.expect.judge_head(status, fields, values);
    let (mismatch, delivery) = (judged.err(), judged.unwrap_or_default());
    Ok(Head { status, length, mismatch, delivery })
}

/// RFC 9113, 8.1: trailers are fields like others. The name of a pseudo-header field is none among them.
pub(super) fn check_trailers<'f>(
    mut fields: impl Fields<'f>,
    limits: &Limits,
) -> Result<(), H2Fault> {
    fields.try_for_each(|(name, value)| check_field(name, value, limits))
}

fn read_status(value: &[u8]) -> Option<u16> {
    let [a @ b'1'..=b'5', b @ b'0'..=b'9', c @ b'0'..=b'9'] = *value else {
        return None;
    };
    let digit = |byte: u8| u16::from(byte - b'0');
    Some(100 * digit(a) + 10 * digit(b) + digit(c))
}

/// RFC 9113, 8.2.1 and 8.2.2. `lenient`: what old servers send all the same.
fn check_field(name: &[u8], value: &[u8], limits: &Limits) -> Result<(), H2Fault> {
    let may_be_named = |byte: &u8| matches!(byte, 0x21..=0x39 | 0x3b..=0x40 | 0x5b..=0x7e);
    if name.is_empty() || !name.iter().all(may_be_named) {
        return Err(FrameFault::FieldName.into());
    }
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let is_surrounded = is_blank(value.first()) || is_blank(value.last());
    if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
        || (is_surrounded && !limits.lenient)
    {
        return Err(FrameFault::FieldValue.into());
    }
    let is_about_connection = match name.len() {
        2 => name == b"te",
        7 => name == b"upgrade",
        10 => name == b"connection" || name == b"keep-alive",
        16 => name == b"proxy-connection",
        17 => name == b"transfer-encoding",
        _ => false,
    };
    if is_about_connection && !limits.lenient {
        return Err(FrameFault::ConnectionField.into());
    }
    Ok(())
}
