//! What must be on a machine before a subject can be built and run.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// One thing that is needed; any one of the places will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    text: String,
    places: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A program on the PATH.
    Program(String),
    /// A path; `*` stands for part of a name.
    Path(String),
    /// A path below one of the folders that a variable lists.
    Below { variable: String, path: String },
}

/// Where to look: the user's environment, as a value.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Its variables.
    pub variables: &'a [(String, String)],
}

impl Surroundings<'_> {
    /// A variable's value.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
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
    /// Reads `erl`, `/usr/lib/x-*`, `$ERL_LIBS/x*`, or several with `|` between them.
    pub fn parse(text: &str) -> Result<Need, String> {
        let places: Result<Vec<Place>, String> =
            text.split('|').map(str::trim).map(place).collect();
        Ok(Need { text: text.into(), places: places? })
    }

    /// Whether it is there.
    #[must_use]
    pub fn is_met(&self, around: Surroundings<'_>) -> bool {
        self.places.iter().any(|place| match place {
            Place::Program(name) => {
                around.folders("PATH").any(|folder| is_program(&folder.join(name)))
            }
            Place::Path(path) => exists(Path::new("/"), path),
            Place::Below { variable, path } => {
                around.folders(variable).any(|folder| exists(&folder, path))
            }
        })
    }
}

fn place(text: &str) -> Result<Place, String> {
    if let Some(rest) = text.strip_prefix('$') {
        return match rest.split_once('/') {
            Some((variable, path)) if !variable.is_empty() && !path.is_empty() => {
                Ok(Place::Below { variable: variable.into(), path: path.into() })
            }
            _ => Err(format!("`{text}`: after the variable comes a path, as in $ERL_LIBS/name*")),
        };
    }
    match text {
        "" => Err("an empty need; name a program or a path".into()),
        _ if text.starts_with('/') => Ok(Place::Path(text.trim_start_matches('/').into())),
        _ if text.contains(['/', '*', ' ']) => {
            Err(format!("`{text}` is neither a program's name nor a path from /"))
        }
        _ => Ok(Place::Program(text.into())),
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// Whether a path with stars in it leads anywhere.
fn exists(folder: &Path, path: &str) -> bool {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, rest),
        None => (path, ""),
    };
    if first.is_empty() {
        return rest.is_empty() && folder.exists() || !rest.is_empty() && exists(folder, rest);
    }
    if !first.contains('*') {
        let next = folder.join(first);
        return if rest.is_empty() { next.exists() } else { exists(&next, rest) };
    }
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| matches(first, name))
            && (rest.is_empty() || exists(&entry.path(), rest))
    })
}

/// Whether a name is like a pattern with stars.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            let mut starts = (0..=rest.len()).filter(|&at| rest.is_char_boundary(at));
            starts.any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_parts_of_names() {
        for (pattern, name) in [("a*", "abc"), ("*", ""), ("a-*.b", "a-1.2.b"), ("x", "x")] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        assert!(!matches("a*b", "a"));
        assert!(!matches("a", "ab"));
    }

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
