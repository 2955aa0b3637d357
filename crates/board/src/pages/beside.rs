//! Two servers beside each other: those of the common questions as pages, all others by a script that reads the index.

use std::collections::BTreeMap;

use analysis::{Comparison, compared_runs};
use report::document::{Block, Cell, Column, Depth, Document, Section, Sign, Tone};
use report::markup::Markup;
use report::of_site;
use report::run::{cell_of, ratio_text};

use super::{File, links, of_page, page, root, runs, servers};
use crate::folder::Known;
use crate::ranking::{Shown, Terms, newest};
use crate::rows_table::{left, table_of};
use crate::slug::slug;

const SCRIPT: &str = include_str!("beside.js");
/// The file that the script reads.
pub(crate) const INDEX: &str = "data/index.js";

/// A page for each pair of the common questions.
pub(crate) fn pairs(known: &Known) -> Vec<File> {
    let presets = known.written.settings.presets.iter();
    let pairs = presets.filter_map(|preset| match preset.compare.as_slice() {
        [a, b] => Some(pair(known, &preset.title, [a, b])),
        _ => None,
    });
    pairs.collect()
}

pub(crate) fn address(a: &str, b: &str) -> String {
    format!("c/{}/{}/index.html", slug(a), slug(b))
}

fn pair(known: &Known, title: &str, [a, b]: [&str; 2]) -> File {
    let path = address(a, b);
    let root = root(&path);
    let mut loads: BTreeMap<(bool, &str, Terms), [Option<Shown<'_>>; 2]> = BTreeMap::new();
    for (side, name) in [a, b].into_iter().enumerate() {
        let mut of_server: BTreeMap<_, Vec<Shown<'_>>> = BTreeMap::new();
        for shown in known.rows().filter(|shown| shown.row.server == name) {
            let is_other = !known.written.is_own(shown.class());
            of_server.entry((is_other, shown.class(), shown.terms())).or_default().push(shown);
        }
        for (key, rows) in of_server {
            loads.entry(key).or_default()[side] = newest(rows).first().copied();
        }
    }
    let both = loads.into_iter().filter_map(|((is_other, ..), [a, b])| Some((is_other, [a?, b?])));
    let both: Vec<(bool, [Shown<'_>; 2])> = both.collect();
    let sides: Vec<_> = both
        .iter()
        .map(|(_, [a, b])| (a.row.leading, a.row.rounds_of(a.place), b.row.rounds_of(b.place)))
        .collect();
    let made = compared_runs(&sides);
    let [own, others] = [("own", false), ("others", true)].map(|(key, is_other)| {
        let rows = both.iter().zip(&made).filter(|((other, _), _)| *other == is_other);
        let rows = rows.map(|((_, sides), made)| row(&root, [a, b], *sides, made.as_ref().ok()));
        Block::Table(table_of(key, rows))
    });
    let document = Document {
        label: format!("{a} and {b}"),
        title: title.into(),
        conditions: vec![
            "The newest valid row of each. A ratio is B divided by A, decided together for the whole page; where both are \
             of one run, round by round."
                .into(),
        ],
        sections: vec![
            Section::new("own", "On the board's own machines", Depth::Brief).with([own]),
            Section::new("others", "On other machines", Depth::Brief).with([others]),
            Section::new("servers", "Each alone", Depth::Brief).with(links([a, b].map(|name| {
                (format!("{root}{}", servers::address(name)), name.to_string(), String::new())
            }))),
        ],
        ..Document::default()
    };
    page(known, &path, &document)
}

fn row(
    root: &str,
    names: [&str; 2],
    [a, b]: [Shown<'_>; 2],
    made: Option<&Comparison>,
) -> Vec<(Column, Cell)> {
    let figure = a.row.leading;
    let value = |shown: Shown<'_>| {
        shown.row.estimate(figure).map_or_else(Cell::none, |it| cell_of(figure, it))
    };
    let are_compared = a.can_be_numbered() && b.can_be_numbered();
    let ratio = match made.filter(|_| are_compared) {
        Some(made) if made.is_shown() => Cell::text(ratio_text(made)).valued(Some(made.ratio)),
        Some(_) => Cell::text("not shown to differ").toned(Tone::Dim),
        None => Cell::text("cannot be compared").toned(Tone::Dim),
    };
    let both = |of: fn(Shown<'_>) -> String| {
        let (a, b) = (of(a), of(b));
        Cell::text(if a == b { a } else { format!("{a}; {b}") })
    };
    let load = Cell::text(format!("{}, {}", a.row.task, a.row.place));
    let trials = |shown: Shown<'_>| format!("{}/{}", shown.row.measured, shown.row.planned);
    vec![
        (left("subject", "workload and load", 0), Cell { sign: Sign::Slot, ..load }),
        (left("figure", "figure", 0), Cell::text(figure.heading())),
        (Column::new("a", names[0], 0), value(a)),
        (Column::new("b", names[1], 0), value(b)),
        (Column::new("ratio", "B ÷ A", 0), ratio),
        (left("verdicts", "verdicts", 0), both(|shown| shown.row.verdict.name().into())),
        (left("versions", "versions", 1), both(|shown| shown.row.stated_version().into())),
        (left("trials", "trials", 1), both(trials)),
        (left("dates", "dates", 1), both(|shown| shown.run.date())),
        (left("dyno", "dyno", 1), both(|shown| shown.run.dyno.clone())),
        (left("class", "machine class", 1), both(|shown| shown.run.class.label.clone())),
        (left("run-a", "run of A", 2), runs::linked(a.run, root)),
        (left("run-b", "run of B", 2), runs::linked(b.run, root)),
    ]
}

/// The page whose script puts any two servers beside each other.
pub(crate) fn any(known: &Known) -> File {
    let path = "c/index.html";
    let root = root(path);
    let presets = known.written.settings.presets.iter().filter_map(|preset| {
        let [a, b] = preset.compare.as_slice() else { return None };
        Some((format!("{root}{}", address(a, b)), preset.title.clone(), String::new()))
    });
    let servers = servers::names(known)
        .into_iter()
        .take(1_000)
        .map(|name| (format!("{root}{}", servers::address(name)), name.to_string(), String::new()));
    let document = Document {
        label: "two servers beside each other".into(),
        title: "Compare".into(),
        sections: vec![
            Section::new("pairs", "Common questions", Depth::Brief).with(links(presets)),
            Section::new("any", "Any two servers", Depth::Brief).with([Block::picture(
                Markup::fixed(
                    "<div id=\"beside\"><p class=\"dim\">This needs a script. Without it, each server has a page below.</p></div>\n",
                ),
            )]),
            Section::new("servers", "Every server", Depth::Brief).with(links(servers)),
        ],
        ..Document::default()
    };
    let mut site = of_page(&known.written, path);
    site.script = SCRIPT;
    site.script_file = Some(format!("{root}{INDEX}"));
    (path.into(), of_site(&document, &site).into_string().into_bytes())
}
