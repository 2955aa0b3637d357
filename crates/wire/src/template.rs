//! Bytes with placeholders: `{seq}`, `{random:8}` and `{number:1-50}` are filled for each request, without allocation.

mod of_file;
mod slices;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::chance::Chance;
use of_file::OfFile;

/// What fills the placeholders of one request, and of the expected answer to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Which request of the run this is, from 0.
    pub seq: u64,
    /// The source of its random characters.
    pub random: u64,
}

/// Literal bytes and placeholders, in order. Encoded once, filled for every request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<WrittenPiece>", into = "Vec<WrittenPiece>")]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(Vec<u8>),
    /// The request's number in decimal.
    Seq,
    /// This many characters out of `0-9a-z`. All placeholders of a request draw the same ones.
    Random(u8),
    Number(Number),
    /// So many bytes of any value.
    Bytes(u32),
    /// So many integers of six digits, with commas between them.
    Integers(u16),
    /// The sum of these.
    Sum(u16),
    OfFile(OfFile),
}

/// A whole number, drawn anew for each request. Those of one request with the same bounds are the same number; with
/// other bounds it is drawn independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u32; 2]", into = "[u32; 2]")]
pub struct Number {
    least: u32,
    most: u32,
}

impl Number {
    /// None if the bounds are in the wrong order.
    #[must_use]
    pub fn between(least: u32, most: u32) -> Option<Number> {
        (least <= most).then_some(Number { least, most })
    }

    #[must_use]
    pub fn most(self) -> u32 {
        self.most
    }

    #[must_use]
    pub fn of(self, values: Values) -> u32 {
        let Number { least, most } = self;
        let bits = mix(values.random ^ ((u64::from(least) << 32) | u64::from(most)));
        let place = (u128::from(bits) * (u128::from(most - least) + 1)) >> 64;
        least + place as u32
    }
}

impl From<Number> for [u32; 2] {
    fn from(number: Number) -> [u32; 2] {
        [number.least, number.most]
    }
}

impl TryFrom<[u32; 2]> for Number {
    type Error = &'static str;

    fn try_from([least, most]: [u32; 2]) -> Result<Number, &'static str> {
        Number::between(least, most).ok_or("the least number comes before the most")
    }
}

impl Piece {
    /// A placeholder for this many random characters.
    pub(crate) fn random(width: u8) -> Result<Piece, String> {
        match width {
            1..=HOLE_MAX => Ok(Piece::Random(width)),
            _ => Err(format!("a random value has from 1 to {HOLE_MAX} characters, not {width}")),
        }
    }

    /// A placeholder for so many bytes.
    fn bytes(len: u32) -> Result<Piece, String> {
        match len {
            1..=slices::BYTES_MAX => Ok(Piece::Bytes(slices::made(len))),
            _ => Err(format!(
                "there are from 1 to {} bytes of any value, not {len}",
                slices::BYTES_MAX
            )),
        }
    }

    /// A placeholder for so many integers.
    fn integers(count: u16) -> Result<Piece, String> {
        match count {
            1..=slices::INTEGERS_MAX => Ok(Piece::Integers(slices::made(count))),
            _ => Err(format!("there are from 1 to {} integers, not {count}", slices::INTEGERS_MAX)),
        }
    }
}

/// The longest text that can fill one placeholder.
const HOLE_MAX: u8 = 64;

/// A placeholder's text, on the stack.
type Hole = [u8; HOLE_MAX as usize];

const EMPTY: Hole = [0; HOLE_MAX as usize];

impl Template {
    /// Reads placeholders such as `{seq}` and `{random:N}`, and refuses what is written like a placeholder and is none.
    /// `{{name}` stands for `{name}`; every other brace stands for itself.
    pub fn parse(text: &[u8]) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        // Braces that are open within the same quotation marks: `{user{id}}` is GraphQL, and `id` no placeholder.
        let mut open = 0_u32;
        while let Some(&first) = rest.first() {
            // No other octet has a meaning: of a large body, most are copied at once.
            let is_special = |byte: &u8| b"{}\"".contains(byte);
            let plain = rest.iter().position(is_special).unwrap_or(rest.len());
            if 0 < plain {
                literal.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            if let Some((piece, len)) = hole_at(rest)? {
                flush(&mut literal, &mut pieces);
                pieces.push(piece);
                rest = &rest[len..];
                continue;
            }
            let len = match (placeholder_len(rest), placeholder_len(&rest[1..])) {
                (Some(len), _) if open == 0 => return Err(unknown(&rest[..len])),
                (Some(len), _) => len,
                (None, Some(len)) if first == b'{' => {
                    rest = &rest[1..];
                    len
                }
                (None, _) => {
                    open = match first {
                        b'{' => open + 1,
                        b'}' => open.saturating_sub(1),
                        b'"' if literal.last() != Some(&b'\\') => 0,
                        _ => open,
                    };
                    1
                }
            };
            literal.extend_from_slice(&rest[..len]);
            rest = &rest[len..];
        }
        flush(&mut literal, &mut pieces);
        Ok(Template { pieces })
    }

