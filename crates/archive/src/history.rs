//! A history's file, which only grows: each run is appended in one piece, or not at all.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use campaign::trees::git;
use lab::Refusal;
use report::history::Commit;

use crate::keep;

/// The largest history that is read: some hundred thousand lines.
const LARGEST: u64 = 256 << 20;

/// Refuses a file that could not be appended to after a long run, or that is something else.
pub fn check(flag: &str, path: &Path) -> Result<(), Refusal> {
    let refused =
        |why: &str| Err(Refusal::new(format!("{flag} {}: {why}; name another file", shown(path))));
    if path == Path::new("-") {
        return refused(
            "a history is a file to which lines are appended; it cannot be standard output",
        );
    }
    keep::check(flag, path)?;
    if path.exists() && !path.is_file() {
        return refused("this is not a regular file");
    }
    let Ok(mut file) = File::open(path) else {
        return if path.exists() { refused("it cannot be read") } else { Ok(()) };
    };
    let mut first = [0];
    // A merge may have left the mark of a conflict there.
    match file.read(&mut first) {
        Ok(1) if !b"{<\n\r ".contains(&first[0]) => refused("it does not contain a history"),
        Ok(_) if File::options().append(true).open(path).is_err() => {
            refused("it cannot be written to")
        }
        Ok(_) => Ok(()),
        Err(error) => refused(&error.to_string()),
    }
}

/// Appends whole lines by one write. A last line that has no end gets one first.
pub fn append(flag: &str, path: &Path, lines: &str) -> Result<(), Refusal> {
    appended(path, lines).map_err(|error| {
        Refusal::new(format!("{flag} {}: {error}; nothing was appended to it", shown(path)))
    })
}

fn appended(path: &Path, lines: &str) -> std::io::Result<()> {
    let mut file = File::options().read(true).append(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    let mut text = String::with_capacity(lines.len() + 1);
    if 0 < length {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != [b'\n'] {
            text.push('\n');
        }
    }
    text.push_str(lines);
    let written = file.write(text.as_bytes())?;
    if written < text.len() {
        // What others have appended since then stays.
        if file.metadata()?.len() == length + written as u64 {
            file.set_len(length)?;
        }
        return Err(std::io::Error::other("only a part of it was written"));
    }
    file.sync_all()
}

/// The files of a history, each with its name.
pub fn read(paths: &[PathBuf]) -> Result<Vec<(String, Vec<u8>)>, Refusal> {
    paths.iter().map(|path| Ok((shown(path), content(path)?))).collect()
}

fn content(path: &Path) -> Result<Vec<u8>, Refusal> {
    let refused = |why: String| Refusal::new(format!("{}: {why}", shown(path)));
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => refused(
            "there is no such file; `--history FILE` of `dyno run`, `load` or `race` begins one"
                .into(),
        ),
        _ => refused(error.to_string()),
    })?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
    if LARGEST < bytes.len() as u64 {
        return Err(refused(format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    Ok(bytes)
}

/// A file's name may hold what a terminal would obey.
fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect()
}

/// The commit of the repository around a folder, if it is in one. That a history in it has grown is no change.
#[must_use]
pub fn commit(folder: &Path, history: &Path) -> Option<Commit> {
    let hash = git(folder, &["rev-parse", "--verify", "--quiet", "HEAD"]).ok()?;
    let top = PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"]).ok()?);
    let history = fs::canonicalize(history).ok();
    let inside = history.as_ref().and_then(|path| path.strip_prefix(&top).ok());
    let but = inside.map(|path| format!(":(top,exclude,literal){}", path.display()));
    let mut arguments = vec!["status", "--porcelain", "--untracked-files=no", "--", ":(top)"];
    arguments.extend(but.as_deref());
    // Where git cannot say it, the files may differ.
    let is_dirty = git(folder, &arguments).ok().is_none_or(|changes| !changes.is_empty());
    let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(Commit { hash, is_dirty })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("dyno-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn lines_are_appended_and_a_last_line_without_its_end_gets_one() {
        let folder = folder("append");
        let path = folder.join("history.jsonl");
        append("--history", &path, "{1}\n").unwrap();
        append("--history", &path, "{2}\n{3}\n").unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap().trim_end()).unwrap();
        append("--history", &path, "{4}\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{1}\n{2}\n{3}\n{4}\n");
        assert!(check("--history", &path).is_ok());
        let full = append("--history", Path::new("/dev/full"), "{5}\n").unwrap_err().to_string();
        assert!(full.contains("nothing was appended"), "{full}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_history_is_not_appended_to() {
        let folder = folder("no-history");
        let store = folder.join("runs.sqlite");
        fs::write(&store, "SQLite format 3\0").unwrap();
        let says = check("--history", &store).unwrap_err().to_string();
        assert!(says.contains("it does not contain a history"), "{says}");
        assert!(
            check("--history", &folder).is_err() && check("--history", &folder.join("new")).is_ok()
        );
        let stdout = check("--history", Path::new("-")).unwrap_err().to_string();
        assert!(stdout.contains("it cannot be standard output"), "{stdout}");
        let device = check("--history", Path::new("/dev/null")).unwrap_err().to_string();
        assert!(device.contains("this is not a regular file"), "{device}");
        let missing = read(&[folder.join("none.jsonl")]).unwrap_err().to_string();
        assert!(missing.contains("there is no such file"), "{missing}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_commit_is_that_of_the_folder_and_a_history_that_grew_is_no_change() {
        if git(Path::new("/"), &["--version"]).is_err() {
            return;
        }
        let folder = folder("commit");
        let history = folder.join("history.jsonl");
        assert_eq!(commit(&folder, &history), None, "in no repository");
        let run = |arguments: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            git(&folder, &[&who, arguments].concat()).unwrap();
        };
        run(&["init", "--quiet"]);
        assert_eq!(commit(&folder, &history), None, "without a commit");
        fs::write(folder.join("code"), "1").unwrap();
        fs::write(&history, "{1}\n").unwrap();
        run(&["add", "."]);
        run(&["commit", "--quiet", "-m", "first"]);
        fs::write(&history, "{1}\n{2}\n").unwrap();
        let found = commit(&folder, &history).unwrap();
        assert!(found.hash.len() == 40 && !found.is_dirty, "{found:?}");
        fs::write(folder.join("code"), "2").unwrap();
        assert!(commit(&folder, &history).unwrap().is_dirty);
        fs::remove_dir_all(&folder).unwrap();
    }
}
