//! The words of steps and rules, what follows each of them, and the Rust that they become.

/// What follows a word.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Number,
    /// Numbers up to the next word.
    Numbers,
    /// `300 ms` or `2 s`.
    Time,
    /// As long as an answer may take, if no time is given.
    AnyTime,
    Octet,
    Octets,
    /// Octets in one pair of quotes.
    Literal,
    /// Octets that are text.
    Text,
    /// A word that is text.
    Word,
    /// A word that only makes the line read well.
    Filler(&'static str),
    Rule,
    Rules,
    Sign,
    Then,
    Acts,
    /// By how much the streams of repeated acts rise; by 0 if it is not said.
    Higher,
    /// The kind of an HTTP/2 frame, its stream, and its flags up to a colon.
    Frame,
    Pieces,
    Settings,
    /// Error codes by their names.
    Codes,
    /// The first octet of a WebSocket frame.
    Opcode,
}
use Takes::*;

/// A word, what follows it, and the Rust that it becomes: `$0` is the first of what follows.
pub(super) type Entry = (&'static str, &'static [Takes], &'static str);

pub(super) const RULES: &[Entry] = &[
    ("ok", &[], "Rule::Ok"),
    ("status", &[Number], "Rule::Status($0)"),
    ("class", &[Number], "Rule::Class($0)"),
    ("echo", &[Octets], "Rule::Echo($0)"),
    ("silent", &[], "Rule::Silent"),
    ("waits", &[], "Rule::Waits"),
    ("successes", &[Number], "Rule::Successes($0)"),
    ("answers", &[Number], "Rule::Answers($0)"),
    ("closes", &[], "Rule::Closes"),
    ("grew-less", &[Number], "Rule::GrewLess($0)"),
    ("memory-unknown", &[], "Rule::MemoryUnknown"),
    ("acts-within", &[Time], "Rule::ActsWithin($0)"),
    ("honest-within", &[Time], "Rule::HonestWithin($0)"),
    ("opened", &[], "Rule::Opened"),
    ("pong", &[Octets], "Rule::Pong($0)"),
    ("said", &[Octets], "Rule::Said($0)"),
    ("fails", &[], "Rule::Fails"),
    ("fails-with", &[Number], "Rule::FailsWith($0)"),
    ("closes-with", &[Number], "Rule::ClosesWith($0)"),
    ("says-close", &[], "Rule::SaysClose"),
    ("all", &[Rules], "Rule::All(&[$0])"),
    ("any", &[Rules], "Rule::Any(&[$0])"),
    ("not", &[Rule], "Rule::Not(&$0)"),
];

/// What HTTP/2 has to show: rules of its own, and what its clients wait for.
pub(super) const SIGNS: &[Entry] = &[
    ("ok", &[Number], "Sign::Ok($0)"),
    ("echo", &[Number, Octets], "Sign::Echo($0, $1)"),
    ("status", &[Number, Number], "Sign::Status($0, $1)"),
    ("class", &[Number, Number], "Sign::Class($0, $1)"),
    ("begun", &[Number], "Sign::Begun($0)"),
    ("answered", &[Number], "Sign::Answered($0)"),
    ("stream-error", &[Number, Codes], "Sign::StreamError($0, &[$1])"),
    ("connection-error", &[Codes], "Sign::ConnectionError(&[$0])"),
    ("malformed", &[Number], "Sign::Malformed($0)"),
    ("refused", &[Number], "Sign::Refused($0)"),
    ("reset", &[Number], "Sign::Reset($0)"),
    ("any-refused", &[Codes], "Sign::AnyRefused(&[$0])"),
    ("ends", &[], "Sign::Ends"),
    ("goaway", &[], "Sign::GoAway"),
    ("acknowledged", &[Number], "Sign::Acknowledged($0)"),
    ("pong", &[Octets], "Sign::Pong($0)"),
    ("content", &[Number, Number], "Sign::Content($0, $1)"),
];

/// Steps of HTTP/1.1 and WebSocket.
pub(super) const STEPS: &[Entry] = &[
    ("send", &[Octets], "Step::Send($0)"),
    ("quote", &[Octets], "Step::Quote($0)"),
    ("drip", &[Time, Octets], "Step::Drip($1, $0)"),
    ("fill", &[Octet, Number], "Step::Fill($0, $1)"),
    ("repeat", &[Number, Octets], "Step::Repeat($1, $0)"),
    ("receive", &[AnyTime], "Step::Receive($0)"),
    ("receive-to-end", &[], "Step::ReceiveToEnd"),
    ("half-close", &[], "Step::HalfClose"),
    ("idle", &[Time], "Step::Idle($0)"),
    (
        "trickle",
        &[Octets, Filler("then"), Octet, Filler("every"), Time, Filler("for"), Time],
        "Step::Trickle(&Trickle { head: $0, filler: $1, every: $2, limit: $3 })",
    ),
    (
        "crowd",
        &[
            Number,
            Filler("times"),
            Number,
            Octets,
            Filler("then"),
            Then,
            Filler("every"),
            Time,
            Filler("for"),
            Time,
            Filler("honest-every"),
            Time,
            Filler("within"),
            Time,
        ],
        "Step::Crowd(&Crowd { size: $0, times: $1, ask: $2, then: $3, every: $4, lasting: $5, honest_every: $6, \
         honest_limit: $7 })",
    ),
    ("handshake", &[], "crate::ws::OPEN"),
    (
        "open",
        &[],
        "crate::ws::OPEN, Step::Receive(Duration::ZERO), crate::ws::GREET, Step::ReceivePong(crate::ws::HELLO)",
    ),
    ("receive-pong", &[Octets], "Step::ReceivePong($0)"),
    ("frames", &[Number, Opcode, Number], "Step::Frames($1, $2, $0)"),
    (
        "hello",
        &[Number, Filler("suites"), Numbers, Filler("alpn"), Text],
        "Step::Tls(&Hello { version: $0, suites: &[$1], alpn: $2, compression: false })",
    ),
    (
        "hello-with-compression",
        &[Number, Filler("suites"), Numbers, Filler("alpn"), Text],
        "Step::Tls(&Hello { version: $0, suites: &[$1], alpn: $2, compression: true })",
    ),
];

/// What a member of a crowd does in turn.
pub(super) const THEN: &[Entry] = &[
    ("send", &[Octet], "Then::Send($0)"),
    ("sip", &[], "Then::Sip"),
    ("nothing", &[], "Then::Nothing"),
];

/// Acts of HTTP/2.
pub(super) const ACTS: &[Entry] = &[
    ("open", &[], "crate::h2::OPEN"),
    ("open-held", &[], "crate::h2::HELD"),
    ("open-with", &[Settings], "Act::Open(&[$0])"),
    ("get", &[Number], "crate::h2::get($0)"),
    ("post", &[Number], "crate::h2::post($0)"),
    ("octets", &[Octets], "Act::Octets($0)"),
    ("frame", &[Frame, Pieces], "Act::Frame($0, &[$1])"),
    ("too-long", &[Frame, Pieces], "Act::TooLong($0, &[$1])"),
    ("repeat", &[Number, Higher, Acts], "Act::Repeat($0, $1, &[$2])"),
    ("beyond", &[Acts], "Act::Beyond(&[$0])"),
    ("upload", &[Number, Number], "Act::Upload($0, $1)"),
    ("listen", &[Time], "Act::Listen($0)"),
    ("until", &[Sign], "Act::Until($0)"),
    ("await", &[Sign], "Act::Await($0)"),
    ("idle", &[Time], "Act::Idle($0)"),
];

/// Parts of a frame's payload.
pub(super) const PIECES: &[Entry] = &[
    ("request", &[Word], "Piece::Request($0)"),
    ("field", &[Text, Text], "Piece::Field($0, $1)"),
    ("raw", &[Literal, Literal], "Piece::Raw($0, $1)"),
    ("coded", &[Text, Text], "Piece::Coded($0, $1)"),
    ("kept", &[Text, Text], "Piece::Kept($0, $1)"),
    ("never", &[Text, Text], "Piece::Never($0, $1)"),
    ("long", &[Text, Number], "Piece::Long($0, $1)"),
    ("bomb", &[Text, Number, Number], "Piece::Bomb($0, $1, $2)"),
    ("indexed", &[Number], "Piece::Indexed($0)"),
    ("resize", &[Number], "Piece::Resize($0)"),
];

/// The kinds of WebSocket frames.
pub(super) const OPCODES: &[(&str, u64)] =
    &[("continuation", 0), ("text", 1), ("binary", 2), ("close", 8), ("ping", 9), ("pong", 10)];

/// All words of the notation.
#[cfg(test)]
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let tables = [RULES, SIGNS, STEPS, THEN, ACTS, PIECES];
    let words = tables.into_iter().flatten().map(|entry| entry.0);
    words.chain(OPCODES.iter().map(|entry| entry.0))
}
