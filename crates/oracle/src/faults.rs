//! Scripted faults: what a bad server does, as data. `table`, `h2` and `tls` list them, by protocol; `play`, `h2/act.rs`
//! and `tls/session.rs` perform them.

pub(crate) mod acts;
mod h2;
mod spoil;
mod table;
mod tls;
pub(crate) mod twist;

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use units::nearest;

use crate::resource::Resource;
use acts::Act;
use twist::Twist;

pub(crate) use spoil::Spoil;

/// One way to be a bad server, by its stable name.
///
/// `expect` is about a client that requests `GET /hello` and wants status 200 and the body
/// `Hello, world!`: it is the class that its failure must have. Where there are several, each is true
/// and the first is the best; where there is none, the exchange must count as a success. For a fault
/// that affects WebSockets it is about a client that holds one: none means that it is held.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The stable kebab-case name.
    pub name: &'static str,
    /// The case in the catalogue of hostile servers.
    pub case: u8,
    /// What the server does, in one line.
    pub about: &'static str,
    /// The failure classes that a client may report; empty: it must count a success.
    pub expect: &'static [&'static str],
    pub(crate) start: Start,
    pub(crate) performance: Performance,
}

/// What a fault does, in the words of its protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Performance {
    /// Octets of HTTP/1.1, or of WebSockets.
    Steps(&'static [Step]),
    /// Frames of HTTP/2.
    Acts(&'static [Act]),
    /// Records of TLS, and what a server is set up with.
    Twist(&'static Twist),
}

/// What a client must speak to meet a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    WebSocket,
    Http2,
    /// Whatever is spoken within it.
    Tls,
}

/// What a fault waits for before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// For none: it is how the server listens, without a script.
    Refusing,
    /// For none: a full accept queue, which is how the server listens.
    NeverAccepting,
    Accept,
    Request,
    /// A whole request whose head does not mention dyno.
    StrangersRequest,
    /// A whole request with one form that a server must accept.
    RequestIn(Form),
    /// A correct request for a WebSocket.
    SocketRequest,
    /// A whole request on a stream of HTTP/2.
    Stream,
    /// A connection of HTTP/2.
    Preface,
    /// A connection within TLS.
    Handshake,
}

/// A form of a request that means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `host` in lower case.
    LowerCase,
    /// A field whose name begins with `x-unknown`.
    UnknownField,
    /// White space other than one space before the value of `Host`, or any after it.
    Spaces,
    /// A field before `Host`.
    HostLater,
    /// A head that is read in several pieces.
    SplitHead,
}

