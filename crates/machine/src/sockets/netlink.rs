//! The part of Netlink that dyno uses: a request, and the messages that answer it.

use std::io::{Error, ErrorKind, Result};
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// `NLM_F_REQUEST`, `NLM_F_ACK`, `NLM_F_DUMP`.
const REQUEST: u16 = 0x1;
pub(crate) const ACK: u16 = 0x4;
pub(crate) const DUMP: u16 = 0x300;

/// `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;

const HEADER: usize = 16;

/// A socket to the kernel, in the network of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Netlink {
    /// To the routing tables if `protocol` is none.
    pub(crate) fn open(protocol: Option<Protocol>) -> Result<Netlink> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
        Ok(Netlink { socket, sequence: 0, buffer: vec![0; 64 << 10] })
    }

    /// Sends a request, and passes on the bodies of the answers, up to the last one.
    pub(crate) fn ask(
        &mut self,
        kind: u16,
        flags: u16,
        body: &[u8],
        mut handle: impl FnMut(&[u8]),
    ) -> Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let len = u32::try_from(HEADER + body.len()).map_err(Error::other)?;
        let mut question = Vec::with_capacity(HEADER + body.len());
        question.extend(len.to_ne_bytes());
        question.extend(kind.to_ne_bytes());
        question.extend((REQUEST | flags).to_ne_bytes());
        question.extend(self.sequence.to_ne_bytes());
        question.extend([0; 4]);
        question.extend(body);
        send(&self.socket, &question, SendFlags::empty())?;
        loop {
            let (_, arrived) = recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
            let mut rest = self.buffer.get(..arrived).unwrap_or_default();
            while let Some(message) = Message::first(rest)? {
                rest = message.rest;
                // Left over from a request that was given up.
                if message.sequence != self.sequence {
                    continue;
                }
                match message.kind {
                    DONE => return Ok(()),
                    ERROR => return acknowledged(message.body),
                    _ => handle(message.body),
                }
            }
        }
    }
}

fn acknowledged(body: &[u8]) -> Result<()> {
    match field::<4>(body, 0).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(error) => Err(Error::from_raw_os_error(-error)),
        None => Err(ErrorKind::InvalidData.into()),
    }
}

/// Some bytes of a message, if it is long enough.
pub(crate) fn field<const LEN: usize>(body: &[u8], at: usize) -> Option<[u8; LEN]> {
    body.get(at..at + LEN)?.try_into().ok()
}

struct Message<'a> {
    kind: u16,
    sequence: u32,
    body: &'a [u8],
    rest: &'a [u8],
}

impl Message<'_> {
    fn first(bytes: &[u8]) -> Result<Option<Message<'_>>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        Message::read(bytes).map(Some).ok_or_else(|| ErrorKind::InvalidData.into())
    }

    fn read(bytes: &[u8]) -> Option<Message<'_>> {
        let len = usize::try_from(u32::from_ne_bytes(field(bytes, 0)?)).ok()?;
        let aligned = len.next_multiple_of(4).min(bytes.len());
        Some(Message {
            kind: u16::from_ne_bytes(field(bytes, 4)?),
            sequence: u32::from_ne_bytes(field(bytes, 8)?),
            body: bytes.get(HEADER..len)?,
            rest: &bytes[aligned..],
        })
    }
}
