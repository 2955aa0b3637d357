//! Watches a trial: the subject's processes, dyno's own threads, the machine, the kernel's network,
//! and what the subject says from inside. `docs/readings.md` names every reading.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::conditions::Readings;
use crate::record::Series;

/// What is to be watched.
#[derive(Clone, Debug)]
pub struct WatchPlan {
    /// How often.
    pub period: Duration,
    /// The trial's zero.
    pub began: Instant,
    /// The root of the subject's processes, itself excluded: `Running::warden_pid`.
    pub root: Option<u32>,
    /// The trial's cgroup.
    pub readings: Option<Readings>,
    /// Where the subject listens.
    pub port: Option<u16>,
    /// Where a probe inside the subject finds us.
    pub probe_socket: Option<PathBuf>,
}

impl WatchPlan {
    /// The usual period.
    pub const PERIOD: Duration = Duration::from_millis(100);
}

/// A watch that goes on, on a thread of its own, in the network of the thread that started it.
#[derive(Debug)]
pub struct Watch {}

impl Watch {
    /// Begins.
    pub fn start(plan: WatchPlan) -> io::Result<Watch> {
        drop(plan);
        Ok(Watch {})
    }

    /// The last value of a reading.
    #[must_use]
    pub fn latest(&self, name: &str) -> Option<f64> {
        let _ = name;
        None
    }

    /// How fast a reading that only grows has grown lately.
    #[must_use]
    pub fn per_second(&self, name: &str) -> Option<f64> {
        let _ = name;
        None
    }

    /// Ends; everything that was read.
    #[must_use]
    pub fn stop(self) -> Vec<Series> {
        Vec::new()
    }
}
