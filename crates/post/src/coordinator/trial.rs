//! A trial as its coordinator follows it.

use crate::clock::ClockEstimate;
use crate::message::ToAgent;
use crate::parcel::{Inbox, Outbox, Parcel, RESULT_MAX};
use crate::stream::WindowsIn;
use crate::{MILLISECOND, Nanos};

use super::{AGAIN, Assignment, CLOCKS_WITHIN, Phase};

/// A trial whose agents were not ready in time is begun this often.
const ATTEMPTS: u32 = 4;
/// An agent that was asked to end is asked again.
const HALT_AGAIN: Nanos = 200 * MILLISECOND;

#[derive(Debug)]
pub(super) struct Trial {
    pub(super) number: u64,
    course: Assignment,
    attempt: u32,
    pub(super) stage: Stage,
    pub(super) parts: Vec<Part>,
    /// When the load is to end early.
    pub(super) halts_at: Option<Nanos>,
    pub(super) halt_said: Nanos,
    /// When orders were repeated last.
    repeated: Nanos,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// Orders are taken, and the clocks are looked at, which is waited for less long.
    Arming {
        until: Nanos,
        clocks_until: Nanos,
    },
    /// All have one, and are to say that they will begin then.
    Starting {
        origin: Nanos,
        until: Nanos,
    },
    Running {
        origin: Nanos,
    },
    /// All results are there; the clocks are looked at again.
    Drift {
        until: Nanos,
    },
}

/// One agent's part in it.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) order: Outbox,
    pub(super) is_armed: bool,
    pub(super) is_gone: bool,
    pub(super) is_late: bool,
    pub(super) windows: WindowsIn,
    result: Inbox,
    /// Something of the result has come.
    is_reporting: bool,
    is_done: bool,
    is_lost: bool,
}

impl Part {
    fn new(order: Vec<u8>) -> Part {
        Part {
            order: Outbox::new(order),
            is_armed: false,
            is_gone: false,
            is_late: false,
            windows: WindowsIn::default(),
            result: Inbox::new(RESULT_MAX),
            is_reporting: false,
            is_done: false,
            is_lost: false,
        }
    }
}

impl Trial {
    pub(super) fn new(number: u64, course: Assignment, now: Nanos, arm_within: Nanos) -> Trial {
        let (until, clocks_until) = (now + arm_within, now + CLOCKS_WITHIN);
        Trial {
            number,
            attempt: 1,
            stage: Stage::Arming { until, clocks_until },
            parts: course.orders.iter().cloned().map(Part::new).collect(),
            course,
            halts_at: None,
            halt_said: 0,
            repeated: 0,
        }
    }

    /// The trial once more under another number, with more time; or which agents stand in the way.
    pub(super) fn again(
        self,
        number: u64,
        now: Nanos,
        arm_within: Nanos,
    ) -> Result<Trial, Vec<(usize, String)>> {
        if self.attempt == ATTEMPTS {
            let says = "it was not ready at the agreed instant, however late that was";
            let late = (0..self.parts.len()).filter(|&agent| !self.parts[agent].is_gone);
            return Err(late.map(|agent| (agent, says.into())).collect());
        }
        let again = Trial::new(number, self.course, now, arm_within);
        Ok(Trial { attempt: self.attempt + 1, ..again })
    }

    pub(super) fn all_armed(&self) -> bool {
        self.parts.iter().all(|part| part.is_armed)
    }

    pub(super) fn unarmed(&self) -> impl Iterator<Item = usize> {
        (0..self.parts.len()).filter(|&agent| !self.parts[agent].is_armed)
    }

    /// All agents begin at one instant, which each of them must have confirmed a little before.
    pub(super) fn start(&mut self, now: Nanos, lead: Nanos) {
        let lead = lead << (self.attempt - 1);
        let origin = now + lead;
        self.repeated = 0;
        self.stage = Stage::Starting { origin, until: origin - lead / 5 };
    }

    /// A part of a result; the whole, once, when it is there.
    pub(super) fn parcel(
        &mut self,
        agent: usize,
        parcel: Parcel,
    ) -> Result<Option<Vec<u8>>, String> {
        let part = &mut self.parts[agent];
        if !matches!(self.stage, Stage::Running { .. }) || part.is_done {
            return Ok(None);
        }
        part.is_reporting = true;
        let whole = part.result.take(parcel);
        part.is_done = matches!(whole, Ok(Some(_)));
        whole.map_err(|says| format!("its result is wrong: {says}"))
    }

    /// In which phase the agent was lost; none if its result is there.
    pub(super) fn lose(&mut self, agent: usize, origin: Nanos, now: Nanos) -> Option<Phase> {
        let part = &mut self.parts[agent];
        if part.is_done {
            return None;
        }
        part.is_lost = true;
        Some(match part.is_reporting {
            true => Phase::Report,
            false if now < origin => Phase::Before,
            false => Phase::Load,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.parts.iter().all(|part| part.is_done || part.is_lost)
    }

    /// The agents that should have delivered their results long ago.
    pub(super) fn overdue(&self, origin: Nanos, now: Nanos) -> Vec<usize> {
        let ends = self.course.lasts.map(|lasts| origin.saturating_add(lasts));
        match ends.into_iter().chain(self.halts_at).min() {
            Some(end) if end.saturating_add(self.course.grace) < now => {
                let missing = |part: &Part| !part.is_done && !part.is_lost;
                (0..self.parts.len()).filter(|&agent| missing(&self.parts[agent])).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// What is due to one agent; instants are in its own clock.
    pub(super) fn say_due(
        &mut self,
        agent: usize,
        clock: ClockEstimate,
        now: Nanos,
        says: &mut Vec<ToAgent>,
    ) {
        let trial = self.number;
        let repeats = self.repeated == 0 || self.repeated + AGAIN <= now;
        let part = &mut self.parts[agent];
        match self.stage {
            Stage::Arming { .. } if !part.is_armed => {
                if repeats {
                    says.push(ToAgent::Arm { trial });
                }
                let parcels = part.order.due(now).into_iter();
                says.extend(parcels.map(|parcel| ToAgent::Parcel { trial, parcel }));
            }
            Stage::Starting { origin, .. } if !part.is_gone && repeats => {
                says.push(ToAgent::Go { trial, origin: clock.there(origin) });
            }
            Stage::Running { .. } if !part.is_done && !part.is_lost => {
                let at = self.halts_at.filter(|_| self.halt_said + HALT_AGAIN <= now);
                let at = at.map(|at| clock.there(at));
                says.extend(at.map(|at| ToAgent::Halt { trial, at: Some(at) }));
            }
            _ => {}
        }
    }

    /// All agents have been told what was due.
    pub(super) fn said(&mut self, now: Nanos) {
        if self.repeated == 0 || self.repeated + AGAIN <= now {
            self.repeated = now;
        }
        if self.halts_at.is_some() && self.halt_said + HALT_AGAIN <= now {
            self.halt_said = now;
        }
    }
}
