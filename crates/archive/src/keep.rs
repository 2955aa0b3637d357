//! Files that are either complete or absent: written beside their place, then renamed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lab::Refusal;

/// Refuses a path that could not be written after a long run.
pub fn check(flag: &str, path: &Path) -> Result<(), Refusal> {
    let refused = |why: &str| {
        Err(Refusal::new(format!(
            "{flag} {}: {why}; name a file in a directory that you may write to",
            path.display()
        )))
    };
    let directory = directory(path);
    if path.file_name().is_none() || path.is_dir() {
        return refused("this is a directory");
    }
    if !directory.is_dir() {
        return refused("there is no such directory");
    }
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    // Permissions say nothing about read-only and unusual file systems: only creating a file does.
    let beside = beside(path);
    if let Err(error) = File::create(&beside) {
        return refused(&format!("the directory cannot be written to ({error})"));
    }
    let _ = fs::remove_file(beside);
    Ok(())
}

/// Writes the whole file or nothing. A link is followed; a device or a pipe is written as it is.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return File::options().write(true).open(path)?.write_all(text.as_bytes());
    }
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The same for the file that a flag names.
pub fn write_for(flag: &str, path: &Path, text: &str) -> Result<(), Refusal> {
    write(path, text).map_err(|error| Refusal::new(format!("{flag} {}: {error}", path.display())))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A name beside a file, for what is renamed to it when it is whole.
pub fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    directory(path).join(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_is_whole_and_leaves_nothing_beside() {
        let directory = std::env::temp_dir().join(format!("dyno-keep-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let path = directory.join("out.json");
        write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        assert!(check("-o", &directory).is_err());
        assert!(check("-o", &directory.join("none/out.json")).is_err());
        assert!(check("-o", &path).is_ok());
        write(Path::new("/dev/null"), "gone").unwrap();
        assert!(!Path::new("/dev/null").is_file(), "a device stays a device");
        fs::remove_dir_all(&directory).unwrap();
    }
}
