//! Where the CPU time of an answer goes, and what makes one server dearer than another: a table, a sentence, graphs.

use analysis::why::{CostedStack, Explained, Explanation, LineCost, LineGap, Micros, ServerCosts};
use profile::{Line, Side, Target};
use units::{count, counted, digits};

use super::Findings;
use crate::document::{Block, Cell, Column, Depth, Row, Section, Table, Tone};
use crate::flame::{self, FlameGraph};
use crate::number_format::Written;
use crate::sentence::list;

/// Lines that are less than this share of the dearest server's time, and not shown to differ, are left out of a text.
const LEAST: f64 = 0.005;
/// So many functions are named.
const FUNCTIONS: usize = 12;
/// So many system calls are named.
const CALLS: usize = 6;

/// Empty where nothing was sampled.
pub(crate) fn section(findings: &Findings<'_>) -> Section {
    let all = findings.explained();
    let blocks = all.iter().enumerate().flat_map(|(n, explained)| {
        let heading = 1 < all.len();
        let heading = heading.then(|| Block::Heading(place(findings, explained)));
        heading.into_iter().chain(of_load(findings, explained, n))
    });
    Section::new("why", "Where the CPU time of an answer goes", Depth::Brief)
        .noting("shares of sampled trials, of the CPU time that the rounds measured")
        .with(blocks.collect::<Vec<_>>())
}

/// A sentence for each load with two servers, or with one.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    findings.explained().iter().filter_map(|explained| sentence(findings, explained)).collect()
}

fn place(findings: &Findings<'_>, explained: &Explained) -> String {
    format!("{} at {}", findings.task(&explained.task), findings.place(explained.point))
}

fn of_load(findings: &Findings<'_>, explained: &Explained, n: usize) -> Vec<Block> {
    let Explained { explanation, unsampled, .. } = explained;
    let mut blocks = Vec::new();
    if !explanation.servers.is_empty() {
        blocks.push(Block::Table(lines(findings, explanation, n)));
        blocks.extend(functions(explanation, n).map(Block::Table));
        blocks.extend(details(findings, explanation));
        blocks.push(Block::picture(graphs(findings, explained)));
    }
    let mut said: Vec<&str> = Vec::new();
    for (server, says) in unsampled {
        if !said.contains(&says.as_str()) {
            said.push(says);
            let text = format!("{}: not sampled: {says}", findings.title(server));
            blocks.push(Block::paragraph(Tone::Doubtful, text));
        }
    }
    blocks
}

fn lines(findings: &Findings<'_>, explanation: &Explanation, n: usize) -> Table {
    let servers = &explanation.servers;
    let mut columns = vec![Column::new("line", "", 0).left()];
    columns.extend(servers.iter().map(|server| {
        Column::new(server.server.clone(), format!("{}, µs", findings.title(&server.server)), 0)
    }));
    let gaps = explanation.difference.as_ref();
    columns.extend(gaps.map(|_| Column::new("difference", "difference, µs", 0)));
    let mut rows = vec![whole(
        "an answer",
        servers.iter().map(|server| server.cpu),
        gaps.map(|gaps| gaps.cpu),
    )];
    for (side, name) in [
        (Side::Program, "the program"),
        (Side::Kernel, "the kernel"),
        (Side::NotNamed, "not named"),
    ] {
        let sum_of = |sides: &analysis::why::Sides| match side {
            Side::Program => sides.program,
            Side::Kernel => sides.kernel,
            Side::NotNamed => sides.not_named,
        };
        let each = servers.iter().map(|server| sum_of(&server.sides));
        rows.push(whole(name, each, gaps.map(|gaps| sum_of(&gaps.sides))));
        // Of what has no name there is one line.
        let lines = if side == Side::NotNamed { Vec::new() } else { shown(explanation, side) };
        rows.extend(lines.into_iter().map(|line| line_row(explanation, &line)));
    }
    rows.extend(calls(servers));
    let note = match servers.iter().any(|server| server.cpu.low_us.is_some()) {
        true => {
            "intervals of 95 %, those of differences wider, so that all lines are right together; a difference in grey \
             is not shown"
        }
        false => "without intervals, because a single round was measured",
    };
    let note = format!("{note}. Lines below 0.5 % of the time are left out");
    Table::of(format!("why{n}"), columns, rows).noting(vec![note])
}

/// The lines of a side that are worth a row, the largest difference first, or the dearest.
fn shown(explanation: &Explanation, side: Side) -> Vec<Line> {
    let dearest = explanation.servers.iter().map(|server| server.cpu.us).fold(0.0, f64::max);
    let is_large = |line: &Line| {
        explanation.servers.iter().any(|server| LEAST * dearest <= cost(server, line).us)
    };
    match &explanation.difference {
        Some(gaps) => gaps
            .lines
            .iter()
            .filter(|gap| gap.line.side == side && (gap.is_shown || is_large(&gap.line)))
            .map(|gap| gap.line.clone())
            .collect(),
        None => {
            let mut all: Vec<Line> = Vec::new();
            for LineCost { line, .. } in explanation.servers.iter().flat_map(|it| &it.lines) {
                if line.side == side && is_large(line) && !all.contains(line) {
                    all.push(line.clone());
                }
            }
            all
        }
    }
}

