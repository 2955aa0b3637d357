//! What must be answered, as a workload writes it: status, fields, body.

use serde::Deserialize;
use toml::Spanned;
use wire::{
    BodyRule, Dataset, EARLY_ALLOWED_NS, Expect, Insertion, Meaning, Number, Request, StatusRule,
    Tables, Template,
};

use super::{AskKeys, files};
use crate::amounts;
use crate::source_file::{ConfigError, SourceFile};

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a status such as 200, or \"any\"")]
pub(super) enum StatusKey {
    Number(u16),
    Word(String),
}

pub(super) fn expect(
    source: &SourceFile,
    keys: &AskKeys,
    request: &Request,
) -> Result<Expect, ConfigError> {
    let status = match &keys.status {
        None if keys.is_file() => StatusRule::Any,
        None => StatusRule::Success,
        Some(status) => match status.get_ref() {
            StatusKey::Number(number) if (200..600).contains(number) => {
                StatusRule::Exactly(*number)
            }
            StatusKey::Word(word) if word == "any" => StatusRule::Any,
            StatusKey::Number(number) => {
                let says = format!("{number} is not a final status; they go from 200 to 599");
                return Err(source.wrong_here(status, says));
            }
            StatusKey::Word(word) => {
                let says =
                    format!("`{}` is not a status; write 200, or \"any\"", word.escape_debug());
                return Err(source.wrong_here(status, says));
            }
        },
    };
    let mut headers = Vec::new();
    for (name, value) in &keys.header {
        headers.push((name.get_ref().to_ascii_lowercase(), source.text(value, template)?));
    }
    let body = body_rule(source, keys, request)?;
    let wait_ns = source.some_text(&keys.wait, wait_ns)?;
    Ok(Expect { status, headers, body, body_is_usual: false, wait_ns })
}

/// Timers of whole milliseconds may fire up to one early, so that a shorter wait could not be told from none.
fn wait_ns(text: &str) -> Result<u64, String> {
    match amounts::time(text)?.as_nanos() as u64 {
        ..=EARLY_ALLOWED_NS => Err("a wait of 1 ms or less cannot be judged".into()),
        wait => Ok(wait),
    }
}

/// A body of JSON that follows from the request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonKeys {
    items: Option<Spanned<String>>,
    times: Option<Spanned<String>>,
    sum: Option<Spanned<String>>,
}

/// The body itself, its length, its SHA-256 or its meaning: one of them, or any body.
fn body_rule(
    source: &SourceFile,
    keys: &AskKeys,
    request: &Request,
) -> Result<BodyRule, ConfigError> {
    let stated = [
        keys.body.as_ref().map(Spanned::span),
        keys.body_length.as_ref().map(Spanned::span),
        keys.body_sha256.as_ref().map(Spanned::span),
        keys.json.as_ref().map(Spanned::span),
        keys.database.as_ref().map(Spanned::span),
        keys.file.as_ref().map(Spanned::span),
    ];
    if let Some(second) = stated.into_iter().flatten().nth(1) {
        return Err(source.wrong(Some(second), "the body is stated twice; leave one out"));
    }
    if let Some(text) = &keys.body {
        return source.text(text, template).map(BodyRule::Exactly);
    }
    if let Some(length) = &keys.body_length {
        return Ok(BodyRule::Length(*length.get_ref()));
    }
    if let Some(hex) = &keys.body_sha256 {
        let says = "a SHA-256 is 64 hexadecimal digits; see sha256sum";
        let digest = wire::sha256_of_hex(hex.get_ref());
        return digest.map(BodyRule::Sha256).ok_or_else(|| source.wrong_here(hex, says));
    }
    if let Some(file) = keys.file.as_ref().filter(|_| keys.is_file()) {
        let rule = files::rule(keys, request);
        return rule.map(BodyRule::File).map_err(|says| source.wrong_here(file, says));
    }
    match (&keys.json, &keys.database) {
        (Some(json), _) => json_rule(source, json).map(BodyRule::Meaning),
        (None, Some(database)) => database_rule(source, database).map(BodyRule::Meaning),
        (None, None) => Ok(BodyRule::Any),
    }
}

/// What is answered from the tables of the service.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected \"row\", \"fortunes\", { rows = 5 } or { updated = 5 }"
)]
pub(super) enum DatabaseKeys {
    Word(DatabaseWord),
    Rows { rows: u16 },
    Updated { updated: u16 },
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DatabaseWord {
    Row,
    Fortunes,
}

/// As many as TechEmpower's servers answer at once.
const ROWS_MAX: u16 = 500;

/// The tables of a trial take the place of these ones.
fn database_rule(
    source: &SourceFile,
    keys: &Spanned<DatabaseKeys>,
) -> Result<Meaning, ConfigError> {
    let tables = Tables::default();
    let count = match *keys.get_ref() {
        DatabaseKeys::Word(_) => 1,
        DatabaseKeys::Rows { rows } => rows,
        DatabaseKeys::Updated { updated } => updated,
    };
    if !(1..=ROWS_MAX).contains(&count) {
        let says = format!("an answer has from 1 to {ROWS_MAX} rows, not {count}");
        return Err(source.wrong_here(keys, says));
    }
    Ok(match keys.get_ref() {
        DatabaseKeys::Word(DatabaseWord::Row) => Meaning::Rows { tables, count: None },
        DatabaseKeys::Rows { .. } => Meaning::Rows { tables, count: Some(count) },
        DatabaseKeys::Updated { .. } => Meaning::Updated(count),
        DatabaseKeys::Word(DatabaseWord::Fortunes) => {
            Meaning::Fortunes { tables, insertion: Insertion::default() }
        }
    })
}

/// The data set of a trial takes the place of this one.
fn json_rule(source: &SourceFile, json: &Spanned<JsonKeys>) -> Result<Meaning, ConfigError> {
    let JsonKeys { items, times, sum: listed } = json.get_ref();
    let (items, times) = match (items, times, listed) {
        (Some(items), Some(times), None) => (items, times),
        (None, None, Some(text)) => {
            return source.text(text, sum).map(Meaning::Sum);
        }
        _ => {
            let says = "a body of JSON has `items` and `times`, or a `sum`";
            return Err(source.wrong_here(json, says));
        }
    };
    let (count, times) = (source.text(items, number)?, source.text(times, number)?);
    if Dataset::ITEMS < count.most() {
        let says = format!("a data set has {} items", Dataset::ITEMS);
        return Err(source.wrong_here(items, says));
    }
    Ok(Meaning::Items { dataset: Dataset::default(), count, times })
}

fn sum(text: &str) -> Result<u16, String> {
    let says = "a sum is that of integers which the request lists; write it {integers:150}";
    template(text)?.integers().ok_or(says.into())
}

fn number(text: &str) -> Result<Number, String> {
    let shown = text.escape_debug();
    let says = format!("`{shown}` is not a number of the request; write it like {{number:1-50}}");
    template(text)?.number().ok_or(says)
}

pub(super) fn template(text: &str) -> Result<Template, String> {
    Template::parse(text.as_bytes())
}
