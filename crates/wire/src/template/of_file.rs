//! Placeholders for what a request names of its file.

use serde::{Deserialize, Serialize};

use super::{Hole, Values, decimal};
use crate::file_rule::Validators;
use crate::files::Files;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OfFile {
    Name,
    /// The first and the last byte of a part of it.
    Range,
    /// How the server names its version; nothing until that has been learnt.
    Validator(Vec<String>),
}

impl OfFile {
    /// The placeholder that a text begins with, if it is one of these, and its length.
    pub(super) fn written(text: &[u8]) -> Option<(OfFile, usize)> {
        let all = [
            ("{file}", OfFile::Name),
            ("{range}", OfFile::Range),
            ("{validator}", OfFile::Validator(Vec::new())),
        ];
        let found = all.into_iter().find(|(written, _)| text.starts_with(written.as_bytes()));
        found.map(|(written, piece)| (piece, written.len()))
    }

    pub(super) fn validators(argument: &str) -> Option<OfFile> {
        Validators::of_placeholder(argument).map(OfFile::Validator)
    }

    /// Its text, which no range has.
    pub(super) fn text(&self, values: Values) -> &[u8] {
        match self {
            OfFile::Name => Files::name(Files::chosen(values)).as_bytes(),
            OfFile::Range => &[],
            OfFile::Validator(all) => {
                all.get(Files::chosen(values)).map_or(&[], |it| it.as_bytes())
            }
        }
    }
}

/// Writes a range of bytes, and returns how many characters it has.
pub(super) fn range(values: Values, hole: &mut Hole) -> usize {
    let (first, last) = Files::range(values);
    let mut digits = super::EMPTY;
    let len = decimal(first as u64, hole);
    hole[len] = b'-';
    let more = decimal(last as u64, &mut digits);
    hole[len + 1..][..more].copy_from_slice(&digits[..more]);
    len + 1 + more
}
