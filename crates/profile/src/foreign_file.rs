//! Files that a process names: opened below that process' root, without following links and without waiting, and only
//! if they are regular.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat, openat2, unlinkat};

const MOST_BYTES: u64 = 64 << 20;
/// No file is read for longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A regular file below a process' root; none if there is none, or it is anything else.
pub(crate) fn open(pid: u32, path: &str) -> Option<File> {
    let file = below_root(pid, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let file = File::from(file);
    file.metadata().ok()?.is_file().then_some(file)
}

fn below_root(pid: u32, path: &str, flags: OFlags) -> Option<OwnedFd> {
    let root = format!("/proc/{pid}/root");
    let root = openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    openat2(root.ok()?, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve).ok()
}

/// A file that the process has mapped and that its name may no longer lead to.
pub(crate) fn open_mapped(pid: u32, from: u64, length: u64) -> Option<File> {
    let path = format!("/proc/{pid}/map_files/{from:x}-{:x}", from.checked_add(length)?);
    let file = File::open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The text of a file that a process wrote. It is refused if another user owns it or may write it, or if it has a second
/// name (a hard link).
pub(crate) fn own_text(pid: u32, path: &str) -> Option<String> {
    let file = open(pid, path)?;
    let facts = file.metadata().ok()?;
    let user = std::fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    let is_its_own = facts.uid() == user && facts.mode() & 0o022 == 0 && facts.nlink() == 1;
    if !is_its_own || MOST_BYTES < facts.len() {
        return None;
    }
    read_bounded(file, facts.len())
}

/// Removes it again.
pub(crate) fn remove(pid: u32, path: &str) {
    let Some((folder, name)) = path.rsplit_once('/') else { return };
    if let Some(folder) = below_root(pid, folder, OFlags::PATH | OFlags::DIRECTORY) {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}

/// What it had when it was opened: one that grows as fast as it is read has no end.
fn read_bounded(file: File, length: u64) -> Option<String> {
    let began = Instant::now();
    let mut bytes = Vec::new();
    let mut file = file.take(length);
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(_) => return None,
        }
        if PATIENCE < began.elapsed() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("profile-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        path
    }

    fn text(path: &std::path::Path) -> Option<String> {
        own_text(std::process::id(), path.to_str().expect("a path"))
    }

    #[test]
    fn only_a_regular_file_of_the_process_own_user_is_read() {
        let folder = folder("foreign");
        let plain = folder.join("plain");
        std::fs::write(&plain, "text").expect("a file");
        std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o644)).expect("its rights");
        assert_eq!(text(&plain), Some("text".into()));
        std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o666)).expect("its rights");
        assert_eq!(text(&plain), None, "anybody may write it");
        std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o644)).expect("its rights");
        symlink(&plain, folder.join("link")).expect("a link");
        assert_eq!(text(&folder.join("link")), None, "a link");
        std::fs::hard_link(&plain, folder.join("other")).expect("another name");
        assert_eq!(text(&plain), None, "another name");
        let fifo = folder.join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a FIFO");
        assert_eq!(text(&fifo), None, "a FIFO without a writer");
        assert_eq!(text("/dev/zero".as_ref()), None, "a device");
        assert_eq!(text("/etc/hostname/none".as_ref()), None);
        std::fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn a_file_of_another_user_is_not_read() {
        let folder = folder("owner");
        let path = folder.join("map");
        std::fs::write(&path, "text").expect("a file");
        // Only root can give a file away; as a user, any file of root's is one of another user.
        match std::os::unix::fs::chown(&path, Some(65_534), None) {
            Ok(()) => assert_eq!(text(&path), None),
            Err(_) => assert_eq!(text("/etc/passwd".as_ref()), None),
        }
        std::fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn what_a_file_has_got_since_it_was_opened_is_not_read() {
        let folder = folder("grows");
        let path = folder.join("map");
        std::fs::write(&path, "1000 20 a\n").expect("a file");
        let file = File::open(&path).expect("the file");
        let length = file.metadata().expect("its length").len();
        std::fs::write(&path, "1000 20 a\n1020 20 b\n").expect("a longer file");
        assert_eq!(read_bounded(file, length), Some("1000 20 a\n".into()));
        let sparse = File::create(folder.join("long")).expect("a file");
        sparse.set_len(MOST_BYTES + 1).expect("its length");
        assert_eq!(text(&folder.join("long")), None, "no map is as long");
        std::fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn a_file_that_is_removed_is_gone_and_its_folder_is_not() {
        let folder = folder("removed");
        let path = folder.join("map");
        std::fs::write(&path, "text").expect("a file");
        remove(std::process::id(), path.to_str().expect("a path"));
        assert!(!path.exists() && folder.exists());
        std::fs::remove_dir_all(folder).expect("the folder");
    }
}
