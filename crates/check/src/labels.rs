//! What cases are marked with: protocols, areas, levels, tags, needs. The catalogue's files name them, and the build
//! reads this list.

use units::named;

named! {
    /// What is spoken.
    pub enum Protocol {
        Http = "HTTP/1.1",
        Http2 = "HTTP/2",
        Socket = "WebSocket",
    }
}

impl Protocol {
    #[must_use]
    pub fn is_http2(self) -> bool {
        self == Protocol::Http2
    }
}

named! {
    /// What a case is about.
    pub enum Area {
        /// Request line and target forms.
        RequestLine = "request-line",
        Host = "host",
        /// Header syntax.
        Fields = "fields",
        /// Content-Length, Transfer-Encoding, both, and what passes for them.
        Framing = "framing",
        /// The chunked coding.
        Chunked = "chunked",
        /// HEAD, OPTIONS, CONNECT, unknown methods.
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
    /// The protocol that the area belongs to, as its name begins.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        match self.name().split_once('-') {
            Some(("h2", _)) => Protocol::Http2,
            Some(("ws", _)) => Protocol::Socket,
            _ => Protocol::Http,
        }
    }
}

named! {
    /// How strongly a clause requires something.
    pub enum Level {
        Must = "MUST",
        /// Strong advice.
        Should = "SHOULD",
        /// Advice in passing.
        Ought = "OUGHT",
    }
}

named! {
    /// What a breach can be used for.
    pub enum Tag {
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

named! {
    /// What a server must offer for a case to apply.
    pub enum Need {
        /// A page.
        Get = "get",
        /// A page that takes a body.
        Post = "post",
        /// A page that sends a posted body back.
        Echo = "echo",
        Socket = "websocket",
        /// A WebSocket that sends messages back.
        SocketEcho = "websocket-echo",
        /// TLS.
        Tls = "tls",
    }
}

named! {
    /// Whether a case is run beside others.
    pub enum Scheduling {
        /// Beside other cases.
        Together = "together",
        /// Alone, since it watches the server's memory.
        Alone = "alone",
        /// Once, not once a round, and only if slow cases are requested: cases that only wait run beside each other,
        /// cases that open a crowd of connections run alone.
        Slow = "slow",
    }
}
