//! What is wrong with a file that a user wrote: the file's name, the line, and how to mend it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeTable;

use crate::command::Command;
use crate::location::Location;
use crate::need::Need;
use crate::plain_words::{Notation, TOO_DEEP, in_plain_words, of_json};

/// Why a file cannot be used. Ends by saying how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    file: String,
    line: Option<usize>,
    says: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.says),
            None => write!(f, "{}: {}", self.file, self.says),
        }
    }
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    /// What is wrong, without the file and the line: for a text that no user wrote.
    #[must_use]
    pub fn says(&self) -> &str {
        &self.says
    }
}

/// No file of the project is longer than this.
const LONGEST: u64 = 1 << 20;

/// A file's text, and its name in messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path from the project's root.
    pub name: String,
    /// No part of a value that was read from it: where that is kept, the text stands beside it.
    #[serde(skip)]
    pub text: String,
}

impl SourceFile {
    /// Reads a file; `name` is its name in messages.
    pub fn read(path: &Path, name: &str) -> Result<SourceFile, ConfigError> {
        let source = |text| SourceFile { name: name.into(), text };
        let cannot = |says: String| Err(source(String::new()).wrong(None, says));
        let file = match open(path) {
            Ok(file) => file,
            Err(error) => return cannot(format!("cannot be read: {error}")),
        };
        let mut bytes = Vec::new();
        match file.take(LONGEST + 1).read_to_end(&mut bytes) {
            Ok(read) if read as u64 <= LONGEST => {}
            Ok(_) => return cannot("longer than 1 MiB; that is not a file of this kind".into()),
            Err(error) => return cannot(format!("cannot be read: {error}")),
        }
        SourceFile::of_bytes(name, bytes)
    }

    /// The text that these bytes are.
    pub fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<SourceFile, ConfigError> {
        let source = |text| SourceFile { name: name.into(), text };
        String::from_utf8(bytes).map(source).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
            let source = SourceFile { name: name.into(), text };
            source.wrong(
                Some(good..good),
                "no text: here is a byte that is not UTF-8; save it as UTF-8",
            )
        })
    }

    /// Reads the page as TOML into a shape that refuses unknown keys.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        toml::from_str(&self.text).map_err(|error| {
            let says = in_plain_words(error.message(), Notation::Toml);
            let is_deep = error.message() == TOO_DEEP;
            self.wrong(error.span().or_else(|| is_deep.then(|| self.depth::<T>())), says)
        })
    }

    /// The first line up to which the text nests too deep: the reader does not say where.
    fn depth<T: DeserializeOwned>(&self) -> Range<usize> {
        let ends: Vec<usize> = self.text.match_indices('\n').map(|(at, _)| at).collect();
        let is_deep = |text| toml::from_str::<T>(text).is_err_and(|it| it.message() == TOO_DEEP);
        let line = ends.partition_point(|&end| !is_deep(&self.text[..end]));
        let from = line.checked_sub(1).map_or(0, |before| ends[before] + 1);
        from..from
    }

    /// Reads a part of it, a line, as JSON into a shape that refuses unknown keys.
    pub fn parse_json<T: DeserializeOwned>(&self, part: Range<usize>) -> Result<T, ConfigError> {
        serde_json::from_str(&self.text[part.clone()]).map_err(|error| {
            if error.is_eof() {
                let says = "the JSON does not end on this line, and one request stands on one line; \
                            `jq -c . FILE` writes it so";
                return self.wrong(Some(part), says);
            }
            let says = of_json(&error);
            self.wrong(Some(part), says)
        })
    }

    /// What a text means, or its line with what is wrong with it.
    pub(crate) fn text<T>(
        &self,
        text: &Spanned<String>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        read(text.get_ref()).map_err(|says| self.wrong_here(text, says))
    }

    /// What a text means that may be missing, or its line with what is wrong with it.
    pub(crate) fn some_text<T>(
        &self,
        text: &Option<Spanned<String>>,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ConfigError> {
        text.as_ref().map(|text| self.text(text, read)).transpose()
    }

    /// Refuses the first of the values below a key with which something is wrong: the members of its list, or its only
    /// value.
    pub(crate) fn check<'v, T: 'v>(
        &self,
        key: &str,
        values: impl IntoIterator<Item = &'v T>,
        check: impl Fn(&T) -> Result<(), String>,
    ) -> Result<(), ConfigError> {
        for (number, value) in values.into_iter().enumerate() {
            check(value).map_err(|says| self.wrong_at(&[&format!("{key}.{number}"), key], says))?;
        }
        Ok(())
    }

    /// The error that something is wrong with this value.
    pub(crate) fn wrong_here<T>(&self, value: &Spanned<T>, says: impl Into<String>) -> ConfigError {
        self.wrong(Some(value.span()), says)
    }

    /// Where the value of a key stands in TOML, by the keys that lead to it, of a list by its number: `load.open.rate`.
    pub(crate) fn place(&self, path: &str) -> Option<Range<usize>> {
        let page = DeTable::parse(&self.text).ok()?;
        let mut keys = path.split('.');
        let mut value = page.get_ref().get(keys.next()?)?;
        for key in keys {
            value = match key.parse::<usize>() {
                Ok(number) => value.get_ref().get(number)?,
                Err(_) => value.get_ref().get(key)?,
            };
        }
        Some(value.span())
    }

    /// The error that something is wrong with the first of these keys that the file has.
    pub(crate) fn wrong_at(&self, paths: &[&str], says: impl Into<String>) -> ConfigError {
        self.wrong(paths.iter().find_map(|path| self.place(path)), says)
    }

    /// Refuses the first of these keys that the file has, for its reason.
    pub(crate) fn refuse(&self, keys: &[(&str, &str)]) -> Result<(), ConfigError> {
        let mut found = keys.iter().filter_map(|(path, says)| Some((self.place(path)?, says)));
        found.next().map_or(Ok(()), |(place, says)| Err(self.wrong(Some(place), *says)))
    }

    /// The error that something is wrong with a name that stands between quotes in the text.
    #[must_use]
    pub fn wrong_name(&self, name: &str, says: impl Into<String>) -> ConfigError {
        let places = ['"', '\''].map(|quote| self.text.find(&format!("{quote}{name}{quote}")));
        self.wrong(places.into_iter().flatten().min().map(|at| at..at), says)
    }

    /// The error that something is wrong at a place in the text.
    #[must_use]
    pub fn wrong(&self, span: Option<Range<usize>>, says: impl Into<String>) -> ConfigError {
        let line = span.map(|span| {
            let upto = span.start.min(self.text.len());
            self.text.as_bytes()[..upto].iter().filter(|&&byte| byte == b'\n').count() + 1
        });
        ConfigError { file: self.name.clone(), line, says: says.into() }
    }
}

