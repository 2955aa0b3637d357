//! The times at which requests are due, one a line, as a log has them.

use std::path::Path;

use lab::Refusal;
use load::{Listed, Nanos};
use wire::Chance;

use crate::access_log::entry;
use crate::file;
use crate::instant::{self, Instant};

/// The times of a file.
#[derive(Debug)]
pub struct Times {
    pub listed: Listed,
    /// What the reader of a result must know of them.
    pub note: Option<String>,
}

/// Reads the file of `--arrivals`; its times pass so many times as fast. Those of an access log are whole seconds, and
/// are spread by the seed.
pub fn read(path: &Path, speed: f64, seed: u64) -> Result<Times, Refusal> {
    if !path.exists() {
        return Err(Refusal::new(format!(
            "--arrivals {}: there is no such file; write constant, poisson, or the path of a file of times",
            path.display()
        )));
    }
    let bytes = file::bytes("--arrivals", path)?;
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let lines: Vec<(usize, &[u8])> = lines.filter(|(_, line)| !line.is_empty()).collect();
    let Some((_, first)) = lines.first() else {
        return Err(Refusal::new(format!(
            "--arrivals {}: there is no time in it; write one a line",
            path.display()
        )));
    };
    let (instants, note) = match entry(&String::from_utf8_lossy(first)) {
        Some(_) => of_log(path, &lines, seed)?,
        None => (of_times(path, &lines)?, None),
    };
    let began = instants[0];
    let since = |at: &i128| ((at - began) as f64 / speed).round() as Nanos;
    let times: Vec<Nanos> = instants.iter().map(since).collect();
    let listed = Listed::new(&times).expect("there is a time, and they are in order");
    Ok(Times { listed, note: note.map(|note| format!("--arrivals {}: {note}", path.display())) })
}

fn in_line(path: &Path, line: usize, why: &str) -> Refusal {
    Refusal::new(format!("--arrivals {}:{}: {why}", path.display(), line + 1))
}

/// The beginning of a line, safe to show.
fn shown(line: &[u8]) -> String {
    let beginning: String = String::from_utf8_lossy(line).chars().take(40).collect();
    beginning.escape_debug().to_string()
}

/// One time a line, in their order.
fn of_times(path: &Path, lines: &[(usize, &[u8])]) -> Result<Vec<i128>, Refusal> {
    let mut instants: Vec<Instant> = Vec::new();
    for (line, text) in lines {
        let refused = |why: &str| Err(in_line(path, *line, why));
        let Some(at) = std::str::from_utf8(text).ok().and_then(instant::parse) else {
            let shown = shown(text);
            return refused(&format!(
                "`{shown}` is not a time; write seconds, as 12.5, or 2026-01-31T12:00:00.5Z, or give the access log of \
                 nginx or Apache"
            ));
        };
        match instants.last() {
            Some(last) if last.is_date != at.is_date => {
                return refused(
                    "a date among seconds, or seconds among dates; write all times alike",
                );
            }
            Some(last) if at.ns < last.ns => {
                return refused("earlier than the time before it; sort the file");
            }
            Some(_) | None => instants.push(at),
        }
    }
    Ok(instants.iter().map(|at| at.ns).collect())
}

/// When the requests of an access log began, as far as it says so, sorted: nginx writes a line when its request ends.
fn of_log(
    path: &Path,
    lines: &[(usize, &[u8])],
    seed: u64,
) -> Result<(Vec<i128>, Option<String>), Refusal> {
    let (mut chance, mut instants, mut timed) = (Chance::new(seed), Vec::new(), 0);
    for (line, text) in lines {
        let Some(found) = entry(&String::from_utf8_lossy(text)) else {
            let why = format!("`{}` has no time such as [10/Oct/2000:13:55:36 -0700]", shown(text));
            return Err(in_line(path, *line, &why));
        };
        let within = (chance.unit() * 1e9) as i128;
        timed += usize::from(found.took_ns.is_some());
        instants.push(found.second_ns + within - found.took_ns.unwrap_or(0));
    }
    instants.sort_unstable();
    let beginnings = match lines.len() - timed {
        0 => ", and $request_time is taken off, so that requests are due when they began",
        _ => {
            ". nginx writes when a request ended, Apache when it began: with $request_time as the last thing of \
             each line of nginx's, dyno takes it off"
        }
    };
    let note = format!(
        "the log has whole seconds, within which the requests are spread at random (--seed){beginnings}"
    );
    Ok((instants, Some(note)))
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
        let read = read(&path, speed, 1).map(|times| times.listed);
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
    fn the_seconds_of_an_access_log_are_spread_and_sorted_and_what_requests_took_is_taken_off() {
        let line = |second: u32, took: &str| {
            format!(
                "::1 - - [10/Oct/2000:13:55:{second:02} +0000] \"GET / HTTP/1.1\" 200 5{took}\n"
            )
        };
        let log: String = (0..200).map(|_| line(7, "")).chain([line(5, "")]).collect();
        let times = of(&log, 1.0).unwrap();
        assert!(times.is_sorted() && times.len() == 201);
        let (first, last) = (times[1], times[200]);
        assert!(
            (1_000..2_020).contains(&first) && (last - first) > 900 && last < 3_000,
            "{times:?}"
        );
        assert_eq!(of(&log, 1.0), of(&log, 1.0), "by the seed");
        // It was written last, and its request began first.
        let late = of(&[line(6, " 0.001"), line(9, " 8.000")].concat(), 1.0).unwrap();
        assert!((4_000..6_000).contains(&late[1]), "{late:?}");
        let why = of(&(line(7, "") + "12.5\n"), 1.0).unwrap_err();
        assert_eq!(why, "--arrivals F:2: `12.5` has no time such as [10/Oct/2000:13:55:36 -0700]");
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, says) in [
            ("1\n2\nx\n", "--arrivals F:3: `x` is not a time"),
            ("2\n1\n", "--arrivals F:2: earlier"),
            ("5\n1\n", "--arrivals F:2: earlier"),
            ("1\n2026-01-01T00:00:00Z\n", "--arrivals F:2: a date among seconds"),
            ("\n \n", "--arrivals F: there is no time"),
            ("1 GET /\n", "--arrivals F:1"),
        ] {
            let why = of(text, 1.0).unwrap_err();
            assert!(why.starts_with(says), "{why}");
        }
    }
}
