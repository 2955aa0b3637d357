//! What can be wrong with the server's frames and answers (RFC 9113).

use std::fmt;

use super::frame::{ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE};
use super::hpack::Field;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breach {
    /// 3.4: the first frame is not SETTINGS.
    NoSettings,
    /// 4.2: longer than our SETTINGS allow.
    FrameTooLong,
    /// 6: not the length, the stream or the padding of its kind.
    FrameForm,
    /// 5.1: on a stream that was never opened.
    IdleStream,
    /// 5.1: after the end of its stream.
    AfterEnd,
    /// 4.3: another frame within a header block, or CONTINUATION outside one.
    BlockInterrupted,
    /// 4.3: a header block that cannot be decoded.
    Undecodable(&'static str),
    /// 8.1: DATA before any head.
    NoHead,
    /// 8.1: HEADERS where none may be, or without the end that it must have.
    HeadersMisplaced,
    /// 6.9.1: more than the windows allow.
    Window,
    /// 8.4: a promise to a client that forbids it.
    Push,
    /// 6.5.2: a value that a setting cannot have.
    Setting,
    /// 8.3.2: not exactly one `:status`, or another pseudo-field.
    Status,
    /// 8.2.1: a name or a value with octets that may not be in it.
    Field,
    /// 8.2.2: a field that is about a connection.
    ConnectionField,
    /// 8.1.1: `content-length` differs from the content.
    Length,
}

impl fmt::Display for Breach {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Breach::NoSettings => "the first frame is not SETTINGS",
            Breach::FrameTooLong => "a frame is longer than our SETTINGS allow",
            Breach::FrameForm => {
                "a frame has not the length, the stream or the padding of its kind"
            }
            Breach::IdleStream => "a frame is on a stream that was never opened",
            Breach::AfterEnd => "a frame comes after the end of its stream",
            Breach::BlockInterrupted => "a header block is interrupted",
            Breach::Undecodable(why) => {
                return write!(form, "a header block is undecodable: {why}");
            }
            Breach::NoHead => "DATA comes before the head of its answer",
            Breach::HeadersMisplaced => "HEADERS within an answer do not end it, or 1xx does",
            Breach::Window => "DATA exceeds what the windows allow",
            Breach::Push => "PUSH_PROMISE, though pushes are forbidden",
            Breach::Setting => "a setting has a value that it cannot have",
            Breach::Status => "a head has not exactly one :status, or has other pseudo-fields",
            Breach::Field => "a field's name or value has octets that may not be in it",
            Breach::ConnectionField => "a field is about the connection",
            Breach::Length => "content-length differs from the length of the content",
        };
        form.write_str(text)
    }
}

/// RFC 9113, 6.5.2.
pub(super) fn breach_of_setting(name: u16, value: u32) -> Option<Breach> {
    let is_right = match name {
        ENABLE_PUSH => value == 0,
        INITIAL_WINDOW_SIZE => value <= 0x7fff_ffff,
        MAX_FRAME_SIZE => (16_384..=16_777_215).contains(&value),
        _ => true,
    };
    (!is_right).then_some(Breach::Setting)
}

/// RFC 9113, 8.2 and 8.3.2.
pub(super) fn breach_of_list(list: &[Field], is_trailer: bool) -> Option<Breach> {
    let is_pseudo = |(name, _): &&Field| name.starts_with(b":");
    let pseudos: Vec<&Field> = list.iter().filter(is_pseudo).collect();
    let is_status = |(name, value): &Field| {
        name == b":status" && value.len() == 3 && value.iter().all(u8::is_ascii_digit)
    };
    let has_status = match (&pseudos[..], is_trailer) {
        ([], true) => true,
        ([status], false) => is_status(status) && list.first().is_some_and(is_status),
        _ => false,
    };
    if !has_status {
        return Some(Breach::Status);
    }
    let regular = || list.iter().filter(|field| !is_pseudo(field));
    let is_bad_name = |name: &[u8]| {
        name.is_empty()
            || name.iter().any(|octet| matches!(octet, 0..=0x20 | b'A'..=b'Z' | b':' | 0x7f..))
    };
    let is_blank = |octet: Option<&u8>| matches!(octet, Some(b' ' | b'\t'));
    let is_bad_value = |value: &[u8]| {
        value.iter().any(|octet| matches!(octet, 0 | b'\r' | b'\n'))
            || is_blank(value.first())
            || is_blank(value.last())
    };
    if regular().any(|(name, value)| is_bad_name(name) || is_bad_value(value)) {
        return Some(Breach::Field);
    }
    const OF_CONNECTION: [&[u8]; 5] =
        [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];
    let is_of_connection = |(name, _): &Field| OF_CONNECTION.contains(&&name[..]);
    regular().any(is_of_connection).then_some(Breach::ConnectionField)
}
