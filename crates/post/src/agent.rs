//! The agent's side: one meeting with one coordinator at a time, and in it one trial at a time.

mod meeting;

use load::Chance;

use crate::host::Host;
use crate::message::{AgentFrame, CoordinatorFrame, FromAgent, Greeting, Live, Ready, ToAgent};
use crate::patience::Patience;
use crate::{Nanos, SECOND};
use meeting::{Meeting, Stage, Trial};

/// No coordinator is waited for longer than this, whatever lease it asks for.
const LEASE_MAX: Nanos = 10 * SECOND;

/// What happened.
#[derive(Clone, Debug)]
pub enum AgentEvent {
    /// A line of a coordinator came at this time.
    Heard { frame: Box<CoordinatorFrame>, at: Nanos },
    /// The answer to [`AgentAction::Meet`]: what the coordinator learns of the host, or why there is no meeting.
    Met(Result<Box<Host>, String>),
    /// The answer to [`AgentAction::Check`].
    Checked(Result<Ready, String>),
    /// The load with this number has seen a window.
    Window { load: u64, window: Live },
    /// The load with this number is over, and this is its result.
    Ended { load: u64, result: Result<Vec<u8>, String> },
    /// Time has passed.
    Tick,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum AgentAction {
    Say(Box<AgentFrame>),
    /// A coordinator asks for a meeting: is anything against it? The answer is the next event.
    Meet {
        run: String,
        greeting: Greeting,
    },
    /// Can this order be carried out? The answer is the next event.
    Check {
        order: Vec<u8>,
    },
    /// Carry out the order that was checked last, from this instant on.
    Start {
        load: u64,
        origin: Nanos,
    },
    /// End the load at this instant, or as soon as possible; its result is wanted.
    Halt {
        load: u64,
        at: Option<Nanos>,
    },
    /// End the load as soon as possible; its result is not wanted.
    Stop {
        load: u64,
    },
    /// The meeting is over.
    Part,
}

/// The state of an agent.
#[derive(Debug)]
pub struct Agent {
    chance: Chance,
    meeting: Option<Meeting>,
    /// A coordinator for whose meeting the answer is awaited.
    asking: Option<(String, Greeting)>,
    /// Loads are numbered over all meetings.
    loads: u64,
    /// The load that runs, whoever ordered it.
    running: Option<u64>,
    patience: Patience,
}

type Actions = Vec<AgentAction>;

impl Agent {
    /// Meetings are numbered at random: two agents, or the same one started twice, should have other seeds.
    #[must_use]
    pub fn new(seed: u64, now: Nanos) -> Agent {
        Agent {
            chance: Chance::new(seed),
            meeting: None,
            asking: None,
            loads: 0,
            running: None,
            patience: Patience::new(now),
        }
    }

    /// Whether a coordinator has this agent.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.meeting.is_some()
    }

    /// What is to be done about it.
    pub fn on(&mut self, event: AgentEvent, now: Nanos) -> Vec<AgentAction> {
        let mut actions = Vec::new();
        match event {
            AgentEvent::Heard { frame, at } => self.heard(*frame, at, now, &mut actions),
            AgentEvent::Met(answer) => self.met(answer, now, &mut actions),
            AgentEvent::Checked(answer) => self.checked(answer, &mut actions),
            AgentEvent::Window { load, window } => self.window(load, window, now, &mut actions),
            AgentEvent::Ended { load, result } => self.ended(load, result, now, &mut actions),
            AgentEvent::Tick => self.tick(now, &mut actions),
        }
        actions
    }

    fn heard(&mut self, frame: CoordinatorFrame, at: Nanos, now: Nanos, actions: &mut Actions) {
        let CoordinatorFrame { run, meeting: number, says } = frame;
        if let ToAgent::Hello(greeting) = says {
            return self.hello(run, greeting, now, actions);
        }
        let Some(meeting) = &mut self.meeting else { return };
        // A line of another run, or of an earlier meeting, moves nothing.
        if meeting.run != run || meeting.number != number {
            return;
        }
        meeting.heard = now;
        match says {
            ToAgent::Hello(_) => {}
            ToAgent::Ping { number, sent } => {
                actions.push(meeting.says(FromAgent::Pong {
                    number,
                    sent,
                    heard: at,
                    answered: now,
                }));
            }
            ToAgent::Arm { trial } => self.arm(trial, actions),
            ToAgent::Parcel { trial, parcel } => meeting.parcel(trial, parcel, actions),
            ToAgent::Ack { trial, number } => meeting.acknowledged(trial, number, now, actions),
            ToAgent::Go { trial, origin } => self.go(trial, origin, now, actions),
            ToAgent::Halt { trial, at } => meeting.halt(trial, at, actions),
            ToAgent::Beat { trial, windows } => meeting.beat(trial, windows),
            ToAgent::Bye => self.part(actions),
        }
    }

