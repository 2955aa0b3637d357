//! A document's blocks as HTML. The page around them is `page/`'s.

use analysis::Verdict;

use crate::chart::marks::key;
use crate::document::{
    Align, Block, Cell, Column, Document, Entry, Fact, Fold, MORE, Paragraph, Row, Section, Sign,
    Table, Tone, View,
};
use crate::glossary::explained;
use crate::markup::{Markup, markup};

/// All sections of a page; what one table's legend has said, no other repeats.
pub(crate) fn sections(sections: &[Section]) -> Markup {
    let mut said = Vec::new();
    sections.iter().map(|one| section(one, &mut said)).collect()
}

fn section(section: &Section, said: &mut Vec<String>) -> Markup {
    if section.blocks.is_empty() {
        return Markup::default();
    }
    let heading = filled(&section.heading).map(|text| markup!("<h2>{}</h2>\n", explained(text)));
    let note = filled(&section.note).map(dim);
    let (id, blocks) = (section.id.as_ref(), blocks(&section.blocks, said));
    markup!("<section id=\"{}\">\n{}{}{}</section>\n", id, heading, note, blocks)
}

fn blocks(blocks: &[Block], said: &mut Vec<String>) -> Markup {
    blocks.iter().map(|one| block(one, said)).collect()
}

fn block(block: &Block, said: &mut Vec<String>) -> Markup {
    match block {
        Block::Heading(text) => markup!("<h3>{}</h3>\n", explained(text)),
        Block::Paragraph(text) => paragraph(text),
        Block::Entries(entries) if entries.is_empty() => Markup::default(),
        Block::Entries(entries) => {
            let all: Markup = entries.iter().map(entry).collect();
            markup!("<ul class=\"found\">\n{}</ul>\n", all)
        }
        Block::Facts(facts) => {
            let term = |fact: &Fact| {
                let texts = fact.texts.iter().map(|text| markup!("<dd>{}</dd>\n", text));
                markup!("<dt>{}</dt>\n{}", fact.name, texts.collect::<Markup>())
            };
            markup!("<dl>\n{}</dl>\n", facts.iter().map(term).collect::<Markup>())
        }
        Block::Table(shown) => table(shown, said),
        Block::Drawing(drawing) => drawing.markup.clone(),
        Block::Fold(folded) => fold(folded, said),
    }
}

fn fold(fold: &Fold, said: &mut Vec<String>) -> Markup {
    folded(fold.slot, fold.is_open, &fold.summary, &blocks(&fold.blocks, said))
}

/// What is shown when the line with the summary is opened.
pub(crate) fn folded(slot: Option<usize>, is_open: bool, summary: &str, inside: &Markup) -> Markup {
    markup!(
        "<details class=\"fold\"{}{}><summary>{}{}</summary>\n{}</details>\n",
        of_slot(slot),
        if is_open { " open" } else { "" },
        slot.map(|slot| key_of(Some(slot))),
        summary,
        inside
    )
}

/// The attribute of all that belongs to a subject.
fn of_slot(slot: Option<usize>) -> Option<Markup> {
    slot.map(|slot| markup!(" data-s=\"{}\"", slot))
}

pub fn dim(text: &str) -> Markup {
    markup!("<p class=\"dim\">{}</p>\n", text)
}

/// Charts beside each other; none if there are none.
pub(crate) fn beside(class: &str, charts: &Markup) -> Option<Markup> {
    let all = || markup!("<div class=\"{}\">\n{}</div>\n", class, charts);
    (!charts.is_empty()).then(all)
}

pub fn paragraph(paragraph: &Paragraph) -> Markup {
    let class = match paragraph.tone {
        Tone::Plain => "",
        Tone::Dim => "dim",
        Tone::Strong => "lede",
        Tone::Good => "good",
        Tone::Doubtful => "warn",
        Tone::Bad => "warn bad",
    };
    markup!("<p{}>{}</p>\n", classed(class), paragraph.text)
}

