//! Who an agent is, and who asks: programs by their hash, hosts and users by their names.

use std::fs::File;
use std::io::{self, Read};

use machine::limits::Machine;
use post::{Greeting, Host, Line, LineError, Nanos, PROTOCOL, Program};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::carrier::child::plain;
use crate::loads::LoadsError;

/// The program that runs, even if another file has its name by now.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// The dyno that this is.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The SHA-256 of the program that runs, in hexadecimal digits.
fn own_digest() -> io::Result<String> {
    let (mut file, mut digest) = (File::open(OWN_PROGRAM)?, Sha256::new());
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            length => digest.update(&buffer[..length]),
        }
    }
    Ok(post::hex(&digest.finalize()))
}

/// The SHA-256 that an agent's program must have; none of a process of this machine, which has this very program.
pub(crate) fn digest_to_ask_for(is_local: bool) -> Result<Option<String>, LoadsError> {
    if is_local {
        return Ok(None);
    }
    let unread = |error| LoadsError::Refused(format!("dyno's own program cannot be read: {error}"));
    own_digest().map(Some).map_err(unread)
}

/// With what a coordinator of this dyno begins.
pub(crate) fn greeting(sha256: Option<String>, lease: Nanos) -> Greeting {
    Greeting { protocol: PROTOCOL, dyno: VERSION.into(), sha256, by: user_at_host(), lease }
}

/// The SHA-256 of this program, if the coordinator asks for it; refused if its program is another one.
pub(crate) fn same_program(greeting: &Greeting) -> Result<Option<String>, String> {
    if greeting.protocol != PROTOCOL && greeting.dyno == VERSION {
        return Err(format!(
            "it is another build of dyno {VERSION} (its protocol is {PROTOCOL}, and here it is {}): both must be the same \
             program; install this one there",
            greeting.protocol
        ));
    }
    if (greeting.protocol, greeting.dyno.as_str()) != (PROTOCOL, VERSION) {
        return Err(format!(
            "it is dyno {VERSION}, and this is dyno {}: both must be the same; install this one there",
            plain(&greeting.dyno)
        ));
    }
    let Some(theirs) = &greeting.sha256 else { return Ok(None) };
    let own = own_digest().map_err(|error| format!("its own program: {error}"))?;
    if own != *theirs {
        return Err(format!(
            "it is another build of dyno {VERSION} (SHA-256 {}…, and here {}…): both must be the same program; install this one there",
            own.get(..12).unwrap_or_default(),
            plain(theirs.get(..12).unwrap_or_default())
        ));
    }
    Ok(Some(own))
}

/// Why an agent ends at a line that it cannot read; `to_other` if the line is for an agent of the other kind.
pub(crate) fn unread<Other: DeserializeOwned>(
    line: &Line<'_>,
    error: &LineError,
    to_other: &str,
) -> String {
    match line {
        Ok(line) if post::decode::<Other>(line).is_ok() => to_other.into(),
        _ => format!("that is not a line of a coordinator: {error}"),
    }
}

/// This machine, as an agent tells of it that has this hash.
pub(crate) fn own_host(sha256: Option<String>) -> Host {
    let machine = Machine::read();
    Host {
        name: host_name(),
        program: Program { dyno: VERSION.into(), sha256 },
        cpus: machine.cpus,
        files: machine.files.hard,
        ..Host::default()
    }
}

/// As the host calls itself.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// `uname -m` of this machine.
pub(crate) fn machine_name() -> String {
    rustix::system::uname().machine().to_string_lossy().into_owned()
}

/// `user@host`.
fn user_at_host() -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let (name, number) = (parts.next()?, parts.nth(1)?);
        (number.parse() == Ok(uid)).then(|| name.to_string())
    });
    format!("{}@{}", named.unwrap_or_else(|| format!("user {uid}")), host_name())
}

/// 64 bits that no other process has.
pub(crate) fn nonce() -> u64 {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    match read {
        Ok(()) => u64::from_ne_bytes(bytes),
        // The clock and the process are as good as nothing else is there.
        Err(_) => crate::now_ns() ^ u64::from(std::process::id()).rotate_left(40),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinator_of_another_protocol_is_told_apart_from_one_of_another_version() {
        let greeting = |protocol, dyno: &str| Greeting {
            protocol,
            dyno: dyno.into(),
            sha256: None,
            by: "ann@here".into(),
            lease: 1,
        };
        let refused = |protocol, dyno| same_program(&greeting(protocol, dyno)).unwrap_err();
        assert_eq!(same_program(&greeting(PROTOCOL, VERSION)), Ok(None));
        let protocols = format!("its protocol is {PROTOCOL}, and here it is {}", PROTOCOL + 1);
        assert!(refused(PROTOCOL + 1, VERSION).contains(&protocols));
        let versions = format!("it is dyno {VERSION}, and this is dyno 9.9.9: ");
        assert!(refused(PROTOCOL, "9.9.9").starts_with(&versions));
        assert!(refused(PROTOCOL + 1, "9.9.9").starts_with(&versions));
    }
}
