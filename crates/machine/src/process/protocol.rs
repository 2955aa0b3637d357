//! What dyno and a warden send each other: each message is a line of JSON.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::{Exit, Spec};

/// dyno to its warden. The first one is `Start`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Command {
    /// Start this; only once.
    Start(Box<Spec>),
    /// Send the last of the output.
    Tail,
    /// End everything; the end of the pipe means the same.
    Stop,
}

/// A warden to its dyno. The last one is `Stopped`, or `Failed`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    /// The subject's process runs.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// It could not be started.
    Failed {
        /// The kernel's error number.
        os_error: Option<i32>,
        /// What was tried, and the result.
        says: String,
    },
    /// The subject's process ended; others of its family may live.
    Exited(Exit),
    /// The last of the output.
    Tail(Text),
    /// No process of the subject lives.
    Stopped {
        /// How many had to be killed.
        killed: u32,
        /// The last of the output.
        tail: Text,
    },
}

/// Any bytes as a JSON string: each byte is the character of that number.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Text(String);

impl Text {
    pub(super) fn of(bytes: &[u8]) -> Text {
        Text(bytes.iter().copied().map(char::from).collect())
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect()
    }
}

/// Writes one line.
pub(super) fn write_line(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Splits incoming bytes into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Adds bytes that have arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next whole line, parsed.
    pub(super) fn pop<T: for<'de> Deserialize<'de>>(&mut self) -> Option<io::Result<T>> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.pending.drain(..=end).collect();
        Some(serde_json::from_slice(&line).map_err(io::Error::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_come_back_as_they_went() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut wire = Vec::new();
        write_line(&mut wire, &Event::Tail(Text::of(&bytes))).expect("memory");
        let mut lines = Lines::default();
        let (left, right) = wire.split_at(wire.len() / 2);
        lines.push(left);
        assert!(lines.pop::<Event>().is_none());
        lines.push(right);
        let Some(Ok(Event::Tail(text))) = lines.pop() else { panic!("no tail") };
        assert_eq!(text.bytes(), bytes);
    }
}
