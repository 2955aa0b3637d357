//! Refuses a kernel that lacks the system calls that all loads wait with, before anything starts.

use rustix::io::Errno;

use crate::shell::Refusal;

pub(crate) fn check() -> Result<(), Refusal> {
    is_enough(load::kernel_can_wait(), &machine::limits::kernel())
}

fn is_enough(can_wait: rustix::io::Result<()>, release: &str) -> Result<(), Refusal> {
    match can_wait {
        Ok(()) => Ok(()),
        Err(Errno::NOSYS) => Err(Refusal::new(format!(
            "dyno needs Linux 5.11 or newer, and this is Linux {release}: the system call that dyno waits with is \
             missing; use a newer kernel (or, in a container of an old engine, a newer engine)"
        ))),
        Err(errno) => Err(Refusal::new(format!(
            "the system call that dyno waits with is refused here ({errno}); allow it in the sandbox that dyno runs in"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_is_refused_with_its_version_and_the_one_that_is_needed() {
        let says = is_enough(Err(Errno::NOSYS), "5.10.0-8-amd64").unwrap_err().to_string();
        assert!(
            says.contains("needs Linux 5.11 or newer, and this is Linux 5.10.0-8-amd64"),
            "{says}"
        );
        let says = is_enough(Err(Errno::PERM), "6.1").unwrap_err().to_string();
        assert!(says.contains("refused here") && says.contains("sandbox"), "{says}");
        assert!(is_enough(Ok(()), "6.1").is_ok());
    }
}
