//! Load by this process' own threads.

use load::{Halt, HoldOrder, Order, Target};

use crate::loads::{Held, LoadEvent, Loads, LoadsError, Pressed};

/// This process.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnThreads;

impl Loads for OwnThreads {
    fn lanes(&self) -> Option<usize> {
        None
    }

    fn press(
        &mut self,
        order: &Order,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Pressed, LoadsError> {
        let recording = load::press(order, halt, &mut |glance| watch(LoadEvent::Glance(glance)))?;
        Ok(Pressed { recording: Some(recording), agents: Vec::new(), lost: Vec::new() })
    }

    fn hold(
        &mut self,
        order: &HoldOrder,
        targets: &[Target],
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Held, LoadsError> {
        let order = match targets.first() {
            Some(target) => &HoldOrder { target: target.clone(), ..order.clone() },
            None => order,
        };
        let holding = load::hold(order, halt, &mut |second| watch(LoadEvent::Second(second)))?;
        Ok(Held { holding: Some(holding), agents: Vec::new(), lost: Vec::new() })
    }
}
