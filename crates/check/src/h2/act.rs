//! What a case of HTTP/2 sends, frame by frame, right or wrong. Values only: `talk.rs` plays them.

use std::time::Duration;

use super::frame::{
    self, ENABLE_PUSH, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, setting_name,
};
use super::hpack::{push_number, push_string};
use super::sign::Sign;
use crate::target::Target;

/// One act of the client.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Sends the preface, SETTINGS and a WINDOW_UPDATE for the connection, and waits until the server's SETTINGS have
    /// come and it has acknowledged ours.
    Open(&'static [(u16, u32)]),
    /// Sends octets as they are.
    Octets(&'static [u8]),
    /// Sends a frame: its kind, its flags, its stream, its payload.
    Frame(u8, u8, u32, &'static [Piece]),
    /// Sends a frame that is an octet longer than the server's SETTINGS allow: its kind, its flags, its stream, and what
    /// its payload begins with.
    TooLong(u8, u8, u32, &'static [Piece]),
    /// Sends the same frames so many times, without reading in between; each time their streams are this much higher.
    Repeat(usize, u32, &'static [Act]),
    /// Sends frames as often as the server allows streams at once, each time on the next stream.
    Beyond(&'static [Act]),
    /// Sends so much content and the stream's end, as the server's windows allow.
    Upload(u32, usize),
    /// Reads for this long.
    Listen(Duration),
    /// Reads until this is so. If it never is, the exchange is over.
    Until(Sign),
    /// Reads until this is so, but no longer than a moment: the server need not show it.
    Await(Sign),
    /// Reads until the server ends the connection or a stream, but no longer than this.
    Idle(Duration),
}

/// A part of a frame's payload. Values of fields have the placeholders of other steps, and `{scheme}`.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    Octets(&'static [u8]),
    /// An octet many times.
    Fill(u8, usize),
    /// Four octets: a window, a code, a stream.
    Number(u32),
    /// One parameter of SETTINGS.
    Setting(u16, u32),
    /// The pseudo-fields of a request: its method, and the page as its path; for POST the path that takes bodies.
    Request(&'static str),
    /// A field as a literal that is not indexed.
    Field(&'static str, &'static str),
    /// A field as a literal that is not indexed, with octets that are no text.
    Raw(&'static [u8], &'static [u8]),
    /// A field as a literal that is not indexed, coded by Huffman.
    Coded(&'static str, &'static str),
    /// A field as a literal coded by Huffman that is put in the table.
    Kept(&'static str, &'static str),
    /// A field as a literal that is never indexed.
    Never(&'static str, &'static str),
    /// A field with a value of this many octets `x`.
    Long(&'static str, usize),
    /// A field with a value of this many octets, and so many times its place in the table.
    Bomb(&'static str, usize, usize),
    /// The field at this place of the table.
    Indexed(usize),
    /// The table has this size from now on.
    Resize(usize),
}

/// What most cases begin with: no pushes, and windows that no page fills.
pub(crate) const OPEN: Act = Act::Open(&[(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, WIDE)]);
/// A beginning without pushes at which no content may come yet.
pub(crate) const HELD: Act = Act::Open(&[(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, 0)]);
/// So much may come on a stream.
pub(crate) const WIDE: u32 = 4 << 20;
/// HEADERS that are the whole head of a request, and all of it.
pub(crate) const WHOLE: u8 = END_STREAM | END_HEADERS;

/// A GET of the page.
pub(crate) const fn get(stream: u32) -> Act {
    Act::Frame(HEADERS, WHOLE, stream, &[Piece::Request("GET")])
}

/// The head of a POST whose body follows.
pub(crate) const fn post(stream: u32) -> Act {
    Act::Frame(HEADERS, END_HEADERS, stream, &[Piece::Request("POST")])
}

impl Piece {
    fn push(&self, out: &mut Vec<u8>, target: &Target, path: &str) {
        let fill = |text: &str| target.fill(text.as_bytes(), path);
        let mut literal = |pattern: u8, bits: u32, name: &[u8], value: &[u8], is_coded: bool| {
            push_number(out, pattern, bits, 0);
            push_string(out, name, is_coded);
            push_string(out, value, is_coded);
        };
        match self {
            Piece::Octets(octets) => out.extend_from_slice(octets),
            Piece::Fill(octet, count) => out.extend(std::iter::repeat_n(*octet, *count)),
            Piece::Number(number) => out.extend_from_slice(&number.to_be_bytes()),
            Piece::Setting(name, value) => {
                out.extend_from_slice(&name.to_be_bytes());
                out.extend_from_slice(&value.to_be_bytes());
            }
            Piece::Request(method) => {
                let page = if *method == "POST" { "{post}" } else { "{get}" };
                let fields = [
                    (":method", *method),
                    (":scheme", "{scheme}"),
                    (":authority", "{H}"),
                    (":path", page),
                ];
                for (name, value) in fields {
                    literal(0, 4, name.as_bytes(), &fill(value), false);
                }
            }
            Piece::Field(name, value) => literal(0, 4, name.as_bytes(), &fill(value), false),
            Piece::Raw(name, value) => literal(0, 4, name, value, false),
            Piece::Coded(name, value) => literal(0, 4, name.as_bytes(), &fill(value), true),
            Piece::Kept(name, value) => literal(0x40, 6, name.as_bytes(), &fill(value), false),
            Piece::Never(name, value) => literal(0x10, 4, name.as_bytes(), &fill(value), false),
            Piece::Long(name, length) => {
                literal(0, 4, name.as_bytes(), &vec![b'x'; *length], false);
            }
            Piece::Bomb(name, length, times) => {
                literal(0x40, 6, name.as_bytes(), &vec![b'x'; *length], false);
                out.extend(std::iter::repeat_n(0x80 | 62, *times));
            }
            Piece::Indexed(place) => push_number(out, 0x80, 7, *place),
            Piece::Resize(size) => push_number(out, 0x20, 5, *size),
        }
    }

    fn says(&self) -> String {
        match self {
            Piece::Octets(octets) => shown(octets),
            Piece::Fill(octet, count) => format!("{count} times {}", shown(&[*octet])),
            Piece::Number(number) => number.to_string(),
            Piece::Setting(name, value) => format!("{}={value}", setting_name(*name)),
            Piece::Request(method) => format!("the pseudo-fields of a {method}"),
            Piece::Field(name, value) => format!("{name}: {value}"),
            Piece::Raw(name, value) => format!("{}: {}", shown(name), shown(value)),
            Piece::Coded(name, value) => format!("{name}: {value} (by Huffman)"),
            Piece::Kept(name, value) => format!("{name}: {value} (kept in the table)"),
            Piece::Never(name, value) => format!("{name}: {value} (never indexed)"),
            Piece::Long(name, length) => format!("{name}: {length} times x"),
            Piece::Bomb(name, length, times) => {
                format!("{name}: {length} times x (kept in the table), and {times} times its place")
            }
            Piece::Indexed(place) => format!("the field at place {place}"),
            Piece::Resize(size) => format!("a table of {size} octets"),
        }
    }
}

impl Act {
    /// The octets that it sends to a server that takes frames of this length; its streams are this much higher.
    pub(crate) fn push(
        &self,
        out: &mut Vec<u8>,
        target: &Target,
        path: &str,
        frame_max: usize,
        higher: u32,
    ) {
        let payload = |pieces: &[Piece]| {
            let mut payload = Vec::new();
            pieces.iter().for_each(|piece| piece.push(&mut payload, target, path));
            payload
        };
        let on = |stream: u32| if stream == 0 { 0 } else { stream + higher };
        match self {
            Act::Open(settings) => {
                out.extend_from_slice(frame::PREFACE);
                frame::push_settings(out, settings);
                let raise = WIDE.to_be_bytes();
                frame::push_frame(out, frame::WINDOW_UPDATE, 0, 0, &raise);
            }
            Act::Octets(octets) => out.extend_from_slice(octets),
            Act::Frame(kind, flags, stream, pieces) => {
                frame::push_frame(out, *kind, *flags, on(*stream), &payload(pieces));
            }
            Act::TooLong(kind, flags, stream, pieces) => {
                let mut long = payload(pieces);
                long.resize(frame_max + 1, 0);
                frame::push_frame(out, *kind, *flags, on(*stream), &long);
            }
            Act::Repeat(..)
            | Act::Beyond(_)
            | Act::Upload(..)
            | Act::Listen(_)
            | Act::Until(_)
            | Act::Await(_)
            | Act::Idle(_) => {}
        }
    }

    /// In words, for the catalogue.
    pub(crate) fn says(&self) -> String {
        let all = |acts: &[Act]| acts.iter().map(Act::says).collect::<Vec<_>>().join("; ");
        match self {
            Act::Open(settings) => {
                let words: Vec<String> = settings
                    .iter()
                    .map(|(name, value)| format!("{}={value}", setting_name(*name)))
                    .collect();
                format!(
                    "send the preface, SETTINGS ({}) and WINDOW_UPDATE, and wait for SETTINGS and ACK",
                    words.join(", ")
                )
            }
            Act::Octets(octets) => format!("send {}", shown(octets)),
            Act::Frame(kind, flags, stream, pieces) => {
                format!("send {}{}", head(*kind, *flags, *stream), payload(pieces))
            }
            Act::TooLong(kind, flags, stream, pieces) => format!(
                "send {}, an octet longer than the server's SETTINGS allow{}",
                head(*kind, *flags, *stream),
                payload(pieces)
            ),
            Act::Repeat(times, 0, acts) => format!("{times} times: {}", all(acts)),
            Act::Repeat(times, _, acts) => {
                format!("{times} times, each on the next stream: {}", all(acts))
            }
            Act::Beyond(acts) => format!(
                "as often as the server allows streams at once, each on the next stream: {}",
                all(acts)
            ),
            Act::Upload(stream, length) => format!(
                "send {length} octets of content and the end on stream {stream}, as the windows allow"
            ),
            Act::Listen(time) => format!("read for {} ms", time.as_millis()),
            Act::Until(sign) => format!("wait for {}", sign.says()),
            Act::Await(sign) => format!("wait a moment for {}", sign.says()),
            Act::Idle(limit) => format!(
                "do nothing until the server ends the connection or a stream, for {} s at most",
                limit.as_secs()
            ),
        }
    }
}

/// What a frame carries, with the colon before it; nothing if it is empty.
fn payload(pieces: &[Piece]) -> String {
    if pieces.is_empty() {
        return String::new();
    }
    let words: Vec<String> = pieces.iter().map(Piece::says).collect();
    format!(": {}", words.join(", "))
}

/// A frame without its payload: `HEADERS on stream 1 (END_STREAM, END_HEADERS)`.
pub(crate) fn head(kind: u8, flags: u8, stream: u32) -> String {
    let (mut rest, mut words) = (flags, Vec::new());
    for (name, flag, kinds) in frame::FLAGS {
        if flags & flag != 0 && kinds.contains(&kind) {
            rest &= !flag;
            words.push(name.to_string());
        }
    }
    if rest != 0 {
        words.push(format!("flags {rest:#04x}"));
    }
    let words = if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) };
    let on = if stream == 0 { String::new() } else { format!(" on stream {stream}") };
    format!("{}{on}{words}", frame::kind_name(kind))
}

/// Octets, cut to a readable length.
pub(super) fn shown(octets: &[u8]) -> String {
    const SHOWN: usize = 60;
    match octets.len() {
        0..=SHOWN => format!("`{}`", octets.escape_ascii()),
        len => format!("`{}…` ({len} octets)", octets[..SHOWN].escape_ascii()),
    }
}
