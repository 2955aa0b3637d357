//! A document as Markdown. Text from other programs is shown, never obeyed: it is escaped here and nowhere else.

use crate::document::{
    Align, Block, Depth, Document, Fact, MORE, Paragraph, Row, Section, Table, Tone,
};
use crate::paint::Line;
use crate::render::Format;

pub static MARKDOWN: Format = Format {
    name: "md",
    about: "Sentences and tables for a README",
    ending: "md",
    media_type: "text/markdown; charset=utf-8",
    make: |shown, _| Ok(shown.markdown()),
};

pub(super) fn render(document: &Document) -> String {
    let mut blocks = vec![titled(&document.title, &document.label)];
    blocks.extend(document.notes.iter().map(|note| match note.tone {
        Tone::Doubtful | Tone::Bad => format!("> **Beware:** {}", shown(&note.text)),
        _ => shown(&note.text),
    }));
    blocks.extend(document.answer.iter().map(|text| shown(text)));
    let sections = document.sections.iter().filter(|section| section.depth == Depth::Brief);
    let mut said = Vec::new();
    blocks.extend(sections.flat_map(|section| of_section(section, &mut said)));
    blocks.extend(document.conditions.iter().map(|text| shown(text)));
    blocks.extend(document.ending.iter().map(|text| shown(&text.text)));
    blocks.iter().map(|block| format!("{}\n", block.trim_end())).collect::<Vec<_>>().join("\n")
}

fn of_section(section: &Section, said: &mut Vec<String>) -> Vec<String> {
    let of_block = |block| of_block(block, said);
    let blocks: Vec<String> = section.blocks.iter().flat_map(of_block).collect();
    if blocks.is_empty() || section.heading.is_empty() {
        return blocks;
    }
    std::iter::once(titled(&section.heading, &section.note)).chain(blocks).collect()
}

/// A title with what is said beside it, if anything is.
fn titled(title: &str, beside: &str) -> String {
    match beside {
        "" => format!("**{}**", shown(title)),
        _ => format!("**{}** ({})", shown(title), shown(beside)),
    }
}

fn of_entry(entry: &crate::document::Entry) -> String {
    let lines = entry.lines.iter().map(|line| format!("\n  {}", shown(&line.text)));
    let quoted = entry.quoted.iter().map(|line| format!("\n  {}", shown(line)));
    let (lines, quoted) = (lines.collect::<String>(), quoted.collect::<String>());
    let command = match entry.command.is_empty() {
        true => String::new(),
        false => format!("\n\n      {}\n", entry.command),
    };
    format!("- {}{lines}{quoted}{command}", shown(&entry.head))
}

fn of_block(block: &Block, said: &mut Vec<String>) -> Vec<String> {
    match block {
        Block::Heading(text) => vec![format!("**{}**", shown(text))],
        Block::Paragraph(Paragraph { text, .. }) => vec![shown(text)],
        Block::Entries(entries) => match entries.is_empty() {
            true => Vec::new(),
            false => vec![entries.iter().map(of_entry).collect::<Vec<_>>().join("\n")],
        },
        Block::Facts(facts) => {
            let line =
                |fact: &Fact| format!("- {}: {}", shown(&fact.name), shown(&fact.texts.join("; ")));
            vec![facts.iter().map(line).collect::<Vec<_>>().join("\n")]
        }
        Block::Table(table) => of_table(table, said),
        Block::Drawing(_) => Vec::new(),
        Block::Fold(fold) => {
            let of_block = |block| of_block(block, said);
            let inside: Vec<String> = fold.blocks.iter().flat_map(of_block).collect();
            match inside.is_empty() {
                true => inside,
                false => vec![folded(&fold.summary, &inside.join("\n\n"))],
            }
        }
    }
}

fn folded(summary: &str, inside: &str) -> String {
    format!("<details><summary>{}</summary>\n\n{inside}\n\n</details>", shown(summary))
}

/// The first view, and every row folded below it.
fn of_table(table: &Table, said: &mut Vec<String>) -> Vec<String> {
    let Some(first) = table.views.first() else { return Vec::new() };
    let (columns, every) = (table.columns_upto(MORE - 1), table.columns_shown());
    let rows: Vec<&Row> = first.rows.iter().collect();
    let mut blocks = Vec::new();
    if !table.caption.is_empty() {
        blocks.push(shown(&table.caption));
    }
    blocks.push(grid(table, &columns, &rows));
    let all = table.all_rows();
    if 1 < table.views.len() || columns.len() < every.len() {
        blocks.push(folded("every row and column", grid(table, &every, &all).trim_end()));
    }
    blocks.extend(table.alike_line(u8::MAX).map(|text| shown(&text)));
    let legend = table.legend(&every, &all, said);
    if !legend.is_empty() {
        blocks.push(shown(&legend.join(" · ")));
    }
    blocks
}

fn grid(table: &Table, columns: &[usize], rows: &[&Row]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = columns.iter().map(|&place| shown(&table.columns[place].heading)).collect();
    let rule = columns.iter().map(|&place| match table.columns[place].align {
        Align::Left => "---".to_string(),
        Align::Right => "--:".to_string(),
    });
    let mut text = line(heads) + &line(rule.collect());
    for row in rows {
        let cells = columns.iter().map(|&place| {
            row.cells.get(place).map_or(String::new(), |cell| shown(&cell.whole_text()))
        });
        text.push_str(&line(cells.collect()));
    }
    text
}

/// A text as Markdown shows it: no character of it makes a table, a link, an image, HTML or a formula.
pub fn shown(text: &str) -> String {
    const ACTS: &str = "\\`*_[]<>|~$#!{}&@^";
    let text = Line::plain(text.replace(['\n', '\r', '\t'], " ")).shown(false);
    let mut safe = String::with_capacity(text.len());
    for character in text.trim().chars() {
        if ACTS.contains(character) {
            safe.push('\\');
        }
        safe.push(character);
    }
    // A bare address would become a link to wherever its author chose.
    safe.replace("://", "\\://").replace("www.", "www\\.").replace("WWW.", "WWW\\.")
}
