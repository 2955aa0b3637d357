//! The coordinator's side: it meets its agents, and then has them carry out one trial after the other.

mod advance;
mod peer;
mod trial;

use crate::clock::Sample;
use crate::host::Way;
use crate::message::{AgentFrame, CoordinatorFrame, FromAgent, Greeting, Live, Ready, ToAgent};
use crate::patience::Patience;
use crate::{MILLISECOND, Nanos, SECOND};
use peer::Peer;
pub use peer::PeerFacts;
use trial::{Stage, Trial};

/// How the coordinator treats its agents.
#[derive(Clone, Debug)]
pub struct Terms {
    pub greeting: Greeting,
    /// All agents have the machine's own clock.
    pub has_one_clock: bool,
    /// All agents must have answered, and their clocks be known, after this time.
    pub meet_within: Nanos,
    /// All agents must have taken their orders after this time.
    pub arm_within: Nanos,
    /// A load begins no sooner after all of them have.
    pub lead: Nanos,
    /// Whether the others go on when an agent is lost.
    pub goes_on: bool,
}

/// What the agents are to do.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The order of each agent, encoded.
    pub orders: Vec<Vec<u8>>,
    /// How long the load is under way, if that is known.
    pub lasts: Option<Nanos>,
    /// After its end, or after an early end, the results must be there within this time.
    pub grace: Nanos,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum CoordinatorEvent {
    /// A line of an agent came at this time.
    Heard { agent: usize, frame: Box<AgentFrame>, at: Nanos },
    /// An agent cannot be reached any more, or what it wrote cannot be read.
    Gone { agent: usize, how: String },
    /// An agent will answer later, and is waited for as long again.
    Delayed,
    /// A trial is to begin.
    Begin(Assignment),
    /// The trial is to end early.
    Halt,
    /// There will be no further trial.
    Bye,
    /// Time has passed.
    Tick,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum CoordinatorAction {
    Say {
        agent: usize,
        frame: Box<CoordinatorFrame>,
    },
    /// All agents have answered, and their clocks are known.
    Met,
    /// There will be no trial with these agents: for each that stands in the way, its place and the reason.
    NotMet(Vec<(usize, String)>),
    /// The load begins at this instant.
    Begun {
        origin: Nanos,
    },
    /// There was no load: for each agent that stands in the way, its place and the reason.
    NotBegun(Vec<(usize, String)>),
    /// There was no load, because these agents are lost: their places, and how.
    LostBefore(Vec<(usize, String)>),
    /// The next window of an agent.
    Window {
        agent: usize,
        window: Live,
    },
    /// All that an agent measured.
    Result {
        agent: usize,
        bytes: Vec<u8>,
    },
    Lost(Loss),
    /// Every agent has delivered its result, or is lost.
    Over,
}

/// An agent that was lost after the load had begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub agent: usize,
    pub phase: Phase,
    /// When that was noticed, since the load began.
    pub at: Nanos,
    pub how: String,
}

/// Where in a trial an agent was lost.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[schemars(inline)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    // The load was agreed on, and had not begun.
    Before,
    Load,
    // The load was over for this agent, and its result had not come whole.
    Report,
}

/// The state of a coordinator.
#[derive(Debug)]
pub struct Coordinator {
    run: String,
    terms: Terms,
    peers: Vec<Peer>,
    /// Until when all agents must have answered; none: they have, or it was given up.
    meeting_until: Option<Nanos>,
    trials: u64,
    trial: Option<Trial>,
    patience: Patience,
}

type Actions = Vec<CoordinatorAction>;

/// How often agents hear that the coordinator lives.
const BEAT_EVERY: Nanos = 250 * MILLISECOND;
/// What is not answered is said again.
const AGAIN: Nanos = 500 * MILLISECOND;

/// Before and after a trial, clocks are looked at for no longer: what is known then counts.
const CLOCKS_WITHIN: Nanos = 2 * SECOND;

/// An agent that has answered once, and is silent while others are still awaited, is waited for so many leases.
const LEASES_TO_MEET: Nanos = 5;

impl Coordinator {
    /// Meets this many agents. No two runs may have the same name.
    #[must_use]
    pub fn new(run: &str, agents: usize, terms: Terms, now: Nanos) -> Coordinator {
        Coordinator {
            run: run.into(),
            peers: (0..agents).map(|_| Peer::new(terms.has_one_clock, now)).collect(),
            meeting_until: Some(now + terms.meet_within),
            terms,
            trials: 0,
            trial: None,
            patience: Patience::new(now),
        }
    }

    /// What is to be done about it.
    pub fn on(&mut self, event: CoordinatorEvent, now: Nanos) -> Vec<CoordinatorAction> {
        let mut actions = Vec::new();
        match event {
            CoordinatorEvent::Heard { agent, frame, at } => {
                self.heard(agent, *frame, at, now, &mut actions);
            }
            CoordinatorEvent::Gone { agent, how } => self.lose(agent, how, now, &mut actions),
            CoordinatorEvent::Delayed => {
                let until = now + self.terms.meet_within;
                self.meeting_until = self.meeting_until.map(|_| until);
            }
            CoordinatorEvent::Begin(course) => self.begin(course, now, &mut actions),
            CoordinatorEvent::Halt => self.halt(now, &mut actions),
            CoordinatorEvent::Bye => self.say_all(&ToAgent::Bye, &mut actions),
            CoordinatorEvent::Tick => self.tick(now, &mut actions),
        }
        self.advance(now, &mut actions);
        actions
    }

