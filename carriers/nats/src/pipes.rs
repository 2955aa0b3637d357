//! Standard input as lines of a bounded length, standard output as lines in a bounded queue; each has a thread.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::link::MAX_LINE;
use crate::name::COORDINATOR;

/// Room for an agent's name and a blank before a line.
const MAX_NAME: usize = 64;
/// Bytes that may wait to be printed; a reader that stands still for longer loses lines, and stops nothing.
const MOST_QUEUED: usize = 64 << 20;
/// How long the last lines may take to be read.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What standard input says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Line(Vec<u8>),
    /// A line longer than is sent, and how long.
    TooLong(u64),
    /// It has ended, or standard output is not read any more.
    Ended,
}

/// Both ends: lines in, and lines out.
pub(crate) struct Pipes {
    pub(crate) lines: mpsc::Receiver<Input>,
    /// Notified when standard input has ended, also while its lines still wait.
    pub(crate) has_ended: Arc<Notify>,
    pub(crate) printer: Printer,
}

pub(crate) struct Printer {
    queue: blocking::Sender<Vec<u8>>,
    queued: Arc<AtomicUsize>,
    is_done: blocking::Receiver<()>,
}

pub(crate) fn open() -> Pipes {
    let (lines_in, lines) = mpsc::channel(4);
    let (queue, to_print) = blocking::channel::<Vec<u8>>();
    let (done, is_done) = blocking::channel();
    let queued = Arc::new(AtomicUsize::new(0));
    let has_ended = Arc::new(Notify::new());
    let end = Arc::clone(&has_ended);
    let (ended, printed) = (lines_in.clone(), Arc::clone(&queued));
    thread::spawn(move || {
        let result = print(&to_print, &printed);
        let _ = done.send(());
        if result.is_err() {
            let _ = ended.blocking_send(Input::Ended);
        }
    });
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Ok(Some(input)) = next_line(&mut stdin, MAX_LINE + MAX_NAME) {
            if lines_in.blocking_send(input).is_err() {
                return;
            }
        }
        end.notify_one();
        let _ = lines_in.blocking_send(Input::Ended);
    });
    Pipes { lines, has_ended, printer: Printer { queue, queued, is_done } }
}

fn print(lines: &blocking::Receiver<Vec<u8>>, queued: &AtomicUsize) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    while let Ok(mut line) = lines.recv() {
        let length = line.len();
        line.push(b'\n');
        stdout.write_all(&line)?;
        stdout.flush()?;
        queued.fetch_sub(length, Ordering::Relaxed);
    }
    Ok(())
}

impl Printer {
    /// Whether there was room for the line.
    pub(crate) fn print(&self, line: Vec<u8>) -> bool {
        let length = line.len();
        if MOST_QUEUED < self.queued.load(Ordering::Relaxed) + length {
            return false;
        }
        self.queued.fetch_add(length, Ordering::Relaxed);
        self.queue.send(line).is_ok()
    }

    /// Waits a little for what was printed last to be read.
    pub(crate) fn finish(self) {
        let Printer { queue, is_done, .. } = self;
        drop(queue);
        let _ = is_done.recv_timeout(LAST_WORDS);
    }
}

/// The next line without its end; none after the last. What stands behind the last end of a line is the beginning of one
/// that was never finished.
fn next_line(from: &mut impl BufRead, most: usize) -> io::Result<Option<Input>> {
    let mut line = Vec::new();
    from.by_ref().take(most as u64 + 1).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Input::Line(line)));
    }
    if line.len() <= most {
        return Ok(None);
    }
    let mut length = line.len() as u64;
    loop {
        let buffer = from.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (skipped, is_over) = match end {
            Some(place) => (place + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        from.consume(skipped);
        length += skipped as u64;
        if is_over {
            return Ok(Some(Input::TooLong(length - u64::from(end.is_some()))));
        }
    }
}

/// Whether this line of standard input is within the limit, without the name before it.
pub(crate) fn is_too_long(line: &[u8], has_name: bool) -> bool {
    let name = if has_name {
        line.iter().position(|byte| *byte == b' ').map_or(0, |it| it + 1)
    } else {
        0
    };
    MAX_LINE < line.len() - name
}

const _: () = assert!(COORDINATOR.len() < MAX_NAME);

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, most: usize) -> Vec<Input> {
        let mut from = io::BufReader::with_capacity(3, text.as_bytes());
        std::iter::from_fn(|| next_line(&mut from, most).unwrap()).collect()
    }

    #[test]
    fn lines_are_split_and_long_ones_are_passed_over() {
        let line = |text: &str| Input::Line(text.into());
        assert_eq!(all("a\n\nbcd\n", 3), [line("a"), line(""), line("bcd")]);
        assert_eq!(all("abcd\nx\n", 3), [Input::TooLong(4), line("x")]);
        assert_eq!(all("abcdefghijk\n", 3), [Input::TooLong(11)]);
        assert_eq!(all("abcdefghijk", 3), [Input::TooLong(11)]);
    }

    #[test]
    fn a_last_line_without_an_end_is_half_a_line() {
        assert_eq!(all("a\nb", 3), [Input::Line("a".into())]);
    }

    #[test]
    fn a_name_does_not_count_to_the_length_of_a_line() {
        let long = vec![b'x'; MAX_LINE];
        assert!(!is_too_long(&long, false));
        assert!(!is_too_long(&[b"desk3 ", &long[..]].concat(), true));
        assert!(is_too_long(&[b"desk3 y", &long[..]].concat(), true));
    }
}
