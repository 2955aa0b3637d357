//! Whether what another process says of the connections that it holds can be so. Nothing of it is believed: no figure may
//! be so large that sums overflow, and none may lie at a time that was not ordered.

use super::tally::LONGEST;
use super::{Broadcast, Echoes, HoldOrder, HoldWindow, Holding, Plateau, WholeBeats, WindowMerger};
use crate::Nanos;
use crate::bounds::{BROADCASTS_MAX, INSTANT_MAX};
use crate::distribution::Folded;
use crate::order::nanos;
use crate::part::{
    BYTES_MAX, Bounds, COUNT_MAX, check_distribution, check_folded, check_security, check_still,
    no_more, true_or,
};

impl Holding {
    /// Says why no figure can be computed of this: it holds what no lanes record. Anybody may have written it.
    pub fn check_bounds(&self) -> Result<(), String> {
        let bounds = Bounds { longest: None, times: INSTANT_MAX };
        no_more("end", &[self.closed_at], INSTANT_MAX)?;
        self.plateaus.iter().try_for_each(|plateau| {
            let times = plateau.times;
            no_more(
                "a step's times",
                &[times.from, times.measured_from, times.until],
                INSTANT_MAX,
            )?;
            let is_right = times.from <= times.measured_from && times.measured_from <= times.until;
            true_or(is_right, "a step ends before it begins")?;
            check_plateau(plateau, bounds)
        })?;
        self.windows.iter().try_for_each(|window| {
            true_or(window.from < window.until, "a window ends before it begins")?;
            no_more("a window's end", &[window.until], INSTANT_MAX)?;
            no_more("a window's messages", &[window.messages], COUNT_MAX)?;
            no_more("a window's octets", &[window.bytes], BYTES_MAX)?;
            [&window.open_after, &window.late]
                .into_iter()
                .try_for_each(|it| check_folded(it, bounds))
        })
    }

    /// Says why this cannot be what the lanes of this order have recorded.
    pub fn check(&self, order: &HoldOrder) -> Result<(), String> {
        let times = INSTANT_MAX.saturating_mul(order.lanes as u64);
        let bounds = Bounds { longest: Some(LONGEST), times };
        no_more("end", &[self.closed_at], INSTANT_MAX)?;
        true_or(self.windows.is_empty(), "windows come one by one")?;
        true_or(self.plateaus.len() <= order.ramp.plateaus(), "it has more steps than ordered")?;
        self.plateaus.iter().enumerate().try_for_each(|(number, plateau)| {
            true_or(plateau.times == order.ramp.plateau(number), "a step has other times")?;
            check_plateau(plateau, bounds)
        })
    }
}

fn check_plateau(plateau: &Plateau, bounds: Bounds) -> Result<(), String> {
    let counts = [
        plateau.begun,
        plateau.begun_again,
        plateau.opened,
        plateau.open,
        plateau.opening,
        plateau.silent,
        plateau.messages,
        plateau.stamped,
    ];
    no_more("counts", &counts, COUNT_MAX)?;
    no_more("failures", &plateau.failed, COUNT_MAX)?;
    no_more("losses", &plateau.lost, COUNT_MAX)?;
    no_more("octets", &[plateau.bytes], BYTES_MAX)?;
    no_more("times", &[plateau.cpu], bounds.times)?;
    no_more("measured time", &[plateau.measured], INSTANT_MAX)?;
    check_still(plateau.still, bounds.times)?;
    let WholeBeats { lasted, messages } =
        plateau.whole.unwrap_or(WholeBeats { lasted: 0, messages: 0 });
    no_more("whole intervals", &[lasted, messages], COUNT_MAX)?;
    let Plateau { connect, agree, late, gap, own, .. } = plateau;
    for distribution in [connect, agree, late, gap, own, &plateau.echoes.response] {
        check_distribution(distribution, bounds)?;
    }
    plateau.security.as_deref().map_or(Ok(()), |security| check_security(security, bounds))?;
    let Echoes { due, blocked, correct, failed, under_way, response: _ } = plateau.echoes;
    no_more("echoes", &[due, blocked, correct, failed, under_way], COUNT_MAX)?;
    let is_little = plateau.broadcasts.len() as u64 <= BROADCASTS_MAX;
    true_or(is_little, "there are too many broadcasts")?;
    plateau.broadcasts.values().try_for_each(|broadcast| {
        let Broadcast { first, last, received } = *broadcast;
        true_or(first <= last, "a broadcast was received last before it was received first")?;
        no_more("broadcasts", &[received], COUNT_MAX)
    })
}

impl WindowMerger {
    /// Adds a window as [`WindowMerger::add`] does that comes from another process: it is refused, with a reason, if it
    /// cannot be the next one of that process.
    pub fn receive(
        &mut self,
        order: &HoldOrder,
        process: usize,
        window: &HoldWindow,
        show: &mut dyn FnMut(&HoldWindow),
    ) -> Result<(), String> {
        let width = nanos(order.window).max(1);
        let is_next = self.next(process).is_some_and(|next| next <= window.from);
        let is_in_time = window.from.is_multiple_of(width)
            && window.from < order.ramp.end()
            && (window.from..=window.from + width).contains(&window.until);
        true_or(is_next && is_in_time, "a window lies where none may be")?;
        let counts = [
            window.open,
            window.opening,
            window.begun,
            window.opened,
            window.failed,
            window.lost,
            window.messages,
        ];
        no_more("a window's counts", &counts, COUNT_MAX)?;
        no_more("a window's octets", &[window.bytes], BYTES_MAX)?;
        for folded in [&window.open_after, &window.late] {
            check_window_values(folded)?;
        }
        self.add(process, window, show);
        Ok(())
    }
}

fn check_window_values(folded: &Folded) -> Result<(), String> {
    check_folded(folded, Bounds { longest: Some(LONGEST), times: Nanos::MAX })
}