    /// What is known of the agents.
    pub fn facts(&self) -> impl Iterator<Item = &PeerFacts> {
        self.peers.iter().map(|peer| &peer.facts)
    }

    fn frame(&self, agent: usize, says: ToAgent) -> CoordinatorAction {
        let meeting = match says {
            ToAgent::Hello(_) => 0,
            _ => self.peers[agent].meeting,
        };
        let frame = Box::new(CoordinatorFrame { run: self.run.clone(), meeting, says });
        CoordinatorAction::Say { agent, frame }
    }

    fn say_all(&self, says: &ToAgent, actions: &mut Actions) {
        for (agent, peer) in self.peers.iter().enumerate() {
            if peer.is_there() {
                actions.push(self.frame(agent, says.clone()));
            }
        }
    }

    fn heard(
        &mut self,
        agent: usize,
        frame: AgentFrame,
        at: Nanos,
        now: Nanos,
        actions: &mut Actions,
    ) {
        let AgentFrame { run, meeting, says } = frame;
        let Some(peer) = self.peers.get_mut(agent) else { return };
        if run != self.run || peer.loss.is_some() {
            return;
        }
        match says {
            FromAgent::Hello(host) => {
                if peer.meeting == meeting {
                    peer.heard = now;
                } else if self.meeting_until.is_some() {
                    peer.met(meeting, *host, now);
                } else {
                    let how = "it was started anew".to_string();
                    self.lose(agent, how, now, actions);
                }
            }
            FromAgent::Refused { trial: None, says } => self.lose(agent, says, now, actions),
            // A line of an earlier meeting, which was held up.
            _ if meeting != peer.meeting || meeting == 0 => {}
            says => {
                peer.heard = now;
                self.answered(agent, says, at, now, actions);
            }
        }
    }

    /// A line that is no greeting.
    fn answered(
        &mut self,
        agent: usize,
        says: FromAgent,
        at: Nanos,
        now: Nanos,
        actions: &mut Actions,
    ) {
        if let FromAgent::Pong { number, sent, heard, answered } = says {
            let sample = Sample { sent, heard, answered, came_back: at };
            self.peers[agent].pong(number, sample);
            // The next one at once: a load waits for it.
            let next = self.wants_clock().then(|| self.peers[agent].ping(now)).flatten();
            return actions.extend(next.map(|ping| self.frame(agent, ping)));
        }
        let Some(trial) = &mut self.trial else { return };
        match says {
            FromAgent::Hello(_) | FromAgent::Pong { .. } | FromAgent::Alive { .. } => {}
            FromAgent::Ack { trial: number, number: part } if number == trial.number => {
                trial.parts[agent].order.acknowledge(part);
            }
            FromAgent::Armed { trial: number, ready } if number == trial.number => {
                trial.parts[agent].is_armed = true;
                let way = ready.way.map(Way::bounded);
                self.peers[agent].facts.ready = Ready { way, ..ready };
            }
            FromAgent::Gone { trial: number, .. } if number == trial.number => {
                trial.parts[agent].is_gone = true;
            }
            FromAgent::Late { trial: number, .. } if number == trial.number => {
                trial.parts[agent].is_late = true;
            }
            FromAgent::Refused { trial: Some(number), says } if number == trial.number => {
                self.not_begun(CoordinatorAction::NotBegun(vec![(agent, says)]), actions);
            }
            FromAgent::Window { trial: of, number, oldest, window }
                if of == trial.number && trial.parts[agent].windows.take(number, oldest) =>
            {
                actions.push(CoordinatorAction::Window { agent, window });
            }
            FromAgent::Parcel { trial: number, parcel } => {
                let ack = ToAgent::Ack { trial: number, number: parcel.number };
                let taken = match number == trial.number {
                    true => trial.parcel(agent, parcel),
                    false => Ok(None),
                };
                actions.push(self.frame(agent, ack));
                match taken {
                    Ok(None) => {}
                    Ok(Some(bytes)) => actions.push(CoordinatorAction::Result { agent, bytes }),
                    Err(how) => self.lose(agent, how, now, actions),
                }
            }
            FromAgent::Failed { trial: number, says } if number == trial.number => {
                self.lose(agent, says, now, actions);
            }
            // A line of an earlier trial, which was held up.
            _ => {}
        }
    }

    fn begin(&mut self, course: Assignment, now: Nanos, actions: &mut Actions) {
        let lost = self.lost();
        if !lost.is_empty() {
            return actions.push(CoordinatorAction::LostBefore(lost));
        }
        self.trials += 1;
        self.trial = Some(Trial::new(self.trials, course, now, self.terms.arm_within));
        // Clocks drift: those of the meeting may be hours old.
        self.peers.iter_mut().for_each(Peer::forget_clock);
        self.tick(now, actions);
    }