/// Opens a regular file. Opening a pipe would wait for its other end.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not an ordinary file")),
    }
}

/// Values that a file writes as texts.
macro_rules! read_as_text {
    ($($Value:ty),+) => { $(
        impl TryFrom<String> for $Value {
            type Error = String;

            fn try_from(text: String) -> Result<$Value, String> {
                <$Value>::parse(&text)
            }
        }
    )+ };
}
read_as_text!(Command, Need, Location);

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        #[expect(dead_code, reason = "only its name is of interest")]
        processes: Option<u32>,
    }

    fn check(text: &str) -> String {
        let source = SourceFile { name: "a.toml".into(), text: text.into() };
        source.parse::<Shape>().unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_near_miss() {
        assert_eq!(
            check("\n\nproceses = 1\n"),
            "a.toml:3: unknown key `proceses`; did you mean `processes`?"
        );
        assert_eq!(
            check("zebra = 1"),
            "a.toml:1: unknown key `zebra`; the only one known is processes"
        );
    }

    #[test]
    fn a_wrong_type_and_broken_syntax_have_their_lines() {
        assert!(check("\nprocesses = 'x'").starts_with("a.toml:2: "));
        assert!(check("\n\nprocesses = [").starts_with("a.toml:3: "));
        let deep = format!("processes = 1\n\n{}b = 1\n\n[c]\n", "a.".repeat(500));
        assert_eq!(check(&deep), "a.toml:3: keys are nested too deep here");
    }

    #[test]
    fn what_is_not_there_or_too_long_is_refused() {
        let there = std::env::temp_dir().join(format!("dyno-misread-{}", std::process::id()));
        std::fs::write(&there, vec![b' '; (LONGEST + 1) as usize]).unwrap();
        assert!(SourceFile::read(&there, "x").unwrap_err().to_string().contains("1 MiB"));
        std::fs::write(&there, [0xff]).unwrap();
        assert!(SourceFile::read(&there, "x").is_err());
        std::fs::remove_file(&there).unwrap();
        assert!(
            SourceFile::read(&there, "x").unwrap_err().to_string().starts_with("x: cannot be read")
        );
    }
}
