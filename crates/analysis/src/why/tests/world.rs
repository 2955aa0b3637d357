//! Simulated servers whose costs are known, their sampled trials and their measured rounds.

use lab::figure::Fold;
use load::Chance;
use profile::{BLOCKS, Line, Method, Profile, Side, Stack, Target};

use crate::Estimate;
use crate::fixture::{normal, numbers};
use crate::why::{Explanation, Sampled, explain};

/// Two seconds at 997 Hz on a busy CPU.
pub(super) const SAMPLES: u32 = 1_994;
const ROUNDS: usize = 5;
/// The spread of a round's CPU time of an answer, as node's was measured.
const ROUND_SPREAD: f64 = 0.024;

/// Where the CPU time of a server's answer goes.
#[derive(Clone)]
pub(super) struct World {
    pub(super) lines: Vec<Line>,
    /// How far processes differ in each line: standard deviations, by those of independent samples.
    pub(super) spreads: Vec<f64>,
    pub(super) functions: Vec<String>,
    pub(super) leaves: Vec<Leaf>,
}

/// A stack and what it costs.
#[derive(Clone)]
pub(super) struct Leaf {
    pub(super) line: usize,
    /// The outermost first.
    pub(super) functions: Vec<u32>,
    pub(super) us: f64,
}

impl World {
    /// Twenty lines, 200 functions that call one another, 400 stacks, 20 µs; processes differ in some lines more.
    pub(super) fn wide() -> World {
        let mut chance = Chance::new(20);
        let line = |place: u64| {
            let side = if place < 9 { Side::Kernel } else { Side::Program };
            Line { side, name: format!("line {place}") }
        };
        let mut leaves: Vec<Leaf> = (0..400)
            .map(|leaf| {
                let inner = (0..2 + chance.below(5)).map(|_| 8 + chance.below(192) as u32);
                let functions = [0, 1, 2 + leaf as u32 % 6].into_iter().chain(inner).collect();
                Leaf { line: chance.below(20), functions, us: (1.3 * normal(&mut chance)).exp() }
            })
            .collect();
        let sum: f64 = leaves.iter().map(|leaf| leaf.us).sum();
        leaves.iter_mut().for_each(|leaf| leaf.us *= 20.0 / sum);
        World {
            lines: (0..20).map(line).collect(),
            spreads: [1.7, 1.4, 1.3, 1.2, 1.1, 1.0].into_iter().cycle().take(20).collect(),
            functions: (0..200).map(|place| format!("function {place}")).collect(),
            leaves,
        }
    }

    /// A server that burns so many µs in functions, which are lines of their own, and has 5 µs more, as `wide()` has them.
    pub(super) fn burning(burns: &[(&str, f64)], spread: f64) -> World {
        let mut world = World::wide();
        world.leaves.iter_mut().for_each(|leaf| leaf.us /= 4.0);
        for (name, us) in burns {
            let function = world.functions.len() as u32;
            world.functions.push((*name).into());
            let leaf =
                Leaf { line: world.lines.len(), functions: vec![0, 1, 2, function], us: *us };
            world.leaves.push(leaf);
            world.lines.push(Line { side: Side::Program, name: (*name).into() });
        }
        world.spreads = vec![spread; world.lines.len()];
        world
    }

    pub(super) fn us(&self) -> f64 {
        self.leaves.iter().map(|leaf| leaf.us).sum()
    }

    /// What the lines and the stacks of a line have in one process. Lines have a variance of their own, and a line's
    /// stacks another within it.
    fn process(&self, chance: &mut Chance) -> Vec<f64> {
        let sum = self.us();
        let mut varied = |us: f64, spread: f64| {
            let variance = ((spread * spread - 1.0) * sum / us / f64::from(SAMPLES)).min(1.0);
            us * (variance.sqrt() * normal(chance) - variance / 2.0).exp()
        };
        let mut found: Vec<f64> =
            self.leaves.iter().map(|leaf| varied(leaf.us, self.spreads[leaf.line])).collect();
        for (line, spread) in self.spreads.iter().enumerate() {
            let of_line = || self.leaves.iter().enumerate().filter(|(_, leaf)| leaf.line == line);
            let us: f64 = of_line().map(|(_, leaf)| leaf.us).sum();
            let drawn: f64 = of_line().map(|(place, _)| found[place]).sum();
            if 0.0 < us {
                let factor = varied(us, *spread) / drawn;
                of_line().for_each(|(place, _)| found[place] *= factor);
            }
        }
        found
    }

    /// One sampled trial.
    pub(super) fn trial(&self, chance: &mut Chance) -> Profile {
        let mut upto = 0.0;
        let sums: Vec<f64> = self
            .process(chance)
            .into_iter()
            .map(|us| {
                upto += us;
                upto
            })
            .collect();
        let mut counts = vec![[0_u32; BLOCKS]; self.leaves.len()];
        for _ in 0..SAMPLES {
            let at = upto * chance.unit();
            let leaf = sums.partition_point(|sum| *sum <= at).min(counts.len() - 1);
            counts[leaf][chance.below(BLOCKS)] += 1;
        }
        let stacks = self.leaves.iter().zip(counts).map(|(leaf, counts)| Stack {
            line: leaf.line as u32,
            functions: leaf.functions.clone(),
            counts: (0..).zip(counts).filter(|(_, count)| 0 < *count).collect(),
        });
        Profile {
            lines: self.lines.clone(),
            functions: self.functions.clone(),
            stacks: stacks.collect(),
            answers: (2e6 / self.us()) as u64,
            ..empty()
        }
    }

    pub(super) fn measured(&self, chance: &mut Chance) -> Estimate {
        measured((0..ROUNDS).map(|_| self.us() * (ROUND_SPREAD * normal(chance)).exp()))
    }
}

/// A trial of two seconds on a busy CPU without a sample.
pub(super) fn empty() -> Profile {
    Profile {
        method: Method { hz: 997, target: Target::Cpus, user_only: false, dwarf_bytes: None },
        lines: Vec::new(),
        functions: Vec::new(),
        stacks: Vec::new(),
        sampled_ns: 2_000_000_000,
        cpu_ns: 2_000_000_000,
        user_cpu_ns: None,
        answers: 100_000,
        waited_for_cpu_ns: 0,
        lost: 0,
        calls: Err("not counted".into()),
        with_flags: false,
    }
}

pub(super) fn measured(us: impl Iterator<Item = f64>) -> Estimate {
    Estimate::of(&numbers(&us.collect::<Vec<_>>()), Fold::Factors).expect("rounds")
}

/// The explanation from so many sampled trials of each.
pub(super) fn explained(worlds: &[&World], trials: usize, chance: &mut Chance) -> Explanation {
    let drawn: Vec<(Vec<Profile>, Estimate)> = worlds
        .iter()
        .map(|world| {
            let profiles = (0..trials).map(|_| world.trial(chance)).collect();
            (profiles, world.measured(chance))
        })
        .collect();
    let sampled: Vec<Sampled<'_>> = drawn
        .iter()
        .map(|(trials, measured)| Sampled { server: "a", trials, measured: *measured })
        .collect();
    explain(&sampled)
}
