//! Every format of a grid of findings is read back, and compared value by value with the JSON: loads, runs, races and
//! comparisons; valid, suspect and invalid; closed and open; with bounds, failures, wrong answers; HTTP/1.1 and 2. Repeated
//! loads, held connections, searches for capacities and gates have files of their own.

mod cases;
pub(crate) mod forbidden;
mod gates;
mod held;
mod printed;
mod readers;
mod repeated;
mod schemas;
mod searched;
mod sentences;

use std::collections::BTreeSet;

use lab::figure::Figure;
use serde_json::Value;
use wire::Chance;

use crate::document::Document;
use crate::render;
use cases::{Case, SCREEN, Shown};
use printed::{Stated, check};
use readers::{CSV, MARKDOWN, PAGE, Reader, Rows, TEXT};

/// How often each format was found to agree, and the verdicts, bounds and few samples that were seen.
#[derive(Default)]
struct Seen {
    values: usize,
    bounds: usize,
    intervals: usize,
    /// Ratios to a bound.
    open: usize,
    words: BTreeSet<String>,
}

/// One of these.
pub(crate) fn any<T: Clone>(chance: &mut Chance, of: &[T]) -> T {
    of[chance.below(of.len())].clone()
}

fn number(of: &Value) -> Option<f64> {
    of.as_f64()
}

/// A figure's unit, by its name: times are compared in seconds.
fn unit(name: &str) -> f64 {
    if name.contains("_ms") { 1e-3 } else { 1.0 }
}

/// An estimate of JSON, as a figure of this name.
fn estimate(name: &str, of: &Value) -> Stated {
    let scaled = |of: &Value| number(of).map(|value| value * unit(name));
    let is_bound = of["is_bound"] == true;
    let is_few = of["is_supported"] == false && !is_bound;
    Stated {
        value: scaled(&of["value"]).expect("an estimate has a value"),
        ends: [scaled(&of["low"]), scaled(&of["high"])],
        is_bound,
        marks: if is_few { "*".into() } else { String::new() },
        has_interval: false,
    }
}

fn list(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().expect("a list").iter()
}

fn compare(seen: &mut Seen, about: &str, printed: Option<&String>, stated: &Stated) {
    let Some(printed) = printed else { panic!("{about}: it is not there") };
    if let Err(wrong) = check(printed, stated) {
        panic!("{about}: {wrong}");
    }
    seen.values += 1;
    seen.bounds += usize::from(stated.is_bound);
    seen.intervals += usize::from(printed.contains('['));
    seen.open += usize::from(stated.is_bound && printed.contains('×'));
}

/// A cell, which has a dash where nothing is stated.
fn compare_cell(seen: &mut Seen, about: &str, printed: &str, stated: Option<&Stated>) {
    match stated {
        None => assert_eq!(printed, "–", "{about}"),
        Some(stated) => compare(seen, about, Some(&printed.to_string()), stated),
    }
}

/// What people read of a document, each format with its reader.
fn formats(of: &Document, page: String) -> [(&'static Reader, String); 3] {
    [(&TEXT, render::text(of, SCREEN)), (&MARKDOWN, render::markdown(of)), (&PAGE, page)]
}

/// The table with this column in one of them, which has so many rows.
fn table(about: &str, (reader, text): &(&Reader, String), column: &str, count: usize) -> Rows {
    let rows = (reader.rows)(text, column, count);
    rows.unwrap_or_else(|| {
        panic!("{about}, {}: no {count} rows with {column}\n{text}", reader.name)
    })
}

fn read(shown: &Shown, reader: &Reader, column: &str, count: usize) -> Rows {
    let text = shown.text(reader.name);
    let rows = (reader.rows)(text, column, count);
    rows.unwrap_or_else(|| {
        panic!("{}, {}: no {count} rows with {column}\n{text}", shown.case, reader.name)
    })
}

fn mark(word: &Value) -> &'static str {
    match word.as_str() {
        Some("suspect") => "?",
        Some("invalid") => "!",
        _ => "",
    }
}

