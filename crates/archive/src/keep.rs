//! Files that are either complete or absent: written beside their place, then renamed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use lab::Refusal;

/// Refuses a path that could not be written after a long run.
pub fn check(flag: &str, path: &Path) -> Result<(), Refusal> {
    let refused = |why: &str| {
        let way_out = "name a file in a directory that you may write to";
        Err(Refusal::new(format!("{flag} {}: {why}; {way_out}", path.display())))
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

/// Refuses paths, each with its flag, to which a command could not write its files: two results in one file would leave
/// one. Nor may one be written over another file of the command's, such as its requests or its store.
pub fn check_all(written: &[(&str, &Path)], others: &[(&str, &Path)]) -> Result<(), Refusal> {
    let mut taken: HashMap<PathBuf, &str> =
        others.iter().map(|(flag, path)| (place(path), *flag)).collect();
    for (flag, path) in written {
        check(flag, path)?;
        // A device or a pipe takes both.
        if path.exists() && !path.is_file() {
            continue;
        }
        if let Some(other) = taken.insert(place(path), flag) {
            return Err(Refusal::new(format!(
                "{flag} {}: {other} names the same file, which would be overwritten; name two",
                path.display()
            )));
        }
    }
    Ok(())
}

/// The file itself, whatever links lead to it; it need not be there yet.
fn place(path: &Path) -> PathBuf {
    const LINKS_MAX: usize = 40;
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&path) else { break };
        path = directory(&path).join(target);
    }
    let name = path.file_name().unwrap_or_default();
    let folder = fs::canonicalize(directory(&path)).unwrap_or_else(|_| directory(&path).into());
    folder.join(name)
}

/// Writes the whole file or nothing. A link is followed; a device or a pipe is written as it is.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let content = content.as_ref();
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return File::options().write(true).open(path)?.write_all(content);
    }
    let beside = beside(path);
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes the whole file that a flag names, or nothing.
pub fn write_for(flag: &str, path: &Path, content: impl AsRef<[u8]>) -> Result<(), Refusal> {
    write(path, content)
        .map_err(|error| Refusal::new(format!("{flag} {}: {error}", path.display())))
}

/// A file that is to be created: its path below a folder, its content, and whether it is a program.
pub type NewFile<'f> = (&'f str, &'f [u8], bool);

/// Creates files below a folder, all of them or none; nothing is written over. An error comes with the file's path.
pub fn create<'f>(
    folder: &Path,
    files: impl IntoIterator<Item = NewFile<'f>>,
) -> Result<(), (&'f str, io::Error)> {
    let mut made = Vec::new();
    let created = files.into_iter().try_for_each(|(path, content, is_program)| {
        let whole = folder.join(path);
        let mode = if is_program { 0o777 } else { 0o666 };
        create_folder(directory(&whole), &mut made)
            .and_then(|()| File::options().write(true).create_new(true).mode(mode).open(&whole))
            .and_then(|mut file| {
                made.push(whole);
                file.write_all(content)
            })
            .map_err(|error| (path, error))
    });
    if created.is_err() {
        for path in made.iter().rev() {
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
    }
    created
}

/// Creates a folder with those above it, and notes which were not there.
fn create_folder(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    create_folder(directory(folder), made)?;
    fs::create_dir(folder)?;
    made.push(folder.into());
    Ok(())
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A name beside a file, for what is renamed to it when it is whole.
pub fn beside(path: &Path) -> PathBuf {
    campaign::part_in(directory(path))
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
        let files = |other: &Path| check_all(&[("-o", &path), ("--html", other)], &[]);
        assert!(files(&directory.join("page.html")).is_ok());
        let missing = directory.join("missing.html");
        std::os::unix::fs::symlink("missing.html", directory.join("link")).unwrap();
        std::os::unix::fs::symlink(&path, directory.join("way")).unwrap();
        for same in [path.clone(), directory.join("./out.json"), directory.join("way")] {
            assert!(files(&same).is_err(), "{}", same.display());
        }
        let linked = directory.join("link");
        assert!(
            check_all(&[("-o", &missing), ("--html", &linked)], &[]).is_err(),
            "to no file yet"
        );
        assert!(check_all(&[("-o", &path)], &[("--requests", &path)]).is_err());
        let null = Path::new("/dev/null");
        assert!(check_all(&[("-o", null), ("--html", null)], &[("--requests", null)]).is_ok());
        write(Path::new("/dev/null"), "gone").unwrap();
        assert!(!Path::new("/dev/null").is_file(), "a device stays a device");
        fs::remove_dir_all(&directory).unwrap();
    }
}
