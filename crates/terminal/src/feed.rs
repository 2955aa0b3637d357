//! What a load shows other programs while it is under way: `--stream`, a line of JSON each second, and `--openmetrics`,
//! a file that is written anew each second. A thread of its own writes; the load never waits for it.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lab::Refusal;
use load::{End, Glance, Recording};
use report::load::{Slice, Totals};

/// Where lines go, and its name.
pub type Stream = (String, Box<dyn Write + Send>);

/// Writes the file of counts anew.
pub type Page = Box<dyn FnMut(&Totals) -> Result<(), Refusal> + Send>;

/// This many seconds may wait to be written. If more would, several become one line.
const WAITING_MAX: usize = 16;
/// At the end of the load, what is not written yet has this long.
const PATIENCE: Duration = Duration::from_secs(5);
/// The patience if the user has asked for the end: long enough for a busy machine to write to a file.
const PATIENCE_HALTED: Duration = Duration::from_secs(3);

/// A second, and all that has been counted by its end.
struct Parcel {
    slice: Option<Slice>,
    totals: Option<Totals>,
}

/// The thread that writes, which ends with what it could not write.
type Writer = JoinHandle<Result<(), Refusal>>;

/// What is written while a load is under way.
#[derive(Default)]
pub struct Feed {
    writer: Option<(SyncSender<Parcel>, Writer)>,
    pending: Option<Slice>,
    /// What must not be mixed with what follows, and must wait for room.
    queue: VecDeque<Parcel>,
    /// How far the measured time has come, in seconds, and how long it is to be.
    measured_s: f64,
    longest_s: f64,
    wants_totals: bool,
}

impl Feed {
    /// Starts the thread that writes about this load, whose measured time is so long at most.
    pub fn open(
        stream: Option<Stream>,
        page: Option<Page>,
        longest: Option<Duration>,
    ) -> Result<Feed, Refusal> {
        if stream.is_none() && page.is_none() {
            return Ok(Feed::default());
        }
        let wants_totals = page.is_some();
        let (parcels, received) = sync_channel(WAITING_MAX);
        let write = move || write_all(&received, stream, page);
        let thread = thread::Builder::new().name("feed".into()).spawn(write);
        let thread =
            thread.map_err(|error| Refusal::new(format!("no thread can be started: {error}")))?;
        let longest_s = longest.unwrap_or(Duration::MAX).as_secs_f64();
        Ok(Feed { writer: Some((parcels, thread)), wants_totals, longest_s, ..Feed::default() })
    }

    /// Adds what happened, and hands over each whole second.
    pub fn watch(&mut self, glance: &Glance<'_>) {
        if self.writer.is_none() {
            return;
        }
        let ended = match &mut self.pending {
            Some(slice) if slice.goes_with(glance) => {
                slice.add(glance);
                None
            }
            pending => pending.replace(Slice::of(glance)),
        };
        if !glance.is_warmup {
            // After its end, the last answers are waited for.
            let so_far = self.measured_s + (glance.now - glance.from) as f64 / 1e9;
            self.measured_s = so_far.min(self.longest_s);
        }
        if ended.is_some() {
            // The end of the warm-up: its last second must not be mixed with what follows.
            let parcel = Parcel { slice: ended, totals: self.totals(glance) };
            self.queue.push_back(parcel);
        }
        if self.hand_over() && self.pending.as_ref().is_some_and(Slice::is_whole) {
            let totals = self.totals(glance);
            self.queue.push_back(Parcel { slice: self.pending.take(), totals });
            if !self.hand_over() {
                // It grows until there is room.
                self.pending = self.queue.pop_back().and_then(|parcel| parcel.slice);
            }
        }
    }

    fn totals(&self, glance: &Glance<'_>) -> Option<Totals> {
        self.wants_totals.then(|| Totals::of(glance.total, self.measured_s, false))
    }

    /// Hands over what waits, as far as there is room, and says whether that was all. It never waits.
    fn hand_over(&mut self) -> bool {
        let Some((parcels, _)) = &self.writer else { return true };
        while let Some(parcel) = self.queue.pop_front() {
            if let Err(TrySendError::Full(parcel)) = parcels.try_send(parcel) {
                self.queue.push_front(parcel);
                return false;
            }
        }
        true
    }