/// Each figure of each row that has a column. The verdict's mark stands at the throughput.
fn rows_agree(seen: &mut Seen, shown: &Shown, reader: &Reader, rows: &[&Value]) {
    let table = read(shown, reader, Figure::Throughput.heading(), rows.len());
    for row in rows {
        let title = if row["subject"] == "quick" { "Quick" } else { "Other" };
        let cells = table.iter().find(|cells| cells["server"].starts_with(title));
        let cells = cells.unwrap_or_else(|| panic!("{}, {}: {title}", shown.case, reader.name));
        let mark = mark(&row["verdict"]["word"]);
        seen.words.insert(row["verdict"]["word"].as_str().unwrap_or_default().into());
        // The column of this name has what the subject's entry says.
        for figure in Figure::OF_TRIALS.into_iter().filter(|it| *it != Figure::Processes) {
            let (name, heading) = (figure.name(), figure.heading());
            let of = &row["figures"][name];
            let (true, Some(printed)) = (of.is_object(), cells.get(heading)) else { continue };
            let mut stated = estimate(name, of);
            if figure == Figure::Throughput {
                stated.has_interval = true;
                let behind = if row["is_behind"] == true { "↓" } else { "" };
                stated.marks += &format!("{behind}{mark}");
            }
            let about = format!("{}, {}, {title}, {name}", shown.case, reader.name);
            compare(seen, &about, Some(printed), &stated);
        }
    }
}

/// A line of CSV has every digit of each figure of each trial, and says which is a bound.
fn lines_agree(seen: &mut Seen, shown: &Shown, rows: &[&Value]) {
    let trials: Vec<&Value> = rows.iter().flat_map(|row| list(&row["trials"])).collect();
    let lines = read(shown, &CSV, "", trials.len());
    for trial in trials {
        let place = trial["number"].to_string();
        let line = lines.iter().find(|line| line["trial"] == place).unwrap();
        assert_eq!(trial["verdict"]["word"], line["verdict"].as_str(), "{}", shown.case);
        for figure in Figure::OF_TRIALS {
            let (name, about) = (figure.name(), format!("{}, CSV, {}", shown.case, figure.name()));
            let of = &trial["figures"][name];
            let value = number(&of["value"]);
            assert_eq!(line[name].parse().ok(), value, "{about}");
            let is_bound = of["is_bound"] == true;
            let said = line.get(&format!("{name}_bound")).map(String::as_str);
            let wanted = value.map_or("", |_| if is_bound { "true" } else { "false" });
            assert!(said == Some(wanted) || (said.is_none() && !is_bound), "{about}: {said:?}");
            seen.values += 1;
            seen.bounds += usize::from(is_bound);
        }
    }
}

/// Each time of each distribution of a load.
fn times_agree(seen: &mut Seen, shown: &Shown, reader: &Reader) {
    const COLUMNS: [(&str, &str); 7] = [
        ("mean", "mean_ns"),
        ("sd", "sd_ns"),
        ("p50", "p50_ns"),
        ("p90", "p90_ns"),
        ("p99", "p99_ns"),
        ("p99.9", "p99_9_ns"),
        ("max", "max_ns"),
    ];
    let ready = shown.json["http2"].get("ready").filter(|ready| ready.is_object());
    let own = [
        ("response", "response"),
        ("service", "service"),
        ("first byte", "first_byte"),
        ("connect", "connect"),
        ("waited for a connection", "blocked"),
        ("sent late", "late"),
    ];
    let all = own.into_iter().map(|(name, key)| (name, &shown.json[key]));
    let all: Vec<(&str, &Value)> = all
        .chain(ready.map(|ready| ("ready", ready)))
        .filter(|(_, of)| number(&of["count"]) != Some(0.0))
        .collect();
    let table = read(shown, reader, "samples", all.len());
    for (name, of) in all {
        let about = format!("{}, {}, {name}", shown.case, reader.name);
        let cells = table.iter().find(|cells| cells[""] == name).expect(&about);
        assert_eq!(cells["samples"].replace(',', ""), of["count"].to_string(), "{about}");
        for (heading, field) in COLUMNS {
            let few = list(&of["unsupported"]).any(|name| name == field);
            let stated = Stated {
                value: number(&of[field]).expect(&about) * 1e-9,
                is_bound: of["is_bound"][field] == true,
                marks: if few { "*".into() } else { String::new() },
                ..Stated::default()
            };
            compare(seen, &format!("{about}, {heading}"), cells.get(heading), &stated);
        }
    }
    let words = (reader.words)(shown.text(reader.name));
    let (_, after) = words.split_once("throughput/s").expect("the throughput");
    let rate = number(&shown.json["rate"]["throughput_per_s"])
        .map(|value| Stated { value, ..Stated::default() });
    let after = after.trim_start_matches([' ', ':', '*', '|']);
    let printed = after.split([' ', ':']).next().map(String::from);
    compare(seen, "throughput", printed.as_ref(), &rate.unwrap());
}

