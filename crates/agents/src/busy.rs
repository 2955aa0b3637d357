//! One run at a time on a host, for each of its users: agents of two runs would disturb one another's loads.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

/// Held while an agent has a run; the kernel releases it, however the agent ends.
#[derive(Debug)]
pub(crate) struct Claim {
    /// None: another agent of the same run holds it.
    _held: Option<File>,
}

/// Who holds it.
#[derive(Serialize, Deserialize)]
struct Holder {
    run: String,
    by: String,
    since_unix_s: u64,
}

/// No holder is longer.
const HOLDER_MAX: u64 = 4_096;

/// In the user's folder of this host's memory, or else in /tmp; never in a folder that several hosts may share.
fn path(what: &str) -> PathBuf {
    let uid = rustix::process::getuid().as_raw();
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) if !folder.is_empty() => {
            PathBuf::from(folder).join(format!("dyno-{what}.lock"))
        }
        Some(_) | None => PathBuf::from(format!("/tmp/dyno-{what}-{uid}.lock")),
    }
}

impl Claim {
    /// Takes this host for a run, as an agent that loads or as one that has `servers`, or says who has it.
    pub(crate) fn stake(what: &str, run: &str, by: &str) -> Result<Claim, String> {
        let path = path(what);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)
            .map_err(|error| failed(&error))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut text = String::new();
            let _ = (&file).take(HOLDER_MAX).read_to_string(&mut text);
            return match serde_json::from_str::<Holder>(&text) {
                Ok(holder) if holder.run == run => Ok(Claim { _held: None }),
                Ok(holder) => Err(format!(
                    "it is busy with a run of {}, since {} UTC; wait for it, or end it there",
                    holder.by,
                    time_of_day(holder.since_unix_s)
                )),
                Err(_) => Err("it is busy with another run; wait for it, or end it there".into()),
            };
        }
        let holder = Holder { run: run.into(), by: by.into(), since_unix_s: now_unix_s() };
        let text = serde_json::to_string(&holder).map_err(|error| failed(&error))?;
        let written = file.set_len(0).and_then(|()| file.rewind());
        written.and_then(|()| file.write_all(text.as_bytes())).map_err(|error| failed(&error))?;
        Ok(Claim { _held: Some(file) })
    }
}

fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// `12:04`
fn time_of_day(unix_s: u64) -> String {
    format!("{:02}:{:02}", unix_s / 3_600 % 24, unix_s / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_in_hours_and_minutes() {
        assert_eq!(time_of_day(0), "00:00");
        assert_eq!(time_of_day(86_400 + 12 * 3_600 + 4 * 60 + 59), "12:04");
    }
}
