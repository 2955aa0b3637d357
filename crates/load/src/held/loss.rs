//! Why a held connection was never opened, or has ended.

use units::named;
use wire::{HeldError, HeldFault};

use crate::failure::Failure;

named! {
    /// One cause for each connection that failed or was lost, in the order in which reports show them. The names are
    /// stable: they appear in results.
    pub enum Loss {
        /// A failure that any exchange may have.
        Failure(failure: Failure),
        /// A fault that only held connections have.
        Held(fault: HeldFault),
        Close = "ws.goodbye" => "the server closed the WebSocket",
        EchoTimeout = "echo.timeout" => "what was said did not come back in time",
        EchoWrong = "echo.wrong" => "what came back is not what was said",
    }
}

impl Loss {
    /// The place of this loss in `ALL`.
    #[must_use]
    pub fn index(self) -> usize {
        let place = Loss::ALL.iter().position(|&other| other == self);
        place.expect("ALL names every loss")
    }

    /// Whether the loss is the generator's own.
    #[must_use]
    pub fn is_own(self) -> bool {
        match self {
            Loss::Failure(failure) => failure.is_own(),
            Loss::Held(_) | Loss::Close | Loss::EchoTimeout | Loss::EchoWrong => false,
        }
    }
}

impl From<HeldError> for Loss {
    fn from(error: HeldError) -> Self {
        match error {
            HeldError::Wire(fault) => Loss::Failure(Failure::Wire(fault)),
            HeldError::Content(mismatch) => Loss::Failure(Failure::Content(mismatch)),
            HeldError::Held(fault) => Loss::Held(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_each_and_lead_back() {
        let names: std::collections::BTreeSet<&str> = Loss::ALL.map(Loss::name).into();
        assert_eq!(names.len(), Loss::COUNT);
        assert!(Loss::ALL.into_iter().all(|loss| Loss::named(loss.name()) == Some(loss)));
        assert!(Loss::ALL.into_iter().enumerate().all(|(place, loss)| loss.index() == place));
    }
}
