//! Whether a store's file is still where it was opened. SQLite continues to write to a file that was deleted, and to
//! one whose name now belongs to another file.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// The place of the file that was just opened by this path.
    pub(crate) fn of(path: &Path) -> Result<FileIdentity, Fault> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(FileIdentity::from(&metadata)),
            Err(error) => Err(Fault::CannotOpen(error.to_string())),
        }
    }

    /// Returns an error if the path now leads to another file, or to none.
    pub(crate) fn check(self, path: &Path) -> Result<(), Fault> {
        let now = fs::metadata(path).ok();
        if now.as_ref().map(FileIdentity::from) == Some(self) {
            return Ok(());
        }
        Err(Fault::Gone { moved_to: self.moved_to(), is_replaced: now.is_some() })
    }

    /// The path of the file now, as the kernel names the open descriptor; none if it was deleted.
    fn moved_to(self) -> Option<PathBuf> {
        // The links are read, never opened: closing a second descriptor of the file would release SQLite's locks.
        let descriptors = fs::read_dir("/proc/self/fd").ok()?.flatten();
        let mut own = descriptors.map(|entry| entry.path()).filter_map(|link| {
            let metadata = fs::metadata(&link).ok()?;
            (FileIdentity::from(&metadata) == self && 0 < metadata.nlink())
                .then(|| fs::read_link(link))
        });
        own.next()?.ok()
    }
}

impl From<&Metadata> for FileIdentity {
    fn from(metadata: &Metadata) -> FileIdentity {
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }
}
