//! What agents report of a trial, merged: by time, never averaged.

use load::{HoldOrder, Holding, LiveMerger, Order, PartSummary, Parts, Recording, WindowMerger};
use post::{Beside, CoordinatorEvent, Live, Loss, Measured, Phase, decode_whole};

use super::nanos;
use crate::carrier::Named;
use crate::carrier::child::plain;
use crate::loads::{AgentNow, Doing, LoadEvent, LostAgent};

/// What a trial's agents report.
pub(super) trait Results {
    /// Shows a window; returns what follows from it: an agent whose windows are none of this order's is lost, and a load
    /// in which nothing works is ended.
    fn window(&mut self, agent: usize, window: Live) -> Option<CoordinatorEvent>;

    /// Takes a result. An agent whose result cannot be one of this order is lost; one that is done is not waited for.
    fn result(&mut self, agent: usize, bytes: &[u8]);

    fn lost(&mut self, loss: &Loss);

    /// Shows what the agents do now.
    fn show_agents(&mut self);
}

/// The agents of a trial.
struct Agents<'w> {
    watch: &'w mut dyn FnMut(LoadEvent<'_>),
    /// What each does now.
    now: Vec<AgentNow>,
    lost: Vec<LostAgent>,
    /// When the newest window ended, nanoseconds since the trial began.
    seen: u64,
}

impl<'w> Agents<'w> {
    /// What is known of them when a trial begins.
    fn starting(
        names: &[Named],
        shares: &[(usize, usize)],
        watch: &'w mut dyn FnMut(LoadEvent<'_>),
    ) -> Agents<'w> {
        let all_lanes = shares.iter().map(|(_, lanes)| lanes).sum::<usize>().max(1) as f64;
        let now = names.iter().zip(shares).map(|(named, (_, lanes))| AgentNow {
            name: named.name.clone(),
            share: *lanes as f64 / all_lanes,
            does: Doing::Starting,
            late_p99: None,
        });
        Agents { watch, now: now.collect(), lost: Vec::new(), seen: 0 }
    }

    fn show(&mut self) {
        (self.watch)(LoadEvent::Agents(&self.now));
    }

    /// Notes and shows that one is lost, which held so many connections.
    fn lose(&mut self, loss: &Loss, open: Option<u64>) {
        let of = self.now.len();
        let agent = &mut self.now[loss.agent];
        agent.does = Doing::Lost;
        let lost = LostAgent {
            name: agent.name.clone(),
            number: loss.agent + 1,
            of,
            phase: loss.phase,
            at_ns: loss.at,
            share: agent.share,
            open,
            how: plain(&loss.how),
        };
        (self.watch)(LoadEvent::Lost(&lost));
        self.lost.push(lost);
        self.show();
    }
}

/// The results of a load.
pub(super) struct LoadResults<'w> {
    agents: Agents<'w>,
    live: LiveMerger,
    parts: Parts,
    /// What each agent saw and noticed.
    saw: Vec<Option<(PartSummary, Beside)>>,
    order: Order,
    was_given_up: bool,
}

impl<'w> LoadResults<'w> {
    pub(super) fn new(
        order: &Order,
        names: &[Named],
        shares: &[(usize, usize)],
        watch: &'w mut dyn FnMut(LoadEvent<'_>),
    ) -> LoadResults<'w> {
        LoadResults {
            live: LiveMerger::new(shares.len()),
            parts: Parts::new(order),
            saw: vec![None; shares.len()],
            agents: Agents::starting(names, shares, watch),
            order: order.clone(),
            was_given_up: false,
        }
    }

    /// What all of them recorded together, what each saw, and those that were lost.
    pub(super) fn end(self) -> LoadEnd {
        let recording = match self.parts.missing() {
            0 => self.parts.into_recording(),
            _ => self.parts.into_recording_of_some(),
        };
        let measured = recording.as_ref().map_or(0, Recording::measured);
        let mut saw = self.saw;
        saw.iter_mut().flatten().for_each(|(saw, _)| *saw = saw.of_measured(measured));
        LoadEnd { recording, saw, lost: self.agents.lost }
    }
}

impl Results for LoadResults<'_> {
    fn window(&mut self, agent: usize, window: Live) -> Option<CoordinatorEvent> {
        // A window of another kind than the order, or one that was lost and comes again when its agent is done.
        let Live::Load(window) = window else { return None };
        if self.live.has_ended(agent) {
            return None;
        }
        self.agents.now[agent].sees(&window);
        let (seen, mut was_shown) = (&mut self.agents.seen, false);
        let added = self.live.add(agent, *window, &mut |glance| {
            (*seen, was_shown) = (glance.now, true);
            (self.agents.watch)(LoadEvent::Glance(glance));
        });
        if let Err(how) = added {
            return Some(CoordinatorEvent::Gone { agent, how });
        }
        if was_shown {
            self.agents.show();
        }
        if self.was_given_up || self.live.reason_to_give_up(&self.order).is_none() {
            return None;
        }
        self.was_given_up = true;
        Some(CoordinatorEvent::Halt)
    }

    fn result(&mut self, agent: usize, bytes: &[u8]) {
        let added = match decode_whole(bytes) {
            Ok(Measured::Load(part, beside)) => {
                let saw = (part.summary(), beside);
                self.parts.add(*part).map(|()| self.saw[agent] = Some(saw))
            }
            Ok(Measured::Hold(_)) => Err("it is of held connections".into()),
            Err(error) => Err(error.to_string()),
        };
        match added {
            Ok(()) => {
                self.live.lost(agent, &mut |glance| (self.agents.watch)(LoadEvent::Glance(glance)));
            }
            Err(says) => self.lost(&wrong(agent, self.agents.seen, &says)),
        }
    }

    fn lost(&mut self, loss: &Loss) {
        self.agents.lose(loss, None);
        self.live.lost(loss.agent, &mut |glance| (self.agents.watch)(LoadEvent::Glance(glance)));
    }

    fn show_agents(&mut self) {
        self.agents.show();
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
pub(super) struct HoldResults<'w> {
    agents: Agents<'w>,
    merger: WindowMerger,
    whole: Option<Holding>,
    order: HoldOrder,
}

