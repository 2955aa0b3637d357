//! What a probe says of its runtime's functions, for profiles: the table `[why]` of its manifest.

use std::collections::BTreeMap;

use profile::{LineRule, NameRule, Pattern, Runtime};
use serde::Deserialize;

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
    executables: Vec<Pattern>,
    symbol: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    before_end: Option<Command>,
    #[serde(default)]
    stacks: Stacks,
    #[serde(default)]
    anywhere: Vec<LineRule>,
    #[serde(default)]
    innermost: Vec<LineRule>,
    #[serde(default)]
    threads: Vec<LineRule>,
    #[serde(default)]
    names: Vec<NameRule>,
}

/// Reads the table.
pub(super) fn read(source: &SourceFile, keys: Keys) -> Result<Why, ConfigError> {
    for (at, rule) in keys.names.iter().enumerate() {
        for (key, text) in [("function", &rule.function), ("package", &rule.package)] {
            source.check(&format!("why.names.{at}.{key}"), text, |text| {
                let unknown = unknown_name(&rule.pattern, text);
                unknown.map_or(Ok(()), |name| Err(format!("`match` keeps no `{{{name}}}`")))
            })?;
        }
    }
    let Keys { executables, symbol, env, before_end, stacks, anywhere, innermost, threads, names } =
        keys;
    Ok(Why {
        runtime: Runtime { executables, symbol, anywhere, innermost, threads, names },
        env: env.into_iter().collect(),
        before_end,
        dwarf_bytes: stacks.dwarf_bytes,
    })
}

/// A name in braces that the pattern does not keep.
fn unknown_name(pattern: &Pattern, text: &str) -> Option<String> {
    let names = text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
    let mut unknown = names.filter(|name| !pattern.names().any(|kept| kept == *name));
    unknown.next().map(String::from)
}

/// How stacks are followed: `frame-pointers`, or `dwarf:8KiB` with so much of each stack copied.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Stacks {
    pub(crate) dwarf_bytes: Option<u32>,
}

impl TryFrom<String> for Stacks {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Stacks, &'static str> {
        if text == "frame-pointers" {
            return Ok(Stacks::default());
        }
        match text.strip_prefix("dwarf:").and_then(|size| amounts::bytes(size).ok()) {
            Some(bytes) if (1 << 10..=32 << 10).contains(&bytes) && bytes % 8 == 0 => {
                Ok(Stacks { dwarf_bytes: Some(bytes as u32) })
            }
            Some(_) | None => Err(
                "expected \"frame-pointers\", or \"dwarf:\" with 1KiB to 32KiB of each stack, such as \"dwarf:8KiB\"",
            ),
        }
    }
}
