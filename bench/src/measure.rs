//! One command, run as the only child of a process made for it: this makes its CPU time exact.

use crate::args::MeasureArgs;
use crate::usage::{self, Spent};
use anyhow::{Context, Result, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// The child's side: binds itself to a CPU, runs the command, writes what that used.
pub(crate) fn main(args: &MeasureArgs) -> Result<()> {
    usage::bind_to(args.cpu)?;
    let (program, rest) = args.command.split_first().context("no command")?;
    let mut child = Command::new(program).args(rest).spawn().with_context(|| program.clone())?;
    let in_time = ends_within(&child, args.limit)?;
    if !in_time {
        kill_process(Pid::from_child(&child), Signal::KILL)?;
    }
    let status = child.wait()?;
    let spent = Spent::by_children()?;
    let report = json!({
        "user_us": u64::try_from(spent.user.as_micros())?,
        "system_us": u64::try_from(spent.system.as_micros())?,
        "peak_rss_bytes": spent.peak_rss_bytes,
        "in_time": in_time,
        "status": status.to_string(),
        "ok": status.success(),
    });
    Ok(fs::write(&args.report, report.to_string())?)
}

fn ends_within(child: &Child, seconds: u32) -> Result<bool> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let limit = Timespec { tv_sec: seconds.into(), tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&limit))? > 0)
}

/// What a measured command printed and used.
pub(crate) struct Measured {
    pub(crate) stdout: String,
    pub(crate) spent: Spent,
    /// Why its figures may be less reliable: it ended with an error.
    pub(crate) complaint: Option<String>,
}

/// Runs `command` through `bench measure`, on one CPU, killed after `limit_s`.
pub(crate) fn run(
    bench: &Path,
    scratch: &Path,
    cpu: usize,
    limit_s: u32,
    command: &[String],
) -> Result<Measured> {
    let report = scratch.join("measured.json");
    let _ = fs::remove_file(&report);
    let output = Command::new(bench)
        .args(["measure", "--report"])
        .arg(&report)
        .args(["--cpu", &cpu.to_string(), "--limit", &limit_s.to_string(), "--"])
        .args(command)
        .env("RUST_BACKTRACE", "0")
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report = fs::read_to_string(&report)
        .map_err(|_| anyhow!("could not be run: {}", last_words(&stderr)))?;
    let report: Value = serde_json::from_str(&report)?;
    if report["in_time"] == false {
        bail!("was still running after {limit_s} s and was killed");
    }
    let ended = || format!("{}: {}", report["status"].as_str().unwrap_or(""), last_words(&stderr));
    Ok(Measured {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        spent: spent(&report)?,
        complaint: (report["ok"] == false).then(ended),
    })
}

fn spent(report: &Value) -> Result<Spent> {
    let number = |key: &str| report[key].as_u64().with_context(|| format!("no {key}"));
    Ok(Spent {
        user: Duration::from_micros(number("user_us")?),
        system: Duration::from_micros(number("system_us")?),
        peak_rss_bytes: number("peak_rss_bytes")?,
    })
}

/// The last meaningful line, cut to what fits under a table.
fn last_words(stderr: &str) -> String {
    // After a panic the last line is a hint about backtraces, the one before it the reason.
    let is_reason = |line: &&str| !line.trim().is_empty() && !line.starts_with("note: ");
    let line = stderr.lines().rev().find(is_reason).unwrap_or("");
    line.trim().chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_says_something_is_quoted() {
        assert_eq!(last_words("first\nerror: no such host\n\n"), "error: no such host");
        let panic =
            "thread 'main' panicked at a.rs:1:1:\nno such thing\nnote: run with RUST_BACKTRACE";
        assert_eq!(last_words(panic), "no such thing");
        assert_eq!(last_words(""), "");
    }

    #[test]
    fn what_a_command_used_is_read_back() {
        let report = json!({ "user_us": 5, "system_us": 7, "peak_rss_bytes": 4096 });
        let read = spent(&report).expect("all three are there");
        assert_eq!((read.cpu(), read.peak_rss_bytes), (Duration::from_micros(12), 4096));
    }
}
