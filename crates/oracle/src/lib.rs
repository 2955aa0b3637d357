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
mod conn;
mod date;
mod delays;
mod dice;
mod faults;
mod instructions;
mod intake;
mod listen;
mod nearest;
mod play;
mod reply;
mod request;
mod room;
mod socket;
mod spans;
mod state;
mod truth;
mod wait;
mod worker;
mod xml;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

pub use delays::{Delay, DelayError, Stall, StallError};
pub use faults::{Fault, FaultError};
pub use reply::Reply;
pub use spans::SpanError;
pub use truth::Truth;

use room::ThreadHandle;
use state::{Shared, now_ns};
use worker::{Command, Waker, Worker};

/// How an oracle is to serve.
#[derive(Clone, Debug)]
pub struct Config {
    pub listen: Listen,
    /// How many threads; 0 is one for each of `cpus`, or if there are none, for each CPU that may be used.
    pub threads: usize,
    /// CPUs to pin the threads to, in turn; empty: not pinned.
    pub cpus: Vec<usize>,
    /// The law of the service times of requests that do not name one.
    pub delay: Option<Delay>,
    /// The law of the lateness of beats whose request does not name one.
    pub late: Option<Delay>,
    /// When everything freezes.
    pub stall: Option<Stall>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// The share of requests that have the fault, or of connections for a fault that affects these. A
    /// fault of the listener itself is always present.
    pub fault_rate: f64,
    /// Whether each answer carries `x-oracle-delay-ns`: from reading the request off the socket to writing the answer.
    pub tell_delay: bool,
    /// What a bare `GET /` answers.
    pub root: Root,
    /// What every request is answered with, in place of all else.
    pub reply: Option<Arc<Reply>>,
    /// The seed of all random choices.
    pub seed: u64,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            threads: 0,
            cpus: Vec::new(),
            delay: None,
            late: None,
            stall: None,
            fault: None,
            fault_rate: 1.0,
            tell_delay: false,
            root: Root::Empty,
            reply: None,
            seed: 0,
            backlog: 4096,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An address, IPv4 or IPv6; port 0 is any free one.
    Tcp(SocketAddr),
    /// A path for a Unix socket.
    Unix(PathBuf),
}

/// Where an oracle listens: as configured, with the real port.
pub type Address = Listen;

impl Listen {
    /// The TCP port, if there is one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Listen::Tcp(address) => Some(address.port()),
            Listen::Unix(_) => None,
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => address.fmt(f),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// What a bare `GET /` answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// 200 without content.
    #[default]
    Empty,
    /// `Hello, world!`
    Hello,
    /// The XML error of the echo tests.
    XmlError,
}

impl std::str::FromStr for Root {
    type Err = RootError;

    fn from_str(text: &str) -> Result<Root, RootError> {
        match text {
            "empty" => Ok(Root::Empty),
            "hello" => Ok(Root::Hello),
            "xml-error" => Ok(Root::XmlError),
            _ => Err(RootError(text.to_owned())),
        }
    }
}

/// There is no such answer to a bare `GET /`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootError(String);

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is nothing that / answers; choose empty, hello or xml-error", self.0)
    }
}

impl std::error::Error for RootError {}

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
    /// The stall is as long as its period, or has no length.
    Stall(Stall),
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
            StartError::Stall(stall) => {
                write!(f, "a stall of {stall} would never end; make it shorter than its period")
            }
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
    /// If the address, a CPU or the stall is not possible.
    pub fn start(config: Config) -> Result<Oracle, StartError> {
        if let Some(stall) = config.stall.filter(|stall| !stall.is_possible()) {
            return Err(StartError::Stall(stall));
        }
        listen::raise_file_limit();
        let threads = thread_count(&config);
        let sockets = listen::open(&config, threads)
            .map_err(|error| StartError::Listen { listen: config.listen.clone(), error })?;
        let shared = Arc::new(Shared::new(config));
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

    /// What the oracle has done until now.
    #[must_use]
    pub fn truth(&self) -> Truth {
        let asked: Vec<Receiver<Truth>> = self.threads.iter().map(Thread::ask).collect();
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
    fn ask(&self) -> Receiver<Truth> {
        let (sender, receiver) = channel();
        self.send(Command::Tell(sender));
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
