//! A case: one requirement of a clause, what is sent to test it, and what is accepted.

use std::fmt;
use std::time::Duration;

use crate::script::{Rule, Step};

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Never reused for another case: `H1-F03`.
    pub id: &'static str,
    /// What is tested, in a few words.
    pub title: &'static str,
    /// The area that it belongs to.
    pub area: Area,
    pub clause: Clause,
    /// How strongly.
    pub level: Level,
    /// 5: smuggling, injection, memory, crash; 3: any other MUST, or a SHOULD that matters for safety; 1: minor points.
    pub weight: u8,
    /// What an attacker could use a failure for.
    pub tags: &'static [Tag],
    /// The well-formed request that must have been accepted in the same run; otherwise this case says nothing.
    pub twin: Option<&'static str>,
    /// What a server must offer for the case to apply.
    pub needs: Need,
    /// The case applies if any of these was seen; empty if it always applies.
    pub applies: &'static [Rule],
    /// Beside other cases, or alone.
    pub scheduling: Scheduling,
    /// Its exchange takes no longer than this, whatever the server sends.
    pub limit: Duration,
    pub steps: &'static [Step],
    /// The exchange ends after this many answers, unless it ends earlier; if 0, nothing is read after the steps.
    pub answers: usize,
    pub pass: &'static [Rule],
    /// What is tolerable. Everything else is a failure.
    pub warn: &'static [Rule],
    /// What the clause demands, in our words.
    pub demand: &'static str,
    /// Why an answer that only warns is no failure; empty if nothing only warns.
    pub doubt: &'static str,
}

impl Case {
    /// The defaults that entries start from.
    pub(crate) const BLANK: Case = Case {
        id: "",
        title: "",
        area: Area::RequestLine,
        clause: Clause { rfc: 9112, section: "", erratum: None },
        level: Level::Must,
        weight: 3,
        tags: &[],
        twin: None,
        needs: Need::Get,
        applies: &[],
        scheduling: Scheduling::Together,
        limit: Duration::from_secs(20),
        steps: &[],
        answers: 1,
        pass: &[],
        warn: &[],
        demand: "",
        doubt: "",
    };

    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.area.protocol()
    }

    /// The id without its protocol: `F03`.
    #[must_use]
    pub fn short(&self) -> &'static str {
        self.id.split_once('-').map_or(self.id, |(_, short)| short)
    }

    /// Whether it is sent only to servers that may be harmed: those on this machine, and those whose owner has agreed.
    #[must_use]
    pub(crate) fn is_rude(&self) -> bool {
        use Tag::{Crash, Injection, Size, Slow, Smuggling};
        self.tags.iter().any(|tag| matches!(tag, Smuggling | Size | Slow | Crash | Injection))
    }

    /// Whether it is sent only to servers on this machine, whatever their owner has agreed to.
    #[must_use]
    pub(crate) fn is_flood(&self) -> bool {
        self.area == Area::Http2Limits
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// HTTP/1.1.
    Http,
    /// HTTP/2.
    Http2,
    /// WebSocket.
    Socket,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Protocol; 3] = [Protocol::Http, Protocol::Http2, Protocol::Socket];

    #[must_use]
    pub fn is_http2(self) -> bool {
        self == Protocol::Http2
    }

    /// As it is written in text.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Protocol::Http => "HTTP/1.1",
            Protocol::Http2 => "HTTP/2",
            Protocol::Socket => "WebSocket",
        }
    }
}

/// A sentence of an RFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    pub rfc: u16,
    pub section: &'static str,
    /// The erratum that settles the question, if the text does not.
    pub erratum: Option<u16>,
}

impl fmt::Display for Clause {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "RFC {}, {}", self.rfc, self.section)?;
        self.erratum.map_or(Ok(()), |number| write!(form, " (erratum {number})"))
    }
}

/// RFC 9110: what HTTP means.
pub(crate) const fn semantics(section: &'static str) -> Clause {
    Clause { rfc: 9110, section, erratum: None }
}

/// RFC 9112: how HTTP/1.1 is written.
pub(crate) const fn syntax(section: &'static str) -> Clause {
    Clause { rfc: 9112, section, erratum: None }
}

/// RFC 9113: HTTP/2.
pub(crate) const fn http2(section: &'static str) -> Clause {
    Clause { rfc: 9113, section, erratum: None }
}

/// RFC 7541: HPACK.
pub(crate) const fn hpack(section: &'static str) -> Clause {
    Clause { rfc: 7541, section, erratum: None }
}

/// RFC 6455: WebSocket.
pub(crate) const fn socket(section: &'static str) -> Clause {
    Clause { rfc: 6455, section, erratum: None }
}

/// Makes an enum whose values have names, in one list.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$what])* $value,)+ }

        impl $name {
            /// All of them, in their order.
            pub const ALL: &'static [$name] = &[$($name::$value,)+];

            /// As it is written in rows, in JSON and on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($name::$value => $word,)+ }
            }

            /// The value with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    };
}
pub(crate) use named;

