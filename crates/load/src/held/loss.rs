//! Why a held connection was never opened, or has ended.

use std::fmt;

use wire::HeldFault;

use crate::failure::Failure;

/// One cause for each connection that failed or was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Loss {
    /// A failure that any exchange may have.
    Failure(Failure),
    /// A fault that only held connections have.
    Held(HeldFault),
    /// The server sent a Close.
    Close,
    /// A text that was sent did not come back in time.
    EchoTimeout,
    /// What came back is not what was sent.
    EchoWrong,
}

impl Loss {
    pub const COUNT: usize = Failure::COUNT + HeldFault::OWN.len() + 3;

    /// Every loss, in the order in which reports show them.
    pub fn all() -> impl Iterator<Item = Loss> {
        let failures = Failure::ALL.into_iter().map(Loss::Failure);
        let held = HeldFault::OWN.into_iter().map(Loss::Held);
        failures.chain(held).chain([Loss::Close, Loss::EchoTimeout, Loss::EchoWrong])
    }

    /// The place of this loss in [`Loss::all`].
    #[must_use]
    pub fn index(self) -> usize {
        let last = Failure::COUNT + HeldFault::OWN.len();
        match self {
            Loss::Failure(failure) => failure.index(),
            // A fault that any exchange may have has one place, wherever it occurred.
            Loss::Held(HeldFault::Wire(fault)) => Failure::Wire(fault).index(),
            Loss::Held(HeldFault::Mismatch(mismatch)) => Failure::Content(mismatch).index(),
            Loss::Held(own) => Failure::COUNT + own.place(),
            Loss::Close => last,
            Loss::EchoTimeout => last + 1,
            Loss::EchoWrong => last + 2,
        }
    }

    /// The stable name, as it appears in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Loss::Failure(failure) => failure.name(),
            Loss::Held(fault) => fault.name(),
            Loss::Close => "ws.goodbye",
            Loss::EchoTimeout => "echo.timeout",
            Loss::EchoWrong => "echo.wrong",
        }
    }

    /// The loss with this stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Loss> {
        Loss::all().find(|loss| loss.name() == name)
    }

    /// Whether the loss is the generator's own.
    #[must_use]
    pub fn is_own(self) -> bool {
        match self {
            Loss::Failure(failure) => failure.is_own(),
            Loss::Held(_) | Loss::Close | Loss::EchoTimeout | Loss::EchoWrong => false,
        }
    }

    /// The meaning, in a few words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Loss::Failure(failure) => failure.meaning(),
            Loss::Close => "the server closed the WebSocket",
            Loss::EchoTimeout => "what was said did not come back in time",
            Loss::EchoWrong => "what came back is not what was said",
            Loss::Held(fault) => of_fault(fault),
        }
    }
}

fn of_fault(fault: HeldFault) -> &'static str {
    match fault {
        HeldFault::Wire(_) | HeldFault::Mismatch(_) => "as it happens to any answer",
        HeldFault::NotAStream => "an answer with a length, where an endless one was expected",
        HeldFault::StreamEnded => "an answer that should not end has ended",
        HeldFault::NotSwitched => "the handshake was not answered with 101",
        HeldFault::NoUpgrade => "Upgrade or Connection do not say what was agreed",
        HeldFault::BadAccept => "Sec-WebSocket-Accept is not the answer to our key",
        HeldFault::NotOffered => "an extension or a subprotocol that was not offered",
        HeldFault::ReservedBits => "a bit that belongs to an extension",
        HeldFault::Opcode => "an operation that does not exist",
        HeldFault::Masked => "a masked frame; a server must not mask",
        HeldFault::BadFrameLength => "a frame's length is not written as it must be",
        HeldFault::BadControl => "a control frame in fragments, or too long",
        HeldFault::BadFragment => "a fragment where none may stand",
        HeldFault::NotUtf8 => "text that is not UTF-8",
        HeldFault::BadClose => "a Close with a code that must not be sent",
        HeldFault::MessageTooLarge => "a message beyond the limit",
        HeldFault::CutSocket => "the connection ended without a Close",
    }
}

impl From<HeldFault> for Loss {
    fn from(fault: HeldFault) -> Self {
        match fault {
            HeldFault::Wire(fault) => Loss::Failure(Failure::Wire(fault)),
            HeldFault::Mismatch(mismatch) => Loss::Failure(Failure::Content(mismatch)),
            own => Loss::Held(own),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Mismatch, WireFault};

    #[test]
    fn names_are_one_each_and_lead_back() {
        let names: std::collections::BTreeSet<&str> = Loss::all().map(Loss::name).collect();
        assert_eq!((names.len(), Loss::all().count()), (Loss::COUNT, Loss::COUNT));
        assert!(Loss::all().all(|loss| Loss::from_name(loss.name()) == Some(loss)));
        assert!(Loss::all().enumerate().all(|(place, loss)| loss.index() == place));
        let faults = [HeldFault::Wire(WireFault::BadChunk), HeldFault::Mismatch(Mismatch::Status)];
        for fault in faults {
            let (one, other) = (Loss::Held(fault), Loss::from(fault));
            assert_eq!(one.index(), other.index(), "{fault} is not booked as another loss");
        }
    }
}
