//! A page for each workload on each class of machines, and the list of all.

use std::collections::BTreeMap;

use report::document::{Block, Cell, Column, Depth, Document, Section, Tone};

use super::{File, page, root};
use crate::folder::Known;
use crate::ranking::{Ranked, Shown, Terms, newest, ranked};
use crate::rows_table::{With, left, table, table_of};
use crate::slug::slug;

/// The rows of a workload on a class of machines, by what can be compared.
pub(crate) type Loads<'k> = BTreeMap<Terms, Vec<Shown<'k>>>;

/// By workload and class.
pub(crate) fn by_class(known: &Known) -> BTreeMap<(&str, &str), Loads<'_>> {
    let mut all: BTreeMap<(&str, &str), Loads<'_>> = BTreeMap::new();
    for shown in known.rows() {
        let loads = all.entry((&shown.row.workload, shown.class())).or_default();
        loads.entry(shown.terms()).or_default().push(shown);
    }
    all
}

pub(crate) fn address(workload: &str, class: &str) -> String {
    format!("w/{}/{}/index.html", slug(workload), slug(class))
}

/// The rows that are shown of a load, in their order.
pub(crate) fn order<'k>(rows: &[Shown<'k>]) -> Vec<Ranked<'k>> {
    ranked(&newest(rows.iter().copied()))
}

/// The loads with the most servers first.
fn largest_first<'l, 'k>(loads: &'l Loads<'k>) -> Vec<(&'l Terms, Vec<Ranked<'k>>)> {
    let mut all: Vec<_> = loads.iter().map(|(terms, rows)| (terms, order(rows))).collect();
    all.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    all
}

/// A workload's page has no more tables, and no table after so many rows.
const LOADS_MOST: usize = 20;
const ROWS_ENOUGH: usize = 300;

pub(crate) fn of_class(known: &Known, workload: &str, class: &str, loads: &Loads<'_>) -> File {
    let path = address(workload, class);
    let root = root(&path);
    let all = largest_first(loads);
    let of_one_file = |(terms, _): &(&Terms, Vec<Ranked<'_>>)| terms.hash == all[0].0.hash;
    let is_one_file = all.iter().all(of_one_file);
    let own = match known.written.is_own(class) {
        true => "One of the board's own machines",
        false => "Not one of the board's own machines",
    };
    let with = With { ranks: true, pale_before: known.pale_before(), ..With::default() };
    let mut sections = Vec::new();
    let mut written = 0;
    for (n, (terms, rows)) in all.iter().take(LOADS_MOST).enumerate() {
        let Some(first) = rows.first().map(|ranked| ranked.shown.row) else { continue };
        if ROWS_ENOUGH < written {
            break;
        }
        written += rows.len();
        let file = if is_one_file { "" } else { &format!(", workload file {}", terms.hash) };
        let heading = format!("{} at {}{file}", terms.task, first.place);
        let table = table(&n.to_string(), &root, rows, with);
        sections.push(
            Section::new(format!("load-{n}"), heading, Depth::Brief).with([Block::Table(table)]),
        );
    }
    let mut document = Document {
        label: format!("{class} · {workload}"),
        title: format!("{workload} on {class}"),
        answer: all.first().map(|(_, rows)| leaders(rows)).into_iter().collect(),
        conditions: vec![
            own.into(),
            "Each server's newest valid row; rows that are a year older than the newest run are pale.".into(),
        ],
        sections,
        ..Document::default()
    };
    if document.sections.len() < all.len() {
        let more = (all.len() - document.sections.len()) as u64;
        let more = units::counted(more, "more load is", "more loads are");
        let says = format!("{more} in data/rows.jsonl.");
        document.ending.push(report::document::Paragraph::new(Tone::Dim, says));
    }
    page(known, &path, &document)
}

/// Which servers are first, or why none is.
pub(crate) fn leaders(rows: &[Ranked<'_>]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let place = &first.shown.row.place;
    let figure = first.shown.row.leading.heading();
    let is_first = |ranked: &&Ranked<'_>| ranked.rank.is_some_and(|(first, _)| first == 1);
    let of_group = rows.iter().filter(is_first).map(|ranked| ranked.shown.row.title.as_str());
    let of_group: Vec<&str> = of_group.collect();
    let numbered = rows.iter().filter(|ranked| ranked.rank.is_some()).count();
    match of_group.as_slice() {
        [] => format!("No row at {place} is valid and can be compared."),
        [one] if numbered == 1 => format!("{one} is the only server with a valid row at {place}."),
        [one] => format!("By {figure}, {one} is ahead of {} at {place}.", others(numbered - 1)),
        many if many.len() == numbered => {
            format!("By {figure}, {} are not shown to differ at {place}.", many.join(", "))
        }
        many => format!(
            "By {figure}, {} are not shown to differ at {place}, and are ahead of {}.",
            many.join(", "),
            others(numbered - many.len())
        ),
    }
}

fn others(number: usize) -> String {
    units::counted(number as u64, "other server", "other servers")
}

/// The list of all workloads on all classes: own ones, then others.
pub(crate) fn list(known: &Known) -> File {
    let path = "w/index.html";
    let headings = ["The board's own machines", "Other machines"];
    let document = Document {
        title: "Workloads".into(),
        label: "every workload on every class of machines".into(),
        sections: lists(known, &root(path), headings, usize::MAX),
        ..Document::default()
    };
    page(known, path, &document)
}

/// A list of the workloads on the board's own machines, and one of those on others, under these headings.
pub(crate) fn lists(
    known: &Known,
    root: &str,
    [own, others]: [&'static str; 2],
    most: usize,
) -> Vec<Section> {
    let all = by_class(known);
    let sections = [("every", own, true), ("others", others, false)].into_iter();
    let section = sections.map(|(id, heading, is_own)| {
        let pages = all.iter().filter(|((_, class), _)| known.written.is_own(class) == is_own);
        let rows = pages.map(|((workload, class), loads)| row(root, workload, class, loads));
        let table = Block::Table(table_of(id, rows.take(most)));
        Section::new(id, heading, Depth::Brief).with([table])
    });
    section.collect()
}

/// A page's line in a list.
fn row(root: &str, workload: &str, class: &str, loads: &Loads<'_>) -> Vec<(Column, Cell)> {
    let all = largest_first(loads);
    let newest = loads.values().flatten().max_by_key(|shown| shown.run.began_unix_ms);
    let largest = all.first().map(|(_, rows)| rows.as_slice()).unwrap_or_default();
    let address = format!("{root}{}", address(workload, class));
    let count = |number: usize| Cell::text(number.to_string()).valued(Some(number as f64));
    let name = Cell::text(workload).linked(address).toned(Tone::Strong);
    let date = newest.map(|shown| shown.run.date()).unwrap_or_default();
    vec![
        (left("subject", "workload", 0), name),
        (left("class", "machine class", 0), Cell::text(class)),
        (Column::new("servers", "servers", 0), count(largest.len())),
        (Column::new("loads", "loads", 2), count(loads.len())),
        (left("newest", "newest run", 1), Cell::text(date)),
        (left("first", "first of the largest table", 1), Cell::text(leaders(largest))),
    ]
}
