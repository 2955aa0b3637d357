//! The load, from its flags: closed, open or sessions, and for how long.

use std::path::PathBuf;
use std::time::Duration;

use lab::schedule::{Law, Schedule};
use load::{Arrivals, Load, Rate, Stop};
use requests::arrivals::Times;

use super::flags::{ArrivingFlags, LoadFlags};
use crate::shell::Refusal;

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
        text => Ok(Law::named(text).map_or_else(|| Spacing::File(text.into()), Spacing::Law)),
    }
}

const USUAL_CONNECTIONS: usize = 50;
const USUAL_DURATION: Duration = Duration::from_secs(10);
const USUAL_CALLS: u64 = 10;

/// No schedule is longer.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// `2`, `0.5` or `2x`.
pub(crate) fn speed(text: &str) -> Result<f64, String> {
    match text.trim_end_matches(['x', '×']).parse() {
        Ok(factor) if (0.001..=1e6).contains(&factor) => Ok(factor),
        _ => Err(format!(
            "`{text}` is not a speed; write a number from 0.001 to 1000000, as 2 or 0.5"
        )),
    }
}

/// The listed arrivals, if a file is named, and what is to be known of them.
pub(super) fn listed(flags: &LoadFlags) -> Result<Option<(Arrivals, Option<String>)>, Refusal> {
    let Some(Spacing::File(path)) = &flags.arriving.arrivals else {
        return match flags.speed {
            None => Ok(None),
            Some(_) => {
                Err(Refusal::new("--speed is for --arrivals FILE; add it, or leave --speed out"))
            }
        };
    };
    for (is_given, flag) in [
        (flags.arriving.rate.is_some(), "--rate"),
        (flags.arriving.sessions.is_some(), "--sessions"),
    ] {
        if is_given {
            return Err(Refusal::new(format!(
                "--arrivals {} is a schedule of its own; leave {flag} out, or write --arrivals constant or poisson",
                path.display()
            )));
        }
    }
    let speed = flags.speed.unwrap_or(1.0);
    let Times { listed, note } = requests::arrivals::read(path, speed, flags.asking.seed)?;
    let length = listed.length();
    let refused = |why: String| Err(Refusal::new(format!("--arrivals {}: {why}", path.display())));
    if LONGEST < length {
        return refused(
            "the times are spread over more than a day; at most 24h: add --speed, or cut the file"
                .into(),
        );
    }
    if length <= flags.warmup {
        let warmup = units::duration(flags.warmup);
        return refused(format!(
            "its times are over within --warmup {warmup}; shorten the warm-up"
        ));
    }
    Ok(Some((Arrivals::Listed(listed), note)))
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
    let arrivals = arrivals(schedule, flags.arrivals.as_ref(), span)?;
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
    let arrivals = arrivals(&Schedule::Level(rate), flags.arrivals.as_ref(), span)?;
    let calls = u32::try_from(flags.calls.unwrap_or(USUAL_CALLS))
        .map_err(|_| Refusal::new("--calls: at most 4 billion calls on a connection"))?;
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

fn arrivals(
    schedule: &Schedule,
    spacing: Option<&Spacing>,
    over: Duration,
) -> Result<Arrivals, Refusal> {
    let is_poisson = spacing == Some(&Spacing::Law(Law::Poisson));
    match schedule {
        Schedule::Level(rate) if is_poisson => Ok(Arrivals::Poisson(*rate)),
        Schedule::Ramp(..) | Schedule::Steps(_) if is_poisson => {
            Err(Refusal::new("--arrivals poisson requires a single rate; give --rate one number"))
        }
        _ => Ok(schedule.arrivals(over)),
    }
}

/// A schedule that is over within the warm-up is refused: nothing of it would be measured.
pub(super) fn check_warmup(load: &Load, warmup: Duration) -> Result<(), Refusal> {
    match load.arrivals().and_then(Arrivals::length) {
        Some(length) if length <= warmup => Err(Refusal::new(format!(
            "--warmup: the schedule lasts {}, and all of it would be warm-up; give a shorter warm-up or a longer schedule",
            units::time(length.as_nanos() as f64)
        ))),
        _ => Ok(()),
    }
}

/// How long to load.
pub(super) fn span(flags: &LoadFlags) -> Duration {
    flags.duration.unwrap_or(USUAL_DURATION)
}

/// When the load ends. Listed arrivals have a length of their own, from the first to the last.
pub(super) fn stop(flags: &LoadFlags, listed: Option<&Arrivals>) -> Result<Stop, Refusal> {
    if let Some(listed) = listed.and_then(Arrivals::length) {
        let left = listed.saturating_sub(flags.warmup);
        let duration = flags.duration.map_or(left, |asked| asked.min(left));
        return Ok(Stop { total: flags.total, duration: Some(duration) });
    }
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
        Some(length) if LONGEST < length => {
            Err(Refusal::new("--rate: the steps are longer than a day; at most 24h"))
        }
        length => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use load::Listed;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: LoadFlags,
    }

    #[test]
    fn listed_arrivals_end_with_their_list_whatever_the_warm_up() {
        let times: Vec<u64> = (0..10).map(|second| second * 1_000_000_000).collect();
        let listed = Arrivals::Listed(Listed::new(&times).unwrap());
        let seconds = |flags: &[&str]| {
            let words = [&["dyno", "http://localhost/"], flags].concat();
            let line = Line::try_parse_from(words).unwrap();
            let stop = stop(&line.flags, Some(&listed)).unwrap();
            stop.duration.unwrap().as_secs()
        };
        assert_eq!(seconds(&["--warmup", "0s"]), 10);
        assert_eq!(seconds(&["--warmup", "4s"]), 6);
        assert_eq!(seconds(&["--warmup", "4s", "-d", "3s"]), 3);
        assert_eq!(seconds(&["--warmup", "4s", "-d", "9s"]), 6);
        assert_eq!(seconds(&["--warmup", "0s", "-d", "1m"]), 10);
    }

    #[test]
    fn a_speed_is_a_factor() {
        assert_eq!((speed("2"), speed("0.5x")), (Ok(2.0), Ok(0.5)));
        for text in ["", "0", "-1", "fast", "inf", "NaN", "1e9"] {
            assert!(speed(text).is_err(), "{text}");
        }
    }
}
