//! The catalogue, for readers and programs.

use check::{Case, Protocol, Scheduling, Stamp, stamp};
use serde::Serialize;
use units::counted;

use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Paragraph, Row, Section, Table, Tone,
};
use crate::json::{json_type, written};
use crate::render::{self, Screen, Shown};

const HEADS: [&str; 7] = ["case", "clause", "level", "weight", "area", "tags", "title"];

fn row(case: &Case) -> Row {
    let cells = [
        case.id.into(),
        case.clause.to_string(),
        case.level.name().into(),
        case.weight.to_string(),
        case.area.name().into(),
        tags(case),
        case.title.into(),
    ];
    Row { cells: cells.map(Cell::text).into(), ..Row::default() }
}

fn tags(case: &Case) -> String {
    let mut tags: Vec<&str> = case.tags.iter().map(|tag| tag.name()).collect();
    if case.scheduling == Scheduling::Slow {
        tags.push("(--slow)");
    }
    tags.join(" ")
}

/// A case with what the clause demands, what is sent, and what passes.
fn whole(case: &Case) -> Entry {
    let [clause, area, level] = [&case.clause.to_string(), case.area.name(), case.level.name()];
    let tags = Some(tags(case)).filter(|tags| !tags.is_empty());
    let tags = tags.map_or(String::new(), |tags| format!(" · {tags}"));
    let head = format!("{}  {}", case.id, case.title);
    let about = format!("{clause} · {level} · weight {} · {area}{tags}", case.weight);
    let entry = Entry::new(Tone::Strong, head)
        .with(Tone::Dim, about)
        .with(Tone::Plain, format!("demand  {}", case.demand));
    let steps = case.script().into_iter().map(|step| format!("does    {step}"));
    let warns =
        (!case.warn.is_empty()).then(|| format!("warns   {}: {}", case.tolerated(), case.doubt));
    let twin = case.twin.map(|twin| format!("twin    {twin}"));
    let passes = [format!("passes  {}", case.expected())];
    let rest = steps.chain(passes).chain(warns).chain(twin);
    rest.fold(entry, |entry, line| entry.with(Tone::Plain, line))
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
        protocol: &'static str = case.protocol().name(),
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

impl Catalogue<'_> {
    /// The cases of a protocol; none if it has none.
    fn section(&self, protocol: Protocol) -> Option<Section> {
        let own = self.cases.iter().copied().filter(|case| case.protocol() == protocol);
        let own: Vec<&Case> = own.collect();
        let cases = counted(own.len() as u64, "case", "cases");
        let heading = format!("{}: {cases}", protocol.name());
        let columns = HEADS.map(|head| Column::new(head, head, 0).left());
        let block = match self.is_verbose {
            true => Block::Entries(own.iter().map(|case| whole(case)).collect()),
            false => {
                Block::Table(Table::of("cases", columns.into(), own.iter().map(|case| row(case))))
            }
        };
        (!own.is_empty()).then(|| Section::new("cases", heading, Depth::Brief).with([block]))
    }
}

impl Shown for Catalogue<'_> {
    /// A table for each protocol; or, with `is_verbose`, all that is known of each case.
    fn document(&self) -> Document {
        let says = "`dyno check --list --full` adds demands and bytes; docs/check.md says how they are judged";
        Document {
            label: "dyno check".into(),
            title: format!("Catalogue {}", stamp()),
            sections: Protocol::ALL.into_iter().filter_map(|it| self.section(it)).collect(),
            ending: vec![Paragraph::new(Tone::Dim, says)],
            ..Document::default()
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&CatalogueDocument {
            schema: "dyno.check-list/1",
            catalogue: stamp(),
            cases: self.cases.iter().map(|case| (*case).into()).collect(),
        })
    }

    /// What is no terminal gets the whole lines.
    fn text(&self, screen: Screen) -> String {
        let width = if screen.is_coloured { screen.width } else { usize::MAX };
        render::text(&self.document(), Screen { width, ..screen })
    }
}