    fn hello(&mut self, run: String, greeting: Greeting, now: Nanos, actions: &mut Actions) {
        match &self.meeting {
            Some(meeting) if meeting.run == run => actions.push(meeting.hello()),
            Some(meeting) => {
                let seconds = now.saturating_sub(meeting.since) / SECOND;
                let says = format!("it is busy with a run of {}, for {seconds} s now", meeting.by);
                actions.push(refusal(run, says));
            }
            None => {
                self.asking = Some((run.clone(), greeting.clone()));
                actions.push(AgentAction::Meet { run, greeting });
            }
        }
    }

    fn met(&mut self, answer: Result<Box<Host>, String>, now: Nanos, actions: &mut Actions) {
        let Some((run, greeting)) = self.asking.take() else { return };
        match answer {
            Err(says) => actions.push(refusal(run, says)),
            Ok(host) => {
                let number = self.chance.draw().max(1);
                let lease = greeting.lease.min(LEASE_MAX);
                let meeting = Meeting::new(run, number, greeting.by, lease, *host, now);
                actions.push(meeting.hello());
                self.meeting = Some(meeting);
            }
        }
    }

    fn arm(&mut self, number: u64, actions: &mut Actions) {
        let Some(meeting) = &mut self.meeting else { return };
        if meeting.trial.as_ref().is_some_and(|trial| trial.number == number) {
            return meeting.say_stage(actions);
        }
        if number <= meeting.last_trial {
            return;
        }
        // A load that still runs is not wanted any more: the order is taken when it has ended, as it is repeated.
        if self.running.is_some() {
            return meeting.stop(actions);
        }
        meeting.last_trial = number;
        meeting.trial = Some(Trial::new(number));
    }

    fn checked(&mut self, answer: Result<Ready, String>, actions: &mut Actions) {
        let Some(meeting) = &mut self.meeting else { return };
        let Some(trial) = meeting.trial.as_mut().filter(|trial| trial.is_checking()) else {
            return;
        };
        trial.stage = match answer {
            Ok(ready) => Stage::Armed(ready),
            Err(says) => Stage::Refused(says),
        };
        meeting.say_stage(actions);
    }

    fn go(&mut self, number: u64, origin: Nanos, now: Nanos, actions: &mut Actions) {
        let Some(meeting) = &mut self.meeting else { return };
        let Some(trial) = meeting.trial.as_mut().filter(|trial| trial.number == number) else {
            return;
        };
        match trial.stage {
            Stage::Armed(_) if origin <= now => {
                let by = now - origin;
                actions.push(meeting.says(FromAgent::Late { trial: number, by }));
            }
            Stage::Armed(_) if self.running.is_none() => {
                self.loads += 1;
                self.running = Some(self.loads);
                trial.stage = Stage::Going { load: self.loads, origin };
                actions.push(AgentAction::Start { load: self.loads, origin });
                actions.push(meeting.says(FromAgent::Gone { trial: number, origin }));
            }
            Stage::Going { origin, .. } => {
                actions.push(meeting.says(FromAgent::Gone { trial: number, origin }));
            }
            _ => {}
        }
    }

    fn window(&mut self, load: u64, window: Live, now: Nanos, actions: &mut Actions) {
        let Some(meeting) = &mut self.meeting else { return };
        if meeting.is_going(load) {
            meeting.window(window, now, actions);
        }
    }

    fn ended(
        &mut self,
        load: u64,
        result: Result<Vec<u8>, String>,
        now: Nanos,
        actions: &mut Actions,
    ) {
        if self.running == Some(load) {
            self.running = None;
        }
        let Some(meeting) = &mut self.meeting else { return };
        if meeting.is_going(load) {
            meeting.ended(result, now, actions);
        }
    }

    fn tick(&mut self, now: Nanos, actions: &mut Actions) {
        let is_patient = self.patience.look(now);
        let Some(meeting) = &mut self.meeting else { return };
        if !is_patient && meeting.heard + meeting.lease < now {
            return self.part(actions);
        }
        meeting.tick(now, actions);
    }

    /// The coordinator has gone: nothing that it ordered goes on.
    fn part(&mut self, actions: &mut Actions) {
        self.meeting = None;
        actions.extend(self.running.map(|load| AgentAction::Stop { load }));
        actions.push(AgentAction::Part);
    }
}

/// To a coordinator that is not met.
fn refusal(run: String, says: String) -> AgentAction {
    let says = FromAgent::Refused { trial: None, says };
    AgentAction::Say(Box::new(AgentFrame { run, meeting: 0, says }))
}
