//! How a server shows that it is alive.

use std::time::Duration;

use crate::case::Case;
use crate::exchange::{Patience, exchange};
use crate::h2;
use crate::script::{Rule, Step};
use crate::target::Target;
use crate::ws::OPEN;

/// What a live server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pulse {
    /// It answers a plain GET with success.
    Page,
    /// It opens WebSockets. Many servers that do nothing else have no page: they answer a plain GET with 400 or 426.
    Socket,
    /// It answers a plain GET over HTTP/2 with success.
    Http2,
}

const PAGE: Case = Case {
    steps: &[Step::Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: close\r\n\r\n")],
    pass: &[Rule::Ok],
    ..Case::BLANK
};
const SOCKET: Case = Case { steps: &[OPEN], pass: &[Rule::Opened], ..Case::BLANK };

impl Pulse {
    /// The pulse that the server has; none if it is not there.
    pub(crate) fn find(target: &Target, wait: Duration) -> Option<Pulse> {
        if target.is_http2 {
            return [Pulse::Http2; 2].into_iter().find(|pulse| pulse.beats(target, wait));
        }
        let has_socket = target.socket.is_some();
        let socket = has_socket.then_some(Pulse::Socket);
        let wanted = [Some(Pulse::Page), socket, Some(Pulse::Page)];
        wanted.into_iter().flatten().find(|pulse| pulse.beats(target, wait))
    }

    /// Whether the server is there now.
    pub(crate) fn beats(self, target: &Target, wait: Duration) -> bool {
        let case = match self {
            Pulse::Page => &PAGE,
            Pulse::Socket => &SOCKET,
            Pulse::Http2 => &h2::PAGE,
        };
        let (settle, announced) = (Duration::ZERO, Duration::ZERO);
        let patience = Patience { connect: wait, answer: wait, settle, announced };
        case.pass[0].holds(&exchange(case, target, "/", &patience))
    }

    /// What is missing when it is gone.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Pulse::Page | Pulse::Http2 => "a plain GET was not answered any more",
            Pulse::Socket => "a handshake was not answered any more",
        }
    }
}
