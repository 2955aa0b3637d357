//! Whether there is room for the next trial: checked before it is run, not after.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;

use crate::error::Fault;
use crate::opening::folder;

/// Reserves so many bytes of a store's file system, and releases them. A count of free blocks alone does not show
/// quotas.
pub(crate) fn reserve(path: &Path, bytes: u64) -> Result<(), Fault> {
    let disk = |error: io::Error| Fault::Disk(error.to_string());
    let free = statvfs(folder(path)).map_err(|errno| disk(errno.into()))?;
    let free_bytes = free.f_bavail.saturating_mul(free.f_frsize);
    if free_bytes < bytes {
        return Err(Fault::Full(format!("{free_bytes} bytes are free, {bytes} are needed")));
    }
    let file = nameless(path).map_err(disk)?;
    match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        // Not every file system supports this; then only the count of free blocks is left.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => {
            Err(Fault::Full(format!("{bytes} bytes are needed")))
        }
        Err(errno) => Err(disk(errno.into())),
    }
}

/// A file beside the store that vanishes with its last handle, even if dyno is killed.
fn nameless(path: &Path) -> io::Result<File> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push("-room");
    let path = folder(path).join(name);
    let file = File::create(&path)?;
    match fs::remove_file(&path) {
        // Another dyno may have removed it; both handles refer to the same file.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(file),
    }
}
