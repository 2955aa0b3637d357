//! The formats that can be read, a file for each. A format is recognised by what only it contains.

mod ab;
mod arena;
mod gcannon;
mod h2load;
mod hey;
mod k6;
mod oha;
mod own;
mod techempower;
mod web_frameworks;
mod wrk;
mod zrk;

use analysis::named;
use serde_json::Value;

use crate::row::Row;
use crate::source::Unreadable;

named! {
    pub enum Format {
        Wrk = "wrk" => "the text of wrk or wrk2",
        Oha = "oha" => "the text of oha",
        OhaJson = "oha_json" => "the JSON of oha",
        Hey = "hey" => "the text of hey",
        Ab = "ab" => "the text of ab",
        K6 = "k6" => "k6's summary as text",
        K6Json = "k6_json" => "k6's summary as JSON",
        H2load = "h2load" => "the text of h2load",
        H2loadJson = "h2load_json" => "the JSON of h2load",
        Gcannon = "gcannon" => "the text of gcannon",
        GcannonJson = "gcannon_json" => "the JSON of gcannon",
        Zrk = "zrk" => "the JSON of zrk",
        TechEmpower = "techempower" => "TechEmpower's results.json",
        HttpArena = "httparena" => "HttpArena's data",
        WebFrameworks = "web_frameworks" => "the-benchmarker's data.json",
        DynoLoad = "dyno_load" => "what `dyno load --json` writes",
    }
}

/// Reads the rows of a text; there are none if it has another format.
type OfText = fn(&str, &str) -> Vec<Row>;
/// Reads the rows of a document, if it has the format.
type OfJson = fn(&str, &Value) -> Option<Vec<Row>>;

/// The rows of a text, if it is in one of the formats.
pub(crate) fn of_text(name: &str, text: &str) -> Option<(Format, Vec<Row>)> {
    let formats: [(Format, OfText); 7] = [
        (Format::Wrk, wrk::rows),
        (Format::Ab, ab::rows),
        (Format::H2load, h2load::rows),
        (Format::Gcannon, gcannon::rows_of_text),
        (Format::Oha, oha::rows_of_text),
        (Format::Hey, hey::rows),
        (Format::K6, k6::rows_of_text),
    ];
    let read = formats.into_iter().map(|(format, rows)| (format, rows(name, text)));
    read.into_iter().find(|(_, rows)| !rows.is_empty())
}

/// The rows of a JSON document, if it is in one of the formats.
pub(crate) fn of_json(name: &str, value: &Value) -> Result<(Format, Vec<Row>), Unreadable> {
    if let Some(schema) = value.get("schema").and_then(Value::as_str)
        && let Some(document) = schema.strip_prefix("dyno.")
    {
        return match own::rows(document, name, value) {
            Some(rows) => Ok((Format::DynoLoad, rows)),
            None => Err(Unreadable::OwnDocument(schema.into())),
        };
    }
    let formats: [(Format, OfJson); 8] = [
        (Format::TechEmpower, techempower::rows),
        (Format::WebFrameworks, web_frameworks::rows),
        (Format::OhaJson, oha::rows_of_json),
        (Format::K6Json, k6::rows_of_json),
        (Format::H2loadJson, h2load::rows_of_json),
        (Format::GcannonJson, gcannon::rows_of_json),
        (Format::Zrk, zrk::rows),
        (Format::HttpArena, arena::rows),
    ];
    let mut read =
        formats.into_iter().filter_map(|(format, rows)| Some((format, rows(name, value)?)));
    read.next().ok_or(Unreadable::Unknown)
}

/// A row for each run of a program whose results stand in one text, one behind the other: a piece is cut off where
/// `begins` says so of a line, and is a run if it has this of its results. Without any it is one piece.
fn runs(
    name: &str,
    text: &str,
    begins: impl FnMut(&str) -> bool,
    result: &str,
    row: fn(&str, &str) -> Row,
) -> Vec<Row> {
    let mut pieces = pieces(text, begins);
    pieces.retain(|piece| piece.contains(result));
    if pieces.len() <= 1 {
        return vec![row(name, pieces.first().unwrap_or(&text))];
    }
    let numbered_row = |(place, piece): (usize, &&str)| row(&numbered(name, place), piece);
    pieces.iter().enumerate().map(numbered_row).collect()
}

/// Cuts a text before each line of which `begins` says so; what stands above the first is in no piece.
fn pieces(text: &str, mut begins: impl FnMut(&str) -> bool) -> Vec<&str> {
    let (mut starts, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        if begins(line.trim()) {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(text.len());
    starts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
}

/// The name of one of several runs.
fn numbered(name: &str, place: usize) -> String {
    format!("{name} #{}", place + 1)
}

/// A file's name without folders and without its last ending.
pub(crate) fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}
