//! What went wrong, with its evidence, and the doubts.

use analysis::{By, Gravity, JudgedTrial, NOT_MEASURED, Reason, Remark, Row, Table};
use lab::experiment::Point;
use lab::record::{Check, TrialRecord};
use units::count;

use super::findings::Findings;
use crate::document::{Block, Depth, Entry, Paragraph, Section, Tone};
use crate::evidence;
use crate::grouped::grouped;
use crate::remark;
use crate::verdict::ExplainedDoubt;

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

/// A section that lists what is wrong; empty where nothing is.
pub(super) fn section(id: &'static str, heading: &str, entries: Vec<Entry>) -> Section {
    Section::new(id, heading, Depth::Brief).with([Block::Entries(entries)])
}

/// Trials that are no measurement: how they ended, and what their subjects left behind. Those that ended alike are one
/// entry.
pub(crate) fn failures(findings: &Findings<'_>) -> Vec<Entry> {
    let failed = findings.weighed().filter(|(_, _, trial)| !trial.is_measured());
    let alike = failed
        .map(|(workload, row, trial)| ((workload, &row.subject, &trial.outcome), (row, trial)));
    let entries = grouped(alike).into_iter();
    entries.map(|((workload, ..), trials)| ended(findings, workload, &trials)).collect()
}

/// How trials of a row ended that are no measurement, by the first of them.
fn ended(findings: &Findings<'_>, workload: &str, trials: &[(&Row, &JudgedTrial)]) -> Entry {
    let (row, first) = trials[0];
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
        first.outcome.kind.meaning()
    );
    let mut entry = Entry::new(Tone::Bad, head).with(Tone::Plain, &first.outcome.says);
    if let Some(trial) = findings.trials.iter().find(|trial| trial.key.number == first.number) {
        left_behind(trial, &mut entry);
    }
    entry
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

/// Servers that have no rank, and why. A load that stands alone would have none.
pub(super) fn unranked(findings: &Findings<'_>) -> Vec<Entry> {
    if findings.only_load().is_some() {
        return Vec::new();
    }
    let of_rows = findings.rows().filter_map(|(task, row)| {
        Some((&row.subject, (row.unmet.as_ref()?, Some((task, row.point)))))
    });
    let all = &findings.board.conformities;
    let of_checks =
        all.iter().filter_map(|found| Some((&found.subject, (found.unmet.as_ref()?, None))));
    let entries = grouped(of_rows.chain(of_checks)).into_iter().map(|(subject, whys)| {
        let entry = Entry::new(Tone::Doubtful, findings.title(subject));
        unranked_because(findings, subject, whys)
            .into_iter()
            .fold(entry, |entry, says| entry.with(Tone::Plain, says))
    });
    entries.collect()
}

/// Why a server is not ranked, each reason once; with its places, where they are not all that the server has.
fn unranked_because(
    findings: &Findings<'_>,
    subject: &String,
    whys: Vec<(&String, Option<(&str, Point)>)>,
) -> Vec<String> {
    let all = findings.rows().filter(|(_, row)| row.subject == *subject).count();
    let mut says: Vec<String> = Vec::new();
    for (why, places) in grouped(whys) {
        let places: Vec<(&str, Point)> = places.into_iter().flatten().collect();
        match places.len() {
            // The reason why a row is unranked contains what its check says.
            0 if says.iter().any(|said| said.contains(why.as_str())) => {}
            some if some == 0 || some == all => says.push(why.clone()),
            _ => says.push(format!("{}: {why}", at(findings, places))),
        }
    }
    says
}

/// `hello at 8, 16; json at 8`; of one task without its name.
fn at(findings: &Findings<'_>, places: Vec<(&str, Point)>) -> String {
    let of_tasks = grouped(places).into_iter().map(|(task, points)| {
        let points = points.into_iter().map(|point| findings.place_alone(point));
        let points = points.collect::<Vec<_>>().join(", ");
        match 1 < findings.board.tables.len() {
            true => format!("{} at {points}", findings.task(task)),
            false => format!("at {points}"),
        }
    });
    of_tasks.collect::<Vec<_>>().join("; ")
}

/// Requests that failed in measured trials, by class, with the first of each. Those of a single load are in its books.
pub(super) fn under_load(findings: &Findings<'_>) -> Vec<Entry> {
    if findings.only_load().is_some() {
        return Vec::new();
    }
    let failed = findings.rows().filter(|(_, row)| !row.failures().is_empty());
    failed.map(|(workload, row)| failed_requests(findings, workload, row)).collect()
}

fn failed_requests(findings: &Findings<'_>, workload: &str, row: &Row) -> Entry {
    let classes: Vec<String> = row
        .failures()
        .iter()
        .map(|(failure, times)| format!("{} {failure} ({})", count(*times), failure.meaning()))
        .collect();
    let subject = findings.title(&row.subject);
    let place = findings.place(row.point);
    let task = findings.task(workload);
    let head = format!("{subject}, {task} at {place}: {}", classes.join("; "));
    let lines = evidence::first_of_each(&row.evidence)
        .flat_map(|kept| std::iter::once(evidence::title(kept)).chain(evidence::lines(kept)));
    let lines = lines.map(|text| Paragraph::new(Tone::Dim, text)).collect();
    Entry { lines, ..Entry::new(Tone::Plain, head) }
}

