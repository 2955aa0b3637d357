//! What is to happen to a request, by the configuration and by its own query.

use crate::answer::Answer;
use crate::delays::Delay;
use crate::faults::{Fault, Form, Spoil, Start};
use crate::octets::parameter;
use crate::request::{Head, Refusal, Status};
use crate::state::ThreadState;
use crate::xml;

/// What is to happen to a request.
pub(crate) struct Instructions {
    pub(crate) fault: Option<Fault>,
    /// When it is answered, as far as delays and queues go.
    pub(crate) due_ns: u64,
}

/// What a fault would strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Befalls {
    Request,
    /// A request for a WebSocket.
    Socket,
    /// A request of HTTP/2.
    Stream,
}

impl Befalls {
    fn may(self, fault: &Fault) -> bool {
        match self {
            Befalls::Request => fault.fits_a_request(),
            Befalls::Socket => fault.fits_a_request() || fault.fits_a_socket(),
            Befalls::Stream => fault.start == Start::Stream,
        }
    }
}

/// A request as it came.
#[derive(Clone, Copy)]
pub(crate) struct Arrived<'a> {
    pub(crate) ns: u64,
    pub(crate) head: &'a [u8],
    /// Its head was read in several pieces.
    pub(crate) is_split: bool,
}

/// Combines what the configuration and the query demand for a request that arrived at this instant.
pub(crate) fn instructions(
    head: &Head<'_>,
    arrived: Arrived<'_>,
    answer: &Answer<'_>,
    befalls: Befalls,
    state: &mut ThreadState,
) -> Result<Instructions, Refusal> {
    let asked = head.query.map_or(Ok((None, None)), |query| asked(query, befalls))?;
    let fault = match asked.0 {
        Some(fault) => Some(fault),
        None => {
            let rate = state.config().fault_rate;
            let fault = state.config().fault.filter(|fault| befalls.may(fault));
            fault.filter(|_| state.dice.happens(rate))
        }
    };
    let fault = fault.filter(|fault| strikes(fault, arrived) && fault.shows_at(answer.resource));
    let is_early = fault.and_then(|fault| fault.spoil()) == Some(Spoil::Early);
    let wait_ns = if is_early { 0 } else { answer.wait_ns };
    Ok(Instructions { fault, due_ns: due_ns(asked.1, arrived.ns, state) + wait_ns })
}

/// When a request is answered, which may ask for a law of its own: after its turn in the queue, or else after a delay.
fn due_ns(own: Option<Delay>, arrived_ns: u64, state: &mut ThreadState) -> u64 {
    if let Some(served) = state.shared.serve(arrived_ns, own) {
        state.books.drawn_ns.saturating_record(served.service_ns);
        state.books.waited_ns.saturating_record(served.waited_ns);
        return served.done_ns;
    }
    let Some(law) = own.or(state.config().delay) else { return arrived_ns };
    let drawn_ns = law.draw_ns(&mut state.dice);
    state.books.drawn_ns.saturating_record(drawn_ns);
    arrived_ns + drawn_ns
}

/// The fault and the delay that a query demands.
fn asked(query: &[u8], befalls: Befalls) -> Result<(Option<Fault>, Option<Delay>), Refusal> {
    let bad = |why| Refusal { status: Status::BadRequest, why };
    let fault = match parameter(query, b"fault=").map(text) {
        None => None,
        Some(name) => Some(name.parse::<Fault>().map_err(|_| bad("no fault has this name"))?),
    };
    if let Some(fault) = fault.filter(|fault| !befalls.may(fault)) {
        return Err(bad(match fault.start {
            Start::SocketRequest => {
                "this fault befalls WebSockets; ask for one at /wsecho or /wspoll/1"
            }
            Start::Request | Start::StrangersRequest | Start::RequestIn(_) => {
                "this fault befalls HTTP/1.1"
            }
            Start::Stream => "this fault befalls HTTP/2",
            Start::Accept
            | Start::Refusing
            | Start::NeverAccepting
            | Start::Preface
            | Start::Handshake => "this fault befalls connections; start a server with it",
        }));
    }
    let delay = match parameter(query, b"delay=").map(text) {
        None => None,
        Some(law) => Some(law.parse().map_err(|_| {
            bad("no such distribution of delays; write it like constant:5ms, uniform:1ms,9ms, exponential:5ms, \
                 lognormal:2ms,0.5 or bimodal:1ms,100ms,0.05")
        })?),
    };
    Ok((fault, delay))
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(&xml::unescaped(value, true)).into_owned()
}

/// Whether a request is one that the fault waits for.
fn strikes(fault: &Fault, arrived: Arrived<'_>) -> bool {
    match fault.start {
        Start::StrangersRequest => is_stranger(arrived.head),
        Start::RequestIn(form) => is_in(form, arrived),
        Start::Refusing
        | Start::NeverAccepting
        | Start::Accept
        | Start::Request
        | Start::SocketRequest
        | Start::Stream
        | Start::Preface
        | Start::Handshake => true,
    }
}

fn is_in(form: Form, arrived: Arrived<'_>) -> bool {
    let lines: Vec<&[u8]> = arrived.head.split(|byte| *byte == b'\n').skip(1).collect();
    let host = lines.iter().find(|line| begins(line, b"host:"));
    match form {
        Form::LowerCase => host.is_some_and(|line| line.starts_with(b"host:")),
        Form::UnknownField => lines.iter().any(|line| begins(line, b"x-unknown")),
        Form::Spaces => host.is_some_and(|line| {
            let value = line[b"host:".len()..].strip_suffix(b"\r").unwrap_or_default();
            value.trim_ascii().len() + 1 != value.len() || !value.starts_with(b" ")
        }),
        Form::HostLater => !lines.first().is_some_and(|line| begins(line, b"host:")),
        Form::SplitHead => arrived.is_split,
    }
}

fn begins(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

fn is_stranger(head_bytes: &[u8]) -> bool {
    memchr::memmem::find(&head_bytes.to_ascii_lowercase(), b"dyno").is_none()
}