fn entry(entry: &Entry) -> Markup {
    let lines: Markup = entry
        .lines
        .iter()
        .map(|line| {
            let class = if line.tone == Tone::Dim { "dim" } else { "" };
            markup!("<br><span{}>{}</span>", classed(class), line.text)
        })
        .collect();
    let quoted =
        (!entry.quoted.is_empty()).then(|| markup!("\n<pre>{}</pre>", entry.quoted.join("\n")));
    let command = filled(&entry.command).map(|line| markup!("\n<pre>{}</pre>", line));
    let class = match entry.tone {
        Tone::Bad => "bad",
        Tone::Doubtful => "odd",
        _ => "",
    };
    let bytes = (!entry.bytes.is_empty()).then(|| {
        markup!(
            "\n<details class=\"bytes\"><summary>the bytes</summary>\n<pre>{}</pre>\n</details>",
            entry.bytes.join("\n")
        )
    });
    markup!(
        "<li><strong{}>{}</strong>{}{}{}{}</li>\n",
        classed(class),
        entry.head,
        lines,
        quoted,
        command,
        bytes
    )
}

/// A table with all of its views; its style and script show the chosen one.
pub(crate) fn table(table: &Table, said: &mut Vec<String>) -> Markup {
    let columns = placed(table);
    let places = table.columns_shown();
    let heads: Markup = columns.iter().map(head).collect();
    let bodies: Markup = table.views.iter().map(|view| body(view, &columns)).collect();
    let rest: Markup = table.views.iter().map(|view| rest(view, &columns)).collect();
    let rows: Vec<&Row> = table.views.iter().flat_map(|view| &view.rows).collect();
    let mut legend = table.alike_line(u8::MAX).into_iter().collect::<Vec<_>>();
    legend.push(table.legend(&places, &rows, said).join(" · "));
    let line = |text: &String| markup!("<p class=\"dim\">{}</p>\n", explained(text));
    let legend: Markup = legend.iter().filter(|text| !text.is_empty()).map(line).collect();
    let least = columns.iter().map(|placed| placed.column.priority).max().unwrap_or_default();
    let more = match least {
        0..PHONE => Markup::default(),
        PHONE..DESK => more_columns("on-phones"),
        DESK..MORE => more_columns("on-small"),
        MORE.. => more_columns(""),
    };
    markup!(
        "<div class=\"results\" data-table=\"{}\">\n<div class=\"tools\">{}{}</div>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"results\"><table>\n<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n{}</table></div>\n{}{}</div>\n",
        table.key,
        choice(table),
        more,
        table.caption,
        heads,
        bodies,
        rest,
        legend
    )
}

/// A column of a page's table.
struct Placed<'t> {
    /// Its place among all columns.
    place: usize,
    column: &'t Column,
    /// Paper has no room for it: what stands in it is printed as a list.
    is_late: bool,
}

/// So many columns are printed, besides the rank.
const PRINTED: usize = 7;

fn more_columns(class: &str) -> Markup {
    markup!(
        "<label{}><input type=\"checkbox\" class=\"widen\" autocomplete=\"off\"> more columns</label>",
        classed(class)
    )
}

/// The columns that are shown, in their order.
fn placed(table: &Table) -> Vec<Placed<'_>> {
    let mut room = PRINTED;
    let mut all = Vec::new();
    for place in table.columns_shown() {
        let column = &table.columns[place];
        let is_late = column.key != RANK && (MORE <= column.priority || room == 0);
        if !is_late && column.key != RANK {
            room -= 1;
        }
        all.push(Placed { place, column, is_late });
    }
    all
}

/// Longer lists are not printed: on paper they are not read, and they would make the page large.
const LISTED: usize = 40;

