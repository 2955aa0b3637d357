//! A command that a warden runs to its end: a step of a build, or what is asked of a service.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use machine::process::{Exit, Running};
use rustix::process::{Pid, Signal, kill_process_group};

use super::last_line;

const PACE: Duration = Duration::from_millis(2);

/// Why a command did not do what it should.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The command, how it ended, and its last line.
    Ended(String),
    /// The command, and the time that it had.
    Late(String, Duration),
    Halted,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Ended(says) => f.write_str(says),
            Failed::Late(command, limit) => {
                write!(f, "`{command}` took longer than {:.0} s", limit.as_secs_f64())
            }
            Failed::Halted => f.write_str("interrupted"),
        }
    }
}

/// Waits for the end of a command that was launched as it is typed here, and writes to this log. All processes of it end
/// with it. Returns the last of what it printed.
pub(crate) fn run_to_end(
    launched: io::Result<Running>,
    typed: &str,
    log: &Path,
    limit: Duration,
    is_halted: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Failed> {
    let mut running =
        launched.map_err(|error| Failed::Ended(format!("`{typed}` cannot be run: {error}")))?;
    let began = Instant::now();
    while running.ended().is_none() {
        if is_halted() {
            return Err(Failed::Halted);
        }
        if limit <= began.elapsed() {
            return Err(Failed::Late(typed.into(), limit));
        }
        std::thread::sleep(PACE);
    }
    let stopped = running.stop();
    match stopped.exit {
        Exit::Status(0) => Ok(stopped.tail),
        exit => Err(Failed::Ended(format!("`{typed}` ended with {exit}{}", last_line(log)))),
    }
}

/// Waits for a program that has no warden, and leads a group of processes; if it takes longer, the group is killed.
pub(crate) fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let until = Instant::now() + limit;
    while matches!(child.try_wait(), Ok(None)) {
        if until < Instant::now() {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}
