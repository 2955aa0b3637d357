//! What agents report of a trial, merged: by time, never averaged.

use load::{
    HoldOrder, HoldWindow, Holding, LiveMerger, LiveWindow, Order, PartSummary, Parts, Recording, SECOND,
    WindowMerger,
};
use post::{Beside, Loss, Measured, Phase, decode_measured};

use super::lost_agent;
use crate::carrier::Named;
use crate::loads::{HoldEvent, LoadEvent, LostAgent};

/// Those of a load.
pub(super) struct LoadResults {
    shares: Vec<(usize, usize)>,
    live: LiveMerger,
    parts: Parts,
    /// What each agent saw and noticed.
    saw: Vec<Option<(PartSummary, Beside)>>,
    lost: Vec<LostAgent>,
    /// When the newest window began, nanoseconds since the load began.
    seen: u64,
}

impl LoadResults {
    pub(super) fn new(order: &Order, shares: Vec<(usize, usize)>) -> LoadResults {
        LoadResults {
            live: LiveMerger::new(shares.len()),
            parts: Parts::new(order),
            saw: vec![None; shares.len()],
            shares,
            lost: Vec::new(),
            seen: 0,
        }
    }

    pub(super) fn window(
        &mut self,
        agent: usize,
        window: LiveWindow,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) {
        let seen = &mut self.seen;
        // A window that cannot be is not shown; the result is judged by itself.
        let _ = self.live.add(agent, window, &mut |glance| {
            *seen = glance.now;
            watch(LoadEvent::Glance(glance));
        });
    }

    /// Takes a result; returns the loss, if it cannot be one of this order.
    pub(super) fn result(
        &mut self,
        names: &[Named],
        agent: usize,
        bytes: &[u8],
    ) -> Option<&LostAgent> {
        let added = match decode_measured(bytes) {
            Ok(Measured::Load(part, beside)) => {
                let saw = (part.summary(), beside);
                self.parts.add(*part).map(|()| self.saw[agent] = Some(saw))
            }
            Ok(Measured::Hold(_)) => Err("it is of held connections".into()),
            Err(error) => Err(error.to_string()),
        };
        let says = added.err()?;
        let loss = wrong(agent, self.seen, &says);
        self.lost.push(lost_agent(names, &self.shares, &loss, None));
        self.lost.last()
    }

    pub(super) fn lost(
        &mut self,
        names: &[Named],
        loss: &Loss,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) {
        let lost = lost_agent(names, &self.shares, loss, None);
        watch(LoadEvent::Lost(&lost));
        self.lost.push(lost);
        self.live.lost(loss.agent, &mut |glance| watch(LoadEvent::Glance(glance)));
    }

    /// What all of them recorded together, what each saw, and those that were lost.
    pub(super) fn end(self) -> (Option<Recording>, Vec<Option<(PartSummary, Beside)>>, Vec<LostAgent>) {
        (self.parts.into_recording(), self.saw, self.lost)
    }
}

/// Those of held connections.
pub(super) struct HoldResults {
    shares: Vec<(usize, usize)>,
    merger: WindowMerger,
    whole: Option<Holding>,
    lost: Vec<LostAgent>,
    /// No window of the ramp begins later.
    latest: u64,
    seen: u64,
}

impl HoldResults {
    pub(super) fn new(order: &HoldOrder, shares: Vec<(usize, usize)>) -> HoldResults {
        HoldResults {
            merger: WindowMerger::new(SECOND, shares.len()),
            shares,
            whole: None,
            lost: Vec::new(),
            latest: order.ramp.end().saturating_add(60 * SECOND),
            seen: 0,
        }
    }

    pub(super) fn window(
        &mut self,
        agent: usize,
        window: &HoldWindow,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) {
        // A window of a time that the ramp has not would take memory for all before it.
        if self.latest < window.from || window.until < window.from {
            return;
        }
        self.seen = self.seen.max(window.until);
        self.merger.add(agent, window, &mut |second| watch(HoldEvent::Second(second)));
    }

    /// Takes a result; returns the loss, if it cannot be one of this order.
    pub(super) fn result(
        &mut self,
        names: &[Named],
        agent: usize,
        bytes: &[u8],
    ) -> Option<&LostAgent> {
        let says = match decode_measured(bytes) {
            Ok(Measured::Hold(holding)) => {
                match &mut self.whole {
                    Some(whole) => whole.merge(&holding),
                    None => self.whole = Some(*holding),
                }
                return None;
            }
            Ok(Measured::Load(..)) => "it is of a load".to_string(),
            Err(error) => error.to_string(),
        };
        let open = self.merger.open(agent);
        let loss = wrong(agent, self.seen, &says);
        self.lost.push(lost_agent(names, &self.shares, &loss, Some(open)));
        self.lost.last()
    }

    pub(super) fn lost(
        &mut self,
        names: &[Named],
        loss: &Loss,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) {
        let open = self.merger.open(loss.agent);
        let lost = lost_agent(names, &self.shares, loss, Some(open));
        watch(HoldEvent::Lost(&lost));
        self.lost.push(lost);
        self.merger.lost(loss.agent, &mut |second| watch(HoldEvent::Second(second)));
    }

    pub(super) fn end(self) -> (Option<Holding>, Vec<LostAgent>) {
        let HoldResults { merger, whole, lost, .. } = self;
        (whole.map(|whole| Holding { windows: merger.into_windows(), ..whole }), lost)
    }
}

/// A result that came whole, and is none of this order.
fn wrong(agent: usize, at: u64, says: &str) -> Loss {
    Loss { agent, phase: Phase::Report, at, how: format!("its result is wrong: {says}") }
}
