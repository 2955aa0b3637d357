//! Names of labs and agents. They become parts of subjects and of host names, so they are DNS labels.

use std::fmt;

/// A name in small letters, digits and hyphens, of at most 63 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(String);

/// What the coordinator is called on the wire; no agent may have this name.
pub(crate) const COORDINATOR: &str = "coordinator";

impl Name {
    pub(crate) fn parse(text: &str) -> Result<Name, String> {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let ends_well = |byte: Option<&u8>| byte.is_some_and(|byte| is_inner(*byte));
        let bytes = text.as_bytes();
        let is_label = bytes.len() <= 63
            && ends_well(bytes.first())
            && ends_well(bytes.last())
            && bytes.iter().all(|byte| is_inner(*byte) || *byte == b'-');
        if is_label {
            return Ok(Name(text.to_string()));
        }
        Err(format!(
            "`{}` is no name: names have small letters, digits and hyphens, begin and end with a letter or digit, and have \
             at most 63 characters",
            shortened(text)
        ))
    }

    /// The name of an agent: any but the coordinator's.
    pub(crate) fn of_agent(text: &str) -> Result<Name, String> {
        let name = Name::parse(text)?;
        match text {
            COORDINATOR => Err(format!("`{COORDINATOR}` is no name for an agent")),
            _ => Ok(name),
        }
    }

    pub(crate) fn coordinator() -> Name {
        Name(COORDINATOR.to_string())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The beginning of a text from outside, on one line.
pub(crate) fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(80).flat_map(char::escape_default).collect();
    if text.chars().nth(80).is_some() { shown + "…" } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels_and_nothing_that_means_more_in_a_subject() {
        for good in ["a", "desk3", "load-0", "0", &"x".repeat(63)] {
            assert_eq!(Name::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a b", "*", ">", "é", "a\n", &"x".repeat(64)] {
            assert!(Name::parse(bad).unwrap_err().contains("is no name"), "{bad:?}");
        }
        assert!(Name::of_agent("coordinator").is_err());
    }
}
