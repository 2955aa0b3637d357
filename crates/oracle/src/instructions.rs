//! What is to happen to a request, by the configuration and by its own query.

use crate::answer::parameter;
use crate::delays::Delay;
use crate::faults::{Fault, Start};
use crate::request::{Head, Refusal, Status};
use crate::state::ThreadState;
use crate::xml;

/// What is to happen to a request.
pub(crate) struct Instructions {
    pub(crate) fault: Option<Fault>,
    pub(crate) drawn_ns: Option<u64>,
}

/// Combines what the configuration and the query demand for a request.
pub(crate) fn instructions(
    head: &Head<'_>,
    head_bytes: &[u8],
    is_socket: bool,
    state: &mut ThreadState,
) -> Result<Instructions, Refusal> {
    let asked = head.query.map_or(Ok((None, None)), |query| asked(query, is_socket))?;
    let fault = match asked.0 {
        Some(fault) => Some(fault),
        None => {
            let rate = state.config().fault_rate;
            let fits = |fault: &Fault| fault.fits_a_request() || is_socket && fault.fits_a_socket();
            let fault = state.config().fault.filter(fits);
            fault.filter(|_| state.dice.happens(rate))
        }
    };
    let fault = fault.filter(|fault| match fault.start {
        Start::StrangersRequest => is_stranger(head_bytes),
        Start::SocketRequest => is_socket,
        Start::Request | Start::Accept | Start::Refusing | Start::NeverAccepting => true,
    });
    let law = asked.1.or(state.config().delay);
    let drawn_ns = law.map(|law| law.draw_ns(&mut state.dice));
    if let Some(drawn_ns) = drawn_ns {
        state.books.drawn_ns.saturating_record(drawn_ns);
    }
    Ok(Instructions { fault, drawn_ns })
}

/// The fault and the delay that a query demands.
fn asked(query: &[u8], is_socket: bool) -> Result<(Option<Fault>, Option<Delay>), Refusal> {
    let bad = |why| Refusal { status: Status::BadRequest, why };
    let fault = match parameter(query, b"fault=").map(text) {
        None => None,
        Some(name) => Some(name.parse::<Fault>().map_err(|_| bad("no fault has this name"))?),
    };
    if !is_socket && fault.is_some_and(|fault| fault.fits_a_socket()) {
        return Err(bad("this fault befalls WebSockets; ask for one at /wsecho or /wspoll/1"));
    }
    if fault.is_some_and(|fault| !fault.fits_a_request() && !fault.fits_a_socket()) {
        return Err(bad("this fault befalls connections; start a server with it"));
    }
    let delay = match parameter(query, b"delay=").map(text) {
        None => None,
        Some(law) => Some(law.parse().map_err(|_| {
            bad("no such law of delays; write it like constant:5ms, uniform:1ms,9ms, \
                 exponential:5ms, lognormal:2ms,0.5 or bimodal:1ms,100ms,0.05")
        })?),
    };
    Ok((fault, delay))
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(&xml::unescaped(value, true)).into_owned()
}

fn is_stranger(head_bytes: &[u8]) -> bool {
    memchr::memmem::find(&head_bytes.to_ascii_lowercase(), b"dyno").is_none()
}
