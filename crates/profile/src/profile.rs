//! What is kept of one sampled trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of the samples is divided into so many blocks of equal length.
pub const BLOCKS: usize = 25;
/// Deeper stacks keep their outermost and innermost functions.
pub(crate) const DEEPEST: usize = 64;
/// No profile has more functions, nor more lines, nor such counts and times.
const FUNCTIONS_MAX: usize = 1 << 16;
const LINES_MAX: usize = 1 << 12;
const AMOUNT_MAX: u64 = 1 << 51;

/// The samples of one trial, counted by stack and block, and what is needed to judge them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub method: Method,
    /// Each line once, in no order.
    pub lines: Vec<Line>,
    /// Names of functions of the program, each once, without the user's paths.
    pub functions: Vec<String>,
    pub stacks: Vec<Stack>,
    /// How long samples were taken.
    pub sampled_ns: u64,
    /// CPU time of the server meanwhile, as the kernel counts it without sampling; 0 if it is not known.
    pub cpu_ns: u64,
    /// Nothing: public files of version 1 have it, and are written again as they were read.
    pub user_cpu_ns: Option<u64>,
    /// Answers that the load received in this time.
    pub answers: u64,
    /// How long threads of the server were ready to run and had no CPU.
    pub waited_for_cpu_ns: u64,
    /// Samples that the kernel could not hand over.
    pub lost: u64,
    /// System calls, counted after the samples; or why they were not.
    pub calls: Result<Calls, String>,
    /// The runtime had flags that it has in no measured trial, which a probe gave for the names of functions.
    pub with_flags: bool,
}

/// How samples were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Method {
    /// Samples a second, on average.
    pub hz: u32,
    /// What was sampled.
    pub target: Target,
    /// The kernel did not permit to see its own stacks: its time is one line, the CPU time without a sample.
    pub user_only: bool,
    /// Bytes of the stack that were copied with each sample and unwound by DWARF; by frame pointers if none.
    pub dwarf_bytes: Option<u32>,
}

/// What was sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The CPUs of the server, with samples of other processes left out.
    Cpus,
    /// The threads of the server.
    Threads,
}

/// One line of the table: a kind of work.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Line {
    /// Whose code it is.
    pub side: Side,
    /// `garbage collection`, `send`, `package express`.
    pub name: String,
}

/// Whose code a line is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Program,
    Kernel,
    NotNamed,
}

/// All samples with one stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Which of the profile's lines.
    pub line: u32,
    /// Which of its functions, the outermost first; kernel functions are none, since the line stands for them.
    pub functions: Vec<u32>,
    /// How many samples each block has; blocks without any are left out.
    pub counts: Vec<(u8, u32)>,
}

/// System calls by number, in a time of their own after the samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Answers that the load received meanwhile.
    pub answers: u64,
    /// (name, calls).
    pub counts: Vec<(String, u64)>,
}

/// What is shown of a function without a name begins so; its file follows, and `)`.
pub const NAMELESS: &str = "? (";

impl Profile {
    /// Whether every number in it is of something that it has, and it has no more than can be reckoned with: what was
    /// read from a file may have any.
    pub fn is_sound(&self) -> bool {
        let has = |number: u32, count: usize| (number as usize) < count;
        let amounts =
            [self.sampled_ns, self.cpu_ns, self.answers, self.waited_for_cpu_ns, self.lost];
        let calls = self
            .calls
            .iter()
            .flat_map(|calls| calls.counts.iter().map(|(_, count)| *count).chain([calls.answers]));
        let is_little = self.functions.len() <= FUNCTIONS_MAX && self.lines.len() <= LINES_MAX;
        let are_little = amounts.into_iter().chain(calls).all(|it| it <= AMOUNT_MAX);
        is_little
            && are_little
            && self.stacks.iter().all(|stack| {
                stack.functions.len() <= DEEPEST
                    && has(stack.line, self.lines.len())
                    && stack.functions.iter().all(|it| has(*it, self.functions.len()))
                    && stack.counts.iter().all(|(block, _)| usize::from(*block) < BLOCKS)
            })
    }

    /// How many samples the CPU time should have.
    pub fn expected_samples(&self) -> f64 {
        self.cpu_ns as f64 / 1e9 * f64::from(self.method.hz)
    }

    /// All samples of the server.
    pub fn samples(&self) -> u64 {
        self.stacks.iter().map(Stack::samples).sum()
    }
}

impl Stack {
    pub fn samples(&self) -> u64 {
        self.counts.iter().map(|(_, count)| u64::from(*count)).sum()
    }
}
