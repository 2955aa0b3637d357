//! Waits on an epoll instance, exact to the nanosecond: in one system call, or in two where the kernel is older than
//! Linux 5.11.

use std::os::fd::{AsRawFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

/// How an engine waits.
pub(super) enum Wait {
    /// By `epoll_pwait2`, whose time is in nanoseconds. It came with Linux 5.11.
    Directly,
    /// `ppoll` on the epoll instance keeps the time, which `epoll_wait` itself only knows in milliseconds.
    ByPoll,
}

impl Wait {
    /// Adds what is ready, or becomes ready within this time, to the events.
    pub(super) fn wait(
        &mut self,
        epoll: &OwnedFd,
        events: &mut Vec<epoll::Event>,
        timeout: &Timespec,
    ) -> Result<(), Errno> {
        if let Wait::Directly = self {
            match epoll::wait(epoll, spare_capacity(events), Some(timeout)) {
                // Sandboxes refuse what they do not know, and some say EPERM.
                Err(Errno::NOSYS | Errno::PERM) => *self = Wait::ByPoll,
                done => return done.map(|_| ()),
            }
        }
        if (timeout.tv_sec, timeout.tv_nsec) != (0, 0) {
            poll(&mut [PollFd::new(epoll, PollFlags::IN)], Some(timeout))?;
        }
        take(epoll, events)
    }
}

const _: () = assert!(size_of::<epoll::Event>() == size_of::<libc::epoll_event>());

/// Adds what is ready by now, by the system call that every kernel has.
#[allow(unsafe_code)]
fn take(epoll: &OwnedFd, events: &mut Vec<epoll::Event>) -> Result<(), Errno> {
    let room = events.spare_capacity_mut();
    let most = libc::c_int::try_from(room.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the descriptor is open, and the kernel writes at most `most` events, whose layout is its own, into room
    // for as many.
    let taken = unsafe { libc::epoll_wait(epoll.as_raw_fd(), room.as_mut_ptr().cast(), most, 0) };
    let Ok(taken) = usize::try_from(taken) else {
        let error = std::io::Error::last_os_error().raw_os_error();
        return Err(error.map_or(Errno::INVAL, Errno::from_raw_os_error));
    };
    // SAFETY: the kernel has written this many events behind those that were there.
    unsafe { events.set_len(events.len() + taken) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, Instant};

    use rustix::event::epoll::{CreateFlags, EventData, EventFlags};

    use super::*;

    fn waits(mut wait: Wait) {
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("epoll is everywhere");
        let (reader, mut writer) = std::io::pipe().expect("pipes are everywhere");
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &reader, EventData::new_u64(7), flags).expect("a pipe can be awaited");
        let mut events = Vec::with_capacity(4);
        let micros = Timespec { tv_sec: 0, tv_nsec: 300_000 };
        let mut took = Duration::MAX;
        for _ in 0..50 {
            let began = Instant::now();
            wait.wait(&epoll, &mut events, &micros).expect("nothing is wrong");
            let lasted = began.elapsed();
            assert!(events.is_empty() && Duration::from_micros(300) <= lasted, "{lasted:?}");
            took = took.min(lasted);
        }
        assert!(took < Duration::from_millis(1), "rounded up to a millisecond: {took:?}");
        writer.write_all(b"x").expect("there is room");
        wait.wait(&epoll, &mut events, &micros).expect("nothing is wrong");
        assert_eq!(events.iter().map(|event| event.data.u64()).collect::<Vec<_>>(), [7]);
        events.clear();
        wait.wait(&epoll, &mut events, &Timespec::default()).expect("nothing is wrong");
        assert!(events.is_empty(), "an edge is reported once");
    }

    #[test]
    fn a_wait_in_one_call_is_exact() {
        waits(Wait::Directly);
    }

    #[test]
    fn a_wait_by_poll_is_exact() {
        waits(Wait::ByPoll);
    }
}
