//! What can be wrong with the form of an answer.

use std::fmt;

/// What can be wrong with an answer's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// A line of the head ends in LF alone.
    BareLf,
    /// CR without LF in the head.
    BareCr,
    /// NUL in the head.
    Nul,
    /// The first line is not `HTTP/1.x CODE REASON`.
    StatusLine,
    /// No blank after the status code.
    NoBlankAfterCode,
    /// A field name is not a token.
    FieldName,
    /// A line without a colon.
    NoColon,
    /// A blank before the colon.
    BlankBeforeColon,
    /// A field line continues on the next line.
    Folded,
    /// Content-Length is not a number, or two of them differ.
    Length,
    /// Content-Length beside Transfer-Encoding.
    BothLengths,
    /// Content-Length in an answer that must not have one.
    LengthForbidden,
    /// Transfer-Encoding in an answer that must not have one.
    CodingForbidden,
    /// The chunked coding is broken.
    Chunks,
    /// Octets that belong to no answer.
    Stray,
}

impl fmt::Display for Flaw {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str(match self {
            Flaw::BareLf => "a line of the head ends in LF without CR",
            Flaw::BareCr => "the head has CR without LF",
            Flaw::Nul => "the head has NUL",
            Flaw::StatusLine => "no status line",
            Flaw::NoBlankAfterCode => "no blank after the status code",
            Flaw::FieldName => "a field name is not a token",
            Flaw::NoColon => "a line of the head has no colon",
            Flaw::BlankBeforeColon => "a blank before a field's colon",
            Flaw::Folded => "a field goes on in the next line",
            Flaw::Length => "Content-Length is no number, or two of them differ",
            Flaw::BothLengths => "Content-Length beside Transfer-Encoding",
            Flaw::LengthForbidden => "Content-Length in a 1xx or 204",
            Flaw::CodingForbidden => "Transfer-Encoding in a 1xx or 204",
            Flaw::Chunks => "the chunked coding is broken",
            Flaw::Stray => "octets that belong to no answer",
        })
    }
}
