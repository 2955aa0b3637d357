//! The oracle: a reference server that answers at once, after known delays, or as badly as a
//! script demands, and keeps the truth about what it did. Threads and epoll; no async runtime.
//!
//! ```no_run
//! let config = oracle::Config { delay: Some("lognormal:2ms,0.5".parse()?), ..Default::default() };
//! let oracle = oracle::Oracle::start(config)?;
//! println!("http://{}/hello", oracle.address());
//! println!("{}", oracle.stop());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A single request may ask for its own delay or fault: `/hello?delay=uniform:1ms,9ms`,
//! `/hello?fault=cut-body`; and for late beats, or for a number of them: `/poll/1?late=constant:5ms&beats=9`.

mod answer;
mod beats;
mod body;
mod burn;
mod config;
mod conn;
#[cfg(test)]
#[path = "../../units/tests/fixture/cuts.rs"]
mod cuts;
mod dataset;
mod date;
mod delays;
mod dice;
mod faults;
mod files;
mod h2;
mod instructions;
mod intake;
mod line;
mod listen;
mod mailbox;
mod octets;
mod play;
mod queue;
mod reply;
mod request;
mod resource;
#[cfg(test)]
#[path = "../../units/tests/fixture/rfc7541.rs"]
mod rfc7541;
mod room;
mod socket;
mod spans;
mod state;
mod tls;
mod truth;
mod wait;
#[cfg(test)]
#[path = "../../units/tests/fixture/websocket.rs"]
mod websocket;
mod worker;
mod xml;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

pub use burn::{BurnTruth, Burns};
pub use config::{Address, Config, HttpVersions, Listen, Root};
pub use dataset::Dataset;
pub use delays::{Delay, Stall};
pub use faults::{Fault, Protocol};
pub use files::Files;
pub use queue::{Bucket, Collapse, Queue, QueueError, RateLimit, Served, Servers};
pub use reply::Reply;
pub use tls::{TlsConfig, TlsError, TlsVersions};
pub use truth::{QueueTruth, StreamTimes, Truth};

use faults::Start;
use mailbox::{Command, ThreadHandle, Waker};

use state::{Shared, now_ns};
use tls::Secured;
use worker::Worker;

/// Why an oracle did not start.
#[derive(Debug)]
pub enum StartError {
    /// The address cannot be listened on.
    Listen {
        /// The requested address.
        listen: Listen,
        /// The kernel's error.
        error: io::Error,
    },
    /// A thread could not be pinned to a CPU.
    Pin {
        /// The requested CPU.
        cpu: usize,
        /// The kernel's error.
        error: io::Error,
    },
    /// There can be no such queue.
    Queue(QueueError),
    /// There can be no TLS.
    Tls(TlsError),
    /// The fault befalls a protocol that is not spoken.
    Unspoken(Fault),
    /// The kernel refused a thread, an epoll or an eventfd.
    Kernel(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen { listen, error } => {
                write!(f, "cannot listen on {listen}: {error}; take another, or port 0 for any")
            }
            StartError::Pin { cpu, error } => {
                write!(
                    f,
                    "cannot pin a thread to CPU {cpu}: {error}; `nproc` says how many we have"
                )
            }
            StartError::Queue(error) => error.fmt(f),
            StartError::Tls(error) => error.fmt(f),
            StartError::Unspoken(fault) => match fault.protocol() {
                Protocol::Tls => write!(f, "{fault} is a fault of TLS; serve TLS, too"),
                Protocol::Http2 => write!(f, "{fault} is a fault of HTTP/2; serve HTTP/2, too"),
                Protocol::Http1 | Protocol::WebSocket => {
                    write!(f, "{fault} is a fault of HTTP/1.1; serve HTTP/1.1, too")
                }
            },
            StartError::Kernel(error) => {
                write!(f, "the kernel refused us: {error}; raise `ulimit -n` or close files")
            }
        }
    }
}

impl std::error::Error for StartError {}

/// A running reference server. Dropping it stops it.
#[derive(Debug)]
pub struct Oracle {
    address: Address,
    shared: Arc<Shared>,
    threads: Vec<Thread>,
    /// The listeners of a server whose fault is that it does not accept.
    unserved: Vec<rustix::fd::OwnedFd>,
}

#[derive(Debug)]
struct Thread {
    commands: Sender<Command>,
    waker: Arc<Waker>,
    handle: JoinHandle<()>,
}

