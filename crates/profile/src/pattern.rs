//! Patterns of names, as probes write them: `*` is any text, `?` one character, `{name}` any text that is kept, and
//! `{name:word}` a word that is kept. Texts are as short as they can be.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    One,
    Any { keep: Option<String>, is_word: bool },
}

/// What a pattern kept, by name.
pub(crate) type Kept = BTreeMap<String, String>;

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Pattern, String> {
        Pattern::parse(&text).map_err(|says| format!("pattern: {says}"))
    }
}

impl Pattern {
    /// Reads a pattern, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '{']) {
            if 0 < at {
                parts.push(Part::Text(rest[..at].to_owned()));
            }
            let (mark, after) = rest[at..].split_at(1);
            rest = after;
            parts.push(match mark {
                "*" => Part::Any { keep: None, is_word: false },
                "?" => Part::One,
                _ => {
                    let (inner, after) = rest.split_once('}').ok_or("`{` has no `}`")?;
                    rest = after;
                    let (name, is_word) = match inner.split_once(':') {
                        Some((name, "word")) => (name, true),
                        Some((_, other)) => {
                            return Err(format!("`{{…:{other}}}` is none; only `{{…:word}}` is"));
                        }
                        None => (inner, false),
                    };
                    Part::Any { keep: Some(name.to_owned()), is_word }
                }
            });
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Pattern(parts))
    }

    /// The names that it keeps.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Any { keep, .. } => keep.as_deref(),
            Part::Text(_) | Part::One => None,
        })
    }

    pub(crate) fn fits(&self, text: &str) -> bool {
        self.kept(text).is_some()
    }

    /// What it keeps of a text that it fits.
    pub(crate) fn kept(&self, text: &str) -> Option<Kept> {
        let mut steps = MOST_STEPS;
        let mut kept = Kept::new();
        fit(&self.0, text, &mut kept, &mut steps).then_some(kept)
    }
}

/// A name that would take longer fits no pattern.
const MOST_STEPS: u32 = 20_000;

fn fit(parts: &[Part], text: &str, kept: &mut Kept, steps: &mut u32) -> bool {
    let Some(left) = steps.checked_sub(1) else { return false };
    *steps = left;
    match parts.split_first() {
        None => text.is_empty(),
        Some((Part::Text(wanted), parts)) => {
            text.strip_prefix(wanted.as_str()).is_some_and(|text| fit(parts, text, kept, steps))
        }
        Some((Part::One, parts)) => {
            let mut rest = text.chars();
            rest.next().is_some() && fit(parts, rest.as_str(), kept, steps)
        }
        Some((Part::Any { keep, is_word }, parts)) => {
            let fitted = |end: &usize| fit(parts, &text[*end..], kept, steps);
            let letters = text.char_indices();
            let end = match is_word {
                false => letters.map(|(at, _)| at).chain([text.len()]).find(fitted),
                true => letters
                    .take_while(|(_, letter)| is_of_word(*letter))
                    .map(|(at, letter)| at + letter.len_utf8())
                    .find(fitted),
            };
            if let (Some(end), Some(name)) = (end, keep) {
                kept.insert(name.clone(), text[..end].to_owned());
            }
            end.is_some()
        }
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '$')
}

/// A text with `{name}` in it, filled with what was kept; a function without a name is said to have none.
pub(crate) fn fill(text: &str, kept: &Kept) -> String {
    kept.iter().fold(text.to_owned(), |text, (name, value)| {
        let value = if value.is_empty() { "(anonymous)" } else { value };
        text.replace(&format!("{{{name}}}"), value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pattern: &str, text: &str) -> Option<String> {
        let kept = Pattern::parse(pattern).expect("a pattern").kept(text)?;
        Some(kept.iter().map(|(name, value)| format!("{name}={value} ")).collect())
    }

    #[test]
    fn patterns_keep_what_they_name() {
        let script = "JS:?{function} *node_modules/{package}/*";
        let text = "JS:*handle /srv/node_modules/express/lib/router.js:12:5";
        assert_eq!(kept(script, text), Some("function=handle package=express ".into()));
        let go = "{folder}/{name:word}.*";
        let text = "github.com/jackc/pgx/v5.(*Conn).Query";
        assert_eq!(kept(go, text), Some("folder=github.com/jackc/pgx name=v5 ".into()));
        assert_eq!(kept("{name:word}.*", "runtime.mallocgc"), Some("name=runtime ".into()));
        assert_eq!(kept("{name:word}.*", ".mallocgc"), None);
        assert_eq!(kept("G1 *", "G1 Main Marker"), Some(String::new()));
        assert_eq!(kept("a?c", "äbc"), None);
        assert_eq!(kept("?bc", "äbc"), Some(String::new()));
    }

    #[test]
    fn a_name_made_to_take_for_ever_fits_nothing() {
        let pattern = Pattern::parse("*a*a*a*a*a*a*a*a*b").expect("a pattern");
        assert!(!pattern.fits(&"a".repeat(10_000)));
    }

    #[test]
    fn what_is_no_pattern_says_so() {
        assert_eq!(Pattern::parse("{a"), Err("`{` has no `}`".into()));
        assert!(Pattern::parse("{a:number}").is_err());
    }
}
