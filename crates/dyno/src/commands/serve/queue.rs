//! The flags of `dyno serve` that make its capacity a known number, and those that spoil it.

use std::hash::{BuildHasher, RandomState};

use clap::Args;
use lab::amounts;
use oracle::{Collapse, Delay, Queue, QueueError, RateLimit};

use crate::shell::Refusal;

#[derive(Args)]
pub(super) struct QueueFlags {
    /// Servers that share one queue [1]
    #[arg(long, value_name = "N", requires = "service", conflicts_with = "delay", value_parser = servers)]
    servers: Option<u32>,
    /// Let requests wait in a queue for a server: the distribution of the service times, as for --delay
    #[arg(long, value_name = "DISTRIBUTION", conflicts_with = "delay")]
    service: Option<Delay>,
    /// Answer 503 at once to what is beyond a rate: 1000,50 lets 1,000 through each second, and at most 50 at once
    #[arg(long, value_name = "RATE,BURST")]
    pub(super) rate_limit: Option<RateLimit>,
    /// Collapse for ever: after a wait of 100 ms in the queue, 100ms,4 makes service four times slower
    #[arg(long, value_name = "WAIT,TIMES", requires = "service", conflicts_with = "delay")]
    collapse: Option<Collapse>,
    /// Draw this process's speed once: 5% makes all its service up to 5 % faster or slower
    #[arg(long, value_name = "SHARE", requires = "service", conflicts_with = "delay", value_parser = amounts::percent)]
    lottery: Option<f64>,
}

fn servers(text: &str) -> Result<u32, String> {
    let servers = text.parse().ok().filter(|servers| (1..=100_000).contains(servers));
    servers.ok_or_else(|| "write a number from 1 to 100000".into())
}

impl QueueFlags {
    /// The queue that the flags ask for. Fresh processes differ unless they are given a seed: what were alike in all of
    /// them would be counted as evidence again and again.
    pub(super) fn queue(&self, seed: Option<u64>) -> Option<Queue> {
        Some(Queue {
            servers: self.servers.unwrap_or(1),
            collapse: self.collapse,
            lottery: self.lottery.unwrap_or(0.0) / 100.0,
            // The standard library draws its keys from the kernel's randomness; ten digits can be typed again.
            seed: seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()) >> 32),
            ..Queue::of(self.service?)
        })
    }
}

/// Why there is no queue, with the flag that says how it was to be.
pub(super) fn refused(error: &QueueError) -> Refusal {
    let flag = match error {
        QueueError::Servers(_) => "--servers",
        QueueError::Service(_) => "--service",
        QueueError::Lottery => "--lottery",
        QueueError::Collapse => "--collapse",
    };
    Refusal::new(format!("{flag}: {error}"))
}
