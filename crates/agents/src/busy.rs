//! One run at a time on a host, for each of its users: agents of two runs would disturb one another's loads.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

/// Held while an agent has a run; the kernel releases it, however the agent ends. All agents of a run hold it together:
/// the host is free when the last of them ends.
#[derive(Debug)]
pub(crate) struct Claim {
    _held: Vec<File>,
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
/// If a file of this name in /tmp belongs to another user, another name is used; so many are tried.
const NAMES: u32 = 9;

/// The files that are locked: in the user's folder of this host's memory, if there is one, and in /tmp, as that folder
/// comes and goes with the user's sessions. Never in a folder that several hosts may share. Of each only the first counts
/// that is this user's own.
fn files(what: &str, uid: u32) -> Vec<Vec<PathBuf>> {
    // For tests, where several hosts are on one machine.
    if let Some(folder) = std::env::var_os("DYNO_LOCKS") {
        return vec![vec![PathBuf::from(folder).join(format!("dyno-{what}.lock"))]];
    }
    let in_tmp = |number| match number {
        1 => PathBuf::from(format!("/tmp/dyno-{what}-{uid}.lock")),
        _ => PathBuf::from(format!("/tmp/dyno-{what}-{uid}-{number}.lock")),
    };
    let of_user = PathBuf::from(format!("/run/user/{uid}"));
    let in_memory = of_user.is_dir().then(|| vec![of_user.join(format!("dyno-{what}.lock"))]);
    in_memory.into_iter().chain([(1..=NAMES).map(in_tmp).collect()]).collect()
}

/// The first of these that is this user's own, or can be made.
fn own_file(names: &[PathBuf], uid: u32) -> Result<File, String> {
    let mut says = String::new();
    for name in names {
        match open(name) {
            Ok(file) if file.metadata().is_ok_and(|facts| facts.uid() == uid) => return Ok(file),
            Ok(_) => says = format!("{} belongs to another user", name.display()),
            Err(error) => says = format!("{}: {error}", name.display()),
        }
    }
    Err(says)
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
}

/// A host that was just left is looked at again, and so is one that is being taken.
const LOOKS: u32 = 40;
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

impl Claim {
    /// Takes this host for a run, as an agent that loads or as one that has `servers`, or says who has it.
    pub(crate) fn stake(what: &str, run: &str, by: &str) -> Result<Claim, String> {
        let uid = rustix::process::geteuid().as_raw();
        let (mut held, mut says) = (Vec::new(), String::new());
        for names in files(what, uid) {
            match own_file(&names, uid) {
                Ok(file) => held.push(take(file, run, by)?),
                Err(error) => says = error,
            }
        }
        if held.is_empty() { Err(says) } else { Ok(Claim { _held: held }) }
    }
}

/// Takes a file's lock for a run, with the run's other agents.
fn take(file: File, run: &str, by: &str) -> Result<File, String> {
    let mut looks = 0;
    loop {
        match look(&file, run, by) {
            Ok(None) => return Ok(file),
            Ok(Some(busy)) if LOOKS <= looks => return Err(busy),
            Ok(Some(_)) => {
                looks += 1;
                std::thread::sleep(BETWEEN_LOOKS);
            }
            Err(error) => return Err(format!("the lock of this host: {error}")),
        }
    }
}

/// None if this run has the lock now; or who has it, as far as that can be read.
///
/// An agent that finds it free has it alone while it writes down the run, and then shares it. So an agent that shares it
/// can read the run.
fn look(mut file: &File, run: &str, by: &str) -> io::Result<Option<String>> {
    if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        let holder = Holder { run: run.into(), by: by.into(), since_unix_s: now_unix_s() };
        let text = serde_json::to_string(&holder)?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(text.as_bytes())?;
    }
    if flock(file, FlockOperation::NonBlockingLockShared).is_err() {
        return Ok(Some("it is busy with another run; wait for it, or end it there".into()));
    }
    let mut text = String::new();
    file.rewind()?;
    let _ = file.take(HOLDER_MAX).read_to_string(&mut text);
    let busy = match serde_json::from_str::<Holder>(&text) {
        // Another one may have taken it just before it was shared: the name that stands there counts.
        Ok(holder) if holder.run == run => return Ok(None),
        Ok(holder) => format!(
            "it is busy with a run of {}, since {} UTC; wait for it, or end it there",
            holder.by,
            time_of_day(holder.since_unix_s)
        ),
        Err(_) => "it is busy with another run; wait for it, or end it there".into(),
    };
    flock(file, FlockOperation::Unlock)?;
    Ok(Some(busy))
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

