//! What can be wrong with the frames of a server, each with the class that it is counted in and the code of RFC 9113
//! that answers it.

use std::fmt;

use units::named;

use super::hpack::HpackFault;
use crate::fault::WireFault;

named! {
    /// The error codes of RFC 9113, 7, in the order of their numbers; `Unknown` is any that has no name, and means nothing
    /// in particular.
    #[repr(u8)]
    pub enum ErrorCode {
        NoError = "NO_ERROR",
        ProtocolError = "PROTOCOL_ERROR",
        InternalError = "INTERNAL_ERROR",
        FlowControlError = "FLOW_CONTROL_ERROR",
        SettingsTimeout = "SETTINGS_TIMEOUT",
        StreamClosed = "STREAM_CLOSED",
        FrameSizeError = "FRAME_SIZE_ERROR",
        RefusedStream = "REFUSED_STREAM",
        Cancel = "CANCEL",
        CompressionError = "COMPRESSION_ERROR",
        ConnectError = "CONNECT_ERROR",
        EnhanceYourCalm = "ENHANCE_YOUR_CALM",
        InadequateSecurity = "INADEQUATE_SECURITY",
        Http11Required = "HTTP_1_1_REQUIRED",
        Unknown = "an unknown code",
    }
}

impl ErrorCode {
    pub(super) fn read(number: u32) -> ErrorCode {
        let known = ErrorCode::ALL.get(number as usize);
        known.copied().unwrap_or(ErrorCode::Unknown)
    }
}

/// What a server's frames break, or how it ends a stream or the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum H2Fault {
    /// The server ended the stream with this code.
    Reset(ErrorCode),
    /// The server announced the end of the connection with this code.
    Goaway(ErrorCode),
    /// A block of fields cannot be decompressed.
    Hpack(HpackFault),
    /// What can be wrong with an answer of HTTP/1.1 as well.
    Wire(WireFault),
    /// Any other.
    Frame(FrameFault),
}

/// Each is a row: its name, its class, the code that answers it, and what it means.
macro_rules! faults {
    ($($name:ident $class:ident $code:ident $meaning:literal)*) => {
        /// A broken rule of RFC 9113.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FrameFault {
            $(#[doc = $meaning] $name,)*
        }

        impl FrameFault {
            /// Every one of them.
            pub const ALL: &[FrameFault] = &[$(FrameFault::$name,)*];

            const fn class(self) -> WireFault {
                match self { $(FrameFault::$name => WireFault::$class,)* }
            }

            const fn code(self) -> ErrorCode {
                match self { $(FrameFault::$name => ErrorCode::$code,)* }
            }

            /// The meaning, in a few words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(FrameFault::$name => $meaning,)* }
            }
        }
    };
}

faults! {
    Preface           Preface ProtocolError    "the connection ended, or something else came, before SETTINGS"
    TooLarge          Frame   FrameSizeError   "a frame is larger than we allow"
    Length            Frame   FrameSizeError   "a frame has another length than its type allows"
    OnConnection      Frame   ProtocolError    "a frame that belongs to a stream came on stream 0"
    OnStream          Frame   ProtocolError    "a frame that belongs to the connection came on a stream"
    Idle              Frame   ProtocolError    "a frame came on a stream that no request opened"
    Closed            Frame   StreamClosed     "a frame came on a stream that had ended"
    Padding           Frame   ProtocolError    "a frame has more padding than payload"
    Continuation      Frame   ProtocolError    "a block of fields is interrupted, or continues without a beginning"
    ContinuationFlood Frame   EnhanceYourCalm  "a block of fields has too many frames or octets"
    Flood             Frame   EnhanceYourCalm  "too many frames that demand an answer"
    Setting           Frame   ProtocolError    "a setting has a value that it must not have"
    SettingWindow     Flow    FlowControlError "a setting makes a window larger than windows may be"
    NoIncrement       Flow    ProtocolError    "WINDOW_UPDATE by nothing"
    WindowOverflow    Flow    FlowControlError "WINDOW_UPDATE makes a window larger than windows may be"
    Overrun           Flow    FlowControlError "more DATA than our window allows"
    Push              Push    ProtocolError    "PUSH_PROMISE, which we have forbidden"
    LastIdRaised      Frame   ProtocolError    "a second GOAWAY takes more requests than the first"
    EarlyData         Frame   ProtocolError    "DATA came before the head of the answer"
    InterimEnds       Frame   ProtocolError    "an interim answer ends the stream"
    OpenTrailers      Frame   ProtocolError    "a second head does not end the stream"
    ContentLength     Length  ProtocolError    "content-length and the length of DATA differ"
    NoStatus          H2Field ProtocolError    "not exactly one `:status` of three digits"
    PseudoField       H2Field ProtocolError    "a pseudo-header field that an answer does not have, or too late"
    FieldName         H2Field ProtocolError    "a field's name is no token in lower case; in trailers, none begins with a colon"
    FieldValue        H2Field ProtocolError    "a field's value has a control character, or blanks around it"
    ConnectionField   H2Field ProtocolError    "a field about the connection, which HTTP/2 does not have"
}

impl H2Fault {
    /// The class in which it is counted.
    #[must_use]
    pub const fn class(self) -> WireFault {
        match self {
            H2Fault::Reset(ErrorCode::EnhanceYourCalm)
            | H2Fault::Goaway(ErrorCode::EnhanceYourCalm) => WireFault::Calm,
            H2Fault::Reset(_) => WireFault::Reset,
            H2Fault::Goaway(_) => WireFault::Goaway,
            H2Fault::Hpack(_) => WireFault::Hpack,
            H2Fault::Wire(fault) => fault,
            H2Fault::Frame(fault) => fault.class(),
        }
    }

    /// The stable name of that class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.class().name()
    }

    /// The code with which the stream or the connection is ended because of it.
    #[must_use]
    pub const fn code(self) -> ErrorCode {
        match self {
            H2Fault::Reset(_) | H2Fault::Goaway(_) => ErrorCode::NoError,
            H2Fault::Hpack(_) => ErrorCode::CompressionError,
            H2Fault::Wire(WireFault::BodyTooLarge) => ErrorCode::Cancel,
            H2Fault::Wire(WireFault::InterimFlood) => ErrorCode::EnhanceYourCalm,
            H2Fault::Wire(_) => ErrorCode::ProtocolError,
            H2Fault::Frame(fault) => fault.code(),
        }
    }
}

impl H2Fault {
    /// What its class does not say.
    #[must_use]
    pub fn reason(self) -> Option<String> {
        match self {
            H2Fault::Reset(code) => Some(format!("the server ended the stream: {}", code.name())),
            H2Fault::Goaway(code) => {
                Some(format!("the server ends the connection: {}", code.name()))
            }
            H2Fault::Hpack(fault) => Some(fault.name().into()),
            H2Fault::Wire(_) => None,
            H2Fault::Frame(fault) => Some(fault.meaning().into()),
        }
    }
}

impl fmt::Display for H2Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.reason().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl From<FrameFault> for H2Fault {
    fn from(fault: FrameFault) -> Self {
        H2Fault::Frame(fault)
    }
}

impl From<HpackFault> for H2Fault {
    fn from(fault: HpackFault) -> Self {
        H2Fault::Hpack(fault)
    }
}

impl From<WireFault> for H2Fault {
    fn from(fault: WireFault) -> Self {
        H2Fault::Wire(fault)
    }
}

impl From<H2Fault> for WireFault {
    fn from(fault: H2Fault) -> Self {
        fault.class()
    }
}
