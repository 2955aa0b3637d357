//! What agents report of a trial, merged: by time, never averaged.

use load::{
    HoldOrder, HoldWindow, Holding, LiveMerger, LiveWindow, Order, PartSummary, Parts, Recording,
    WindowMerger,
};
use post::{Beside, CoordinatorEvent, Loss, Measured, Phase, decode_measured};

use super::{lost_agent, nanos};
use crate::carrier::Named;
use crate::loads::{AgentNow, Doing, HoldEvent, LoadEvent, LostAgent};

/// The agents of a trial.
struct Agents {
    /// For each: its first lane, and how many it has.
    shares: Vec<(usize, usize)>,
    /// What each does now.
    now: Vec<AgentNow>,
    lost: Vec<LostAgent>,
    /// When the newest window ended, nanoseconds since the trial began.
    seen: u64,
}

impl Agents {
    /// What is known of them when a trial begins.
    fn starting(names: &[Named], shares: Vec<(usize, usize)>) -> Agents {
        let all_lanes = shares.iter().map(|(_, lanes)| lanes).sum::<usize>().max(1) as f64;
        let now = names.iter().zip(&shares).map(|(named, (_, lanes))| AgentNow {
            name: named.name.clone(),
            share: *lanes as f64 / all_lanes,
            does: Doing::Starting,
            late_p99: None,
        });
        let now = now.collect();
        Agents { shares, now, lost: Vec::new(), seen: 0 }
    }

    /// Notes that one is lost, which held so many connections; returns how.
    fn lose(&mut self, names: &[Named], loss: &Loss, open: Option<u64>) -> &LostAgent {
        self.now[loss.agent].does = Doing::Lost;
        self.lost.push(lost_agent(names, &self.shares, loss, open));
        &self.lost[self.lost.len() - 1]
    }
}

/// The results of a load.
pub(super) struct LoadResults {
    agents: Agents,
    live: LiveMerger,
    parts: Parts,
    /// What each agent saw and noticed.
    saw: Vec<Option<(PartSummary, Beside)>>,
    order: Order,
    was_given_up: bool,
}

impl LoadResults {
    pub(super) fn new(order: &Order, names: &[Named], shares: Vec<(usize, usize)>) -> LoadResults {
        LoadResults {
            live: LiveMerger::new(shares.len()),
            parts: Parts::new(order),
            saw: vec![None; shares.len()],
            agents: Agents::starting(names, shares),
            order: order.clone(),
            was_given_up: false,
        }
    }

