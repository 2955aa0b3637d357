//! A network namespace for one trial, with only `lo` in it, so that no port is taken, nothing lingers from before, and
//! the kernel's counters count this trial alone.

use std::io;

use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::Fact;
use crate::sockets::netlink::{ACK, Netlink};

/// `RTM_NEWLINK`, `IFF_UP`, and the number that the first device of a network always has.
const NEW_LINK: u16 = 16;
const UP: u32 = 1;
const LO: i32 = 1;

/// Gives the calling thread, and every thread and process that it starts from now on, a network of its own with `lo`
/// up. It cannot be undone: call it on a thread made for that.
pub fn enter() -> io::Result<()> {
    #[allow(unsafe_code)]
    // SAFETY: Only `FILES` is dangerous, since it separates a thread from descriptors that others open. A network
    // namespace changes what new sockets belong to, and no memory.
    let parted = unsafe { unshare_unsafe(UnshareFlags::NEWNET) };
    parted.map_err(|error| failed(&error.into()))?;
    raise_lo().map_err(|error| failed(&error))
}

fn failed(error: &io::Error) -> io::Error {
    let says = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!(
                "{error}; run dyno as root, or by `unshare --user --map-root-user --net dyno …`"
            )
        }
        _ => format!("{error}; say `isolate = false`"),
    };
    io::Error::new(error.kind(), says)
}

/// A new network's `lo` is down.
fn raise_lo() -> io::Result<()> {
    // An `ifinfomsg`: family, padding, kind, number, flags, and which of the flags are meant.
    let mut link = vec![0; 4];
    link.extend(LO.to_ne_bytes());
    link.extend(UP.to_ne_bytes());
    link.extend(UP.to_ne_bytes());
    Netlink::open(None)?.ask(NEW_LINK, ACK, &link, |_| {})
}

/// The result, for the record; with a way out if it failed.
#[must_use]
pub fn fact(entered: &io::Result<()>) -> Fact {
    let value = match entered {
        Ok(()) => "of its own".to_string(),
        Err(error) => format!("shared with the machine: {error}"),
    };
    Fact { name: "network".to_string(), value }
}
