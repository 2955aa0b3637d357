//! Where a gate's answer goes: standard output, files, and the summary of a job of GitHub's.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use ::report::gate::FinishedGate;
use archive::keep;

use super::GateFlags;
use crate::shell::{Refusal, print};

/// The variable in which GitHub names the file of a job's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The files that are asked for, with their flags.
fn files(flags: &GateFlags) -> [(&'static str, &Option<PathBuf>); 3] {
    [("--json", &flags.json), ("--markdown", &flags.markdown), ("--junit", &flags.junit)]
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses what could not be written in the end.
pub(super) fn check(flags: &GateFlags) -> Result<(), Refusal> {
    let asked =
        || files(flags).into_iter().filter_map(|(flag, path)| Some((flag, path.as_deref()?)));
    let mut on_stdout = asked().filter(|(_, path)| is_stdout(path));
    if let (Some((one, _)), Some((other, _))) = (on_stdout.next(), on_stdout.next()) {
        return Err(Refusal::new(format!(
            "{one} - and {other} - both want standard output; give one of them a file"
        )));
    }
    let written: Vec<_> = asked().filter(|(_, path)| !is_stdout(path)).collect();
    let others = [("--store", &flags.store), ("--history", &flags.history)];
    let others = others.iter().filter_map(|(flag, path)| Some((*flag, path.as_deref()?)));
    keep::check_all(&written, &others.collect::<Vec<_>>())
}

/// Writes all of them; what is not on standard output leaves room for the text there.
pub(super) fn tell(flags: &GateFlags, gate: &FinishedGate<'_>) -> Result<(), Refusal> {
    let mut has_stdout = false;
    for (flag, path) in files(flags) {
        let Some(path) = path else { continue };
        let text = match flag {
            "--json" => gate.json()?,
            "--markdown" => gate.markdown(),
            _ => gate.junit(),
        };
        if is_stdout(path) {
            has_stdout = true;
            print(&text)?;
        } else {
            keep::write_for(flag, path, &text)?;
        }
    }
    if !has_stdout {
        print(&gate.text(terminal::screen()))?;
    }
    summarise(gate);
    Ok(())
}

/// In a job of GitHub's the answer is added to its summary. That this fails changes no answer.
fn summarise(gate: &FinishedGate<'_>) {
    let Some(path) = std::env::var_os(SUMMARY).map(PathBuf::from) else { return };
    let add = || {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)?
            .write_all(gate.markdown().as_bytes())
    };
    if let Err(error) = add() {
        terminal::notice(&format!("dyno: {SUMMARY}: {}: {error}", path.display()));
    }
}
