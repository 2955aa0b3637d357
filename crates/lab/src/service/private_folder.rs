//! A folder of a service's own, with a short path, because that of a socket has 107 bytes at most, and which nobody else
//! may enter.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use machine::owned::WorkFolder;
use machine::process::Marker;
use machine::unprivileged::{User, clear_shared_memory};

/// What is longer leaves too little for a socket's name.
const SHORT: usize = 40;

/// It is removed when this is dropped, or by the next dyno if this one is killed.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    work: WorkFolder,
    user: Option<User>,
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        self.user.into_iter().for_each(clear_shared_memory);
    }
}

/// Where these folders are made: under root where every user may go.
#[must_use]
pub fn private_root(variables: &[(String, String)]) -> PathBuf {
    let own = variables.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| value);
    let is_fit = |path: &&String| path.starts_with('/') && path.len() <= SHORT;
    match own.filter(is_fit).filter(|_| !rustix::process::geteuid().is_root()) {
        Some(own) => own.into(),
        None => "/tmp".into(),
    }
}

impl PrivateFolder {
    /// A folder with a copy of all that is in another one. It is this user's; without one it is the caller's.
    pub(crate) fn copy_of(
        from: &Path,
        root: &Path,
        marker: &Marker,
        user: Option<User>,
    ) -> io::Result<PrivateFolder> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", root.display()));
        let work = WorkFolder::create(root, marker).map_err(named)?;
        let folder = PrivateFolder { work, user };
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
        copy_all(from, folder.path(), user)?;
        folder.give(folder.path())?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.work.path()
    }

    /// The user whose it is; none if it is the caller's.
    pub(crate) fn user(&self) -> Option<User> {
        self.user
    }

    /// Makes a file or folder in it belong to its user.
    pub(crate) fn give(&self, path: &Path) -> io::Result<()> {
        give(path, self.user)
    }
}

fn give(path: &Path, user: Option<User>) -> io::Result<()> {
    let Some((user, group)) = user else { return Ok(()) };
    lchown(path, Some(user), Some(group)).map_err(|error| {
        let way_out = match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied => {
                "; this root has no other users: run dyno as root itself, or as a user"
            }
            _ => "",
        };
        let says = format!("{} cannot be given to user {user}: {error}{way_out}", path.display());
        io::Error::new(error.kind(), says)
    })
}

/// Copies what is in a folder, permissions and links too; an error names the file.
pub(crate) fn copy_all(from: &Path, to: &Path, user: Option<User>) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", copy.display()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&copy).map_err(named)?;
            copy_all(&source, &copy, user)?;
            fs::set_permissions(&copy, entry.metadata()?.permissions()).map_err(named)?;
        } else if kind.is_symlink() {
            fs::read_link(&source).and_then(|target| symlink(target, &copy)).map_err(named)?;
        } else if kind.is_file() {
            fs::copy(&source, &copy).map_err(named)?;
        } else {
            return Err(named(io::Error::other("neither a file nor a folder")));
        }
        give(&copy, user)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = Path::new("/tmp").join(format!("dyno-private-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("from/below")).unwrap();
        path
    }

    #[test]
    fn a_copy_has_the_same_files_and_is_gone_with_its_owner() {
        let all = folder("copy");
        let from = all.join("from");
        fs::write(from.join("below/file"), "x").unwrap();
        symlink("below/file", from.join("link")).unwrap();
        fs::set_permissions(from.join("below"), fs::Permissions::from_mode(0o500)).unwrap();
        let user = machine::unprivileged::stranger();
        let copy = PrivateFolder::copy_of(&from, &all, &Marker::unique(), user).unwrap();
        let path = copy.path().to_path_buf();
        assert_eq!(fs::read_to_string(path.join("link")).unwrap(), "x");
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(path.join("below")), mode(path.clone())), (0o500, 0o700));
        fs::set_permissions(path.join("below"), fs::Permissions::from_mode(0o700)).unwrap();
        drop(copy);
        assert!(!path.exists());
        fs::remove_dir_all(&all).unwrap();
    }

    #[test]
    fn a_copy_that_fails_names_the_file_and_leaves_nothing() {
        let all = folder("odd");
        let from = all.join("from");
        let _socket = std::os::unix::net::UnixListener::bind(from.join("below/odd")).unwrap();
        let copied = PrivateFolder::copy_of(&from, &all, &Marker::unique(), None);
        let says = copied.unwrap_err().to_string();
        assert!(says.ends_with("/below/odd: neither a file nor a folder"), "{says}");
        assert_eq!(fs::read_dir(&all).unwrap().count(), 1, "the folder `from`");
        fs::remove_dir_all(&all).unwrap();
    }

    #[test]
    fn a_folder_is_short() {
        let root = |value: &str| private_root(&[("TMPDIR".into(), value.into())]);
        assert_eq!(root(&format!("/{}", "x".repeat(SHORT))), Path::new("/tmp"));
        assert_eq!(root("relative"), Path::new("/tmp"));
        let own = if rustix::process::geteuid().is_root() { "/tmp" } else { "/var/tmp" };
        assert_eq!(root("/var/tmp"), Path::new(own));
    }
}