/// One step of a script. At the end of the script the connection goes on with the next request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Send(&'static [u8]),
    /// Sends these bytes repeatedly, no faster than the peer reads.
    Repeat(&'static [u8], u64),
    /// Sends these bytes repeatedly and forever, one octet each second.
    Drip(&'static [u8]),
    /// Sends the answer to the oldest request in hand: the right one, or one that deviates.
    Answer(Change),
    /// Sends the right answer to the newest request in hand.
    AnswerNewest,
    /// Sends nothing for the oldest request in hand.
    Swallow,
    /// Waits for another whole request, or for this long.
    Await(Duration),
    /// Does nothing for this long.
    Wait(Duration),
    /// Never reads or writes again.
    Silence,
    /// Ends the oracle's direction; what the peer still sends is read and dropped.
    Fin,
    /// Drops the connection with a reset.
    Rst,
}

/// How a right answer is changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Right,
    StatusLine(&'static str),
    /// With these additional header lines.
    Fields(&'static str),
    /// These lines instead of `Content-Length`.
    Framing(&'static str),
    /// These lines instead of `Content-Length`, and the body as one chunk.
    Chunked(&'static str),
    /// The body in chunks of one octet.
    OneOctetChunks,
    /// Other content, or another time.
    Spoilt(Spoil),
    /// A handshake without `Upgrade` and `Connection`.
    NoUpgrade,
    /// A handshake without its proof.
    NoAccept,
    /// A handshake with the proof of another key.
    OtherAccept,
}

/// Forever, in `Step::Repeat`.
pub(crate) const FOREVER: u64 = u64::MAX;

impl Fault {
    /// Every fault, in the catalogue's order.
    #[must_use]
    pub fn all() -> &'static [Fault] {
        static ALL: LazyLock<Vec<Fault>> = LazyLock::new(|| {
            let of_http1 = [table::ALL, spoil::OF_HTTP1];
            let others = [h2::STREAMS, spoil::OF_HTTP2, h2::CONNECTIONS, tls::ALL];
            let mut all = [of_http1.concat(), others.concat()].concat();
            all.sort_by_key(|fault| fault.case);
            all
        });
        &ALL
    }

    /// What a client must speak to meet it.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        match self.start {
            Start::Refusing
            | Start::NeverAccepting
            | Start::Accept
            | Start::Request
            | Start::StrangersRequest
            | Start::RequestIn(_) => Protocol::Http1,
            Start::SocketRequest => Protocol::WebSocket,
            Start::Stream | Start::Preface => Protocol::Http2,
            Start::Handshake => Protocol::Tls,
        }
    }

    /// Whether a single request of HTTP/2 may ask for it.
    #[must_use]
    pub fn fits_a_stream(&self) -> bool {
        self.start == Start::Stream
    }

    pub(crate) fn steps(&self) -> &'static [Step] {
        match self.performance {
            Performance::Steps(steps) => steps,
            Performance::Acts(_) | Performance::Twist(_) => &[],
        }
    }

    pub(crate) fn acts(&self) -> &'static [Act] {
        match self.performance {
            Performance::Acts(acts) => acts,
            Performance::Steps(_) | Performance::Twist(_) => &[],
        }
    }

    pub(crate) fn twist(&self) -> Option<&'static Twist> {
        match self.performance {
            Performance::Twist(twist) => Some(twist),
            Performance::Steps(_) | Performance::Acts(_) => None,
        }
    }

    /// How it spoils a right answer, if it does nothing else.
    pub(crate) fn spoil(&self) -> Option<Spoil> {
        match (self.steps(), self.acts()) {
            ([Step::Answer(Change::Spoilt(spoil))], _) => Some(*spoil),
            (_, [Act::Answer(style)]) => style.spoil,
            (_, _) => None,
        }
    }

    /// Whether the answer to `GET /hello` can show it.
    #[must_use]
    pub fn shows_at_hello(&self) -> bool {
        self.shows_at(Resource::Hello)
    }

    /// Whether an answer of this resource can show it; else the answer is right, and no fault is counted.
    pub(crate) fn shows_at(&self, resource: Resource) -> bool {
        self.spoil().is_none_or(|spoil| spoil.alters(resource))
    }

    /// Whether a single request may ask for it (`?fault=NAME`); otherwise the server must be started with it.
    #[must_use]
    pub fn fits_a_request(&self) -> bool {
        matches!(self.start, Start::Request | Start::StrangersRequest | Start::RequestIn(_))
    }

    /// Whether it affects WebSockets only; a request for a WebSocket may ask for it.
    #[must_use]
    pub fn fits_a_socket(&self) -> bool {
        self.start == Start::SocketRequest
    }
}

impl PartialEq for Fault {
    fn eq(&self, other: &Fault) -> bool {
        self.name == other.name
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let names = || Fault::all().iter().map(|fault| fault.name);
        let found = Fault::all().iter().find(|fault| fault.name == text);
        found.copied().ok_or_else(|| match nearest(text, names()) {
            Some(near) => format!("unknown fault `{text}`; did you mean `{near}`?"),
            None => {
                let names = names().collect::<Vec<_>>().join(" ");
                format!("unknown fault `{text}`; the faults are: {names}")
            }
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_kebab_case_and_stand_once() {
        let names: BTreeSet<&str> = Fault::all().iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), Fault::all().len());
        let kebab = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(names.iter().all(|name| name.bytes().all(kebab)));
    }

    #[test]
    fn every_case_of_the_catalogue_is_there_in_order() {
        let cases: Vec<u8> = Fault::all().iter().map(|fault| fault.case).collect();
        assert!(cases.is_sorted());
        let cases: BTreeSet<u8> = cases.into_iter().collect();
        assert_eq!(cases, (1..=38).chain(41..=60).collect());
    }

    #[test]
    fn an_unknown_name_ends_in_the_way_out() {
        let refusal = |text: &str| text.parse::<Fault>().unwrap_err().to_string();
        assert!(refusal("cut-bdoy").ends_with("did you mean `cut-body`?"));
        assert!(refusal("zzzzzzzzzzzzzzzzzzzzzz").contains("the faults are: refuse"));
        let known =
            |protocol| Fault::all().iter().filter(|fault| fault.protocol() == protocol).count();
        assert!(40 <= known(Protocol::Http2) && 15 <= known(Protocol::Tls));
        assert_eq!("cut-body".parse::<Fault>().unwrap().case, 7);
    }
}
