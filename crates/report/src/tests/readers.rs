//! A reader for each format: the table that has a column of this name, as a person or a program reads it.

use std::collections::BTreeMap;

/// Rows, each with its cells by their headings.
pub(super) type Rows = Vec<BTreeMap<String, String>>;

pub(super) struct Reader {
    pub(super) name: &'static str,
    /// The rows of the table with this column, and how many there must be.
    pub(super) rows: fn(&str, &str, usize) -> Option<Rows>,
    /// Its words alone, with single spaces.
    pub(super) words: fn(&str) -> String,
}

pub(super) const TEXT: Reader = Reader { name: "text", rows: of_text, words: joined };
pub(super) const MARKDOWN: Reader =
    Reader { name: "Markdown", rows: of_markdown, words: |text| joined(&bare(text)) };
pub(super) const PAGE: Reader =
    Reader { name: "page", rows: of_page, words: |page| joined(&stripped(page)) };
pub(super) const CSV: Reader = Reader { name: "CSV", rows: of_csv, words: joined };

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a table folds into a line, because it is the same in all rows, is in each of them.
fn rows(mut grid: Vec<Vec<String>>, alike: &str, count: usize) -> Option<Rows> {
    let heads = grid.remove(0);
    let alike = alike.split_once("the same in all rows: ").map_or("", |(_, after)| after);
    let folded = alike.split(" · ").filter_map(|part| part.rsplit_once(' '));
    let folded: Vec<(&str, &str)> = folded.collect();
    let row = |cells: &Vec<String>| {
        let own = heads.iter().cloned().zip(cells.iter().cloned());
        folded.iter().map(|(head, cell)| (head.to_string(), cell.to_string())).chain(own).collect()
    };
    (grid.len() == count).then(|| grid.iter().map(row).collect())
}

/// A column ends where two places are empty in every line, or one behind a mark.
fn of_text(text: &str, column: &str, count: usize) -> Option<Rows> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.split("  ").any(|it| it.trim() == column))?;
    let table: Vec<Vec<char>> =
        lines[first..].iter().take(count + 1).map(|line| line.chars().collect()).collect();
    let width = table.iter().map(Vec::len).max()?;
    let is_gap = |at: usize| table.iter().all(|line| line.get(at).is_none_or(|it| *it == ' '));
    // A mark hangs out of its column; an interval follows its value.
    let has = |at: usize, which: &str| {
        table.iter().any(|line| line.get(at).is_some_and(|letter| which.contains(*letter)))
    };
    let is_marked = |at: usize| has(at - 1, "*?↓") && !has(at + 1, "[");
    let is_end = |at: usize| 0 < at && is_gap(at) && (is_gap(at + 1) || is_marked(at));
    let ends: Vec<usize> = (0..width).filter(|&at| is_end(at)).collect();
    let cells = |line: &Vec<char>| {
        let mut cells = vec![String::new()];
        for (at, letter) in line.iter().enumerate() {
            let is_new = ends.contains(&at) && !ends.contains(&(at.wrapping_sub(1)));
            if is_new {
                cells.push(String::new());
            }
            cells.last_mut().expect("one at least").push(*letter);
        }
        cells.iter().map(|cell| cell.trim().to_string()).collect::<Vec<String>>()
    };
    let rest = lines.get(first + count + 1..)?.join(" ");
    // The legend follows, without an end of its own.
    let rest = rest.split(" means over ").next()?.split(" one round: ").next()?.to_string();
    rows(table.iter().map(cells).collect(), &rest, count)
}

/// Every character that would act has a backslash before it.
fn bare(text: &str) -> String {
    let mut bare = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        bare.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    bare
}

/// The last such table has every column.
fn of_markdown(text: &str, column: &str, count: usize) -> Option<Rows> {
    let lines: Vec<&str> = text.lines().collect();
    let cells = |line: &&str| {
        let inner = line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |")).unwrap_or(line);
        inner.split(" | ").map(|cell| bare(cell.trim())).collect::<Vec<String>>()
    };
    let is_head = |line: &&str| line.starts_with("| ") && cells(line).iter().any(|it| it == column);
    let first = lines.iter().rposition(is_head)?;
    let mut table: Vec<Vec<String>> =
        lines[first..].iter().take_while(|line| line.starts_with('|')).map(cells).collect();
    table.remove(1);
    let alike = lines[first..].iter().find(|line| line.starts_with("the same in all rows: "));
    rows(table, &alike.map_or(String::new(), |line| bare(line)), count)
}

/// The text of a piece of a page, without its elements and its tooltips.
fn stripped(page: &str) -> String {
    let mut text = String::new();
    for part in page.split('<').filter(|part| !part.starts_with("span class=\"gloss\"")) {
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
    }
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (escaped, letter)| text.replace(escaped, letter))
}

fn of_page(page: &str, column: &str, count: usize) -> Option<Rows> {
    let has = |table: &&str| {
        let heads = table.split("</thead>").next().unwrap_or_default().split("<th");
        heads.map(|head| stripped(&format!("<th{head}"))).any(|head| head == column)
    };
    let table = page.split("<table>").skip(1).find(has)?;
    let (table, after) = table.split_once("</table>")?;
    let cells = |line: &str| {
        let cells = line.replace("<th ", "<td ").replace("<td>", "<td >");
        let cells = cells.split("<td ").skip(1).map(|cell| stripped(&format!("<td {cell}")));
        cells.map(|cell| cell.trim().to_string()).collect::<Vec<String>>()
    };
    let grid = table.split("<tr").skip(1).map(cells).collect();
    let alike = after.split("<table>").next()?.split("</p>");
    let alike = alike.map(stripped).find(|text| text.contains("the same in all rows: "));
    rows(grid, &alike.unwrap_or_default(), count)
}

/// RFC 4180, without line ends in quotation marks.
fn of_csv(text: &str, _: &str, count: usize) -> Option<Rows> {
    let cells = |line: &str| {
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                letter => cells.last_mut().expect("one at least").push(letter),
            }
        }
        cells
    };
    rows(text.split_terminator("\r\n").map(cells).collect(), "", count)
}
