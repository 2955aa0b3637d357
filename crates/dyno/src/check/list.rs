//! The catalogue, for readers and programs.

use check::{Case, Protocol, Scheduling, stamp};
use serde::Serialize;

use report::grid::{Cell, lines};
use report::paint::{Ink, Line, wrapped};

/// A line for each case; with `is_verbose` also what the clause demands, what is sent, and what passes.
pub(crate) fn text(cases: &[&Case], is_verbose: bool, width: usize, is_coloured: bool) -> String {
    let mut lines: Vec<Line> = Vec::new();
    for protocol in Protocol::ALL {
        let own: Vec<&Case> =
            cases.iter().copied().filter(|case| case.protocol() == protocol).collect();
        if own.is_empty() {
            continue;
        }
        let cases = if own.len() == 1 { "case" } else { "cases" };
        lines.push(Line::ink(Ink::Bold, format!("{}: {} {cases}", protocol.title(), own.len())));
        match is_verbose {
            true => own.iter().for_each(|case| whole(case, width, &mut lines)),
            false => lines.extend(table(&own).into_iter().map(|line| line.cut(width))),
        }
        lines.push(Line::default());
    }
    lines.push(Line::plain(format!(
        "catalogue {}; `dyno check --list --verbose` adds demands and bytes; docs/check.md says how they are judged",
        stamp()
    )));
    lines.iter().map(|line| line.shown(is_coloured).trim_end().to_string() + "\n").collect()
}

fn table(cases: &[&Case]) -> Vec<Line> {
    let heads = ["case", "clause", "level", "weight", "area", "tags", "title"];
    let head = |text: &&str| Cell::left(Ink::Dim, *text);
    let mut rows: Vec<Vec<Cell>> = vec![heads.iter().map(head).collect()];
    rows.extend(cases.iter().map(|case| {
        vec![
            Cell::ink(Ink::Bold, case.id),
            Cell::left(Ink::Plain, case.clause.to_string()),
            Cell::left(Ink::Plain, case.level.name()),
            Cell::left(Ink::Plain, case.weight.to_string()),
            Cell::left(Ink::Plain, case.area.name()),
            Cell::left(Ink::Doubtful, tags(case)),
            Cell::left(Ink::Plain, case.title),
        ]
    }));
    lines(&rows, 0)
}

fn tags(case: &Case) -> String {
    let mut tags: Vec<&str> = case.tags.iter().map(|tag| tag.name()).collect();
    if case.scheduling == Scheduling::Slow {
        tags.push("(--slow)");
    }
    tags.join(" ")
}

fn whole(case: &Case, width: usize, lines: &mut Vec<Line>) {
    let tags = match tags(case) {
        tags if tags.is_empty() => tags,
        tags => format!(" · {tags}"),
    };
    lines.push(Line::ink(Ink::Bold, case.id).and(Ink::Plain, format!("  {}", case.title)).and(
        Ink::Dim,
        format!(
            "  {} · {} · weight {} · {}{tags}",
            case.clause,
            case.level.name(),
            case.weight,
            case.area.name()
        ),
    ));
    let mut say = |word: &str, text: &str| {
        for (number, part) in wrapped(text, width.saturating_sub(12).max(40)).iter().enumerate() {
            let word = if number == 0 { word } else { "" };
            lines.push(Line::ink(Ink::Dim, format!("  {word:<8}")).and(Ink::Plain, part.clone()));
        }
    };
    say("demand", case.demand);
    case.script().iter().enumerate().for_each(|(number, step)| {
        say(if number == 0 { "does" } else { "" }, step);
    });
    say("passes", &case.expected());
    if !case.warn.is_empty() {
        say("warns", &format!("{}: {}", case.tolerated(), case.doubt));
    }
    if let Some(twin) = case.twin {
        say("twin", twin);
    }
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    catalogue: CatalogueJson,
    cases: Vec<CaseJson>,
}

#[derive(Serialize)]
struct CatalogueJson {
    version: String,
    hash: String,
}

#[derive(Serialize)]
struct CaseJson {
    id: &'static str,
    title: &'static str,
    protocol: &'static str,
    area: &'static str,
    clause: String,
    level: &'static str,
    weight: u8,
    tags: Vec<&'static str>,
    twin: Option<&'static str>,
    is_slow: bool,
    demand: &'static str,
    script: Vec<String>,
    passes: String,
    warns: String,
    doubt: &'static str,
}

/// The same, for programs.
pub(crate) fn json(cases: &[&Case]) -> serde_json::Result<String> {
    let stamp = stamp();
    let document = Document {
        schema: "dyno.check-list/1",
        catalogue: CatalogueJson { version: stamp.version, hash: stamp.hash },
        cases: cases.iter().map(|case| of(case)).collect(),
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n")
}

fn of(case: &Case) -> CaseJson {
    CaseJson {
        id: case.id,
        title: case.title,
        protocol: case.protocol().title(),
        area: case.area.name(),
        clause: case.clause.to_string(),
        level: case.level.name(),
        weight: case.weight,
        tags: case.tags.iter().map(|tag| tag.name()).collect(),
        twin: case.twin,
        is_slow: case.scheduling == Scheduling::Slow,
        demand: case.demand,
        script: case.script(),
        passes: case.expected(),
        warns: case.tolerated(),
        doubt: case.doubt,
    }
}
