//! What a bad TLS server does, as data: each part says where it departs from a right one.

use super::Step;

/// A way to be a bad TLS server. Connections without one have none of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twist {
    pub(crate) setup: Setup,
    /// What happens on the bare connection in place of an answer to the client's first message; empty: nothing.
    pub(crate) instead: &'static [Step],
    pub(crate) flight: Flight,
    /// What is said once the handshake is done, before anything else.
    pub(crate) after: &'static [Message],
    pub(crate) answer: Struck,
}

/// A right server.
pub(crate) const RIGHT: Twist = Twist {
    setup: Setup::Right,
    instead: &[],
    flight: Flight::Whole,
    after: &[],
    answer: Struck::Not,
};

/// How the server is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    Right,
    /// As a right one, and able to say what a right one would not.
    Forging,
    ExpiredCertificate,
    /// The certificate names another host.
    OtherName,
    /// The certificate is signed by an authority that signs nothing else.
    OtherAuthority,
    /// Beside its own certificate the server sends others, of so many bytes.
    LongChain(usize),
    /// It says nothing of the application's protocol.
    NoProtocol,
    /// It knows no protocol that a client offers.
    OtherProtocol,
    /// It selects a protocol that was not offered.
    ForgedProtocol,
    /// It ends the handshake with an alert after its first message.
    ForgedAlert,
    OnlyTls12,
    /// It asks for a key of a group for which clients seldom send one.
    HelloRetry,
    /// Records of at most 32 bytes.
    SmallRecords,
}

/// How the server's first flight of messages leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flight {
    Whole,
    /// In pieces of one octet, and so all that follows.
    Octets,
    /// One octet each second.
    Slowly,
    /// Half of it, and then the end of the connection.
    HalfFin,
    HalfRst,
    /// With a wrong last octet.
    Damaged,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Message {
    /// An encrypted record of this type, repeatedly.
    Say(u8, &'static [u8], u64),
    /// Octets that no key has touched, repeatedly.
    Bare(&'static [u8], u64),
    /// New keys, so many times.
    NewKeys(u64),
    /// The end of the connection, without a word.
    Cut,
    /// Nothing more.
    Silence,
}

/// How the first answer departs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Struck {
    Not,
    /// Half of its bytes, and the end of the connection without close_notify.
    Half,
    /// All of it, and the end of the connection without close_notify.
    ThenCut,
    /// A record whose last octet is wrong.
    Damaged,
    /// A fatal alert in its place.
    Alert,
    /// A record that announces more than may be, before it.
    Oversized,
}
