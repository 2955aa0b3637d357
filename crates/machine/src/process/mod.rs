//! Starts a subject and never leaves anything of it behind.
//!
//! ```text
//!   dyno ──── pipes ────► warden ──── spawns ────► subject ──► its children, daemons too
//!   Running               dyno again, a subreaper: whatever loses its parent becomes its child
//! ```
//!
//! The warden ends when no process of the subject is alive. It begins to end them when it is ordered to, or when dyno's
//! end of the pipe closes, however dyno died. If the warden is killed, `Running` finds the subject's processes by what
//! they carry; if both are killed, the next dyno's `sweep` finds them.

mod descriptors;
mod exit;
mod family;
mod marker;
mod output;
mod protocol;
mod running;
mod spawn;
pub(crate) mod stat;
mod sweep;
mod warden;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::conditions::Cpus;

pub use exit::Exit;
pub use family::{family_of, kernel_can_end};
pub use marker::{Marker, NoMarker, VARIABLE};
pub use running::{Running, Stopped, launch, launch_with_lock};
pub use sweep::{Leftover, Swept, sweep};
pub use warden::warden_main;

/// A process to be started: everything that it gets, and nothing else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// The program and its arguments. A program without a `/` is looked for on `env`'s PATH.
    pub argv: Vec<String>,
    /// The whole environment; `DYNO_TRIAL` is added.
    pub env: Vec<(String, String)>,
    /// The user and the group as which it runs; the caller's if there are none.
    pub user: Option<(u32, u32)>,
    /// Whether programs that it starts may gain privileges, as `sudo` does.
    pub may_gain_privileges: bool,
    /// The folder in which it starts.
    pub cwd: PathBuf,
    /// The CPUs that it may use; all of the caller's if there are none.
    pub cpus: Option<Cpus>,
    /// How many files it may open; if none, as many as the caller may.
    pub open_files: Option<u64>,
    /// The cgroup in which it is started.
    pub membership: Option<Membership>,
    /// The file to which its output is appended.
    pub log: Option<PathBuf>,
    /// How many bytes of the output are kept there. The rest is read, and dropped.
    pub log_bytes_max: u64,
    /// The signal that asks it to end: 15 is TERM.
    pub stop_signal: i32,
    /// How long it has to end before it is killed.
    pub grace_ms: u64,
    /// What all its processes carry.
    pub marker: String,
    /// How readily the kernel kills it if the machine is out of memory: 0 as the caller, up to 1000.
    pub oom_score_adj: u16,
}

impl Spec {
    /// The usual one: nothing limited, no log, TERM and five seconds.
    #[must_use]
    pub fn new(marker: Marker, argv: Vec<String>, cwd: PathBuf) -> Spec {
        Spec {
            argv,
            env: Vec::new(),
            user: None,
            may_gain_privileges: false,
            cwd,
            cpus: None,
            open_files: None,
            membership: None,
            log: None,
            log_bytes_max: 16 << 20,
            stop_signal: 15,
            grace_ms: 5_000,
            marker: marker.to_string(),
            oom_score_adj: 500,
        }
    }
}

/// How a process joins a cgroup when it is started, and how its warden leaves it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The `cgroup.procs` to be written before the start, one for each hierarchy.
    pub join: Vec<PathBuf>,
    /// Those to be written after it.
    pub leave: Vec<PathBuf>,
    /// The file whose line `oom_kill N` counts the processes that the kernel killed.
    pub oom: Option<PathBuf>,
}
