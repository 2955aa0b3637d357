//! The load, from its flags: closed, open or sessions, and for how long.

use std::time::Duration;

use lab::schedule::Schedule;
use load::{Arrivals, Load, Rate, Stop};

use super::flags::{ArrivingFlags, Law, LoadFlags};
use crate::shell::Refusal;

const USUAL_CONNECTIONS: usize = 50;
const USUAL_DURATION: Duration = Duration::from_secs(10);
const USUAL_CALLS: u64 = 10;

/// The load that the flags describe, for so long, on a machine with files for this many connections.
pub(crate) fn load(flags: &ArrivingFlags, span: Duration, files_for: u64) -> Result<Load, Refusal> {
    match (&flags.rate, flags.sessions) {
        (Some(schedule), _) => open(flags, schedule, span, files_for),
        (None, Some(rate)) => sessions(flags, rate, span, files_for),
        (None, None) => closed(flags),
    }
}

fn closed(flags: &ArrivingFlags) -> Result<Load, Refusal> {
    let idle = |flag: &str| {
        Refusal::new(format!("{flag} is for a schedule; add --rate or --sessions, or leave it out"))
    };
    if flags.arrivals.is_some() {
        return Err(idle("--arrivals"));
    }
    if flags.max_connections.is_some() {
        return Err(idle("--max-connections"));
    }
    Ok(Load::Closed { connections: flags.connections.unwrap_or(USUAL_CONNECTIONS) })
}

fn open(
    flags: &ArrivingFlags,
    schedule: &Schedule,
    span: Duration,
    files_for: u64,
) -> Result<Load, Refusal> {
    let arrivals = arrivals(schedule, flags.arrivals, span)?;
    let usual = USUAL_CONNECTIONS.min(arrivals.peak().as_f64().ceil() as usize);
    let max_connections = most(flags, files_for)?;
    let connections = flags.connections.unwrap_or(usual).min(max_connections);
    Ok(Load::Open { arrivals, connections, max_connections })
}

fn sessions(
    flags: &ArrivingFlags,
    rate: Rate,
    span: Duration,
    files_for: u64,
) -> Result<Load, Refusal> {
    let arrivals = arrivals(&Schedule::Level(rate), flags.arrivals, span)?;
    let calls = u32::try_from(flags.calls.unwrap_or(USUAL_CALLS))
        .map_err(|_| Refusal::new("--calls: 4 billion calls on a connection are the most"))?;
    Ok(Load::Sessions { arrivals, calls, max_connections: most(flags, files_for)? })
}

/// The given number, or as many as there are files for, up to 10,000.
fn most(flags: &ArrivingFlags, files_for: u64) -> Result<usize, Refusal> {
    if let (Some(most), Some(first)) = (flags.max_connections, flags.connections)
        && most < first
    {
        return Err(Refusal::new(format!(
            "--max-connections {most} is less than --connections {first}; raise the one or lower \
             the other"
        )));
    }
    let usual = files_for.min(10_000) as usize;
    Ok(flags.max_connections.or(flags.connections).unwrap_or(usual))
}

fn arrivals(schedule: &Schedule, law: Option<Law>, over: Duration) -> Result<Arrivals, Refusal> {
    match (schedule, law) {
        (Schedule::Level(rate), Some(Law::Poisson)) => Ok(Arrivals::Poisson(*rate)),
        (Schedule::Ramp(..) | Schedule::Steps(_), Some(Law::Poisson)) => {
            Err(Refusal::new("--arrivals poisson goes with one rate only; give --rate one number"))
        }
        (_, Some(Law::Constant) | None) => Ok(schedule.arrivals(over)),
    }
}

/// How long to load.
pub(super) fn span(flags: &LoadFlags) -> Duration {
    flags.duration.unwrap_or(USUAL_DURATION)
}

/// When the load ends.
pub(super) fn stop(flags: &LoadFlags) -> Result<Stop, Refusal> {
    let of_steps = match &flags.arriving.rate {
        Some(Schedule::Ramp(..)) => Some(span(flags)),
        Some(steps) => length_of(steps)?,
        None => None,
    };
    let usual = flags.total.is_none().then_some(USUAL_DURATION);
    Ok(Stop { total: flags.total, duration: flags.duration.or(of_steps).or(usual) })
}

/// How long steps last; none of a rate or a ramp.
pub(crate) fn length_of(steps: &Schedule) -> Result<Option<Duration>, Refusal> {
    match steps.length() {
        Some(length) if Duration::from_secs(24 * 3_600) < length => {
            Err(Refusal::new("--rate: the steps are longer than a day; 24h is the most"))
        }
        length => Ok(length),
    }
}
