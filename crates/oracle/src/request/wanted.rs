//! What a request says of the file that it wants.

use super::{list, trimmed};

/// Each is a field's value, borrowed from its head, or kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted<Text> {
    pub(crate) codings: Option<Text>,
    pub(crate) range: Option<Text>,
    pub(crate) known: Option<Text>,
}

impl<'a> Wanted<&'a [u8]> {
    /// Takes a field, if it is one of these.
    pub(crate) fn take(&mut self, name: &[u8], value: &'a [u8]) {
        let place = match name.len() {
            5 if name.eq_ignore_ascii_case(b"range") => &mut self.range,
            13 if name.eq_ignore_ascii_case(b"if-none-match") => &mut self.known,
            15 if name.eq_ignore_ascii_case(b"accept-encoding") => &mut self.codings,
            _ => return,
        };
        *place = Some(trimmed(value));
    }

    pub(crate) fn kept(&self) -> Wanted<Vec<u8>> {
        let [codings, range, known] =
            [self.codings, self.range, self.known].map(|it| it.map(<[u8]>::to_vec));
        Wanted { codings, range, known }
    }

    /// Without weights: what is offered is accepted, but for `q=0`.
    pub(crate) fn accepts(&self, coding: &[u8]) -> bool {
        let mut offered = list(self.codings.unwrap_or_default());
        offered.any(|member| {
            let mut parts = member.split(|octet| *octet == b';').map(trimmed);
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding))
                && parts.next() != Some(b"q=0")
        })
    }

    /// The first and the last octet of a single range that a file of this length has.
    pub(crate) fn range(&self, length: usize) -> Option<(usize, usize)> {
        let text = std::str::from_utf8(self.range?).ok()?.strip_prefix("bytes=")?;
        let (first, last) = text.split_once('-')?;
        let (first, last) = match (first, last) {
            ("", last) => (length.saturating_sub(last.parse().ok()?), length.checked_sub(1)?),
            (first, "") => (first.parse().ok()?, length.checked_sub(1)?),
            (first, last) => (first.parse().ok()?, last.parse::<usize>().ok()?.min(length - 1)),
        };
        (first <= last && last < length).then_some((first, last))
    }
}

impl Wanted<Vec<u8>> {
    pub(crate) fn borrowed(&self) -> Wanted<&[u8]> {
        Wanted {
            codings: self.codings.as_deref(),
            range: self.range.as_deref(),
            known: self.known.as_deref(),
        }
    }
}
