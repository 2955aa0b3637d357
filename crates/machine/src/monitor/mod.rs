//! Watches a trial: the processes of the subject and of a service, dyno's own threads, the machine, the kernel's network, and the probe
//! inside the subject. `docs/readings.md` names every reading.
//!
//! One thread reads everything ten times a second, and expensive readings more seldom: never more than a quarter of a
//! percent of the time is spent on one of these (`Throttle`).

mod catalog;
mod inside;
mod kernel;
mod log;
mod machine;
mod own;
mod service;
mod subject;
mod throttle;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use inside::Inside;
use kernel::Kernel;
use log::{Log, Tick};
use machine::Machine;
use own::Own;
use subject::Subject;

use crate::Series;
use crate::conditions::Readings;

pub use catalog::{CATALOG, ReadingSpec};
pub use catalog::{grows as reading_grows, unit as reading_unit};
pub use inside::is_probe_name;
use service::Service;
pub use service::ServiceWatch;
pub use subject::{cpu_ns_below, cpu_ns_of, resident_bytes};

#[derive(Clone, Debug)]
pub struct WatchPlan {
    pub period: Duration,
    /// The trial's zero.
    pub began: Instant,
    /// The root of the subject's processes, itself excluded: `Running::warden_pid`. It may be given later: see
    /// `Watch::follow`.
    pub root: Option<u32>,
    /// The subject's processes where dyno did not start them: then there is no root.
    pub found: Vec<u32>,
    /// Processes of this machine that work for the load, besides this one.
    pub helpers: Vec<u32>,
    /// The trial's cgroup.
    pub readings: Option<Readings>,
    /// Where the subject listens.
    pub port: Option<u16>,
    /// The path of the socket to which a probe inside the subject connects.
    pub probe_socket: Option<PathBuf>,
    /// What works beside the subject.
    pub service: Option<ServiceWatch>,
}

impl WatchPlan {
    pub const PERIOD: Duration = Duration::from_millis(100);
}

/// A running watch, on a thread of its own, in the network of the thread that started it. Dropping it ends it.
#[derive(Debug)]
pub struct Watch {
    log: Arc<Mutex<Log>>,
    root: Arc<AtomicU32>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins to watch. It fails if the probe's socket cannot be made: its path may be too long.
    pub fn start(plan: WatchPlan) -> io::Result<Watch> {
        let log = Arc::new(Mutex::new(Log::default()));
        let root = Arc::new(AtomicU32::new(plan.root.unwrap_or(0)));
        let inside = plan.probe_socket.as_deref().map(Inside::listen).transpose()?;
        let (end, ended) = channel();
        let monitors = Monitors {
            subject: Subject::new(Arc::clone(&root), plan.found.clone(), plan.readings.clone()),
            own: Own::new(&plan.helpers),
            service: plan.service.as_ref().map(Service::new),
            machine: Machine::new(),
            kernel: None,
            inside,
            plan,
        };
        let shared = Arc::clone(&log);
        let thread = std::thread::Builder::new().name("watch".to_string());
        let thread = thread.spawn(move || monitors.look(&shared, &ended))?;
        Ok(Watch { log, root, end: Some(end), thread: Some(thread) })
    }

    /// From now on the subject's processes are those below this one. A watch may begin before there are any: then a
    /// probe finds its socket however early it starts.
    pub fn follow(&self, root: u32) {
        self.root.store(root, Ordering::Relaxed);
    }

    /// The last value of a reading.
    #[must_use]
    pub fn latest(&self, name: &str) -> Option<f64> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).latest(name)
    }

    /// How fast a reading that only grows has grown over the last second.
    #[must_use]
    pub fn per_second(&self, name: &str) -> Option<f64> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).per_second(name)
    }

    /// Reads everything a last time, and ends; returns all readings by name.
    #[must_use]
    pub fn stop(mut self) -> Vec<Series> {
        self.end();
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner)).into_series()
    }

    fn end(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A watch that panicked has recorded what it could.
            let _ = thread.join();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Everything that is read.
struct Monitors {
    plan: WatchPlan,
    subject: Subject,
    own: Own,
    service: Option<Service>,
    machine: Machine,
    /// Opened by the watching thread: it reads the network of that thread.
    kernel: Option<Kernel>,
    inside: Option<Inside>,
}

impl Monitors {
    fn look(mut self, log: &Mutex<Log>, ended: &Receiver<()>) {
        self.kernel = Some(Kernel::new(self.plan.port));
        let mut due = Instant::now();
        loop {
            let now = Instant::now();
            let mut tick = Tick::at(now.saturating_duration_since(self.plan.began));
            tick.put("watch.late", now.saturating_duration_since(due).as_nanos() as f64);
            self.read(&mut tick, false);
            if let Some(inside) = &mut self.inside {
                inside.read(&mut tick);
            }
            log.lock().unwrap_or_else(PoisonError::into_inner).add(tick);
            // Readings that were missed are not taken later.
            due = (due + self.plan.period).max(Instant::now());
            match ended.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let mut last = Tick::at(self.plan.began.elapsed());
        self.read(&mut last, true);
        log.lock().unwrap_or_else(PoisonError::into_inner).add(last);
    }

    /// Everything outside the subject; at last also what is otherwise read seldom.
    fn read(&mut self, tick: &mut Tick, is_last: bool) {
        self.own.read(tick);
        self.subject.read(tick, is_last);
        self.service.iter_mut().for_each(|service| service.read(tick, is_last));
        self.machine.read(tick);
        self.kernel.iter_mut().for_each(|kernel| kernel.read(tick));
    }
}
