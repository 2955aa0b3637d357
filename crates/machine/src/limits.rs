//! The limits that the kernel sets to this process: read once, passed on as values.

mod files;
mod ports;
mod tracked;

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::conditions::Cpus;
use crate::proc::keyed;

pub use files::FileLimit;
pub use ports::{PortFacts, Reuse};
pub use tracked::tracked_left;

/// The resources that the kernel gives this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs that this process may use.
    pub cpus: Vec<usize>,
    pub files: FileLimit,
    pub ports: PortFacts,
}

impl Machine {
    pub fn read() -> Machine {
        let cpus = Cpus::available().map_or(vec![0], |cpus| cpus.iter().collect());
        Machine { cpus, files: files(), ports: ports() }
    }
}

fn files() -> FileLimit {
    let limit = getrlimit(Resource::Nofile);
    FileLimit { soft: limit.current.unwrap_or(u64::MAX), hard: limit.maximum.unwrap_or(u64::MAX) }
}

/// Raises the soft limit of open files.
pub fn raise_files(to: u64) -> rustix::io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(to), maximum })
}

fn ports() -> PortFacts {
    let read = |name| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    PortFacts::parse(&read("ip_local_port_range"), &read("tcp_tw_reuse"))
}

/// The most memory that this process has held so far.
pub fn peak_memory_bytes() -> Option<u64> {
    let kibibytes = keyed(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")?;
    Some(kibibytes * 1_024)
}

/// How many more files all processes together may open.
pub fn files_left() -> u64 {
    let text = fs::read_to_string("/proc/sys/fs/file-nr").unwrap_or_default();
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(open)), Some(_), Some(Ok(most))) => most.saturating_sub(open),
        _ => u64::MAX,
    }
}

/// The kernel's estimate of the available memory.
pub fn memory_available() -> Option<u64> {
    let kibibytes = keyed(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    Some(kibibytes * 1_024)
}

/// The CPU time of the calling thread.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The kernel's version.
pub fn kernel() -> String {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    version.trim().to_string()
}
