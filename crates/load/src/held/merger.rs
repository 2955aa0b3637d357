//! Windows of several lanes, or of several processes, as one.

use super::HoldWindow;
use crate::Nanos;

/// Merges windows by their time, whichever lane is ahead. For windows that a lane left out, because it was not running, its
/// earlier counts are used.
#[derive(Debug)]
pub struct WindowMerger {
    width: Nanos,
    lanes: Vec<LaneProgress>,
    merged: Vec<HoldWindow>,
    shown: usize,
}

/// The progress of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct LaneProgress {
    /// All windows before this one are known.
    next: usize,
    open: u64,
    opening: u64,
}

impl WindowMerger {
    /// For windows of this length, and this many lanes.
    #[must_use]
    pub fn new(width: Nanos, lanes: usize) -> WindowMerger {
        let lanes = vec![LaneProgress::default(); lanes];
        WindowMerger { width: width.max(1), lanes, merged: Vec::new(), shown: 0 }
    }

    /// A lane's window has ended. Windows that have ended for all lanes are shown, each once.
    pub fn add(&mut self, lane: usize, window: &HoldWindow, show: &mut dyn FnMut(&HoldWindow)) {
        let place = (window.from / self.width) as usize;
        let progress = self.lanes[lane];
        for number in self.merged.len()..=place {
            let from = number as Nanos * self.width;
            self.merged.push(HoldWindow::new(from, from + self.width));
        }
        for skipped in self.merged.iter_mut().take(place).skip(progress.next) {
            skipped.open += progress.open;
            skipped.opening += progress.opening;
        }
        let merged = &mut self.merged[place];
        merged.merge(window);
        merged.until = window.until;
        self.lanes[lane] =
            LaneProgress { next: place + 1, open: window.open, opening: window.opening };
        self.show(show);
    }

    /// When the next window of a lane begins at the soonest; none if there is no such lane, or no more will come.
    pub(super) fn next(&self, lane: usize) -> Option<Nanos> {
        self.lanes
            .get(lane)?
            .next
            .try_into()
            .ok()
            .and_then(|next: Nanos| next.checked_mul(self.width))
    }

    /// No more windows of this lane will come, and its connections are gone.
    pub fn lost(&mut self, lane: usize, show: &mut dyn FnMut(&HoldWindow)) {
        self.lanes[lane].next = usize::MAX;
        self.show(show);
    }

    /// How many connections a lane had open when its last window ended.
    #[must_use]
    pub fn open(&self, lane: usize) -> u64 {
        self.lanes[lane].open
    }

    fn show(&mut self, show: &mut dyn FnMut(&HoldWindow)) {
        let whole = self.lanes.iter().map(|progress| progress.next).min();
        let whole = whole.map_or(0, |whole| whole.min(self.merged.len()));
        self.merged.iter().take(whole).skip(self.shown).for_each(show);
        self.shown = whole.max(self.shown);
    }

    #[must_use]
    pub fn into_windows(self) -> Vec<HoldWindow> {
        self.merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECOND;

    fn window(second: u64, open: u64, messages: u64) -> HoldWindow {
        let (from, until) = (second * SECOND, (second + 1) * SECOND);
        HoldWindow { open, messages, ..HoldWindow::new(from, until) }
    }

    fn seen(windows: &[HoldWindow]) -> Vec<(u64, u64, u64)> {
        windows.iter().map(|one| (one.from / SECOND, one.open, one.messages)).collect()
    }

    #[test]
    fn windows_are_merged_by_their_time_and_a_lane_that_stood_still_keeps_its_connections() {
        let mut merger = WindowMerger::new(SECOND, 2);
        let mut shown = Vec::new();
        let mut show = |window: &HoldWindow| shown.push((window.from / SECOND, window.open));
        for second in 0..4 {
            merger.add(0, &window(second, 10, 10), &mut show);
        }
        merger.add(1, &window(0, 5, 5), &mut show);
        // The lane was not running in the second and third second.
        merger.add(1, &window(3, 4, 15), &mut show);
        assert_eq!(shown, [(0, 15), (1, 15), (2, 15), (3, 14)]);
        let all = [(0, 15, 15), (1, 15, 10), (2, 15, 10), (3, 14, 25)];
        assert_eq!(seen(&merger.into_windows()), all);
    }

    #[test]
    fn a_lane_that_is_gone_is_not_waited_for() {
        let mut merger = WindowMerger::new(SECOND, 2);
        let mut shown = 0;
        merger.add(1, &window(0, 5, 5), &mut |_| shown += 1);
        merger.add(0, &window(0, 10, 10), &mut |_| shown += 1);
        merger.add(0, &window(1, 10, 10), &mut |_| shown += 1);
        assert_eq!((shown, merger.open(1)), (1, 5));
        merger.lost(1, &mut |_| shown += 1);
        merger.add(0, &window(2, 10, 10), &mut |_| shown += 1);
        assert_eq!(shown, 3);
        let all = [(0, 15, 15), (1, 10, 10), (2, 10, 10)];
        assert_eq!(seen(&merger.into_windows()), all);
    }
}
