//! Shows a run while it is under way: on a terminal a picture, elsewhere a line now and then.
//!
//! It has its own thread. The run hands over a little data ten times a second and never waits for it.

mod history;
mod screen;

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use load::{Glance, Nanos, Order, SECOND};

use crate::order::{Asked, words};
use crate::terminal;
use history::{History, Slot, Snapshot};
use machine::limits::thread_cpu_ns;
use report::units::{count, nanos, rate};
use screen::Header;

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Picture { is_coloured: bool },
    Lines,
    Nothing,
}

impl Style {
    /// The style that fits standard error.
    pub(crate) fn usual() -> Style {
        if terminal::stderr_is_live() {
            Style::Picture { is_coloured: !terminal::colour_is_refused() }
        } else {
            Style::Lines
        }
    }
}

/// A view that is open.
pub(crate) struct View {
    snapshots: Option<SyncSender<Snapshot>>,
    thread: Option<JoinHandle<Nanos>>,
    /// CPU time that the view cost on the run's own thread.
    watching_cpu: Nanos,
}

/// At most this many snapshots wait for the view: the newest is dropped.
const WAITING_MAX: usize = 32;
/// Five pictures a second.
const PICTURE_EVERY: Duration = Duration::from_millis(200);
/// If standard error is no terminal, a line this often.
const LINE_EVERY: Nanos = 2 * SECOND;

impl View {
    pub(crate) fn open(style: Style, order: &Order, asked: &Asked) -> View {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let header = header(order, asked);
        let show = move || {
            match style {
                Style::Picture { is_coloured } => show_picture(&receiver, &header, is_coloured),
                Style::Lines => show_lines(&receiver),
                Style::Nothing => {}
            }
            thread_cpu_ns()
        };
        let thread = match style {
            Style::Nothing => None,
            // If the view cannot start, the run continues without it.
            Style::Picture { .. } | Style::Lines => {
                thread::Builder::new().name("view".into()).spawn(show).ok()
            }
        };
        View { snapshots: thread.is_some().then_some(sender), thread, watching_cpu: 0 }
    }

    /// Hands over new data; drops it if the view is behind.
    pub(crate) fn watch(&mut self, glance: &Glance<'_>) {
        let Some(snapshots) = &self.snapshots else {
            return;
        };
        let before = thread_cpu_ns();
        let _ = snapshots.try_send(Snapshot::of(glance));
        self.watching_cpu += thread_cpu_ns().saturating_sub(before);
    }

    /// Restores the terminal; returns what the view cost in CPU time.
    pub(crate) fn close(mut self) -> Nanos {
        drop(self.snapshots.take());
        let shown = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(0);
        terminal::leave();
        shown + self.watching_cpu
    }
}

fn header(order: &Order, asked: &Asked) -> Header {
    let nanos = |time: Duration| Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX);
    Header {
        target: format!("dyno load  {} {}", asked.method, asked.url),
        load: words::of_load(order),
        warmup: nanos(order.warmup),
        length: order.stop.duration.map(nanos),
        total: match order.load {
            load::Load::Sessions { calls, .. } => {
                order.stop.total.map(|total| total.saturating_mul(u64::from(calls)))
            }
            load::Load::Closed { .. } | load::Load::Open { .. } => order.stop.total,
        },
        has_schedule: !matches!(order.load, load::Load::Closed { .. }),
    }
}

/// A run of known length is divided into some hundred slots; otherwise a slot is half a second.
fn slot_length(header: &Header) -> Nanos {
    let length = header.length.map(|length| (header.warmup + length) / 150);
    length.unwrap_or(SECOND / 2).max(SECOND / 10)
}

fn show_picture(snapshots: &Receiver<Snapshot>, header: &Header, is_coloured: bool) {
    let mut history = History::new(slot_length(header));
    let mut drawn: Option<Instant> = None;
    loop {
        match snapshots.recv_timeout(PICTURE_EVERY) {
            Ok(snapshot) => {
                history.add(snapshot);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if drawn.is_some_and(|drawn| drawn.elapsed() < PICTURE_EVERY) {
            continue;
        }
        if drawn.replace(Instant::now()).is_none() {
            terminal::enter();
        }
        let (width, height) = terminal::stderr_size();
        terminal::draw(&frame(&screen::draw(header, &history, width, height), is_coloured));
    }
}

/// The lines as one write: start at the top, and clear the rest of each line and everything below.
fn frame(lines: &[report::paint::Line], is_coloured: bool) -> String {
    let lines: Vec<String> = lines.iter().map(|line| line.shown(is_coloured) + "\x1b[K").collect();
    format!("\x1b[?2026h\x1b[H{}\x1b[J\x1b[?2026l", lines.join("\r\n"))
}

fn show_lines(snapshots: &Receiver<Snapshot>) {
    let mut history = History::new(LINE_EVERY);
    while let Ok(snapshot) = snapshots.recv() {
        let is_full = history.add(snapshot);
        if let Some(slot) = history.slots.back().filter(|_| is_full) {
            terminal::say(&line(slot, history.measured_from));
        }
    }
}

fn line(slot: &Slot, measured_from: Nanos) -> String {
    let value = |value: Option<Nanos>| value.map_or("–".to_string(), nanos);
    format!(
        "{:>6.1} s  {}/s answered  p50 {}  p99 {}  failures {}",
        slot.until.saturating_sub(measured_from) as f64 / SECOND as f64,
        rate(slot.correct_per_s().round()),
        value(slot.p50),
        value(slot.p99),
        count(slot.failed)
    )
}
