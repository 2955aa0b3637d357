//! The samples of a server's trials, counted by line and by function in the blocks of each trial.

use std::collections::{BTreeMap, HashMap};

use profile::{BLOCKS, Line, NAMELESS, Profile, Side};

/// The kernel's only line where its stacks were not seen.
pub const UNSEEN: &str = "in the kernel";

/// Samples in each block of each trial, one trial after the other.
pub(super) type Blocks = Vec<f64>;

/// What was sampled of one server.
pub(super) struct Sampling<'p> {
    pub(super) total: Blocks,
    pub(super) lines: BTreeMap<Line, Blocks>,
    /// Names, each once; `stacks` has their places.
    pub(super) functions: Vec<&'p str>,
    /// How far from the outermost each was at most.
    pub(super) depths: Vec<usize>,
    stacks: Vec<Counted>,
}

/// One stack of one trial.
struct Counted {
    /// Each function once, sorted.
    functions: Vec<u32>,
    /// How many samples which blocks have.
    counts: Vec<(usize, f64)>,
}

impl<'p> Sampling<'p> {
    /// With the kernel as one line if its stacks are hidden.
    pub(super) fn of(trials: &'p [Profile], hides_kernel: bool) -> Sampling<'p> {
        let mut sampling = Sampling {
            total: vec![0.0; trials.len() * BLOCKS],
            lines: BTreeMap::new(),
            functions: Vec::new(),
            depths: Vec::new(),
            stacks: Vec::new(),
        };
        let mut places = HashMap::new();
        for (trial, profile) in trials.iter().enumerate() {
            sampling.add(&mut places, profile, trial * BLOCKS, hides_kernel);
            if profile.method.user_only {
                sampling.add_unseen(profile, trial * BLOCKS);
            }
        }
        sampling
    }

    fn add(
        &mut self,
        places: &mut HashMap<&'p str, u32>,
        profile: &'p Profile,
        first: usize,
        hides_kernel: bool,
    ) {
        let functions: Vec<u32> =
            profile.functions.iter().map(|name| self.place(places, name)).collect();
        for stack in &profile.stacks {
            let line = match &profile.lines[stack.line as usize] {
                line if hides_kernel && line.side == Side::Kernel => unseen(),
                line => line.clone(),
            };
            let of_line = self.lines.entry(line).or_insert_with(|| vec![0.0; self.total.len()]);
            let mut counts = Vec::with_capacity(stack.counts.len());
            for &(block, count) in &stack.counts {
                let place = first + usize::from(block).min(BLOCKS - 1);
                self.total[place] += f64::from(count);
                of_line[place] += f64::from(count);
                counts.push((place, f64::from(count)));
            }
            // What has no name is one function by chance only.
            let is_named =
                |function: &&u32| !profile.functions[**function as usize].starts_with(NAMELESS);
            let named = stack.functions.iter().filter(is_named);
            let mut called: Vec<u32> =
                named.map(|function| functions[*function as usize]).collect();
            for (depth, function) in called.iter().enumerate() {
                let deepest = &mut self.depths[*function as usize];
                *deepest = depth.max(*deepest);
            }
            called.sort_unstable();
            called.dedup();
            self.stacks.push(Counted { functions: called, counts });
        }
    }

    fn place(&mut self, places: &mut HashMap<&'p str, u32>, name: &'p str) -> u32 {
        *places.entry(name).or_insert_with(|| {
            self.functions.push(name);
            self.depths.push(0);
            self.functions.len() as u32 - 1
        })
    }

    /// When the kernel's time without samples was is not known, so each block has the same.
    fn add_unseen(&mut self, profile: &Profile, first: usize) {
        let each = unseen_samples(profile) / BLOCKS as f64;
        let of_line = self.lines.entry(unseen()).or_insert_with(|| vec![0.0; self.total.len()]);
        for blocks in [&mut self.total, of_line] {
            blocks[first..first + BLOCKS].iter_mut().for_each(|count| *count += each);
        }
    }

    /// The samples of each function and all that it calls.
    pub(super) fn by_function(&self) -> Vec<Blocks> {
        let mut found = vec![vec![0.0; self.total.len()]; self.functions.len()];
        for stack in &self.stacks {
            for function in &stack.functions {
                for (place, count) in &stack.counts {
                    found[*function as usize][*place] += count;
                }
            }
        }
        found
    }

    /// The samples whose functions, by their places, are such.
    pub(super) fn whose(&self, mut is_such: impl FnMut(&[u32]) -> bool) -> Blocks {
        let mut found = vec![0.0; self.total.len()];
        for stack in self.stacks.iter().filter(|stack| is_such(&stack.functions)) {
            stack.counts.iter().for_each(|(place, count)| found[*place] += count);
        }
        found
    }

    /// The samples of all lines of a side.
    pub(super) fn of_side(&self, side: Side) -> Blocks {
        let mut found = vec![0.0; self.total.len()];
        for (_, blocks) in self.lines.iter().filter(|(line, _)| line.side == side) {
            found.iter_mut().zip(blocks).for_each(|(sum, count)| *sum += count);
        }
        found
    }
}

/// How many samples the kernel's time would have where its stacks were not seen: what the CPU time has more than the
/// samples of user code.
pub(super) fn unseen_samples(profile: &Profile) -> f64 {
    let unseen = (profile.expected_samples() - profile.samples() as f64).max(0.0);
    if profile.method.user_only { unseen } else { 0.0 }
}

pub(super) fn unseen() -> Line {
    Line { side: Side::Kernel, name: UNSEEN.into() }
}
