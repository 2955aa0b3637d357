//! How much an order may ask for that comes from elsewhere: whatever is within these bounds can be carried out, takes a
//! bounded amount of memory and overflows no counter.

use std::fmt::Debug;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use wire::{Asks, HeldLimits, Limits};

use crate::Nanos;
use crate::arrivals::Arrivals;
use crate::held::{HoldOrder, Ramp, Sends};
use crate::order::{Load, Order, Protocol, Share, nanos};

/// Over all processes.
const LANES_MAX: usize = 4_096;
/// Of one process.
const THREADS_MAX: usize = 1_024;
/// Over all processes.
const CONNECTIONS_MAX: usize = 1 << 22;
/// Of one process, whether they wait or are under way.
const EXCHANGES_MAX: u64 = 1 << 24;
/// Six days and more.
const TIME_MAX: Duration = Duration::from_nanos(1 << 49);
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3_600);
const WINDOW: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(3_600);
const STEPS_MAX: usize = 10_000;
const CALLS_MAX: u32 = 1 << 20;
const SOURCES_MAX: usize = 1 << 16;
const ASKS_MAX: usize = 1 << 16;
/// Those of the kernel's sets of CPUs.
pub(crate) const CPUS_MAX: usize = 1_024;
/// Octets of anything that is kept until it is whole.
const KEPT_MAX: usize = 16 << 20;
const INTERIMS_MAX: u8 = 100;
const FRAGMENTS_MAX: u32 = 1 << 24;
/// The windows of held connections are all kept.
const HELD_WINDOWS_MAX: u64 = 100_000;
/// Held connections are added in this many steps.
const PLATEAUS_MAX: usize = 10_000;
/// Texts to all held connections, each of which is kept by its number.
pub(crate) const BROADCASTS_MAX: u64 = 1_000_000;
/// The lowest and the highest rate of held connections.
const HELD_RATE: RangeInclusive<f64> = 0.001..=1e6;

fn within<T: PartialOrd + Debug>(
    what: &str,
    value: &T,
    range: &RangeInclusive<T>,
) -> Result<(), String> {
    match range.contains(value) {
        true => Ok(()),
        false => Err(format!(
            "{what}: {value:?} is not within {:?} and {:?}",
            range.start(),
            range.end()
        )),
    }
}

/// Whether the load can be carried out.
pub(crate) fn of_load(order: &Order) -> Result<(), String> {
    of_process(order.lanes, order.share, &order.cpus, &order.sources)?;
    within("CPUs of the server", &order.server_cpus.unwrap_or(1), &(0..=CPUS_MAX as u64))?;
    of_times(order.timeout, order.window)?;
    within("warmup", &order.warmup, &(Duration::ZERO..=TIME_MAX))?;
    if let Some(duration) = order.stop.duration {
        within("duration", &duration, &(Duration::from_millis(1)..=TIME_MAX))?;
    }
    of_limits(&order.limits)?;
    of_asks(&order.asks, &order.protocol)?;
    if let Protocol::Http2(spoken) = &order.protocol {
        of_limits(&spoken.limits)?;
    }
    of_connections(order)
}

/// Whether the connections can be held.
pub(crate) fn of_hold(order: &HoldOrder) -> Result<(), String> {
    of_process(order.lanes, Some(order.share), &order.cpus, &order.sources)?;
    of_times(order.timeout, order.window)?;
    of_limits(&order.limits)?;
    of_held_limits(order.held_limits)?;
    let some = Duration::from_nanos(1)..=TIME_MAX;
    within("silence", &order.silence, &some)?;
    if let Some(beat) = order.beat {
        within("beat", &beat, &some)?;
    }
    of_ramp(&order.ramp)?;
    let windows = order.ramp.end() / nanos(order.window).max(1);
    within("windows", &windows, &(0..=HELD_WINDOWS_MAX))?;
    if order.what.ask().is_over_http2() {
        return Err("held connections do not speak HTTP/2".into());
    }
    match &order.sends {
        None => Ok(()),
        Some(Sends::Echo { per_second, .. }) => within("echoes a second", per_second, &HELD_RATE),
        Some(Sends::Broadcast { every }) => {
            within("every", every, &some)?;
            within("broadcasts", &(order.ramp.end() / nanos(*every)), &(0..=BROADCASTS_MAX))
        }
    }
}

fn of_process(
    lanes: usize,
    share: Option<Share>,
    cpus: &[usize],
    sources: &[IpAddr],
) -> Result<(), String> {
    within("lanes", &lanes, &(1..=THREADS_MAX))?;
    if let Some(share) = share {
        within("threads in all", &share.of, &(1..=LANES_MAX))?;
        share.check(lanes)?;
    }
    within("CPUs", &cpus.len(), &(0..=CPUS_MAX))?;
    cpus.iter().try_for_each(|cpu| within("CPU", cpu, &(0..=CPUS_MAX - 1)))?;
    within("sources", &sources.len(), &(0..=SOURCES_MAX))
}

