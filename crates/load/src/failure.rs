//! Every way in which an attempt can fail: stable names, with the generator's own failures marked.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tls::TlsFault;
use wire::{Mismatch, WireFault};

use crate::engine::Break;

/// Why an exchange is not a correct one. Each failed attempt has exactly one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// No server listens there.
    ConnectRefused,
    /// No connection within the time-out.
    ConnectTimeout,
    /// The connection was reset before it carried a byte.
    ConnectReset,
    /// The network or host cannot be reached.
    ConnectUnreachable,
    /// There is no TLS, or none any more.
    Tls(TlsFault),
    /// Ours: every port of every source address is taken.
    NoPorts,
    /// Ours: the limit of open files is reached.
    NoFiles,
    /// The peer reset the connection while the request was being written.
    SendReset,
    /// The peer did not take the request within the time-out.
    SendTimeout,
    /// The server's window took no more of the request's body within the time-out (HTTP/2).
    SendWindow,
    /// Connected, and the server let no request begin within the time-out (HTTP/2): it sent no SETTINGS, or allows no
    /// stream.
    NoStream,
    /// Reset while waiting for the answer, or within its head.
    RecvReset,
    /// Not one byte of the answer within the time-out.
    FirstByteTimeout,
    /// The answer began, and was not whole within the time-out.
    Deadline,
    /// The peer's bytes broke the protocol.
    Wire(WireFault),
    /// A whole answer, and the wrong one.
    Content(Mismatch),
    /// A whole answer that came before it could: it was to wait.
    Early,
    /// Ours: sent so late that the time-out was over before the request could leave.
    Late,
    /// Ours: no connection became free within the time-out.
    Blocked,
    /// Ours: the time-out expired while the generator stood still; the answer may have come in time.
    Still,
}

impl Failure {
    pub const COUNT: usize = Failure::ALL.len();

    /// Every failure, in the order in which reports show them.
    pub const ALL: [Failure; 54] = {
        use Failure::{Content, Tls, Wire};
        [
            Failure::ConnectRefused,
            Failure::ConnectTimeout,
            Failure::ConnectReset,
            Failure::ConnectUnreachable,
            Tls(TlsFault::Alert),
            Tls(TlsFault::Certificate),
            Tls(TlsFault::Alpn),
            Tls(TlsFault::Closed),
            Tls(TlsFault::Timeout),
            Tls(TlsFault::Protocol),
            Tls(TlsFault::Flood),
            Tls(TlsFault::Cut),
            Failure::SendReset,
            Failure::SendTimeout,
            Failure::SendWindow,
            Failure::NoStream,
            Failure::RecvReset,
            Failure::FirstByteTimeout,
            Failure::Deadline,
            Wire(WireFault::Empty),
            Wire(WireFault::CutHead),
            Wire(WireFault::CutBody),
            Wire(WireFault::StatusLine),
            Wire(WireFault::Version),
            Wire(WireFault::Field),
            Wire(WireFault::HeadTooLarge),
            Wire(WireFault::InterimFlood),
            Wire(WireFault::Unexpected101),
            Wire(WireFault::BadLength),
            Wire(WireFault::LengthConflict),
            Wire(WireFault::BadChunk),
            Wire(WireFault::Surplus),
            Wire(WireFault::Unsolicited),
            Wire(WireFault::BodyTooLarge),
            Wire(WireFault::Refused),
            Wire(WireFault::Reset),
            Wire(WireFault::Goaway),
            Wire(WireFault::Calm),
            Wire(WireFault::Preface),
            Wire(WireFault::Frame),
            Wire(WireFault::Hpack),
            Wire(WireFault::Flow),
            Wire(WireFault::Push),
            Wire(WireFault::Length),
            Wire(WireFault::H2Field),
            Content(Mismatch::Status),
            Content(Mismatch::Header),
            Content(Mismatch::Body),
            Failure::Early,
            Failure::NoPorts,
            Failure::NoFiles,
            Failure::Late,
            Failure::Still,
            Failure::Blocked,
        ]
    };

