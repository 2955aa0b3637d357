//! A meeting of an agent with a coordinator, and the trial that it has of it.

use crate::host::Host;
use crate::message::{AgentFrame, FromAgent, Live, Ready};
use crate::parcel::{Inbox, ORDER_MAX, Outbox, Parcel};
use crate::stream::WindowsOut;
use crate::{MILLISECOND, Nanos};

use super::{Actions, AgentAction};

/// How often an agent says that it lives.
const ALIVE_EVERY: Nanos = 500 * MILLISECOND;

#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) run: String,
    pub(super) number: u64,
    /// Who has the agent, and since when.
    pub(super) by: String,
    pub(super) since: Nanos,
    pub(super) lease: Nanos,
    /// When the coordinator was heard last.
    pub(super) heard: Nanos,
    host: Host,
    /// No trial up to this one is taken any more.
    pub(super) last_trial: u64,
    pub(super) trial: Option<Trial>,
    /// When the agent said last that it lives.
    said: Nanos,
}

/// What the agent has of a trial.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) number: u64,
    pub(super) stage: Stage,
    windows: WindowsOut,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The order is coming.
    Arming(Inbox),
    Checking,
    Armed(Ready),
    Refused(String),
    Going {
        load: u64,
        origin: Nanos,
    },
    Delivering(Outbox),
    Failed(String),
    Delivered,
}

impl Trial {
    pub(super) fn new(number: u64) -> Trial {
        let stage = Stage::Arming(Inbox::new(ORDER_MAX));
        Trial { number, stage, windows: WindowsOut::default() }
    }

    pub(super) fn is_checking(&self) -> bool {
        matches!(self.stage, Stage::Checking)
    }
}

impl Meeting {
    pub(super) fn new(
        run: String,
        number: u64,
        by: String,
        lease: Nanos,
        host: Host,
        now: Nanos,
    ) -> Meeting {
        Meeting {
            run,
            number,
            by,
            since: now,
            lease,
            heard: now,
            host,
            last_trial: 0,
            trial: None,
            said: now,
        }
    }

    pub(super) fn says(&self, says: FromAgent) -> AgentAction {
        let frame = AgentFrame { run: self.run.clone(), meeting: self.number, says };
        AgentAction::Say(Box::new(frame))
    }

    pub(super) fn hello(&self) -> AgentAction {
        self.says(FromAgent::Hello(Box::new(self.host.clone())))
    }

    /// The trial's stage, where a coordinator may wait for it.
    pub(super) fn say_stage(&self, actions: &mut Actions) {
        let Some(trial) = &self.trial else { return };
        let number = trial.number;
        let says = match &trial.stage {
            Stage::Armed(ready) => FromAgent::Armed { trial: number, ready: ready.clone() },
            Stage::Refused(says) => FromAgent::Refused { trial: Some(number), says: says.clone() },
            Stage::Failed(says) => FromAgent::Failed { trial: number, says: says.clone() },
            Stage::Arming(_)
            | Stage::Checking
            | Stage::Going { .. }
            | Stage::Delivering(_)
            | Stage::Delivered => return,
        };
        actions.push(self.says(says));
    }

    /// A part of the order. It is acknowledged even if it was here before: that may have been lost.
    pub(super) fn parcel(&mut self, number: u64, parcel: Parcel, actions: &mut Actions) {
        let Some(trial) = self.trial.as_mut().filter(|trial| trial.number == number) else {
            return;
        };
        let ack = FromAgent::Ack { trial: number, number: parcel.number };
        let Stage::Arming(inbox) = &mut trial.stage else {
            return actions.push(self.says(ack));
        };
        match inbox.take(parcel) {
            Ok(None) => actions.push(self.says(ack)),
            Ok(Some(order)) => {
                trial.stage = Stage::Checking;
                actions.push(self.says(ack));
                actions.push(AgentAction::Check { order });
            }
            Err(says) => {
                trial.stage = Stage::Refused(format!("the order did not come whole: {says}"));
                self.say_stage(actions);
            }
        }
    }

