//! Where a gate's answer goes: standard output, files, and the summary of a job of GitHub's. Each gate that ends comes by
//! here, whatever its answer is: so no file is left as an earlier gate wrote it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use ::report::gate::{Early, FinishedGate, Word};
use analysis::gate::{Against, PairOf, Rule, Weighing};
use archive::keep;
use lab::figure::Figure;

use super::GateFlags;
use super::stage::{Measured, Stage};
use crate::shell::{ExitStatus, Refusal, command_line, print};

/// The variable in which GitHub names the file of a job's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Why a gate ends before its pairs are weighed.
pub(super) struct Stop {
    pub(super) early: Early,
    pub(super) says: String,
}

impl Stop {
    pub(super) fn new(early: Early, says: impl Into<String>) -> Stop {
        Stop { early, says: says.into() }
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Stop {
        Stop::new(Early::Refused, refusal.to_string())
    }
}

/// What there is, unless it was interrupted.
pub(super) fn unless_interrupted<T>(found: Result<Option<T>, Refusal>) -> Result<T, Stop> {
    found?.ok_or_else(|| {
        let says = "a gate cannot be resumed, the same command begins it anew";
        Stop::new(Early::Interrupted, says)
    })
}

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

/// The throughput of pairs of the base against itself.
pub(super) fn equal(measured: Option<&Measured>) -> Vec<PairOf> {
    measured.map_or(Vec::new(), |it| it.course.pairs(Figure::Throughput, Against::Head))
}

/// Tells of a gate that ended early; there is no stage where it ended before its sides were read.
pub(super) fn early(
    flags: &GateFlags,
    stage: Option<&Stage<'_>>,
    rule: Rule,
    stop: Stop,
) -> Result<ExitStatus, Refusal> {
    let typed = |side: &Option<String>, command: &Option<String>| {
        side.as_ref().or(command.as_ref()).cloned().unwrap_or_default()
    };
    let typed = [typed(&flags.base, &flags.base_cmd), typed(&flags.head, &flags.head_cmd)];
    let [base, head] = stage.map_or(&typed, |stage| &stage.titles);
    let measured = stage.and_then(|stage| stage.equal.as_ref());
    let status = tell(
        flags,
        &FinishedGate {
            weighing: &Weighing::of_nothing(rule),
            early: Some((stop.early, stop.says.clone())),
            base,
            head,
            newly_broken: None,
            equal: equal(measured),
            command: &command_line(),
            runs: measured.iter().map(|it| it.id.to_string()).collect(),
            run: measured.map(|it| &it.run),
            trials: measured.map_or(&[], |it| &it.trials),
        },
    )?;
    match stop.early {
        Early::Refused => Err(Refusal::new(stop.says)),
        Early::Interrupted => {
            terminal::notice(&format!("dyno: interrupted; {}", stop.says));
            Ok(status)
        }
        Early::HeadFails | Early::Limit | Early::Disturbed => Ok(status),
    }
}

/// Writes all of them; what is not on standard output leaves room for the text there.
pub(super) fn tell(flags: &GateFlags, gate: &FinishedGate<'_>) -> Result<ExitStatus, Refusal> {
    // What was refused or interrupted is said on standard error.
    let mut is_said = matches!(gate.word(), Word::Refused | Word::Interrupted);
    for (flag, path) in files(flags) {
        let Some(path) = path else { continue };
        let text = match flag {
            "--json" => gate.json()?,
            "--markdown" => gate.markdown(),
            _ => gate.junit(),
        };
        if is_stdout(path) {
            is_said = true;
            print(&text)?;
        } else {
            keep::write_for(flag, path, &text)?;
        }
    }
    if !is_said {
        print(&gate.text(terminal::screen()))?;
    }
    if !flags.show && flags.aa.is_none() {
        summarise(gate);
    }
    Ok(match gate.word() {
        Word::NotWorse => ExitStatus::Yes,
        Word::Worse => ExitStatus::No,
        Word::CannotTell | Word::Refused => ExitStatus::CouldNotTell,
        Word::Interrupted => ExitStatus::Interrupted,
    })
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
