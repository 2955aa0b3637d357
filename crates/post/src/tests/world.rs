//! The world: clocks that differ, a network that fails, agents and coordinators that end. It knows what each agent
//! really does, and checks it at every step.

use std::collections::{BTreeMap, BTreeSet};

use load::{Chance, HoldWindow};

use super::network::through_the_codec;
pub(super) use super::network::{Faults, Network};
use super::place::{Place, Running};
use crate::{
    Agent, AgentAction, AgentEvent, AgentFrame, Assignment, Coordinator, CoordinatorAction,
    CoordinatorEvent, CoordinatorFrame, Live, MILLISECOND, Nanos, Ready, SECOND,
};

pub(super) const LEASE: Nanos = 2 * SECOND;
const TICK: Nanos = 50 * MILLISECOND;
/// A load that is stopped sends nothing more, and is over this much later.
const DRAIN: Nanos = 400 * MILLISECOND;
const END: Nanos = 400 * SECOND;
/// When a world begins.
pub(super) const START: Nanos = 4_000 * SECOND;
/// Where clocks drift, there is so much time between two trials. They are apart by 40 ms more after it.
const PAUSE: Nanos = 400 * SECOND;
/// A drifting clock gains less than this while a trial is under way, or is prepared.
const DRIFT_MAX: Nanos = 2 * MILLISECOND;

#[derive(Clone, Debug)]
enum Happening {
    ToAgent {
        agent: usize,
        frame: Box<CoordinatorFrame>,
    },
    ToCoordinator {
        era: u32,
        agent: usize,
        frame: Box<AgentFrame>,
    },
    AgentGone {
        era: u32,
        agent: usize,
    },
    AgentTick {
        agent: usize,
    },
    CoordinatorTick {
        era: u32,
    },
    /// A load's next moment: a window, or its end.
    Load {
        agent: usize,
        life: u32,
        load: u64,
    },
    AgentEnds {
        agent: usize,
    },
    AgentStarts {
        agent: usize,
    },
    CoordinatorEnds,
    CoordinatorStarts,
    Halt {
        era: u32,
    },
    Begin {
        era: u32,
    },
}

pub(super) struct World {
    chance: Chance,
    network: Network,
    faults: Faults,
    now: Nanos,
    queue: BTreeMap<(Nanos, u64), Happening>,
    numbered: u64,
    places: Vec<Place>,
    coordinator: Option<Coordinator>,
    /// How many coordinators there were.
    era: u32,
    trial: u32,
    /// Of the trial: results by agent, windows by agent, lost agents.
    results: BTreeMap<usize, Vec<u8>>,
    seen: BTreeMap<usize, u64>,
    gone: BTreeSet<usize>,
    /// When the last coordinator ended without a word.
    ended: Option<(Nanos, String)>,
    pub(super) wanted: u32,
    pub(super) kept: u32,
    pub(super) lost: u32,
    /// Trials that did not begin, and meetings that did not come about.
    pub(super) in_vain: u32,
}

impl World {
    pub(super) fn new(seed: u64, faults: Faults) -> World {
        let mut chance = Chance::new(seed);
        let agents = 1 + chance.below(4);
        let network = Network::new(agents, faults, &mut chance);
        let mut world = World {
            places: (0..agents).map(|_| Place::new(&mut chance, faults.drifts)).collect(),
            chance,
            network,
            faults,
            now: START,
            queue: BTreeMap::new(),
            numbered: 0,
            coordinator: None,
            era: 0,
            trial: 0,
            results: BTreeMap::new(),
            seen: BTreeMap::new(),
            gone: BTreeSet::new(),
            ended: None,
            wanted: 3,
            kept: 0,
            lost: 0,
            in_vain: 0,
        };
        world.plan();
        world
    }

    fn plan(&mut self) {
        for agent in 0..self.places.len() {
            self.after(0, Happening::AgentStarts { agent });
            if self.faults.ends_agents {
                let at = self.chance.draw() % (25 * SECOND);
                self.after(at, Happening::AgentEnds { agent });
            }
        }
        self.after(MILLISECOND, Happening::CoordinatorStarts);
        if self.faults.ends_coordinators {
            let at = self.chance.draw() % (15 * SECOND);
            self.after(at, Happening::CoordinatorEnds);
        }
    }

