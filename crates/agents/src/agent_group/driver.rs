//! A thread that keeps the agents of a run: it hears them, says what is due, and lets them know that this side lives,
//! whatever else dyno does meanwhile.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use post::{
    Coordinator, CoordinatorAction, CoordinatorEvent, MILLISECOND, Nanos, PeerFacts, Terms,
};

use crate::carrier::child::Child;
use crate::carrier::{CarrierEvent, Carriers};
use crate::now_ns;
use crate::pipes::in_a_thread;

/// What is due is looked for this often.
const TICK: Nanos = 25 * MILLISECOND;

/// What the run learns of its agents.
#[derive(Debug)]
pub(super) enum News {
    Action(CoordinatorAction),
    /// Before a trial, and after it.
    Facts(Vec<PeerFacts>),
    /// Lines of this agent may have been lost for so long.
    Blinked {
        agent: usize,
        nanos: Nanos,
    },
}

/// The thread. It ends, and its carriers with it, when this is dropped.
pub(super) struct Driver {
    pub(super) news: Receiver<News>,
    wants: SyncSender<CarrierEvent>,
    children: Vec<Arc<Child>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(super) fn start(
        carriers: Carriers,
        run: &str,
        agents: usize,
        terms: Terms,
    ) -> Result<Driver, String> {
        let (sender, news) = channel();
        let wants = carriers.sender.clone();
        let children = carriers.children.clone();
        let coordinator = Coordinator::new(run, agents, terms, now_ns());
        let kept = Kept { coordinator, carriers, news: sender };
        let thread = in_a_thread("agents", move || kept.keep())?;
        Ok(Driver { news, wants, children, thread: Some(thread) })
    }

    /// The processes that carry the lines. Those of local agents are the agents.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.children.iter().filter_map(|child| child.process()).collect()
    }

    pub(super) fn want(&self, event: CoordinatorEvent) {
        let _ = self.wants.send(CarrierEvent::Agents(event));
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.wants.send(CarrierEvent::Enough);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Kept {
    coordinator: Coordinator,
    carriers: Carriers,
    news: Sender<News>,
}

impl Kept {
    /// Until nothing more is wanted of the agents.
    fn keep(mut self) {
        let mut ticked = 0;
        loop {
            let wait = (ticked + TICK).saturating_sub(now_ns());
            let event = match self.carriers.events.recv_timeout(Duration::from_nanos(wait)) {
                Ok(CarrierEvent::Agents(event)) => event,
                Ok(CarrierEvent::Blinked { agent, nanos }) => {
                    self.hand_on(News::Blinked { agent, nanos });
                    continue;
                }
                Ok(CarrierEvent::Raw(_)) => continue,
                Err(RecvTimeoutError::Timeout) => {
                    ticked = now_ns();
                    CoordinatorEvent::Tick
                }
                Ok(CarrierEvent::Enough) | Err(RecvTimeoutError::Disconnected) => {
                    return self.happens(CoordinatorEvent::Bye);
                }
            };
            self.happens(event);
            // Many lines do not keep what is due from being said.
            if ticked + 2 * TICK < now_ns() {
                ticked = now_ns();
                self.happens(CoordinatorEvent::Tick);
            }
        }
    }

    fn happens(&mut self, event: CoordinatorEvent) {
        for action in self.coordinator.on(event, now_ns()) {
            match action {
                CoordinatorAction::Say { agent, frame } => {
                    self.carriers.say(agent, &frame);
                    continue;
                }
                CoordinatorAction::Lost(ref loss) => self.carriers.hang_up(loss.agent),
                CoordinatorAction::Met | CoordinatorAction::Over => {
                    self.hand_on(News::Facts(self.coordinator.facts().cloned().collect()));
                }
                _ => {}
            }
            self.hand_on(News::Action(action));
        }
    }

    /// A run that has ended learns no more.
    fn hand_on(&self, news: News) {
        let _ = self.news.send(news);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::super::AgentGroup;
    use super::*;

    #[test]
    fn a_trial_has_only_its_own_interruptions() {
        let (sender, news) = channel();
        let driver = Driver { news, wants: sync_channel(9).0, children: Vec::new(), thread: None };
        let (names, facts) = (Vec::new(), Vec::new());
        let mut group = AgentGroup { driver, names, facts, blinked: vec![0, 0], is_local: false };
        let blink = |agent, nanos| sender.send(News::Blinked { agent, nanos }).unwrap();
        // In the trial before it, and in the pause after that.
        blink(0, 700);
        group.news().unwrap();
        blink(1, 500);
        group.forget_blinks();
        blink(1, 30);
        blink(1, 40);
        (0..2).for_each(|_| assert!(group.news().unwrap().is_none()));
        assert_eq!(group.blinked, [0, 70]);
    }
}
