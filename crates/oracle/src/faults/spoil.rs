//! What only a client finds wrong that knows the right content, or the right time: as data. Each way is a fault of
//! HTTP/1.1, and one of HTTP/2 whose name begins with `h2-`.

use super::acts::{Act, Style, USUAL};
use super::{Change, Fault, Performance, Start, Step};
use crate::resource::Resource;

/// Each is a row: its name, what the server does, what a client must find, and the resources that show it.
macro_rules! spoils {
    ($($spoil:ident $name:literal $about:literal $expect:expr, [$($resources:tt)+];)*) => {
        /// How a right answer is spoilt.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Spoil {
            $(#[doc = $about] $spoil,)*
        }

        impl Spoil {
            /// Whether a right answer of this resource becomes a wrong one.
            pub(crate) fn alters(self, resource: Resource) -> bool {
                match self { $(Spoil::$spoil => matches!(resource, $($resources)+),)* }
            }
        }

        pub(super) const OF_HTTP1: &[Fault] = &[$(Fault {
            name: $name,
            case: 36,
            about: $about,
            expect: $expect,
            start: Start::Request,
            performance: Performance::Steps(&[Step::Answer(Change::Spoilt(Spoil::$spoil))]),
        }),*];

        pub(super) const OF_HTTP2: &[Fault] = &[$(Fault {
            name: concat!("h2-", $name),
            case: 48,
            about: $about,
            expect: $expect,
            start: Start::Stream,
            performance: Performance::Acts(&[Act::Answer(Style { spoil: Some(Spoil::$spoil), ..USUAL })]),
        }),*];
    };
}

const SUCCESS: &[&str] = &[];
const MISMATCH: &[&str] = &["content.mismatch"];

spoils! {
    OtherBody "wrong-body" "the right status and length, other octets" MISMATCH, [_];
    Early "early" "answers /delay/N at once" SUCCESS, [Resource::Delay];
    WrongTotal "wrong-total" "the last total at /json, or the sum at /sum, is another"
        SUCCESS, [Resource::Items | Resource::Sum];
    ShortBody "short-body" "the first half of the right body, framed as if it were whole"
        MISMATCH, [it if it != Resource::NotModified];
    OtherOctet "other-octet" "the right body with another octet in its middle"
        MISMATCH, [it if it != Resource::NotModified];
    UnreadBody "unread-body" "takes a posted body for zeros, or for none if it comes in chunks"
        SUCCESS, [Resource::Post | Resource::Sum];
    OtherField "other-field" "the value of another field at /header, or none" SUCCESS, [Resource::Header];
    FalseLabel "false-label" "a file with the label of a compression that it does not have"
        SUCCESS, [Resource::EncodedFile];
    NoLabel "no-label" "a compressed file without the label of its compression" SUCCESS, [Resource::EncodedFile];
    UnofferedCoding "unoffered-coding" "a file with the label of a compression that was not offered"
        SUCCESS, [Resource::File];
    OtherRange "other-range" "the octets of another range of the file" SUCCESS, [Resource::FilePart];
    WrongContentRange "wrong-content-range" "a range of a file that calls itself another one"
        SUCCESS, [Resource::FilePart];
    OtherVersion "other-version" "304 for another version of the file" SUCCESS, [Resource::NotModified];
    Unasked304 "unasked-304" "304 to a request that names no version of the file" SUCCESS, [Resource::File];
    Unasked206 "unasked-206" "half of a file, where all of it was requested" SUCCESS, [Resource::File];
}
