//! CPU time and system calls that are spent for each answer, so that a profiler's figures can be compared with a truth:
//! functions with names of their own, whose calls are timed by the thread's CPU clock.

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;
use std::time::Duration;

use rustix::process::getppid;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::Config;
use crate::nearest::nearest;
use crate::spans::{Shown, span};
use crate::state::ThreadState;

/// One call in so many is timed.
const TIMED: u64 = 64;
/// The most that one function may burn for an answer, on average.
const MOST: Duration = Duration::from_millis(1);

type Work = fn(u64) -> u64;

/// Functions that spend as many turns as they are asked for. A multiplier of its own for each: a compiler or a linker
/// makes one function of two that are equal.
macro_rules! works {
    ($($name:ident $multiplier:literal)*) => {
        $(#[inline(never)]
        fn $name(turns: u64) -> u64 {
            spend(turns, $multiplier)
        })*

        const WORKS: &[(&str, Work)] = &[$((stringify!($name), $name)),*];
    };
}

works! {
    parse 0x9e37_79b9_7f4a_7c15
    render 0xbf58_476d_1ce4_e5b9
    collect 0x94d0_49bb_1331_11eb
    route 0xd6e8_feb8_6659_fd93
    encode 0xff51_afd7_ed55_8ccd
    decode 0xc4ce_b9fe_1a85_ec53
    hash 0x8764_95f5_3c4f_1a2b
    sort 0xa076_1d64_78bd_642f
}

/// Each turn needs the result of the one before it.
#[inline(always)]
fn spend(turns: u64, multiplier: u64) -> u64 {
    (0..turns)
        .fold(multiplier, |mixed, turn| (mixed ^ (mixed >> 29) ^ turn).wrapping_mul(multiplier))
}

/// What is burnt for each answer, in this order.
///
/// As text: `parse:8us,render:4us`, and `collect:5ms/1000` for one answer in a thousand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Burns(Vec<Burn>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Burn {
    function: &'static str,
    time: Duration,
    /// It is called for one answer in so many.
    every: u32,
}

impl FromStr for Burns {
    type Err = BurnError;

    fn from_str(text: &str) -> Result<Burns, BurnError> {
        let mut burns: Vec<Burn> = Vec::new();
        for part in text.split(',') {
            let burn = burn(part)?;
            if burns.iter().any(|other| other.function == burn.function) {
                return Err(BurnError(format!("`{}` is there twice; name it once", burn.function)));
            }
            burns.push(burn);
        }
        Ok(Burns(burns))
    }
}

fn burn(text: &str) -> Result<Burn, BurnError> {
    let form =
        || BurnError(format!("`{text}` is no burn; write it like parse:8us or parse:5ms/1000"));
    let (name, rest) = text.split_once(':').ok_or_else(form)?;
    let (time, every) = rest.split_once('/').unwrap_or((rest, "1"));
    let names = || WORKS.iter().map(|(name, _)| *name);
    let Some(function) = names().find(|known| *known == name) else {
        let way_out = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the functions are: {}", names().collect::<Vec<_>>().join(" ")),
        };
        return Err(BurnError(format!("there is no function `{name}`; {way_out}")));
    };
    let time = span(time).map_err(|error| BurnError(error.to_string()))?;
    let every = every.parse().ok().filter(|every| (1..=1_000_000).contains(every));
    let every: u32 = every.ok_or_else(form)?;
    if MOST * every < time {
        let most = Shown(MOST);
        return Err(BurnError(format!(
            "`{text}` burns more than {most} an answer, which is the most"
        )));
    }
    Ok(Burn { function, time, every })
}

/// Why a text is not a list of burns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurnError(String);

impl fmt::Display for BurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BurnError {}

/// The burns with what it takes to carry them out on this machine.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    burns: Vec<Planned>,
    calls: u32,
}

#[derive(Debug)]
struct Planned {
    work: Work,
    turns: u64,
    every: u64,
}

impl Plan {
    pub(crate) fn of(config: &Config) -> Plan {
        let burns = &config.burns.0;
        let turns_per_ns = if burns.is_empty() { 0.0 } else { turns_per_ns() };
        let planned = |burn: &Burn| Planned {
            work: work(burn.function),
            turns: (burn.time.as_nanos() as f64 * turns_per_ns).round() as u64,
            every: burn.every.into(),
        };
        Plan { burns: burns.iter().map(planned).collect(), calls: config.calls }
    }
}

fn work(function: &str) -> Work {
    WORKS.iter().find(|(name, _)| *name == function).expect("a burn names one of them").1
}

/// How much work a nanosecond of this machine's CPU time holds. What disturbs a calibration only makes it longer.
fn turns_per_ns() -> f64 {
    const TURNS: u64 = 20_000;
    let first = WORKS[0].1;
    let fastest_ns = (0..25).map(|_| time_ns(first, TURNS)).min().unwrap_or(0);
    TURNS as f64 / fastest_ns.max(1) as f64
}