    fn after(&mut self, delay: Nanos, happening: Happening) {
        self.numbered += 1;
        self.queue.insert((self.now + delay, self.numbered), happening);
    }

    pub(super) fn run(mut self) -> World {
        let pauses = if self.faults.drifts { u64::from(self.wanted) * PAUSE } else { 0 };
        let end = self.now + END + pauses;
        while let Some(((at, _), happening)) = self.queue.pop_first()
            && at < end
        {
            self.now = at;
            self.happen(happening);
            self.places.iter().for_each(|place| place.check(self.now, self.ended.as_ref()));
        }
        for place in &self.places {
            assert!(place.loads.is_empty(), "a load still runs at the end");
            assert!(!place.agent.as_ref().is_some_and(Agent::is_met), "an agent waits for ever");
        }
        self
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::ToAgent { agent, frame } => {
                let frame = through_the_codec(&*frame);
                let (run, at) = (frame.run.clone(), self.clock_of(agent));
                self.places[agent].heard.insert(run, self.now);
                self.agent(agent, AgentEvent::Heard { frame, at });
            }
            Happening::ToCoordinator { era, agent, frame } if era == self.era => {
                let (frame, at) = (through_the_codec(&*frame), self.now);
                self.coordinator(CoordinatorEvent::Heard { agent, frame, at });
            }
            Happening::AgentGone { era, agent } if era == self.era => {
                self.coordinator(CoordinatorEvent::Gone { agent, how: "it ended".into() });
            }
            Happening::AgentTick { agent } => {
                self.agent(agent, AgentEvent::Tick);
                self.after(TICK, Happening::AgentTick { agent });
            }
            Happening::CoordinatorTick { era } if era == self.era && self.coordinator.is_some() => {
                self.coordinator(CoordinatorEvent::Tick);
                self.after(TICK, Happening::CoordinatorTick { era });
            }
            Happening::Load { agent, life, load } if life == self.places[agent].life => {
                self.move_load(agent, load);
            }
            Happening::AgentEnds { agent } => self.end_agent(agent),
            Happening::AgentStarts { agent } => {
                let (seed, now) = (self.chance.draw(), self.clock_of(agent));
                self.places[agent].agent = Some(Agent::new(seed, now));
                if self.places[agent].life == 0 {
                    self.after(TICK, Happening::AgentTick { agent });
                }
            }
            Happening::CoordinatorEnds => {
                self.ended = Some((self.now, run_name(self.era)));
                self.end_coordinator();
            }
            Happening::CoordinatorStarts => self.start_coordinator(),
            Happening::Halt { era } if era == self.era => self.coordinator(CoordinatorEvent::Halt),
            Happening::Begin { era } if era == self.era => self.begin(),
            _ => {}
        }
    }

    fn clock_of(&self, agent: usize) -> Nanos {
        self.now.saturating_add_signed(self.places[agent].ahead(self.now))
    }

    /// The process ends: its load with it, and its carrier may say so.
    fn end_agent(&mut self, agent: usize) {
        let place = &mut self.places[agent];
        (place.agent, place.life) = (None, place.life + 1);
        place.loads.clear();
        if self.chance.unit() < 0.5 {
            self.after(5 * MILLISECOND, Happening::AgentGone { era: self.era, agent });
        }
        let again = self.chance.draw() % (6 * SECOND);
        self.after(again, Happening::AgentStarts { agent });
    }

    fn start_coordinator(&mut self) {
        self.era += 1;
        let terms = super::terms(self.chance.unit() < 0.5);
        let agents = self.places.len();
        self.coordinator = Some(Coordinator::new(&run_name(self.era), agents, terms, self.now));
        self.after(0, Happening::CoordinatorTick { era: self.era });
    }

    /// Another one comes a little later, unless all is done.
    fn end_coordinator(&mut self) {
        if self.coordinator.take().is_some() && self.era < 4 && self.kept < self.wanted {
            let pause = self.chance.draw() % (4 * SECOND);
            self.after(pause, Happening::CoordinatorStarts);
        }
        self.era += 1;
    }

    fn coordinator(&mut self, event: CoordinatorEvent) {
        let Some(coordinator) = &mut self.coordinator else { return };
        for action in coordinator.on(event, self.now) {
            self.act(action);
        }
    }

    fn act(&mut self, action: CoordinatorAction) {
        match action {
            CoordinatorAction::Say { agent, frame } => {
                for at in self.network.carry(agent, false, self.now, &mut self.chance) {
                    let frame = frame.clone();
                    self.after(at - self.now, Happening::ToAgent { agent, frame });
                }
            }
            CoordinatorAction::Met => self.begin(),
            // It was asked to end before the load began.
            CoordinatorAction::NotBegun(reasons) if reasons.is_empty() => self.begin(),
            CoordinatorAction::NotMet(reasons)
            | CoordinatorAction::NotBegun(reasons)
            | CoordinatorAction::LostBefore(reasons) => {
                assert!(
                    reasons
                        .iter()
                        .all(|(agent, says)| { *agent < self.places.len() && !says.is_empty() })
                );
                self.in_vain += 1;
                self.end_coordinator();
            }
            CoordinatorAction::Begun { origin } => self.begun(origin),
            CoordinatorAction::Window { agent, window } => {
                let Live::Hold(window) = window else { panic!("of another kind") };
                let next = self.seen.entry(agent).or_default();
                assert!(*next <= window.from / SECOND, "a window came twice");
                *next = window.from / SECOND + 1;
            }
            CoordinatorAction::Result { agent, bytes } => {
                assert!(self.results.insert(agent, bytes).is_none(), "a result came twice");
            }
            CoordinatorAction::Lost(loss) => {
                assert!(self.gone.insert(loss.agent), "an agent was lost twice");
            }
            CoordinatorAction::Over => self.over(),
        }
    }

    fn begin(&mut self) {
        self.trial += 1;
        (self.results, self.seen, self.gone) = Default::default();
        // Now and then an order takes several parts.
        let length = if self.chance.below(200) == 0 { 1_200_000 } else { 8 };
        let order = |agent| [order_text(self.era, self.trial, agent), vec![b' '; length]].concat();
        let orders = (0..self.places.len()).map(order).collect();
        let course = Assignment { orders, lasts: Some(3 * SECOND), grace: 20 * SECOND };
        if self.chance.unit() < 0.3 {
            let at = self.chance.draw() % (4 * SECOND);
            self.after(at, Happening::Halt { era: self.era });
        }
        self.coordinator(CoordinatorEvent::Begin(course));
    }

    /// All agents begin at one instant, as exactly as their clocks are known.
    fn begun(&mut self, origin: Nanos) {
        let Some(coordinator) = &self.coordinator else { return };
        for (agent, facts) in coordinator.facts().enumerate() {
            let text = order_text(self.era, self.trial, agent);
            let error = facts.clock.expect("they have met").error();
            for load in self.places[agent].loads.values() {
                if load.order.starts_with(&text) {
                    let apart = load.origin.abs_diff(origin);
                    assert!(apart <= error + DRIFT_MAX, "{agent} begins {apart} ns apart");
                }
            }
        }
    }

    fn over(&mut self) {
        let all = self.results.keys().chain(&self.gone).copied().collect::<BTreeSet<_>>();
        assert_eq!(all.len(), self.places.len(), "each agent has a result or is lost");
        assert_eq!(self.results.len() + self.gone.len(), self.places.len());
        for (agent, bytes) in &self.results {
            let text = order_text(self.era, self.trial, *agent);
            assert!(bytes.starts_with(&text), "a result of another trial or share");
        }
        self.check_drift();
        self.lost += self.gone.len() as u32;
        if self.gone.is_empty() {
            self.kept += 1;
        }
        if self.kept < self.wanted && self.faults.drifts {
            self.after(PAUSE, Happening::Begin { era: self.era });
        } else if self.kept < self.wanted {
            self.begin();
        } else {
            self.coordinator(CoordinatorEvent::Bye);
            self.end_coordinator();
        }
    }

    /// A clock's drift is that of the trial, whatever it was before.
    fn check_drift(&self) {
        let Some(coordinator) = &self.coordinator else { return };
        for (agent, facts) in coordinator.facts().enumerate() {
            let Some((before, after)) = facts.clock.zip(facts.clock_after) else { continue };
            let drift = after.offset.abs_diff(before.offset);
            let error = before.error() + after.error();
            assert!(drift <= error + DRIFT_MAX, "{agent} drifted {drift} ns");
        }
    }

    fn agent(&mut self, agent: usize, event: AgentEvent) {
        let now = self.clock_of(agent);
        let Some(state) = &mut self.places[agent].agent else { return };
        for action in state.on(event, now) {
            self.obey(agent, action);
        }
    }

    fn obey(&mut self, agent: usize, action: AgentAction) {
        let now = self.now;
        match action {
            AgentAction::Say(frame) => {
                for at in self.network.carry(agent, true, now, &mut self.chance) {
                    let (era, frame) = (self.era, frame.clone());
                    self.after(at - now, Happening::ToCoordinator { era, agent, frame });
                }
            }
            AgentAction::Meet { .. } => self.agent(agent, AgentEvent::Met(Ok(Box::default()))),
            AgentAction::Check { order } => {
                self.places[agent].order = order;
                let is_refused = self.faults.ends_agents && self.chance.unit() < 0.02;
                let answer = if is_refused { Err("no".into()) } else { Ok(Ready::default()) };
                self.agent(agent, AgentEvent::Checked(answer));
            }
            AgentAction::Start { load, origin } => self.start_load(agent, load, origin),
            AgentAction::Halt { load, at } => {
                let place = &mut self.places[agent];
                let at = at.map_or(now, |at| at.saturating_add_signed(-place.ahead(now)));
                if let Some(running) = place.loads.get_mut(&load) {
                    running.until = running.until.min(at.max(now));
                    let life = place.life;
                    let left = at.saturating_sub(now);
                    self.after(left, Happening::Load { agent, life, load });
                }
            }
            AgentAction::Stop { load } => {
                let place = &mut self.places[agent];
                if let Some(running) = place.loads.get_mut(&load) {
                    (running.until, running.is_wanted) = (now, false);
                    let life = place.life;
                    self.after(DRAIN, Happening::Load { agent, life, load });
                }
            }
            AgentAction::Part => {}
        }
    }

    fn start_load(&mut self, agent: usize, load: u64, origin: Nanos) {
        let place = &mut self.places[agent];
        assert!(place.loads.is_empty(), "two loads on one agent");
        let order = place.order.clone();
        let run = String::from_utf8_lossy(&order).split('/').next().unwrap().to_string();
        let origin = origin.saturating_add_signed(-place.ahead(self.now));
        let until = origin + 3 * SECOND;
        let running = Running { order, run, origin, until, is_wanted: true, windows: 0 };
        place.loads.insert(load, running);
        let life = place.life;
        self.after(origin.saturating_sub(self.now), Happening::Load { agent, life, load });
    }

    /// A window has passed, or it is over.
    fn move_load(&mut self, agent: usize, load: u64) {
        let now = self.now;
        let place = &mut self.places[agent];
        let Some(running) = place.loads.get_mut(&load) else { return };
        if running.until <= now {
            if running.is_wanted || running.until + DRAIN <= now {
                let result = Ok(place.loads.remove(&load).map(|load| load.order).unwrap());
                self.agent(agent, AgentEvent::Ended { load, result });
            }
            return;
        }
        let window = HoldWindow::new(running.windows * SECOND, (running.windows + 1) * SECOND);
        running.windows += 1;
        let (life, next) = (place.life, (now + SECOND).min(running.until));
        self.after(next - now, Happening::Load { agent, life, load });
        self.agent(agent, AgentEvent::Window { load, window: Live::Hold(Box::new(window)) });
    }
}

fn run_name(era: u32) -> String {
    format!("run {era}")
}

fn order_text(era: u32, trial: u32, agent: usize) -> Vec<u8> {
    format!("{}/{trial}/{agent};", run_name(era)).into_bytes()
}
