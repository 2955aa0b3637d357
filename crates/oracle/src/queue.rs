//! A queue whose capacity is known: so many servers, one line in the order of arrival, service times from a law. And what
//! spoils a capacity: a collapse that stays, a speed that each process draws. Pure: no clock, no thread.

mod limit;
mod servers;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::delays::Delay;
use crate::spans::{Shown, span};

pub use limit::{Bucket, RateLimit};
pub use servers::{Served, Servers};

/// More servers than anybody has; a place for each is kept in memory.
const SERVERS_MAX: u32 = 100_000;
/// What a service may take on average: the clock does not tell less, and no law draws more.
const SERVICE: [Duration; 2] = [Duration::from_micros(1), Duration::from_secs(3_600)];
/// How far a process's speed may be from 1.
const LOTTERY_MAX: f64 = 0.5;
const SLOWER_MAX: f64 = 1_000.0;

/// Servers that share one queue. The requests of all connections and threads wait in it, in the order of their arrival; a
/// request whose client has gone away is served all the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// How many requests are served at once.
    pub servers: u32,
    /// The law of the service times of requests that do not name one.
    pub service: Delay,
    /// When service becomes slower for ever.
    pub collapse: Option<Collapse>,
    /// The process draws its speed once, from 1 - lottery to 1 + lottery; 0 is the law's own speed.
    pub lottery: f64,
    /// The seed of the service times and of the speed.
    pub seed: u64,
}

impl Queue {
    /// One server, at the law's own speed.
    #[must_use]
    pub fn of(service: Delay) -> Queue {
        Queue { servers: 1, service, collapse: None, lottery: 0.0, seed: 0 }
    }

    pub(crate) fn check(&self) -> Result<(), QueueError> {
        if !(1..=SERVERS_MAX).contains(&self.servers) {
            return Err(QueueError::Servers(self.servers));
        }
        let [least, most] = SERVICE.map(|span| span.as_nanos() as f64);
        if !(least..=most).contains(&self.service.mean_ns()) {
            return Err(QueueError::Service(self.service));
        }
        if !(0.0..=LOTTERY_MAX).contains(&self.lottery) {
            return Err(QueueError::Lottery);
        }
        match self.collapse {
            Some(collapse) if !collapse.is_possible() => Err(QueueError::Collapse),
            _ => Ok(()),
        }
    }
}

/// Why there can be no such queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueError {
    /// So many servers cannot be.
    Servers(u32),
    /// Its services take no time, or too much.
    Service(Delay),
    /// The speed could be far from 1.
    Lottery,
    /// It makes nothing slower, or too much.
    Collapse,
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::Servers(servers) => {
                write!(f, "{servers} servers cannot share a queue; choose from 1 to 100,000")
            }
            QueueError::Service(law) => write!(
                f,
                "a service of {law} is not possible; it takes from 1us to an hour on average"
            ),
            QueueError::Lottery => write!(f, "the lottery is a share from 0 % to 50 %"),
            QueueError::Collapse => f.write_str(&no_collapse("")),
        }
    }
}

impl std::error::Error for QueueError {}

/// Once a request has to wait longer than this, it and all later ones are served so many times slower, until the process
/// ends.
///
/// As text: `100ms,4`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collapse {
    /// The longest wait in the queue that does no harm.
    pub above: Duration,
    /// How many times slower service becomes.
    pub slower: f64,
}

impl Collapse {
    fn is_possible(&self) -> bool {
        1.0 < self.slower && self.slower <= SLOWER_MAX
    }
}

impl FromStr for Collapse {
    type Err = String;

    fn from_str(text: &str) -> Result<Collapse, String> {
        let wrong = || no_collapse(text);
        let (above, slower) = text.split_once(',').ok_or_else(wrong)?;
        let slower = slower.trim().parse().map_err(|_| wrong())?;
        let collapse = Collapse { above: span(above.trim())?, slower };
        if collapse.is_possible() { Ok(collapse) } else { Err(wrong()) }
    }
}

fn no_collapse(text: &str) -> String {
    format!(
        "`{text}` is no collapse; write wait,times, the times above 1 and up to 1000: \
         100ms,4 makes service four times slower after a wait of 100 ms"
    )
}

impl fmt::Display for Collapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", Shown(self.above), self.slower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(law: &str) -> Queue {
        Queue::of(law.parse().unwrap())
    }

    #[test]
    fn a_queue_has_servers_and_a_service_that_takes_time() {
        assert_eq!(queue("exponential:500us").check(), Ok(()));
        assert_eq!(queue("uniform:0,1ms").check(), Ok(()));
        assert_eq!(queue("constant:1us").check(), Ok(()));
        for law in [
            "constant:0",
            "exponential:0",
            "lognormal:0,1",
            "bimodal:1ms,0,1",
            "bimodal:0,1ms,0",
            "exponential:999ns",
            "constant:2000s",
            "lognormal:1ms,10",
        ] {
            let possible = matches!(law, "constant:2000s");
            assert_eq!(queue(law).check().is_ok(), possible, "{law}");
        }
        for servers in [0, 100_001, u32::MAX] {
            let queue = Queue { servers, ..queue("exponential:500us") };
            assert_eq!(queue.check(), Err(QueueError::Servers(servers)));
        }
        for lottery in [-0.01, 0.51, f64::NAN, f64::INFINITY] {
            let queue = Queue { lottery, ..queue("exponential:500us") };
            assert_eq!(queue.check(), Err(QueueError::Lottery), "{lottery}");
        }
        let collapse = Some(Collapse { above: Duration::ZERO, slower: f64::NAN });
        let queue = Queue { collapse, ..queue("exponential:500us") };
        assert_eq!(queue.check(), Err(QueueError::Collapse));
    }

    #[test]
    fn a_collapse_is_written_as_it_is_read_or_refused_with_the_way_out() {
        assert_eq!("100ms,4".parse::<Collapse>().unwrap().to_string(), "100ms,4");
        assert_eq!("0,1.5".parse::<Collapse>().unwrap().to_string(), "0ns,1.5");
        for text in ["", "100ms", "100ms,", "100ms,1", "100ms,0", "100ms,-4", "100ms,NaN", "1s,inf"]
        {
            let refusal = text.parse::<Collapse>().unwrap_err().to_string();
            assert!(refusal.contains("100ms,4 makes"), "{text}: {refusal}");
        }
        let refusal = "years,4".parse::<Collapse>().unwrap_err().to_string();
        assert!(refusal.contains("not a span of time"), "{refusal}");
    }
}
