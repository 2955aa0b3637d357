//! Everything of one server: its versions over time, how it conforms, how it was started.

use std::collections::{BTreeMap, BTreeSet};

use report::document::{Block, Cell, Depth, Document, Fact, Section, Sign, Tone};
use report::versions::{VersionSpot, versions};

use super::{File, command, links, page, root, runs, written_links};
use crate::folder::Known;
use crate::ranking::{Shown, Terms};
use crate::rows_table::{With, left, table, table_of, unnumbered};
use crate::slug::slug;
use crate::summary::{RunSummary, ServerSummary};

/// So many runs are in a chart, the newest ones.
const DRAWN: usize = 30;
/// So many rows are in a table, the newest ones.
const ROWS: usize = 20;
/// A server's page has no more charts and tables.
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
    let newest = newest(known, name, |_| true);
    let title = newest.map_or(name, |(_, server)| server.entry.title.as_str());
    let conformance = conformance(known, name);
    let mut sections = of_loads(known, &root(&path), rows);
    sections.extend(newest.map(|(run, server)| started(&root(&path), run, server, &conformance)));
    sections.push(about(known, name));
    let document = Document {
        label: format!("server {name}"),
        title: title.into(),
        answer: newest.map(|(run, server)| in_short(run, server, &conformance)).into_iter().collect(),
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

/// The newest run that it took part in like this, and how.
fn newest<'k>(
    known: &'k Known,
    name: &str,
    is_so: fn(&ServerSummary) -> bool,
) -> Option<(&'k RunSummary, &'k ServerSummary)> {
    let of_run = |run: &'k RunSummary| {
        let mut servers = run.servers.iter();
        Some((run, servers.find(|server| server.entry.name == name && is_so(server))?))
    };
    let standing = known.runs.iter().rev().filter(|run| known.superseded(run).is_none());
    standing.chain(known.runs.iter().rev()).find_map(of_run)
}

/// What the newest check of it found, with its date; or why there is none.
fn conformance(known: &Known, name: &str) -> String {
    let checked = newest(known, name, |server| server.conformance.is_ok());
    match checked.or_else(|| newest(known, name, |_| true)) {
        Some((run, ServerSummary { conformance: Ok(score), .. })) => {
            format!("{score}, checked on {}", run.date())
        }
        Some((_, ServerSummary { conformance: Err(why), .. })) => why.clone(),
        None => String::new(),
    }
}

fn in_short(run: &RunSummary, server: &ServerSummary, conformance: &str) -> String {
    let version = match server.entry.version.is_empty() {
        true => "its version is not stated".into(),
        false => format!("version {}", server.entry.version),
    };
    let (conformance, as_of) =
        (format!("conformance: {conformance}"), format!("as of {}", run.date()));
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
    let more = loads.len().saturating_sub(LOADS_MOST);
    let rest = (0 < more).then(|| {
        let more = units::counted(more as u64, "more load is", "more loads are");
        let says = format!("{more} in data/rows.jsonl.");
        Section::new("rest", "", Depth::Brief).with([Block::paragraph(Tone::Dim, says)])
    });
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
fn started(root: &str, run: &RunSummary, server: &ServerSummary, conformance: &str) -> Section {
    let section = Section::new("started", "How it was started", Depth::Brief);
    let run_page = format!("{root}{}", runs::address(run));
    let run = links([(run_page, format!("the run of {}", run.date()), run.experiment.clone())]);
    let mut blocks = Vec::from_iter(run);
    if !server.command.is_empty() {
        blocks.push(command(&server.command));
    }
    let entry = &server.entry;
    let facts = [("kind", &*entry.tier), ("notes", &entry.notes), ("conformance", conformance)];
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    blocks.push(Block::Facts(facts.map(|(name, text)| Fact::new(name, text)).collect()));
    let cell = |text: Option<&str>| text.map_or_else(Cell::none, Cell::text);
    let settings = entry.settings.iter().map(|setting| {
        let name = Cell { sign: Sign::Slot, ..Cell::text(&setting.name) };
        vec![
            (left("subject", "setting", 0), name),
            (left("default", "by itself", 0), cell(setting.default.as_deref())),
            (left("change", "what this entry says instead", 0), cell(setting.change.as_deref())),
        ]
    });
    blocks.push(Block::Table(table_of("settings", settings)));
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
    blocks.extend(written_links(&about.links));
    section.with(blocks)
}

/// The list of all servers.
pub(crate) fn list(known: &Known) -> File {
    let path = "s/index.html";
    let root = root(path);
    let rows = names(known).into_iter().take(1_000).filter_map(|name| {
        let (run, server) = newest(known, name, |_| true)?;
        let title = Cell { sign: Sign::Slot, ..Cell::text(&server.entry.title) };
        Some(vec![
            (left("subject", "server", 0), title.linked(format!("{root}{}", address(name)))),
            (left("name", "name", 2), Cell::text(name)),
            (left("language", "language", 1), Cell::text(&server.entry.language)),
            (left("version", "newest version", 1), Cell::text(&server.entry.version)),
            (left("conformance", "conformance", 1), Cell::text(conformance(known, name))),
            (left("date", "newest run", 1), Cell::text(run.date())),
        ])
    });
    let table = table_of("0", rows);
    let document = Document {
        label: "every server that took part".into(),
        title: "Servers".into(),
        sections: vec![Section::new("servers", "", Depth::Brief).with([Block::Table(table)])],
        ..Document::default()
    };
    page(known, path, &document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{READER, summary};
    use crate::settings::Written;

    #[test]
    fn conformance_is_that_of_the_newest_run_that_checked_it() {
        let run = summary(&(READER.parse)(b"began 1\nserver a 1 9000\n").unwrap());
        let [mut older, newer] = [run.clone(), run];
        older.servers[0].conformance = Ok("9 of 10".into());
        let known =
            Known { written: Written::default(), runs: vec![older, newer], refused: Vec::new() };
        assert_eq!(conformance(&known, "a"), "9 of 10, checked on 1970-01-01");
    }
}
