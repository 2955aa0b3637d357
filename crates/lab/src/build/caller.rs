//! The user for whom a build is made: under `sudo` packages are installed by root, but third-party install scripts do
//! not run as root.

use std::fs;
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};

use super::BuildCache;
use crate::need::Surroundings;

/// The user who called `sudo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) uid: u32,
    pub(super) gid: u32,
    name: String,
    home: PathBuf,
}

impl BuildCache {
    pub(super) fn caller(&self) -> Option<Caller> {
        Caller::of(self.around())
    }
}

/// The home of the user who called `sudo`, for whom builds are made.
pub fn caller_home(variables: &[(String, String)]) -> Option<PathBuf> {
    Caller::of(Surroundings { variables }).map(|caller| caller.home)
}

/// Makes a folder and all that is in it belong to the user who called `sudo`, if that is how this program runs.
pub fn give_to_caller(variables: &[(String, String)], folder: &Path) -> io::Result<()> {
    let caller = Caller::of(Surroundings { variables });
    caller.map_or(Ok(()), |caller| caller.give_all(folder))
}

impl Caller {
    /// Nothing where this program is not root, or was not called through `sudo`.
    fn of(around: Surroundings<'_>) -> Option<Caller> {
        let number = |name: &str| around.variable(name)?.parse::<u32>().ok();
        let (uid, gid) = (number("SUDO_UID")?, number("SUDO_GID")?);
        if !rustix::process::geteuid().is_root() || uid == 0 {
            return None;
        }
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let (name, home) = named(&users, uid)?;
        Some(Caller { uid, gid, name: name.into(), home: home.into() })
    }

    /// The variables of a command that runs as this user.
    pub(super) fn variables(&self) -> [(String, String); 3] {
        let home = self.home.display().to_string();
        [("HOME", home), ("USER", self.name.clone()), ("LOGNAME", self.name.clone())]
            .map(|(name, value)| (name.to_string(), value))
    }

    /// Makes a file or folder belong to this user.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        lchown(path, Some(self.uid), Some(self.gid))
    }

    /// Makes a folder with all that is in it belong to this user; links are not followed.
    pub(super) fn give_all(&self, folder: &Path) -> io::Result<()> {
        self.give(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.give_all(&entry.path())?,
                false => self.give(&entry.path())?,
            }
        }
        Ok(())
    }
}

/// A user's name and home, as `/etc/passwd` has them.
fn named(users: &str, uid: u32) -> Option<(&str, &str)> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        match fields.as_slice() {
            [name, _, number, _, _, home, ..] if number.parse() == Ok(uid) => Some((*name, *home)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_its_number() {
        let users =
            "root:x:0:0:root:/root:/bin/bash\nbroken\nann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\n";
        assert_eq!(named(users, 1000), Some(("ann", "/home/ann")));
        assert_eq!((named(users, 0), named(users, 7)), (Some(("root", "/root")), None));
    }
}
