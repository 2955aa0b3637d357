//! Samples, folded: each stack once, with its line, the names of its functions, and how many samples each block has.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::names::Names;
use crate::profile::{BLOCKS, DEEPEST, Line, Method, NAMELESS, Profile, Side, Stack};
use crate::records::Sample;
use crate::rules::{Function, Runtime, kernel_line, program_line};
use crate::sampler::Sampler;

/// What has no name belongs to one line.
const NOT_NAMED: &str = "not named";

impl Sampler {
    /// Names all samples. To be called after `stop`, while the server's processes still live: they say what is where.
    /// Paths below `folder` are said from there. Times, answers and calls are for the caller to add.
    #[must_use]
    pub fn folded(&self, runtimes: &[Runtime], folder: &str) -> Profile {
        let mut names = Names::new(&self.maps, runtimes, folder);
        for pid in self.processes.all() {
            names.read(pid, self.removes_maps);
        }
        let times = || self.samples.iter().map(|sample| sample.time_ns);
        let (from, until) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let length = (until - from) / BLOCKS as u64 + 1;
        let mut folding = Folding::default();
        for sample in &self.samples {
            let block = ((sample.time_ns - from) / length) as u8;
            let thread = self.comms.get(&sample.tid).map_or("", String::as_str);
            folding.add(&mut names, sample, thread, block);
        }
        folding.finish(self.method, self.lost[0])
    }
}

#[derive(Default)]
struct Folding {
    lines: HashMap<Line, u32>,
    functions: HashMap<String, u32>,
    stacks: BTreeMap<(u32, Vec<u32>), BTreeMap<u8, u32>>,
}

impl Folding {
    fn add(&mut self, names: &mut Names<'_>, sample: &Sample, thread: &str, block: u8) {
        let unwound = sample.raw.as_ref().map(|raw| names.unwound(sample.pid, raw));
        let addresses = unwound.as_ref().filter(|stack| !stack.is_empty()).unwrap_or(&sample.user);
        // All but the innermost address are where a call returns to, which may be another function's beginning.
        let called =
            |at: usize, address: u64| if at == 0 { address } else { address.wrapping_sub(1) };
        let stack: Vec<Rc<Function>> = addresses
            .iter()
            .enumerate()
            .map(|(at, address)| names.function(sample.pid, called(at, *address)))
            .collect();
        let line = match sample.kernel.is_empty() {
            false => {
                let kernel = sample.kernel.iter().enumerate();
                let kernel = kernel.filter_map(|(at, address)| names.kernel(called(at, *address)));
                let name = kernel_line(&kernel.collect::<Vec<_>>()).to_owned();
                Line { side: Side::Kernel, name }
            }
            true => {
                let functions: Vec<&Function> = stack.iter().map(Rc::as_ref).collect();
                match program_line(names.runtimes(sample.pid), thread, &functions) {
                    Some(name) => Line { side: Side::Program, name },
                    None => Line { side: Side::NotNamed, name: NOT_NAMED.into() },
                }
            }
        };
        let line = number(&mut self.lines, line);
        let path = self.path(&stack);
        *self.stacks.entry((line, path)).or_default().entry(block).or_default() += 1;
    }

    /// The functions of a stack, the outermost first; a function that calls itself once.
    fn path(&mut self, stack: &[Rc<Function>]) -> Vec<u32> {
        let shown = |function: &Rc<Function>| match &function.name {
            Some(name) => name.clone(),
            None => format!("{NAMELESS}{})", function.place),
        };
        let mut path: Vec<u32> =
            stack.iter().rev().map(|it| number(&mut self.functions, shown(it))).collect();
        path.dedup();
        if DEEPEST < path.len() {
            path.drain(DEEPEST / 2..path.len() - DEEPEST / 2);
        }
        path
    }

    fn finish(self, method: Method, lost: u64) -> Profile {
        let stacks = self.stacks.into_iter().map(|((line, functions), counts)| Stack {
            line,
            functions,
            counts: counts.into_iter().collect(),
        });
        Profile {
            method,
            lines: in_order(self.lines),
            functions: in_order(self.functions),
            stacks: stacks.collect(),
            sampled_ns: 0,
            cpu_ns: 0,
            user_cpu_ns: None,
            answers: 0,
            waited_for_cpu_ns: 0,
            lost,
            calls: Err("not counted".into()),
            with_flags: false,
        }
    }
}

fn number<T: std::hash::Hash + Eq>(numbers: &mut HashMap<T, u32>, value: T) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(value).or_insert(next)
}

fn in_order<T>(numbers: HashMap<T, u32>) -> Vec<T> {
    let mut all: Vec<(T, u32)> = numbers.into_iter().collect();
    all.sort_by_key(|(_, number)| *number);
    all.into_iter().map(|(value, _)| value).collect()
}
