//! The page of each run as `report` writes it, below what the board says of its file; and the list of all runs.

use report::Findings;
use report::document::{Block, Cell, Column, Depth, Document, Section, Sign, Tone};
use report::markup::{Markup, markup};

use super::{File, links, of_page, page, root};
use crate::folder::Known;
use crate::rows_table::{left, table_of};
use crate::settings::{Superseded, Written};
use crate::summary::RunSummary;

pub(crate) fn address(run: &RunSummary) -> String {
    format!("r/{}/index.html", run.short)
}

/// The first digits of its id, as a link to its page.
pub(crate) fn linked(run: &RunSummary, root: &str) -> Cell {
    let name = &run.short[..run.short.len().min(8)];
    Cell::text(name).linked(format!("{root}{}", address(run)))
}

/// The name of its file beside its page.
pub(crate) fn file_name(run: &RunSummary) -> String {
    format!("{}.dyno", run.short)
}

/// What stands around a run's page; `known` is none while runs are read, and other runs are not known.
pub(crate) struct Around<'k> {
    pub(crate) written: &'k Written,
    pub(crate) known: Option<&'k Known>,
}

pub(crate) fn of_run(around: &Around<'_>, summary: &RunSummary, findings: &Findings<'_>) -> File {
    let path = address(summary);
    let mut site = of_page(around.written, &path);
    site.above.push(&of_file(around, summary, &root(&path)));
    (path, findings.page_of(&site).into_bytes())
}

/// What the board says of a run's file: whether it is superseded, how far it can be believed, and how to repeat it.
fn of_file(around: &Around<'_>, run: &RunSummary, root: &str) -> Markup {
    let superseded = around.written.superseded(&run.id);
    let class = if superseded.is_some() { "file superseded" } else { "file" };
    let name = file_name(run);
    let signature = run
        .signed
        .as_ref()
        .map(|says| markup!(" · <a href=\"{}.sig\" download>its signature</a>: {}", name, says));
    markup!(
        "<aside class=\"{0}\" aria-label=\"the file of this run\">\n{1}<p><b>{2}</b>; {3}. \
         <a href=\"{4}\" download>The file</a>{5} · <a href=\"{6}m/index.html#{7}\">{7}</a></p>\n\
         {8}<p>To repeat it:</p><pre tabindex=\"0\">dyno runs repeat {4}</pre>\n</aside>\n",
        class,
        superseded.map(|it| banner(around, it, root)),
        believed(run),
        lineage(run),
        name,
        signature,
        root,
        run.class.label,
        around.known.map(|known| kin(known, run, root))
    )
}

/// The runs that it repeats, and those that repeat it.
fn kin(known: &Known, run: &RunSummary, root: &str) -> Markup {
    // What was read of its file again does not know the other one.
    let found = known.run(&run.id).and_then(|run| run.repetition.as_deref());
    let of = run.repeats.as_ref().map(|id| match known.run(id) {
        Some(other) => markup!(
            "<p>It says that it repeats <a href=\"{}{}\">the run of {}</a>; {}.</p>\n",
            root,
            address(other),
            other.date(),
            found.unwrap_or("the two could not be compared")
        ),
        None => markup!("<p>It says that it repeats {}, which is not on this board.</p>\n", id),
    });
    let repeated = known.repetitions(run).map(|other| repetition(root, other));
    markup!("{}{}", of, repeated.collect::<Markup>())
}

fn banner(around: &Around<'_>, superseded: &Superseded, root: &str) -> Markup {
    let by = around.known.and_then(|known| known.run(&superseded.by)).map(|run| {
        markup!(" <a href=\"{}{}\">The run that takes its place.</a>", root, address(run))
    });
    markup!("<p class=\"bad\"><b>This run is superseded:</b> {}{}</p>\n", superseded.reason, by)
}

fn repetition(root: &str, run: &RunSummary) -> Markup {
    markup!(
        "<p>Another file says that it repeats this run: <a href=\"{}{}\">{}, on {}, {}</a>; {}.</p>\n",
        root,
        address(run),
        run.date(),
        run.class.label,
        run.signed.as_deref().unwrap_or("not signed"),
        run.repetition.as_deref().unwrap_or("the two could not be compared")
    )
}

