//! Refuses a kernel that lacks the system calls by which a server is ended, before one is started.

use rustix::io::Errno;

use crate::shell::Refusal;

pub(crate) fn check() -> Result<(), Refusal> {
    is_enough(machine::process::kernel_can_end(), &machine::limits::kernel())
}

fn is_enough(can_end: rustix::io::Result<()>, release: &str) -> Result<(), Refusal> {
    match can_end {
        Ok(()) => Ok(()),
        Err(Errno::NOSYS) => Err(Refusal::new(format!(
            "dyno needs Linux 5.3 or newer to run servers, and this is Linux {release}: the system call by which dyno \
             ends a server for certain (pidfd_open) is missing; use a newer kernel (or, in a container of an old \
             engine, a newer engine)"
        ))),
        Err(errno) => Err(Refusal::new(format!(
            "the system call by which dyno ends a server for certain (pidfd_open) is refused here ({errno}); allow it \
             in the sandbox that dyno runs in"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_is_refused_with_its_version_and_the_one_that_is_needed() {
        let says = is_enough(Err(Errno::NOSYS), "4.18.0-553").unwrap_err().to_string();
        assert!(
            says.contains("needs Linux 5.3 or newer to run servers, and this is Linux 4.18.0-553"),
            "{says}"
        );
        let says = is_enough(Err(Errno::PERM), "6.1").unwrap_err().to_string();
        assert!(says.contains("refused here") && says.contains("sandbox"), "{says}");
        assert!(is_enough(Ok(()), "6.1").is_ok());
    }
}
