//! `--arrivals FILE`: the times at which requests are due, one a line, as a log has them.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use load::{Arrivals, Listed, Nanos};

use super::answer;
use super::flags::LoadFlags;
use super::instant::{self, Instant};
use super::schedule::Spacing;
use crate::shell::Refusal;

#[derive(Args)]
pub(crate) struct ReplayFlags {
    /// With --arrivals FILE: how many times as fast [1]
    #[arg(long, value_name = "FACTOR", value_parser = speed)]
    pub(crate) speed: Option<f64>,
}

/// No schedule is longer.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// `2`, `0.5` or `2x`.
fn speed(text: &str) -> Result<f64, String> {
    match text.trim_end_matches(['x', '×']).parse() {
        Ok(factor) if (0.001..=1e6).contains(&factor) => Ok(factor),
        _ => {
            Err(format!("`{text}` is no speed; write a number from 0.001 to 1000000, as 2 or 0.5"))
        }
    }
}

/// The listed arrivals, if a file is named.
pub(super) fn arrivals(flags: &LoadFlags) -> Result<Option<Arrivals>, Refusal> {
    let Some(Spacing::File(path)) = &flags.arriving.arrivals else {
        return match flags.replay.speed {
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
    let listed = read(path, flags.replay.speed.unwrap_or(1.0))?;
    let length = listed.length();
    let refused = |why: String| Err(Refusal::new(format!("--arrivals {}: {why}", path.display())));
    if LONGEST < length {
        return refused("the times are spread over more than a day; 24h is the most: add --speed, or cut the file".into());
    }
    if length <= flags.warmup {
        let warmup = units::duration(flags.warmup);
        return refused(format!(
            "its times are over within --warmup {warmup}; shorten the warm-up"
        ));
    }
    Ok(Some(Arrivals::Listed(listed)))
}

fn read(path: &Path, speed: f64) -> Result<Listed, Refusal> {
    if !path.exists() {
        return Err(Refusal::new(format!(
            "--arrivals {}: there is no such file; write constant, poisson, or the path of a file of times",
            path.display()
        )));
    }
    let bytes = answer::file("--arrivals", path)?;
    let in_line = |line: usize, why: &str| {
        Refusal::new(format!("--arrivals {}:{}: {why}", path.display(), line + 1))
    };
    let mut first: Option<Instant> = None;
    let mut times: Vec<Nanos> = Vec::new();
    for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let text = text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let at = std::str::from_utf8(text).ok().and_then(instant::parse).ok_or_else(|| {
            let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
            let shown = shown.escape_debug();
            in_line(
                line,
                &format!("`{shown}` is no time; write seconds, as 12.5, or 2026-01-31T12:00:00.5Z"),
            )
        })?;
        let began = *first.get_or_insert(at);
        if began.is_date != at.is_date {
            return Err(in_line(
                line,
                "a date among seconds, or seconds among dates; write all times alike",
            ));
        }
        let since = at.ns - began.ns;
        let since =
            Nanos::try_from(since).ok().map(|since| (since as f64 / speed).round() as Nanos);
        match since {
            Some(since) if times.last().is_none_or(|last| *last <= since) => times.push(since),
            Some(_) | None => {
                return Err(in_line(line, "earlier than the time before it; sort the file"));
            }
        }
    }
    Listed::new(&times).ok_or_else(|| {
        Refusal::new(format!(
            "--arrivals {}: there is no time in it; write one a line",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, speed: f64) -> Result<Vec<u64>, String> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("dyno-times-{}-{number}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let read = read(&path, speed);
        std::fs::remove_file(&path).unwrap();
        let listed =
            read.map_err(|refusal| refusal.to_string().replace(&path.display().to_string(), "F"))?;
        let expected: Vec<u64> = listed.times().iter().map(|ns| ns / 1_000_000).collect();
        Ok(expected)
    }

    #[test]
    fn times_count_from_the_first_line() {
        assert_eq!(of("0\n0.5\n0.5\n2\n", 1.0), Ok(vec![0, 500, 500, 2_000]));
        assert_eq!(of("1700000000.25\r\n\n1700000001\n", 1.0), Ok(vec![0, 750]));
        assert_eq!(of("-1\n1\n", 2.0), Ok(vec![0, 1_000]));
        let dates =
            "2026-02-28T23:59:59.5Z\n2026-03-01T01:00:00+01:00\n2026-02-28T19:00:01-05:00\n";
        assert_eq!(of(dates, 1.0), Ok(vec![0, 500, 1_500]));
        assert_eq!(of("1\n2\n3\n", 0.5), Ok(vec![0, 2_000, 4_000]));
    }

    #[test]
    fn a_bad_line_is_named() {
        let why = |text: &str| of(text, 1.0).unwrap_err();
        assert!(
            why("1\n2\nx\n").starts_with("--arrivals F:3: `x` is no time"),
            "{}",
            why("1\n2\nx\n")
        );
        assert!(why("2\n1\n").starts_with("--arrivals F:2: earlier"));
        assert!(why("5\n1\n").starts_with("--arrivals F:2: earlier"));
        assert!(
            why("1\n2026-01-01T00:00:00Z\n").starts_with("--arrivals F:2: a date among seconds")
        );
        assert!(why("\n \n").starts_with("--arrivals F: there is no time"));
        assert!(why("1 GET /\n").contains("F:1"));
    }

    #[test]
    fn a_speed_is_a_factor() {
        assert_eq!((speed("2"), speed("0.5x")), (Ok(2.0), Ok(0.5)));
        for text in ["", "0", "-1", "fast", "inf", "NaN", "1e9"] {
            assert!(speed(text).is_err(), "{text}");
        }
    }
}
