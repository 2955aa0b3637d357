//! One run at a time on a host, for each of its users: agents of two runs would disturb one another's loads.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

/// A run that has just taken a host writes that down a moment later: until then the name of another stands there, or none.
const LOOKS: u32 = 40;
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

impl Claim {
    /// Takes this host for a run, as an agent that loads or as one that has `servers`, or says who has it.
    pub(crate) fn stake(what: &str, run: &str, by: &str) -> Result<Claim, String> {
        Claim::stake_at(&path(what), run, by)
    }

    fn stake_at(path: &Path, run: &str, by: &str) -> Result<Claim, String> {
        let mut looks = 0;
        loop {
            match Claim::look(path, run, by) {
                Ok(Ok(claim)) => return Ok(claim),
                Ok(Err(busy)) if LOOKS <= looks => return Err(busy),
                Ok(Err(_)) => {
                    looks += 1;
                    std::thread::sleep(BETWEEN_LOOKS);
                }
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
    }

    /// The claim; or who has the host, as far as that can be read now.
    fn look(path: &Path, run: &str, by: &str) -> io::Result<Result<Claim, String>> {
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut text = String::new();
            let _ = (&file).take(HOLDER_MAX).read_to_string(&mut text);
            return Ok(match serde_json::from_str::<Holder>(&text) {
                Ok(holder) if holder.run == run => Ok(Claim { _held: None }),
                Ok(holder) => Err(format!(
                    "it is busy with a run of {}, since {} UTC; wait for it, or end it there",
                    holder.by,
                    time_of_day(holder.since_unix_s)
                )),
                Err(_) => Err("it is busy with another run; wait for it, or end it there".into()),
            });
        }
        let holder = Holder { run: run.into(), by: by.into(), since_unix_s: now_unix_s() };
        let text = serde_json::to_string(&holder)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        Ok(Ok(Claim { _held: Some(file) }))
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
    fn agents_of_one_run_that_begin_at_once_share_a_host_and_another_run_is_refused() {
        let name = format!("dyno-busy-{}.lock", std::process::id());
        let path = std::env::temp_dir().join(name);
        // As left by the run before; the next one has the lock, and has not written yet.
        std::fs::write(&path, r#"{"run":"before","by":"a@b","since_unix_s":0}"#).unwrap();
        let mut holder = File::options().write(true).open(&path).unwrap();
        flock(&holder, FlockOperation::NonBlockingLockExclusive).unwrap();
        let (second, other) = std::thread::scope(|scope| {
            let second = scope.spawn(|| Claim::stake_at(&path, "now", "me@desk"));
            let other = scope.spawn(|| Claim::stake_at(&path, "else", "me@desk"));
            holder.set_len(0).unwrap();
            std::thread::sleep(3 * BETWEEN_LOOKS);
            let text = r#"{"run":"now","by":"me@desk","since_unix_s":60}"#;
            holder.write_all(text.as_bytes()).unwrap();
            (second.join().unwrap(), other.join().unwrap())
        });
        assert!(second.is_ok_and(|claim| claim._held.is_none()));
        let says =
            "it is busy with a run of me@desk, since 00:01 UTC; wait for it, or end it there";
        assert_eq!(other.unwrap_err(), says);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_time_of_day_is_in_hours_and_minutes() {
        assert_eq!(time_of_day(0), "00:00");
        assert_eq!(time_of_day(86_400 + 12 * 3_600 + 4 * 60 + 59), "12:04");
    }
}
