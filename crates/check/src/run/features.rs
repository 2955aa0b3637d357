//! What a server offers, determined before any case runs that depends on it.

use std::time::{Duration, Instant};

use crate::case::{Case, Need};
use crate::exchange::{Patience, exchange};
use crate::h2::{self, Sign};
use crate::observation::Observation;
use crate::pulse::Pulse;
use crate::script::{Rule, Step};
use crate::target::Target;
use crate::ws::OPEN;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// It is.
    Yes,
    /// It is not, and the server said so as it should, or its address is not known: a case that needs it does not
    /// apply.
    No(String),
    /// It did not work, but was not refused either: the cases that need it run, and their twins decide.
    Unclear,
}

#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// The path that takes bodies.
    pub post: String,
    takes: Offer,
    echoes: Offer,
    socket: Offer,
    socket_echoes: Offer,
    tls: Offer,
}

/// What a page is sent that may send it back.
const ASKS: &[u8] = b"dyno asks";

const POST: Case = Case {
    steps: &[Step::Send(
        b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\ndyno asks",
    )],
    ..Case::BLANK
};

const SOCKET: Case = Case {
    steps: &[OPEN, Step::Receive(Duration::ZERO), Step::Raw(b"\x81\x89\0\0\0\0dyno asks")],
    pass: &[Rule::Said(b"dyno asks")],
    ..Case::BLANK
};

impl Features {
    /// For a server that answers nothing.
    pub(crate) fn unknown(target: &Target) -> Features {
        let unclear = || Offer::Unclear;
        let socket = if target.socket.is_some() { unclear() } else { no_socket() };
        Features {
            post: "/".into(),
            takes: unclear(),
            echoes: unclear(),
            socket: socket.clone(),
            socket_echoes: socket,
            tls: tls(target),
        }
    }

    /// Finds out what there is.
    pub(crate) fn discover(target: &Target, patience: &Patience) -> Features {
        let (post, takes, echoes) = posts(target, patience);
        let (socket, socket_echoes) = sockets(target, patience);
        Features { post, takes, echoes, socket, socket_echoes, tls: tls(target) }
    }

    /// Whether what a case needs is offered.
    pub(crate) fn offer(&self, need: Need) -> &Offer {
        match need {
            Need::Get => &Offer::Yes,
            Need::Post => &self.takes,
            Need::Echo => &self.echoes,
            Need::Socket => &self.socket,
            Need::SocketEcho => &self.socket_echoes,
            Need::Tls => &self.tls,
        }
    }
}

fn posts(target: &Target, patience: &Patience) -> (String, Offer, Offer) {
    let mut taken = None;
    let mut refused = None;
    for path in &target.posts {
        let (case, echo, taking) = match target.is_http2 {
            true => (&h2::POST, Rule::Http2(Sign::Echo(1, ASKS)), Rule::Http2(Sign::Ok(1))),
            false => (&POST, Rule::Echo(ASKS), Rule::Ok),
        };
        let seen = exchange(case, target, path, patience);
        if echo.holds(&seen) {
            return (path.clone(), Offer::Yes, Offer::Yes);
        }
        if taking.holds(&seen) {
            taken = taken.or(Some(path));
        } else if is_decent_refusal(&seen) {
            refused = refused.or(Some((path, seen.says())));
        }
    }
    let silent = |path: &str| format!("POST {path} does not give the body back");
    match (taken, refused, target.posts.first()) {
        (Some(path), _, _) => (path.clone(), Offer::Yes, Offer::No(silent(path))),
        (None, Some((path, says)), _) => {
            let no = Offer::No(format!("POST {path} is refused: {says}"));
            (path.clone(), no.clone(), no)
        }
        (None, None, Some(path)) => (path.clone(), Offer::Unclear, Offer::Unclear),
        (None, None, None) => {
            let no = Offer::No("no page that takes a POST is known; give one with --post".into());
            ("/".into(), no.clone(), no)
        }
    }
}

/// "I have no such thing", said correctly: a server cannot be blamed for that.
fn is_decent_refusal(seen: &Observation) -> bool {
    if let Some(heard) = &seen.heard {
        return heard.is_decent() && heard.reply(1).is_some_and(|reply| reply.is_whole);
    }
    seen.first().is_some_and(|answer| {
        matches!(answer.status, 403 | 404 | 405 | 411 | 415 | 501) && answer.flaws.is_empty()
    })
}

fn tls(target: &Target) -> Offer {
    match target.tls {
        Some(_) => Offer::Yes,
        None => Offer::No("there is no TLS at http://; check https:// for that".into()),
    }
}

fn no_socket() -> Offer {
    Offer::No("no address of a WebSocket is known; give its path with --socket".into())
}

fn sockets(target: &Target, patience: &Patience) -> (Offer, Offer) {
    let Some(path) = &target.socket else {
        return (no_socket(), no_socket());
    };
    let seen = exchange(&SOCKET, target, "/", patience);
    if Rule::Said(b"dyno asks").holds(&seen) {
        return (Offer::Yes, Offer::Yes);
    }
    let no_echo = Offer::No(format!("the WebSocket at {path} gives no message back"));
    if Rule::Opened.holds(&seen) {
        (Offer::Yes, no_echo)
    } else if is_decent_refusal(&seen) {
        let no = Offer::No(format!("{path} is no WebSocket: {}", seen.says()));
        (no.clone(), no)
    } else {
        (Offer::Unclear, Offer::Unclear)
    }
}

/// How many connections a server can leave with half a request and still answer another client: this many cases can run
/// side by side without one being blamed for another. A server with a pool of five workers gets three.
pub(crate) fn concurrency(target: &Target, pulse: Pulse, post: &str, most: usize) -> usize {
    const WAIT: Duration = Duration::from_millis(700);
    let sizes = [most, 12, 6, 3].into_iter().filter(|size| *size <= most);
    for size in sizes {
        let waiting: Vec<_> =
            (0..size).filter_map(|number| half_asked(target, post, number)).collect();
        let began = Instant::now();
        let is_free = waiting.len() == size && pulse.beats(target, WAIT);
        if is_free && began.elapsed() < WAIT {
            return size;
        }
        drop(waiting);
        // Let the server notice that they are closed.
        let _ = pulse.beats(target, Duration::from_secs(2));
    }
    1
}

fn half_asked(target: &Target, post: &str, number: usize) -> Option<tls::Stream> {
    use std::io::Write;
    let mut socket = target.connect(Duration::from_secs(1)).ok()?;
    if target.is_http2 {
        let mut half = Vec::new();
        h2::HALF.iter().for_each(|act| {
            act.push(&mut half, target, post, h2::frame::FRAME_MAX, 0);
        });
        socket.write_all(&half).ok()?;
        return Some(socket);
    }
    let half: &[u8] = match number % 2 {
        0 => b"GET {get} HTTP/1.1\r\nHost: {H}\r\nX-Half:",
        _ => b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\r\nhal",
    };
    socket.write_all(&target.fill(half, post)).ok()?;
    Some(socket)
}
