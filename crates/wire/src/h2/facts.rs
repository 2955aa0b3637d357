//! What the connections of a lane count together, for a report.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use super::fault::ErrorCode;
use super::frames::Kind;
use super::heads::HeadCounts;
use super::settings::Settings;

/// Where all connections of a thread write down what they see of their servers. Clones share what is written.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Rc<RefCell<Facts>>);

impl Ledger {
    /// What was written since this was last called.
    #[must_use]
    pub fn take(&self) -> Facts {
        self.0.take()
    }

    pub(super) fn count(&self) -> RefMut<'_, Counts> {
        RefMut::map(self.0.borrow_mut(), |facts| &mut facts.counts)
    }

    pub(super) fn heads(&self) -> RefMut<'_, HeadCounts> {
        RefMut::map(self.0.borrow_mut(), |facts| &mut facts.heads)
    }

    pub(super) fn so_far(&self) -> Ref<'_, Facts> {
        self.0.borrow()
    }

    /// A server has changed its mind.
    pub(super) fn note_change(&self, settings: Settings) {
        let mut facts = self.0.borrow_mut();
        if let Some(most) = settings.max_concurrent_streams {
            facts.least_streams = Some(facts.least_streams.map_or(most, |least| least.min(most)));
        }
    }

    /// A server has introduced itself.
    pub(super) fn note(&self, settings: Settings) {
        let seen = &mut self.0.borrow_mut().settings;
        // A server that announces something else each time must not take all memory.
        let is_full = SETTINGS_MAX <= seen.len();
        match seen.iter_mut().find(|(known, _)| *known == settings) {
            Some((_, connections)) => *connections += 1,
            None if is_full => seen[SETTINGS_MAX - 1].1 += 1,
            None => seen.push((settings, 1)),
        }
    }
}

/// More different SETTINGS than these are not told apart.
pub const SETTINGS_MAX: usize = 16;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What servers announced first, and on how many connections.
    pub settings: Vec<(Settings, u64)>,
    /// The least that any announced later as the limit of streams.
    pub least_streams: Option<u32>,
    pub counts: Counts,
    pub heads: HeadCounts,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that came, by their type.
    pub frames_received: [u64; Kind::COUNT],
    /// Calls of `receive` in which an answer became whole, and answers that did: how many the server sent at once.
    pub reads_with_answers: u64,
    pub answers: u64,
    /// Connections whose end the server announced, by the code that it gave first.
    pub goaways: [u64; ErrorCode::COUNT],
    /// Streams that the server ended, by the code that it gave.
    pub resets_received: [u64; ErrorCode::COUNT],
    /// Streams that we ended, because they were given up or broken.
    pub resets_sent: u64,
    /// How often a server asked for calm on a connection on which we had ended streams.
    pub calm_after_resets: u64,
    /// Requests that the server did not touch.
    pub refused: u64,
    /// How often we gave the server more window, for a stream and for the connection.
    pub window_updates_sent: u64,
    /// How often a body had to wait for a window of the server's.
    pub stalls: u64,
}
