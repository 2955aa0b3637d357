//! One run at a time in a project: two would press each other's servers.

use std::fs::File;
use std::io::{Read, Seek, Write};

use rustix::fs::{FlockOperation, flock};

use crate::commands::Refusal;
use crate::project::Project;

/// Held while a run goes on; the kernel frees it, however we end.
pub(crate) struct Lock {
    _held: File,
}

impl Lock {
    pub(crate) fn take(project: &Project) -> Result<Lock, Refusal> {
        let path = project.state().join("run.lock");
        let refused = |error: &dyn std::fmt::Display| {
            Refusal::new(format!("{}: {error}; is the folder yours to write to?", path.display()))
        };
        std::fs::create_dir_all(project.state()).map_err(|error| refused(&error))?;
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
