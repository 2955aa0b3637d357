//! The load, from its flags: closed, open or sessions, and for how long.

use std::path::PathBuf;
use std::time::Duration;

use load::{Arrivals, Load, Rate, Stop};

use super::flags::{ArrivingFlags, Law, LoadFlags};
use crate::shell::Refusal;
use lab::amounts;

/// A rate in its written form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// `1000`
    Level(Rate),
    /// `100..5000`, over the duration
    Ramp(Rate, Rate),
    /// `1000:5s,2000:5s`
    Steps(Vec<(Rate, Duration)>),
}

/// How requests are spaced in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    /// By a law.
    Law(Law),
    /// As a file lists their times.
    File(PathBuf),
}

/// `constant`, `poisson`, or anything else: the path of a file.
pub(crate) fn spacing(text: &str) -> Result<Spacing, String> {
    match text {
        "" => Err("it is empty; write constant, poisson, or the path of a file of times".into()),
        "constant" => Ok(Spacing::Law(Law::Constant)),
        "poisson" => Ok(Spacing::Law(Law::Poisson)),
        path => Ok(Spacing::File(path.into())),
    }
}

const USUAL_CONNECTIONS: usize = 50;
const USUAL_DURATION: Duration = Duration::from_secs(10);
const USUAL_CALLS: u64 = 10;

/// One rate.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|error: load::RateError| error.to_string())
}

/// A level, a ramp or steps.
pub(crate) fn shape(text: &str) -> Result<Shape, String> {
    if let Some((from, to)) = text.split_once("..") {
        return Ok(Shape::Ramp(rate(from)?, rate(to)?));
    }
    if !text.contains(':') {
        return Ok(Shape::Level(rate(text)?));
    }
    let step = |part: &str| {
        let (level, length) = part
            .split_once(':')
            .ok_or_else(|| format!("`{part}` has no length; write steps like 1000:5s,2000:5s"))?;
        Ok((rate(level)?, amounts::time(length)?))
    };
    text.split(',').map(step).collect::<Result<_, String>>().map(Shape::Steps)
}

/// The load that the flags describe, for so long, on a machine with files for this many connections.
pub(crate) fn load(flags: &ArrivingFlags, span: Duration, files_for: u64) -> Result<Load, Refusal> {
    if let Some(Spacing::File(path)) = &flags.arrivals {
        return Err(Refusal::new(format!(
            "--arrivals {}: a race has one rate; write constant or poisson, and -r",
            path.display()
        )));
    }
    match (&flags.rate, flags.sessions) {
        (Some(shape), _) => open(flags, shape, span, files_for),
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
    shape: &Shape,
    span: Duration,
    files_for: u64,
) -> Result<Load, Refusal> {
    let arrivals = arrivals(shape, flags.arrivals.as_ref(), span)?;
    open_load(flags, arrivals, files_for)
}

/// An open load with these arrivals.
pub(super) fn open_load(
    flags: &ArrivingFlags,
    arrivals: Arrivals,
    files_for: u64,
) -> Result<Load, Refusal> {
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
    let arrivals = arrivals(&Shape::Level(rate), flags.arrivals.as_ref(), span)?;
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

fn arrivals(shape: &Shape, spacing: Option<&Spacing>, over: Duration) -> Result<Arrivals, Refusal> {
    let is_poisson = spacing == Some(&Spacing::Law(Law::Poisson));
    match shape {
        Shape::Level(rate) if is_poisson => Ok(Arrivals::Poisson(*rate)),
        Shape::Level(rate) => Ok(Arrivals::Constant(*rate)),
        Shape::Ramp(..) | Shape::Steps(_) if is_poisson => {
            Err(Refusal::new("--arrivals poisson goes with one rate only; give --rate one number"))
        }
        Shape::Ramp(from, to) => Ok(Arrivals::Ramp { from: *from, to: *to, over }),
        Shape::Steps(steps) => Ok(Arrivals::Steps(steps.clone())),
    }
}

/// How long to load.
pub(super) fn span(flags: &LoadFlags) -> Duration {
    flags.duration.unwrap_or(USUAL_DURATION)
}

/// When the load ends. Listed arrivals have a length of their own, from the first to the last.
pub(super) fn stop(flags: &LoadFlags, listed: Option<&Arrivals>) -> Result<Stop, Refusal> {
    if let Some(listed) = listed.and_then(Arrivals::length) {
        let duration = flags.duration.unwrap_or(listed.saturating_sub(flags.warmup));
        return Ok(Stop { total: flags.requests, duration: Some(duration.min(listed)) });
    }
    let of_steps = match &flags.arriving.rate {
        Some(Shape::Steps(steps)) => Some(steps.iter().map(|(_, length)| *length).sum()),
        Some(Shape::Ramp(..)) => Some(span(flags)),
        Some(Shape::Level(_)) | None => None,
    };
    if of_steps.is_some_and(|length: Duration| Duration::from_secs(24 * 3_600) < length) {
        return Err(Refusal::new("--rate: the steps are longer than a day; 24h is the most"));
    }
    let usual = flags.requests.is_none().then_some(USUAL_DURATION);
    Ok(Stop { total: flags.requests, duration: flags.duration.or(of_steps).or(usual) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_level_a_ramp_or_steps() {
        let level = |text| rate(text).unwrap();
        let s = Duration::from_secs;
        assert_eq!(shape("20k"), Ok(Shape::Level(level("20000"))));
        assert_eq!(shape("100..5k"), Ok(Shape::Ramp(level("100"), level("5000"))));
        assert_eq!(
            shape("1000:5s,2000:1m"),
            Ok(Shape::Steps(vec![(level("1000"), s(5)), (level("2000"), s(60))]))
        );
        for text in ["", "0", "1..", "..5", "1000:5s,2000", "1:0s", "1000:", "-1", "1e9k"] {
            assert!(shape(text).is_err(), "{text}");
        }
    }
}