/// What a printed table has no room for, a line for each row.
fn rest(view: &View, columns: &[Placed<'_>]) -> Markup {
    let lines: Markup = view.rows.iter().filter_map(|row| rest_of_row(row, columns)).collect();
    match lines.is_empty() || LISTED < view.rows.len() {
        true => Markup::default(),
        false => markup!("<ul class=\"rest at-{}\">\n{}</ul>\n", view.key, lines),
    }
}

fn rest_of_row(row: &Row, columns: &[Placed<'_>]) -> Option<Markup> {
    let text = |placed: &Placed<'_>| Some(row.cells.get(placed.place)?.marked_text());
    let names =
        columns.iter().filter(|placed| matches!(placed.column.key.as_ref(), "subject" | LOAD));
    let names: Vec<String> = names.filter_map(text).collect();
    let late = columns.iter().filter(|placed| placed.is_late).filter_map(|placed| {
        let cell = row.cells.get(placed.place).filter(|cell| !cell.is_empty())?;
        Some(format!("{} {}", placed.column.heading, cell.whole_text()))
    });
    let late: Vec<String> = late.collect();
    (!late.is_empty()).then(|| {
        let (slot, names, late) = (of_slot(row.slot), names.join(", "), late.join(" · "));
        markup!("<li{}><strong>{}</strong> {}</li>\n", slot, names, late)
    })
}

/// The choice of a view: it works without script, by the style of `chosen`.
fn choice(table: &Table) -> Markup {
    if table.views.len() < 2 {
        return Markup::default();
    }
    let options: Markup = table
        .views
        .iter()
        .map(|view| {
            let selected = if view.key == "best" { " selected" } else { "" };
            markup!("<option value=\"{}\"{}>{}</option>", view.key, selected, view.name)
        })
        .collect();
    markup!(
        "<label>each <select class=\"chosen\" name=\"at{}\" autocomplete=\"off\">{}<option value=\"all\">at every load</option></select></label>",
        table.key,
        options
    )
}

/// The body of a page: what a document says, without a run's controls.
pub fn document(document: &Document) -> Markup {
    let lede = |text: &String| paragraph(&Paragraph::new(Tone::Strong, text.clone()));
    let parts = [
        document.answer.iter().map(lede).collect::<Markup>(),
        document.conditions.iter().map(|text| dim(text)).collect(),
        sections(&document.sections),
        document.ending.iter().map(paragraph).collect(),
    ];
    parts.into_iter().collect()
}

/// The style that shows the chosen view, for tables of up to so many views besides the first.
pub fn chosen(views: usize) -> Markup {
    let first = [hide("best", ":not(.at-best)"), hide("all", ".at-best")];
    let others = (0..views).map(|n| hide(&n.to_string(), &format!(":not(.at-{n})")));
    first.into_iter().chain(others).collect()
}

/// A rule of CSS that hides a part of the results where this is chosen.
fn hide(value: &str, part: &str) -> Markup {
    markup!(
        ".results:has(.chosen option[value=\"{}\"]:checked) :is(tbody,.rest){}{{display:none}}\n",
        value,
        part
    )
}

fn body(view: &View, columns: &[Placed<'_>]) -> Markup {
    let rows: Markup =
        view.rows.iter().enumerate().map(|(n, one)| row(one, n + 1, columns)).collect();
    markup!("<tbody class=\"at-{}\">\n{}</tbody>\n", view.key, rows)
}

fn row(row: &Row, place: usize, columns: &[Placed<'_>]) -> Markup {
    let load = columns.iter().find(|placed| placed.column.key == LOAD);
    let load = load.and_then(|at| Some((row.cells.get(at.place)?, &at.column.heading)));
    let load = load.map(|(cell, heading)| format!("{} {heading}", cell.text));
    let cells: Markup = columns
        .iter()
        .filter_map(|placed| Some(cell(row, placed, row.cells.get(placed.place)?, load.as_deref())))
        .collect();
    let class = match (row.is_reference, row.tie) {
        (true, _) => "reference",
        (false, Some((first, last))) if first == last => "",
        (false, Some((first, _))) if first == place => "tie first",
        (false, Some((_, last))) if last == place => "tie last",
        (false, Some(_)) => "tie",
        (false, None) => "",
    };
    markup!("<tr{}{}>{}</tr>\n", of_slot(row.slot), classed(class), cells)
}

fn head(placed: &Placed<'_>) -> Markup {
    let column = placed.column;
    let meaning = filled(&column.meaning).map(|text| markup!(" title=\"{}\"", text));
    markup!(
        "<th scope=\"col\"{} data-key=\"{}\"{}>{}</th>",
        classed(&class(placed)),
        column.key.as_ref(),
        meaning,
        column.heading
    )
}

/// How a column is aligned, and on which screens it is shown: the most important ones on all of them.
fn class(placed: &Placed<'_>) -> String {
    let column = placed.column;
    let align = match column.align {
        _ if column.key == RANK => RANK,
        Align::Left => "text",
        Align::Right => "",
    };
    let room = match column.priority {
        _ if column.key == LOAD => "load",
        0..PHONE => "",
        PHONE..DESK => "mid",
        DESK..MORE => "roomy",
        MORE.. => "more",
    };
    let late = if placed.is_late { "late" } else { "" };
    [align, room, late].into_iter().filter(|class| !class.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The key of the column that shows which rows cannot be told apart.
const RANK: &str = "rank";

/// The key of the column with the load, which on a phone stands below the server's name.
const LOAD: &str = "place";

/// From the first priority on columns are not shown on a phone, and from the second on only on a wide screen.
const PHONE: u8 = 2;
const DESK: u8 = 5;

fn cell(row: &Row, placed: &Placed<'_>, cell: &Cell, load: Option<&str>) -> Markup {
    let sign = match cell.sign {
        Sign::None => Markup::default(),
        Sign::Slot if row.slot.is_none() => Markup::default(),
        Sign::Slot => key_of(row.slot.filter(|_| !row.is_reference)),
        Sign::Verdict(verdict) => verdict_sign(verdict),
    };
    // Enough digits to sort by; programs read the JSON.
    let value = cell.value.map(|value| markup!(" data-v=\"{}\"", value as f32));
    let own = match (cell.sign, cell.tone) {
        (Sign::Verdict(Verdict::Valid), _) => "verdict valid",
        (Sign::Verdict(Verdict::Suspect), _) => "verdict suspect",
        (Sign::Verdict(Verdict::Invalid), _) => "verdict invalid",
        (_, Tone::Strong) => "main",
        (_, Tone::Doubtful) => "doubtful",
        (_, Tone::Bad) => "bad",
        (_, Tone::Good) => "good",
        (_, Tone::Dim) => "past",
        (_, Tone::Plain) => "",
    };
    let interval = cell.interval.as_ref();
    let interval = interval.map(|text| markup!(" <span class=\"interval\">{}</span>", text));
    let text = match &cell.link {
        None => markup!("{}", cell.marked_text()),
        Some(link) => markup!("<a href=\"{}\">{}</a>", link, cell.marked_text()),
    };
    match cell.sign == Sign::Slot {
        true => {
            let load = load.map(|text| markup!(" data-load=\"{}\"", text));
            markup!("<th scope=\"row\"{}>{}{}</th>", load, sign, text)
        }
        false => markup!(
            "<td{}{}>{}{}{}</td>",
            classed(format!("{} {own}", class(placed)).trim()),
            value,
            sign,
            text,
            interval
        ),
    }
}

/// The attribute; empty if there is no class.
fn classed(class: &str) -> Option<Markup> {
    filled(class).map(|class| markup!(" class=\"{}\"", class))
}

/// None if there is no text.
fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// A subject's sign before its name; a reference has none.
pub(crate) fn key_of(slot: Option<usize>) -> Markup {
    let mark = slot.map(|slot| key(slot, (0.0, 0.0)));
    markup!("<svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{}</svg>", mark)
}

/// A tick, a question mark, a cross: drawn, because not every font has them.
pub fn verdict_sign(verdict: Verdict) -> Markup {
    let drawn = match verdict {
        Verdict::Valid => "M3.5 8.4l3 3 6-6.6",
        Verdict::Suspect => "M5.4 5.9a2.6 2.6 0 1 1 3.8 2.3c-.8.5-1.2.9-1.2 1.9M8 12.6v.1",
        Verdict::Invalid => "M4 4l8 8M12 4l-8 8",
    };
    markup!(
        "<svg class=\"icon\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path d=\"{}\"/></svg>",
        drawn
    )
}
