//! Where a user's own files lie, as the XDG base directory specification says.

use std::path::PathBuf;

use lab::Refusal;
use lab::build::caller_home;

/// What can be made again: `XDG_CACHE_HOME`, else `~/.cache`. Under `sudo` it is the caller's, for whom builds are made.
pub(crate) fn cache() -> Result<PathBuf, Refusal> {
    let of_caller = || Some(caller_home(&environment())?.join(".cache"));
    folder("XDG_CACHE_HOME", ".cache", of_caller)
}

/// What cannot: `XDG_STATE_HOME`, else `~/.local/state`.
pub(crate) fn state() -> Result<PathBuf, Refusal> {
    folder("XDG_STATE_HOME", ".local/state", || None)
}

/// What a program keeps to use it again: `XDG_DATA_HOME`, else `~/.local/share`.
pub fn data() -> Result<PathBuf, Refusal> {
    folder("XDG_DATA_HOME", ".local/share", || None)
}

/// The user's environment, as far as it is text.
pub(crate) fn environment() -> Vec<(String, String)> {
    let pairs = std::env::vars_os();
    pairs
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// dyno's folder in the one that a variable names; a path that is not absolute is to be ignored.
fn folder(
    variable: &str,
    below_home: &str,
    otherwise: impl FnOnce() -> Option<PathBuf>,
) -> Result<PathBuf, Refusal> {
    let set =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let found = set(variable).or_else(otherwise).or_else(|| Some(set("HOME")?.join(below_home)));
    found.map(|folder| folder.join("dyno")).ok_or_else(|| {
        Refusal::new(format!("neither {variable} nor HOME names a folder; set one of them"))
    })
}
