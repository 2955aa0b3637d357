//! What can be wrong with the bytes of a peer: one name for each, in the order in which reports show them.

use units::named;

named! {
    /// A peer's bytes broke the protocol, or stopped where they must not. The connection is lost. Its names are stable:
    /// they appear in results.
    pub enum WireFault {
        Empty = "recv.empty" => "closed without a byte of an answer",
        CutHead = "recv.cut_head" => "closed within the head",
        CutBody = "recv.cut_body" => "closed within the body",
        /// Or a status that does not exist.
        StatusLine = "proto.status_line"
            => "no status line of HTTP; is this an HTTP server? If it wants TLS, write https://",
        Version = "proto.version" => "neither HTTP/1.1 nor HTTP/1.0",
        /// Bare LF, folding, control characters, space before the colon.
        Field = "proto.field" => "a broken header line; --lenient takes some",
        HeadTooLarge = "proto.head_too_large" => "head, trailers or a chunk's line too large",
        InterimFlood = "proto.interim_flood" => "too many interim (1xx) answers",
        Unexpected101 = "proto.unexpected_101" => "switched protocols without being asked",
        /// Not a number that fits.
        BadLength = "proto.bad_length" => "a content-length that is none",
        LengthConflict = "proto.length_conflict" => "lengths that contradict one another",
        BadChunk = "proto.bad_chunk" => "broken chunked framing",
        /// They do not begin another answer.
        Surplus = "proto.surplus" => "bytes after the answer",
        Unsolicited = "proto.unsolicited" => "an answer before the request",
        BodyTooLarge = "limit.body" => "the body is larger than the limit",
        Refused = "h2.refused"
            => "refused unread three times, or on connections that ended before an answer",
        Reset = "h2.reset" => "the server ended the stream",
        Goaway = "h2.goaway" => "the server ended the connection, with an error",
        /// The stream, or the connection (ENHANCE_YOUR_CALM).
        Calm = "h2.calm" => "the server ended it because of too many requests",
        Preface = "h2.preface"
            => "the connection ended, or something else came, before the server's SETTINGS; if it does not speak \
                HTTP/2 here, leave out --http2",
        Frame = "h2.frame" => "a broken frame, or one that must not come there",
        Hpack = "h2.hpack" => "fields that cannot be decompressed",
        Flow = "h2.flow" => "the rules of flow control are broken",
        Push = "h2.push" => "a promise to push, which was forbidden",
        Length = "h2.length" => "content-length and the length of the body differ",
        H2Field = "h2.field" => "a field that an answer must not have",
    }
}
