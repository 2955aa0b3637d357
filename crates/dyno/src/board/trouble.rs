//! What went wrong, with its evidence, and what is in doubt.

use analysis::{Doubt, Gravity, Reason, Remark, Row, Table, Weighed};
use lab::experiment::Point;
use lab::record::{Check, TrialRecord};

use super::{Told, words};
use crate::doubt;
use crate::report::evidence;
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::units::count;

/// So many lines of a subject's output are shown.
const TAIL_LINES: usize = 6;
/// So many bytes of an answer are shown.
const ANSWER_BYTES: usize = 200;

/// Trials that are no measurement: how they ended, and what their subjects left behind. Those that ended alike are
/// told once.
pub(super) fn failures(told: &Told<'_>, width: usize) -> Vec<Line> {
    let mut alike: Vec<(&str, &Row, Vec<&Weighed>)> = Vec::new();
    for (workload, row, trial) in told.weighed().filter(|(_, _, trial)| !trial.is_measured()) {
        let same = alike.iter_mut().find(|(other, first, trials)| {
            (*other, &first.subject) == (workload, &row.subject)
                && trials[0].outcome == trial.outcome
        });
        match same {
            Some((_, _, trials)) => trials.push(trial),
            None => alike.push((workload, row, vec![trial])),
        }
    }
    if alike.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::ink(Ink::Bold, "what went wrong")];
    for (workload, row, trials) in alike {
        let first = trials[0];
        let more = match trials.len() {
            1 => String::new(),
            times => format!(", and {} more alike", count(times as u64 - 1)),
        };
        let subject = told.title(&row.subject);
        let head = format!(
            "{subject}, {workload} at {}, round {}{more}: {}",
            row.point,
            first.repeat + 1,
            words::outcome(first.outcome.kind)
        );
        lines.extend(wrapped(&head, width).into_iter().map(|line| Line::ink(Ink::Bad, line)));
        lines.extend(indented(&first.outcome.says, width, Ink::Plain));
        if let Some(trial) = told.trials.iter().find(|trial| trial.key.number == first.number) {
            lines.extend(left_behind(trial, width));
        }
    }
    lines
}

/// What a trial's subject answered and wrote, all of it theirs: shown, never obeyed.
fn left_behind(trial: &TrialRecord, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(check) = trial.checks.iter().find(|check| check.wrong.is_some()) {
        lines.extend(indented(&answered(check), width, Ink::Dim));
    }
    if !trial.exit.is_empty() {
        lines.extend(indented(&format!("its process: {}", trial.exit), width, Ink::Dim));
    }
    let output = String::from_utf8_lossy(&trial.output_tail);
    let output: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &output[output.len().saturating_sub(TAIL_LINES)..];
    lines.extend(last.iter().map(|line| Line::ink(Ink::Dim, format!("  │ {line}")).cut(width)));
    lines
}

fn answered(check: &Check) -> String {
    let shown = &check.response[..check.response.len().min(ANSWER_BYTES)];
    match shown.is_empty() {
        true => "not a byte came".into(),
        false => format!("what came: {}", String::from_utf8_lossy(shown).escape_debug()),
    }
}

fn indented(text: &str, width: usize, ink: Ink) -> Vec<Line> {
    let lines = wrapped(text, width.saturating_sub(2).max(20)).into_iter();
    lines.filter(|line| !line.is_empty()).map(|line| Line::ink(ink, format!("  {line}"))).collect()
}

/// Requests that failed in measured trials, by class.
pub(super) fn under_load(told: &Told<'_>, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for table in &told.board.tables {
        for row in &table.rows {
            let failures = row.failures();
            if failures.is_empty() {
                continue;
            }
            let classes: Vec<String> = failures
                .iter()
                .map(|(failure, times)| {
                    format!("{} {failure} ({})", count(*times), failure.meaning())
                })
                .collect();
            let subject = told.title(&row.subject);
            let text =
                format!("{subject}, {} at {}: {}", table.workload, row.point, classes.join("; "));
            lines.extend(wrapped(&text, width).into_iter().map(Line::plain));
            for kept in evidence::first_of_each(&row.evidence) {
                lines.extend(indented(&evidence::title(kept), width, Ink::Dim));
                for (label, text) in evidence::parts(kept) {
                    lines.extend(indented(&format!("  {label}: {text}"), width, Ink::Dim));
                }
            }
        }
    }
    if !lines.is_empty() {
        lines.insert(
            0,
            Line::ink(Ink::Bold, "requests that failed")
                .and(Ink::Dim, "  all measured rounds together"),
        );
    }
    lines
}

