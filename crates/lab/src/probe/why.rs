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
    let wrong = |text: &Spanned<String>, says: String| source.wrong(Some(text.span()), says);
    let pattern = |text: &Spanned<String>| {
        Pattern::parse(text.get_ref()).map_err(|says| wrong(text, format!("pattern: {says}")))
    };
    let lines = |lines: Vec<LineKeys>| -> Result<Vec<(String, Vec<Pattern>)>, ConfigError> {
        let line = |keys: LineKeys| {
            Ok((keys.line, keys.patterns.iter().map(pattern).collect::<Result<_, _>>()?))
        };
        lines.into_iter().map(line).collect()
    };
    let command = |text: &Spanned<String>| {
        Command::parse(text.get_ref()).map_err(|error| wrong(text, error.to_string()))
    };
    let name_rule = |keys: &NameKeys| {
        let pattern = pattern(&keys.pattern)?;
        for text in keys.function.iter().chain(&keys.package) {
            if let Some(name) = unknown_name(&pattern, text.get_ref()) {
                return Err(wrong(text, format!("`match` keeps no `{{{name}}}`")));
            }
        }
        let text = |text: &Option<Spanned<String>>| text.clone().map(Spanned::into_inner);
        Ok(NameRule { pattern, function: text(&keys.function), package: text(&keys.package) })
    };
    Ok(Why {
        runtime: Runtime {
            executables: keys.executables.iter().map(pattern).collect::<Result<_, _>>()?,
            symbol: keys.symbol,
            anywhere: lines(keys.anywhere)?,
            innermost: lines(keys.innermost)?,
            threads: lines(keys.threads)?,
            names: keys.names.iter().map(name_rule).collect::<Result<_, _>>()?,
        },
        env: keys.env.into_iter().collect(),
        before_end: keys.before_end.as_ref().map(command).transpose()?,
        dwarf_bytes: stacks(source, keys.stacks.as_ref())?,
    })
}

/// A name in braces that the pattern does not keep.
fn unknown_name(pattern: &Pattern, text: &str) -> Option<String> {
    let names = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let mut unknown = names.filter(|name| !pattern.names().any(|kept| kept == *name));
    unknown.next().map(String::from)
}

/// How stacks are followed: `frame-pointers`, or `dwarf:8KiB` with so much of each stack copied.
pub(crate) fn stacks(
    source: &SourceFile,
    key: Option<&Spanned<String>>,
) -> Result<Option<u32>, ConfigError> {
    let Some(text) = key else { return Ok(None) };
    let wrong = || {
        let says = "expected \"frame-pointers\", or \"dwarf:\" with 1KiB to 32KiB of each stack, such as \"dwarf:8KiB\"";
        source.wrong(Some(text.span()), says)
    };
    if text.get_ref() == "frame-pointers" {
        return Ok(None);
    }
    let bytes = text.get_ref().strip_prefix("dwarf:").and_then(|size| amounts::bytes(size).ok());
    match bytes {
        Some(bytes) if (1 << 10..=32 << 10).contains(&bytes) && bytes % 8 == 0 => {
            Ok(Some(bytes as u32))
        }
        Some(_) | None => Err(wrong()),
    }
}
