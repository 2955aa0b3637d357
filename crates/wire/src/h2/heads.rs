//! Reads the heads of answers, most of which are like one before: equal octets mean the same fields, so long as the
//! table that they refer to has not changed, and are not decoded again.
//!
//! Some servers insert the same fields into the table with every answer and never refer to them. Such insertions are
//! only counted, and made before the next block that must be decoded. So what is reported is exact, always. A debug
//! build decodes every block all the same, and compares.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::account::push_field;
use super::answer::{Head, check_trailers, read_head};
use super::facts::Ledger;
use super::fault::H2Fault;
use super::hpack::{DEFAULT_SIZE, Decoder, Effect, HpackFault};
use crate::ask::Ask;
use crate::expect::Mismatch;
use crate::fault::WireFault;
use crate::file_rule::Delivery;
use crate::h1::Limits;
use crate::template::Values;

/// The decoding side of one connection.
#[derive(Debug)]
pub(super) struct Heads<'a> {
    decoder: Decoder,
    /// Grows with each change of the table, those that are pending included.
    version: u64,
    memos: [Option<Memo<'a>>; MEMOS],
    /// Which memo is replaced next.
    oldest: usize,
    /// Which memo's insertions are still to be made, and how often.
    pending: Option<(usize, usize)>,
    ledger: Ledger,
    #[cfg(debug_assertions)]
    shadow: Decoder,
}

/// How large the heads of answers were, and how many of them were not decoded.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct HeadCounts {
    /// blocks of header fields that came
    #[serde(rename = "field_blocks")]
    pub blocks: u64,
    /// Those whose meaning was known from an equal one: no property of the server's, and kept nowhere.
    #[serde(skip)]
    pub known: u64,
    /// their octets as they came
    #[serde(rename = "field_bytes")]
    pub octets: u64,
    /// their octets uncompressed, and 32 more for each field, as RFC 9113, 6.5.2 counts them
    #[serde(rename = "field_list_bytes")]
    pub list_octets: u64,
}

impl HeadCounts {
    pub fn merge(&mut self, other: HeadCounts) {
        self.blocks += other.blocks;
        self.known += other.known;
        self.octets += other.octets;
        self.list_octets += other.list_octets;
    }

    fn add(&mut self, octets: usize, effect: Effect, is_known: bool) {
        self.blocks += 1;
        self.known += u64::from(is_known);
        self.octets += octets as u64;
        self.list_octets += effect.list_size as u64;
    }
}

/// A block, and what it meant.
#[derive(Debug)]
struct Memo<'a> {
    block: Vec<u8>,
    effect: Effect,
    /// The table's version that its references are about.
    version: u64,
    status: u16,
    length: Option<u64>,
    /// Its fields, as they are shown.
    shown: Rc<[u8]>,
    /// The request whose rules it was held against, if they are the same for all requests of the kind.
    judged: Option<(&'a Ask, Option<Mismatch>)>,
}

/// What a head means, and its fields as they are shown.
type Known = (Result<Head, H2Fault>, Rc<[u8]>);

const MEMOS: usize = 4;
/// A larger block is decoded each time.
const BLOCK_MAX: usize = 512;
/// So much is shown of a head.
const SHOWN_MAX: usize = 2 << 10;

