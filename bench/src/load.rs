//! What a generator has to do, and what fills the holes of its command line for that.

/// What a generator has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Each connection sends the next request when the last one is answered.
    Closed { connections: u32, seconds: u32 },
    /// Each connection sends one request.
    Fresh { connections: u32, seconds: u32 },
    /// Each connection sends one request over TLS, and resumes an earlier session.
    Resumed { connections: u32, seconds: u32 },
    /// A closed loop over HTTP/2, with this many streams on each connection.
    Streams { connections: u32, streams: u32, seconds: u32 },
    /// Requests on a schedule, over HTTP/2.
    OpenStreams { connections: u32, streams: u32, seconds: u32, rate: u32 },
    /// A closed loop with this many requests.
    Counted { connections: u32, requests: u32 },
    /// So many requests on a schedule, which leaves each connection idle for seconds.
    Idle { connections: u32, requests: u32, rate: u32 },
    /// Requests on a schedule.
    Open { connections: u32, seconds: u32, rate: u32 },
    /// Connections on a schedule, each with this many calls.
    Sessions { rate: u32, calls: u32, sessions: u32 },
}

impl Load {
    /// How long it should take.
    pub(crate) fn seconds(&self) -> u32 {
        match *self {
            Load::Closed { seconds, .. }
            | Load::Fresh { seconds, .. }
            | Load::Resumed { seconds, .. }
            | Load::Streams { seconds, .. }
            | Load::OpenStreams { seconds, .. }
            | Load::Open { seconds, .. } => seconds,
            // 10,000 a second is slow for any but the JVMs.
            Load::Counted { requests, .. } => requests / 10_000 + 1,
            Load::Sessions { rate, sessions, .. } => sessions / rate + 1,
            // With a handshake on each connection.
            Load::Idle { connections, requests, rate } => requests / rate + connections / 1_000,
        }
    }

    /// What fills the holes of a command line for it.
    pub(crate) fn fillings(&self) -> Vec<(&'static str, String)> {
        let text = |number: u32| number.to_string();
        let each = |rate: u32, of: u32| (f64::from(rate) / f64::from(of)).to_string();
        match *self {
            Load::Closed { connections, seconds }
            | Load::Fresh { connections, seconds }
            | Load::Resumed { connections, seconds } => {
                // For tools that take a count and no time: about the rate of an epoll client.
                let per_s = if connections == 1 { 10_000 } else { 60_000 };
                vec![
                    ("c", text(connections)),
                    ("s", text(seconds)),
                    ("each", text((per_s * seconds / connections).max(1))),
                    ("fresh", text(8_000 * seconds)),
                    ("fast", "1000000000".to_owned()),
                ]
            }
            Load::Counted { connections, requests } => {
                vec![("c", text(connections)), ("n", text(requests))]
            }
            Load::Streams { connections, streams, seconds } => {
                vec![("c", text(connections)), ("m", text(streams)), ("s", text(seconds))]
            }
            Load::OpenStreams { connections, streams, seconds, rate } => vec![
                ("c", text(connections)),
                ("m", text(streams)),
                ("s", text(seconds)),
                ("r", text(rate)),
                ("r_each", each(rate, connections)),
            ],
            Load::Open { connections, seconds, rate } => vec![
                ("c", text(connections)),
                ("s", text(seconds)),
                ("r", text(rate)),
                ("r_each", each(rate, connections)),
                ("r_minute", text(rate * 60)),
                ("n", text(rate * seconds)),
            ],
            Load::Idle { connections, requests, rate } => vec![
                ("c", text(connections)),
                ("n", text(requests)),
                ("r", text(rate)),
                ("r_each", each(rate, connections)),
            ],
            Load::Sessions { rate, calls, sessions } => vec![
                ("r", text(rate)),
                ("calls", text(calls)),
                ("n", text(sessions)),
                ("n_calls", text(sessions * calls)),
            ],
        }
    }
}
