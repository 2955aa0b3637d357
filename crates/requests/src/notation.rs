//! Bytes in which characters may be written otherwise, as in URLs, JSON and HTML: what they mean, and where each of them
//! stands, so that a text is found however a server has written it.

use super::secret::Piece;

/// How a character may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// As itself.
    Plain,
    /// `%2F`, and `+` for a blank.
    Url,
    /// `\"`, `\/` and `\u002f`.
    Json,
    /// `&amp;`, `&#38;` and `&#x26;`.
    Html,
}

impl Notation {
    pub(super) const ALL: [Notation; 4] =
        [Notation::Plain, Notation::Url, Notation::Json, Notation::Html];
}

/// What a notation makes of the bytes from some place on.
enum Next {
    /// This byte, written with so many.
    Byte(u8, usize),
    /// The bytes end within it.
    Cut,
}

/// Bytes as one notation reads them.
pub(super) struct ReadAs {
    meant: Vec<u8>,
    /// Where each of them begins in the bytes as they were; at last, where the bytes end.
    starts: Vec<usize>,
}

/// Where nothing is known to be missing, a text's beginning or end of this length is taken for a part of it.
const PART: usize = 4;
/// The longest reference of HTML that stands for one byte: `&#x0026;`, `&quot;`.
const REFERENCE_MAX: usize = 8;

impl ReadAs {
    pub(super) fn new(bytes: &[u8], notation: Notation) -> ReadAs {
        let (mut meant, mut starts) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < bytes.len() {
            let Next::Byte(byte, length) = next(&bytes[at..], notation) else { break };
            meant.push(byte);
            starts.push(at);
            at += length;
        }
        starts.push(bytes.len());
        ReadAs { meant, starts }
    }

    /// Marks where this text is, and where the bytes begin or end in the middle of it.
    pub(super) fn mark(&self, text: &[u8], piece: Piece, is_marked: &mut [bool]) {
        let meant = &self.meant;
        let mut mark = |from: usize, until: usize| {
            is_marked[self.starts[from]..self.starts[until]].fill(true);
        };
        let windows = meant.windows(text.len()).enumerate();
        for (at, _) in windows.filter(|(_, window)| *window == text) {
            mark(at, at + text.len());
        }
        let parts = |is_cut: bool| (if is_cut { 1 } else { PART }..text.len()).rev();
        let begins = |length: &usize| meant.starts_with(&text[text.len() - length..]);
        if let Some(length) = parts(piece.is_cut_before).find(begins) {
            mark(0, length);
        }
        let ends = |length: &usize| meant.ends_with(&text[..*length]);
        if let Some(length) = parts(piece.is_cut_after).find(ends) {
            mark(meant.len() - length, meant.len());
        }
    }
}

/// `bytes` has at least one.
fn next(bytes: &[u8], notation: Notation) -> Next {
    let itself = Next::Byte(bytes[0], 1);
    match (notation, bytes[0]) {
        (Notation::Url, b'+') => Next::Byte(b' ', 1),
        (Notation::Url, b'%') => coded(bytes, 1, 3, 16),
        (Notation::Json, b'\\') => match bytes.get(1) {
            None => Next::Cut,
            Some(b'u') => coded(bytes, 2, 6, 16),
            Some(b'n') => Next::Byte(b'\n', 2),
            Some(b'r') => Next::Byte(b'\r', 2),
            Some(b't') => Next::Byte(b'\t', 2),
            Some(&other) => Next::Byte(other, 2),
        },
        (Notation::Html, b'&') => reference(bytes),
        (Notation::Plain | Notation::Url | Notation::Json | Notation::Html, _) => itself,
    }
}

/// A byte whose number stands between two places.
fn coded(bytes: &[u8], from: usize, until: usize, radix: u32) -> Next {
    let Some(digits) = bytes.get(from..until) else { return Next::Cut };
    let digits = std::str::from_utf8(digits).unwrap_or_default();
    let digits = if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) { digits } else { "" };
    let number = u32::from_str_radix(digits, radix).ok();
    match number.and_then(|number| u8::try_from(number).ok()) {
        Some(byte) => Next::Byte(byte, until),
        None => Next::Byte(bytes[0], 1),
    }
}

fn reference(bytes: &[u8]) -> Next {
    let near = &bytes[..bytes.len().min(REFERENCE_MAX)];
    let Some(end) = near.iter().position(|byte| *byte == b';') else {
        return if near.len() < REFERENCE_MAX { Next::Cut } else { Next::Byte(b'&', 1) };
    };
    match &bytes[1..end] {
        b"amp" => Next::Byte(b'&', end + 1),
        b"lt" => Next::Byte(b'<', end + 1),
        b"gt" => Next::Byte(b'>', end + 1),
        b"quot" => Next::Byte(b'"', end + 1),
        b"apos" => Next::Byte(b'\'', end + 1),
        [b'#', b'x' | b'X', ..] => numbered(coded(bytes, 3, end, 16)),
        [b'#', ..] => numbered(coded(bytes, 2, end, 10)),
        _ => Next::Byte(b'&', 1),
    }
}

/// With the semicolon behind the number.
fn numbered(next: Next) -> Next {
    match next {
        Next::Byte(byte, length) if 1 < length => Next::Byte(byte, length + 1),
        other => other,
    }
}
