//! What can go wrong on a held connection: one name for each, in the order in which reports show them.

use units::named;

use crate::expect::Mismatch;
use crate::fault::WireFault;

named! {
    /// Why a held connection is of no more use.
    pub enum HeldError {
        /// HTTP was broken before the first message, or a chunk's framing later.
        Wire(fault: WireFault),
        /// The answer is not the one that was expected.
        Content(mismatch: Mismatch),
        Held(fault: HeldFault),
    }
}

named! {
    /// A fault that only held connections have. Its names are stable: they appear in results.
    pub enum HeldFault {
        NotAStream = "held.not_a_stream"
            => "an answer with a length, where an endless one was expected",
        StreamEnded = "held.ended" => "an answer that should not end has ended",
        NotSwitched = "ws.not_switched" => "the handshake was not answered with 101",
        NoUpgrade = "ws.no_upgrade" => "Upgrade or Connection do not say what was agreed",
        /// Or it is missing.
        BadAccept = "ws.bad_accept" => "Sec-WebSocket-Accept is not the answer to our key",
        NotOffered = "ws.not_offered" => "an extension or a subprotocol that was not offered",
        ReservedBits = "ws.reserved_bits" => "a bit that belongs to an extension",
        Opcode = "ws.opcode" => "an operation that does not exist",
        Masked = "ws.masked" => "a masked frame; a server must not mask",
        /// Not in the fewest bytes, or too large for the protocol.
        BadFrameLength = "ws.bad_length" => "a frame's length is not written as it must be",
        /// Of more than 125 bytes.
        BadControl = "ws.bad_control" => "a control frame in fragments, or too long",
        /// A fragment without a beginning, or a beginning within a message.
        BadFragment = "ws.bad_fragment" => "a fragment where none may stand",
        NotUtf8 = "ws.not_utf8" => "text that is not UTF-8",
        /// Or with half a code.
        BadClose = "ws.bad_goodbye" => "a Close with a code that must not be sent",
        /// Or the number of its fragments is.
        MessageTooLarge = "limit.message" => "a message beyond the limit",
        CutSocket = "ws.cut" => "the connection ended without a Close",
    }
}

impl From<WireFault> for HeldError {
    fn from(fault: WireFault) -> Self {
        HeldError::Wire(fault)
    }
}

impl From<HeldFault> for HeldError {
    fn from(fault: HeldFault) -> Self {
        HeldError::Held(fault)
    }
}