    /// A file that is removed in the end, opened once more each time, as by another process.
    struct Lock(PathBuf);

    impl Lock {
        fn new(name: &str) -> Lock {
            let name = format!("dyno-busy-{name}-{}.lock", std::process::id());
            Lock(std::env::temp_dir().join(name))
        }

        /// What a run's agent finds; and its lock, if it has it now.
        fn look(&self, run: &str) -> Result<File, String> {
            let file = open(&self.0).unwrap();
            let busy = look(&file, run, "me@desk").unwrap();
            busy.map_or(Ok(file), Err)
        }
    }

    impl Drop for Lock {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_host_is_a_runs_until_the_last_of_its_agents_ends() {
        let lock = Lock::new("last");
        // As left by the run before.
        std::fs::write(&lock.0, r#"{"run":"before","by":"a@b","since_unix_s":0}"#).unwrap();
        let first = lock.look("now").unwrap();
        let second = lock.look("now").unwrap();
        let refused = || lock.look("else").unwrap_err();
        assert!(refused().contains("it is busy with a run of me@desk, since "));
        drop(first);
        assert!(refused().contains("me@desk"), "the second one still loads");
        let third = lock.look("now").unwrap();
        drop(second);
        assert!(refused().contains("me@desk"));
        drop(third);
        // Programs that other tests begin may have it for a moment.
        take(open(&lock.0).unwrap(), "else", "me@desk").unwrap();
    }

    #[test]
    fn a_host_that_is_being_taken_has_no_holder_until_one_is_written_down() {
        let lock = Lock::new("taken");
        std::fs::write(&lock.0, r#"{"run":"before","by":"a@b","since_unix_s":0}"#).unwrap();
        let mut taking = open(&lock.0).unwrap();
        flock(&taking, FlockOperation::NonBlockingLockExclusive).unwrap();
        for run in ["now", "else", "before"] {
            assert!(lock.look(run).unwrap_err().contains("with another run"), "{run}");
        }
        let text = r#"{"run":"now","by":"me@desk","since_unix_s":60}"#;
        taking.set_len(0).unwrap();
        taking.write_all(text.as_bytes()).unwrap();
        flock(&taking, FlockOperation::NonBlockingLockShared).unwrap();
        let says =
            "it is busy with a run of me@desk, since 00:01 UTC; wait for it, or end it there";
        assert_eq!(lock.look("else").unwrap_err(), says);
        assert!(lock.look("now").is_ok());
    }

    #[test]
    fn what_another_user_has_made_in_tmp_keeps_no_agent_from_its_host() {
        let own = Lock::new("own");
        let uid = rustix::process::geteuid().as_raw();
        let names = [std::env::temp_dir(), own.0.clone()];
        own_file(&names, uid).unwrap();
        assert!(own.0.exists());
        let others = own_file(std::slice::from_ref(&own.0), uid + 1).unwrap_err();
        assert!(others.ends_with("belongs to another user"), "{others}");
    }

    #[test]
    fn a_time_of_day_is_in_hours_and_minutes() {
        assert_eq!(time_of_day(0), "00:00");
        assert_eq!(time_of_day(86_400 + 12 * 3_600 + 4 * 60 + 59), "12:04");
    }
}