impl Oracle {
    /// Starts to serve. Raises this process's soft limit of open files to the hard one.
    ///
    /// # Errors
    /// If the address, a CPU, the queue or TLS is not possible, or the fault befalls what is not spoken.
    pub fn start(config: Config) -> Result<Oracle, StartError> {
        if let Some(fault) = config.fault.filter(|fault| !is_met(fault, &config)) {
            return Err(StartError::Unspoken(fault));
        }
        config.queue.map_or(Ok(()), |queue| queue.check()).map_err(StartError::Queue)?;
        let secured = config.tls.as_ref().map(|tls| Secured::new(tls, &config)).transpose();
        let secured = secured.map_err(StartError::Tls)?;
        listen::raise_file_limit();
        let threads = thread_count(&config);
        let sockets = listen::open(&config, threads)
            .map_err(|error| StartError::Listen { listen: config.listen.clone(), error })?;
        let shared = Arc::new(Shared::new(config, secured));
        let (address, unserved) = (sockets.address, sockets.unserved);
        // From here on, an error drops the oracle, and that stops the threads that exist.
        let mut oracle = Oracle { address, shared, threads: Vec::new(), unserved };
        for (index, listener) in sockets.served.into_iter().enumerate() {
            oracle.threads.push(spawn(index, listener, &oracle.shared)?);
        }
        let threads = oracle.threads.iter().map(Thread::handle).collect();
        oracle.shared.threads.set(threads).expect("they are set once, here");
        Ok(oracle)
    }

    /// Where the oracle listens.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The authority that has signed the server's certificate, as PEM, if both were made at the start.
    #[must_use]
    pub fn authority_pem(&self) -> Option<&str> {
        self.shared.secured.as_ref()?.authority_pem.as_deref()
    }

    /// When each stream of HTTP/2 had its request and its answer, if that is kept. Those under way have no end yet.
    #[must_use]
    pub fn streams(&self) -> Vec<StreamTimes> {
        let asked: Vec<_> = self.threads.iter().map(|thread| thread.ask(Command::List)).collect();
        asked.into_iter().filter_map(|answer| answer.recv().ok()).flatten().collect()
    }

    /// What the oracle has done until now.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let asked: Vec<Receiver<Truth>> =
            self.threads.iter().map(|thread| thread.ask(Command::Tell)).collect();
        self.merged(asked.into_iter().filter_map(|answer| answer.recv().ok()))
    }

    /// Stops serving; open connections are dropped.
    #[must_use]
    pub fn stop(mut self) -> Truth {
        let truth = self.truth();
        self.end();
        truth
    }

    fn merged(&self, threads: impl Iterator<Item = Truth>) -> Truth {
        let mut truth = Truth::new();
        for thread in threads {
            truth.add(&thread);
        }
        truth.elapsed = Duration::from_nanos(now_ns() - self.shared.started_ns);
        (truth.connections_open, truth.connections_peak) = self.shared.connections();
        truth.queue = self.shared.queue_truth();
        truth
    }

    fn end(&mut self) {
        for thread in &self.threads {
            thread.send(Command::Stop);
        }
        for thread in self.threads.drain(..) {
            // A worker that panicked has reported it; there is nothing to add.
            let _ = thread.handle.join();
        }
        self.unserved.clear();
        if let Listen::Unix(path) = &self.address {
            // Another program may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        if !self.threads.is_empty() || !self.unserved.is_empty() {
            self.end();
        }
    }
}

impl Thread {
    fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Receiver<T> {
        let (sender, receiver) = channel();
        self.send(command(sender));
        receiver
    }

    fn handle(&self) -> ThreadHandle {
        ThreadHandle::new(self.commands.clone(), Arc::clone(&self.waker))
    }

    fn send(&self, command: Command) {
        // A worker that is gone needs no command.
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

/// Whether a client of what is spoken can meet the fault.
fn is_met(fault: &Fault, config: &Config) -> bool {
    match fault.protocol() {
        Protocol::Http1 | Protocol::WebSocket => {
            config.http != HttpVersions::Http2
                || matches!(fault.start, Start::Refusing | Start::NeverAccepting | Start::Accept)
        }
        Protocol::Http2 => config.http != HttpVersions::Http1,
        Protocol::Tls => config.tls.is_some(),
    }
}

fn thread_count(config: &Config) -> usize {
    match (config.threads, config.cpus.len()) {
        (0, 0) => std::thread::available_parallelism().map_or(1, usize::from),
        (0, cpus) => cpus,
        (threads, _) => threads,
    }
}

fn spawn(
    index: usize,
    listener: rustix::fd::OwnedFd,
    shared: &Arc<Shared>,
) -> Result<Thread, StartError> {
    let (commands, inbox) = channel();
    let cpu = shared.config.cpus.get(index % shared.config.cpus.len().max(1)).copied();
    let worker = Worker::new(index, listener, Arc::clone(shared), inbox)
        .map_err(|error| StartError::Kernel(error.into()))?;
    let waker = worker.waker();
    let (ready, started) = channel();
    let handle = std::thread::Builder::new()
        .name(format!("oracle-{index}"))
        .spawn(move || {
            let pinned = cpu.map_or(Ok(()), listen::pin);
            let runs = pinned.is_ok();
            let _ = ready.send(pinned);
            if runs {
                worker.run();
            }
        })
        .map_err(StartError::Kernel)?;
    match started.recv() {
        Ok(Err((cpu, error))) => Err(StartError::Pin { cpu, error }),
        Ok(Ok(())) | Err(_) => Ok(Thread { commands, waker, handle }),
    }
}