    /// Writes the rest and the end, and says what could not be written. A reader that has stopped reading is not waited
    /// for without end.
    pub fn close(mut self, recording: &Recording) -> Result<(), Refusal> {
        if self.writer.is_none() {
            return Ok(());
        }
        let measured_s = analysis::measured_s(recording);
        let totals = self.wants_totals.then(|| Totals::of(&recording.total, measured_s, true));
        self.queue.push_back(Parcel { slice: self.pending.take(), totals });
        let patience = if recording.end == End::Halted { PATIENCE_HALTED } else { PATIENCE };
        let until = Instant::now() + patience;
        let late = || {
            let seconds = patience.as_secs_f64();
            let why = format!("the reader did not take the rest within {seconds} s; it is lost");
            Err(Refusal::new(format!("--stream, --openmetrics: {why}")))
        };
        while !self.hand_over() {
            if until <= Instant::now() {
                return late();
            }
            thread::sleep(Duration::from_millis(5));
        }
        let Some((parcels, thread)) = self.writer else { return Ok(()) };
        drop(parcels);
        while !thread.is_finished() {
            if until <= Instant::now() {
                return late();
            }
            thread::sleep(Duration::from_millis(1));
        }
        thread.join().unwrap_or_else(|_| Err(Refusal::new("the thread that writes has failed")))
    }
}

/// Writes until the load is over. An output that cannot be written is given up; the other one is not.
fn write_all(
    parcels: &Receiver<Parcel>,
    mut stream: Option<Stream>,
    mut page: Option<Page>,
) -> Result<(), Refusal> {
    let mut lost = Ok(());
    for parcel in parcels {
        let line = parcel.slice.filter(|_| stream.is_some()).map(|slice| slice.line());
        if let (Some((name, output)), Some(line)) = (&mut stream, line) {
            let written = line.map_err(io::Error::from).and_then(|line| {
                output.write_all(line.as_bytes())?;
                output.flush()
            });
            match written {
                Ok(()) => {}
                // The reader has gone, as `head` does.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => stream = None,
                Err(error) => {
                    lost = Err(Refusal::new(format!(
                        "{name}: {error}; the lines after that are lost"
                    )));
                    stream = None;
                }
            }
        }
        if let (Some(write), Some(totals)) = (&mut page, parcel.totals)
            && let Err(refusal) = write(&totals)
        {
            lost = Err(refusal);
            page = None;
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use load::{End, SECOND, Tally};

    use super::*;

    /// The warm-up ends while one line waits to be written, for which there is no more room; then the load ends.
    /// Returns what the end said, if it came in time.
    fn ended(
        end: End,
        write: impl FnOnce(Receiver<Parcel>) + Send + 'static,
    ) -> Option<Result<(), String>> {
        let (parcels, received) = sync_channel(1);
        parcels.send(Parcel { slice: None, totals: None }).unwrap();
        let thread = thread::spawn(move || {
            write(received);
            Ok(())
        });
        let (say, said) = channel();
        thread::spawn(move || {
            let mut feed = Feed { writer: Some((parcels, thread)), ..Feed::default() };
            let tally = Tally::new(SECOND);
            for (from, is_warmup) in [(0, true), (SECOND / 2, false)] {
                let (now, window, total) = (from + SECOND / 2, &tally, &tally);
                feed.watch(&Glance { now, from, is_warmup, window, total });
            }
            let recording = Recording::new(tally, SECOND / 2..SECOND, SECOND);
            let closed = feed.close(&Recording { end, ..recording });
            let _ = say.send(closed.map_err(|refusal| refusal.to_string()));
        });
        said.recv_timeout(Duration::from_secs(60)).ok()
    }

    #[test]
    fn a_reader_that_stops_reading_holds_up_neither_the_load_nor_its_end() {
        let (_held, hold) = channel::<()>();
        let ended = ended(End::Halted, move |received| {
            let _ = hold.recv();
            drop(received);
        });
        let why = ended.expect("it ends").unwrap_err();
        assert!(why.contains("did not take"), "{why}");
    }

    #[test]
    fn a_reader_that_is_slow_gets_every_line_in_order() {
        let (say, said) = channel();
        let ended = ended(End::Done, move |received| {
            thread::sleep(Duration::from_millis(100));
            received.iter().for_each(|parcel| say.send(parcel.slice).unwrap());
        });
        assert_eq!(ended, Some(Ok(())));
        let lines: Vec<String> = said.iter().flatten().map(|slice| slice.line().unwrap()).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("\"is_warmup\":true"), "{lines:?}");
        assert!(lines[1].contains("\"is_warmup\":false"), "{lines:?}");
    }
}
