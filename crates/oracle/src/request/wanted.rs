//! What a request says of the file that it wants.

use super::{list, trimmed};

/// Each is a field's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted<'a> {
    pub(crate) codings: Option<&'a [u8]>,
    pub(crate) range: Option<&'a [u8]>,
    pub(crate) known: Option<&'a [u8]>,
}

impl<'a> Wanted<'a> {
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
