//! Shows a load, or connections that are held, while they are under way: on a terminal a picture, elsewhere a line now
//! and then.
//!
//! A view has its own thread. The run hands over a little data, ten times a second at most, and never waits for it.

mod history;
mod hold;
mod picture;
mod screen;

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use agents::AgentNow;
use load::{Glance, HoldWindow, Nanos, Order, SECOND};

pub use history::Snapshot;
use history::{History, Slot};
pub use hold::{HoldHeader, Second};
use machine::limits::thread_cpu_ns;
use report::load::{RequestSummary, order_text};
use report::paint::Line;
use screen::Header;
use units::{count, rate};

/// How a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Picture { is_coloured: bool },
    Lines,
    Nothing,
}

impl Style {
    /// The style that fits standard error.
    pub fn usual() -> Style {
        if crate::stderr_is_live() {
            Style::Picture { is_coloured: !crate::colour_is_refused() }
        } else {
            Style::Lines
        }
    }
}

/// At most this many snapshots wait for the view: the newest is dropped.
const WAITING_MAX: usize = 32;
/// Five pictures a second.
const PICTURE_EVERY: Duration = Duration::from_millis(200);
/// If standard error is no terminal, a line this often.
const LINE_EVERY: Nanos = 2 * SECOND;

/// What a view is handed: a window, or what the agents do now.
enum Update<T> {
    Window(T),
    Agents(Vec<AgentNow>),
}

/// A view in its own thread, which is handed windows of this kind. It gives the terminal back when it is dropped.
pub struct View<T> {
    style: Style,
    /// None: nothing is shown.
    updates: Option<SyncSender<Update<T>>>,
    thread: Option<JoinHandle<Nanos>>,
    /// CPU time that the view cost on the thread that is watched.
    watching_cpu: Nanos,
}

/// The view of a load.
pub type LoadView = View<Snapshot>;
/// The view of held connections.
pub type HoldView = View<Second>;

impl<T> View<T> {
    fn nothing(style: Style) -> View<T> {
        View { style, updates: None, thread: None, watching_cpu: 0 }
    }

    fn start(style: Style, show: impl FnOnce(&Receiver<Update<T>>) + Send + 'static) -> View<T>
    where
        T: Send + 'static,
    {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let show = move || {
            show(&receiver);
            thread_cpu_ns()
        };
        // If the view cannot start, the run continues without it.
        let thread = thread::Builder::new().name("view".into()).spawn(show).ok();
        let updates = thread.is_some().then_some(sender);
        View { style, updates, thread, watching_cpu: 0 }
    }

    /// Hands something over; drops it if the view is behind.
    fn hand(&mut self, update: impl FnOnce() -> Update<T>) {
        let Some(updates) = &self.updates else { return };
        let before = thread_cpu_ns();
        let _ = updates.try_send(update());
        self.watching_cpu += thread_cpu_ns().saturating_sub(before);
    }

    /// Hands over what the agents do now.
    pub fn watch_agents(&mut self, agents: &[AgentNow]) {
        self.hand(|| Update::Agents(agents.to_vec()));
    }

    /// Prints a line; not over a picture, which shows the same, or where the report will.
    pub fn notice(&self, line: &str) {
        match self.style {
            Style::Picture { .. } => {}
            Style::Lines | Style::Nothing => crate::notice(line),
        }
    }

    /// Restores the terminal; returns what the view cost in CPU time.
    pub fn close(&mut self) -> Nanos {
        drop(self.updates.take());
        let shown = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(0);
        crate::leave();
        shown + self.watching_cpu
    }
}

impl<T> Drop for View<T> {
    fn drop(&mut self) {
        self.close();
    }
}

fn add(history: &mut History, update: Update<Snapshot>) {
    match update {
        Update::Window(snapshot) => {
            history.add(snapshot);
        }
        Update::Agents(agents) => history.agents = agents,
    }
}

impl LoadView {
    /// Of a load by this process, or by agents at these places.
    pub fn open(
        style: Style,
        order: &Order,
        asked: &RequestSummary,
        from: Option<&str>,
    ) -> LoadView {
        let header = header(order, asked, from);
        match style {
            Style::Nothing => View::nothing(style),
            Style::Lines => View::start(style, show_lines),
            Style::Picture { is_coloured } => View::start(style, move |updates| {
                let mut history = History::new(slot_length(&header));
                show_pictures(updates, is_coloured, &mut history, add, |history, size| {
                    screen::draw(&header, history, size.0, size.1)
                });
            }),
        }
    }

