//! What follows from what a coordinator knows: that all agents are met, that a trial begins, or is over.

use super::peer::Peer;
use super::trial::Stage;
use super::{Actions, CLOCKS_WITHIN, Coordinator, CoordinatorAction};
use crate::message::ToAgent;
use crate::{Nanos, SECOND};

impl Coordinator {
    /// What follows from what is known now.
    pub(super) fn advance(&mut self, now: Nanos, actions: &mut Actions) {
        if let Some(until) = self.meeting_until {
            self.advance_meeting(until, now, actions);
        }
        if self.trial.is_some() {
            self.advance_trial(now, actions);
        }
    }

    fn advance_meeting(&mut self, until: Nanos, now: Nanos, actions: &mut Actions) {
        let lost = self.lost();
        if lost.is_empty() && self.peers.iter().all(Peer::is_known) {
            self.meeting_until = None;
            self.peers.iter_mut().for_each(Peer::keep_clock);
            return actions.push(CoordinatorAction::Met);
        }
        if until <= now || !lost.is_empty() && self.peers.iter().all(Peer::is_decided) {
            self.meeting_until = None;
            let waited = self.terms.meet_within / SECOND;
            let silent = self.peers.iter().enumerate().filter(|(_, peer)| !peer.is_decided());
            let silent: Vec<_> = silent
                .map(|(agent, _)| (agent, format!("it has not answered within {waited} s")))
                .collect();
            self.say_all(&ToAgent::Bye, actions);
            actions.push(CoordinatorAction::NotMet([lost, silent].concat()));
        }
    }

    fn advance_trial(&mut self, now: Nanos, actions: &mut Actions) {
        let arm_within = self.terms.arm_within;
        let has_clocks = self.peers.iter().all(Peer::is_known);
        let Some(trial) = &mut self.trial else { return };
        match trial.stage {
            Stage::Arming { until, clocks_until } => {
                if trial.all_armed() && (has_clocks || clocks_until <= now) {
                    self.start(now, actions);
                } else if until <= now && !trial.all_armed() {
                    let waited = arm_within / SECOND;
                    let says = format!("it has not taken its order within {waited} s");
                    let reasons = trial.unarmed().map(|agent| (agent, says.clone())).collect();
                    self.not_begun(CoordinatorAction::NotBegun(reasons), actions);
                }
            }
            Stage::Starting { origin, until } => {
                if trial.parts.iter().all(|part| part.is_gone) {
                    trial.stage = Stage::Running { origin };
                    actions.push(CoordinatorAction::Begun { origin });
                } else if until <= now || trial.parts.iter().any(|part| part.is_late) {
                    self.start_again(now, actions);
                }
            }
            Stage::Running { origin } => {
                let overdue = trial.overdue(origin, now);
                for agent in overdue {
                    self.lose(agent, "its result did not come".into(), now, actions);
                }
                self.advance_end(now, actions);
            }
            Stage::Drift { until } => {
                let is_known = |peer: &Peer| peer.loss.is_some() || peer.is_known();
                if until <= now || self.peers.iter().all(is_known) {
                    self.peers.iter_mut().for_each(Peer::keep_drift);
                    self.over(actions);
                }
            }
        }
    }

    /// All agents have their orders, and their clocks were looked at just now: an instant is agreed on.
    fn start(&mut self, now: Nanos, actions: &mut Actions) {
        self.peers.iter_mut().for_each(Peer::keep_clock);
        let lead = self.terms.lead.max(10 * self.round_trip());
        let Some(trial) = &mut self.trial else { return };
        trial.start(now, lead);
        self.say_due(now, actions);
    }

    /// Not all agents were ready in time: all of them forget the trial, and it is begun once more with more time.
    fn start_again(&mut self, now: Nanos, actions: &mut Actions) {
        let Some(trial) = self.trial.take() else { return };
        self.say_all(&ToAgent::Halt { trial: trial.number, at: None }, actions);
        match trial.again(self.trials + 1, now, self.terms.arm_within) {
            Ok(again) => {
                self.trials += 1;
                self.trial = Some(again);
                self.say_due(now, actions);
            }
            Err(reasons) => actions.push(CoordinatorAction::NotBegun(reasons)),
        }
    }

    fn advance_end(&mut self, now: Nanos, actions: &mut Actions) {
        let Some(trial) = &mut self.trial else { return };
        if !trial.is_over() {
            return;
        }
        if self.terms.has_one_clock {
            return self.over(actions);
        }
        trial.stage = Stage::Drift { until: now + CLOCKS_WITHIN };
        self.peers.iter_mut().for_each(Peer::forget_clock);
        self.say_due(now, actions);
    }

    fn over(&mut self, actions: &mut Actions) {
        self.trial = None;
        actions.push(CoordinatorAction::Over);
    }
}
