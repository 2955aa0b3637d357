//! HPACK (RFC 7541): fields of heads, compressed by a table that both sides keep alike.

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod prepared;
mod table;

pub(super) use decoder::{Decoder, Effect};
pub(super) use encoder::Encoder;
pub(crate) use prepared::{Prepared, assign_places};
pub(crate) use table::DEFAULT_SIZE;

/// Why a block of compressed fields cannot be read. All that follows on the connection is lost with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HpackFault {
    /// An index that no entry has.
    Index,
    /// An integer with more digits than any sensible one has.
    Integer,
    /// The block ends within a field.
    Cut,
    /// A string that the Huffman code cannot have made.
    Huffman,
    /// The table grows beyond what was announced, or changes its size between fields.
    Size,
}

impl HpackFault {
    /// The meaning, in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            HpackFault::Index => "an index that no entry of the table has",
            HpackFault::Integer => "an integer with too many digits",
            HpackFault::Cut => "a block of fields ends within a field",
            HpackFault::Huffman => "a string that the Huffman code cannot have made",
            HpackFault::Size => {
                "the table grows beyond what we allow, or changes its size between fields"
            }
        }
    }
}

#[cfg(test)]
mod tests;
