//! A network of a trial's own: a namespace with nothing but `lo` in it, so that no port is taken,
//! nothing lingers from before, and the kernel's counters count this trial alone.

use std::io;

use crate::record::Fact;

/// Gives the calling thread, and every thread and process that it starts from now on, a network
/// of its own with `lo` up. There is no way back: call it on a thread made for that.
pub fn enter() -> io::Result<()> {
    Err(io::Error::other("not yet"))
}

/// How it went, for the record; with the way out if it did not.
#[must_use]
pub fn fact(entered: &io::Result<()>) -> Fact {
    let value = match entered {
        Ok(()) => "of its own".to_string(),
        Err(error) => format!("shared with the machine: {error}"),
    };
    Fact { name: "network".to_string(), value }
}

/// Sets a value below `/proc/sys/net` in the calling thread's network: `ipv4/ip_local_port_range`.
pub fn set_sysctl(name: &str, value: &str) -> io::Result<()> {
    std::fs::write(format!("/proc/sys/net/{name}"), value)
}