/// What a line costs a server; nothing if it has none of it.
fn cost(server: &ServerCosts, line: &Line) -> Micros {
    let found = server.lines.iter().find(|cost| cost.line == *line);
    let none = Micros { us: 0.0, low_us: None, high_us: None, outside: 0.05 };
    found.map_or(none, |cost| cost.cpu)
}

fn whole(name: &str, each: impl Iterator<Item = Micros>, gap: Option<Micros>) -> Row {
    let mut cells = vec![Cell::text(name).toned(Tone::Strong)];
    cells.extend(each.map(|micros| cell(micros).toned(Tone::Strong)));
    cells.extend(gap.map(|gap| gap_cell(gap, !holds_nought(gap)).toned(Tone::Strong)));
    Row { cells, ..Row::default() }
}

fn line_row(explanation: &Explanation, line: &Line) -> Row {
    let mut cells = vec![Cell::text(format!("  {}", line.name))];
    cells.extend(explanation.servers.iter().map(|server| match cost(server, line) {
        Micros { us: 0.0, .. } => Cell::none(),
        micros => cell(micros),
    }));
    cells.extend(explanation.difference.iter().map(|gaps| {
        let found = gaps.lines.iter().find(|gap| gap.line == *line);
        found.map_or_else(Cell::none, |gap| gap_cell(gap.gap, gap.is_shown))
    }));
    Row { cells, ..Row::default() }
}

fn cell(micros: Micros) -> Cell {
    let Micros { us, low_us, high_us, .. } = micros;
    let written = Written::bare(us, low_us.zip(high_us));
    Cell { interval: written.interval, value: Some(us), ..Cell::text(written.value) }
}

/// A difference with its sign; in grey if it is not shown.
fn gap_cell(micros: Micros, is_shown: bool) -> Cell {
    let cell = cell(micros);
    let sign = if 0.0 < micros.us { "+" } else { "" };
    let tone = if is_shown { Tone::Plain } else { Tone::Dim };
    Cell { text: format!("{sign}{}", cell.text), ..cell }.toned(tone)
}

fn holds_nought(micros: Micros) -> bool {
    micros.low_us.is_none_or(|low| low <= 0.0) && micros.high_us.is_none_or(|high| 0.0 <= high)
}

/// The system calls of an answer, as a row of their own.
fn calls(servers: &[ServerCosts]) -> Option<Row> {
    servers.iter().any(|server| server.calls.is_some()).then(|| {
        let mut cells = vec![Cell::text("system calls an answer")];
        cells.extend(servers.iter().map(|server| {
            server.calls.as_ref().map_or_else(Cell::none, |calls| Cell {
                value: Some(calls.total),
                ..Cell::text(digits(calls.total))
            })
        }));
        if servers.len() == 2 {
            cells.push(Cell::none());
        }
        Row { cells, ..Row::default() }
    })
}

/// Functions that are shown to differ; none where there are not two servers.
fn functions(explanation: &Explanation, n: usize) -> Option<Table> {
    let gaps = explanation.difference.as_ref().filter(|gaps| !gaps.functions.is_empty())?;
    let columns = vec![
        Column::new("function", "with all they call", 0).left(),
        Column::new("difference", "difference, µs", 0),
    ];
    let leading = gaps.functions.iter().filter(|gap| gap.is_leading).take(FUNCTIONS);
    let mut rows: Vec<Row> = leading.map(|gap| gap_row(&gap.name, gap.gap)).collect();
    rows.push(gap_row("what no function explains", gaps.rest));
    let note =
        "compilers move small functions into their callers, which then have their time".into();
    Some(Table::of(format!("why-functions{n}"), columns, rows).noting(vec![note]))
}

fn gap_row(name: &str, gap: Micros) -> Row {
    Row { cells: vec![Cell::text(name), gap_cell(gap, true)], ..Row::default() }
}

/// How it was sampled, and what is doubtful.
fn details(findings: &Findings<'_>, explanation: &Explanation) -> Vec<Block> {
    let mut blocks = Vec::new();
    for server in &explanation.servers {
        let title = findings.title(&server.server);
        blocks.push(Block::paragraph(Tone::Dim, format!("{title}: {}", sampled(server))));
        for doubt in &server.doubts {
            let tone = if doubt.gravity == "note" { Tone::Dim } else { Tone::Doubtful };
            blocks.push(Block::paragraph(tone, format!("{title}: {}", doubt.says)));
        }
    }
    blocks
}

