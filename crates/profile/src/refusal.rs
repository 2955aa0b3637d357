//! Why there is no profile, and what would permit one.

use std::io;

use rustix::io::Errno;

use crate::events::paranoid;

/// A sentence for the user: the kernel does not permit samples, and how it would.
#[must_use]
pub fn refusal(error: &io::Error) -> String {
    says(error, paranoid())
}

fn says(error: &io::Error, paranoid: Option<i32>) -> String {
    let permitted = "Run dyno with sudo, or until the next boot: sudo sysctl \
                     kernel.perf_event_paranoid=2 (the program's code only), or =0 (the kernel's as well)";
    match (error.raw_os_error().map(Errno::from_raw_os_error), paranoid) {
        (Some(Errno::ACCESS | Errno::PERM), Some(level)) if 2 < level => {
            format!("this kernel lets only root sample (kernel.perf_event_paranoid is {level}). {permitted}")
        }
        (Some(Errno::ACCESS | Errno::PERM), _) => {
            "samples are not permitted here: within a container, its seccomp profile must allow \
             perf_event_open (--cap-add=PERFMON, or --security-opt seccomp=unconfined); a server of \
             another user needs sudo"
                .into()
        }
        (Some(Errno::NOSYS), _) => {
            "this kernel has no perf_event_open (CONFIG_PERF_EVENTS), so it cannot sample".into()
        }
        (Some(Errno::MFILE | Errno::NFILE), _) => {
            "too many open files: samples of threads need a file for each thread and CPU".into()
        }
        _ => format!("the kernel takes no samples here: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_would_permit_it() {
        let refused = |errno: Errno, paranoid| {
            says(&io::Error::from_raw_os_error(errno.raw_os_error()), paranoid)
        };
        assert!(refused(Errno::ACCESS, Some(3)).contains("kernel.perf_event_paranoid is 3"));
        assert!(refused(Errno::PERM, Some(3)).contains("sudo sysctl"));
        assert!(refused(Errno::PERM, Some(1)).contains("seccomp"));
        assert!(refused(Errno::ACCESS, None).contains("seccomp"));
        assert!(refused(Errno::NOSYS, Some(2)).contains("CONFIG_PERF_EVENTS"));
        assert!(refused(Errno::MFILE, Some(2)).contains("open files"));
        assert!(refused(Errno::INVAL, Some(2)).contains("Invalid argument"));
    }
}
