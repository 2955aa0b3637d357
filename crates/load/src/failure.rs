//! Every way in which an attempt can fail: stable names, with the generator's own failures marked.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tls::TlsFault;
use units::named;
use wire::{Mismatch, WireFault};

use crate::engine::Break;

named! {
    /// Why an exchange is not a correct one. Each failed attempt has exactly one reason. Its names are stable: they appear
    /// in results. Those that begin with `own`, and two of `connect`, are dyno's own.
    pub enum Failure {
        ConnectRefused = "connect.refused" => "no server listens there",
        ConnectTimeout = "connect.timeout" => "no connection within the time-out",
        ConnectReset = "connect.reset" => "reset before it carried a byte",
        ConnectUnreachable = "connect.unreachable" => "the host cannot be reached",
        /// There is no TLS, or none any more.
        Tls(fault: TlsFault),
        SendReset = "send.reset" => "reset while the request was written",
        SendTimeout = "send.timeout" => "the request was not taken within the time-out",
        /// Of HTTP/2.
        SendWindow = "send.window"
            => "the server's window did not let the request's body through in time",
        /// The server let no request of HTTP/2 begin.
        NoStream = "h2.timeout"
            => "connected, and within the time-out the server sent no SETTINGS or allowed no stream; does it speak \
                HTTP/2 here?",
        /// Or within the answer's head.
        RecvReset = "recv.reset" => "reset while waiting for the answer",
        FirstByteTimeout = "recv.first_byte_timeout" => "no byte of the answer within the time-out",
        Deadline = "recv.deadline" => "the answer began and did not end within the time-out",
        /// The peer's bytes broke the protocol.
        Wire(fault: WireFault),
        /// A whole answer, and the wrong one.
        Content(mismatch: Mismatch),
        /// A whole answer.
        Early = "answer.early" => "the answer came before the time that it was to wait",
        /// Every port of every source address is taken.
        NoPorts = "connect.no_ports"
            => "ours: no local port is left; give more addresses with --source",
        NoFiles = "connect.no_fds"
            => "ours: the limit of open files is reached; raise it with ulimit -n",
        /// The time-out was over before the request could leave.
        Late = "own.late" => "dyno's own: it was sent too late",
        Still = "own.still"
            => "dyno's own: dyno was not running while the time-out passed; the answer may have come in time",
        /// None became free within the time-out.
        Blocked = "own.blocked"
            => "dyno's own: every connection was busy, and no more were allowed",
    }
}

impl Failure {
    /// Whether an answer had another status than expected.
    #[must_use]
    pub const fn is_about_status(self) -> bool {
        matches!(self, Failure::Content(Mismatch::Status))
    }

    /// Whether the generator is to blame, and not the server.
    #[must_use]
    pub const fn is_own(self) -> bool {
        matches!(
            self,
            Failure::NoPorts | Failure::NoFiles | Failure::Late | Failure::Still | Failure::Blocked
        )
    }

    /// Whether there was no connection over which a request could leave: then it is not known whether a server would have
    /// answered it.
    #[must_use]
    pub const fn is_unreached(self) -> bool {
        match self {
            Failure::ConnectRefused
            | Failure::ConnectTimeout
            | Failure::ConnectUnreachable
            | Failure::NoPorts
            | Failure::NoFiles
            | Failure::NoStream
            | Failure::Wire(WireFault::Preface) => true,
            Failure::Tls(fault) => !matches!(fault, TlsFault::Cut | TlsFault::Flood),
            _ => false,
        }
    }

    /// Whether the answer was whole and had the right status, and its content was wrong, or it came before it could be
    /// right. A server that reports its own failure in the status has not answered wrongly.
    #[must_use]
    pub const fn is_wrong_content(self) -> bool {
        matches!(self, Failure::Content(Mismatch::Header | Mismatch::Body) | Failure::Early)
    }

    /// Whether the answer was whole.
    #[must_use]
    pub const fn is_of_whole_answer(self) -> bool {
        matches!(self, Failure::Content(_) | Failure::Early)
    }

    /// Whether the exchange was given up because its time had run out: its latency is known to be
    /// no less than the time-out.
    #[must_use]
    pub const fn is_censored(self) -> bool {
        matches!(
            self,
            Failure::ConnectTimeout
                | Failure::Tls(TlsFault::Timeout)
                | Failure::SendTimeout
                | Failure::SendWindow
                | Failure::NoStream
                | Failure::FirstByteTimeout
                | Failure::Deadline
                | Failure::Late
                | Failure::Still
                | Failure::Blocked
        )
    }

    /// The failure's place in `ALL`.
    #[must_use]
    pub fn index(self) -> usize {
        let place = Failure::ALL.iter().position(|&other| other == self);
        place.expect("ALL names every failure")
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Failure, D::Error> {
        let name = String::deserialize(deserializer)?;
        Failure::named(&name)
            .ok_or_else(|| D::Error::custom(format!("`{}` is not a failure", name.escape_debug())))
    }
}

impl From<Break> for Failure {
    fn from(cause: Break) -> Failure {
        match cause {
            Break::Refused => Failure::ConnectRefused,
            Break::Reset => Failure::ConnectReset,
            Break::TimedOut => Failure::ConnectTimeout,
            Break::Unreachable => Failure::ConnectUnreachable,
            Break::NoPorts => Failure::NoPorts,
            Break::NoFiles => Failure::NoFiles,
            Break::Tls(fault) => Failure::Tls(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_a_place_and_a_name_of_its_own() {
        let mut names: Vec<_> = Failure::ALL.iter().map(|failure| failure.name()).collect();
        for fault in WireFault::ALL {
            assert_eq!(Failure::ALL[Failure::Wire(fault).index()], Failure::Wire(fault));
        }
        for fault in TlsFault::ALL {
            assert_eq!(Failure::ALL[Failure::Tls(fault).index()], Failure::Tls(fault));
        }
        for failure in Failure::ALL {
            assert_eq!(Failure::named(failure.name()), Some(failure));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Failure::COUNT);
    }
}
