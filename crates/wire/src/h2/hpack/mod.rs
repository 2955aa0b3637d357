//! HPACK (RFC 7541): fields of heads, compressed by a table that both sides keep alike.

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod prepared;
mod table;

use units::named;

pub(super) use decoder::{Decoder, Effect};
pub(super) use encoder::Encoder;
pub(crate) use prepared::{Prepared, assign_places};
pub(crate) use table::DEFAULT_SIZE;

named! {
    /// Why a block of compressed fields cannot be read. All that follows on the connection is lost with it.
    pub enum HpackFault {
        Index = "an index that no entry of the table has",
        /// More than any sensible one has.
        Integer = "an integer with too many digits",
        Cut = "a block of fields ends within a field",
        Huffman = "a string that the Huffman code cannot have made",
        Size = "the table grows beyond what we allow, or changes its size between fields",
    }
}

#[cfg(test)]
mod tests;
