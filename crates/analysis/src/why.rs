//! Where the CPU time of an answer goes, and what makes one server dearer than another: sampled trials and the CPU time
//! of the measured rounds in, µs an answer by line and function out. Samples say only which share of the time a line
//! has; the time itself is that of the rounds, in which nothing was sampled.

mod amount;
mod difference;
mod doubts;
mod leading;
mod of_run;
mod sampling;
mod server;
mod spread;

use profile::{Line, Method, Profile};
use schemars::JsonSchema;
use serde::Serialize;

use crate::doubt::Doubt;
use crate::estimate::Estimate;
use server::Server;

pub use doubts::profile_doubts_table;
pub use of_run::{CostedStack, Explained, explained, explained_pair};
pub use sampling::UNSEEN;

/// How many sampled trials a server has: the least at which a function of 4 µs, in a server of 20, is named in at least
/// 18 of 20 comparisons with one in which it costs 1 µs more. The tests have the table. What a function of 8 µs needs is
/// more measured rounds: there their spread is what hides 1 µs.
pub const SAMPLED_TRIALS: usize = 6;

/// So many servers are compared with the first one.
const PAIRS_MAX: usize = 5;

/// A server with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'p> {
    pub server: &'p str,
    pub trials: &'p [Profile],
    /// The measured rounds' `cpu_ms_per_1000`, which is µs an answer.
    pub measured: Estimate,
}

/// Where the CPU time of an answer goes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// each server of which there are samples
    pub servers: Vec<ServerCosts>,
    /// what the second server costs more than the first; null unless there are two, each with samples
    pub difference: Option<Differences>,
    /// of more than two servers: what others cost more than the first that has samples, for the five whose CPU time
    /// differs most from its own, the largest difference first
    pub pairs: Vec<PairDifference>,
}

/// What a server costs more than the first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PairDifference {
    /// the first server
    pub first: String,
    /// the server that is compared with it
    pub server: String,
    /// its own minus that of the first
    pub difference: Differences,
}

/// µs of CPU time an answer; of a difference, the second server's minus the first's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Micros {
    /// microseconds
    pub us: f64,
    /// lower end of its interval; null where a single round was measured
    pub low_us: Option<f64>,
    /// its upper end
    pub high_us: Option<f64>,
    /// the probability that the interval does not hold the true value: 0.05, and less where it decides one of many
    pub outside: f64,
}

/// The sums of the lines of the program, of the kernel, and of what has no name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sides {
    /// user code that has a name
    pub program: Micros,
    /// the kernel, in the server's system calls
    pub kernel: Micros,
    /// user code without a name
    pub not_named: Micros,
}

/// Where the CPU time of a server's answer goes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ServerCosts {
    /// its name
    pub server: String,
    /// all CPU time of an answer, as the rounds measured it
    pub cpu: Micros,
    /// all lines of the program together, and those of the kernel
    pub sides: Sides,
    /// each line, by side, the dearest first
    pub lines: Vec<LineCost>,
    /// the functions that cost most with all that they call, at most a hundred, the dearest first
    pub functions: Vec<FunctionCost>,
    /// null where none could be counted
    pub calls: Option<CallRates>,
    /// why no system calls were counted
    pub calls_unknown: Option<String>,
    /// µs an answer that threads which were ready to run waited for a CPU, in the sampled trials
    pub waited_for_cpu_us: Option<f64>,
    /// CPU time of an answer in the sampled trials, µs
    pub sampled_cpu_us: Option<f64>,
    /// its sampled trials
    pub trials: usize,
    /// the samples of all of them
    pub samples: u64,
    /// how its first trial was sampled; null without a trial
    pub method: Option<Method>,
    /// the share of the samples that has no name
    pub nameless: f64,
    /// what speaks against its profile
    pub doubts: Vec<Doubt>,
}

/// What a line costs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LineCost {
    /// which line
    pub line: Line,
    /// CPU time of an answer in it
    pub cpu: Micros,
}

/// What a function costs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FunctionCost {
    /// its name
    pub name: String,
    /// of the function and all that it calls; a recursive one counts once
    pub cpu: Micros,
}

/// System calls of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallRates {
    /// all of them
    pub total: f64,
    /// the most frequent first
    pub by_name: Vec<CallRate>,
}

/// How often one system call is made.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallRate {
    /// its name
    pub name: String,
    /// how often an answer makes it
    pub per_answer: f64,
}

/// What the second server costs more than the first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Differences {
    /// of all CPU time of an answer
    pub cpu: Micros,
    /// of all lines of the program together, and of those of the kernel
    pub sides: Sides,
    /// all lines of both, the largest difference first
    pub lines: Vec<LineGap>,
    /// functions that are shown to differ, the largest difference first
    pub functions: Vec<FunctionGap>,
    /// how many functions were judged: those whose difference could be large enough
    pub functions_judged: usize,
    /// the part of the difference outside of all functions that are leading
    pub rest: Micros,
}

/// How a line differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LineGap {
    /// which line
    pub line: Line,
    /// the second server's minus the first's
    pub gap: Micros,
    /// among all lines; its interval says so
    pub is_shown: bool,
}

/// How a function differs, with all that it calls.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FunctionGap {
    /// its name
    pub name: String,
    /// the second server's minus the first's
    pub gap: Micros,
    /// the difference is not that of leading functions which it calls
    pub is_leading: bool,
}

/// Explains the CPU time of these servers; and the difference, if there are two.
#[must_use]
pub fn explain(sampled: &[Sampled<'_>]) -> Explanation {
    // Where one server's kernel stacks were not seen, no server's are compared by them.
    let hides_kernel =
        sampled.iter().flat_map(|server| server.trials).any(|trial| trial.method.user_only);
    let servers: Vec<Server<'_>> =
        sampled.iter().map(|server| Server::of(server, hides_kernel)).collect();
    let costs = servers.iter().map(Server::costs).collect();
    let (difference, pairs) = match servers.as_slice() {
        [a, b] if a.has_samples() && b.has_samples() => {
            (Some(Differences::between([a, b], 1)), Vec::new())
        }
        [_, _] => (None, Vec::new()),
        _ => (None, pairs(servers)),
    };
    Explanation { servers: costs, difference, pairs }
}

/// The first of these against those from which it differs most. As the data chose them, all others count as compared.
fn pairs(servers: Vec<Server<'_>>) -> Vec<PairDifference> {
    let mut others = servers.into_iter().filter(Server::has_samples);
    let Some(first) = others.next() else { return Vec::new() };
    let mut others: Vec<Server<'_>> = others.collect();
    let comparisons = others.len();
    let gap_us = |server: &Server<'_>| (server.whole_us() - first.whole_us()).abs();
    others.sort_by(|one, other| gap_us(other).total_cmp(&gap_us(one)));
    let against_first = |server: &Server<'_>| PairDifference {
        first: first.name().into(),
        server: server.name().into(),
        difference: Differences::between([&first, server], comparisons),
    };
    others.iter().take(PAIRS_MAX).map(against_first).collect()
}

#[cfg(test)]
mod tests;
