//! Other dynos that load servers on this machine while a trial runs. They share its CPUs, and no lock keeps them apart:
//! tests and local agents run several on purpose. The trial's record names them, and `dyno load` says so as it begins.

use std::collections::BTreeMap;
use std::fs;

use lab::record::{Fact, OTHER_DYNO};
use rustix::process::getppid;

/// The commands that load a server, and so disturb other measurements on the machine.
const PRESSING: [&str; 8] = ["load", "hold", "race", "capacity", "gate", "run", "check", "agents"];
/// At most this many letters of a command line are kept.
const SHOWN: usize = 120;

/// The ones that were seen during a trial, by their process id.
#[derive(Default)]
pub(crate) struct Others(BTreeMap<u32, String>);

/// The dynos that load servers on this machine now, in words.
#[must_use]
pub fn other_dynos() -> Option<String> {
    let mut others = Others::default();
    others.look();
    let more = others.0.len().saturating_sub(1);
    let first = others.0.into_values().next()?;
    Some(if more == 0 { first } else { format!("{first}, and {more} more") })
}

impl Others {
    /// Looks for them once: this reads a file for each process of the machine, so it is not done under load.
    pub(crate) fn look(&mut self) {
        let own = std::process::id();
        // A run that was ordered from this machine gets its load from there, too.
        let parent = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for pid in pids.filter(|pid| *pid != own && Some(*pid) != parent) {
            let Ok(words) = fs::read(format!("/proc/{pid}/cmdline")) else { continue };
            if let Some(command) = pressing(&words) {
                let folder = fs::read_link(format!("/proc/{pid}/cwd"));
                let place = folder.map_or(String::new(), |at| format!(" in {}", at.display()));
                self.0.insert(pid, format!("process {pid}, `{command}`{place}"));
            }
        }
    }

    /// For the trial's record.
    pub(crate) fn fact(self) -> Option<Fact> {
        let all: Vec<String> = self.0.into_values().collect();
        (!all.is_empty()).then(|| Fact { name: OTHER_DYNO.into(), value: all.join("; ") })
    }
}

/// The command line of a dyno that loads a server, if this is one.
fn pressing(words: &[u8]) -> Option<String> {
    let words: Vec<_> = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let [program, command, ..] = &words[..] else { return None };
    let is_dyno = program.rsplit('/').next() == Some("dyno");
    let is_meant = is_dyno && PRESSING.contains(&command.as_ref());
    let rest = words[1..].join(" ");
    is_meant.then(|| format!("dyno {rest}").trim().chars().take(SHOWN).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dyno_that_loads_a_server_is_known_by_its_command_line() {
        assert_eq!(pressing(b"/opt/bin/dyno\0run\0x\0").as_deref(), Some("dyno run x"));
        assert_eq!(
            pressing(b"dyno\0load\0http://127.0.0.1:1/\0").as_deref().map(str::len),
            Some(29)
        );
        for other in
            [&b"dyno\0serve\0"[..], b"dyno\0", b"dynomite\0run\0", b"", b"sh\0-c\0dyno run x\0"]
        {
            assert_eq!(pressing(other), None, "{other:?}");
        }
        assert_eq!(
            pressing(&[b"dyno\0run\0", &[0xff; 9_000][..]].concat()).unwrap().chars().count(),
            SHOWN
        );
    }
}
