//! Everything of one server: its versions over time, how it conforms, how it was started.

use std::collections::{BTreeMap, BTreeSet};

use report::document::{
    Block, Cell, Column, Depth, Document, Fact, Row, Section, Sign, Table, Tone,
};
use report::versions::{VersionSpot, versions};

use super::{File, command, links, page, root, runs, workloads, written_links};
use crate::folder::Known;
use crate::ranking::{Shown, Terms};
use crate::rows_table::{With, table, unnumbered};
use crate::slug::slug;
use crate::summary::{RunSummary, ServerSummary};

/// So many runs are in a chart, the newest ones.
const DRAWN: usize = 30;
/// So many rows are in a table, the newest ones.
const ROWS: usize = 20;
/// A server's page has no more charts and tables: other loads are links.
const LOADS_MOST: usize = 12;

pub(crate) fn address(server: &str) -> String {
    format!("s/{}/index.html", slug(server))
}

/// The names of all servers.
pub(crate) fn names(known: &Known) -> BTreeSet<&str> {
    known
        .runs
        .iter()
        .flat_map(|run| &run.servers)
        .map(|server| server.entry.name.as_str())
        .collect()
}

pub(crate) fn of_server(known: &Known, name: &str, rows: &[Shown<'_>]) -> File {
    let path = address(name);
    let newest = newest(known, name);
    let title = newest.map_or(name, |(_, server)| server.entry.title.as_str());
    let mut sections = of_loads(known, &root(&path), rows);
    sections.extend(newest.map(|(run, server)| started(&root(&path), run, server)));
    sections.push(about(known, name));
    let document = Document {
        label: format!("server {name}"),
        title: title.into(),
        answer: newest.map(|(run, server)| in_short(run, server)).into_iter().collect(),
        conditions: Vec::from_iter((1 < rows.len()).then(|| format!(
            "{} rows, oldest first. A line ends where the machine or dyno's version changed, and at a quick run: figures before it and behind it \
             are not alike.",
            rows.len()
        ))),
        sections,
        ..Document::default()
    };
    page(known, &path, &document)
}

/// The newest run that it took part in, and how.
fn newest<'k>(known: &'k Known, name: &str) -> Option<(&'k RunSummary, &'k ServerSummary)> {
    let of_run = |run: &'k RunSummary| {
        Some((run, run.servers.iter().find(|server| server.entry.name == name)?))
    };
    let standing = known.runs.iter().rev().filter(|run| known.superseded(run).is_none());
    standing.chain(known.runs.iter().rev()).find_map(of_run)
}

