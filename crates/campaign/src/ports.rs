//! How many local ports a load needs.

use std::net::IpAddr;

use load::{Load, Stop, Target};
use machine::limits::Machine;
use machine::ports::{Ports, Turnover, weigh};

/// No lane opens and closes more connections a second than this.
const TURNOVER_MAX_PER_S: f64 = 20_000.0;

/// What to do about ports for a load.
pub fn ports_for(
    load: &Load,
    stop: Stop,
    keep_alive: bool,
    sources: &[IpAddr],
    target: &Target,
    machine: &Machine,
) -> Ports {
    let Target::Tcp(target) = target else {
        return Ports::Enough;
    };
    let per_s = match load {
        Load::Sessions { arrivals, .. } => arrivals.peak().as_f64(),
        Load::Open { arrivals, .. } if !keep_alive => arrivals.peak().as_f64(),
        Load::Closed { .. } if !keep_alive => TURNOVER_MAX_PER_S,
        Load::Open { .. } | Load::Closed { .. } => 0.0,
    };
    let for_s = stop.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
    let in_all_s = stop.total.map_or(f64::INFINITY, |total| total as f64 / per_s);
    // An open load opens its many connections only if it has to.
    let at_once = match load {
        Load::Closed { connections } | Load::Open { connections, .. } => *connections as u64,
        Load::Sessions { .. } => 0,
    };
    let turnover = Turnover { per_s, for_s: for_s.min(in_all_s), at_once };
    weigh(machine.ports, turnover, target.ip(), sources)
}