/// What one call takes. Reading the clock takes time as well: how much, is seen before. The first reading does not count,
/// because the kernel's code for it is in no cache yet.
fn time_ns(work: Work, turns: u64) -> i64 {
    let [_, before, begun] = [cpu_ns(), cpu_ns(), cpu_ns()];
    black_box(work(turns));
    (cpu_ns() - begun) - (begun - before)
}

fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// What one of the functions truly took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BurnTruth {
    pub function: &'static str,
    pub calls: u64,
    /// Calls that were timed: one in 64, or one in fewer of a function that is not called for each answer.
    pub timed: u64,
    /// The mean of these, by the thread's CPU clock.
    pub mean_ns: f64,
}

impl BurnTruth {
    pub(crate) fn of(burns: &Burns) -> Vec<BurnTruth> {
        let none =
            |burn: &Burn| BurnTruth { function: burn.function, calls: 0, timed: 0, mean_ns: 0.0 };
        burns.0.iter().map(none).collect()
    }

    pub(crate) fn add(&mut self, other: &BurnTruth) {
        self.calls += other.calls;
        self.timed += other.timed;
        let share = other.timed as f64 / self.timed.max(1) as f64;
        self.mean_ns += (other.mean_ns - self.mean_ns) * share;
    }
}

impl ThreadState {
    /// Spends what an answer costs. Not inlined, so that it is in each stack above the functions that it calls.
    #[inline(never)]
    pub(crate) fn burn(&mut self) {
        let plan = &self.shared.plan;
        for (planned, truth) in plan.burns.iter().zip(&mut self.books.burns) {
            if !self.burnt.is_multiple_of(planned.every) {
                continue;
            }
            let is_timed = truth.calls.is_multiple_of((TIMED / planned.every).max(1));
            truth.calls += 1;
            if is_timed {
                truth.timed += 1;
                let ns = time_ns(planned.work, planned.turns) as f64;
                truth.mean_ns += (ns - truth.mean_ns) / truth.timed as f64;
            } else {
                black_box((planned.work)(planned.turns));
            }
        }
        for _ in 0..plan.calls {
            // A system call each time: it is not answered from memory.
            black_box(getppid());
        }
        self.burnt += 1;
        self.books.getppid_calls += u64::from(plan.calls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_burns_is_read_or_refused_with_the_way_out() {
        let burns: Burns = "parse:8us,collect:5ms/1000,sort:0us,hash:1ms".parse().unwrap();
        let read: Vec<_> = burns.0.iter().map(|it| (it.function, it.time, it.every)).collect();
        let micros = Duration::from_micros;
        let expected = [
            ("parse", micros(8), 1),
            ("collect", micros(5_000), 1_000),
            ("sort", micros(0), 1),
            ("hash", micros(1_000), 1),
        ];
        assert_eq!(read, expected);
        let refused = |text: &str| text.parse::<Burns>().unwrap_err().to_string();
        for text in ["", "parse", "parse:8us/0", "parse:8us/1.5", "parse:8us/", "parse:8us,"] {
            assert!(refused(text).ends_with("write it like parse:8us or parse:5ms/1000"), "{text}");
        }
        assert!(refused("parse:8").ends_with("write it like 150us, 1.5ms or 2s"));
        assert!(refused("parse:-8us").contains("not a span of time"));
        assert!(refused("prase:8us").ends_with("did you mean `parse`?"));
        let unknown = "the functions are: parse render collect route encode decode hash sort";
        assert!(refused("zzzzzzzzzzzz:8us").ends_with(unknown));
        assert!(refused("parse:1us,parse:1us").ends_with("`parse` is there twice; name it once"));
        assert!(refused("parse:1001us").ends_with("more than 1ms an answer, which is the most"));
        assert!(refused("parse:5ms/4").contains("more than 1ms an answer"));
    }

    #[test]
    fn the_functions_are_distinct_and_their_time_is_that_of_their_turns() {
        let mut places: Vec<usize> = WORKS.iter().map(|(_, work)| *work as usize).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 8);
        let mut results: Vec<u64> = WORKS.iter().map(|(_, work)| work(1_000)).collect();
        results.sort_unstable();
        results.dedup();
        assert_eq!(results.len(), 8);
    }

    #[test]
    fn means_of_threads_are_weighted_by_what_was_timed() {
        let truth = |calls, timed, mean_ns| BurnTruth { function: "parse", calls, timed, mean_ns };
        let mut sum = truth(0, 0, 0.0);
        sum.add(&truth(640, 10, 8_000.0));
        sum.add(&truth(0, 0, 0.0));
        sum.add(&truth(1_920, 30, 4_000.0));
        assert_eq!(sum, truth(2_560, 40, 5_000.0));
    }
}
