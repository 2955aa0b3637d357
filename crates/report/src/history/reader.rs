//! A history as it lies in a file: lines of several machines and branches, some of them twice, some broken.

use schemars::JsonSchema;
use serde::Serialize;

use super::gates::{self, GateLine};
use super::line::Line;

/// What could be read.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// By time, and each once.
    pub lines: Vec<Line>,
    /// The lines of gates, by time, and each once.
    pub gates: Vec<GateLine>,
    /// Lines that were skipped. They stay in their file.
    pub broken: Vec<Broken>,
}

/// A line that was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "broken_line")]
pub struct Broken {
    /// its file
    pub file: String,
    /// its number, from 1
    #[serde(rename = "line")]
    pub number: usize,
    /// what is wrong with it
    pub why: String,
}

/// No line is longer.
const LONGEST: usize = 1 << 20;

impl History {
    /// The history of these lines alone, which are no file's.
    #[must_use]
    pub fn of(mut lines: Vec<Line>) -> History {
        lines.sort_by_cached_key(Line::order);
        lines.dedup();
        History { lines, ..History::default() }
    }
}

/// Reads files of lines, each with its name.
#[must_use]
pub fn read(files: &[(String, Vec<u8>)]) -> History {
    let mut history = History::default();
    for (file, bytes) in files {
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let read = match gates::read(line) {
                Some(gate) => gate.map(|gate| history.gates.push(gate)),
                None => one(line).map(|line| history.lines.push(line)),
            };
            match read {
                Ok(()) => {}
                Err(why) => {
                    history.broken.push(Broken { file: file.clone(), number: at + 1, why });
                }
            }
        }
    }
    let gates = gates::sorted(history.gates);
    History { gates, broken: history.broken, ..History::of(history.lines) }
}

fn one(bytes: &[u8]) -> Result<Line, String> {
    if LONGEST < bytes.len() {
        return Err(format!("it is longer than {} KiB", LONGEST >> 10));
    }
    let is_conflict =
        [&b"<<<<<<<"[..], b"=======", b">>>>>>>"].iter().any(|it| bytes.starts_with(it));
    if is_conflict {
        return Err("it is the mark of a conflict; histories are merged by `merge=union`".into());
    }
    let line: Line = serde_json::from_slice(bytes).map_err(|error| {
        let is_cut = error.is_eof();
        if is_cut { "it ends early".to_string() } else { plain(&error.to_string()) }
    })?;
    line.wrong().map_or(Ok(line), Err)
}

/// What the reader of JSON says, without its own place within the line and without what a terminal would obey.
pub(super) fn plain(error: &str) -> String {
    let says = error.split(" at line ").next().unwrap_or_default();
    says.chars().take(200).flat_map(char::escape_debug).collect()
}
