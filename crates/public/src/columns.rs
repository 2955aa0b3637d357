//! The content of a file column by column: a column of a table, for all parts of one kind that have it, beside each other.
//! Compressed, that takes a fifth less room than the lines of the content, over which the id goes.

use std::collections::BTreeMap;

use store::plain;

use crate::content::{Content, Part, check_size};

/// The first part of a kind, a table, and the column's place in it.
type Column<'t> = (Part, &'t str, usize);

/// Each column as a line that names it and the parts that have it, and a line of values for each of these; and how many
/// columns there are.
pub(crate) fn written(content: &Content) -> (usize, String) {
    let mut columns: BTreeMap<Column<'_>, (Vec<u32>, String)> = BTreeMap::new();
    for (part, tables) in &content.0 {
        let (kind, number) = part.named();
        let first = Part::of(kind, 0).expect("every kind has a first part");
        for (table, all) in tables {
            for (place, values) in all.iter().enumerate() {
                let (numbers, text) = columns.entry((first, table, place)).or_default();
                numbers.push(number);
                text.push_str(
                    &serde_json::to_string(values).expect("values of JSON can be written"),
                );
                text.push('\n');
            }
        }
    }
    let text = columns.iter().map(|(column, (numbers, text))| named(*column, numbers) + text);
    (columns.len(), text.collect())
}

fn named((part, table, place): Column<'_>, numbers: &[u32]) -> String {
    let name = plain::columns(table).and_then(|all| all.get(place)).unwrap_or(&"");
    let numbers = serde_json::to_string(numbers).expect("numbers can be written");
    format!("{{\"{} {table} {name}\":{numbers}}}\n", part.named().0)
}

/// The lines of the content that stands in so many columns, of which no more than `most` are made.
pub(crate) fn read<'t>(
    lines: &mut impl Iterator<Item = &'t str>,
    many: usize,
    most: usize,
) -> Result<Vec<String>, String> {
    let mut parts: BTreeMap<Part, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    let mut last = None;
    for _ in 0..many {
        let line = lines.next().unwrap_or_default();
        check_size(line)?;
        let (column, numbers) = parse(line)
            .filter(|(column, numbers)| named(*column, numbers) == line && last < Some(*column))
            .ok_or("a column is not named as dyno names it, or not in its order")?;
        last = Some(column);
        for number in numbers {
            let part = Part::of(column.0.named().0, number).ok_or("a part that no run has")?;
            let values = lines.next().and_then(|line| line.strip_suffix('\n'));
            let tables = parts.entry(part).or_default();
            tables.entry(column.1).or_default().push(values.ok_or("a column is not whole")?);
            if most < parts.len() {
                return Err(format!("it has more than {most} parts"));
            }
        }
    }
    Ok(parts.into_iter().map(|(part, tables)| line(part, &tables)).collect())
}

fn parse(line: &str) -> Option<(Column<'_>, Vec<u32>)> {
    let (name, numbers) = line.strip_prefix("{\"")?.strip_suffix("}\n")?.split_once("\":")?;
    let [kind, table, column] = name.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let place = plain::columns(table)?.iter().position(|it| *it == column)?;
    let numbers: Vec<u32> = serde_json::from_str(numbers).ok()?;
    let is_sorted = numbers.is_sorted_by(|one, next| one < next);
    Some(((Part::of(kind, 0)?, table, place), numbers)).filter(|_| is_sorted)
}

fn line(part: Part, tables: &BTreeMap<&str, Vec<&str>>) -> String {
    let tables = tables.iter().map(|(name, all)| format!("\"{name}\":[{}]", all.join(",")));
    format!("{{\"{}\":{{{}}}}}\n", part.name(), tables.collect::<Vec<_>>().join(","))
}
