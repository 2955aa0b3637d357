//! What was asked, where, and who took part.

use analysis::{Observed, Verdict};
use lab::figure::Figure;
use lab::record::{Entry, RunRecord, TrialRecord};

use super::columns::{Column, fitted};
use super::{Told, words};
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::table::Cell;
use crate::report::time::utc;

/// The experiment, the machine, and what a reader must know before the first number.
pub(super) fn lines(told: &Told<'_>, width: usize) -> Vec<Line> {
    let run = told.run;
    let mut lines = vec![
        Line::ink(Ink::Bold, run.name.clone())
            .and(Ink::Dim, format!("  run {} · {}", told.id, utc(run.began_unix_ms))),
    ];
    let mut say = |ink: Ink, text: &str| {
        lines.extend(wrapped(text, width).into_iter().map(|line| Line::ink(ink, line)));
    };
    if let Some(experiment) = &told.experiment {
        say(Ink::Bold, &experiment.question);
        if let Some(article) = &experiment.article {
            say(Ink::Dim, &format!("after: {article}"));
        }
    }
    for warning in run_warnings(told) {
        say(Ink::Doubtful, &warning);
    }
    if let Some(experiment) = &told.experiment {
        say(Ink::Dim, &words::load(experiment));
    }
    say(Ink::Dim, &machine(run, told.trials));
    for says in told.damaged.iter().chain(&told.history_says) {
        say(Ink::Bad, says);
    }
    lines.extend(verdict(told, width));
    lines
}

/// What the run is worth, and how many of its rows; nothing before the first trial.
fn verdict(told: &Told<'_>, width: usize) -> Vec<Line> {
    let Some(verdict) = told.board.verdict() else { return Vec::new() };
    let ink = match verdict {
        Verdict::Valid => Ink::Good,
        Verdict::Suspect => Ink::Doubtful,
        Verdict::Invalid => Ink::Bad,
    };
    let text = format!("verdict: {}; rows: {}", verdict.name(), words::badges(told.board.worth()));
    wrapped(&text, width).into_iter().map(|line| Line::ink(ink, line)).collect()
}

/// What must be known before the first number.
pub(super) fn warnings(told: &Told<'_>) -> Vec<String> {
    let of_files = told.damaged.iter().chain(&told.history_says).cloned();
    run_warnings(told).into_iter().chain(of_files).collect()
}

/// The same about the run itself.
fn run_warnings(told: &Told<'_>) -> Vec<String> {
    let run = told.run;
    let mut warnings = Vec::new();
    if run.is_quick {
        warnings
            .push("quick: times and rounds were shrunk; good for a look, not to be quoted".into());
    }
    let planned = told.board.planned();
    if told.trials.len() < planned {
        let least = if told.is_bound() { " or more" } else { "" };
        warnings.push(format!(
            "{} of {planned}{least} trials: the run is not finished; `dyno run --resume {}` goes on",
            told.trials.len(),
            told.id
        ));
    }
    warnings
}

/// CPU, kernel, cores, who runs where, the limit of memory, the version of dyno.
pub(super) fn machine(run: &RunRecord, trials: &[TrialRecord]) -> String {
    let fact = |name: &str| {
        let fact = run.facts.iter().find(|fact| fact.name == name);
        fact.map(|fact| fact.value.clone())
    };
    let condition = |name: &str| {
        let mut all = trials.iter().flat_map(|trial| &trial.conditions);
        all.find(|fact| fact.name == name).map(|fact| fact.value.clone())
    };
    let parts = [
        fact("cpu.model"),
        fact("cpu.online").map(|cpus| format!("CPUs {cpus}")),
        fact("kernel"),
        condition("cpus.subject").map(|cpus| format!("subject on CPU {cpus}")),
        condition("cpus.load").map(|cpus| format!("load on CPU {cpus}")),
        condition("cpus.shared"),
        condition("memory").map(|memory| format!("memory: {memory}")),
        Some(format!("dyno {}", run.dyno)),
        Some(format!("seed {}", run.seed)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Who took part, as seen; and who did not, and why.
pub(super) fn entrants(told: &Told<'_>, width: usize) -> Vec<Line> {
    let entry = |name: &str| told.run.entries.iter().find(|entry| entry.name == name);
    let there: Vec<(&Observed, &Entry)> = told
        .fairness
        .observed
        .iter()
        .filter_map(|observed| Some((observed, entry(&observed.subject)?)))
        .collect();
    let column = |heading: &str, drop: u8, cell: &dyn Fn(&Observed, &Entry) -> Cell| {
        let cells = there.iter().map(|(observed, entry)| cell(observed, entry)).collect();
        Column { heading: Cell::ink(Ink::Dim, heading), drop, cells }
    };
    let text = |text: &str| Cell::left(Ink::Plain, short(text));
    let mut columns = vec![
        column("subject", 0, &|_, entry| Cell::ink(Ink::Bold, told.title(&entry.name))),
        column("version", 1, &|_, entry| text(&entry.version)),
        column("in", 6, &|_, entry| text(&entry.language)),
        column("processes", 3, &|observed, entry| {
            text(&format!("{}{}", entry.processes, seen(&observed.processes)))
        }),
        column("tier", 5, &|_, entry| text(&entry.tier)),
        column("start-up", 2, &|observed, _| {
            let start_up = observed.start_up.as_ref();
            Cell::plain(
                start_up
                    .map_or("–".into(), |start_up| words::estimate(Figure::StartUp, start_up)),
            )
        }),
        column("backlog", 2, &|observed, _| Cell::plain(numbers(&observed.backlogs))),
        column("answer", 4, &|observed, _| {
            let wire = observed.wires.first();
            Cell::plain(
                wire.map_or("–".into(), |wire| {
                    format!("{}+{}B", wire.head_bytes, wire.rest_bytes)
                }),
            )
        }),
    ];
    for (column, heading) in columns[1..5].iter_mut().zip(["version", "in", "processes", "tier"]) {
        column.heading = Cell::left(Ink::Dim, heading);
    }
    let mut lines = match there.is_empty() {
        true => vec![Line::ink(Ink::Bad, "nobody took part")],
        false => fitted(columns, width),
    };
    for entry in &told.run.entries {
        if let Some(why) = &entry.skipped {
            let text = wrapped(&format!("{} took no part: {why}", told.title(&entry.name)), width);
            lines.extend(text.into_iter().map(|line| Line::ink(Ink::Doubtful, line)));
        }
    }
    if !there.is_empty() {
        let legend = "processes: as declared (as seen) · start-up: mean over all trials · backlog: as the kernel says · answer: bytes of the head + the \
                      rest, as they came (first question)";
        lines.extend(wrapped(legend, width).into_iter().map(|line| Line::ink(Ink::Dim, line)));
    }
    lines
}

/// Versions can be long; a table's cells not.
fn short(text: &str) -> String {
    const LONGEST: usize = 28;
    let line = text.lines().next().unwrap_or_default();
    match line.chars().count() <= LONGEST {
        true => line.into(),
        false => line.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

/// ` (4)` where the count says more than the word.
fn seen(processes: &std::collections::BTreeSet<u32>) -> String {
    match processes.iter().collect::<Vec<_>>().as_slice() {
        [] | [1] => String::new(),
        _ => format!(" ({})", numbers(processes)),
    }
}

fn numbers(numbers: &std::collections::BTreeSet<u32>) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    if texts.is_empty() { "–".into() } else { texts.join("/") }
}