fn in_short(run: &RunSummary, server: &ServerSummary) -> String {
    let version = match server.entry.version.is_empty() {
        true => "its version is not stated".into(),
        false => format!("version {}", server.entry.version),
    };
    let conformance = match &server.conformance {
        Ok(score) => format!("conformance {score}"),
        Err(why) => format!("conformance: {why}"),
    };
    let as_of = format!("as of {}", run.date());
    let parts = [version, server.entry.language.clone(), conformance, as_of];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// A chart and a table for each load: first on the board's own machines, then on others.
fn of_loads(known: &Known, root: &str, rows: &[Shown<'_>]) -> Vec<Section> {
    let mut loads: BTreeMap<(bool, Terms), Vec<Shown<'_>>> = BTreeMap::new();
    for shown in rows {
        let is_other = !known.written.is_own(shown.class());
        loads.entry((is_other, shown.terms())).or_default().push(*shown);
    }
    let mut rest = BTreeSet::new();
    for rows in loads.values().skip(LOADS_MOST) {
        rest.insert((rows[0].row.workload.as_str(), rows[0].class()));
    }
    let links = links(rest.into_iter().take(200).map(|(workload, class)| {
        let address = format!("{root}{}", workloads::address(workload, class));
        (address, workload.to_string(), class.to_string())
    }));
    let rest = (LOADS_MOST < loads.len())
        .then(|| Section::new("rest", "Under other loads", Depth::Brief).with([links]));
    let all = loads.into_iter().take(LOADS_MOST).enumerate();
    let sections = all.map(|(n, ((is_other, terms), rows))| {
        let place = &rows[0].row.place;
        let whose = if is_other { ", on other machines" } else { "" };
        let newest = &rows[rows.len().saturating_sub(ROWS)..];
        let with = With { pale_before: known.pale_before(), ..With::default() };
        let table = table(&n.to_string(), root, &unnumbered(newest.iter().copied()), with);
        Section::new(format!("load-{n}"), format!("{} at {place}{whose}", terms.task), Depth::Brief)
            .with(chart(&terms, &rows))
            .with([Block::Table(table)])
    });
    sections.chain(rest).collect()
}

fn chart(terms: &Terms, rows: &[Shown<'_>]) -> Option<Block> {
    let figure = rows.first()?.row.leading;
    let rows = &rows[rows.len().saturating_sub(DRAWN)..];
    let mut before: Option<&RunSummary> = None;
    let mut spots = Vec::new();
    for shown in rows {
        let Some(estimate) = shown.row.estimate(figure) else { continue };
        spots.push(VersionSpot {
            label: shown.row.version.clone(),
            says: format!("{}, {}, {}", shown.row.version, shown.run.date(), shown.class()),
            estimate: *estimate,
            verdict: Some(shown.row.verdict),
            broken_by: before.map(|before| differs(before, shown.run)).unwrap_or_default(),
        });
        before = Some(shown.run);
    }
    let title = format!("{} at {}", terms.task, rows.first()?.row.place);
    (1 < spots.len()).then(|| Block::picture(versions(&title, figure, &spots)))
}

fn differs(before: &RunSummary, run: &RunSummary) -> String {
    let differing = [
        (before.class.label != run.class.label, "machine"),
        (before.dyno != run.dyno, "dyno"),
        (before.is_quick != run.is_quick, "--quick"),
    ];
    let names = differing.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name);
    names.collect::<Vec<_>>().join(", ")
}

/// How it was started in the newest run.
fn started(root: &str, run: &RunSummary, server: &ServerSummary) -> Section {
    let section = Section::new("started", "How it was started", Depth::Brief);
    let run_page = format!("{root}{}", runs::address(run));
    let mut blocks =
        vec![links([(run_page, format!("the run of {}", run.date()), run.experiment.clone())])];
    if !server.command.is_empty() {
        blocks.push(command(&server.command));
    }
    let conformance = server.conformance.clone().unwrap_or_else(|why| why);
    let facts = [
        ("kind", &server.entry.tier),
        ("notes", &server.entry.notes),
        ("conformance", &conformance),
    ];
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    blocks.push(Block::Facts(facts.map(|(name, text)| Fact::new(name, text)).collect()));
    let cell = |text: Option<&str>| text.map_or_else(Cell::none, Cell::text);
    let settings = server.entry.settings.iter().map(|setting| Row {
        cells: vec![
            Cell { sign: Sign::Slot, ..Cell::text(&setting.name) },
            cell(setting.default.as_deref()),
            cell(setting.change.as_deref()),
        ],
        ..Row::default()
    });
    let columns = vec![
        Column::new("subject", "setting", 0).left(),
        Column::new("default", "by itself", 0).left(),
        Column::new("change", "what this entry says instead", 0).left(),
    ];
    if !server.entry.settings.is_empty() {
        blocks.push(Block::Table(Table::of("settings", columns, settings)));
    }
    section.with(blocks)
}

/// What people wrote of it.
fn about(known: &Known, name: &str) -> Section {
    let section = Section::new("about", "Who maintains it", Depth::Brief);
    let Some(about) = known.written.servers.get(name) else { return section };
    let mut blocks = Vec::new();
    if !about.notes.is_empty() {
        blocks.push(Block::paragraph(Tone::Plain, &about.notes));
    }
    if !about.maintainers.is_empty() {
        blocks.push(Block::paragraph(Tone::Plain, about.maintainers.join(", ")));
    }
    if !about.links.is_empty() {
        blocks.push(written_links(&about.links));
    }
    section.with(blocks)
}

/// The list of all servers.
pub(crate) fn list(known: &Known) -> File {
    let path = "s/index.html";
    let root = root(path);
    let rows = names(known).into_iter().filter_map(|name| {
        let (run, server) = newest(known, name)?;
        let cells = vec![
            Cell { sign: Sign::Slot, ..Cell::text(&server.entry.title) }
                .linked(format!("{root}{}", address(name))),
            Cell::text(name),
            Cell::text(&server.entry.language),
            Cell::text(&server.entry.version),
            Cell::text(server.conformance.clone().unwrap_or_else(|why| why)),
            Cell::text(run.date()),
        ];
        Some(Row { cells, ..Row::default() })
    });
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("name", "name", 2).left(),
        Column::new("language", "language", 1).left(),
        Column::new("version", "newest version", 1).left(),
        Column::new("conformance", "conformance", 1).left(),
        Column::new("date", "newest run", 1).left(),
    ];
    let table = Table::of("0", columns, rows.take(1_000));
    let document = Document {
        label: "every server that took part".into(),
        title: "Servers".into(),
        sections: vec![Section::new("servers", "", Depth::Brief).with([Block::Table(table)])],
        ..Document::default()
    };
    page(known, path, &document)
}
