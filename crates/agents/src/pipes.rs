//! Lines over pipes: threads that read and write them, on whichever side.

use std::io::{Read, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use post::{Line, Lines, Nanos};
use serde::Serialize;

use crate::now_ns;

/// There may be no room for another thread, with many agents and a low limit.
pub(crate) fn in_a_thread<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, String> {
    let thread = thread::Builder::new().name(name.into()).spawn(run);
    thread.map_err(|error| format!("cannot start a thread: {error}"))
}

/// Hands over each line with the instant at which it came, until the input ends or a line says why to stop. `heard` is
/// told of all that comes, be it a whole line or not.
pub(crate) fn each_line<Stop>(
    mut input: impl Read,
    mut heard: impl FnMut(Nanos),
    mut take: impl FnMut(Line<'_>, Nanos) -> Option<Stop>,
) -> Option<Stop> {
    let (mut lines, mut buffer) = (Lines::default(), vec![0; 64 << 10]);
    while let Ok(length @ 1..) = input.read(&mut buffer) {
        let (at, mut stop) = (now_ns(), None);
        heard(at);
        lines.receive(&buffer[..length], &mut |line| {
            if stop.is_none() {
                stop = take(line, at);
            }
        });
        if stop.is_some() {
            return stop;
        }
    }
    None
}

/// A thread that writes messages, each as a line.
pub(crate) struct Writer<Message> {
    pub(crate) messages: SyncSender<Message>,
    thread: JoinHandle<()>,
}

impl<Message: Serialize + Send + 'static> Writer<Message> {
    /// Writes there; so many messages may wait. Where it cannot be written any more, `gone` is called, and nothing waits.
    pub(crate) fn start(
        mut output: impl Write + Send + 'static,
        waiting: usize,
        gone: impl FnOnce() + Send + 'static,
    ) -> Result<Writer<Message>, String> {
        let (messages, said) = sync_channel(waiting);
        let thread = in_a_thread("writes", move || {
            for message in said {
                let Ok(line) = post::encode(&message) else { continue };
                if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                    return gone();
                }
            }
        })?;
        Ok(Writer { messages, thread })
    }

    /// Has the last messages written, if anyone reads them within this time.
    pub(crate) fn close(self, within: Duration) {
        drop(self.messages);
        let until = Instant::now() + within;
        while !self.thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_is_heard_counts_before_its_line_is_whole_and_a_stop_ends_the_reading() {
        let (mut heard, mut taken) = (0, Vec::new());
        let input = io::Read::chain(&b"a\nb"[..], &b"\nc\nd\n"[..]);
        let stop = each_line(
            input,
            |_| heard += 1,
            |line, _| {
                taken.push(line.unwrap().to_vec());
                (taken.len() == 3).then_some("enough")
            },
        );
        assert_eq!((stop, heard), (Some("enough"), 2));
        assert_eq!(taken, [b"a", b"b", b"c"]);
        assert_eq!(each_line(io::empty(), |_| (), |_, _| Some(())), None);
    }

    /// Takes nothing.
    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_writer_whose_reader_has_gone_says_so_and_keeps_nobody_waiting() {
        let (gone, told) = channel();
        let writer = Writer::start(Broken, 1, move || gone.send(()).unwrap()).unwrap();
        // More than may wait: the last of them come back, and none waits for ever.
        let sent = (0..9).filter(|number| writer.messages.send(*number).is_ok()).count();
        assert!(sent < 9);
        told.recv_timeout(Duration::from_secs(20)).unwrap();
        writer.close(Duration::from_secs(20));
    }
}
