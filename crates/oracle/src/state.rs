//! What a thread's connections share: its clock, random numbers, books, timers and buffers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::getppid;
use rustix::time::{ClockId, clock_gettime};

use crate::Config;
use crate::burn::{BurnTruth, turns_per_ns};
use crate::date::imf_fixdate;
use crate::delays::Delay;
use crate::dice::Dice;
use crate::mailbox::ThreadHandle;
use crate::queue::{Bucket, Served, Servers};
use crate::resource::Resource;
use crate::tls::Secured;
use crate::truth::{QueueTruth, StreamTimes, Truth};

/// One read takes at most this much, and one turn of a connection writes about as much.
pub(crate) const BUFFER: usize = 64 * 1024;

/// So many streams are kept on each thread: 320 MB.
const STREAMS_MAX: usize = 10_000_000;

/// What all threads of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) secured: Option<Secured>,
    /// How much is burnt in a nanosecond, if anything is burnt.
    pub(crate) turns_per_ns: f64,
    pub(crate) started_ns: u64,
    /// The threads, in order, once all of them run: a room spans all of them.
    pub(crate) threads: OnceLock<Vec<ThreadHandle>>,
    /// One queue for all threads: which of them reads a request changes nothing.
    servers: Option<Mutex<Servers>>,
    bucket: Option<Mutex<Bucket>>,
    open: AtomicU64,
    /// open <= peak, except for the instant between the two updates.
    peak: AtomicU64,
}

impl Shared {
    pub(crate) fn new(config: Config, secured: Option<Secured>) -> Shared {
        let (open, peak) = (AtomicU64::new(0), AtomicU64::new(0));
        Shared {
            // What cannot be was refused at the start.
            servers: config
                .queue
                .and_then(|queue| Servers::new(&queue, config.stall).ok())
                .map(Mutex::new),
            bucket: config.rate_limit.map(Bucket::new).map(Mutex::new),
            turns_per_ns: if config.burns.0.is_empty() { 0.0 } else { turns_per_ns() },
            config,
            secured,
            started_ns: now_ns(),
            threads: OnceLock::new(),
            open,
            peak,
        }
    }

    pub(crate) fn opened(&self) {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(open, Ordering::Relaxed);
    }

    pub(crate) fn closed(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many are open now, and how many were at most.
    pub(crate) fn connections(&self) -> (u64, u64) {
        (self.open.load(Ordering::Relaxed), self.peak.load(Ordering::Relaxed))
    }

    /// If everything is frozen at this instant: when it thaws.
    pub(crate) fn thaw_ns(&self, instant_ns: u64) -> Option<u64> {
        let since_start = instant_ns.saturating_sub(self.started_ns);
        let thaw = self.config.stall.as_ref()?.thaw_ns(since_start)?;
        Some(self.started_ns + thaw)
    }

    /// Whether a request that arrived at this instant is beyond the limit of the rate.
    pub(crate) fn is_limited(&self, arrived_ns: u64) -> bool {
        let arrived_ns = arrived_ns.saturating_sub(self.started_ns);
        self.bucket.as_ref().is_some_and(|bucket| !locked(bucket).takes(arrived_ns))
    }

    /// Puts a request that arrived at this instant into the queue, if there is one.
    pub(crate) fn serve(&self, arrived_ns: u64, own: Option<Delay>) -> Option<Served> {
        let servers = self.servers.as_ref()?;
        let served = locked(servers).serve(arrived_ns.saturating_sub(self.started_ns), own);
        Some(Served { done_ns: self.started_ns + served.done_ns, ..served })
    }

    /// What has become of the queue.
    pub(crate) fn queue_truth(&self) -> Option<QueueTruth> {
        let (queue, servers) = (self.config.queue?, locked(self.servers.as_ref()?));
        Some(QueueTruth {
            servers: queue.servers,
            seed: queue.seed,
            speed: servers.speed(),
            collapsed: servers.collapsed_ns().map(Duration::from_nanos),
        })
    }
}

/// What is locked has no state between two whole ones, whatever has panicked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The monotonic clock. Reading it takes some tens of nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A connection's place among its thread's connections, and the generation of that place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Token {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// A thread's tools, shared by its connections.
pub(crate) struct ThreadState {
    pub(crate) shared: Arc<Shared>,
    /// Which thread this is.
    pub(crate) index: usize,
    pub(crate) dice: Dice,
    pub(crate) books: Truth,
    /// Answers for which something may have been burnt.
    pub(crate) burnt: u64,
    /// The streams whose times are known, if they are to be kept.
    pub(crate) streams: Vec<StreamTimes>,
    /// Instants at which connections want their turn. A connection that is gone leaves its entries here.
    pub(crate) timers: BinaryHeap<Reverse<(u64, Token)>>,
    /// Whole frames for all in the room; spread when the turns are over.
    pub(crate) for_the_room: Vec<Arc<[u8]>>,
    /// What was just read; lent to the connection whose turn it is.
    pub(crate) buffer: Vec<u8>,
    /// What is about to be written. Empty between turns.
    pub(crate) out: Vec<u8>,
    date: [u8; 29],
    date_until_ns: u64,
}

impl ThreadState {
    pub(crate) fn new(shared: Arc<Shared>, index: usize) -> ThreadState {
        let mut books = Truth::new();
        books.resources = Resource::ALL.map(|resource| (resource.name(), 0)).to_vec();
        let burns = shared.config.burns.0.iter();
        books.burns =
            burns.map(|it| BurnTruth { function: it.function, ..BurnTruth::default() }).collect();
        // Each thread throws its own dice, with seeds that an odd stride keeps apart.
        let seed =
            shared.config.seed.wrapping_add((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        ThreadState {
            shared,
            index,
            dice: Dice::seeded(seed),
            books,
            burnt: 0,
            streams: Vec::new(),
            timers: BinaryHeap::new(),
            for_the_room: Vec::new(),
            buffer: vec![0; BUFFER],
            out: Vec::with_capacity(2 * BUFFER),
            date: imf_fixdate(0),
            date_until_ns: 0,
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    pub(crate) fn count(&mut self, resource: Resource) {
        self.books.requests += 1;
        self.books.resources[resource as usize].1 += 1;
    }

    /// Spends what an answer costs. Not inlined, so that it is in each stack above the functions that it calls.
    #[inline(never)]
    pub(crate) fn burn(&mut self) {
        let Shared { config, turns_per_ns, .. } = &*self.shared;
        for (burn, truth) in config.burns.0.iter().zip(&mut self.books.burns) {
            burn.spend(self.burnt, *turns_per_ns, truth);
        }
        for _ in 0..config.calls {
            black_box(getppid());
        }
        self.burnt += 1;
        self.books.getppid_calls += u64::from(config.calls);
    }

    pub(crate) fn log_stream(&mut self, times: StreamTimes) {
        if !self.shared.config.log_streams {
            return;
        }
        if self.streams.len() < STREAMS_MAX {
            self.streams.push(times);
        } else {
            self.books.streams_unlogged += 1;
        }
    }

    pub(crate) fn wake_at(&mut self, due_ns: u64, token: Token) {
        self.timers.push(Reverse((due_ns, token)));
    }

    /// The date at this instant of the monotonic clock; written anew once per second.
    pub(crate) fn date(&mut self, instant_ns: u64) -> [u8; 29] {
        if instant_ns >= self.date_until_ns {
            let wall = clock_gettime(ClockId::Realtime);
            self.date = imf_fixdate(wall.tv_sec.max(0) as u64);
            self.date_until_ns = instant_ns + 1_000_000_000 - wall.tv_nsec as u64;
        }
        self.date
    }
}
