//! Values that become part of configurations and scripts: each is checked, so that it means there what it says here.

use std::fmt;

use agents::Allowed;

/// What the coordinator is called at the broker; no agent may have this name.
pub(crate) const COORDINATOR: &str = "coordinator";

/// A name in small letters, digits and hyphens: a DNS label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Label(String);

impl Label {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

pub(crate) fn label(text: &str) -> Result<Label, String> {
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let is_label = bytes.len() <= 63
        && bytes.first().is_some_and(is_inner)
        && bytes.last().is_some_and(is_inner)
        && bytes.iter().all(|byte| is_inner(byte) || *byte == b'-');
    if is_label {
        return Ok(Label(text.to_string()));
    }
    Err("names have small letters, digits and hyphens, begin and end with a letter or digit, and have at most 63 characters"
        .into())
}

/// A lab's name, from which names of pods are made, which have to be labels, too. They begin with a letter.
pub(crate) fn lab(text: &str) -> Result<Label, String> {
    let label = label(text)?;
    if 40 < text.len() || text.starts_with(|first: char| first.is_ascii_digit()) {
        return Err("a lab's name begins with a letter, and has at most 40 characters".into());
    }
    Ok(label)
}

/// One word for a scheduler, a container runtime or a path: nothing that a shell or a configuration would read as more.
pub(crate) fn word(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+,=".contains(&byte);
    let is_word = !text.is_empty() && !text.starts_with('-') && text.len() <= 1_000;
    if is_word && text.bytes().all(is_plain) {
        return Ok(text.to_string());
    }
    Err("give one word of letters, digits and -_./:@%+,= that does not begin with -".into())
}

/// How many machines load.
pub(crate) fn machines(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count) if (1..=1_000).contains(&count) => Ok(count),
        _ => Err("give a number from 1 to 1,000".into()),
    }
}

/// What an agent may load, `ADDRESS[/BITS]:PORT[-PORT]`, checked and as it was given.
pub(crate) fn allowed(text: &str) -> Result<String, String> {
    text.parse::<Allowed>().map(|_| text.to_string())
}

/// Where a broker listens, `ADDRESS:PORT`.
pub(crate) fn listen(text: &str) -> Result<std::net::SocketAddr, String> {
    match text.parse::<std::net::SocketAddr>() {
        Ok(address) if address.port() != 0 => Ok(address),
        _ => Err("give ADDRESS:PORT, like 127.0.0.1:4222 or 0.0.0.0:4222".into()),
    }
}

/// The words after `--`, which dyno is to be started with.
pub(crate) fn argument(text: &str) -> Result<String, String> {
    match text.chars().any(char::is_control) {
        true => Err("an argument has a control character, such as the end of a line".into()),
        false => Ok(text.to_string()),
    }
}

/// The broker, and what a coordinator needs to find its agents there, as `--load-on` takes it.
pub(crate) fn load_on(broker: &str, lab: &str, agents: &str, files: &[(&str, &str)]) -> String {
    let files: String = files.iter().map(|(key, path)| format!("&{key}={path}")).collect();
    format!("{broker}/{lab}?agents={agents}{files}")
}

/// `load-0,load-1,…`
pub(crate) fn agent_names(count: u32) -> Vec<String> {
    (0..count).map(|number| format!("load-{number}")).collect()
}

/// The template with a value in place of each `@NAME@`. Values are not searched again.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('@') {
        let name = after.split('@').next().unwrap_or_default();
        filled.push_str(before);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => {
                filled.push_str(value);
                rest = after.get(name.len() + 1..).unwrap_or_default();
            }
            None => {
                filled.push('@');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels() {
        for good in ["a", "desk3", "load-0", &"x".repeat(63)] {
            assert!(label(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a b", "*", ">", "a\n", "é", &"x".repeat(64)] {
            assert!(label(bad).is_err(), "{bad:?}");
        }
        assert!(lab("x1").is_ok() && lab("1x").is_err() && lab(&"x".repeat(41)).is_err());
    }

    #[test]
    fn words_cannot_end_a_quotation_or_begin_a_command() {
        assert!(word("/opt/dyno,x=1").is_ok() && word("nats:2.10").is_ok());
        for bad in ["", "-x", "a b", "a\"", "a'", "$(x)", "`x`", "a\\", "a\nb", "#", "a;b", "~"] {
            assert!(word(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_agents_may_load_is_addresses_and_ports() {
        for good in ["10.0.0.0/24:8080", "127.0.0.1:1-65535", "[fd00::]/8:80", "[::1]:1"] {
            assert_eq!(allowed(good).as_deref(), Ok(good));
        }
        for bad in
            ["", "x:80", "10.0.0.1", "10.0.0.1:0", "10.0.0.0/33:80", "10.0.0.1:9-8", "::1:80"]
        {
            assert!(allowed(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_value_is_not_taken_for_a_mark() {
        let filled = fill("@A@ b@c @B@@A@ @", &[("A", "@B@"), ("B", "x")]);
        assert_eq!(filled, "@B@ b@c x@B@ @");
    }
}