    /// The agents that are lost, and how.
    fn lost(&self) -> Vec<(usize, String)> {
        let lost = self.peers.iter().enumerate();
        lost.filter_map(|(agent, peer)| Some((agent, peer.loss.clone()?))).collect()
    }

    fn not_begun(&mut self, why: CoordinatorAction, actions: &mut Actions) {
        let Some(trial) = self.trial.take() else { return };
        self.say_all(&ToAgent::Halt { trial: trial.number, at: None }, actions);
        actions.push(why);
    }

    fn halt(&mut self, now: Nanos, actions: &mut Actions) {
        let lead = self.lead_to_halt();
        let Some(trial) = &mut self.trial else { return };
        match trial.stage {
            Stage::Arming { .. } | Stage::Starting { .. } => {
                self.not_begun(CoordinatorAction::NotBegun(Vec::new()), actions);
            }
            Stage::Running { .. } if trial.halts_at.is_none() => {
                trial.halts_at = Some(now + lead);
                trial.halt_said = 0;
                self.say_due(now, actions);
            }
            Stage::Running { .. } | Stage::Drift { .. } => {}
        }
    }

    /// Every agent hears of an end before it is due, and so early that all lanes can end with the same window.
    fn lead_to_halt(&self) -> Nanos {
        300 * MILLISECOND + (2 * self.round_trip()).min(SECOND)
    }

    fn round_trip(&self) -> Nanos {
        let all = self.peers.iter().filter_map(|peer| peer.facts.clock);
        all.map(|clock| clock.round_trip).max().unwrap_or(0)
    }

    /// An agent is lost: before the load there will be none; in the load the others go on, or end, as the terms say.
    fn lose(&mut self, agent: usize, how: String, now: Nanos, actions: &mut Actions) {
        let Some(peer) = self.peers.get_mut(agent) else { return };
        if peer.loss.is_some() {
            return;
        }
        // If it is still there, it must not go on.
        let bye = self.frame(agent, ToAgent::Bye);
        let peer = &mut self.peers[agent];
        if 0 < peer.meeting {
            actions.push(bye);
        }
        peer.loss = Some(how.clone());
        let Some(trial) = &mut self.trial else { return };
        match trial.stage {
            Stage::Arming { .. } | Stage::Starting { .. } => {
                self.not_begun(CoordinatorAction::LostBefore(vec![(agent, how)]), actions);
            }
            Stage::Running { origin } => {
                if let Some(phase) = trial.lose(agent, origin, now) {
                    let at = now.saturating_sub(origin);
                    actions.push(CoordinatorAction::Lost(Loss { agent, phase, at, how }));
                }
                if !self.terms.goes_on {
                    self.halt(now, actions);
                }
            }
            Stage::Drift { .. } => {}
        }
    }

    fn tick(&mut self, now: Nanos, actions: &mut Actions) {
        if !self.patience.look(now) {
            let patience = match self.meeting_until {
                None => self.terms.greeting.lease,
                Some(_) => LEASES_TO_MEET * self.terms.greeting.lease,
            };
            let is_silent = |peer: &Peer| peer.is_there() && peer.heard + patience < now;
            for agent in 0..self.peers.len() {
                if is_silent(&self.peers[agent]) {
                    let how = format!("it sent nothing for {} s", patience / SECOND);
                    self.lose(agent, how, now, actions);
                }
            }
        }
        self.say_due(now, actions);
    }

    /// Says what is due to each agent: greetings, pings, orders, the end, and that the coordinator lives.
    fn say_due(&mut self, now: Nanos, actions: &mut Actions) {
        let wants_clock = self.wants_clock();
        for agent in 0..self.peers.len() {
            let mut says = Vec::new();
            let peer = &mut self.peers[agent];
            if peer.loss.is_some() {
                continue;
            }
            if self.meeting_until.is_some() && peer.greets(now) {
                says.push(ToAgent::Hello(self.terms.greeting.clone()));
            }
            if wants_clock {
                says.extend(peer.ping(now));
            }
            if let Some(trial) = &mut self.trial {
                trial.say_due(agent, peer.facts.clock.unwrap_or_default(), now, &mut says);
            }
            if peer.beats(now) {
                let (trial, windows) = self
                    .trial
                    .as_ref()
                    .map_or((0, 0), |trial| (trial.number, trial.parts[agent].windows.taken()));
                says.push(ToAgent::Beat { trial, windows });
            }
            for says in says {
                actions.push(self.frame(agent, says));
            }
        }
        if let Some(trial) = &mut self.trial {
            trial.said(now);
        }
    }

    /// Clocks are looked at when the agents are met, before each trial and after it.
    fn wants_clock(&self) -> bool {
        let is_beside =
            |trial: &Trial| matches!(trial.stage, Stage::Arming { .. } | Stage::Drift { .. });
        self.meeting_until.is_some() || self.trial.as_ref().is_some_and(is_beside)
    }
}
