//! What must be answered, as a workload writes it: status, fields, body.

use serde::Deserialize;
use toml::Spanned;
use wire::{Ask, BodyRule, EARLY_ALLOWED_NS, Expect, StatusRule, Template};

use super::{AskKeys, Interaction, Question};
use crate::amounts;
use crate::source_file::{ConfigError, SourceFile};

impl Question {
    /// A request that no workload has.
    #[must_use]
    pub fn of(ask: &Ask) -> Question {
        let request = ask.made_from().clone();
        Question {
            name: "ask".into(),
            method: request.method.clone(),
            path: request.target.clone(),
            weight: 1,
            request,
            ask: ask.clone(),
            last_ask: ask.clone(),
            interaction: Interaction::Answer,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a status such as 200, or \"any\"")]
pub(super) enum StatusKey {
    Number(u16),
    Word(String),
}

pub(super) fn expect(source: &SourceFile, keys: &AskKeys) -> Result<Expect, ConfigError> {
    let status = match &keys.status {
        None => StatusRule::Success,
        Some(status) => match status.get_ref() {
            StatusKey::Number(number) if (200..600).contains(number) => {
                StatusRule::Exactly(*number)
            }
            StatusKey::Word(word) if word == "any" => StatusRule::Any,
            StatusKey::Number(number) => {
                let says = format!("{number} is not a final status; they go from 200 to 599");
                return Err(source.wrong(Some(status.span()), says));
            }
            StatusKey::Word(word) => {
                let says =
                    format!("`{}` is not a status; write 200, or \"any\"", word.escape_debug());
                return Err(source.wrong(Some(status.span()), says));
            }
        },
    };
    let mut headers = Vec::new();
    for (name, value) in &keys.header {
        headers.push((name.get_ref().to_ascii_lowercase(), template(source, value)?));
    }
    let body = body_rule(source, keys)?;
    Ok(Expect { status, headers, body, body_is_usual: false, wait_ns: wait_ns(source, keys)? })
}

/// Timers of whole milliseconds may fire up to one early, so that a shorter wait could not be told from none.
fn wait_ns(source: &SourceFile, keys: &AskKeys) -> Result<Option<u64>, ConfigError> {
    let Some(key) = &keys.wait else { return Ok(None) };
    let wrong = |says: String| source.wrong(Some(key.span()), says);
    let wait = amounts::time(key.get_ref()).map_err(wrong)?.as_nanos() as u64;
    if wait <= EARLY_ALLOWED_NS {
        return Err(wrong("a wait of 1 ms or less cannot be judged".into()));
    }
    Ok(Some(wait))
}

/// The body itself, its length or its SHA-256: one of them, or any body.
fn body_rule(source: &SourceFile, keys: &AskKeys) -> Result<BodyRule, ConfigError> {
    let twice = |span| Err(source.wrong(Some(span), "the body is stated twice; leave one out"));
    match (&keys.body, &keys.body_length, &keys.body_sha256) {
        (None, None, None) => Ok(BodyRule::Any),
        (Some(text), None, None) => Ok(BodyRule::Exactly(template(source, text)?)),
        (None, Some(length), None) => Ok(BodyRule::Length(*length.get_ref())),
        (None, None, Some(hex)) => {
            wire::sha256_of_hex(hex.get_ref()).map(BodyRule::Sha256).ok_or_else(|| {
                let says = "a SHA-256 is 64 hexadecimal digits; see sha256sum";
                source.wrong(Some(hex.span()), says)
            })
        }
        (_, Some(length), _) => twice(length.span()),
        (_, None, Some(hex)) => twice(hex.span()),
    }
}

pub(super) fn template(
    source: &SourceFile,
    text: &Spanned<String>,
) -> Result<Template, ConfigError> {
    Template::parse(text.get_ref().as_bytes())
        .map_err(|error| source.wrong(Some(text.span()), error.to_string()))
}
