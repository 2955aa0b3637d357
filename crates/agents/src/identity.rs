//! Who an agent is, and who asks: programs by their hash, hosts and users by their names.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};

use post::{Greeting, PROTOCOL};
use sha2::{Digest, Sha256};

use crate::carrier::child::plain;

/// The program that runs, even if another file has its name by now.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// The dyno that this is.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The SHA-256 of the program that runs, in hexadecimal digits.
pub(crate) fn own_digest() -> io::Result<String> {
    let (mut file, mut digest) = (File::open(OWN_PROGRAM)?, Sha256::new());
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            length => digest.update(&buffer[..length]),
        }
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// The SHA-256 of this program, if the coordinator asks for it; refused if its program is another one.
pub(crate) fn same_program(greeting: &Greeting) -> Result<Option<String>, String> {
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
pub(crate) fn user_at_host() -> String {
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
