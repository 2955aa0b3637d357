//! The times at which requests are due, one a line, as a log has them.

use std::path::Path;

use lab::Refusal;
use load::{Listed, Nanos};

use crate::file;
use crate::instant::{self, Instant};

/// Reads the file of `--arrivals`; its times pass so many times as fast.
pub fn read(path: &Path, speed: f64) -> Result<Listed, Refusal> {
    if !path.exists() {
        return Err(Refusal::new(format!(
            "--arrivals {}: there is no such file; write constant, poisson, or the path of a file of times",
            path.display()
        )));
    }
    let bytes = file::bytes("--arrivals", path)?;
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
                &format!(
                    "`{shown}` is not a time; write seconds, as 12.5, or 2026-01-31T12:00:00.5Z"
                ),
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
            why("1\n2\nx\n").starts_with("--arrivals F:3: `x` is not a time"),
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
}