    /// Bytes without placeholders.
    #[must_use]
    pub fn literal(bytes: impl Into<Vec<u8>>) -> Template {
        let mut pieces = Vec::new();
        flush(&mut bytes.into(), &mut pieces);
        Template { pieces }
    }

    /// Pieces in order; literals that follow one another become one.
    pub(crate) fn of(all: Vec<Piece>) -> Template {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        for piece in all {
            match piece {
                Piece::Literal(mut bytes) => literal.append(&mut bytes),
                placeholder => {
                    flush(&mut literal, &mut pieces);
                    pieces.push(placeholder);
                }
            }
        }
        flush(&mut literal, &mut pieces);
        Template { pieces }
    }

    pub(crate) fn into_pieces(self) -> Vec<Piece> {
        self.pieces
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// What there is from `cursor` on.
    pub(crate) fn rest_from(&self, cursor: Cursor) -> Template {
        let mut pieces: Vec<Piece> =
            self.pieces.iter().skip(cursor.piece as usize).cloned().collect();
        if let Some(Piece::Literal(bytes)) = pieces.first_mut() {
            bytes.drain(..cursor.offset as usize);
        }
        Template::of(pieces)
    }

    /// What there is before `cursor`.
    pub(crate) fn until(&self, cursor: Cursor) -> Template {
        let (piece, offset) = (cursor.piece as usize, cursor.offset as usize);
        let mut pieces = self.pieces[..piece].to_vec();
        if let Some(Piece::Literal(bytes)) = self.pieces.get(piece).filter(|_| 0 < offset) {
            pieces.push(Piece::Literal(bytes[..offset].to_vec()));
        }
        Template { pieces }
    }

    /// What stands between its line ends, which no placeholder has; the last line has none after it.
    pub(crate) fn lines(&self) -> Vec<Template> {
        let (mut lines, mut line) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            let Piece::Literal(bytes) = piece else {
                line.push(piece.clone());
                continue;
            };
            let mut rest = bytes.as_slice();
            while let Some(end) = memchr::memmem::find(rest, b"\r\n") {
                line.push(Piece::Literal(rest[..end].to_vec()));
                lines.push(Template::of(std::mem::take(&mut line)));
                rest = &rest[end + 2..];
            }
            line.push(Piece::Literal(rest.to_vec()));
        }
        lines.push(Template::of(line));
        lines
    }

    /// The name and the value of a field, if it is the line of one.
    pub(crate) fn named(mut self) -> Option<(String, Template)> {
        let Some(Piece::Literal(first)) = self.pieces.first_mut() else { return None };
        let colon = memchr::memchr(b':', first)?;
        let name = String::from_utf8_lossy(&first[..colon]).into_owned();
        let is_spaced = first.get(colon + 1) == Some(&b' ');
        first.drain(..colon + 1 + usize::from(is_spaced));
        Some((name, Template::of(self.pieces)))
    }

