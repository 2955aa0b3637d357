//! What went wrong, with its evidence, and the doubts.

use analysis::{
    By, Gravity, JudgedTrial, NOT_MEASURED, Reason, Remark, Row, Table, outcome_in_words,
};
use lab::experiment::Point;
use lab::record::{Check, TrialRecord};
use units::count;

use super::Findings;
use crate::document::{Block, Entry, Paragraph, Tone};
use crate::evidence;
use crate::remark;

/// The headings under which reasons stand, by which sentences refer to them: a terminal has its answer at the end, and a
/// page at the top.
pub(crate) use crate::verdict::DOUBTS;
pub(crate) const UNRANKED: &str = "Servers that are not ranked";
pub(crate) const FAILED: &str = "Requests that failed";
pub(crate) const WRONG: &str = "What went wrong";

/// At most this many last lines of a subject's output are shown.
const TAIL_LINES: usize = 10;
/// At most this many first bytes of an answer are shown.
const ANSWER_BYTES: usize = 200;
/// At most this many servers are named in a doubt; further ones are counted.
const NAMED: usize = 6;

/// Trials that are no measurement: how they ended, and what their subjects left behind. Those that ended alike are one
/// entry.
pub(crate) fn failures(findings: &Findings<'_>) -> Vec<Entry> {
    let mut alike: Vec<(&str, &Row, Vec<&JudgedTrial>)> = Vec::new();
    for (workload, row, trial) in findings.weighed().filter(|(_, _, trial)| !trial.is_measured()) {
        let same = alike.iter_mut().find(|(other, first, trials)| {
            (*other, &first.subject) == (workload, &row.subject)
                && trials[0].outcome == trial.outcome
        });
        match same {
            Some((_, _, trials)) => trials.push(trial),
            None => alike.push((workload, row, vec![trial])),
        }
    }
    let one = |(workload, row, trials): (&str, &Row, Vec<&JudgedTrial>)| {
        let first = trials[0];
        let more = match trials.len() {
            1 => String::new(),
            times => format!(", and {} more alike", count(times as u64 - 1)),
        };
        let head = format!(
            "{}, {} at {}, round {}{more}: {}",
            findings.title(&row.subject),
            findings.task(workload),
            findings.place(row.point),
            first.repeat + 1,
            outcome_in_words(first.outcome.kind)
        );
        let mut entry = Entry::new(Tone::Bad, head).with(Tone::Plain, &first.outcome.says);
        if let Some(trial) = findings.trials.iter().find(|trial| trial.key.number == first.number) {
            left_behind(trial, &mut entry);
        }
        entry
    };
    alike.into_iter().map(one).collect()
}

/// What a trial's subject answered and wrote, all of it the subject's own text.
fn left_behind(trial: &TrialRecord, entry: &mut Entry) {
    let mut add = |text: String| entry.lines.push(Paragraph::new(Tone::Dim, text));
    if let Some(check) = trial.checks.iter().find(|check| check.wrong.is_some()) {
        add(answered(check));
    }
    if !trial.ending.exit.is_empty() {
        add(format!("its process: {}", trial.ending.exit));
    }
    let output = String::from_utf8_lossy(&trial.ending.output_tail);
    let output: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &output[output.len().saturating_sub(TAIL_LINES)..];
    entry.quoted = last.iter().map(ToString::to_string).collect();
}

fn answered(check: &Check) -> String {
    let shown = &check.response[..check.response.len().min(ANSWER_BYTES)];
    match shown.is_empty() {
        true => "it sent no byte".into(),
        false => format!("it sent: {}", String::from_utf8_lossy(shown).escape_debug()),
    }
}

/// Servers that have no rank, and why.
pub(super) fn unranked(findings: &Findings<'_>) -> Vec<Entry> {
    let of_rows = findings.rows().filter_map(|(_, row)| Some((&row.subject, row.unmet.as_ref()?)));
    let all = &findings.board.conformities;
    let of_checks = all.iter().filter_map(|found| Some((&found.subject, found.unmet.as_ref()?)));
    let mut reasons: Vec<(&String, &String)> = Vec::new();
    for (subject, why) in of_rows.chain(of_checks) {
        // The reason why a row is unranked contains what its check says.
        if !reasons.iter().any(|(other, said)| *other == subject && said.contains(why.as_str())) {
            reasons.push((subject, why));
        }
    }
    let one = |(subject, why): (&String, &String)| {
        Entry::new(Tone::Doubtful, findings.title(subject)).with(Tone::Plain, why)
    };
    reasons.into_iter().map(one).collect()
}

/// Requests that failed in measured trials, by class, with the first of each.
pub(super) fn under_load(findings: &Findings<'_>) -> Vec<Entry> {
    let failed = findings.rows().filter(|(_, row)| !row.failures().is_empty());
    let one = |(workload, row): (&str, &Row)| {
        let classes: Vec<String> = row
            .failures()
            .iter()
            .map(|(failure, times)| format!("{} {failure} ({})", count(*times), failure.meaning()))
            .collect();
        let subject = findings.title(&row.subject);
        let place = findings.place(row.point);
        let task = findings.task(workload);
        let head = format!("{subject}, {task} at {place}: {}", classes.join("; "));
        let lines = evidence::first_of_each(&row.evidence).flat_map(|kept| {
            let parts = evidence::parts(kept).into_iter();
            let parts = parts.map(|(label, text)| format!("{label}: {text}"));
            std::iter::once(evidence::title(kept)).chain(parts)
        });
        let lines = lines.map(|text| Paragraph::new(Tone::Dim, text)).collect();
        Entry { lines, ..Entry::new(Tone::Plain, head) }
    };
    failed.map(one).collect()
}

