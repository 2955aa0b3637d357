//! What can go wrong on a held connection: one name for each.

use std::fmt;

use crate::expect::Mismatch;
use crate::fault::WireFault;

/// Why a held connection is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HeldFault {
    /// HTTP was broken before the first message, or a chunk's framing later.
    Wire(WireFault),
    /// The answer is not the one that was expected.
    Mismatch(Mismatch),
    /// The answer has a length: it is not an endless stream.
    NotAStream,
    /// An answer that should not end has ended.
    StreamEnded,
    /// The handshake was not answered with 101.
    NotSwitched,
    /// `Upgrade` or `Connection` do not name what was agreed.
    NoUpgrade,
    /// `Sec-WebSocket-Accept` is missing, or does not match the client's key.
    BadAccept,
    /// An extension or a subprotocol that was not offered.
    NotOffered,
    /// A bit is set that belongs to an extension.
    ReservedBits,
    /// An operation that does not exist.
    Opcode,
    /// A server must not mask.
    Masked,
    /// A length that is not written in the fewest bytes, or that is too large for the protocol.
    BadFrameLength,
    /// A control frame in fragments, or of more than 125 bytes.
    BadControl,
    /// A fragment without a beginning, or a beginning within a message.
    BadFragment,
    /// Text that is not UTF-8.
    NotUtf8,
    /// A Close with half a code, or with one that must not be sent.
    BadClose,
    /// A message, or the number of its fragments, beyond the limit.
    MessageTooLarge,
    /// The connection ended without a Close.
    CutSocket,
}

impl HeldFault {
    /// The faults that only held connections have, in the order in which reports show them.
    pub const OWN: [HeldFault; 16] = [
        HeldFault::NotAStream,
        HeldFault::StreamEnded,
        HeldFault::NotSwitched,
        HeldFault::NoUpgrade,
        HeldFault::BadAccept,
        HeldFault::NotOffered,
        HeldFault::ReservedBits,
        HeldFault::Opcode,
        HeldFault::Masked,
        HeldFault::BadFrameLength,
        HeldFault::BadControl,
        HeldFault::BadFragment,
        HeldFault::NotUtf8,
        HeldFault::BadClose,
        HeldFault::MessageTooLarge,
        HeldFault::CutSocket,
    ];

    /// Its place in [`HeldFault::OWN`]. A fault that any exchange may have is not in it: its place is beyond the last.
    #[must_use]
    pub const fn place(self) -> usize {
        match self {
            HeldFault::NotAStream => 0,
            HeldFault::StreamEnded => 1,
            HeldFault::NotSwitched => 2,
            HeldFault::NoUpgrade => 3,
            HeldFault::BadAccept => 4,
            HeldFault::NotOffered => 5,
            HeldFault::ReservedBits => 6,
            HeldFault::Opcode => 7,
            HeldFault::Masked => 8,
            HeldFault::BadFrameLength => 9,
            HeldFault::BadControl => 10,
            HeldFault::BadFragment => 11,
            HeldFault::NotUtf8 => 12,
            HeldFault::BadClose => 13,
            HeldFault::MessageTooLarge => 14,
            HeldFault::CutSocket => 15,
            HeldFault::Wire(_) | HeldFault::Mismatch(_) => HeldFault::OWN.len(),
        }
    }

    /// The stable name, as it appears in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            HeldFault::Wire(fault) => fault.name(),
            HeldFault::Mismatch(Mismatch::Status) => "wrong.status",
            HeldFault::Mismatch(Mismatch::Header) => "wrong.header",
            HeldFault::Mismatch(Mismatch::Body) => "wrong.body",
            HeldFault::NotAStream => "held.not_a_stream",
            HeldFault::StreamEnded => "held.ended",
            HeldFault::NotSwitched => "ws.not_switched",
            HeldFault::NoUpgrade => "ws.no_upgrade",
            HeldFault::BadAccept => "ws.bad_accept",
            HeldFault::NotOffered => "ws.not_offered",
            HeldFault::ReservedBits => "ws.reserved_bits",
            HeldFault::Opcode => "ws.opcode",
            HeldFault::Masked => "ws.masked",
            HeldFault::BadFrameLength => "ws.bad_length",
            HeldFault::BadControl => "ws.bad_control",
            HeldFault::BadFragment => "ws.bad_fragment",
            HeldFault::NotUtf8 => "ws.not_utf8",
            HeldFault::BadClose => "ws.bad_goodbye",
            HeldFault::MessageTooLarge => "limit.message",
            HeldFault::CutSocket => "ws.cut",
        }
    }
}

impl fmt::Display for HeldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<WireFault> for HeldFault {
    fn from(fault: WireFault) -> Self {
        HeldFault::Wire(fault)
    }
}
