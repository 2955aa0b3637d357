//! The loads of a run whose servers are elsewhere: ordered there, carried out here.

use load::{Glance, Halt, HoldOrder, HoldWindow, LiveGatherer, Order};
use post::{LineError, Live, MILLISECOND, Nanos, Task, decode_whole, encode_whole};
use serde::{Deserialize, Serialize};

use crate::allow::Allow;
use crate::loads::{Held, HoldEvent, LoadEvent, Loads, LoadsError, Pressed};
use crate::serve::orders::aimed;

/// A window of a load that is told while it is under way lasts so long.
const TOLD_EVERY: Nanos = 500 * MILLISECOND;

/// What became of an ordered load.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Carried {
    Pressed(Box<Pressed>),
    Held(Box<Held>),
    Not(LoadsError),
}

impl Carried {
    pub fn encode(&self) -> Result<Vec<u8>, LineError> {
        encode_whole(self)
    }

    pub fn decode(bytes: &[u8]) -> Result<Carried, LineError> {
        decode_whole(bytes)
    }
}

/// What is seen of a load here.
#[derive(Debug)]
pub enum Seen<'s> {
    Glance(&'s Glance<'s>),
    Second(&'s HoldWindow),
}

/// Carries out an order that came from elsewhere, if it is for what is allowed. What happens is told to the other side,
/// and shown here.
pub fn carry_out(
    loads: &mut dyn Loads,
    order: &[u8],
    allow: &Allow,
    halt: &Halt,
    tell: &mut dyn FnMut(Live),
    show: &mut dyn FnMut(Seen<'_>),
) -> Carried {
    let lanes = loads.lanes().unwrap_or(1).max(1);
    let task = match aimed(order, allow) {
        Ok(task) => task,
        Err(says) => return Carried::Not(LoadsError::Refused(says)),
    };
    let done = match task {
        Task::Load(order) => {
            let lanes = order.lanes.clamp(1, lanes);
            let order = Order { lanes, cpus: Vec::new(), share: None, origin: None, ..*order };
            let mut gatherer = LiveGatherer::new(TOLD_EVERY);
            let pressed = loads.press(&order, halt, &mut |event| {
                if let LoadEvent::Glance(glance) = event {
                    gatherer.add(glance, &mut |window| tell(Live::Load(Box::new(window))));
                    show(Seen::Glance(glance));
                }
            });
            pressed.map(|pressed| Carried::Pressed(Box::new(pressed)))
        }
        Task::Hold(order) => {
            let lanes = order.lanes.clamp(1, lanes);
            let share = load::Share { first: 0, of: lanes };
            let order = HoldOrder { lanes, share, cpus: Vec::new(), origin: None, ..*order };
            let held = loads.hold(&order, &[], halt, &mut |event| {
                if let HoldEvent::Second(window) = event {
                    tell(Live::Hold(Box::new(window.clone())));
                    show(Seen::Second(window));
                }
            });
            held.map(|held| Carried::Held(Box::new(held)))
        }
    };
    done.unwrap_or_else(Carried::Not)
}
