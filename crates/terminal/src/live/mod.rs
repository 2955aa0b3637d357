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

use history::{History, Slot, Snapshot};
pub use hold::HoldHeader;
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

/// A view in its own thread, which is handed snapshots of this kind.
struct Watcher<T> {
    /// None: nothing is shown.
    snapshots: Option<SyncSender<T>>,
    thread: Option<JoinHandle<Nanos>>,
    /// CPU time that the view cost on the thread that is watched.
    watching_cpu: Nanos,
}

impl<T: Send + 'static> Watcher<T> {
    fn nothing() -> Watcher<T> {
        Watcher { snapshots: None, thread: None, watching_cpu: 0 }
    }

    fn start(show: impl FnOnce(&Receiver<T>) + Send + 'static) -> Watcher<T> {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let show = move || {
            show(&receiver);
            thread_cpu_ns()
        };
        // If the view cannot start, the run continues without it.
        let thread = thread::Builder::new().name("view".into()).spawn(show).ok();
        Watcher { snapshots: thread.is_some().then_some(sender), thread, watching_cpu: 0 }
    }

    /// Hands over a snapshot; drops it if the view is behind.
    fn watch(&mut self, snapshot: impl FnOnce() -> T) {
        let Some(snapshots) = &self.snapshots else { return };
        let before = thread_cpu_ns();
        let _ = snapshots.try_send(snapshot());
        self.watching_cpu += thread_cpu_ns().saturating_sub(before);
    }

    /// Restores the terminal; returns what the view cost in CPU time.
    fn close(&mut self) -> Nanos {
        drop(self.snapshots.take());
        let shown = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(0);
        crate::leave();
        shown + self.watching_cpu
    }
}

/// What a view is handed: a window, or what the agents do now.
enum Update<T> {
    Window(T),
    Agents(Vec<AgentNow>),
}

/// The view of a load.
pub struct View {
    watcher: Watcher<Update<Snapshot>>,
    style: Style,
}

fn add(history: &mut History, update: Update<Snapshot>) {
    match update {
        Update::Window(snapshot) => {
            history.add(snapshot);
        }
        Update::Agents(agents) => history.agents = agents,
    }
}

impl View {
    /// Of a load by this process, or by agents at these places.
    pub fn open(style: Style, order: &Order, asked: &RequestSummary, from: Option<&str>) -> View {
        let header = header(order, asked, from);
        let watcher = match style {
            Style::Nothing => Watcher::nothing(),
            Style::Lines => Watcher::start(show_lines),
            Style::Picture { is_coloured } => Watcher::start(move |snapshots| {
                let mut history = History::new(slot_length(&header));
                show_pictures(snapshots, is_coloured, &mut history, add, |history, size| {
                    screen::draw(&header, history, size.0, size.1)
                });
            }),
        };
        View { watcher, style }
    }

    /// Hands over new data.
    pub fn watch(&mut self, glance: &Glance<'_>) {
        self.watcher.watch(|| Update::Window(Snapshot::of(glance)));
    }

    /// Hands over what the agents do now.
    pub fn watch_agents(&mut self, agents: &[AgentNow]) {
        self.watcher.watch(|| Update::Agents(agents.to_vec()));
    }

    /// Prints a line; not over a picture, which shows the same, or where the report will.
    pub fn notice(&self, line: &str) {
        notice(self.style, line);
    }

    /// Restores the terminal; returns what the view cost in CPU time.
    pub fn close(mut self) -> Nanos {
        self.watcher.close()
    }
}

fn notice(style: Style, line: &str) {
    match style {
        Style::Picture { .. } => {}
        Style::Lines | Style::Nothing => crate::notice(line),
    }
}

/// The view of held connections. It gives the terminal back when it is dropped.
pub struct HoldView {
    watcher: Watcher<Update<hold::Second>>,
    style: Style,
}

impl HoldView {
    pub fn open(style: Style, header: HoldHeader) -> HoldView {
        let watcher = match style {
            Style::Nothing | Style::Lines => Watcher::nothing(),
            Style::Picture { is_coloured } => Watcher::start(move |snapshots| {
                let mut seconds = hold::Seconds::default();
                let add = |seconds: &mut hold::Seconds, update| match update {
                    Update::Window(second) => seconds.add(second),
                    Update::Agents(agents) => seconds.agents = agents,
                };
                show_pictures(snapshots, is_coloured, &mut seconds, add, |seconds, size| {
                    hold::draw(&header, seconds, size.0, size.1)
                });
            }),
        };
        HoldView { watcher, style }
    }

    /// Hands over a second, or prints its line where there is no terminal.
    pub fn watch(&mut self, window: &HoldWindow, line: impl FnOnce() -> String) {
        match self.style {
            Style::Nothing => {}
            Style::Lines => crate::notice(&line()),
            Style::Picture { .. } => {
                self.watcher.watch(|| Update::Window(hold::Second::of(window)));
            }
        }
    }

    /// Hands over what the agents do now.
    pub fn watch_agents(&mut self, agents: &[AgentNow]) {
        self.watcher.watch(|| Update::Agents(agents.to_vec()));
    }

    /// Prints a line; not over a picture, which shows the same, or where the report will.
    pub fn notice(&self, line: &str) {
        notice(self.style, line);
    }
}

impl Drop for HoldView {
    fn drop(&mut self) {
        self.watcher.close();
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