fn ratio(of: &Value) -> Option<Stated> {
    Some(Stated {
        value: number(&of["ratio"])?,
        ends: [number(&of["ratio_low"]), number(&of["ratio_high"])],
        is_bound: of["is_bound"] == true,
        marks: String::new(),
        has_interval: true,
    })
}

/// Each ratio in the sentences is one of those in the JSON.
fn ratios_agree(seen: &mut Seen, shown: &Shown, reader: &Reader) {
    let all = list(&shown.json["ratios"]).flat_map(|pair| list(&pair["figures"]));
    let all: Vec<Stated> = all.filter_map(ratio).collect();
    let words = (reader.words)(shown.text(reader.name));
    for (place, _) in words.match_indices("× [") {
        let from = words[..place].rfind([' ', '(']).map_or(0, |at| at + 1);
        let until = place + words[place..].find(']').expect("an end") + 1;
        let printed = &words[from..until];
        let about = format!("{}, {}: `{printed}` is none of {all:?}", shown.case, reader.name);
        let found = all.iter().find(|stated| check(printed, stated).is_ok()).expect(&about);
        compare(seen, &about, Some(&printed.to_string()), found);
    }
}

/// Both sides and the ratio of each figure that is compared.
fn pairs_agree(seen: &mut Seen, shown: &Shown, reader: &Reader) {
    let figures = || list(&shown.json["rows"][0]["figures"]);
    let table = read(shown, reader, "B / A [interval]", figures().count());
    for (of, cells) in figures().zip(table) {
        let Some(stated) = ratio(of) else { continue };
        let name = of["figure"].as_str().unwrap();
        let about = format!("{}, {}, {name}", shown.case, reader.name);
        compare(seen, &about, cells.get("B / A [interval]"), &stated);
        for (side, column) in [("a", "A"), ("b", "B")] {
            let is_bound = of[format!("{side}_is_bound")] == true;
            assert_eq!(cells[column].starts_with('≥'), is_bound, "{about}, {column}");
        }
    }
}

#[test]
fn every_format_says_what_the_json_says() {
    let readers = [&TEXT, &MARKDOWN, &PAGE, &CSV];
    let mut all = readers.map(|_| Seen::default());
    for shown in Case::all().iter().map(Case::shown) {
        let rows: Vec<&Value> = match shown.case.kind {
            "race" => list(&shown.json["sides"]).map(|side| &side["row"]).collect(),
            "run" => list(&shown.json["tables"][0]["rows"]).collect(),
            _ => Vec::new(),
        };
        for (reader, seen) in readers.into_iter().zip(&mut all) {
            match (shown.case.kind, reader.name) {
                ("load" | "compare", "CSV") => {}
                ("load", _) => times_agree(seen, &shown, reader),
                ("compare", _) => pairs_agree(seen, &shown, reader),
                (_, "CSV") => lines_agree(seen, &shown, &rows),
                (_, _) => rows_agree(seen, &shown, reader, &rows),
            }
            if shown.case.kind == "race" {
                ratios_agree(seen, &shown, reader);
            }
        }
    }
    for (Reader { name, .. }, Seen { values, bounds, intervals, open, words }) in
        readers.iter().zip(all)
    {
        assert!(1_000 < values && 50 < bounds, "{name}: {values} values, {bounds} bounds");
        let is_all = 100 < intervals && 20 < open && words.len() == 3;
        assert!(*name == CSV.name || is_all, "{name}: {intervals} {open} {words:?}");
    }
}