/// What is odd about the board as a whole.
pub(super) fn alarms(told: &Told<'_>, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for alarm in told.board.alarms() {
        lines.extend(wrapped(&doubt::alarm(&alarm), width).into_iter().map(Line::plain));
    }
    if !lines.is_empty() {
        lines.insert(
            0,
            Line::ink(Ink::Doubtful, "something else may be the limit")
                .and(Ink::Dim, "  different servers are seldom so alike"),
        );
    }
    lines
}

/// What is to be known of a table as a whole. Who answered otherwise stands with all that differs.
pub(super) fn remarks(table: &Table, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for remark in table.remarks.iter().filter(|remark| !matches!(remark, Remark::Apart(_))) {
        let ink = match remark.gravity() {
            Gravity::Note => Ink::Dim,
            Gravity::Suspect => Ink::Doubtful,
            Gravity::Invalid => Ink::Bad,
        };
        let text = format!("{}: {}", table.workload, doubt::remark_says(remark));
        lines.extend(wrapped(&text, width).into_iter().map(|line| Line::ink(ink, line)));
    }
    lines
}

/// Doubts of one kind about one subject.
struct Alike<'t> {
    /// Workload, subject, kind.
    key: (&'t str, &'t str, &'static str),
    places: Vec<Point>,
    /// In so many rounds …
    rounds: usize,
    /// … of so many that were run at these places.
    of: usize,
    /// The first one's words.
    says: String,
}

/// Why numbers may not be what they seem: for each subject and kind of doubt, where, and the first one's words.
pub(super) fn doubts(told: &Told<'_>, width: usize) -> Vec<Line> {
    let mut alike: Vec<Alike<'_>> = Vec::new();
    for (workload, row) in told.rows().filter(|(_, row)| 0 < row.measured()) {
        for Reason { doubt: found, rounds, of } in row.reasons() {
            // Notes are marked in the table, and what is no measurement is told with what went wrong.
            if found.gravity() == Gravity::Note || matches!(found, Doubt::Unmeasured(_)) {
                continue;
            }
            let key = (workload, row.subject.as_str(), doubt::id(&found));
            match alike.iter_mut().find(|alike| alike.key == key) {
                Some(alike) => {
                    alike.places.push(row.point);
                    alike.rounds += rounds;
                    alike.of += of;
                }
                None => {
                    let says = format!(
                        "{}; {}",
                        doubt::says(&found),
                        doubt::way_out(&found, doubt::By::Experiment)
                    );
                    alike.push(Alike { key, places: vec![row.point], rounds, of, says });
                }
            }
        }
    }
    let mut lines = Vec::new();
    for Alike { key: (workload, subject, _), places, rounds, of, says } in alike {
        let (at, first) = match places.as_slice() {
            [only] => (only.to_string(), ""),
            many => {
                let values: Vec<String> = many.iter().map(|&point| words::place(point)).collect();
                (format!("{} {}", values.join(", "), many[0].unit()), " first of them:")
            }
        };
        let some = match rounds < of {
            true => format!(", {} of {} rounds", count(rounds as u64), count(of as u64)),
            false => String::new(),
        };
        let text = format!("{}, {workload} at {at}{some}:{first} {says}", told.title(subject));
        lines.extend(wrapped(&text, width).into_iter().map(Line::plain));
    }
    if !lines.is_empty() {
        lines.insert(
            0,
            Line::ink(Ink::Doubtful, "in doubt")
                .and(Ink::Dim, "  marked ? or ! above; the figures hold them nevertheless"),
        );
    }
    lines
}