    /// The stable name, as it appears in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Failure::ConnectRefused => "connect.refused",
            Failure::ConnectTimeout => "connect.timeout",
            Failure::ConnectReset => "connect.reset",
            Failure::ConnectUnreachable => "connect.unreachable",
            Failure::Tls(fault) => fault.name(),
            Failure::NoPorts => "connect.no_ports",
            Failure::NoFiles => "connect.no_fds",
            Failure::SendReset => "send.reset",
            Failure::SendTimeout => "send.timeout",
            Failure::SendWindow => "send.window",
            Failure::NoStream => "h2.timeout",
            Failure::RecvReset => "recv.reset",
            Failure::FirstByteTimeout => "recv.first_byte_timeout",
            Failure::Deadline => "recv.deadline",
            Failure::Wire(fault) => fault.name(),
            Failure::Content(Mismatch::Status) => "content.status",
            Failure::Content(Mismatch::Header) => "content.header",
            Failure::Content(Mismatch::Body) => "content.mismatch",
            Failure::Early => "answer.early",
            Failure::Late => "own.late",
            Failure::Still => "own.still",
            Failure::Blocked => "own.blocked",
        }
    }

    /// Whether an answer had another status than expected.
    #[must_use]
    pub const fn is_about_status(self) -> bool {
        matches!(self, Failure::Content(Mismatch::Status))
    }

    /// The failure with this stable name, as found in results of any version.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Failure> {
        Failure::ALL.into_iter().find(|failure| failure.name() == name)
    }

    /// The meaning, in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Failure::ConnectRefused => "no server listens there",
            Failure::ConnectTimeout => "no connection within the time-out",
            Failure::ConnectReset => "reset before it carried a byte",
            Failure::ConnectUnreachable => "the host cannot be reached",
            Failure::Tls(fault) => fault.meaning(),
            Failure::NoPorts => "ours: no local port is left; give more addresses with --source",
            Failure::NoFiles => "ours: the limit of open files is reached; raise it with ulimit -n",
            Failure::SendReset => "reset while the request was written",
            Failure::SendTimeout => "the request was not taken within the time-out",
            Failure::SendWindow => {
                "the server's window did not let the request's body through in time"
            }
            Failure::NoStream => {
                "connected, and within the time-out the server sent no SETTINGS or allowed no stream; does it speak HTTP/2 here?"
            }
            Failure::RecvReset => "reset while waiting for the answer",
            Failure::FirstByteTimeout => "no byte of the answer within the time-out",
            Failure::Deadline => "the answer began and did not end within the time-out",
            Failure::Wire(WireFault::Empty) => "closed without a byte of an answer",
            Failure::Wire(WireFault::CutHead) => "closed within the head",
            Failure::Wire(WireFault::CutBody) => "closed within the body",
            Failure::Wire(WireFault::StatusLine) => {
                "no status line of HTTP; is this an HTTP server? If it wants TLS, write https://"
            }
            Failure::Wire(WireFault::Version) => "neither HTTP/1.1 nor HTTP/1.0",
            Failure::Wire(WireFault::Field) => "a broken header line; --lenient takes some",
            Failure::Wire(WireFault::HeadTooLarge) => "head, trailers or a chunk's line too large",
            Failure::Wire(WireFault::InterimFlood) => "too many interim (1xx) answers",
            Failure::Wire(WireFault::Unexpected101) => "switched protocols without being asked",
            Failure::Wire(WireFault::BadLength) => "a content-length that is none",
            Failure::Wire(WireFault::LengthConflict) => "lengths that contradict one another",
            Failure::Wire(WireFault::BadChunk) => "broken chunked framing",
            Failure::Wire(WireFault::Surplus) => "bytes after the answer",
            Failure::Wire(WireFault::Unsolicited) => "an answer before the request",
            Failure::Wire(WireFault::BodyTooLarge) => "the body is larger than the limit",
            Failure::Wire(WireFault::Reset) => "the server ended the stream",
            Failure::Wire(WireFault::Goaway) => "the server ended the connection, with an error",
            Failure::Wire(WireFault::Calm) => "the server ended it because of too many requests",
            Failure::Wire(WireFault::Preface) => {
                "the connection ended, or something else came, before the server's SETTINGS; if it does not speak HTTP/2 \
                 here, leave out --http2"
            }
            Failure::Wire(WireFault::Frame) => "a broken frame, or one that must not come there",
            Failure::Wire(WireFault::Hpack) => "fields that cannot be decompressed",
            Failure::Wire(WireFault::Flow) => "the rules of flow control are broken",
            Failure::Wire(WireFault::Push) => "a promise to push, which was forbidden",
            Failure::Wire(WireFault::Length) => "content-length and the length of the body differ",
            Failure::Wire(WireFault::H2Field) => "a field that an answer must not have",
            Failure::Wire(WireFault::Refused) => {
                "refused unread three times, or on connections that ended before an answer"
            }
            Failure::Content(Mismatch::Status) => "another status than expected",
            Failure::Content(Mismatch::Header) => "a header field is not as expected",
            Failure::Content(Mismatch::Body) => "another body than expected",
            Failure::Early => "the answer came before the time that it was to wait",
            Failure::Late => "dyno's own: it was sent too late",
            Failure::Still => {
                "dyno's own: dyno stood still while the time-out passed; the answer may have come in time"
            }
            Failure::Blocked => "dyno's own: every connection was busy, and no more were allowed",
        }
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
        Failure::from_name(&name)
            .ok_or_else(|| D::Error::custom(format!("`{}` is not a failure", name.escape_debug())))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
            assert_eq!(Failure::from_name(failure.name()), Some(failure));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Failure::COUNT);
    }
}