named! {
    /// What a case is about.
    Area {
        /// Request line and target forms.
        RequestLine = "request-line",
        Host = "host",
        /// Header syntax.
        Fields = "fields",
        /// Content-Length, Transfer-Encoding, both, and what passes for them.
        Framing = "framing",
        /// HEAD, OPTIONS, CONNECT, unknown methods.
        Chunked = "chunked",
        /// HEAD, OPTIONS, CONNECT, unknown ones.
        Methods = "methods",
        /// Persistence, closing, pipelining, HTTP/1.0, upgrades.
        Connections = "connections",
        /// 100-continue.
        Expectations = "expectations",
        /// What every answer must have: Date, form, types.
        Answers = "answers",
        /// Conditions and ranges.
        Conditions = "conditions",
        /// Long targets, large heads, endless bodies.
        Limits = "limits",
        /// Slow clients, and clients that do not read.
        Slow = "slow",
        /// What happens after an error.
        Robustness = "robustness",
        /// HTTP/2: the preface, and how frames are made.
        Http2Frames = "h2-frames",
        /// HTTP/2: SETTINGS.
        Http2Settings = "h2-settings",
        /// HTTP/2: the states and numbers of streams.
        Http2Streams = "h2-streams",
        /// HTTP/2: windows.
        Http2Flow = "h2-flow",
        /// HTTP/2: HEADERS and CONTINUATION.
        Http2Headers = "h2-headers",
        /// HTTP/2: the compression of fields.
        Http2Hpack = "h2-hpack",
        /// HTTP/2: names, values, pseudo-fields.
        Http2Fields = "h2-fields",
        /// HTTP/2: requests and answers.
        Http2Requests = "h2-requests",
        /// HTTP/2: GOAWAY, PING, PRIORITY, unknown frames.
        Http2Control = "h2-control",
        /// HTTP/2: what becomes another request behind a proxy.
        Http2Smuggling = "h2-smuggling",
        /// HTTP/2: floods.
        Http2Limits = "h2-limits",
        /// HTTP/2: TLS below it.
        Http2Tls = "h2-tls",
        /// WebSocket: the opening handshake.
        Handshake = "ws-handshake",
        /// WebSocket: how frames are made.
        Frames = "ws-frames",
        /// WebSocket: messages in pieces.
        Fragments = "ws-fragments",
        /// WebSocket: ping and pong.
        Control = "ws-control",
        /// WebSocket: the Close and its codes.
        Closing = "ws-closing",
        /// WebSocket: text is UTF-8.
        Utf8 = "ws-utf8",
        /// WebSocket: large frames and messages.
        SocketLimits = "ws-limits",
    }
}

impl Area {
    /// The protocol that the area belongs to.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        match self {
            Area::RequestLine
            | Area::Host
            | Area::Fields
            | Area::Framing
            | Area::Chunked
            | Area::Methods
            | Area::Connections
            | Area::Expectations
            | Area::Answers
            | Area::Conditions
            | Area::Limits
            | Area::Slow
            | Area::Robustness => Protocol::Http,
            Area::Http2Frames
            | Area::Http2Settings
            | Area::Http2Streams
            | Area::Http2Flow
            | Area::Http2Headers
            | Area::Http2Hpack
            | Area::Http2Fields
            | Area::Http2Requests
            | Area::Http2Control
            | Area::Http2Smuggling
            | Area::Http2Limits
            | Area::Http2Tls => Protocol::Http2,
            Area::Handshake
            | Area::Frames
            | Area::Fragments
            | Area::Control
            | Area::Closing
            | Area::Utf8
            | Area::SocketLimits => Protocol::Socket,
        }
    }
}

named! {
    /// How strongly a clause requires something.
    Level {
        Must = "MUST",
        /// Strong advice.
        Should = "SHOULD",
        /// Advice in passing.
        Ought = "OUGHT",
    }
}

named! {
    /// What a breach can be used for.
    Tag {
        Smuggling = "smuggling",
        /// Header or response injection.
        Injection = "injection",
        /// Memory.
        Size = "size",
        /// Time.
        Slow = "slow",
        /// The server stops running.
        Crash = "crash",
        /// An open relay.
        Proxy = "proxy",
    }
}

/// What a server must offer for a case to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A page.
    Get,
    /// A page that takes a body.
    Post,
    /// A page that sends a posted body back.
    Echo,
    Socket,
    /// A WebSocket that sends messages back.
    SocketEcho,
    /// TLS.
    Tls,
}

/// Whether a case is run beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// Beside other cases.
    Together,
    /// Alone, since it watches the server's memory.
    Alone,
    /// Once, not once a round, and only if slow cases are requested: cases that only wait run beside each other, cases
    /// that open a crowd of connections run alone.
    Slow,
}