fn of_times(timeout: Duration, window: Duration) -> Result<(), String> {
    within("timeout", &timeout, &(Duration::from_micros(1)..=TIMEOUT_MAX))?;
    within("window", &window, &WINDOW)
}

fn of_limits(limits: &Limits) -> Result<(), String> {
    let Limits { head, fields, interims, chunk_line, extensions, trailers, body: _, lenient: _ } =
        *limits;
    for (what, octets) in [
        ("limits.head", head),
        ("limits.chunk_line", chunk_line),
        ("limits.extensions", extensions),
        ("limits.trailers", trailers),
    ] {
        within(what, &octets, &(1..=KEPT_MAX))?;
    }
    within("limits.fields", &fields, &(1..=Limits::default().fields))?;
    within("limits.interims", &interims, &(0..=INTERIMS_MAX))
}

fn of_held_limits(limits: HeldLimits) -> Result<(), String> {
    let HeldLimits { message: _, fragments } = limits;
    within("held_limits.fragments", &fragments, &(1..=FRAGMENTS_MAX))
}

fn of_asks(asks: &Asks, protocol: &Protocol) -> Result<(), String> {
    within("requests", &asks.iter().count(), &(1..=ASKS_MAX))?;
    let is_http2 = matches!(protocol, Protocol::Http2(_));
    match asks.iter().all(|ask| ask.is_over_http2() == is_http2) {
        true => Ok(()),
        false => Err("the requests were made for another protocol".into()),
    }
}

fn of_connections(order: &Order) -> Result<(), String> {
    let all = 1..=CONNECTIONS_MAX;
    within("connections", &order.load.connections_max(), &all)?;
    let streams = order.load.connections_max() as u64 * order.protocol.streams() as u64;
    within("requests at once", &streams, &(1..=EXCHANGES_MAX))?;
    match &order.load {
        Load::Closed { .. } => return Ok(()),
        Load::Open { connections, max_connections, .. } => {
            within("connections at the start", connections, &(0..=*max_connections))?;
        }
        Load::Sessions { calls, .. } => within("calls", calls, &(1..=CALLS_MAX))?,
    }
    let Some(arrivals) = order.load.arrivals() else { return Ok(()) };
    of_arrivals(arrivals)?;
    let lanes = order.lanes as f64 / order.lanes_in_all() as f64;
    let waiting = arrivals.peak().as_f64() * order.timeout.as_secs_f64() * lanes;
    within("requests that may be due within a time-out", &(waiting as u64), &(0..=EXCHANGES_MAX))
}

fn of_arrivals(arrivals: &Arrivals) -> Result<(), String> {
    let part = Duration::from_millis(1)..=TIME_MAX;
    match arrivals {
        Arrivals::Constant(_) | Arrivals::Poisson(_) => {}
        Arrivals::Ramp { over, .. } => within("ramp", over, &part)?,
        Arrivals::Steps(steps) => {
            within("steps", &steps.len(), &(1..=STEPS_MAX))?;
            steps.iter().try_for_each(|(_, length)| within("step", length, &part))?;
        }
        Arrivals::Listed(listed) => {
            let last = listed.times().last().copied().unwrap_or(0);
            within("last time", &last, &(0..=nanos(TIME_MAX)))?;
        }
    }
    // Each step is bounded, and so is their number: the sum does not overflow.
    arrivals.length().map_or(Ok(()), |length| within("schedule", &length, &part))
}

fn of_ramp(ramp: &Ramp) -> Result<(), String> {
    within("connections", &ramp.connections, &(1..=CONNECTIONS_MAX))?;
    within("step", &ramp.step, &(1..=CONNECTIONS_MAX))?;
    within("connections a second", &ramp.per_second, &HELD_RATE)?;
    within("plateaus", &ramp.plateaus(), &(1..=PLATEAUS_MAX))?;
    let part = Duration::from_millis(1)..=TIME_MAX;
    within("every", &ramp.every, &part)?;
    within("settle", &ramp.settle, &(Duration::ZERO..=TIME_MAX))?;
    let end = u128::from(nanos(ramp.every)) * ramp.plateaus() as u128;
    within("ramp", &end, &(0..=TIME_MAX.as_nanos()))?;
    match ramp.leaves_time() {
        true => Ok(()),
        false => Err("a step of the ramp leaves no time to measure".into()),
    }
}

/// No load that was read ends later than this. So times of all lanes add up to less than 2^63.
pub(crate) const INSTANT_MAX: Nanos = 1 << 51;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_lanes_add_up_without_an_overflow() {
        assert!(INSTANT_MAX * LANES_MAX as u64 <= 1 << 63);
        let opening = 20_000 * CONNECTIONS_MAX as u64 + nanos(*WINDOW.end());
        let longest = opening + 2 * nanos(TIME_MAX) + nanos(TIMEOUT_MAX);
        assert!(2 * longest < 3 * INSTANT_MAX);
    }
}
