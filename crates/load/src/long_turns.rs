//! Turns in which a lane worked for so long that it may have been kept from working.

use crate::Nanos;
use crate::pause::STILL;
use crate::tally::Still;

/// The long turns of a lane. Only the thread's own clock can say which part of them was work, and it is read when a
/// window has ended.
#[derive(Debug, Default)]
pub(crate) struct LongTurns {
    /// Wall time of those of the current window, and of the window that has ended and whose clocks are not read yet.
    lasted: Nanos,
    lasted_before: Nanos,
    /// When the turn that is under way began.
    pub(crate) awake_since: Nanos,
    /// How far long turns have been counted: a turn may go over the ends of windows.
    counted_until: Nanos,
}

impl LongTurns {
    /// The turn that is under way lasts until now at least. If that is long, what has not been counted of it belongs to
    /// the window with this stillness.
    pub(crate) fn worked(&mut self, now: Nanos, still: &mut Still) {
        if now.saturating_sub(self.awake_since) < STILL {
            return;
        }
        let more = now.saturating_sub(self.counted_until.max(self.awake_since));
        still.kept_waiting = still.kept_waiting.max(more);
        self.lasted += more;
        self.counted_until = now;
    }

    /// The current window ends.
    pub(crate) fn end_window(&mut self) {
        self.lasted_before = std::mem::take(&mut self.lasted);
    }

    /// In the window that has ended, the thread had a CPU for so long: for the rest of its long turns, it was kept from
    /// working.
    pub(crate) fn settle(&mut self, still: &mut Still, cpu: Nanos) {
        still.sum += std::mem::take(&mut self.lasted_before).saturating_sub(cpu);
        still.kept_waiting = still.kept_waiting.saturating_sub(cpu);
    }

    /// Another window has ended before the clocks were read: their values then cover both.
    pub(crate) fn hand_on(&mut self, ended: &mut Still, current: &mut Still) {
        self.lasted += std::mem::take(&mut self.lasted_before);
        let kept_waiting = std::mem::take(&mut ended.kept_waiting);
        current.kept_waiting = current.kept_waiting.max(kept_waiting);
    }
}