fn sampled(server: &ServerCosts) -> String {
    let mut parts = vec![format!(
        "{} in {}",
        counted(server.samples, "sample", "samples"),
        counted(server.trials as u64, "trial", "trials")
    )];
    if let Some(method) = server.method {
        let of = match method.target {
            Target::Cpus => "of its CPUs",
            Target::Threads => "of its threads",
        };
        parts.push(format!("{}/s {of}", count(method.hz.into())));
        parts.extend(method.user_only.then(|| "without the kernel's, which need root".to_string()));
    }
    parts.extend(
        server.sampled_cpu_us.map(|us| format!("{} µs an answer while it was sampled", digits(us))),
    );
    parts.extend(
        server.waited_for_cpu_us.map(|us| format!("{} µs of waiting for a CPU", digits(us))),
    );
    parts.push(match (&server.calls, &server.calls_unknown) {
        (Some(calls), _) => {
            let named = calls.by_name.iter().take(CALLS);
            let named = named.map(|call| format!("{} {}", call.name, digits(call.per_answer)));
            format!("system calls an answer: {}", named.collect::<Vec<_>>().join(", "))
        }
        (None, Some(why)) => format!("system calls were not counted: {why}"),
        (None, None) => "system calls were not counted".into(),
    });
    parts.join(" · ")
}

fn sentence(findings: &Findings<'_>, explained: &Explained) -> Option<String> {
    let explanation = &explained.explanation;
    let title = |server: &ServerCosts| findings.title(&server.server).to_string();
    match (&explanation.difference, explanation.servers.as_slice()) {
        (Some(gaps), [a, b]) => {
            let (a, b) = (title(a), title(b));
            if gaps.cpu.low_us.is_none() {
                return Some(format!(
                    "A single round does not show whether the CPU time of an answer differs between {a} and {b}."
                ));
            }
            if holds_nought(gaps.cpu) {
                return Some(format!(
                    "The CPU time of an answer is not shown to differ between {a} and {b}."
                ));
            }
            let (dearer, other, is_more) =
                if 0.0 < gaps.cpu.us { (&b, &a, true) } else { (&a, &b, false) };
            let by = difference(gaps.cpu, is_more);
            let leading = gaps.leading_lines();
            let parts: Vec<String> = leading.iter().map(|gap| part(gap, is_more)).collect();
            let of = match parts.is_empty() {
                true => "no line is shown to differ".to_string(),
                false => all_of(&parts),
            };
            Some(format!(
                "An answer of {dearer} costs {by} more CPU time than one of {other}: {of}."
            ))
        }
        (None, [server]) => {
            let leading = server.leading_lines().into_iter().enumerate();
            let parts: Vec<String> = leading
                .map(|(place, cost)| {
                    let are = if place == 0 { " are" } else { "" };
                    format!("{} µs{are} in {}", digits(cost.cpu.us), named(&cost.line))
                })
                .collect();
            let all = digits(server.cpu.us);
            Some(format!(
                "Of the {all} µs of CPU time of an answer of {}, {}.",
                title(server),
                all_of(&parts)
            ))
        }
        _ => None,
    }
}

/// `65 µs [44–85]`.
fn difference(gap: Micros, is_more: bool) -> String {
    let sign = if is_more { 1.0 } else { -1.0 };
    let ends = gap.low_us.zip(gap.high_us);
    let ends = ends.map(|(low, high)| if is_more { (low, high) } else { (-high, -low) });
    let written = Written::bare(sign * gap.us, ends);
    let interval = written.interval.map_or(String::new(), |interval| format!(" {interval}"));
    format!("{} µs{interval}", written.value)
}

/// `30 µs in garbage collection`; what is less than the other's is said to be.
fn part(gap: &LineGap, is_more: bool) -> String {
    let us = if is_more { gap.gap.us } else { -gap.gap.us };
    let less = if us < 0.0 { " less" } else { "" };
    format!("{} µs{less} in {}", digits(us.abs()), named(&gap.line))
}

/// A line as the object of a sentence.
fn named(line: &Line) -> String {
    match (line.side, line.name.as_str()) {
        (Side::Program, name) => name.into(),
        (Side::Kernel, name) => format!("the kernel ({name})"),
        (Side::NotNamed, _) => "code without a name".into(),
    }
}

fn all_of(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if 3 < parts.len() => format!("{} and {last}", first.join(", ")),
        _ => list(parts),
    }
}

/// A graph for each server, and of two servers their difference.
fn graphs(findings: &Findings<'_>, explained: &Explained) -> crate::markup::Markup {
    let servers = &explained.explanation.servers;
    let mut drawn = crate::markup::Markup::default();
    let stacks: Vec<Vec<flame::CostedStack>> =
        explained.stacks.iter().map(|stacks| stacks.iter().map(flame_stack).collect()).collect();
    for (server, stacks) in servers.iter().zip(&stacks) {
        drawn.push(&FlameGraph::of(findings.title(&server.server), stacks).figure());
    }
    if let ([a, b], [of_a, of_b]) = (servers.as_slice(), stacks.as_slice()) {
        let names = [findings.title(&a.server), findings.title(&b.server)];
        drawn.push(&FlameGraph::difference(names, [of_a, of_b]).figure());
    }
    drawn
}

fn flame_stack(stack: &CostedStack) -> flame::CostedStack {
    let CostedStack { functions, line, us } = stack;
    flame::CostedStack {
        functions: functions.clone(),
        line: line.name.clone(),
        side: line.side,
        us: *us,
    }
}
