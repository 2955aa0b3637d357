//! Loads of a run that takes place here, carried out from where its coordinator is.

use std::sync::Arc;
use std::time::Duration;

use load::{Halt, HoldOrder, LiveMerger, Order, Share, Target};
use post::{FromServers, Host, Live, Task, ToServers, encode_task};

use super::host_session::HostSession;
use super::ordered_loads::Carried;
use crate::loads::{Held, LoadEvent, Loads, LoadsError, Pressed};

/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// What carries loads out at the other end of the lines.
pub struct Relayed {
    session: Arc<HostSession>,
    lanes: usize,
    hosts: Vec<(String, Host)>,
    processes: Vec<u32>,
    load: u64,
}

impl Relayed {
    /// Has the agents of the load met, and waits for that.
    pub fn meet(session: &Arc<HostSession>, halt: &Halt) -> Result<Relayed, LoadsError> {
        session.say(FromServers::Meet);
        loop {
            match session.next(LOOK) {
                Some(ToServers::Met { lanes, hosts, processes }) => {
                    let (session, lanes) = (Arc::clone(session), lanes.max(1));
                    // No two of a run have loads of the same number.
                    let load = crate::now_ns();
                    return Ok(Relayed { session, lanes, hosts, processes, load });
                }
                Some(ToServers::NotMet { says }) => return Err(LoadsError::Refused(says)),
                Some(_) => {}
                None if halt.is_asked() || session.is_gone() => {
                    return Err(LoadsError::Interrupted);
                }
                None => {}
            }
        }
    }

    /// Has an order carried out.
    fn order(
        &mut self,
        task: &Task,
        halt: &Halt,
        watch: &mut dyn FnMut(Live) -> Result<(), String>,
    ) -> Result<Carried, LoadsError> {
        let refused = |error: &dyn std::fmt::Display| LoadsError::Refused(error.to_string());
        self.load += 1;
        let load = self.load;
        let order = self.session.send(encode_task(task).map_err(|error| refused(&error))?);
        self.session.say(FromServers::Load { load, order });
        let mut was_halted = false;
        loop {
            if halt.is_asked() && !was_halted {
                was_halted = true;
                self.session.say(FromServers::HaltLoad { load });
            }
            match self.session.next(LOOK) {
                Some(ToServers::Window { load: of, window }) if of == load => {
                    watch(window).map_err(LoadsError::Refused)?;
                }
                Some(ToServers::Carried { load: of, result }) if of == load => {
                    let bytes = self.session.take(&result).map_err(LoadsError::Refused)?;
                    return Carried::decode(&bytes).map_err(|error| refused(&error));
                }
                Some(_) => {}
                None if self.session.is_gone() => return Err(LoadsError::Interrupted),
                None => {}
            }
        }
    }
}

impl Loads for Relayed {
    fn lanes(&self) -> Option<usize> {
        Some(self.lanes)
    }

    fn hosts(&self) -> Vec<(String, Host)> {
        self.hosts.clone()
    }

    fn processes(&self) -> Vec<u32> {
        self.processes.clone()
    }

    fn press(
        &mut self,
        order: &Order,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Pressed, LoadsError> {
        let mut merger = LiveMerger::new(1);
        let task = Task::Load(Box::new(order.clone()));
        let carried = self.order(&task, halt, &mut |window| match window {
            Live::Load(window) => {
                merger.add(0, *window, &mut |glance| watch(LoadEvent::Glance(glance)))
            }
            Live::Hold(_) => Ok(()),
        })?;
        carried.pressed()
    }

    fn hold(
        &mut self,
        order: &HoldOrder,
        _targets: &[Target],
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Held, LoadsError> {
        let share = Share { first: 0, of: order.lanes };
        let task = Task::Hold(Box::new(HoldOrder { share, ..order.clone() }));
        let carried = self.order(&task, halt, &mut |window| {
            if let Live::Hold(window) = window {
                watch(LoadEvent::Second(&window));
            }
            Ok(())
        })?;
        carried.held()
    }
}