/// How far its file can be believed, in words.
pub(crate) fn believed(run: &RunSummary) -> String {
    match (run.differences, run.is_consistent) {
        (0, true) => "Consistent: all that the file claims was recomputed from its counts".into(),
        (0, false) => "Intact: not all that the file claims could be recomputed".into(),
        (differences, _) => format!(
            "{} not what its counts give: its rows have no numbers",
            units::counted(differences as u64, "claim is", "claims are")
        ),
    }
}

fn lineage(run: &RunSummary) -> String {
    let public::Lineage { finished, unfinished } = run.lineage;
    match (finished, unfinished) {
        (0, 0) => "how often it was run is not stated".into(),
        (1, 0) => "its author states that it is the only run of this experiment".into(),
        _ => format!(
            "its author states that it is one of {} of this experiment, {unfinished} of them not finished",
            units::counted(u64::from(finished) + u64::from(unfinished), "run", "runs")
        ),
    }
}

/// So many runs are on a page of the list.
const LISTED: usize = 400;

/// The list of all runs, newest first, on as many pages as it takes; the first one has the files that were refused.
pub(crate) fn lists(known: &Known) -> Vec<File> {
    let newest: Vec<&RunSummary> = known.runs.iter().rev().collect();
    let pages = newest.len().div_ceil(LISTED).max(1);
    let address =
        |n: usize| if n == 0 { "r/index.html".into() } else { format!("r/{n}/index.html") };
    (0..pages)
        .map(|n: usize| {
            let path: String = address(n);
            let root = root(&path);
            let runs = newest.iter().skip(n * LISTED).take(LISTED);
            let table = table_of("0", runs.map(|run| row(known, &root, run)));
            let mut sections =
                vec![Section::new("runs", "", Depth::Brief).with([Block::Table(table)])];
            let others = (0..pages).filter(|other| *other != n).map(|other| {
                (format!("{root}{}", address(other)), format!("page {}", other + 1), String::new())
            });
            let others = links(others);
            sections.push(Section::new("others", "Other runs", Depth::Brief).with(others));
            sections.extend((n == 0).then(|| refused(known)));
            let document = Document {
                label: "every run, newest first".into(),
                title: "Runs".into(),
                sections,
                ..Document::default()
            };
            page(known, &path, &document)
        })
        .collect()
}

fn refused(known: &Known) -> Section {
    let rows = known.refused.iter().take(LISTED).map(|refused| {
        let file = Cell { sign: Sign::Slot, ..Cell::text(&refused.file) };
        let why = Cell::text(&refused.why).toned(Tone::Bad);
        vec![(left("subject", "file", 0), file), (left("why", "why", 0), why)]
    });
    Section::new("refused", "Files that were refused", Depth::Brief)
        .with([Block::Table(table_of("refused", rows))])
}

fn row(known: &Known, root: &str, run: &RunSummary) -> Vec<(Column, Cell)> {
    let count = |number: usize| Cell::text(number.to_string()).valued(Some(number as f64));
    let worth = match (known.superseded(run), run.differences, run.is_consistent) {
        (Some(_), _, _) => Cell::text("superseded").toned(Tone::Bad),
        (None, 0, true) => Cell::text("consistent"),
        (None, 0, false) => Cell::text("intact"),
        (None, _, _) => Cell::text("claims differ").toned(Tone::Bad),
    };
    let verdict = run.verdict.map_or_else(Cell::none, |verdict| Cell {
        sign: Sign::Verdict(verdict),
        ..Cell::text(verdict.name())
    });
    let date = Cell::text(run.date()).valued(Some(run.began_unix_ms as f64));
    vec![
        (left("subject", "run", 0), Cell { sign: Sign::Slot, ..linked(run, root) }),
        (left("date", "date", 0), date),
        (left("experiment", "experiment", 1), Cell::text(&run.experiment)),
        (left("verdict", "verdict", 0), verdict),
        (Column::new("trials", "trials", 1), count(run.trials)),
        (Column::new("servers", "servers", 1), count(run.servers.len())),
        (left("class", "machine class", 1), Cell::text(&run.class.label)),
        (left("dyno", "dyno", 1), Cell::text(&run.dyno)),
        (left("file", "its file", 1), worth),
    ]
}