    /// The bytes, if there is no placeholder in them.
    #[must_use]
    pub fn constant(&self) -> Option<&[u8]> {
        match self.pieces.as_slice() {
            [] => Some(&[]),
            [Piece::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Appends the bytes with their placeholders filled.
    pub fn fill(&self, values: Values, output: &mut Vec<u8>) {
        let mut hole = EMPTY;
        for piece in &self.pieces {
            output.extend_from_slice(filled(piece, values, &mut hole));
        }
    }

    /// How many bytes `fill` appends.
    #[must_use]
    pub(crate) fn filled_len(&self, values: Values) -> usize {
        self.len_from(Cursor::default(), values)
    }

    /// How many bytes there are from `cursor` on.
    pub(crate) fn len_from(&self, cursor: Cursor, values: Values) -> usize {
        let mut hole = EMPTY;
        let len = |piece: &Piece| filled(piece, values, &mut hole).len();
        let pieces = &self.pieces[cursor.piece as usize..];
        pieces.iter().map(len).sum::<usize>() - cursor.offset as usize
    }

    /// Appends up to `max` bytes from `cursor` on, which moves past them.
    pub(crate) fn fill_from(
        &self,
        cursor: &mut Cursor,
        values: Values,
        max: usize,
        output: &mut Vec<u8>,
    ) {
        let (mut left, mut hole) = (max, EMPTY);
        while 0 < left
            && let Some(piece) = self.pieces.get(cursor.piece as usize)
        {
            let bytes = &filled(piece, values, &mut hole)[cursor.offset as usize..];
            let take = bytes.len().min(left);
            output.extend_from_slice(&bytes[..take]);
            left -= take;
            cursor.pass(take, bytes.len());
        }
    }

    /// The first `len` bytes.
    pub(crate) fn beginning(&self, len: usize, values: Values) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len);
        self.fill_from(&mut Cursor::default(), values, len, &mut bytes);
        bytes
    }

    /// Where the next bytes would be, if some were joined to it.
    pub(crate) fn end(&self) -> Cursor {
        match self.pieces.last() {
            Some(Piece::Literal(bytes)) => {
                Cursor { piece: self.pieces.len() as u32 - 1, offset: bytes.len() as u32 }
            }
            _ => Cursor { piece: self.pieces.len() as u32, offset: 0 },
        }
    }

    pub(crate) fn joined(self, mut other: Template) -> Template {
        let mut pieces = self.pieces;
        if let (Some(Piece::Literal(left)), Some(Piece::Literal(right))) =
            (pieces.last_mut(), other.pieces.first())
        {
            left.extend_from_slice(right);
            other.pieces.remove(0);
        }
        pieces.append(&mut other.pieces);
        Template { pieces }
    }

    /// Whether `bytes` match the template at `cursor`, which moves past them. Copies nothing.
    pub(crate) fn matches(&self, cursor: &mut Cursor, mut bytes: &[u8], values: Values) -> bool {
        let mut hole = EMPTY;
        while !bytes.is_empty() {
            let Some(piece) = self.pieces.get(cursor.piece as usize) else {
                return false;
            };
            let expected = &filled(piece, values, &mut hole)[cursor.offset as usize..];
            let take = expected.len().min(bytes.len());
            if expected[..take] != bytes[..take] {
                return false;
            }
            cursor.pass(take, expected.len());
            bytes = &bytes[take..];
        }
        true
    }

    /// Whether bytes of any value are in it, which only a body may have.
    pub(crate) fn has_bytes(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Bytes(_)))
    }

    /// The number, if it is one and nothing else.
    #[must_use]
    pub fn number(&self) -> Option<Number> {
        match self.pieces.as_slice() {
            [Piece::Number(number)] => Some(*number),
            _ => None,
        }
    }

    /// How many integers it lists, if it is a list of them and nothing else.
    #[must_use]
    pub fn integers(&self) -> Option<u16> {
        match self.pieces.as_slice() {
            [Piece::Integers(count)] => Some(*count),
            _ => None,
        }
    }

    /// These bytes with the sum of so many integers in place of its digits, if these stand there once; otherwise none.
    pub(crate) fn with_sum(bytes: &[u8], count: u16, values: Values) -> Option<Template> {
        let digits = slices::sum(count, values).to_string();
        let mut places = memchr::memmem::find_iter(bytes, digits.as_bytes());
        let (Some(at), None) = (places.next(), places.next()) else { return None };
        // In `0.82e8`, the place of the point depends on how many digits there are.
        if at.checked_sub(1).is_some_and(|before| b".0123456789".contains(&bytes[before])) {
            return None;
        }
        let (before, after) = (bytes[..at].to_vec(), bytes[at + digits.len()..].to_vec());
        Some(Template::of(vec![Piece::Literal(before), Piece::Sum(count), Piece::Literal(after)]))
    }

    /// Whether nothing is left to match.
    pub(crate) fn is_over(&self, cursor: Cursor) -> bool {
        self.pieces.len() == cursor.piece as usize
    }
}

/// A place between two bytes: how far a body has been compared or sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    piece: u32,
    offset: u32,
}

impl Cursor {
    /// Moves past `take` of the `left` bytes that are left of its piece.
    fn pass(&mut self, take: usize, left: usize) {
        if take == left {
            *self = Cursor { piece: self.piece + 1, offset: 0 };
        } else {
            self.offset += take as u32;
        }
    }
}

fn flush(literal: &mut Vec<u8>, pieces: &mut Vec<Piece>) {
    if !literal.is_empty() {
        pieces.push(Piece::Literal(std::mem::take(literal)));
    }
}