impl<'w> HoldResults<'w> {
    pub(super) fn new(
        order: &HoldOrder,
        names: &[Named],
        shares: &[(usize, usize)],
        watch: &'w mut dyn FnMut(LoadEvent<'_>),
    ) -> HoldResults<'w> {
        HoldResults {
            merger: WindowMerger::new(nanos(order.window), shares.len()),
            agents: Agents::starting(names, shares, watch),
            whole: None,
            order: order.clone(),
        }
    }

    pub(super) fn end(self) -> (Option<Holding>, Vec<LostAgent>) {
        let HoldResults { merger, whole, agents, .. } = self;
        (whole.map(|whole| Holding { windows: merger.into_windows(), ..whole }), agents.lost)
    }
}

impl Results for HoldResults<'_> {
    fn window(&mut self, agent: usize, window: Live) -> Option<CoordinatorEvent> {
        let Live::Hold(window) = window else { return None };
        if self.agents.now[agent].does == Doing::Lost {
            return None;
        }
        let mut was_shown = false;
        let added = self.merger.receive(&self.order, agent, &window, &mut |second| {
            was_shown = true;
            (self.agents.watch)(LoadEvent::Second(second));
        });
        if let Err(how) = added {
            return Some(CoordinatorEvent::Gone { agent, how });
        }
        self.agents.seen = self.agents.seen.max(window.until);
        self.agents.now[agent].does = Doing::Connections(window.open);
        if was_shown {
            self.agents.show();
        }
        None
    }

    fn result(&mut self, agent: usize, bytes: &[u8]) {
        let holding = match decode_whole(bytes) {
            Ok(Measured::Hold(holding)) => holding.check(&self.order).map(|()| holding),
            Ok(Measured::Load(..)) => Err("it is of a load".to_string()),
            Err(error) => Err(error.to_string()),
        };
        match holding {
            Ok(holding) => match &mut self.whole {
                Some(whole) => whole.merge(&holding),
                None => self.whole = Some(*holding),
            },
            Err(says) => self.lost(&wrong(agent, self.agents.seen, &says)),
        }
    }

    fn lost(&mut self, loss: &Loss) {
        let open = self.merger.open(loss.agent);
        self.agents.lose(loss, Some(open));
        self.merger.lost(loss.agent, &mut |second| (self.agents.watch)(LoadEvent::Second(second)));
    }

    fn show_agents(&mut self) {
        self.agents.show();
    }
}

/// A result that came whole, and is none of this order.
fn wrong(agent: usize, at: u64, says: &str) -> Loss {
    Loss { agent, phase: Phase::Report, at, how: format!("its result is wrong: {says}") }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use load::{
        Broadcast, HoldWhat, HoldWindow, LiveWindow, Load, Plateau, Ramp, SECOND, Tally, Target,
    };
    use post::encode_whole;
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
        let bytes = encode_whole(&Measured::Hold(Box::new(holding))).unwrap();
        let mut watch = |_: LoadEvent<'_>| ();
        let mut results = HoldResults::new(&order, &names(1), &[(0, 1)], &mut watch);
        results.result(0, &bytes);
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
        let mut watch = |_: LoadEvent<'_>| ();
        let mut results = HoldResults::new(&order, &names(1), &[(0, 1)], &mut watch);
        let mut come = |from: u64, open| {
            let window = HoldWindow::new(from * SECOND, (from + 1) * SECOND);
            let window = Box::new(HoldWindow { open, ..window });
            results.window(0, Live::Hold(window)).is_none()
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
        let mut watch = |_: LoadEvent<'_>| ();
        let mut results = LoadResults::new(&order, &names(2), &[(0, 1), (1, 1)], &mut watch);
        let window = |second: u64| {
            Live::Load(Box::new(LiveWindow {
                now: (second + 1) * SECOND,
                from: second * SECOND,
                is_warmup: false,
                window: Box::new(Tally::new(SECOND)),
                total: Box::new(Tally::new(SECOND)),
            }))
        };
        assert!(results.window(0, window(0)).is_none());
        // It is done; the second window was lost, and comes again.
        results.live.lost(0, &mut |_| ());
        assert!(results.window(0, window(1)).is_none());
        // The other one sends a window twice.
        assert!(results.window(1, window(0)).is_none());
        let again = results.window(1, window(0));
        assert!(matches!(again, Some(CoordinatorEvent::Gone { agent: 1, .. })), "{again:?}");
    }
}
