//! What can be wrong with the form of an answer.

use units::named;

named! {
    /// What can be wrong with an answer's form.
    pub enum Flaw {
        BareLf = "a line of the head ends in LF without CR",
        BareCr = "the head has CR without LF",
        Nul = "the head has NUL",
        /// The first line is not `HTTP/1.x CODE REASON`.
        StatusLine = "no status line",
        NoBlankAfterCode = "no blank after the status code",
        FieldName = "a field name is not a token",
        NoColon = "a line of the head has no colon",
        BlankBeforeColon = "a blank before a field's colon",
        Folded = "a field goes on in the next line",
        Length = "Content-Length is no number, or two of them differ",
        BothLengths = "Content-Length beside Transfer-Encoding",
        LengthForbidden = "Content-Length in a 1xx or 204",
        CodingForbidden = "Transfer-Encoding in a 1xx or 204",
        Chunks = "the chunked coding is broken",
        Stray = "octets that belong to no answer",
    }
}
