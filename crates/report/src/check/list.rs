//! The catalogue, for readers and programs.

use check::{Case, Protocol, Scheduling, Stamp, stamp};
use serde::Serialize;

use crate::document::{self, Block, Column, Depth, Section, Table};
use crate::grid::{Cell, lines};
use crate::json::{json_type, written};
use crate::paint::{Ink, Line, shown, wrapped};
use crate::render::{Screen, Shown};

/// A line for each case; with `is_verbose` also what the clause demands, what is sent, and what passes.
fn text(cases: &[&Case], is_verbose: bool, width: usize, is_coloured: bool) -> String {
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
        "catalogue {}; `dyno check --list --full` adds demands and bytes; docs/check.md says how they are judged",
        stamp()
    )));
    shown(&lines, is_coloured)
}

fn table(cases: &[&Case]) -> Vec<Line> {
    let head = |text: &&str| Cell::left(Ink::Dim, *text);
    let mut rows: Vec<Vec<Cell>> = vec![HEADS.iter().map(head).collect()];
    rows.extend(cases.iter().map(|case| {
        let [id, clause, level, weight, area, tags, title] = cells(case);
        let plain = |text| Cell::left(Ink::Plain, text);
        let tags = Cell::left(Ink::Doubtful, tags);
        let id = Cell::ink(Ink::Bold, id);
        vec![id, plain(clause), plain(level), plain(weight), plain(area), tags, plain(title)]
    }));
    lines(&rows, 0)
}

const HEADS: [&str; 7] = ["case", "clause", "level", "weight", "area", "tags", "title"];

fn cells(case: &Case) -> [String; 7] {
    [
        case.id.into(),
        case.clause.to_string(),
        case.level.name().into(),
        case.weight.to_string(),
        case.area.name().into(),
        tags(case),
        case.title.into(),
    ]
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
    let mut say = |word: &str, text: &str| lines.extend(labelled(word, text, width));
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

/// A text with a word before its first line.
fn labelled(word: &str, text: &str, width: usize) -> Vec<Line> {
    let words = [word].into_iter().chain(std::iter::repeat(""));
    let parts = wrapped(text, width.saturating_sub(12).max(40)).into_iter().zip(words);
    let line = |(part, word)| Line::ink(Ink::Dim, format!("  {word:<8}")).and(Ink::Plain, part);
    parts.map(line).collect()
}

#[derive(Serialize)]
struct CatalogueDocument {
    schema: &'static str,
    catalogue: Stamp,
    cases: Vec<CaseJson>,
}

json_type! {
    /// A case of the catalogue.
    struct CaseJson as "case" of case: Case {
        id: &'static str,
        title: &'static str,
        protocol: &'static str = case.protocol().title(),
        area: &'static str = case.area.name(),
        clause: String = case.clause.to_string(),
        level: &'static str = case.level.name(),
        weight: u8,
        tags: Vec<&'static str> = case.tags.iter().map(|tag| tag.name()).collect(),
        twin: Option<&'static str>,
        is_slow: bool = case.scheduling == Scheduling::Slow,
        demand: &'static str,
        script: Vec<String> = case.script(),
        passes: String = case.expected(),
        warns: String = case.tolerated(),
        doubt: &'static str,
    }
}

/// Cases of the catalogue as a result.
pub struct Catalogue<'a> {
    pub cases: &'a [&'a Case],
    pub is_verbose: bool,
}

impl Shown for Catalogue<'_> {
    fn document(&self) -> document::Document {
        let columns = HEADS.map(|head| Column::new(head, head, 0).left());
        let rows = self.cases.iter().map(|case| document::Row {
            cells: cells(case).into_iter().map(document::Cell::text).collect(),
            ..document::Row::default()
        });
        let table = Block::Table(Table::of("cases", columns.into(), rows));
        document::Document {
            label: "dyno check".into(),
            title: format!("Catalogue {}", stamp()),
            sections: vec![Section::new("cases", "", Depth::Brief).with([table])],
            ..document::Document::default()
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        json(self.cases)
    }

    /// What is no terminal gets the whole lines.
    fn text(&self, screen: Screen) -> String {
        let width = if screen.is_coloured { screen.width } else { usize::MAX };
        text(self.cases, self.is_verbose, width, screen.is_coloured)
    }
}

/// The catalogue for programs.
fn json(cases: &[&Case]) -> serde_json::Result<String> {
    written(&CatalogueDocument {
        schema: "dyno.check-list/1",
        catalogue: stamp(),
        cases: cases.iter().map(|case| (*case).into()).collect(),
    })
}
