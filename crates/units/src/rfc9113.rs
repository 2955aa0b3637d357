//! The numbers and names of HTTP/2 (RFC 9113), as data. All that read or write it share them; their logic is their own.

/// Makes a constant of each name, with numbers from the first one on, and a table of the names.
macro_rules! numbered {
    ($(#[$about:meta])* $names:ident of $number:ty, from $first:literal: $($name:ident)*) => {
        numbered!(@ $number, $first, $($name)*);
        $(#[$about])*
        pub const $names: &[&str] = &[$(stringify!($name)),*];
    };
    (@ $number:ty, $value:expr, $name:ident $($rest:ident)*) => {
        pub const $name: $number = $value;
        numbered!(@ $number, $value + 1, $($rest)*);
    };
    (@ $number:ty, $value:expr,) => {};
}

numbered! {
    /// 6: the kinds of frames.
    KINDS of u8, from 0: DATA HEADERS PRIORITY RST_STREAM SETTINGS PUSH_PROMISE PING GOAWAY WINDOW_UPDATE CONTINUATION
}
numbered! {
    /// 6.5.2: the parameters of SETTINGS.
    SETTINGS_NAMES of u16, from 1: HEADER_TABLE_SIZE ENABLE_PUSH MAX_CONCURRENT_STREAMS INITIAL_WINDOW_SIZE
        MAX_FRAME_SIZE MAX_HEADER_LIST_SIZE
}
numbered! {
    /// 7: the codes of errors.
    CODES of u32, from 0: NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED
        FRAME_SIZE_ERROR REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY
        HTTP_1_1_REQUIRED
}

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
/// The head of a HEADERS frame has five octets of a priority.
pub const PRIORITISED: u8 = 0x20;

/// What a client says first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The octets before a frame's payload.
pub const FRAME_HEAD: usize = 9;
/// No payload is longer, unless SETTINGS allow it.
pub const FRAME_MAX: usize = 16_384;
/// Every window's size, unless SETTINGS or WINDOW_UPDATE say otherwise.
pub const WINDOW: u32 = 65_535;
/// The largest window, increment and stream number.
pub const LARGEST: u32 = 0x7fff_ffff;
