//! The least an open-loop client can do: every request at its instant, or as soon as a connection
//! is free; timed from its intended instant.

use crate::args::FloorLoad;
use crate::exchange;
use crate::poller::{Poller, received};
use crate::usage::Spent;
use anyhow::Result;
use hdrhistogram::Histogram;
use rustix::event::Timespec;
use rustix::thread::set_current_timer_slack;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// How long before an instant it stops sleeping.
const SPIN_NS: u64 = 100_000;
const GRACE: Duration = Duration::from_secs(5);

/// Loads the server, then prints response times, its own lateness and its CPU time as JSON.
pub(crate) fn main(load: &FloorLoad, rate: u32) -> Result<()> {
    // By default Linux rounds sleeps up by 50 µs.
    set_current_timer_slack(NonZeroU64::new(1))?;
    let mut floor = FloorOpen::open(load, rate)?;
    floor.press()?;
    let report = json!({
        "requests": floor.response.len(),
        "unanswered": floor.schedule.total - floor.response.len(),
        "response": percentiles(&floor.response),
        "late": percentiles(&floor.late),
        "cpu_s": Spent::by_self()?.cpu().as_secs_f64(),
    });
    println!("{report}");
    Ok(())
}

fn percentiles(histogram: &Histogram<u64>) -> Value {
    let quantile = |quantile| histogram.value_at_quantile(quantile);
    json!({
        "p50_ns": quantile(0.5), "p90_ns": quantile(0.9), "p99_ns": quantile(0.99), "p99_9_ns": quantile(0.999),
        "max_ns": histogram.max(),
    })
}

/// `total` instants, `rate_per_s` of them per second.
struct Schedule {
    rate_per_s: u64,
    total: u64,
    next: u64,
}

impl Schedule {
    /// The next instant, in nanoseconds since the start.
    fn due_ns(&self) -> Option<u64> {
        // Multiplied before it is divided: an interval in whole nanoseconds would drift.
        (self.next < self.total).then(|| {
            let due = u128::from(self.next) * 1_000_000_000 / u128::from(self.rate_per_s);
            u64::try_from(due).expect("a schedule of less than 500 years")
        })
    }
}

struct FloorOpen {
    poller: Poller,
    request: Vec<u8>,
    answer_size: usize,
    start: Instant,
    schedule: Schedule,
    lines: Vec<Client>,
    free: Vec<usize>,
    /// Intended instants for which no connection was free.
    waiting: VecDeque<u64>,
    response: Histogram<u64>,
    late: Histogram<u64>,
}

struct Client {
    stream: TcpStream,
    owed: usize,
    intended_ns: u64,
    free_since_ns: u64,
}

impl FloorOpen {
    fn open(load: &FloorLoad, rate: u32) -> Result<FloorOpen> {
        let request = exchange::request(load.address, false);
        let answer_size = exchange::answer_size(load.address, &request)?;
        let poller = Poller::new()?;
        let mut lines = Vec::with_capacity(load.connections);
        for index in 0..load.connections {
            let stream = poller.dial(load.address, index)?;
            lines.push(Client { stream, owed: 0, intended_ns: 0, free_since_ns: 0 });
        }
        let rate_per_s = u64::from(rate);
        let total = rate_per_s * u64::from(load.seconds);
        Ok(FloorOpen {
            poller,
            request,
            answer_size,
            start: Instant::now(),
            schedule: Schedule { rate_per_s, total, next: 0 },
            free: (0..lines.len()).collect(),
            lines,
            waiting: VecDeque::new(),
            response: Histogram::new(3)?,
            late: Histogram::new(3)?,
        })
    }

    fn press(&mut self) -> Result<()> {
        let length = self.schedule.total as f64 / self.schedule.rate_per_s as f64;
        let end = Duration::from_secs_f64(length) + GRACE;
        let mut events = Vec::with_capacity(256);
        self.start = Instant::now();
        while self.response.len() < self.schedule.total && self.start.elapsed() < end {
            self.send_what_is_due()?;
            let timeout = self.sleep();
            for index in self.poller.wait(&mut events, &timeout)? {
                self.receive(index)?;
            }
        }
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).expect("a run of less than 500 years")
    }

    fn send_what_is_due(&mut self) -> Result<()> {
        let now_ns = self.now_ns();
        while let Some(due_ns) = self.schedule.due_ns().filter(|due_ns| *due_ns <= now_ns) {
            self.waiting.push_back(due_ns);
            self.schedule.next += 1;
        }
        while !self.waiting.is_empty() && !self.free.is_empty() {
            let intended_ns = self.waiting.pop_front().expect("not empty");
            let index = self.free.pop().expect("not empty");
            self.send(index, intended_ns)?;
        }
        Ok(())
    }

    fn send(&mut self, index: usize, intended_ns: u64) -> Result<()> {
        let sent_ns = self.now_ns();
        let line = &mut self.lines[index];
        // Lateness is our own delay: the wait for a free connection is the server's.
        self.late.record(sent_ns - intended_ns.max(line.free_since_ns))?;
        line.intended_ns = intended_ns;
        line.owed = self.answer_size;
        line.stream.write_all(&self.request)?;
        Ok(())
    }

    // Sleeps until shortly before the next instant, then polls: a wake-up may take longer than
    // the interval between two requests.
    fn sleep(&self) -> Timespec {
        let idle_ns = match self.schedule.due_ns() {
            Some(due_ns) => due_ns.saturating_sub(self.now_ns()).saturating_sub(SPIN_NS),
            None => 100_000_000,
        };
        let nanos = i64::try_from(idle_ns).expect("a schedule of less than 500 years");
        Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
    }

    fn receive(&mut self, index: usize) -> Result<()> {
        let mut bytes = [0; 16 * 1024];
        let line = &mut self.lines[index];
        let Some(count) = received(&mut line.stream, &mut bytes)? else { return Ok(()) };
        line.owed = line.owed.saturating_sub(count);
        if self.lines[index].owed == 0 {
            let done_ns = self.now_ns();
            self.response.record(done_ns - self.lines[index].intended_ns)?;
            self.lines[index].free_since_ns = done_ns;
            self.free.push(index);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_does_not_drift_when_its_interval_is_no_whole_nanosecond() {
        let due_ns = |next| Schedule { rate_per_s: 300_000, total: 300_001, next }.due_ns();
        assert_eq!(due_ns(0), Some(0));
        assert_eq!(due_ns(300_000), Some(1_000_000_000));
        assert_eq!(due_ns(300_001), None);
    }
}
