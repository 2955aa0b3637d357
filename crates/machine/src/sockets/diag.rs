//! TCP sockets by sock_diag(7): the kernel returns only those of one port.

use std::io::Result;

use rustix::net::netlink::SOCK_DIAG;

use super::netlink::{DUMP, Netlink, field};
use super::{Side, Socket, State};

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `INET_DIAG_REQ_BYTECODE`, an attribute.
const BYTECODE: u16 = 1;
/// `INET_DIAG_BC_S_GE`, `_S_LE`, `_D_GE`, `_D_LE`: this side's port, and the other side's.
const LOCAL: [u8; 2] = [2, 3];
const REMOTE: [u8; 2] = [4, 5];
const IPPROTO_TCP: u8 = 6;
const FAMILIES: [u8; 2] = [2, 10];

/// A socket for queries about sockets.
#[derive(Debug)]
pub(crate) struct Diag {
    netlink: Netlink,
}

impl Diag {
    /// In the network of the calling thread, for as long as it lives.
    pub(crate) fn open() -> Result<Diag> {
        Ok(Diag { netlink: Netlink::open(Some(SOCK_DIAG))? })
    }

    /// Every socket, of these states, with this port on that side.
    pub(crate) fn sockets(&mut self, port: u16, side: Side, state: State) -> Result<Vec<Socket>> {
        let mut found = Vec::new();
        for family in FAMILIES {
            let question = question(family, port, side, state);
            self.netlink.ask(BY_FAMILY, DUMP, &question, |answer| found.extend(read(answer)))?;
        }
        Ok(found)
    }
}

/// An `inet_diag_req_v2` and a filter.
fn question(family: u8, port: u16, side: Side, state: State) -> Vec<u8> {
    let states = match state {
        State::Listening => 1_u32 << Socket::LISTEN,
        State::Any => u32::MAX,
    };
    let mut question = vec![family, IPPROTO_TCP, 0, 0];
    question.extend(states.to_ne_bytes());
    question.extend([0; 48]);
    let [at_least, at_most] = match side {
        Side::Local => LOCAL,
        Side::Remote => REMOTE,
    };
    // Two comparisons, of two words each: an operation with the jumps for yes and no, and the
    // port. A jump to four bytes beyond the end means: not this one.
    let word = |code: u8, yes: u8, no: u16| {
        let [low, high] = no.to_ne_bytes();
        [code, yes, low, high]
    };
    let filter =
        [word(at_least, 8, 20), word(0, 0, port), word(at_most, 8, 12), word(0, 0, port)].concat();
    question.extend((4 + filter.len() as u16).to_ne_bytes());
    question.extend(BYTECODE.to_ne_bytes());
    question.extend(filter);
    question
}

/// An `inet_diag_msg`.
fn read(answer: &[u8]) -> Option<Socket> {
    let word = |at| Some(u32::from_ne_bytes(field(answer, at)?));
    Some(Socket {
        state: *answer.get(1)?,
        local_port: u16::from_be_bytes(field(answer, 4)?),
        remote_port: u16::from_be_bytes(field(answer, 6)?),
        waiting: word(56)?,
        backlog: Some(word(60)?),
        inode: u64::from(word(68)?),
    })
}
