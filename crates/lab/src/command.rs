//! Commands as a manifest writes them: split into words once, run without a shell, their placeholders filled late.

use std::fmt;

use serde::Deserialize;

/// A command's words, with placeholders such as `{port}` in them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Command {
    words: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct Placeholders<'a> {
    /// Names and what they stand for.
    pub known: &'a [(&'a str, &'a str)],
}

impl fmt::Display for Command {
    /// As a user could type it, with the placeholders not filled.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.words))
    }
}

impl Command {
    /// Splits a text at spaces; quotes and backslashes work as in a shell, and nothing else does.
    pub fn parse(text: &str) -> Result<Command, String> {
        let words = split(text)?;
        match words.first() {
            None => Err("an empty command".into()),
            Some(program) if program.is_empty() => Err("the command's first word is empty".into()),
            Some(_) => Ok(Command { words }),
        }
    }

    /// The words with the known placeholders filled; all other braces stand for themselves.
    #[must_use]
    pub fn fill_known(&self, placeholders: Placeholders<'_>) -> Vec<String> {
        let mut words = self.words.clone();
        for (name, value) in placeholders.known {
            let placeholder = format!("{{{name}}}");
            words.iter_mut().for_each(|word| *word = word.replace(&placeholder, value));
        }
        words
    }

    /// The words with their placeholders filled; a placeholder that is not known here is refused.
    pub fn fill(&self, placeholders: Placeholders<'_>) -> Result<Vec<String>, String> {
        self.words.iter().map(|word| placeholders.fill(word)).collect()
    }

    /// Refuses placeholders that are none of these.
    pub(crate) fn has_only(&self, names: &[&str]) -> Result<(), String> {
        let known: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        self.fill(Placeholders { known: &known }).map(drop)
    }

    /// All words, with the placeholders not filled.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The first word: the program.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.words[0]
    }
}

impl Placeholders<'_> {
    /// Replaces `{name}` by what it stands for. Other braces stand for themselves.
    pub fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            let name = rest[1..].split_once('}').map(|(name, _)| name);
            match name.filter(|name| is_name(name)) {
                None => {
                    filled.push('{');
                    rest = &rest[1..];
                }
                Some(name) => {
                    filled.push_str(self.value(name)?);
                    rest = &rest[name.len() + 2..];
                }
            }
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, name: &str) -> Result<&str, String> {
        let known = self.known.iter().find(|(known, _)| *known == name);
        known.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<String> =
                self.known.iter().map(|(name, _)| format!("{{{name}}}")).collect();
            format!("`{{{name}}}` is not a placeholder here; there are {}", names.join(", "))
        })
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Words as a shell would split them.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => quoted(next, &mut rest, word.get_or_insert_default())?,
            '\\' => {
                let kept = rest.next().ok_or_else(|| unfinished("a backslash ends it"))?;
                word.get_or_insert_default().push(kept);
            }
            '\0' => return Err("a NUL is in it".into()),
            _ => word.get_or_insert_default().push(next),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(quote: char, rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    let unclosed = || unfinished(&format!("the {quote} is never closed"));
    loop {
        match rest.next().ok_or_else(unclosed)? {
            next if next == quote => return Ok(()),
            '\\' if quote == '"' => match rest.next().ok_or_else(unclosed)? {
                kept @ ('"' | '\\' | '$' | '`') => word.push(kept),
                other => word.extend(['\\', other]),
            },
            next => word.push(next),
        }
    }
}

fn unfinished(why: &str) -> String {
    format!("the command is not finished: {why}")
}

/// A command as a user could type it: words with spaces in them are quoted.
#[must_use]
pub fn shown(words: &[String]) -> String {
    in_shell(words, b"-_./=:,@%+{}")
}

/// Words as a shell reads them back: one is quoted that is empty, or has more than letters, digits and these octets.
#[must_use]
pub fn in_shell(words: &[String], plain: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || plain.contains(&byte);
    let quote = |word: &String| match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Command::parse(text).unwrap().words
    }

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        assert_eq!(words("a  b\tc"), ["a", "b", "c"]);
        assert_eq!(
            words(r#"x -c 'import y; print("z")' """#),
            ["x", "-c", r#"import y; print("z")"#, ""]
        );
        assert_eq!(words(r#"a\ b "c \"d\" \n" e'f'g"#), ["a b", r#"c "d" \n"#, "efg"]);
    }

    #[test]
    fn what_is_not_finished_is_refused() {
        for text in ["", "   ", "a 'b", "a \"b", "a \\", "'' a", "a\0b"] {
            assert!(Command::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn placeholders_are_filled_and_unknown_ones_refused() {
        let placeholders = Placeholders { known: &[("port", "80"), ("work", "/w")] };
        let filled =
            Command::parse("x --port={port} {work}/{port} {} {A} {").unwrap().fill(placeholders);
        assert_eq!(filled.unwrap(), ["x", "--port=80", "/w/80", "{}", "{A}", "{"]);
        let wrong = Command::parse("x {prot}").unwrap().fill(placeholders).unwrap_err();
        assert_eq!(wrong, "`{prot}` is not a placeholder here; there are {port}, {work}");
    }

    #[test]
    fn a_shown_command_can_be_typed_again() {
        let said = ["python3", "-c", "print('x y')", ""].map(String::from).to_vec();
        assert_eq!(words(&shown(&said)), said);
    }
}
