//! The list of names and public keys that `dyno-nats key` prints line by line.

use std::collections::BTreeMap;
use std::path::Path;

use requests::file;

use super::values::{COORDINATOR, Label, label};
use crate::shell::Refusal;

/// No list is longer: some 15,000 agents.
const LONGEST: u64 = 2 << 20;

/// Who may be at the broker.
#[derive(Debug, PartialEq)]
pub(crate) struct Keys {
    pub(crate) coordinator: String,
    pub(crate) agents: BTreeMap<Label, String>,
}

pub(crate) fn read(path: &Path) -> Result<Keys, Refusal> {
    let refused = |why: String| Refusal::new(format!("--keys {}: {why}", path.display()));
    let octets = file::read(path, LONGEST).map_err(|error| refused(error.to_string()))?;
    let too_long = || refused("it is too long for a list of keys, which may have 2 MiB".into());
    let text = String::from_utf8(octets.ok_or_else(too_long)?);
    parse(&text.map_err(|error| refused(error.to_string()))?).map_err(refused)
}

fn parse(text: &str) -> Result<Keys, String> {
    let mut coordinator = None;
    let mut agents = BTreeMap::new();
    for (place, line) in text.lines().enumerate() {
        let in_line = |why: &str| format!("line {}: {why}", place + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, key) = line.split_once(' ').ok_or_else(|| in_line("it is not `NAME KEY`"))?;
        let key = public(key.trim()).map_err(in_line)?;
        let is_first = match name {
            COORDINATOR => coordinator.replace(key).is_none(),
            _ => agents.insert(label(name).map_err(|why| in_line(&why))?, key).is_none(),
        };
        if !is_first {
            return Err(in_line(&format!("{name} has two keys")));
        }
    }
    let coordinator = coordinator.ok_or(
        "it has no line for the coordinator: `dyno-nats key coordinator` makes its key, and prints the line",
    )?;
    if agents.is_empty() {
        return Err("it has no agent".into());
    }
    Ok(Keys { coordinator, agents })
}

/// The public half of a user's nkey. The broker checks the sum within it.
fn public(text: &str) -> Result<String, &'static str> {
    let is_key = text.len() == 56
        && text.starts_with('U')
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte));
    if is_key {
        return Ok(text.to_string());
    }
    if text.starts_with('S') {
        return Err("this begins like a secret seed; a public key begins with U");
    }
    Err("this is not a public key of a user; they begin with U and have 56 characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_the_coordinator_and_agents() {
        let key = format!("U{}", "A2".repeat(27) + "B");
        let good = format!("# all\n\ncoordinator {key}\nload-0  {key}\n");
        let keys = parse(&good).unwrap();
        assert_eq!((keys.coordinator, keys.agents.len()), (key.clone(), 1));
        for (bad, words) in [
            (String::new(), "no line for the coordinator"),
            (format!("coordinator {key}"), "no agent"),
            (format!("coordinator {key}\ncoordinator {key}"), "line 2: coordinator has two keys"),
            (format!("a {key}\na {key}"), "line 2: a has two keys"),
            ("a".into(), "line 1: it is not `NAME KEY`"),
            ("a U1".into(), "line 1: this is not a public key"),
            (format!("a {}", key.to_lowercase()), "not a public key"),
            (format!("a S{key}"), "secret seed"),
            (format!("A {key}"), "line 1: names have"),
        ] {
            let said = parse(&bad).unwrap_err();
            assert!(said.contains(words), "{bad}: {said}");
        }
    }
}
