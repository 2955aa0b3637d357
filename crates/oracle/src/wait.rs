//! How a worker waits: by `epoll_pwait2`, or, on a kernel older than Linux 5.11, by `ppoll` and `epoll_wait`, so that a
//! delay is exact there too.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, Result};

pub(crate) enum Wait {
    Directly,
    ByPoll,
}

impl Wait {
    /// Adds what becomes ready within this time, or at any time if there is none.
    pub(crate) fn wait(
        &mut self,
        epoll: &OwnedFd,
        events: &mut Vec<Event>,
        timeout: Option<&Timespec>,
    ) -> Result<()> {
        if let Wait::Directly = self {
            match epoll::wait(epoll, spare_capacity(events), timeout) {
                // An old kernel, or a sandbox that knows only old ones.
                Err(Errno::NOSYS | Errno::PERM) => *self = Wait::ByPoll,
                done => return done.map(|_| ()),
            }
        }
        poll(&mut [PollFd::new(epoll, PollFlags::IN)], timeout)?;
        take(epoll, events)
    }
}

const _: () = assert!(size_of::<Event>() == size_of::<libc::epoll_event>());

/// Adds what is ready by now.
#[allow(unsafe_code)]
fn take(epoll: &OwnedFd, events: &mut Vec<Event>) -> Result<()> {
    let room = events.spare_capacity_mut();
    let most = libc::c_int::try_from(room.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the descriptor is open, and there is room for as many events as the kernel may write, laid out as it
    // writes them.
    let taken = unsafe { libc::epoll_wait(epoll.as_raw_fd(), room.as_mut_ptr().cast(), most, 0) };
    let Ok(taken) = usize::try_from(taken) else {
        let error = std::io::Error::last_os_error().raw_os_error();
        return Err(error.map_or(Errno::INVAL, Errno::from_raw_os_error));
    };
    // SAFETY: so many events were written behind those that were there.
    unsafe { events.set_len(events.len() + taken) };
    Ok(())
}
