//! Lines: one JSON object each. A line is bounded, and so is its depth, before it is decoded.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// No line is longer, its end not counted.
pub const LINE_MAX: usize = 4 << 20;
/// No line has more objects and arrays within one another.
pub const DEPTH_MAX: usize = 48;

/// Why a line is none of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    Long,
    Deep,
    /// What is wrong with it.
    Wrong(String),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::Long => write!(f, "a line of more than {} MiB", LINE_MAX >> 20),
            LineError::Deep => write!(f, "a line that nests more than {DEPTH_MAX} deep"),
            LineError::Wrong(says) => f.write_str(says),
        }
    }
}

impl std::error::Error for LineError {}

/// A message as a line, with its end.
pub fn encode<T: Serialize>(message: &T) -> Result<String, LineError> {
    let mut line =
        serde_json::to_string(message).map_err(|error| LineError::Wrong(error.to_string()))?;
    if LINE_MAX < line.len() {
        return Err(LineError::Long);
    }
    line.push('\n');
    Ok(line)
}

/// A line's message.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, LineError> {
    match line.len() <= LINE_MAX {
        true => read(line),
        false => Err(LineError::Long),
    }
}

/// The value, unless it nests too deep.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LineError> {
    if DEPTH_MAX < depth(bytes) {
        return Err(LineError::Deep);
    }
    serde_json::from_slice(bytes).map_err(|error| LineError::Wrong(error.to_string()))
}

/// How many objects and arrays are within one another, whatever else is wrong.
fn depth(line: &[u8]) -> usize {
    let (mut depth, mut most) = (0usize, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in line {
        match (is_text, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (_, b'"') => is_text = !is_text,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// A line without its end, as it is handed over.
pub type Line<'l> = Result<&'l [u8], LineError>;

/// Cuts what comes into lines. Of a line that is too long nothing is kept.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
    is_long: bool,
}

impl Lines {
    /// Hands over each line that has ended with these bytes, without its end.
    pub fn receive(&mut self, bytes: &[u8], take: &mut dyn FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.begin(&rest[..end]);
            rest = &rest[end + 1..];
            match self.is_long {
                true => take(Err(LineError::Long)),
                false => take(Ok(self.begun.strip_suffix(b"\r").unwrap_or(&self.begun))),
            }
            self.is_long = false;
            self.begun.clear();
        }
        self.begin(rest);
    }

    fn begin(&mut self, bytes: &[u8]) {
        self.is_long |= LINE_MAX < self.begun.len() + bytes.len();
        match self.is_long {
            true => self.begun = Vec::new(),
            false => self.begun.extend_from_slice(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines_of(pieces: &[&[u8]]) -> Vec<Result<Vec<u8>, LineError>> {
        let (mut lines, mut all) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.receive(piece, &mut |line| all.push(line.map(<[u8]>::to_vec)));
        }
        all
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
        let long = vec![b'x'; LINE_MAX + 1];
        let all = lines_of(&[b"a\n", &long, &long, b"x\nb\n", b"c"]);
        assert_eq!(all, [Ok(b"a".to_vec()), Err(LineError::Long), Ok(b"b".to_vec())]);
        let whole = [&long[..LINE_MAX], b"\n"].concat();
        assert_eq!(lines_of(&[&whole])[0].as_ref().map(Vec::len), Ok(LINE_MAX));
    }

    #[test]
    fn depth_is_judged_before_anything_is_decoded() {
        let deep = "[".repeat(DEPTH_MAX + 1);
        assert_eq!(decode::<Vec<u8>>(deep.as_bytes()), Err(LineError::Deep));
        assert_eq!(depth(br#"{"a":["[[[[\"[[",{}]}"#), 3);
        assert!(matches!(decode::<Vec<u8>>(b"[1,"), Err(LineError::Wrong(_))));
        assert_eq!(decode::<Vec<u8>>(b"[1]"), Ok(vec![1]));
    }

    proptest! {
        #[test]
        fn how_bytes_are_split_changes_no_line(text in "[a-c\n]{0,40}", cuts in prop::collection::vec(0usize..40, 0..6)) {
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(lines_of(&pieces), lines_of(&[bytes]));
        }
    }
}
