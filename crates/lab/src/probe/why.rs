//! What a probe says of its runtime's functions, for profiles: the table `[why]` of its manifest.

use std::collections::BTreeMap;

use profile::{NameRule, Pattern, Runtime};
use serde::Deserialize;
use toml::Spanned;

use crate::amounts;
use crate::command::Command;
use crate::source_file::{ConfigError, SourceFile};

/// What a runtime needs so that its functions have names, and what they are called.
#[derive(Clone, Debug)]
pub struct Why {
    pub runtime: Runtime,
    /// Variables of a sampled trial, and of no other.
    pub env: Vec<(String, String)>,
    /// What writes the names, while the process still runs.
    pub before_end: Option<Command>,
    /// Bytes of the stack to copy for DWARF, where the runtime's code has no frame pointers.
    pub dwarf_bytes: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    #[serde(rename = "match")]
    executables: Vec<Spanned<String>>,
    symbol: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    before_end: Option<Spanned<String>>,
    stacks: Option<Spanned<String>>,
    #[serde(default)]
    anywhere: Vec<LineKeys>,
    #[serde(default)]
    innermost: Vec<LineKeys>,
    #[serde(default)]
    threads: Vec<LineKeys>,
    #[serde(default)]
    names: Vec<NameKeys>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineKeys {
    line: String,
    #[serde(rename = "match")]
    patterns: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameKeys {
    #[serde(rename = "match")]
    pattern: Spanned<String>,
    function: Option<Spanned<String>>,
    package: Option<Spanned<String>>,
}

/// Reads the table.
pub(super) fn read(source: &SourceFile, keys: Keys) -> Result<Why, ConfigError> {
    let names = keys.names.into_iter().map(|keys| name_rule(source, keys));
    Ok(Why {
        runtime: Runtime {
            executables: source.texts(&keys.executables, pattern)?,
            symbol: keys.symbol,
            anywhere: lines(source, keys.anywhere)?,
            innermost: lines(source, keys.innermost)?,
            threads: lines(source, keys.threads)?,
            names: names.collect::<Result<_, _>>()?,
        },
        env: keys.env.into_iter().collect(),
        before_end: source.some_text(&keys.before_end, Command::parse)?,
        dwarf_bytes: source.some_text(&keys.stacks, stacks)?.flatten(),
    })
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::parse(text).map_err(|says| format!("pattern: {says}"))
}

fn lines(
    source: &SourceFile,
    keys: Vec<LineKeys>,
) -> Result<Vec<(String, Vec<Pattern>)>, ConfigError> {
    keys.into_iter().map(|keys| Ok((keys.line, source.texts(&keys.patterns, pattern)?))).collect()
}

fn name_rule(source: &SourceFile, keys: NameKeys) -> Result<NameRule, ConfigError> {
    let pattern = source.text(&keys.pattern, pattern)?;
    for text in keys.function.iter().chain(&keys.package) {
        if let Some(name) = unknown_name(&pattern, text.get_ref()) {
            return Err(source.wrong_here(text, format!("`match` keeps no `{{{name}}}`")));
        }
    }
    let [function, package] = [keys.function, keys.package].map(|text| Some(text?.into_inner()));
    Ok(NameRule { pattern, function, package })
}

/// A name in braces that the pattern does not keep.
fn unknown_name(pattern: &Pattern, text: &str) -> Option<String> {
    let names = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let mut unknown = names.filter(|name| !pattern.names().any(|kept| kept == *name));
    unknown.next().map(String::from)
}

/// How stacks are followed: `frame-pointers`, or `dwarf:8KiB` with so much of each stack copied.
pub(crate) fn stacks(text: &str) -> Result<Option<u32>, String> {
    if text == "frame-pointers" {
        return Ok(None);
    }
    match text.strip_prefix("dwarf:").and_then(|size| amounts::bytes(size).ok()) {
        Some(bytes) if (1 << 10..=32 << 10).contains(&bytes) && bytes % 8 == 0 => {
            Ok(Some(bytes as u32))
        }
        Some(_) | None => Err(
            "expected \"frame-pointers\", or \"dwarf:\" with 1KiB to 32KiB of each stack, such as \"dwarf:8KiB\""
                .into(),
        ),
    }
}
