//! The loads of a run whose servers are elsewhere: ordered there, carried out here.

use std::mem;

use load::{Halt, HoldOrder, HoldWindow, LiveGatherer, Order, Window};
use post::{LineError, Live, MILLISECOND, Nanos, Task, decode_whole, encode_whole};
use serde::{Deserialize, Serialize};

use crate::allow::Allow;
use crate::loads::{Held, LoadEvent, Loads, LoadsError, Pressed};
use crate::serve::orders::aimed;

/// A window of a load that is told while it is under way lasts so long.
const TOLD_EVERY: Nanos = 500 * MILLISECOND;

/// What became of an ordered load.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Carried {
    /// A recording is written without its windows, so these are beside it.
    Pressed {
        pressed: Box<Pressed>,
        windows: Vec<Window>,
    },
    Held {
        held: Box<Held>,
        windows: Vec<HoldWindow>,
    },
    Not(LoadsError),
}

impl From<Pressed> for Carried {
    fn from(mut pressed: Pressed) -> Carried {
        let windows = pressed.recording.as_mut().map(|it| mem::take(&mut it.windows));
        Carried::Pressed { pressed: Box::new(pressed), windows: windows.unwrap_or_default() }
    }
}

impl From<Held> for Carried {
    fn from(mut held: Held) -> Carried {
        let windows = held.holding.as_mut().map(|it| mem::take(&mut it.windows));
        Carried::Held { held: Box::new(held), windows: windows.unwrap_or_default() }
    }
}

impl Carried {
    /// What a load measured, with its windows.
    pub fn pressed(self) -> Result<Pressed, LoadsError> {
        match self {
            Carried::Pressed { mut pressed, windows } => {
                if let Some(recording) = &mut pressed.recording {
                    recording.windows = windows;
                }
                Ok(*pressed)
            }
            Carried::Held { .. } => Err(of_another_kind()),
            Carried::Not(error) => Err(error),
        }
    }

    /// What was held, with its windows.
    pub fn held(self) -> Result<Held, LoadsError> {
        match self {
            Carried::Held { mut held, windows } => {
                if let Some(holding) = &mut held.holding {
                    holding.windows = windows;
                }
                Ok(*held)
            }
            Carried::Pressed { .. } => Err(of_another_kind()),
            Carried::Not(error) => Err(error),
        }
    }

    pub fn encode(&self) -> Result<Vec<u8>, LineError> {
        encode_whole(self)
    }

    pub fn decode(bytes: &[u8]) -> Result<Carried, LineError> {
        decode_whole(bytes)
    }
}

fn of_another_kind() -> LoadsError {
    LoadsError::Refused("the result is of another kind than the order".into())
}

/// What orders from elsewhere may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub allow: &'a Allow,
    /// Whether the servers are on this machine, too: then the CPUs that an order names are this machine's.
    pub is_beside: bool,
}