    /// Shows a window; returns what follows from it: an agent whose windows are none is lost, and a load in which nothing
    /// works is ended.
    pub(super) fn window(
        &mut self,
        agent: usize,
        window: LiveWindow,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Option<CoordinatorEvent> {
        // A window that was lost comes again, and its agent may be done by then.
        if self.live.has_ended(agent) {
            return None;
        }
        self.agents.now[agent].sees(&window);
        let (seen, mut was_shown) = (&mut self.agents.seen, false);
        let added = self.live.add(agent, window, &mut |glance| {
            (*seen, was_shown) = (glance.now, true);
            watch(LoadEvent::Glance(glance));
        });
        if let Err(how) = added {
            return Some(CoordinatorEvent::Gone { agent, how });
        }
        if was_shown {
            self.show_agents(watch);
        }
        if self.was_given_up || self.live.reason_to_give_up(&self.order).is_none() {
            return None;
        }
        self.was_given_up = true;
        Some(CoordinatorEvent::Halt)
    }

    /// Takes a result. An agent whose result cannot be one of this order is lost; one that is done is not waited for.
    pub(super) fn result(
        &mut self,
        names: &[Named],
        agent: usize,
        bytes: &[u8],
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) {
        let added = match decode_measured(bytes) {
            Ok(Measured::Load(part, beside)) => {
                let saw = (part.summary(), beside);
                self.parts.add(*part).map(|()| self.saw[agent] = Some(saw))
            }
            Ok(Measured::Hold(_)) => Err("it is of held connections".into()),
            Err(error) => Err(error.to_string()),
        };
        match added {
            Ok(()) => self.live.lost(agent, &mut |glance| watch(LoadEvent::Glance(glance))),
            Err(says) => self.lost(names, &wrong(agent, self.agents.seen, &says), watch),
        }
    }

    pub(super) fn lost(
        &mut self,
        names: &[Named],
        loss: &Loss,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) {
        watch(LoadEvent::Lost(self.agents.lose(names, loss, None)));
        self.show_agents(watch);
        self.live.lost(loss.agent, &mut |glance| watch(LoadEvent::Glance(glance)));
    }

    /// Nothing has happened.
    pub(super) fn show_agents(&self, watch: &mut dyn FnMut(LoadEvent<'_>)) {
        watch(LoadEvent::Agents(&self.agents.now));
    }

    /// What all of them recorded together, what each saw, and those that were lost.
    pub(super) fn end(self) -> LoadEnd {
        let recording = match self.parts.missing() {
            0 => self.parts.into_recording(),
            _ => self.parts.into_recording_of_some(),
        };
        let measured = recording.as_ref().map_or(0, Recording::measured);
        let mut saw = self.saw;
        saw.iter_mut().flatten().for_each(|(saw, _)| saw.measured = measured);
        LoadEnd { recording, saw, lost: self.agents.lost }
    }
}

/// A load that is over.
pub(super) struct LoadEnd {
    pub(super) recording: Option<Recording>,
    /// What each agent saw and noticed; none of one that was lost.
    pub(super) saw: Vec<Option<(PartSummary, Beside)>>,
    pub(super) lost: Vec<LostAgent>,
}

/// The results of held connections.
pub(super) struct HoldResults {
    agents: Agents,
    merger: WindowMerger,
    whole: Option<Holding>,
    order: HoldOrder,
}

impl HoldResults {
    pub(super) fn new(
        order: &HoldOrder,
        names: &[Named],
        shares: Vec<(usize, usize)>,
    ) -> HoldResults {
        HoldResults {
            merger: WindowMerger::new(nanos(order.window), shares.len()),
            agents: Agents::starting(names, shares),
            whole: None,
            order: order.clone(),
        }
    }

    pub(super) fn window(
        &mut self,
        agent: usize,
        window: &HoldWindow,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) -> Option<CoordinatorEvent> {
        if self.agents.now[agent].does == Doing::Lost {
            return None;
        }
        let mut was_shown = false;
        let added = self.merger.receive(&self.order, agent, window, &mut |second| {
            was_shown = true;
            watch(HoldEvent::Second(second));
        });
        if let Err(how) = added {
            return Some(CoordinatorEvent::Gone { agent, how });
        }
        self.agents.seen = self.agents.seen.max(window.until);
        self.agents.now[agent].does = Doing::Connections(window.open);
        if was_shown {
            self.show_agents(watch);
        }
        None
    }

    /// Takes a result. An agent whose result cannot be one of this order is lost.
    pub(super) fn result(
        &mut self,
        names: &[Named],
        agent: usize,
        bytes: &[u8],
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) {
        let says = match decode_measured(bytes) {
            Ok(Measured::Hold(holding)) => match holding.check(&self.order) {
                Ok(()) => {
                    match &mut self.whole {
                        Some(whole) => whole.merge(&holding),
                        None => self.whole = Some(*holding),
                    }
                    return;
                }
                Err(says) => says,
            },
            Ok(Measured::Load(..)) => "it is of a load".to_string(),
            Err(error) => error.to_string(),
        };
        self.lost(names, &wrong(agent, self.agents.seen, &says), watch);
    }

    pub(super) fn lost(
        &mut self,
        names: &[Named],
        loss: &Loss,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) {
        let open = self.merger.open(loss.agent);
        watch(HoldEvent::Lost(self.agents.lose(names, loss, Some(open))));
        self.show_agents(watch);
        self.merger.lost(loss.agent, &mut |second| watch(HoldEvent::Second(second)));
    }

    /// Nothing has happened.
    pub(super) fn show_agents(&self, watch: &mut dyn FnMut(HoldEvent<'_>)) {
        watch(HoldEvent::Agents(&self.agents.now));
    }

    pub(super) fn end(self) -> (Option<Holding>, Vec<LostAgent>) {
        let HoldResults { merger, whole, agents, .. } = self;
        (whole.map(|whole| Holding { windows: merger.into_windows(), ..whole }), agents.lost)
    }
}

/// A result that came whole, and is none of this order.
fn wrong(agent: usize, at: u64, says: &str) -> Loss {
    Loss { agent, phase: Phase::Report, at, how: format!("its result is wrong: {says}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use load::{Broadcast, HoldWhat, Load, Plateau, Ramp, SECOND, Tally, Target};
    use post::encode_measured;
    use wire::{Ask, Asks, Expect};

    use super::*;

    fn order() -> Order {
        let request = wire::Request::get("h", "/");
        let asks = Asks::one(Ask::new(&request, Expect::default()).unwrap());
        let target = Target::Tcp("127.0.0.1:1".parse().unwrap());
        Order::new(target, asks, Load::Closed { connections: 2 })
    }

    fn hold_order() -> HoldOrder {
        let (every, settle) = (Duration::from_secs(10), Duration::from_secs(1));
        let ramp = Ramp { connections: 20, step: 10, every, per_second: 100.0, settle };
        let what = HoldWhat::Socket { ask: wire::socket_ask("h", "/", &[]).unwrap() };
        HoldOrder::new(Target::Tcp("127.0.0.1:1".parse().unwrap()), what, ramp)
    }

    /// What comes of such a result: the reason why its agent is lost, if it is.
    fn taken(change: fn(&mut Holding)) -> Option<String> {
        let order = hold_order();
        let step = |number| Plateau { times: order.ramp.plateau(number), ..Plateau::default() };
        let plateaus = vec![step(0), step(1)];
        let closed_at = order.ramp.end();
        let mut holding = Holding { plateaus, windows: Vec::new(), closed_at, was_halted: false };
        change(&mut holding);
        let bytes = encode_measured(&Measured::Hold(Box::new(holding))).unwrap();
        let mut results = HoldResults::new(&order, &names(1), vec![(0, 1)]);
        results.result(&names(1), 0, &bytes, &mut |_| ());
        results.end().1.pop().map(|lost| lost.how)
    }

    #[test]
    fn a_result_that_cannot_be_of_the_order_costs_its_agent() {
        assert_eq!(taken(|_| ()), None);
        let refused = |change, says: &str| {
            let how = taken(change).unwrap();
            assert!(how.contains(says), "{how}");
        };
        refused(|it| it.plateaus.swap(0, 1), "other times");
        refused(|it| it.plateaus[1].begun = u64::MAX, "too many");
        let backwards = |it: &mut Holding| {
            let one = Broadcast { first: 2, last: 1, received: 2 };
            it.plateaus[0].broadcasts.insert(1, one);
        };
        refused(backwards, "received last before it was received first");
    }

    #[test]
    fn a_second_that_comes_again_or_lies_beyond_the_ramp_is_refused() {
        let order = hold_order();
        let mut results = HoldResults::new(&order, &names(1), vec![(0, 1)]);
        let mut come = |from: u64, open| {
            let window = HoldWindow::new(from * SECOND, (from + 1) * SECOND);
            results.window(0, &HoldWindow { open, ..window }, &mut |_| ()).is_none()
        };
        assert!(come(0, 1) && come(2, 1));
        assert!(!come(2, 1) && !come(1, 1) && !come(1 << 33, 1) && !come(3, u64::MAX));
        assert!(come(3, 1));
    }

    fn names(agents: usize) -> Vec<Named> {
        (0..agents).map(|agent| Named { name: format!("a{agent}"), cpus: Vec::new() }).collect()
    }

    #[test]
    fn a_window_that_comes_after_the_result_is_no_fault_of_the_agent() {
        let order = order();
        let mut results = LoadResults::new(&order, &names(2), vec![(0, 1), (1, 1)]);
        let window = |second: u64| LiveWindow {
            now: (second + 1) * SECOND,
            from: second * SECOND,
            is_warmup: false,
            window: Box::new(Tally::new(SECOND)),
            total: Box::new(Tally::new(SECOND)),
        };
        let mut watch = |_: LoadEvent<'_>| ();
        assert!(results.window(0, window(0), &mut watch).is_none());
        // It is done; the second window was lost, and comes again.
        results.live.lost(0, &mut |_| ());
        assert!(results.window(0, window(1), &mut watch).is_none());
        // The other one sends a window twice.
        assert!(results.window(1, window(0), &mut watch).is_none());
        let again = results.window(1, window(0), &mut watch);
        assert!(matches!(again, Some(CoordinatorEvent::Gone { agent: 1, .. })), "{again:?}");
    }
}
