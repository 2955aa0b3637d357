//! Where a gate's answer goes: standard output, files, and the summary of a job of GitHub's. Each gate that ends comes by
//! here, whatever its answer is: so no file is left as an earlier gate wrote it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use ::report::gate::{Early, FinishedGate, Word};
use ::report::render::Shown;
use analysis::gate::{Against, PairOf, Rule, Weighing};
use lab::figure::Figure;

use super::GateFlags;
use super::gate_run::{GateRun, Measured};
use crate::shell::{ExitStatus, Refusal, command_line_without_passwords};

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

/// The throughput of pairs of the base against itself.
pub(super) fn equal(measured: Option<&Measured>) -> Vec<PairOf> {
    measured.map_or(Vec::new(), |it| it.course.pairs(Figure::Throughput, Against::Head))
}

/// Tells of a gate that ended early; there is no run where it ended before its sides were read.
pub(super) fn early(
    flags: &GateFlags,
    gate_run: Option<&GateRun<'_>>,
    rule: Rule,
    stop: Stop,
) -> Result<ExitStatus, Refusal> {
    let typed = |side: &Option<String>, command: &Option<String>| {
        side.as_ref().or(command.as_ref()).map_or(String::new(), |it| units::without_password(it))
    };
    let typed = [typed(&flags.base, &flags.base_cmd), typed(&flags.head, &flags.head_cmd)];
    let [base, head] = match gate_run {
        Some(gate_run) => gate_run.titles(),
        None => typed.each_ref().map(String::as_str),
    };
    let measured = gate_run.and_then(|gate_run| gate_run.equal.as_ref());
    let status = tell(
        flags,
        &FinishedGate {
            weighing: &Weighing::of_nothing(rule),
            early: Some((stop.early, stop.says.clone())),
            base,
            head,
            newly_broken: None,
            equal: equal(measured),
            command: &command_line_without_passwords(),
            runs: measured.iter().map(|it| it.id.to_string()).collect(),
            run: measured.map(|it| &it.run),
            trials: measured.map_or(&[], |it| &it.trials),
            why: None,
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

/// Prints and writes the answer. What was refused or interrupted is said on standard error, and is no text for people.
pub(super) fn tell(flags: &GateFlags, gate: &FinishedGate<'_>) -> Result<ExitStatus, Refusal> {
    match gate.word() {
        Word::Refused | Word::Interrupted if flags.results.prints_text() => {
            flags.results.write(gate, false)?;
        }
        _ => flags.results.deliver(gate, false)?,
    }
    if !flags.show && !flags.aa {
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
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let added = file.and_then(|mut file| file.write_all(gate.markdown().as_bytes()));
    if let Err(error) = added {
        terminal::notice(&format!("dyno: {SUMMARY}: {}: {error}", path.display()));
    }
}
