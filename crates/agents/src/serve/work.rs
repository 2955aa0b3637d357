//! An order, carried out.

use load::{Glance, Halt, HoldOrder, HoldWindow, LiveGatherer, Order};
use post::{Live, MILLISECOND, Measured, Nanos, Task, encode_measured};

/// A window of a load that is sent while it is under way lasts so long.
const LIVE_EVERY: Nanos = 500 * MILLISECOND;

/// Carries it out from this instant of the machine's clock on; returns what it measured, encoded.
pub(super) fn carry_out(
    task: Task,
    origin: Nanos,
    halt: &Halt,
    watch: &mut dyn FnMut(Live),
) -> Result<Vec<u8>, String> {
    let measured = match task {
        Task::Load(order) => {
            let order = Order { origin: Some(origin), ..*order };
            let mut gatherer = LiveGatherer::new(LIVE_EVERY);
            let mut send = |window| watch(Live::Load(Box::new(window)));
            let mut gather = |glance: &Glance<'_>| gatherer.add(glance, &mut send);
            let part = load::press_part(&order, halt, &mut gather);
            gatherer.finish().into_iter().for_each(send);
            Measured::Load(Box::new(part.map_err(|error| error.to_string())?))
        }
        Task::Hold(order) => {
            let order = HoldOrder { origin: Some(origin), ..*order };
            let mut watch = |window: &HoldWindow| watch(Live::Hold(Box::new(window.clone())));
            let holding = load::hold(&order, halt, &mut watch);
            Measured::Hold(Box::new(holding.map_err(|error| error.to_string())?))
        }
    };
    encode_measured(&measured).map_err(|error| error.to_string())
}
