//! Users as which root runs what needs no rights: they own no file, and no other process.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::{geteuid, getpid};

/// A user and a group, by their numbers.
pub type User = (u32, u32);

/// Numbers that systems leave to users who exist for a while; a container with 65,536 users has them, too.
const FIRST: u32 = 61_184;
const COUNT: u32 = 4_096;

/// A user who has a name and owns nothing, for programs that look their user up; none if this process is not root.
#[must_use]
pub fn nobody() -> Option<User> {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    if geteuid().is_root() { named(&users, "nobody").or_else(stranger) } else { None }
}

/// A user who has no name, owns nothing and runs nothing; none if this process is not root.
#[must_use]
pub fn stranger() -> Option<User> {
    if !geteuid().is_root() {
        return None;
    }
    let mut known = BTreeSet::new();
    for list in ["/etc/passwd", "/etc/group"] {
        let text = fs::read_to_string(list).unwrap_or_default();
        known.extend(text.lines().filter_map(|line| line.split(':').nth(2)?.parse::<u32>().ok()));
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    known.extend(processes.filter_map(|process| Some(process.metadata().ok()?.uid())));
    // Another dyno begins at another number.
    free(getpid().as_raw_nonzero().get().unsigned_abs(), &known).map(|user| (user, user))
}

/// Removes what a stranger who was killed left in shared memory: nothing else is that user's.
pub fn clear_shared_memory((user, _): User) {
    if !(FIRST..FIRST + COUNT).contains(&user) {
        return;
    }
    for file in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        if file.metadata().is_ok_and(|it| it.is_file() && it.uid() == user) {
            let _ = fs::remove_file(file.path());
        }
    }
}

fn free(begin: u32, known: &BTreeSet<u32>) -> Option<u32> {
    let all = (0..COUNT).map(|step| FIRST + begin.wrapping_add(step) % COUNT);
    all.into_iter().find(|user| !known.contains(user))
}

/// A user's numbers, as `/etc/passwd` has them.
fn named(users: &str, name: &str) -> Option<User> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_meant = fields.next() == Some(name);
        let (user, group) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        is_meant.then_some((user, group))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_has_a_number_that_nobody_has() {
        let known = BTreeSet::from([FIRST, FIRST + 1, FIRST + COUNT - 1]);
        assert_eq!(free(0, &known), Some(FIRST + 2));
        assert_eq!(free(COUNT - 1, &known), Some(FIRST + 2));
        assert_eq!(free(COUNT + 5, &known), Some(FIRST + 5));
        assert_eq!(free(7, &(FIRST..FIRST + COUNT).collect()), None);
    }

    #[test]
    fn a_user_is_found_by_its_name() {
        let users = "root:x:0:0::/root:/bin/sh\nodd\nnobody:x:65534:65533:n:/:/bin/false\n";
        assert_eq!(named(users, "nobody"), Some((65_534, 65_533)));
        assert_eq!(named(users, "ann"), None);
    }
}