    pub(super) fn acknowledged(
        &mut self,
        number: u64,
        part: u32,
        now: Nanos,
        actions: &mut Actions,
    ) {
        let Some(trial) = self.trial.as_mut().filter(|trial| trial.number == number) else {
            return;
        };
        if let Stage::Delivering(outbox) = &mut trial.stage {
            outbox.acknowledge(part);
            if outbox.is_done() {
                trial.stage = Stage::Delivered;
            }
        }
        self.deliver(now, actions);
    }

    /// A trial of which nothing was sent is forgotten, even one whose order has not come yet.
    pub(super) fn halt(&mut self, number: u64, at: Option<Nanos>, actions: &mut Actions) {
        if let Some(trial) = self.trial.as_ref().filter(|trial| trial.number == number) {
            match trial.stage {
                Stage::Going { load, .. } => actions.push(AgentAction::Halt { load, at }),
                Stage::Delivering(_) | Stage::Failed(_) => {}
                _ => self.trial = None,
            }
        }
        self.last_trial = self.last_trial.max(number);
    }

    /// Ends the trial's load; what it measured is not wanted.
    pub(super) fn stop(&mut self, actions: &mut Actions) {
        if let Some(Trial { stage: Stage::Going { load, .. }, .. }) = self.trial {
            actions.push(AgentAction::Stop { load });
            self.trial = None;
        }
    }

    pub(super) fn beat(&mut self, number: u64, windows: u64) {
        if let Some(trial) = self.trial.as_mut().filter(|trial| trial.number == number) {
            trial.windows.taken(windows);
        }
    }

    pub(super) fn is_going(&self, load: u64) -> bool {
        let stage = self.trial.as_ref().map(|trial| &trial.stage);
        matches!(stage, Some(Stage::Going { load: going, .. }) if *going == load)
    }

    pub(super) fn window(&mut self, window: Live, now: Nanos, actions: &mut Actions) {
        let Some(trial) = &mut self.trial else { return };
        let (number, oldest, window) = trial.windows.put(window, now);
        let trial = trial.number;
        actions.push(self.says(FromAgent::Window { trial, number, oldest, window }));
    }

    pub(super) fn ended(
        &mut self,
        result: Result<Vec<u8>, String>,
        now: Nanos,
        actions: &mut Actions,
    ) {
        let Some(trial) = &mut self.trial else { return };
        trial.stage = match result {
            Ok(bytes) => Stage::Delivering(Outbox::new(bytes)),
            Err(says) => Stage::Failed(says),
        };
        self.say_stage(actions);
        self.deliver(now, actions);
    }

    /// Sends what is due of a result.
    fn deliver(&mut self, now: Nanos, actions: &mut Actions) {
        let Some(trial) = &mut self.trial else { return };
        let number = trial.number;
        let Stage::Delivering(outbox) = &mut trial.stage else { return };
        for parcel in outbox.due(now) {
            actions.push(self.says(FromAgent::Parcel { trial: number, parcel }));
        }
    }

    pub(super) fn tick(&mut self, now: Nanos, actions: &mut Actions) {
        if self.said + ALIVE_EVERY <= now {
            self.said = now;
            let trial = self.trial.as_ref().map_or(0, |trial| trial.number);
            actions.push(self.says(FromAgent::Alive { trial }));
            if matches!(self.trial, Some(Trial { stage: Stage::Failed(_), .. })) {
                self.say_stage(actions);
            }
        }
        if let Some(trial) = &mut self.trial {
            let (again, trial) = (trial.windows.due(now), trial.number);
            for (number, oldest, window) in again {
                actions.push(self.says(FromAgent::Window { trial, number, oldest, window }));
            }
        }
        self.deliver(now, actions);
    }
}
