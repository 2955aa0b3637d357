//! Where the files of a board are read, and those of its site are written.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Paths are relative, with `/` between their parts.
pub trait Place: Sync {
    /// Every file of the folder.
    fn paths(&self) -> Result<Vec<String>, String>;
    /// A file of the folder, if it has no more bytes than this.
    fn read(&self, path: &str, most: usize) -> Result<Vec<u8>, String>;
    /// Who signed a file of the folder, in words such as `signed by NAME`: only for one with a signature beside it.
    fn signed(&self, path: &str) -> String;
    /// A file of the site.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String>;
}

/// A folder and a site on a disk.
pub struct Disk {
    pub folder: PathBuf,
    pub site: PathBuf,
    /// Says who signed a file, by the folder's file of signers.
    pub signed: fn(&Path, &Path) -> String,
}

/// The files and folders of which a site consists.
pub const PARTS: [&str; 11] =
    ["index.html", "feed.xml", "b", "c", "data", "m", "method", "r", "round", "s", "w"];

/// Whether a folder is a site that was built before.
#[must_use]
pub fn is_site(folder: &Path) -> bool {
    let mut start = [0; 16];
    let index = fs::File::open(folder.join("data/index.js"));
    let read = index.and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"window.dynoIndex"
}

/// A folder with more files is no board.
const FILES_MOST: usize = 200_000;

impl Place for Disk {
    /// Without files and folders whose names begin with a dot, and without symbolic links, which may lead out of the
    /// folder.
    fn paths(&self) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        below(&self.folder, "", &self.site, &mut found)?;
        Ok(found)
    }

    fn read(&self, path: &str, most: usize) -> Result<Vec<u8>, String> {
        let file = fs::File::open(self.folder.join(path)).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        let limit = most as u64 + 1;
        file.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        match bytes.len() <= most {
            true => Ok(bytes),
            false => Err(format!("it has more than {}", units::bytes(most as u64))),
        }
    }

    fn signed(&self, path: &str) -> String {
        (self.signed)(&self.folder.join(path), &self.folder.join("signers"))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.site.join(path);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&path, bytes).map_err(failed)
    }
}

fn below(folder: &Path, prefix: &str, site: &Path, found: &mut Vec<String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        let (kind, path) = (entry.file_type().map_err(failed)?, format!("{prefix}{name}"));
        if kind.is_dir() && entry.path() != site {
            below(&entry.path(), &format!("{path}/"), site, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
        if FILES_MOST < found.len() {
            return Err(format!("more than {FILES_MOST} files are in it"));
        }
    }
    Ok(())
}
