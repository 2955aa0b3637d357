//! What can go wrong with a store. Each message ends with a way out.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::run::RunId;
use crate::table::TRIALS_MOST;

/// A store, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    pub path: PathBuf,
    pub fault: Fault,
}

/// What is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    NoFolder,
    /// `-`, which means standard input or output elsewhere.
    Dash,
    /// It can be neither opened nor made.
    CannotOpen(String),
    /// It may not be written to.
    ReadOnly,
    /// It is another kind of file.
    NotAStore,
    /// A dyno made it before the first release; its tables were others.
    Unreleased,
    /// A newer dyno made it.
    Newer {
        /// The version of its tables.
        found: i64,
        /// The newest that this dyno knows.
        known: i64,
    },
    /// Its file system lacks what SQLite needs to share a file.
    NoSharing,
    /// Its file was deleted or moved away while it was open.
    Gone {
        /// The new path of the file; none if it was deleted.
        moved_to: Option<PathBuf>,
        /// Another file has its name.
        is_replaced: bool,
    },
    /// Another process held it for too long.
    Busy,
    /// The disk, or a quota, is full.
    Full(String),
    /// The disk failed.
    Disk(String),
    /// The store, or a run's own rows, differ from what was written.
    Damaged(String),
    /// It has other tables than those that a dyno makes.
    OtherTables(String),
    /// It holds more than any dyno keeps, and is not read any further.
    TooMuch(String),
    /// The run to begin has more trials than are read from a store.
    LongPlan(usize),
    NoRun(RunId),
    /// The run has no such trial, or it was never stored.
    NoTrial(RunId, u32),
    /// The trial is not in the run's plan.
    NotPlanned(RunId, u32),
    /// The trial is in the store already.
    AlreadyKept(RunId, u32),
    /// A value does not fit the table; this is a mistake in dyno.
    Refused(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            Fault::NoFolder => f.write_str("its folder does not exist; make it with mkdir -p"),
            Fault::Dash => f.write_str("a store is a file, and cannot be standard input or output; name a file"),
            Fault::CannotOpen(says) => {
                write!(f, "cannot be opened ({says}); name a file in a folder that you may write to")
            }
            Fault::ReadOnly => f.write_str(
                "may not be written to; copy it, with its -wal file if there is one, into a folder of your own",
            ),
            Fault::NotAStore => f.write_str("is not a store of dyno's; name another file"),
            Fault::Unreleased => f.write_str(
                "was made by a dyno before its first release, and is not read by this one; move it away, or name \
                 another file",
            ),
            Fault::Newer { found, known } => write!(
                f,
                "was made by a newer dyno (its tables are version {found}, this dyno knows {known}); \
                 use that one, or name another file"
            ),
            Fault::NoSharing => f.write_str(
                "this file system cannot share a store between processes; put it on a local disk",
            ),
            Fault::Gone { moved_to, is_replaced } => {
                match moved_to {
                    Some(place) => write!(
                        f,
                        "was moved to {} while it was open; what was kept until then is there, nothing since; \
                         move it back and go on with `dyno run --resume`",
                        place.display()
                    )?,
                    None => f.write_str(
                        "was deleted while it was open; nothing that was kept in it is left, unless you have a \
                         copy; start the run anew",
                    )?,
                }
                match is_replaced {
                    true => f.write_str(" (another file has its name now; that one was not touched)"),
                    false => Ok(()),
                }
            }
            Fault::Busy => f.write_str(
                "another process is writing to it; wait for it, or end it, and try again",
            ),
            Fault::Full(says) => {
                write!(f, "the disk is full ({says}); what was kept is safe; make room")
            }
            Fault::Disk(says) => {
                write!(f, "the disk failed ({says}); the last trial may be lost; look at `dmesg`")
            }
            Fault::Damaged(says) => write!(
                f,
                "is damaged ({says}); take a copy from your backup, or save what can be read with \
                 `sqlite3 FILE .recover`"
            ),
            Fault::OtherTables(says) => write!(
                f,
                "has not the tables of a dyno ({says}): it is damaged, or another program made or changed it; take \
                 a copy from your backup, or name another file"
            ),
            Fault::TooMuch(says) => write!(
                f,
                "holds more than any dyno keeps ({says}), so another program made or changed it; name another \
                 file"
            ),
            Fault::LongPlan(trials) => write!(
                f,
                "a run of {trials} trials is too long, it can have {TRIALS_MOST}; give its experiment fewer rounds, \
                 loads or servers"
            ),
            Fault::NoRun(run) => {
                let words = ["dyno", "runs", "list", "--store", &self.path.to_string_lossy()];
                let list = lab::command::shown(&words.map(String::from));
                write!(f, "has no run {run}; `{list}` shows those it has")
            }
            Fault::NoTrial(run, trial) => write!(
                f,
                "trial {trial} of run {run} has not been kept; `dyno run --resume` makes up for it"
            ),
            Fault::NotPlanned(run, trial) => write!(
                f,
                "trial {trial} is not in the plan of run {run}; begin a run with a plan of its own"
            ),
            Fault::AlreadyKept(run, trial) => write!(
                f,
                "trial {trial} of run {run} is kept already; is another dyno running this run?"
            ),
            Fault::Refused(says) => {
                write!(f, "{says}; this is a mistake in dyno: please report it")
            }
        }
    }
}

impl std::error::Error for StoreError {}

impl Fault {
    /// The error, with the file in which it occurred.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        StoreError { path: path.to_path_buf(), fault: self }
    }
}

const NO_ROOM_TO_READ: [i32; 2] = [ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_SHMMAP];

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        let says = error.to_string();
        // There was no room for the file `-shm`, which SQLite needs even to read.
        if let rusqlite::Error::SqliteFailure(failure, _) = &error
            && NO_ROOM_TO_READ.contains(&failure.extended_code)
        {
            return Fault::Full(says);
        }
        let Some(code) = error.sqlite_error_code() else {
            return Fault::Damaged(says);
        };
        match code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Fault::Busy,
            ErrorCode::DiskFull => Fault::Full(says),
            ErrorCode::ReadOnly => Fault::ReadOnly,
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Fault::CannotOpen(says),
            ErrorCode::SystemIoFailure => Fault::Disk(says),
            ErrorCode::OperationInterrupted => {
                Fault::TooMuch("it takes more steps than its size explains".into())
            }
            ErrorCode::OutOfMemory | ErrorCode::TooBig => Fault::TooMuch(says),
            ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => Fault::Refused(says),
            // The rest is caused by a file that was changed: a damaged schema has no such column.
            _ => Fault::Damaged(says),
        }
    }
}
