//! The sides' names: given, or made from the sides themselves, short and each another.

use std::path::Path;

use lab::Refusal;

use super::side::Side;

/// How a side is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// For readers.
    pub title: String,
    /// For the store: of a-z, 0-9 and -.
    pub name: String,
}

/// A longer title is cut.
const LONGEST: usize = 32;

/// A label for each side; the first of them are given.
pub fn labels(sides: &[Side], given: &[String]) -> Result<Vec<Label>, Refusal> {
    if sides.len() < given.len() {
        return Err(Refusal::new(format!(
            "--name: {} names for {} servers; leave some out",
            given.len(),
            sides.len()
        )));
    }
    if let Some(odd) = given.iter().find(|name| !is_title(name)) {
        return Err(Refusal::new(format!(
            "--name `{}`: a name has 1 to {LONGEST} characters that can be printed",
            odd.escape_debug()
        )));
    }
    let twice = (1..given.len()).find(|&at| given[..at].contains(&given[at]));
    if let Some(at) = twice {
        return Err(Refusal::new(format!("--name `{}` is given twice", given[at])));
    }
    let made = titles(sides);
    let titles: Vec<String> =
        made.iter().enumerate().map(|(at, made)| given.get(at).unwrap_or(made).clone()).collect();
    let titles = made_unique(titles, " #");
    let names = made_unique(titles.iter().map(|title| file_name(title)).collect(), "-");
    Ok(titles.into_iter().zip(names).map(|(title, name)| Label { title, name }).collect())
}

fn is_title(text: &str) -> bool {
    let length = text.chars().count();
    (1..=LONGEST).contains(&length) && !text.chars().any(char::is_control) && text.trim() == text
}

/// A title for each side, which others may have, too.
fn titles(sides: &[Side]) -> Vec<String> {
    let short: Vec<String> = sides.iter().map(short).collect();
    let mut titles = Vec::new();
    for (place, side) in sides.iter().enumerate() {
        let is_alone = short.iter().filter(|other| **other == short[place]).count() == 1;
        let title = if is_alone { short[place].clone() } else { long(side, sides) };
        titles.push(match title.chars().count() {
            0 => format!("server {}", place + 1),
            length if length <= LONGEST => title,
            _ => title.chars().take(LONGEST - 1).chain(['…']).collect(),
        });
    }
    titles
}

/// The program and what it runs; the host and the port; the folder's name.
fn short(side: &Side) -> String {
    match side {
        Side::Found(url) if url.is_secure => format!("{}{}", url.scheme(), url.host_field),
        Side::Found(url) => url.host_field.clone(),
        Side::Folder(folder) => last(folder),
        Side::Named(name) => name.clone(),
        Side::Own { words, .. } => {
            let is_flag = |word: &&String| word.starts_with('-') || word.contains("{port}");
            let is_number = |word: &String| word.parse::<f64>().is_ok();
            let words = started(words);
            let first = words.iter().skip(1).find(|word| !is_flag(word) && !is_number(word));
            let program = last(Path::new(&words[0]));
            let first = first.filter(|word| !word.contains(char::is_whitespace));
            first.map_or(program.clone(), |word| format!("{program} {}", last(Path::new(word))))
        }
    }
}

/// A command without `env` and the variables that it sets, whose values name no server, and may be secret.
fn started(words: &[String]) -> &[String] {
    if words.first().is_none_or(|word| last(Path::new(word)) != "env") {
        return words;
    }
    let is_program = |word: &String| !word.starts_with('-') && !word.contains('=');
    let program = words.iter().skip(1).position(is_program);
    program.map_or(words, |at| &words[1 + at..])
}

fn has_word(side: &Side, word: &str) -> bool {
    match side {
        Side::Own { words, .. } => words.iter().any(|other| other == word),
        Side::Found(_) | Side::Folder(_) | Side::Named(_) => false,
    }
}

