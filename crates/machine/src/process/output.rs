//! A subject's output: always read, so that it never waits for dyno; the last of it is kept in memory, the first of it
//! in a file, and both are limited.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;

/// How many bytes of its end are kept.
const TAIL: usize = 64 << 10;

/// Where a subject's output goes.
#[derive(Debug)]
pub(super) struct Output {
    tail: VecDeque<u8>,
    log: Option<File>,
    log_left: u64,
    dropped: u64,
}

impl Output {
    /// Into this log, up to a limit.
    pub(super) fn new(log: Option<File>, log_bytes_max: u64) -> Output {
        Output { tail: VecDeque::new(), log, log_left: log_bytes_max, dropped: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let fits = usize::try_from(self.log_left).unwrap_or(usize::MAX).min(bytes.len());
        self.log_left -= fits as u64;
        self.dropped += (bytes.len() - fits) as u64;
        let fails = |log: &mut File| log.write_all(&bytes[..fits]).is_err();
        if self.log.as_mut().is_some_and(fails) {
            // A full disk is no reason to stop reading.
            self.log = None;
        }
        self.tail.extend(&bytes[bytes.len().saturating_sub(TAIL)..]);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL));
    }

    /// The last of it.
    pub(super) fn tail(&self) -> Vec<u8> {
        self.tail.iter().copied().collect()
    }

    /// The output has ended. A log that was cut says so, and gets the end of the output.
    pub(super) fn close(&mut self) {
        let tail = self.tail();
        let end = &tail[tail.len().saturating_sub(usize::try_from(self.dropped).unwrap_or(TAIL))..];
        if let Some(log) = self.log.as_mut().filter(|_| 0 < self.dropped) {
            let left_out = self.dropped - end.len() as u64;
            let _ = writeln!(log, "\n[dyno: {left_out} bytes of the output are left out here]");
            let _ = log.write_all(end);
        }
        self.log = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_in_memory() {
        let mut output = Output::new(None, 0);
        for number in 0..100_000_u32 {
            output.push(format!("{number}\n").as_bytes());
        }
        let tail = output.tail();
        assert_eq!(tail.len(), TAIL);
        assert!(tail.ends_with(b"99998\n99999\n"));
        output.push(&[b'x'; 3 * TAIL]);
        assert_eq!(output.tail(), [b'x'; TAIL]);
    }
}
