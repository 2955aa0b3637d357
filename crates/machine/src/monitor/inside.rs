//! Readings of a probe inside the subject: lines of `name=number name=number …` on a Unix socket. The probe runs in a
//! program that is not dyno's, so every line is checked before it is used.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::catalog::OURS;
use super::log::Tick;

/// The longest line, the longest name, and how many names there may be in a trial.
const LINE_MAX: usize = 4 << 10;
const NAME_MAX: usize = 64;
const NAMES_MAX: usize = 64;
/// How many connections may send at once, and how much of each is read at a time.
const CONNECTIONS_MAX: usize = 8;
const READ_MAX: usize = 16 << 10;

/// The socket, and the connections that send on it.
#[derive(Debug)]
pub(super) struct Inside {
    path: PathBuf,
    listener: UnixListener,
    connections: Vec<Connection>,
    names: BTreeSet<String>,
    refused: u64,
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    pending: Vec<u8>,
}

impl Inside {
    /// Listens at this path.
    pub(super) fn listen(path: &Path) -> io::Result<Inside> {
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let (path, connections) = (path.to_path_buf(), Vec::new());
        Ok(Inside { path, listener, connections, names: BTreeSet::new(), refused: 0 })
    }

    pub(super) fn read(&mut self, tick: &mut Tick) {
        while let Ok((stream, _)) = self.listener.accept() {
            let is_taken =
                self.connections.len() < CONNECTIONS_MAX && stream.set_nonblocking(true).is_ok();
            if is_taken {
                self.connections.push(Connection { stream, pending: Vec::new() });
            } else {
                self.refused += 1;
            }
        }
        let mut connections = std::mem::take(&mut self.connections);
        connections.retain_mut(|connection| self.read_from(connection, tick));
        self.connections = connections;
        tick.put("watch.refused", self.refused as f64);
    }

    /// Reads what has arrived; returns whether the connection is worth reading again.
    fn read_from(&mut self, connection: &mut Connection, tick: &mut Tick) -> bool {
        let mut bytes = [0; READ_MAX];
        let is_there = match connection.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(count) => {
                connection.pending.extend_from_slice(&bytes[..count]);
                true
            }
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        };
        let whole =
            connection.pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = connection.pending.split_off(whole);
        let lines = std::mem::replace(&mut connection.pending, rest);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.take(line.strip_suffix(b"\n").unwrap_or(line), tick);
        }
        if LINE_MAX < connection.pending.len() {
            self.refused += 1;
            return false;
        }
        is_there
    }

    fn take(&mut self, line: &[u8], tick: &mut Tick) {
        let Some(pairs) = understood(line) else {
            self.refused += 1;
            return;
        };
        for (name, value) in pairs {
            let is_known = self.names.contains(name);
            if is_known || self.names.len() < NAMES_MAX {
                self.names.insert(name.to_string());
                tick.put(name.to_string(), value);
            } else {
                self.refused += 1;
            }
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The pairs of a valid line; nothing if any part of it is invalid.
fn understood(line: &[u8]) -> Option<Vec<(&str, f64)>> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.len() <= LINE_MAX)?;
    let pairs: Option<Vec<_>> = line.split(' ').take(NAMES_MAX + 1).map(pair).collect();
    pairs.filter(|pairs| pairs.len() <= NAMES_MAX)
}

fn pair(text: &str) -> Option<(&str, f64)> {
    let (name, value) = text.split_once('=')?;
    let value: f64 = value.parse().ok()?;
    (is_probe_name(name) && value.is_finite()).then_some((name, value))
}

/// Whether a probe may send a reading under this name.
pub fn is_probe_name(name: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_');
    let is_name = (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(is_plain);
    is_name && name.split('.').next().is_some_and(|first| !OURS.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_understood_or_refused_as_a_whole() {
        let line = b"vm.run_queue=3 vm.memory.total_bytes=1.5e6 x=-2";
        let pairs = [("vm.run_queue", 3.0), ("vm.memory.total_bytes", 1.5e6), ("x", -2.0)];
        assert_eq!(understood(line).as_deref(), Some(&pairs[..]));
        for line in [
            "",
            "a",
            "a=",
            "=1",
            "a=1  b=2",
            "a=1 b",
            "A=1",
            "a b=1",
            "a-b=1",
            "a=nan",
            "a=inf",
            "a=1e999",
            "a=0x1",
            "\u{e9}=1",
            "subject.cpu.total=0",
            "kernel=1",
            "a=1\r",
        ] {
            assert_eq!(understood(line.as_bytes()), None, "{line:?}");
        }
        assert_eq!(understood(b"a=1 \xff=2"), None);
        assert_eq!(understood(format!("{}=1", "a".repeat(65)).as_bytes()), None);
        let many = |count: usize| vec!["a=1"; count].join(" ");
        assert_eq!(understood(many(64).as_bytes()).map(|pairs| pairs.len()), Some(64));
        assert_eq!(understood(many(65).as_bytes()), None);
    }
}
