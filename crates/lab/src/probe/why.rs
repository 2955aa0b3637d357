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
    let reader = Reader { source };
    let before_end = keys.before_end.as_ref().map(|text| {
        let command = Command::parse(text.get_ref());
        command.map_err(|says| source.wrong(Some(text.span()), says))
    });
    Ok(Why {
        runtime: Runtime {
            executables: reader.patterns(&keys.executables)?,
            symbol: keys.symbol,
            anywhere: reader.lines(keys.anywhere)?,
            innermost: reader.lines(keys.innermost)?,
            threads: reader.lines(keys.threads)?,
            names: keys
                .names
                .iter()
                .map(|keys| reader.name_rule(keys))
                .collect::<Result<_, _>>()?,
        },
        env: keys.env.into_iter().collect(),
        before_end: before_end.transpose()?,
        dwarf_bytes: stacks(source, keys.stacks.as_ref())?,
    })
}

struct Reader<'s> {
    source: &'s SourceFile,
}

impl Reader<'_> {
    fn patterns(&self, texts: &[Spanned<String>]) -> Result<Vec<Pattern>, ConfigError> {
        texts.iter().map(|text| self.pattern(text)).collect()
    }

    fn pattern(&self, text: &Spanned<String>) -> Result<Pattern, ConfigError> {
        let wrong = |says| self.source.wrong(Some(text.span()), format!("pattern: {says}"));
        Pattern::parse(text.get_ref()).map_err(wrong)
    }

    fn lines(&self, keys: Vec<LineKeys>) -> Result<Vec<(String, Vec<Pattern>)>, ConfigError> {
        keys.into_iter().map(|keys| Ok((keys.line, self.patterns(&keys.patterns)?))).collect()
    }

    fn name_rule(&self, keys: &NameKeys) -> Result<NameRule, ConfigError> {
        let pattern = self.pattern(&keys.pattern)?;
        for text in keys.function.iter().chain(&keys.package) {
            if let Some(name) = unknown_name(&pattern, text.get_ref()) {
                let says = format!("`match` keeps no `{{{name}}}`");
                return Err(self.source.wrong(Some(text.span()), says));
            }
        }
        let text = |text: &Option<Spanned<String>>| text.clone().map(Spanned::into_inner);
        Ok(NameRule { pattern, function: text(&keys.function), package: text(&keys.package) })
    }
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
