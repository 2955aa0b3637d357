//! One run at a time in a project: two runs would load each other's servers. And one dyno at a time for each run of a
//! store.

use lab::Refusal;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::net::sockopt::socket_peercred;
use store::RunId;

use crate::project::Project;

/// Held while a run is under way; the kernel releases it, however dyno ends.
pub struct Lock {
    _held: File,
}

impl Lock {
    pub fn take(project: &Project) -> Result<Lock, Refusal> {
        let path = project.results().join("run.lock");
        let refused = |error: &dyn std::fmt::Display| {
            Refusal::new(format!("{}: {error}; is the folder yours to write to?", path.display()))
        };
        std::fs::create_dir_all(project.results()).map_err(|error| refused(&error))?;
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| refused(&error))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            let _ = (&file).take(64).read_to_string(&mut holder);
            return Err(Refusal::new(format!(
                "another dyno (process {}) runs an experiment here; two at once would spoil each other's \
                 numbers: wait for it, or end it with `kill {0}`",
                holder.trim()
            )));
        }
        let written = file.set_len(0).and_then(|()| file.rewind());
        written
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|error| refused(&error))?;
        Ok(Lock { _held: file })
    }
}

/// While this is held, one run of a store is ours. Two projects may share a store, so the project's lock is not enough;
/// and a lock on the file itself would conflict with SQLite's. A name that only the kernel keeps disappears with the
/// process.
pub struct Claim {
    _name: UnixListener,
}

impl Claim {
    pub fn stake(store: &Path, run: RunId) -> Result<Claim, Refusal> {
        let refused = |error: std::io::Error| {
            Refusal::new(format!("{}: run {run} cannot be claimed: {error}", store.display()))
        };
        let file = std::fs::metadata(store).map_err(refused)?;
        let name = format!("dyno-store-{}-{}-run-{run}", file.dev(), file.ino());
        let address = SocketAddr::from_abstract_name(name).map_err(refused)?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => Ok(Claim { _name: listener }),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                let peer = UnixStream::connect_addr(&address).map_err(refused)?;
                let holder = socket_peercred(&peer).map_err(|errno| refused(errno.into()))?.pid;
                Err(Refusal::new(format!(
                    "another dyno (process {0}) is working on run {run} of {1}; wait for it, or end it with \
                     `kill {0}`",
                    holder.as_raw_nonzero(),
                    store.display()
                )))
            }
            Err(error) => Err(refused(error)),
        }
    }
}
