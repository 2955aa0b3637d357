//! Files that somebody changed and sealed anew, so that a reader goes on to what is in them.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wire::Chance;

pub(crate) fn lines_of(packed: &[u8]) -> Vec<String> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.split_inclusive('\n').map(String::from).collect()
}

pub(crate) fn packed(lines: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    lines.into_iter().for_each(|line| packer.write_all(line.as_ref()).unwrap());
    packer.finish().unwrap()
}

fn is_extra(line: &str) -> bool {
    ["{\"claims\"", "{\"lineage\"", "{\"profiles\""].iter().any(|name| line.starts_with(name))
}

/// The name of a column's kind and table, and the parts that have it.
fn column(line: &str) -> Option<(&str, &str, Vec<u32>)> {
    let (name, numbers) =
        line.strip_prefix("{\"")?.trim_end().strip_suffix('}')?.split_once("\":")?;
    let mut words = name.split(' ');
    Some((words.next()?, words.next()?, serde_json::from_str(numbers).ok()?))
}

/// A file whose content stands in columns, with the lines of its content instead: version 1 was written so at first. Of
/// columns that are damaged it makes something.
pub(crate) fn in_lines(lines: &[String]) -> Vec<String> {
    const KINDS: [&str; 5] = ["run", "end", "check", "trial", "detail"];
    let mut parts: BTreeMap<_, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    let mut content = lines[1..].iter().filter(|line| !is_extra(line));
    while let Some(line) = content.next() {
        let Some((kind, table, numbers)) = column(line) else { continue };
        for number in numbers {
            let rank = KINDS.iter().position(|it| *it == kind);
            let tables = parts.entry((rank, number, kind)).or_default();
            let values = content.next().map_or("", |line| line.trim_end());
            tables.entry(table).or_default().push(values);
        }
    }
    let mut head: Value = serde_json::from_str(&lines[0]).unwrap();
    head.as_object_mut().unwrap().remove("columns");
    let mut made = vec![written(&head)];
    for ((rank, number, kind), tables) in parts {
        let name = if rank < Some(2) { kind.into() } else { format!("{kind} {number}") };
        let tables = tables.iter().map(|(name, all)| format!("\"{name}\":[{}]", all.join(",")));
        made.push(format!("{{\"{name}\":{{{}}}}}\n", tables.collect::<Vec<_>>().join(",")));
    }
    made.extend(lines[1..].iter().filter(|line| is_extra(line)).cloned());
    made
}

/// A head in the order of its fields.
fn written(head: &Value) -> String {
    let names = ["format", "version", "id", "lines", "columns", "parts"].into_iter();
    let fields = names.filter_map(|name| Some(format!("\"{name}\":{}", head.get(name)?)));
    format!("{{{}}}\n", fields.collect::<Vec<_>>().join(","))
}

pub(crate) fn digest(lines: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hash = Sha256::new();
    lines.into_iter().for_each(|line| hash.update(line));
    hash.finalize().iter().map(|it| format!("{it:02x}")).collect()
}

/// The file with a head that fits its lines, as an author of a changed file would write it.
pub(crate) fn resealed(mut lines: Vec<String>) -> Vec<u8> {
    let mut head: Value = serde_json::from_str(&lines[0]).unwrap();
    let mut content = lines.clone();
    if head.get("columns").is_some() {
        content = in_lines(&lines);
        let columns = lines[1..].iter().filter(|line| line.starts_with('{') && !is_extra(line));
        head["columns"] = json!(columns.count());
    }
    let content = content[1..].iter().filter(|line| !is_extra(line));
    head["lines"] = json!(content.clone().count());
    head["id"] = json!(digest(content));
    for line in lines[1..].iter().filter(|line| is_extra(line)) {
        let name = line[2..].split('"').next().unwrap();
        head["parts"][name] = json!(digest([line]));
    }
    lines[0] = written(&head);
    packed(lines)
}

/// The numbers of a line: where each begins and ends.
pub(crate) fn numbers(line: &str) -> Vec<(usize, usize)> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 1;
    while at < bytes.len() {
        let is_start = bytes[at].is_ascii_digit() && b":,[".contains(&bytes[at - 1]);
        let from = at;
        while is_start && at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if is_start {
            found.push((from, at));
        }
        at += 1;
    }
    found
}

/// What a hostile file may have in the place of a number.
const HOSTILE: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "-1e308",
    "9223372036854775807",
    "18446744073709551615",
    "null",
    "\"x\"",
    "[]",
    "{}",
    "1.5",
    "4294967296",
];

/// A file in which one to four lines are missing, or have other numbers: in each of these forms in turn.
pub(crate) fn hostile(forms: &[Vec<String>; 2], chance: &mut Chance, turn: usize) -> Vec<u8> {
    let mut changed = forms[turn % 2].clone();
    for _ in 0..=chance.below(3) {
        let line = 1 + chance.below(changed.len() - 1);
        let all = numbers(&changed[line]);
        match turn % 3 {
            _ if all.is_empty() => {}
            0 => drop(changed.remove(line)),
            1 => {
                let (from, until) = all[chance.below(all.len())];
                changed[line].replace_range(from..until, HOSTILE[chance.below(HOSTILE.len())]);
            }
            _ => {
                let (from, until) = all[chance.below(all.len())];
                let old: u64 = changed[line][from..until].parse().unwrap_or(1);
                let new = old.saturating_mul(1 << chance.below(40)).min(i64::MAX as u64);
                changed[line].replace_range(from..until, &new.to_string());
            }
        }
    }
    resealed(changed)
}
