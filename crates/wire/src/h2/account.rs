//! What can be said of a stream that failed, or of the connection that it was on, for a report that shows the failure.

use std::rc::Rc;

use super::H2;
use super::fault::{FrameFault, H2Fault};
use super::frames::FrameHead;
use crate::ExchangeId;

/// How an exchange went that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Its stream, if it was sent.
    pub stream: Option<u32>,
    /// The fields of the answer, one a line, as far as there is one.
    pub head: Option<Rc<[u8]>>,
    /// The octets of the answer's body that came.
    pub body: u64,
    /// What was wrong, in words, where its class says less.
    pub reason: Option<String>,
    /// What the server began with, if that was no frame of HTTP/2.
    pub instead: Vec<u8>,
}

/// Why a connection is of no more use.
#[derive(Debug)]
pub(super) struct End {
    fault: H2Fault,
    /// The frame that broke a rule, and the beginning of its payload; or of what came instead of one.
    frame: Option<FrameHead>,
    payload: Vec<u8>,
}

/// So much is kept of a frame that broke a rule.
const PAYLOAD_KEPT: usize = 256;
/// So much of that is shown in a sentence.
const PAYLOAD_SHOWN: usize = 32;

impl End {
    /// By a frame.
    pub(super) fn by(fault: H2Fault, head: FrameHead, payload: &[u8]) -> End {
        End { frame: Some(head), ..End::said(fault, payload) }
    }

    /// By the server's decision, with these words.
    pub(super) fn said(fault: H2Fault, words: &[u8]) -> End {
        let payload = words[..words.len().min(PAYLOAD_KEPT)].to_vec();
        End { fault, frame: None, payload }
    }

    /// Where no frame is known: what came is kept if it is no HTTP/2.
    pub(super) fn broken(fault: H2Fault, bytes: &[u8]) -> End {
        let is_foreign = fault == FrameFault::Preface.into();
        End::said(fault, if is_foreign { bytes } else { &[] })
    }

    fn reason(&self) -> Option<String> {
        let reason = self.fault.reason()?;
        let shown = self.payload[..self.payload.len().min(PAYLOAD_SHOWN)].escape_ascii();
        let more = if PAYLOAD_SHOWN < self.payload.len() { " …" } else { "" };
        Some(match self.frame {
            Some(head) if self.payload.is_empty() => format!("{reason} ({head})"),
            Some(head) => format!("{reason} ({head}: {shown}{more})"),
            None if self.payload.is_empty() || self.is_foreign() => reason,
            None => format!("{reason}; it says: {}", self.payload.escape_ascii()),
        })
    }

    fn is_foreign(&self) -> bool {
        self.fault == FrameFault::Preface.into()
    }
}

impl H2<'_> {
    /// What is known of this exchange; its stream may have ended with the bytes that came last.
    pub(super) fn account_of(&self, exchange: ExchangeId) -> Account {
        let slot = self.slots.last_of(exchange);
        let own = slot.and_then(|slot| slot.fault).and_then(H2Fault::reason);
        let end = self.end.as_ref();
        let instead = end.filter(|end| end.is_foreign()).map(|end| end.payload.clone());
        Account {
            stream: slot.map(|slot| slot.number),
            head: slot.and_then(|slot| slot.head.clone()),
            body: slot.map_or(0, |slot| slot.body.received()),
            reason: own.or_else(|| end.and_then(|end| end.reason())),
            instead: instead.unwrap_or_default(),
        }
    }
}

/// Writes a field on a line of its own. A character that would end the line, or is none, is escaped.
pub(super) fn push_field(name: &[u8], value: &[u8], output: &mut Vec<u8>) {
    for &byte in name.iter().chain(b": ").chain(value) {
        match byte {
            0..0x20 | 0x7f => output.extend(byte.escape_ascii()),
            _ => output.push(byte),
        }
    }
    output.push(b'\n');
}