    /// Hands over new data.
    pub fn watch(&mut self, glance: &Glance<'_>) {
        self.hand(|| Update::Window(Snapshot::of(glance)));
    }
}

impl HoldView {
    pub fn open(style: Style, header: HoldHeader) -> HoldView {
        match style {
            Style::Nothing | Style::Lines => View::nothing(style),
            Style::Picture { is_coloured } => View::start(style, move |updates| {
                let mut seconds = hold::Seconds::default();
                let add = |seconds: &mut hold::Seconds, update| match update {
                    Update::Window(second) => seconds.add(second),
                    Update::Agents(agents) => seconds.agents = agents,
                };
                show_pictures(updates, is_coloured, &mut seconds, add, |seconds, size| {
                    hold::draw(&header, seconds, size.0, size.1)
                });
            }),
        }
    }

    /// Hands over a second, or prints its line where there is no terminal.
    pub fn watch(&mut self, window: &HoldWindow, line: impl FnOnce() -> String) {
        match self.style {
            Style::Nothing => {}
            Style::Lines => crate::notice(&line()),
            Style::Picture { .. } => self.hand(|| Update::Window(Second::of(window))),
        }
    }
}

fn header(order: &Order, asked: &RequestSummary, from: Option<&str>) -> Header {
    let nanos = |time: Duration| Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX);
    Header {
        target: format!("dyno load  {}", asked.words()),
        load: match from {
            None => order_text::of_load(order),
            Some(from) => format!("{}, from {from}", order_text::of_load(order)),
        },
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

/// Draws until no more snapshots come; and in between, so that the picture always fits the terminal.
fn show_pictures<T, H>(
    snapshots: &Receiver<T>,
    is_coloured: bool,
    history: &mut H,
    add: impl Fn(&mut H, T),
    picture: impl Fn(&H, (usize, usize)) -> Vec<Line>,
) {
    let mut drawn: Option<Instant> = None;
    loop {
        match snapshots.recv_timeout(PICTURE_EVERY) {
            Ok(snapshot) => add(history, snapshot),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if drawn.is_some_and(|drawn| drawn.elapsed() < PICTURE_EVERY) {
            continue;
        }
        if drawn.replace(Instant::now()).is_none() {
            crate::enter();
        }
        let lines = picture(history, crate::stderr_size());
        crate::draw(&frame(&lines, is_coloured));
    }
}

/// The lines as one write: start at the top, and clear the rest of each line and everything below.
fn frame(lines: &[Line], is_coloured: bool) -> String {
    let lines: Vec<String> = lines.iter().map(|line| line.shown(is_coloured) + "\x1b[K").collect();
    format!("\x1b[?2026h\x1b[H{}\x1b[J\x1b[?2026l", lines.join("\r\n"))
}

fn show_lines(updates: &Receiver<Update<Snapshot>>) {
    let mut history = History::new(LINE_EVERY);
    while let Ok(update) = updates.recv() {
        let Update::Window(snapshot) = update else { continue };
        let is_full = history.add(snapshot);
        if let Some(slot) = history.slots.back().filter(|_| is_full) {
            crate::notice(&line(slot, history.measured_from));
        }
    }
}

fn line(slot: &Slot, measured_from: Nanos) -> String {
    format!(
        "{:>6.1} s  {}/s answered  p50 {}  p99 {}  failures {}",
        slot.until.saturating_sub(measured_from) as f64 / SECOND as f64,
        rate(slot.correct_per_s().round()),
        slot.written(slot.p50),
        slot.written(slot.p99),
        count(slot.failed)
    )
}