impl<'a> Heads<'a> {
    pub(super) fn new(ledger: Ledger) -> Heads<'a> {
        Heads {
            decoder: Decoder::new(DEFAULT_SIZE),
            version: 0,
            memos: [const { None }; MEMOS],
            oldest: 0,
            pending: None,
            ledger,
            #[cfg(debug_assertions)]
            shadow: Decoder::new(DEFAULT_SIZE),
        }
    }

    /// Reads the head of an answer to this request, and returns its fields as they are shown, too. The outer error is the
    /// connection's, the inner one the answer's.
    pub(super) fn read(
        &mut self,
        block: &[u8],
        ask: &'a Ask,
        values: Values,
        limits: &Limits,
    ) -> Result<Known, HpackFault> {
        #[cfg(debug_assertions)]
        let shadow = self.shadow.decode(block, limits.head);
        if let Some((place, head, shown)) = self.recall(block, ask) {
            #[cfg(debug_assertions)]
            {
                shadow.expect("an equal block could be decoded");
                let fields = self.shadow.fields();
                debug_assert_eq!(Ok(head), read_head(&fields, ask, values, limits), "{block:?}");
            }
            self.repeat(place);
            return Ok((Ok(head), shown));
        }
        let effect = self.decode(block, limits)?;
        let shown = self.shown_after(None);
        if effect.is_too_large {
            return Ok((Err(WireFault::HeadTooLarge.into()), shown));
        }
        let head = read_head(&self.decoder.fields(), ask, values, limits);
        if let Ok(head) = head {
            self.remember(block, effect, head, &shown, ask);
        }
        Ok((head, shown))
    }

    /// The fields that were read last, as they are shown, after others.
    pub(super) fn shown_after(&self, others: Option<&[u8]>) -> Rc<[u8]> {
        let mut shown = others.map_or(Vec::new(), |others| [others, b"\n"].concat());
        for (name, value) in self.decoder.fields() {
            push_field(name, value, &mut shown);
            if SHOWN_MAX < shown.len() {
                shown.truncate(SHOWN_MAX);
                break;
            }
        }
        shown.into()
    }

    /// Reads the trailers of an answer.
    pub(super) fn read_trailers(
        &mut self,
        block: &[u8],
        limits: &Limits,
    ) -> Result<Result<(), H2Fault>, HpackFault> {
        let effect = self.skip(block, limits)?;
        if effect.is_too_large {
            return Ok(Err(WireFault::HeadTooLarge.into()));
        }
        Ok(check_trailers(self.decoder.fields(), limits))
    }

    /// Reads a block that no stream waits for: the table must know of it.
    pub(super) fn skip(&mut self, block: &[u8], limits: &Limits) -> Result<Effect, HpackFault> {
        #[cfg(debug_assertions)]
        let _ = self.shadow.decode(block, limits.head);
        self.decode(block, limits)
    }

    /// The memo of an equal block that means the same now, and what it means for this request.
    fn recall(&self, block: &[u8], ask: &Ask) -> Option<(usize, Head, Rc<[u8]>)> {
        let place = self.memos.iter().position(|memo| {
            memo.as_ref().is_some_and(|memo| {
                memo.block == block && (!memo.effect.refers || memo.version == self.version)
            })
        })?;
        let memo = self.memos[place].as_ref()?;
        let mismatch = if !ask.expect.status.allows(memo.status) {
            Some(Mismatch::Status)
        } else if ask.expect.judges_status_alone() {
            None
        } else {
            memo.judged.filter(|(judged, _)| std::ptr::eq(*judged, ask))?.1
        };
        // What is remembered announces no file.
        let delivery = Delivery::default();
        let head = Head { status: memo.status, length: memo.length, mismatch, delivery };
        Some((place, head, Rc::clone(&memo.shown)))
    }

    /// Counts the insertions of an equal block.
    fn repeat(&mut self, place: usize) {
        let Some(memo) = &self.memos[place] else { return };
        self.ledger.heads().add(memo.block.len(), memo.effect, true);
        if memo.effect.inserted == 0 {
            return;
        }
        self.version += 1;
        // Once they have filled the table, more of the same leave it as it is.
        let enough = DEFAULT_SIZE / memo.effect.inserted + 2;
        match &mut self.pending {
            Some((pending, times)) if *pending == place => *times = enough.min(*times + 1),
            _ => {
                self.catch_up();
                self.pending = Some((place, 1));
            }
        }
    }

    /// Makes the insertions that are pending.
    fn catch_up(&mut self) {
        let Some((place, times)) = self.pending.take() else { return };
        let Some(memo) = &self.memos[place] else { return };
        for _ in 0..times {
            // It was decoded before, and depends on nothing.
            let again = self.decoder.decode(&memo.block, usize::MAX);
            debug_assert_eq!(again, Ok(memo.effect));
        }
    }

    fn decode(&mut self, block: &[u8], limits: &Limits) -> Result<Effect, HpackFault> {
        self.catch_up();
        let effect = self.decoder.decode(block, limits.head)?;
        self.ledger.heads().add(block.len(), effect, false);
        if 0 < effect.inserted || effect.resized {
            self.version += 1;
        }
        #[cfg(debug_assertions)]
        debug_assert!(self.decoder.agrees_with(&self.shadow), "{block:?}");
        Ok(effect)
    }

    fn remember(
        &mut self,
        block: &[u8],
        effect: Effect,
        head: Head,
        shown: &Rc<[u8]>,
        ask: &'a Ask,
    ) {
        // Such a block never means the same twice.
        let changes_what_it_means = effect.resized || (effect.refers && 0 < effect.inserted);
        if changes_what_it_means || BLOCK_MAX < block.len() {
            return;
        }
        // The same octets may have been kept with another meaning, or for another request.
        let is_outdated = |memo: &Option<Memo<'_>>| matches!(memo, Some(m) if m.block == block);
        let place = self.memos.iter().position(is_outdated).unwrap_or(self.oldest);
        if place == self.oldest {
            self.oldest = (self.oldest + 1) % MEMOS;
        }
        let mut kept = self.memos[place].take().map_or_else(Vec::new, |memo| memo.block);
        kept.clear();
        kept.extend_from_slice(block);
        self.memos[place] = Some(Memo {
            block: kept,
            effect,
            version: self.version,
            status: head.status,
            length: head.length,
            shown: Rc::clone(shown),
            judged: ask.expect.judges_all_alike().then_some((ask, head.mismatch)),
        });
    }
}
