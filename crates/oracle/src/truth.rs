//! The truth: what the oracle did, counted and timed by itself.

use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Serialize, Serializer};
use units::nanos;

use crate::burn::BurnTruth;

/// Makes the struct of its fields, each with what it is at the start and with how another thread's is added to it.
macro_rules! counted {
    ($(#[$about:meta])* pub struct $name:ident {
        $($(#[$what:meta])* pub $field:ident: $type:ty = $start:expr, $add:ident;)+
    }) => {
        $(#[$about])*
        pub struct $name { $($(#[$what])* pub $field: $type,)+ }

        impl $name {
            /// Nothing yet.
            pub(crate) fn new() -> $name {
                $name { $($field: $start,)+ }
            }

            /// Adds what one thread did.
            pub(crate) fn add(&mut self, other: &$name) {
                $($add(&mut self.$field, &other.$field);)+
            }
        }
    };
}

counted! {
    /// What an oracle did from its start until now, over all its threads.
    #[derive(Clone, Debug, Serialize)]
    pub struct Truth {
        /// How long it has been serving.
        #[serde(rename = "elapsed_s", serialize_with = "seconds")]
        pub elapsed: Duration = Duration::ZERO, keep;
        /// Whole request heads read, including refused ones.
        pub requests: u64 = 0, sum;
        /// Requests by resource, in a fixed order; they add up to `requests`.
        #[serde(skip)]
        pub resources: Vec<(&'static str, u64)> = Vec::new(), add_resources;
        /// Final answers: those written whole, refusals, and right answers within a script.
        pub answers: u64 = 0, sum;
        /// Beats sent to `/poll/N` and `/wspoll/N`.
        pub beats: u64 = 0, sum;
        /// Beats left out because the peer had not yet read the previous one.
        pub beats_skipped: u64 = 0, sum;
        /// Whole messages received on WebSockets.
        pub messages: u64 = 0, sum;
        /// Messages sent from the room to one of its connections.
        pub spread: u64 = 0, sum;
        /// Messages not sent to a connection, because it had not yet read the previous one.
        pub spread_skipped: u64 = 0, sum;
        /// Requests beyond the limit of the rate, which were answered 503; among `answers`, but not in `served_ns`.
        pub limited: u64 = 0, sum;
        /// Scripted faults begun.
        pub faults: u64 = 0, sum;
        /// What each function of `--burn` took.
        pub burns: Vec<BurnTruth> = Vec::new(), add_burns;
        /// System calls of `--calls`.
        pub getppid_calls: u64 = 0, sum;
        /// Bytes read from peers.
        #[serde(rename = "received_bytes")]
        pub bytes_in: u64 = 0, sum;
        /// Bytes that the kernel accepted for sending.
        #[serde(rename = "sent_bytes")]
        pub bytes_out: u64 = 0, sum;
        pub connections: u64 = 0, sum;
        /// Connections open at this moment.
        #[serde(skip)]
        pub connections_open: u64 = 0, keep;
        /// The most connections that were open at once.
        pub connections_peak: u64 = 0, keep;
        /// Connections that could not be accepted, mostly for lack of file descriptors.
        pub connections_lost: u64 = 0, sum;
        /// Handshakes of TLS that were done in full, by resuming a session, and not at all.
        pub handshakes_full: u64 = 0, sum;
        pub handshakes_resumed: u64 = 0, sum;
        pub handshakes_failed: u64 = 0, sum;
        /// Streams of HTTP/2 whose times were not kept, because there were too many.
        #[serde(skip)]
        pub streams_unlogged: u64 = 0, sum;
        /// From noticing a request's arrival to having written its answer, in nanoseconds; no faults.
        #[serde(skip)]
        pub served_ns: Histogram<u64> = histogram(), merge;
        /// The delays that laws have drawn, or the service times of a queue, in nanoseconds; without waits, stalls and the
        /// oracle's own time.
        #[serde(skip)]
        pub drawn_ns: Histogram<u64> = histogram(), merge;
        /// How long requests waited for a server of the queue, in nanoseconds.
        #[serde(skip)]
        pub waited_ns: Histogram<u64> = histogram(), merge;
        /// The queue, if there is one.
        pub queue: Option<QueueTruth> = None, keep;
        /// By how much a law delayed beats, in nanoseconds; as drawn, but no beat overtakes the previous one.
        #[serde(skip)]
        pub late_ns: Histogram<u64> = histogram(), merge;
    }
}

/// A queue as it was in this process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueTruth {
    pub servers: u32,
    /// The seed of its service times and of its speed.
    pub seed: u64,
    /// What the lottery drew; 1 is the law's own speed.
    pub speed: f64,
    /// How long after the start the request came that had to wait too long, if service has collapsed.
    #[serde(rename = "collapsed_s", serialize_with = "seconds_if_any")]
    pub collapsed: Option<Duration>,
}

/// When one stream of HTTP/2 had its request and its answer, by the monotonic clock. A client opens a stream with its
/// HEADERS; whatever becomes of it, it is here once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamTimes {
    /// The client's port, by which it finds its own connection; 0 for a Unix socket.
    pub peer_port: u16,
    pub stream: u32,
    /// When END_STREAM of the request was read; none, if it had not come when the stream ended.
    pub request_ended_ns: Option<u64>,
    /// When the kernel took END_STREAM of the answer; none, if it never left.
    pub answer_ended_ns: Option<u64>,
}

fn sum(mine: &mut u64, theirs: &u64) {
    *mine += theirs;
}

/// It is not a thread's own.
fn keep<T>(_: &mut T, _: &T) {}

fn merge(mine: &mut Histogram<u64>, theirs: &Histogram<u64>) {
    mine.add(theirs).expect("all our histograms have one shape");
}

fn add_burns(mine: &mut Vec<BurnTruth>, theirs: &Vec<BurnTruth>) {
    match mine.is_empty() {
        true => mine.clone_from(theirs),
        false => mine.iter_mut().zip(theirs).for_each(|(sum, it)| sum.add(it)),
    }
}

fn add_resources(mine: &mut Vec<(&'static str, u64)>, theirs: &Vec<(&'static str, u64)>) {
    match mine.is_empty() {
        true => mine.clone_from(theirs),
        false => mine.iter_mut().zip(theirs).for_each(|(sum, it)| sum.1 += it.1),
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    time.as_secs_f64().serialize(serializer)
}

#[allow(clippy::ref_option)] // serde requires it
fn seconds_if_any<S: Serializer>(
    time: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

/// From a nanosecond to two hours, to three digits: no delay of the oracle's is longer.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 7_200_000_000_000, 3).expect("these bounds are valid")
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "serving      {}", nanos(self.elapsed.as_nanos() as u64))?;
        writeln!(f, "requests     {}", self.requests)?;
        for (name, count) in self.resources.iter().filter(|(_, count)| *count > 0) {
            writeln!(f, "  {name:<11}{count}")?;
        }
        writeln!(f, "answers      {}", self.answers)?;
        if self.beats > 0 {
            writeln!(f, "beats        {} (skipped {})", self.beats, self.beats_skipped)?;
        }
        if self.messages > 0 {
            writeln!(f, "messages     {}", self.messages)?;
        }
        if self.spread + self.spread_skipped > 0 {
            writeln!(f, "spread       {} (skipped {})", self.spread, self.spread_skipped)?;
        }
        if self.faults > 0 {
            writeln!(f, "faults       {}", self.faults)?;
        }
        for BurnTruth { function, calls, timed, mean_ns } in &self.burns {
            let mean = nanos(mean_ns.max(0.0).round() as u64);
            writeln!(f, "{function:<13}{mean}, mean of {timed} of {calls} calls")?;
        }
        if self.getppid_calls > 0 {
            writeln!(f, "getppid      {}", self.getppid_calls)?;
        }
        if let Some(queue) = &self.queue {
            writeln!(f, "queue        {queue}")?;
        }
        writeln!(f, "bytes        {} in, {} out", self.bytes_in, self.bytes_out)?;
        let (open, peak) = (self.connections_open, self.connections_peak);
        writeln!(f, "connections  {}, open {open}, at most {peak}", self.connections)?;
        if self.connections_lost > 0 {
            writeln!(f, "not accepted {}", self.connections_lost)?;
        }
        let (full, resumed) = (self.handshakes_full, self.handshakes_resumed);
        if full + resumed + self.handshakes_failed > 0 {
            writeln!(
                f,
                "handshakes   {full} full, {resumed} resumed, {} failed",
                self.handshakes_failed
            )?;
        }
        if self.streams_unlogged > 0 {
            writeln!(f, "not logged   {} streams", self.streams_unlogged)?;
        }
        writeln!(
            f,
            "{:<9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
            "delay", "count", "mean", "p50", "p90", "p99", "p99.9", "max"
        )?;
        row(f, "served", &self.served_ns)?;
        row(f, "drawn", &self.drawn_ns)?;
        if !self.waited_ns.is_empty() {
            row(f, "waited", &self.waited_ns)?;
        }
        if self.late_ns.is_empty() { Ok(()) } else { row(f, "late", &self.late_ns) }
    }
}

impl fmt::Display for QueueTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.servers == 1 { "" } else { "s" };
        write!(f, "{} server{plural}, seed {}", self.servers, self.seed)?;
        if self.speed != 1.0 {
            write!(f, ", speed {:.4}", self.speed)?;
        }
        match self.collapsed {
            Some(collapsed) => {
                write!(f, ", collapsed after {}", nanos(collapsed.as_nanos() as u64))
            }
            None => Ok(()),
        }
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, histogram: &Histogram<u64>) -> fmt::Result {
    write!(f, "{name:<9}{:>10}", histogram.len())?;
    if histogram.is_empty() {
        return writeln!(f);
    }
    write!(f, "{:>10}", nanos(histogram.mean() as u64))?;
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        write!(f, "{:>10}", nanos(histogram.value_at_quantile(quantile)))?;
    }
    writeln!(f, "{:>10}", nanos(histogram.max()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn the_truth_is_a_small_table() {
        let mut truth = Truth::new();
        let mut thread = Truth::new();
        thread.requests = 3;
        thread.resources = vec![("hello", 2), ("poll", 0), ("refused", 1)];
        thread.served_ns.record_n(2_000_000, 2).unwrap();
        let burn = BurnTruth { function: "parse", calls: 64, timed: 1, mean_ns: 8_123.0 };
        thread.burns = vec![burn];
        thread.getppid_calls = 4;
        truth.add(&thread);
        truth.add(&thread);
        truth.elapsed = Duration::from_secs(5);
        truth.queue = Some(QueueTruth {
            servers: 2,
            seed: 7,
            speed: 0.96,
            collapsed: Some(Duration::from_millis(1_500)),
        });
        expect![[r#"
            serving      5.00 s
            requests     6
              hello      4
              refused    2
            answers      0
            parse        8.12 µs, mean of 2 of 128 calls
            getppid      8
            queue        2 servers, seed 7, speed 0.9600, collapsed after 1.50 s
            bytes        0 in, 0 out
            connections  0, open 0, at most 0
            delay         count      mean       p50       p90       p99     p99.9       max
            served            4   2.00 ms   2.00 ms   2.00 ms   2.00 ms   2.00 ms   2.00 ms
            drawn             0
        "#]]
        .assert_eq(&truth.to_string());
    }
}
