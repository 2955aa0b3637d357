//! CPU time and system calls that are spent for each answer, so that a profiler's figures can be compared with a truth:
//! functions with names of their own, whose calls are timed by the thread's CPU clock.

use std::hint::black_box;
use std::str::FromStr;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::spans::span;

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
#[derive(Clone, Debug, Default)]
pub struct Burns(pub(crate) Vec<Burn>);

#[derive(Clone, Debug)]
pub(crate) struct Burn {
    pub(crate) function: &'static str,
    work: Work,
    time: Duration,
    /// It is called for one answer in so many.
    every: u32,
}

impl FromStr for Burns {
    type Err = String;

    fn from_str(text: &str) -> Result<Burns, String> {
        let burns: Vec<Burn> = text.split(',').map(burn).collect::<Result<_, _>>()?;
        let mut names: Vec<&str> = burns.iter().map(|burn| burn.function).collect();
        names.sort_unstable();
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => Err(format!("`{}` is there twice; name it once", two[0])),
            None => Ok(Burns(burns)),
        }
    }
}

fn burn(text: &str) -> Result<Burn, String> {
    let form = || format!("`{text}` is no burn; write it like parse:8us or parse:5ms/1000");
    let (name, rest) = text.split_once(':').ok_or_else(form)?;
    let (time, every) = rest.split_once('/').unwrap_or((rest, "1"));
    let Some(&(function, work)) = WORKS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = WORKS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no function `{name}`; there are: {}", names.join(" ")));
    };
    let time = span(time)?;
    let every = every.parse().ok().filter(|every| (1..=1_000_000).contains(every));
    let every: u32 = every.ok_or_else(form)?;
    match time <= MOST * every {
        true => Ok(Burn { function, work, time, every }),
        false => Err(format!("`{text}` burns more than 1 ms an answer, which is the most")),
    }
}

impl Burn {
    /// Spends what the answer with this number costs.
    #[inline(always)]
    pub(crate) fn spend(&self, number: u64, turns_per_ns: f64, truth: &mut BurnTruth) {
        let every = u64::from(self.every);
        if !number.is_multiple_of(every) {
            return;
        }
        let turns = (self.time.as_nanos() as f64 * turns_per_ns) as u64;
        let is_timed = truth.calls.is_multiple_of((TIMED / every).max(1));
        truth.calls += 1;
        if is_timed {
            truth.timed += 1;
            let ns = time_ns(self.work, turns) as f64;
            truth.mean_ns += (ns - truth.mean_ns) / truth.timed as f64;
        } else {
            black_box((self.work)(turns));
        }
    }
}

/// How much work a nanosecond of CPU time holds here: the median, because an interruption makes a call seem longer, or, as
/// a part of what is subtracted, shorter.
pub(crate) fn turns_per_ns() -> f64 {
    const TURNS: u64 = 20_000;
    let mut calls_ns = [0; 25].map(|_| time_ns(WORKS[0].1, TURNS));
    calls_ns.sort_unstable();
    TURNS as f64 / calls_ns[12].max(1) as f64
}

/// What one call takes. Reading the clock takes time as well: how much, is seen before. The first two readings do not
/// count, because the code for them is in no near cache yet: with only one of them, calls of 8.05 µs by the time
/// stamp counter seemed to take 8.03.
fn time_ns(work: Work, turns: u64) -> i64 {
    let [_, _, before, begun] = [cpu_ns(), cpu_ns(), cpu_ns(), cpu_ns()];
    black_box(work(turns));
    (cpu_ns() - begun) - (begun - before)
}

fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// What one of the functions truly took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BurnTruth {
    pub function: &'static str,
    pub calls: u64,
    /// Calls that were timed: one in 64, or one in fewer of a function that is not called for each answer.
    pub timed: u64,
    /// The mean of these, by the thread's CPU clock.
    pub mean_ns: f64,
}

impl BurnTruth {
    pub(crate) fn add(&mut self, other: &BurnTruth) {
        self.calls += other.calls;
        self.timed += other.timed;
        let share = other.timed as f64 / self.timed.max(1) as f64;
        self.mean_ns += (other.mean_ns - self.mean_ns) * share;
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
        let refused = |text: &str| text.parse::<Burns>().unwrap_err();
        for text in ["", "parse", "parse:8us/0", "parse:8us/1.5", "parse:8us/", "parse:8us,"] {
            assert!(refused(text).ends_with("write it like parse:8us or parse:5ms/1000"), "{text}");
        }
        assert!(refused("parse:8").ends_with("write it like 150us, 1.5ms or 2s"));
        assert!(refused("parse:-8us").contains("not a span of time"));
        let unknown = "there are: parse render collect route encode decode hash sort";
        assert!(refused("prase:8us").ends_with(unknown));
        assert!(refused("parse:1us,parse:1us").ends_with("`parse` is there twice; name it once"));
        assert!(refused("parse:1001us").ends_with("more than 1 ms an answer, which is the most"));
        assert!(refused("parse:5ms/4").contains("more than 1 ms an answer"));
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