/// What distinguishes a side from others of the same short title: its path, or the words that not all of them have.
fn long(side: &Side, sides: &[Side]) -> String {
    match side {
        Side::Found(url) => format!("{}{}", short(side), url.target),
        Side::Folder(folder) => {
            let parent = folder.parent().map(last).unwrap_or_default();
            format!("{parent}/{}", last(folder))
        }
        Side::Named(_) => short(side),
        Side::Own { words, .. } => {
            let is_common = |word: &String| sides.iter().all(|side| has_word(side, word));
            let own: Vec<&str> =
                words.iter().filter(|word| !is_common(word)).map(String::as_str).collect();
            format!("{} {}", short(side), own.join(" ")).trim_end().to_string()
        }
    }
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A title as a file's name.
fn file_name(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let parts: String = title.chars().map(plain).collect();
    let parts: Vec<&str> = parts.split('-').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "side".into() } else { parts.join("-") }
}

/// The texts, with a number after each that has been there before.
fn made_unique(texts: Vec<String>, before: &str) -> Vec<String> {
    let mut apart: Vec<String> = Vec::new();
    for text in texts {
        let numbered = |number: usize| match number {
            1 => text.clone(),
            _ => format!("{text}{before}{number}"),
        };
        let free = (1..).map(numbered).find(|text| !apart.contains(text));
        apart.extend(free);
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::super::side::read;
    use super::*;

    fn made(texts: &[&str], given: &[&str]) -> Vec<(String, String)> {
        let sides: Vec<Side> = texts.iter().map(|text| read(text, None).unwrap()).collect();
        let given: Vec<String> = given.iter().map(ToString::to_string).collect();
        let labels = labels(&sides, &given).unwrap();
        labels.into_iter().map(|label| (label.title, label.name)).collect()
    }

    fn titles_of(texts: &[&str]) -> Vec<String> {
        made(texts, &[]).into_iter().map(|(title, _)| title).collect()
    }

    #[test]
    fn sides_are_called_by_what_tells_them_apart() {
        assert_eq!(
            titles_of(&["sh a.js --port {port}", "/bin/sh src/b.js {port}"]),
            ["sh a.js", "sh b.js"]
        );
        assert_eq!(titles_of(&["http://h:1/", "http://h:2/x"]), ["h:1", "h:2"]);
        assert_eq!(titles_of(&["http://h/a", "http://h/b"]), ["h/a", "h/b"]);
        assert_eq!(titles_of(&["sh s -n 1", "sh s -n 2"]), ["sh s 1", "sh s 2"]);
        assert_eq!(titles_of(&["env KEY=x sh s", "env KEY=x sh t"]), ["sh s", "sh t"]);
        assert_eq!(titles_of(&["env A=1 sh s", "env A=2 sh s"]), ["sh s A=1", "sh s A=2"]);
        assert_eq!(titles_of(&["env -i K=x sh s", "env K=x"]), ["sh s", "env K=x"]);
        assert_eq!(titles_of(&["sh s", "sh s"]), ["sh s", "sh s #2"]);
        let inline = titles_of(&["sh -c 'exec a long text that is too long to read'", "sh x"]);
        assert_eq!(inline, ["sh", "sh x"]);
    }

    #[test]
    fn names_are_harmless_and_each_another() {
        assert_eq!(made(&["sh a.js", "sh A/js"], &[])[0].1, "sh-a-js");
        let made = made(&["sh a", "sh b"], &["Über B", "über-b"]);
        assert_eq!(made[0], ("Über B".into(), "ber-b".into()));
        assert_eq!(made[1], ("über-b".into(), "ber-b-2".into()));
        assert_eq!(file_name("…"), "side");
    }

    #[test]
    fn wrong_names_are_refused() {
        let sides = [read("sh a", None).unwrap(), read("sh b", None).unwrap()];
        let says = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            labels(&sides, &given).unwrap_err().to_string()
        };
        assert!(says(&["x", "x"]).contains("is given twice"));
        assert!(says(&["x", "y", "z"]).contains("3 names for 2 servers"));
        assert!(says(&["a\u{1b}"]).contains("can be printed") && says(&[""]).contains("1 to 32"));
    }
}
