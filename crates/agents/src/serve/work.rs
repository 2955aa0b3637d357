//! An order, carried out.

use load::{Glance, Halt, HoldOrder, HoldWindow, LiveGatherer, LoadError, Order, Part, Target};
use machine::link::{Link, toward};
use post::{Beside, LinkUse, Live, Measured, Nanos, SECOND, Task, encode_whole};

use crate::now_ns;

/// A window of a load that is sent while it is under way lasts so long.
const LIVE_EVERY: Nanos = SECOND;

/// Carries it out from this instant of the machine's clock on; returns what it measured, encoded.
pub(crate) fn carry_out(
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
            let pressed = press(&order, halt, &mut gather);
            let (part, beside) = pressed.map_err(|error| error.to_string())?;
            gatherer.finish(&part).into_iter().for_each(send);
            Measured::Load(Box::new(part), beside)
        }
        Task::Hold(order) => {
            let order = HoldOrder { origin: Some(origin), ..*order };
            let mut watch = |window: &HoldWindow| watch(Live::Hold(Box::new(window.clone())));
            let holding = load::hold(&order, halt, &mut watch);
            Measured::Hold(Box::new(holding.map_err(|error| error.to_string())?))
        }
    };
    encode_whole(&measured).map_err(|error| error.to_string())
}

/// Applies the load, or this process's share of it; returns what was recorded, and what was noticed beside it.
pub(crate) fn press(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<(Part, Beside), LoadError> {
    let before = Counted::read(order);
    let part = load::press_part(order, halt, watch)?;
    let link = before.and_then(|before| before.until_now(order));
    let beside = Beside { began_late: part.began_late(), link };
    Ok((part, beside))
}

/// The link towards the server at an instant.
struct Counted {
    at: Nanos,
    link: Link,
}

impl Counted {
    fn read(order: &Order) -> Option<Counted> {
        match &order.target {
            Target::Tcp(address) => Some(Counted { at: now_ns(), link: toward(address.ip())? }),
            Target::Unix(_) => None,
        }
    }

    /// What has passed over it since.
    fn until_now(self, order: &Order) -> Option<LinkUse> {
        let Counted { at, link } = Counted::read(order)?;
        let before = self.link;
        (before.name == link.name).then(|| LinkUse {
            name: link.name,
            speed: link.speed,
            mtu: link.mtu,
            sent: link.sent.saturating_sub(before.sent),
            received: link.received.saturating_sub(before.received),
            over: at.saturating_sub(self.at),
            segments: link.segments_sent.saturating_sub(before.segments_sent),
            retransmitted: link.retransmitted.saturating_sub(before.retransmitted),
        })
    }
}
