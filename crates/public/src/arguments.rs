//! The allow-list of command lines. A word passes if it is a number, a placeholder or the name of a flag, or if all that it
//! is made of stands in what is published anyway: the servers' names, and files that are not made of a command line.

use std::collections::HashSet;

use serde_json::Value;
use store::plain::Tables;

use crate::content::{Content, Part};

const REPLACED: &str = "{argument}";
/// Besides: words of dyno's own, in placeholders and in manifests that it makes of flags.
const KNOWN: &str = "dyno serve reply argument credentials home host port project secret user \
    in run title address target tls null true false";

/// Replaces all other words of command lines; `note` is called for each of them.
pub(crate) fn pass(content: &mut Content, note: &mut impl FnMut(&str)) {
    let known = known(content);
    let mut change = |value: &mut Value| {
        if let Some(clean) = value.as_str().and_then(|text| cleaned(text, &known, note)) {
            *value = clean.into();
        }
    };
    for tables in content.0.values_mut() {
        if let Some([_, words]) = columns(tables, "trial_command") {
            words.iter_mut().for_each(&mut change);
        }
        if let Some([_, names, values]) = columns(tables, "run_fact") {
            let is_command =
                |name: &Value| name.as_str().is_some_and(|it| it.ends_with(".command"));
            let commands = names.iter().zip(values).filter(|(name, _)| is_command(name));
            commands.for_each(|(_, value)| change(value));
        }
        if let Some([_, paths, texts]) = columns(tables, "run_file") {
            let of_flags = paths.iter().zip(texts).filter(|(path, _)| is_of_flags(path));
            of_flags.for_each(|(_, text)| change(text));
        }
    }
}

fn columns<'t, const MANY: usize>(
    tables: &'t mut Tables,
    name: &str,
) -> Option<&'t mut [Vec<Value>; MANY]> {
    tables.get_mut(name)?.as_mut_slice().try_into().ok()
}

/// Whether this is the path of a manifest that dyno made of flags.
fn is_of_flags(path: &Value) -> bool {
    path.as_str().is_some_and(|path| path.ends_with("/subject.json"))
}

/// The words of what is published anyway.
fn known(content: &Content) -> HashSet<String> {
    let mut known: HashSet<String> = parts(KNOWN).map(String::from).collect();
    let mut add = |value: &Value| {
        known.extend(value.as_str().into_iter().flat_map(parts).map(String::from));
    };
    let run = content.0.get(&Part::Run);
    let table = |name: &str| run.and_then(|run| run.get(name)).into_iter().flatten();
    table("run_entry").flatten().for_each(&mut add);
    if let [_, paths, texts] = table("run_file").collect::<Vec<_>>()[..] {
        let texts = paths.iter().zip(texts).filter(|(path, _)| !is_of_flags(path));
        texts.for_each(|(_, text)| add(text));
    }
    known
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty())
}

/// The text with its words that do not pass replaced; none if all pass.
fn cleaned(text: &str, known: &HashSet<String>, note: &mut impl FnMut(&str)) -> Option<String> {
    let is_between = |c: char| c.is_whitespace() || "\"'`\\".contains(c);
    let mut clean = String::new();
    for piece in text.split_inclusive(is_between) {
        let word = piece.trim_end_matches(is_between);
        if passes(word, known) {
            clean.push_str(piece);
        } else {
            note(&format!("the argument `{word}`"));
            clean.extend([REPLACED, &piece[word.len()..]]);
        }
    }
    (clean != text).then_some(clean)
}

fn passes(word: &str, known: &HashSet<String>) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
    let flag = word.split_once('=').unwrap_or((word, ""));
    let is_flag = word.starts_with("--") && flag.0.chars().all(is_name);
    let value = if is_flag { flag.1 } else { word };
    // The folder of a trial, in the project's folder `work`, has a name that dyno made.
    let (before, after) = value.split_once("/work/dyno-").unwrap_or((value, ""));
    let after = after.trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == '-');
    let is_known = |part: &str| {
        let unit = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_number = unit.len() < part.len() && unit.len() <= 2;
        is_number || part.len() == 1 || known.contains(part)
    };
    parts(before).chain(parts(after)).all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_passes_if_it_says_nothing_that_is_not_published() {
        let published = ["server", "js", "usr", "lib", "https"];
        let known: HashSet<String> = parts(KNOWN).chain(published).map(String::from).collect();
        for word in [
            "-c",
            "--port",
            "--port={port}",
            "127.0.0.1:80",
            "1.5ms",
            "64",
            "/usr/lib/server.js",
            "{home}/work/dyno-98dde6c6-5-36-1/server",
        ] {
            assert!(passes(word, &known), "{word}");
        }
        for word in [
            "hunter2",
            "--token=hunter2",
            "--Hunter2",
            "-phunter2",
            "98dde6c6",
            "1abc",
            "/usr/lib/hunter",
            "geheim",
            "https://server/hunter2",
        ] {
            assert!(!passes(word, &known), "{word}");
        }
    }
}