/// The length of what `text` begins with, if that is written like a placeholder: `{name}` or `{name:argument}`.
#[must_use]
pub fn placeholder_len(text: &[u8]) -> Option<usize> {
    let inside = text.strip_prefix(b"{")?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let is_argument = |byte: &u8| byte.is_ascii_graphic() && !b"{}\"'".contains(byte);
    let name = inside.iter().take_while(|byte| is_name(byte)).count();
    let argument = match inside.get(name) {
        Some(b':') => inside[name..].iter().take_while(|byte| is_argument(byte)).count(),
        _ => 0,
    };
    (0 < name && inside.get(name + argument) == Some(&b'}')).then_some(name + argument + 2)
}

/// Text that `Template::parse` reads as these bytes: nothing in it is refused, and nothing is filled but, if so wanted,
/// the placeholders that there are.
#[must_use]
pub fn quoted(bytes: &[u8], fill_known: bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate() {
        let rest = &bytes[at..];
        // A doubled brace is sent as it is, with the name in it.
        let is_doubled = 0 < at && bytes[at - 1] == b'{';
        let is_filled = fill_known && !is_doubled && matches!(hole_at(rest), Ok(Some(_)));
        if placeholder_len(rest).is_some() && !is_filled {
            text.push(b'{');
        }
        text.push(byte);
    }
    text
}

fn unknown(placeholder: &[u8]) -> String {
    let shown = String::from_utf8_lossy(placeholder);
    format!(
        "`{shown}` is no placeholder: there are {{seq}}, {{random:N}}, {{number:A-B}}, {{bytes:N}} and \
         {{integers:N}}; write `{{{shown}` to send it as it is"
    )
}

/// The placeholder that `text` begins with, and its length.
fn hole_at(text: &[u8]) -> Result<Option<(Piece, usize)>, String> {
    if text.starts_with(b"{seq}") {
        return Ok(Some((Piece::Seq, b"{seq}".len())));
    }
    if let Some((piece, len)) = OfFile::written(text) {
        return Ok(Some((Piece::OfFile(piece), len)));
    }
    for (begin, of, says) in KINDS {
        let Some(rest) = text.strip_prefix(begin.as_bytes()) else { continue };
        let end = rest.iter().position(|&byte| byte == b'}');
        let argument = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        let piece = argument.and_then(|argument| Some((of(argument)?, argument.len())));
        return match piece {
            Some((piece, len)) => Ok(Some((piece, begin.len() + len + 1))),
            None => {
                let shown = String::from_utf8_lossy(&text[..text.len().min(20)]).into_owned();
                Err(format!("`{shown}`: {says}"))
            }
        };
    }
    Ok(None)
}

/// How a placeholder with an argument begins, what the argument makes of it, and how it is written.
type Kind = (&'static str, fn(&str) -> Option<Piece>, &'static str);

const KINDS: [Kind; 5] = [
    ("{random:", random, "a random value is written {random:N} with N from 1 to 64"),
    ("{number:", number, "a number is written {number:A-B}, from A to B, B at most 4294967295"),
    ("{bytes:", bytes, "bytes of any value are written {bytes:N} with N from 1 to 262144"),
    ("{integers:", integers, "a list of integers is written {integers:N} with N from 1 to 4096"),
    (
        "{validator:",
        validators,
        "the validators of files are 20 in base64, with commas between them",
    ),
];

/// Digits alone, without a sign.
pub(crate) fn whole<T: std::str::FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn random(argument: &str) -> Option<Piece> {
    whole(argument).and_then(|width| Piece::random(width).ok())
}

fn bytes(argument: &str) -> Option<Piece> {
    whole(argument).and_then(|len| Piece::bytes(len).ok())
}

fn integers(argument: &str) -> Option<Piece> {
    whole(argument).and_then(|count| Piece::integers(count).ok())
}

fn validators(argument: &str) -> Option<Piece> {
    OfFile::validators(argument).map(Piece::OfFile)
}

fn number(argument: &str) -> Option<Piece> {
    let (least, most) = argument.split_once('-')?;
    Number::between(whole(least)?, whole(most)?).map(Piece::Number)
}

/// The sum of the integers that `{integers:N}` lists.
pub(crate) fn sum(count: u16, values: Values) -> u64 {
    slices::sum(count, values)
}

