//! What only a client finds wrong that knows the right content, or the right time: as data.

use crate::resource::Resource;

/// How a right answer is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoil {
    /// It comes without the wait that was asked for.
    Early,
    /// The last total, or the sum, is another number.
    WrongTotal,
    /// The first half of the content, framed as if it were whole.
    ShortBody,
    /// An octet in the middle of the content is another.
    OtherOctet,
    /// The content of the request is taken to be zeros, or none where it came in chunks.
    UnreadBody,
    /// The value is that of another field.
    OtherField,
    /// A compressed file: its label, and the file as it is.
    FalseLabel,
    /// A compressed file without its label.
    NoLabel,
    /// A file as it is, with the label of a coding that was not offered.
    UnofferedCoding,
    /// A part of a file with the octets of another part.
    OtherRange,
    /// A part of a file that calls itself another part.
    WrongContentRange,
    /// A 304 for another version than the one that was named.
    OtherVersion,
    /// A 304 in place of a file that was wanted.
    Unasked304,
    /// The first half of a file that was wanted whole.
    Unasked206,
}

impl Spoil {
    /// Whether a right answer of this resource becomes a wrong one.
    pub(crate) fn alters(self, resource: Resource) -> bool {
        match self {
            Spoil::Early => resource == Resource::Delay,
            Spoil::WrongTotal => matches!(resource, Resource::Items | Resource::Sum),
            Spoil::ShortBody | Spoil::OtherOctet => resource != Resource::NotModified,
            Spoil::FalseLabel | Spoil::NoLabel => resource == Resource::EncodedFile,
            Spoil::UnofferedCoding | Spoil::Unasked304 | Spoil::Unasked206 => {
                resource == Resource::File
            }
            Spoil::OtherRange | Spoil::WrongContentRange => resource == Resource::FilePart,
            Spoil::OtherVersion => resource == Resource::NotModified,
            Spoil::UnreadBody => matches!(resource, Resource::Post | Resource::Sum),
            Spoil::OtherField => resource == Resource::Header,
        }
    }
}
