//! The subjects, experiments, workloads, probes and services that every dyno carries, and the folder into which they are unpacked.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

include!(concat!(env!("OUT_DIR"), "/embedded_files.rs"));

/// A file of the tree from which this dyno was built.
#[derive(Debug)]
pub struct EmbeddedFile {
    /// From the tree's root, with `/`.
    pub path: &'static str,
    pub bytes: &'static [u8],
    pub is_executable: bool,
}

impl EmbeddedFile {
    fn is_at(&self, path: &Path) -> bool {
        let has_mode =
            |file: &fs::Metadata| (file.permissions().mode() & 0o100 != 0) == self.is_executable;
        fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && has_mode(&file))
            && fs::read(path).is_ok_and(|bytes| bytes == self.bytes)
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.bytes)?;
        let mode = if self.is_executable { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }
}

/// The folder below `cache` with exactly these files; it is made, or repaired, if it is not so. A file that is right is
/// never touched, and one that is wrong is replaced at once, so that other dynos may read meanwhile.
pub(crate) fn unpack(cache: &Path) -> io::Result<PathBuf> {
    let name = format!("{}-{STAMP}", env!("CARGO_PKG_VERSION"));
    let tree = cache.join(&name);
    if !is_whole(&tree)? {
        fs::create_dir_all(cache)?;
        let lock = File::create(cache.join("unpack.lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        repair(&tree, &cache.join(name + ".part"))?;
    }
    Ok(tree)
}

fn is_whole(tree: &Path) -> io::Result<bool> {
    Ok(foreign(tree)?.is_empty() && FILES.iter().all(|file| file.is_at(&tree.join(file.path))))
}

/// Only one dyno does this at a time; each file is written as `part`, and renamed.
fn repair(tree: &Path, part: &Path) -> io::Result<()> {
    for path in foreign(tree)? {
        fs::remove_file(path)?;
    }
    for file in FILES {
        let path = tree.join(file.path);
        if file.is_at(&path) {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))?;
        file.write(part)?;
        fs::rename(part, &path)?;
    }
    Ok(())
}

/// Files and links in the tree that do not belong there.
fn foreign(tree: &Path) -> io::Result<Vec<PathBuf>> {
    let ours: BTreeSet<PathBuf> = FILES.iter().map(|file| tree.join(file.path)).collect();
    let mut found = Vec::new();
    let mut folders = vec![tree.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => folders.push(entry.path()),
                false if ours.contains(&entry.path()) => {}
                false => found.push(entry.path()),
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