/// The bytes of a piece; those of a placeholder are written into `hole`.
fn filled<'f>(piece: &'f Piece, values: Values, hole: &'f mut Hole) -> &'f [u8] {
    let len = match piece {
        Piece::Literal(bytes) => return bytes,
        Piece::Seq => decimal(values.seq, hole),
        Piece::Random(width) => characters(values.random, &mut hole[..usize::from(*width)]),
        Piece::Number(number) => decimal(number.of(values).into(), hole),
        Piece::Bytes(len) => return slices::bytes(*len, values),
        Piece::Integers(count) => return slices::integers(*count, values),
        Piece::Sum(count) => decimal(slices::sum(*count, values), hole),
        Piece::OfFile(OfFile::Range) => of_file::range(values, hole),
        Piece::OfFile(piece) => return piece.text(values),
    };
    &hole[..len]
}

fn decimal(mut number: u64, bytes: &mut [u8]) -> usize {
    let len = number.checked_ilog10().unwrap_or(0) as usize + 1;
    for slot in bytes[..len].iter_mut().rev() {
        *slot = b'0' + (number % 10) as u8;
        number /= 10;
    }
    len
}

pub(crate) fn push_decimal(number: u64, output: &mut Vec<u8>) {
    let mut bytes = EMPTY;
    let len = decimal(number, &mut bytes);
    output.extend_from_slice(&bytes[..len]);
}

/// Ten characters out of each 64 bits; a longer text mixes the bits again.
fn characters(seed: u64, bytes: &mut [u8]) -> usize {
    const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut state = seed;
    for ten in bytes.chunks_mut(10) {
        state = mix(state);
        let mut bits = state;
        for slot in ten {
            *slot = ALPHABET[(bits % 36) as usize];
            bits /= 36;
        }
    }
    bytes.len()
}

/// Well-spread bits for every seed.
pub(crate) const fn mix(seed: u64) -> u64 {
    Chance::new(seed).draw()
}

/// A piece of a template as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenPiece {
    Text(String),
    /// In base64: bytes that are no text.
    Bytes(String),
    Seq,
    Random(u8),
    Number(Number),
    RandomBytes(u32),
    Integers(u16),
    Sum(u16),
    OfFile(OfFile),
}

impl From<Piece> for WrittenPiece {
    fn from(piece: Piece) -> WrittenPiece {
        match piece {
            Piece::Literal(bytes) => match String::from_utf8(bytes) {
                Ok(text) => WrittenPiece::Text(text),
                Err(error) => WrittenPiece::Bytes(STANDARD.encode(error.as_bytes())),
            },
            Piece::Seq => WrittenPiece::Seq,
            Piece::Random(width) => WrittenPiece::Random(width),
            Piece::Number(number) => WrittenPiece::Number(number),
            Piece::Bytes(len) => WrittenPiece::RandomBytes(len),
            Piece::Integers(count) => WrittenPiece::Integers(count),
            Piece::Sum(count) => WrittenPiece::Sum(count),
            Piece::OfFile(piece) => WrittenPiece::OfFile(piece),
        }
    }
}

impl TryFrom<WrittenPiece> for Piece {
    type Error = String;

    fn try_from(written: WrittenPiece) -> Result<Piece, String> {
        match written {
            WrittenPiece::Text(text) => Ok(Piece::Literal(text.into_bytes())),
            WrittenPiece::Bytes(text) => match STANDARD.decode(text) {
                Ok(bytes) => Ok(Piece::Literal(bytes)),
                Err(error) => Err(error.to_string()),
            },
            WrittenPiece::Seq => Ok(Piece::Seq),
            WrittenPiece::Random(width) => Piece::random(width),
            WrittenPiece::Number(number) => Ok(Piece::Number(number)),
            WrittenPiece::RandomBytes(len) => Piece::bytes(len),
            WrittenPiece::Integers(count) => Piece::integers(count),
            WrittenPiece::Sum(count) => Piece::integers(count).map(|_| Piece::Sum(count)),
            WrittenPiece::OfFile(piece) => Ok(Piece::OfFile(piece)),
        }
    }
}

impl From<Template> for Vec<WrittenPiece> {
    fn from(template: Template) -> Vec<WrittenPiece> {
        template.into_pieces().into_iter().map(WrittenPiece::from).collect()
    }
}

impl TryFrom<Vec<WrittenPiece>> for Template {
    type Error = String;

    fn try_from(written: Vec<WrittenPiece>) -> Result<Template, String> {
        Ok(Template::of(written.into_iter().map(Piece::try_from).collect::<Result<Vec<_>, _>>()?))
    }
}

#[cfg(test)]
mod tests;
