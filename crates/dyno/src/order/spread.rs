//! What is different where the load comes from agents: the usual spacing of requests, and flags that are about this
//! machine.

use std::borrow::Cow;

use agents::Place;
use lab::schedule::{Law, Schedule};
use load::{Arrivals, Order, Rate, Target};

use super::flags::{ArrivingFlags, LoadFlags};
use super::schedule::Spacing;
use crate::load_agents;
use crate::shell::Refusal;

/// How many agents there are, as far as that is known before they are met.
pub(super) fn agents(flags: &LoadFlags) -> u64 {
    flags.sent_from.load_on.as_ref().and_then(Place::count).unwrap_or(1) as u64
}

/// Whether the load comes from other machines.
pub(super) fn is_elsewhere(flags: &LoadFlags) -> bool {
    flags.sent_from.load_on.as_ref().is_some_and(|place| !place.is_local())
}

/// Whether it comes from several, whose clocks are known only so exactly.
fn is_spread(flags: &LoadFlags) -> bool {
    let several = |place: &Place| !place.is_local() && place.count() != Some(1);
    flags.sent_from.load_on.as_ref().is_some_and(several)
}

/// Requests at one rate from several machines are spaced by Poisson's law, unless the user has said otherwise: the sum
/// of such arrivals is one, whatever the clocks are. So are those of a workload that states its rate.
pub(super) fn arriving(flags: &LoadFlags, stated: Option<Rate>) -> Cow<'_, ArrivingFlags> {
    let arriving = &flags.arriving;
    if let Some(rate) = stated {
        let arrivals = arriving.arrivals.clone().or(Some(Spacing::Law(Law::Poisson)));
        let rate = Some(Schedule::Level(rate));
        return Cow::Owned(ArrivingFlags { rate, arrivals, ..arriving.clone() });
    }
    let has_one_rate =
        matches!(arriving.rate, Some(Schedule::Level(_))) || arriving.sessions.is_some();
    if !is_spread(flags) || !has_one_rate || arriving.arrivals.is_some() {
        return Cow::Borrowed(arriving);
    }
    let poisson = Some(Spacing::Law(Law::Poisson));
    Cow::Owned(ArrivingFlags { arrivals: poisson, ..arriving.clone() })
}

/// Refuses flags that are about this machine.
pub(super) fn check(flags: &LoadFlags, target: &Target) -> Result<(), Refusal> {
    let Some(place) = &flags.sent_from.load_on else { return Ok(()) };
    let Target::Tcp(address) = target else {
        return Err(Refusal::new(
            "agents load addresses, not Unix sockets: give http://HOST:PORT/",
        ));
    };
    if !place.is_local() {
        flags.sent_from.refuse_local()?;
        load_agents::warn_of_loopback(&[*address]);
    }
    Ok(())
}

/// What a schedule that is not Poisson's means where several machines share it.
pub(super) fn notes(flags: &LoadFlags, order: &Order) -> Option<String> {
    let arrivals = order.load.arrivals().filter(|_| is_spread(flags))?;
    (!matches!(arrivals, Arrivals::Poisson(_))).then(|| {
        "each agent keeps its own part of the schedule exactly, but the parts are aligned only as exactly as the \
         agents' clocks are known: at the server, requests are not evenly spaced (--arrivals poisson depends on no clock)"
            .into()
    })
}
