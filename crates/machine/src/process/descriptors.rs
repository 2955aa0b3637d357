//! Descriptors that a subject must not inherit.

use std::os::fd::BorrowedFd;

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

/// Marks every descriptor but the first three to be closed in children: dyno's own are marked, but dyno may have
/// inherited others, such as a lock or the pipe of a `make -j`.
pub(super) fn keep_from_children() -> std::io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(number) = number.filter(|number| 2 < *number) else { continue };
        #[allow(unsafe_code)]
        // SAFETY: The number was just read from the list of open descriptors, and nothing else
        // runs in this process that could close it. If it were closed, the calls below would
        // fail or mark another one, which does no harm.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        if let Ok(flags) = fcntl_getfd(descriptor) {
            let _ = fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC);
        }
    }
    Ok(())
}
