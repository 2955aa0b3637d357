//! One place for an exchange on a connection: a stream, from its request to the end of the answer.

use std::rc::Rc;

use super::fault::H2Fault;
use super::window::Window;
use crate::ask::Ask;
use crate::expect::{BodyJudge, Mismatch};
use crate::template::{Cursor, Values};
use crate::{ExchangeId, Progress};

#[derive(Debug, Default)]
pub(super) struct Slot<'a> {
    /// 0 if no stream is under way here.
    pub(super) stream: u32,
    /// The last stream that was under way here.
    pub(super) number: u32,
    /// The last stream here whose answer ended as it should.
    pub(super) ended: u32,
    pub(super) exchange: ExchangeId,
    pub(super) ask: Option<&'a Ask>,
    pub(super) values: Values,
    pub(super) stage: Stage,
    pub(super) interims: u8,
    pub(super) status: u16,
    pub(super) mismatch: Option<Mismatch>,
    /// The fields of the answer, as they are shown.
    pub(super) head: Option<Rc<[u8]>>,
    /// What was wrong with it.
    pub(super) fault: Option<H2Fault>,
    /// What the answer says of its length.
    pub(super) length: Option<u64>,
    pub(super) body: BodyJudge,
    /// The octets of the answer's frames.
    pub(super) octets: u64,
    /// What the server may still send.
    pub(super) window_in: Window,
    /// What we may still send; below 0 if the server took something back.
    pub(super) window_out: i64,
    /// What of the request's body has not been sent, and where that begins.
    pub(super) unsent: u64,
    pub(super) sent_to: Cursor,
    /// Its body waits for the server's window.
    pub(super) is_stalled: bool,
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing of it has come.
    #[default]
    Requested,
    /// Its head has begun, or an interim one has come.
    Head,
    /// Its head is whole.
    Body,
}

impl Slot<'_> {
    pub(super) fn progress(&self) -> Progress {
        match self.stage {
            _ if self.stream == 0 => Progress::Idle,
            Stage::Requested => Progress::Requested,
            Stage::Head => Progress::Head,
            Stage::Body => Progress::Body,
        }
    }
}

/// The places of a connection: a stream's is found by its number. Where the place of a new stream is still taken, its
/// number is left out.
#[derive(Debug, Default)]
pub(super) struct Slots<'a> {
    slots: Vec<Slot<'a>>,
}

impl<'a> Slots<'a> {
    /// Makes room for this many streams at once.
    pub(super) fn grow(&mut self, streams: usize) {
        // Twice as many, so that a slow stream is seldom in the way.
        let wanted = (2 * streams).next_power_of_two();
        if wanted <= self.slots.len() {
            return;
        }
        let before = std::mem::take(&mut self.slots);
        self.slots.resize_with(wanted, Slot::default);
        for slot in before {
            // Numbers that differed in the few bits that counted differ in more.
            let stream = if slot.stream == 0 { slot.ended } else { slot.stream };
            if stream != 0 {
                let place = self.place(stream);
                self.slots[place] = slot;
            }
        }
    }

    /// The place where a stream with this number is or would be.
    pub(super) fn place(&self, stream: u32) -> usize {
        (stream / 2) as usize & (self.slots.len().wrapping_sub(1))
    }

    pub(super) fn at(&mut self, place: usize) -> &mut Slot<'a> {
        &mut self.slots[place]
    }

    /// The slot of a stream that is under way.
    pub(super) fn open(&mut self, stream: u32) -> Option<&mut Slot<'a>> {
        let place = self.place(stream);
        self.slots.get_mut(place).filter(|slot| slot.stream == stream)
    }

    /// Whether it is known that this stream's answer has ended.
    pub(super) fn has_ended(&self, stream: u32) -> bool {
        self.slots.get(self.place(stream)).is_some_and(|slot| slot.ended == stream)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Streams under way.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot<'a>> {
        self.slots.iter().filter(|slot| slot.stream != 0)
    }

    /// Streams under way, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot<'a>> {
        self.slots.iter_mut().filter(|slot| slot.stream != 0)
    }

    /// The last stream that this exchange had here.
    pub(super) fn last_of(&self, exchange: ExchangeId) -> Option<&Slot<'a>> {
        self.slots.iter().filter(|slot| slot.number != 0).find(|slot| slot.exchange == exchange)
    }
}