/// What is odd about the board as a whole.
pub(super) fn alarms(findings: &Findings<'_>) -> Vec<String> {
    let alarms = findings.board.alarms();
    alarms.iter().map(|alarm| remark::alarm(findings, alarm)).collect()
}

/// Remarks about a table as a whole. That servers answered differently is said where all differences are listed.
pub(super) fn remarks(findings: &Findings<'_>, table: &Table) -> Vec<Block> {
    let remarks = table.remarks.iter().filter(|remark| !matches!(remark, Remark::Apart(_)));
    let task = findings.task(&table.workload);
    let blocks = remarks.map(|remark| {
        let says = remark::says(remark, &|point| findings.shown(point));
        Block::paragraph(remark.gravity().into(), format!("{task}: {says}"))
    });
    blocks.collect()
}

/// Doubts of one cause.
struct Cause<'t> {
    /// The first one of them, in how many rounds of how many they all are.
    doubt: ExplainedDoubt,
    /// Where the first one was.
    first: String,
    /// Workload, subject, its load levels.
    rows: Vec<(&'t str, &'t str, Vec<Point>)>,
}

/// Why numbers may not be what they seem: an entry for each cause, the gravest first, with the affected rows and the
/// text of the first doubt.
pub(crate) fn doubts(findings: &Findings<'_>) -> Vec<Entry> {
    if let (Some(_), [load]) = (findings.only_load(), findings.ended) {
        return load.verdict.entries("").collect();
    }
    let mut causes: Vec<Cause<'_>> = Vec::new();
    let by = if findings.is_load() { By::Flags } else { By::Experiment };
    let measured = || findings.rows().filter(|(_, row)| 0 < row.measured());
    for (workload, row) in measured() {
        for Reason { doubt: found, rounds, of } in row.reasons() {
            // Notes are marked in the table, except those about TLS, HTTP/2 and agents, and trials that are no measurement are
            // listed with what went wrong. A load's report has its notes.
            let is_listed = found.is_about_its_ways() || findings.is_load();
            let is_marked = found.gravity() == Gravity::Note && !is_listed;
            if is_marked || found.is(&NOT_MEASURED) {
                continue;
            }
            let place = causes.iter().position(|cause| cause.doubt.id == found.id());
            let place = place.unwrap_or_else(|| {
                let (title, place) = (findings.title(&row.subject), findings.place(row.point));
                let doubt = ExplainedDoubt {
                    rounds: Some(0),
                    of: Some(0),
                    ..ExplainedDoubt::of(&found, by)
                };
                let first = format!("{title} at {place}");
                causes.push(Cause { doubt, first, rows: Vec::new() });
                causes.len() - 1
            });
            let Cause { doubt, rows, .. } = &mut causes[place];
            doubt.gravity = doubt.gravity.max(found.gravity());
            doubt.rounds = doubt.rounds.map(|all| all + rounds);
            doubt.of = doubt.of.map(|all| all + of);
            let mut its = rows.iter_mut();
            match its.find(|(task, subject, _)| (*task, *subject) == (workload, &row.subject)) {
                Some((_, _, points)) => points.push(row.point),
                None => rows.push((workload, &row.subject, vec![row.point])),
            }
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.doubt.gravity));
    let measured = measured().count();
    causes.into_iter().map(|cause| entry(findings, cause, measured)).collect()
}

fn entry(findings: &Findings<'_>, cause: Cause<'_>, measured: usize) -> Entry {
    let Cause { doubt, first, rows } = cause;
    let count_of_rows: usize = rows.iter().map(|(_, _, points)| points.len()).sum();
    let whose = match findings.only_load() {
        Some(_) => String::new(),
        None if count_of_rows == measured && 1 < measured => {
            format!("all {} rows: ", count(measured as u64))
        }
        None => {
            let named: Vec<String> =
                rows.iter().take(NAMED).map(|row| affected(findings, row)).collect();
            let more = match rows.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!("; and {} more", count(more as u64)),
            };
            format!("{}{more}: ", named.join("; "))
        }
    };
    let with_place = match count_of_rows {
        1 => doubt.says,
        _ => format!("{first}: {}", doubt.says),
    };
    ExplainedDoubt { says: with_place, ..doubt }.entry(&whose)
}

/// `A, hello at 8, 16`
fn affected(
    findings: &Findings<'_>,
    (workload, subject, points): &(&str, &str, Vec<Point>),
) -> String {
    let over = match 1 < findings.board.tables.len() {
        true => format!(", {}", findings.task(workload)),
        false => String::new(),
    };
    let places: Vec<String> = points.iter().map(|&point| findings.place_alone(point)).collect();
    format!("{}{over} at {}", findings.title(subject), places.join(", "))
}