/// What is odd about the board as a whole.
pub(super) fn alarms(findings: &Findings<'_>) -> Vec<String> {
    let alarms = findings.board.alarms();
    alarms.iter().map(|alarm| remark::alarm(findings, alarm)).collect()
}

/// Remarks about a table as a whole. That servers answered differently is said where all differences are listed.
pub(super) fn remarks(findings: &Findings<'_>, table: &Table) -> Vec<Block> {
    let remarks = table.remarks.iter().filter(|remark| !matches!(remark, Remark::Apart(_)));
    let says = |remark: &Remark| remark::says(remark, &|point| findings.shown(point));
    let one = |remark: &Remark| {
        Block::paragraph(
            remark.gravity().into(),
            format!("{}: {}", findings.task(&table.workload), says(remark)),
        )
    };
    remarks.map(one).collect()
}

/// Doubts of one cause.
struct Alike<'t> {
    id: &'static str,
    gravity: Gravity,
    /// Workload, subject, its load levels, in how many rounds of how many.
    rows: Vec<(&'t str, &'t str, Vec<Point>)>,
    rounds: usize,
    of: usize,
    /// The text of the first one, and where it was.
    says: String,
    way_out: &'static str,
    first: String,
}

/// Why numbers may not be what they seem: an entry for each cause, the gravest first, with the affected rows and the
/// text of the first doubt.
pub(crate) fn doubts(findings: &Findings<'_>) -> Vec<Entry> {
    let mut causes: Vec<Alike<'_>> = Vec::new();
    let by = if findings.is_load() { By::Flags } else { By::Experiment };
    let measured = findings.rows().filter(|(_, row)| 0 < row.measured()).count();
    for (workload, row) in findings.rows().filter(|(_, row)| 0 < row.measured()) {
        for Reason { doubt: found, rounds, of } in row.reasons() {
            // Notes are marked in the table, except those about TLS, HTTP/2 and agents, and trials that are no measurement are
            // listed with what went wrong. A single load's report has its notes.
            let is_listed = found.is_about_its_ways() || findings.is_load();
            let is_marked = found.gravity() == Gravity::Note && !is_listed;
            if is_marked || found.is(&NOT_MEASURED) {
                continue;
            }
            let id = found.id();
            let place = match causes.iter().position(|cause| cause.id == id) {
                Some(place) => place,
                None => {
                    causes.push(Alike {
                        id,
                        gravity: found.gravity(),
                        rows: Vec::new(),
                        rounds: 0,
                        of: 0,
                        says: found.says().into(),
                        way_out: found.way_out(by),
                        first: format!(
                            "{} at {}",
                            findings.title(&row.subject),
                            findings.place(row.point)
                        ),
                    });
                    causes.len() - 1
                }
            };
            let cause = &mut causes[place];
            cause.gravity = cause.gravity.max(found.gravity());
            cause.rounds += rounds;
            cause.of += of;
            let its = cause
                .rows
                .iter_mut()
                .find(|(other, subject, _)| (*other, *subject) == (workload, row.subject.as_str()));
            match its {
                Some((_, _, points)) => points.push(row.point),
                None => cause.rows.push((workload, &row.subject, vec![row.point])),
            }
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.gravity));
    let has_workloads = 1 < findings.board.tables.len();
    causes.iter().map(|cause| entry(findings, cause, measured, has_workloads)).collect()
}

fn entry(
    findings: &Findings<'_>,
    cause: &Alike<'_>,
    measured: usize,
    has_workloads: bool,
) -> Entry {
    let rows: usize = cause.rows.iter().map(|(_, _, points)| points.len()).sum();
    let named = |(workload, subject, points): &(&str, &str, Vec<Point>)| {
        let over =
            if has_workloads { format!(", {}", findings.task(workload)) } else { String::new() };
        let values: Vec<String> = points.iter().map(|&point| findings.place_alone(point)).collect();
        format!("{}{over} at {}", findings.title(subject), values.join(", "))
    };
    let about = match rows {
        _ if rows == measured && 1 < rows => format!("all {} rows", count(rows as u64)),
        _ => {
            let named: Vec<String> = cause.rows.iter().take(NAMED).map(named).collect();
            let more = match cause.rows.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!("; and {} more", count(more as u64)),
            };
            format!("{}{more}", named.join("; "))
        }
    };
    let some = match cause.rounds < cause.of {
        true => {
            format!(" ({} of {} rounds)", count(cause.rounds as u64), count(cause.of as u64))
        }
        false => String::new(),
    };
    let first = if 1 < rows { format!("{}: ", cause.first) } else { String::new() };
    let tone = if cause.gravity == Gravity::Invalid { Tone::Bad } else { Tone::Doubtful };
    Entry::new(tone, format!("{about}{some}: {}", cause.id.replace('_', " ")))
        .with(Tone::Plain, format!("{first}{}", cause.says))
        .with(Tone::Dim, format!("what to do: {}", cause.way_out))
}
