//! What a generator has to do, and what fills the holes of its command line for that.

/// How the requests of a load follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each connection sends the next request when the last one is answered.
    Closed,
    /// Each connection sends one request.
    Fresh,
    /// Each connection sends one request over TLS, and resumes an earlier session.
    Resumed,
    /// A closed loop over HTTP/2, with so many streams on each connection.
    Streams,
    /// Requests on a schedule, over HTTP/2.
    OpenStreams,
    /// A closed loop with so many requests.
    Counted,
    /// So many requests on a schedule, which leaves each connection idle for seconds.
    Idle,
    /// Requests on a schedule.
    Open,
    /// So many connections on a schedule, each with so many calls.
    Sessions,
}

/// What a generator has to do; what its shape does not have is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) shape: Shape,
    pub(crate) connections: u32,
    pub(crate) streams: u32,
    pub(crate) seconds: u32,
    /// Those in all, or the sessions.
    pub(crate) requests: u32,
    /// Of requests, or of sessions.
    pub(crate) rate: u32,
    /// Of each session.
    pub(crate) calls: u32,
}

impl Load {
    /// So many connections, for so long; nothing else.
    pub(crate) const fn of(shape: Shape, connections: u32, seconds: u32) -> Load {
        Load { shape, connections, streams: 0, seconds, requests: 0, rate: 0, calls: 0 }
    }

    /// How long it should take.
    pub(crate) fn seconds(&self) -> u32 {
        match self.shape {
            // 10,000 a second is slow for any but the JVMs.
            Shape::Counted => self.requests / 10_000 + 1,
            Shape::Sessions => self.requests / self.rate + 1,
            // With a handshake on each connection.
            Shape::Idle => self.requests / self.rate + self.connections / 1_000,
            _ => self.seconds,
        }
    }

    /// What fills the holes of a command line for it.
    pub(crate) fn fillings(&self) -> Vec<(&'static str, String)> {
        let Load { connections, streams, seconds, requests, rate, calls, .. } = *self;
        // For tools that take a count and no time: about the rate of an epoll client.
        let per_s = if connections == 1 { 10_000 } else { 60_000 };
        let numbers = [
            ("c", connections),
            ("m", streams),
            ("s", seconds),
            ("n", requests),
            ("r", rate),
            ("r_minute", rate * 60),
            ("calls", calls),
            ("n_calls", requests * calls),
            ("each", (per_s * seconds / connections.max(1)).max(1)),
            ("fresh", 8_000 * seconds),
            ("fast", 1_000_000_000),
        ];
        let mut fillings: Vec<_> = numbers.map(|(hole, it)| (hole, it.to_string())).into();
        fillings.push(("r_each", (f64::from(rate) / f64::from(connections)).to_string()));
        fillings
    }
}
