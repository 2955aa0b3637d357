//! What must be on a machine before a subject can be built and run.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::pattern::matches;

/// One thing that is needed; it is enough if it is in any one of the places.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Need {
    text: String,
    locations: Vec<Location>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Location {
    Program(String),
    /// A path; `*` stands for any part of a name.
    Path(String),
    /// A path below one of the folders that a variable lists.
    Below {
        variable: String,
        path: String,
    },
}

/// Where to look: the user's environment, as a value.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    pub variables: &'a [(String, String)],
}

impl Surroundings<'_> {
    /// A variable's value.
    #[must_use]
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The folders that a variable lists.
    fn folders(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let list = self.variable(name).unwrap_or_default();
        list.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from)
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Need {
    /// Reads `erl`, `/usr/lib/x-*`, `$ERL_LIBS/x*`, or several of them separated by `|`.
    pub fn parse(text: &str) -> Result<Need, String> {
        let locations: Result<Vec<Location>, String> =
            text.split('|').map(str::trim).map(location).collect();
        Ok(Need { text: text.into(), locations: locations? })
    }

    #[must_use]
    pub fn is_met(&self, around: Surroundings<'_>) -> bool {
        self.found(around).is_some()
    }

    /// Where it is, as a path without links, and what distinguishes one version of it from another.
    #[must_use]
    pub fn trace(&self, around: Surroundings<'_>) -> String {
        self.found(around).and_then(|path| trace(&path)).unwrap_or_default()
    }

    /// Where it is.
    #[must_use]
    pub(crate) fn found(&self, around: Surroundings<'_>) -> Option<PathBuf> {
        self.locations.iter().find_map(|location| match location {
            Location::Program(name) => {
                around.folders("PATH").map(|folder| folder.join(name)).find(|path| is_program(path))
            }
            Location::Path(path) => found(Path::new("/"), path),
            Location::Below { variable, path } => {
                around.folders(variable).find_map(|folder| found(&folder, path))
            }
        })
    }
}

fn location(text: &str) -> Result<Location, String> {
    if let Some(rest) = text.strip_prefix('$') {
        return match rest.split_once('/') {
            Some((variable, path)) if !variable.is_empty() && !path.is_empty() => {
                Ok(Location::Below { variable: variable.into(), path: path.into() })
            }
            _ => Err(format!("`{text}`: after the variable comes a path, as in $ERL_LIBS/name*")),
        };
    }
    match text {
        "" => Err("an empty need; name a program or a path".into()),
        _ if text.starts_with('/') => Ok(Location::Path(text.trim_start_matches('/').into())),
        _ if text.contains(['/', '*', ' ']) => {
            Err(format!("`{text}` is neither a program's name nor a path from /"))
        }
        _ => Ok(Location::Program(text.into())),
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// A file's real path, its length and when it was changed.
fn trace(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let file = fs::metadata(&path).ok()?;
    let changed = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", path.display(), file.len(), changed.as_nanos()))
}

/// The path that a path with stars matches, if any: the last by name, which is usually the newest.
fn found(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = path.trim_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let go_on = |next: PathBuf| match rest {
        "" => next.exists().then_some(next),
        rest => found(&next, rest),
    };
    if !first.contains('*') {
        return go_on(folder.join(first));
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    let is_like = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| matches(first, name));
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name()).filter(|name| is_like(name)).collect();
    names.sort();
    names.into_iter().rev().find_map(|name| go_on(folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_met_by_any_of_its_places() {
        let folder = std::env::temp_dir().join(format!("dyno-need-{}", std::process::id()));
        fs::create_dir_all(folder.join("lib-1.2/ebin")).unwrap();
        let variables = [
            ("PATH".to_string(), "/bin:/usr/bin".to_string()),
            ("LIBS".to_string(), format!("/nowhere:{}", folder.display())),
        ];
        let around = Surroundings { variables: &variables };
        let met = |text: &str| Need::parse(text).unwrap().is_met(around);
        assert!(met("sh"));
        assert!(!met("no-such-program"));
        assert!(met("no-such-program | sh"));
        assert!(met("$LIBS/lib-*/ebin"));
        assert!(!met("$LIBS/lib-*/src"));
        assert!(!met("$NOTHING/lib-*"));
        assert!(met("/usr/bin/s*"));
        assert!(met(&format!("{}/lib-*/ebin", folder.display())));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_neither_program_nor_path_is_refused() {
        for text in ["", "a/b", "lib*", "$X", "$/x", "a | "] {
            assert!(Need::parse(text).is_err(), "{text}");
        }
    }
}