/// Carries out an order that came from elsewhere, if it is for what is allowed. What happens is told to the other side,
/// and shown here.
pub fn carry_out(
    loads: &mut dyn Loads,
    order: &[u8],
    terms: Terms<'_>,
    halt: &Halt,
    tell: &mut dyn FnMut(Live),
    show: &mut dyn FnMut(LoadEvent<'_>),
) -> Carried {
    let lanes = loads.lanes().unwrap_or(1).max(1);
    let task = match aimed(order, terms.allow) {
        Ok(task) => task,
        Err(says) => return Carried::Not(LoadsError::Refused(says)),
    };
    let placed = |cpus: Vec<usize>| if terms.is_beside { cpus } else { Vec::new() };
    let done = match task {
        Task::Load(mut order) => {
            let lanes = order.lanes.clamp(1, lanes);
            let cpus = placed(mem::take(&mut order.cpus));
            let order = Order { lanes, cpus, share: None, origin: None, ..*order };
            let mut gatherer = LiveGatherer::new(TOLD_EVERY);
            let pressed = loads.press(&order, halt, &mut |event| {
                if let LoadEvent::Glance(glance) = event {
                    gatherer.add(glance, &mut |window| tell(Live::Load(Box::new(window))));
                }
                show(event);
            });
            pressed.map(Carried::from)
        }
        Task::Hold(mut order) => {
            let lanes = order.lanes.clamp(1, lanes);
            let share = load::Share { first: 0, of: lanes };
            let cpus = placed(mem::take(&mut order.cpus));
            let order = HoldOrder { lanes, share, cpus, origin: None, ..*order };
            let held = loads.hold(&order, &[], halt, &mut |event| {
                if let LoadEvent::Second(window) = event {
                    tell(Live::Hold(Box::new(window.clone())));
                }
                show(event);
            });
            held.map(Carried::from)
        }
    };
    done.unwrap_or_else(Carried::Not)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use load::{HoldWhat, Ramp, Share, Target};
    use post::encode_task;
    use wire::socket_ask;

    use super::*;
    use crate::allow::Allowed;

    /// What has three lanes, and notes what it is asked for.
    #[derive(Default)]
    struct Asked(Vec<HoldOrder>);

    impl Loads for Asked {
        fn lanes(&self) -> Option<usize> {
            Some(3)
        }

        fn press(
            &mut self,
            _order: &Order,
            _halt: &Halt,
            _watch: &mut dyn FnMut(LoadEvent<'_>),
        ) -> Result<Pressed, LoadsError> {
            panic!("connections were to be held")
        }

        fn hold(
            &mut self,
            order: &HoldOrder,
            _targets: &[Target],
            _halt: &Halt,
            _watch: &mut dyn FnMut(LoadEvent<'_>),
        ) -> Result<Held, LoadsError> {
            self.0.push(order.clone());
            Err(LoadsError::Interrupted)
        }
    }

    /// What becomes of an order for this target and so many lanes, and what was carried out.
    fn carried(target: &str, lanes: usize, is_beside: bool) -> (Carried, Vec<HoldOrder>) {
        let (every, settle) = (Duration::from_secs(10), Duration::from_secs(1));
        let ramp = Ramp { connections: 20, step: 10, every, per_second: 100.0, settle };
        let what = HoldWhat::Socket { ask: socket_ask("h", "/", &[]).unwrap() };
        let target: SocketAddr = target.parse().unwrap();
        let order = HoldOrder {
            lanes,
            share: Share { first: 0, of: lanes },
            cpus: vec![7],
            ..HoldOrder::new(Target::Tcp(target), what, ramp)
        };
        let order = encode_task(&Task::Hold(Box::new(order))).unwrap();
        let allow = Allow::These(vec![Allowed::only("10.0.0.7:0".parse().unwrap())]);
        let (mut asked, halt) = (Asked::default(), Halt::default());
        let terms = Terms { allow: &allow, is_beside };
        let carried = carry_out(&mut asked, &order, terms, &halt, &mut |_| {}, &mut |_| {});
        (carried, asked.0)
    }

    #[test]
    fn a_host_has_nothing_loaded_but_its_own_address() {
        for elsewhere in ["10.0.0.8:80", "127.0.0.1:80", "[::1]:80"] {
            let (carried, asked) = carried(elsewhere, 1, false);
            assert!(asked.is_empty(), "{elsewhere}");
            assert!(
                matches!(&carried, Carried::Not(LoadsError::Refused(says)) if says.contains("must not be loaded")),
                "{carried:?}"
            );
        }
        assert_eq!(carried("10.0.0.7:4711", 1, false).1.len(), 1);
        let (mut asked, halt) = (Asked::default(), Halt::default());
        let terms = Terms { allow: &Allow::All, is_beside: false };
        let none = carry_out(&mut asked, b"{}", terms, &halt, &mut |_| {}, &mut |_| {});
        assert!(matches!(none, Carried::Not(LoadsError::Refused(_))), "{none:?}");
    }

    #[test]
    fn a_load_has_the_lanes_that_are_here_and_no_cpus_of_elsewhere() {
        for (ordered, had) in [(1, 1), (3, 3), (900, 3)] {
            let order = |is_beside| carried("10.0.0.7:80", ordered, is_beside).1.remove(0);
            let (far, beside) = (order(false), order(true));
            assert_eq!((far.lanes, far.share.of), (had, had));
            assert_eq!((far.cpus, beside.cpus), (Vec::new(), vec![7]));
        }
    }

    #[test]
    fn what_became_of_a_load_is_read_as_it_was_written() {
        for error in [LoadsError::Interrupted, LoadsError::Refused("no".into())] {
            let written = Carried::Not(error.clone()).encode().unwrap();
            let read = Carried::decode(&written).unwrap();
            assert!(matches!(read, Carried::Not(ref same) if *same == error), "{read:?}");
        }
        assert!(Carried::decode(b"{\"pressed\":{}}").is_err());
    }
}
