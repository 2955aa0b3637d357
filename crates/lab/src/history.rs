//! Published figures: `experiments/history/*.csv` holds what an article found, to show beside the measured figures. A
//! line is `subject,workload,point,figure,value,note`; lines that begin with `#` say which article it was.

use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::figure::Figure;
use crate::source_file::{ConfigError, SourceFile};
use crate::subject::file_name;

/// The article's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "published")]
pub struct PublishedFigures {
    /// the heading of their column: the year, if the file's name ends in one
    pub label: String,
    /// what their file says about the article, line by line
    pub about: Vec<String>,
    /// each of them, in the file's order
    pub figures: Vec<Published>,
}

/// A figure of the article.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "published_figure")]
pub struct Published {
    /// the server
    pub subject: String,
    /// the workload
    pub workload: String,
    /// the load; null: its peak
    pub point: Option<f64>,
    /// the figure
    #[schemars(with = "String")]
    pub figure: Figure,
    /// its value
    pub value: f64,
    /// what the article says about it
    pub note: String,
}

const HEADER: &str = "subject,workload,point,figure,value,note";

impl PublishedFigures {
    /// Reads a file's text.
    pub fn parse(source: &SourceFile) -> Result<PublishedFigures, ConfigError> {
        let mut history =
            PublishedFigures { label: label(&source.name), ..PublishedFigures::default() };
        let mut has_header = false;
        for (span, line) in lines(&source.text) {
            match line.strip_prefix('#') {
                Some(about) => history.about.push(about.trim().to_string()),
                None if line.trim().is_empty() => {}
                None if !has_header && line == HEADER => has_header = true,
                None if !has_header => {
                    return Err(source.wrong(Some(span), format!("the first line is `{HEADER}`")));
                }
                None => {
                    let published =
                        published(line).map_err(|says| source.wrong(Some(span), says))?;
                    history.figures.push(published);
                }
            }
        }
        match twice(&history.figures) {
            None => Ok(history),
            Some(again) => {
                let says = format!(
                    "`{}` of {} at {} is given twice",
                    again.figure.name(),
                    again.subject,
                    again.point.map_or("peak".into(), |point| point.to_string())
                );
                Err(source.wrong(None, says))
            }
        }
    }

    /// The published value of a figure; if `point` is none, its peak.
    #[must_use]
    pub fn find(
        &self,
        subject: &str,
        workload: &str,
        point: Option<f64>,
        figure: Figure,
    ) -> Option<&Published> {
        self.figures.iter().find(|published| {
            published.subject == subject
                && published.workload == workload
                && published.point == point
                && published.figure == figure
        })
    }
}

/// `2011` of `experiments/history/five-servers-2011.csv`.
fn label(name: &str) -> String {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let year = stem.rsplit('-').next().filter(|year| year.len() == 4);
    match year.filter(|year| year.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(year) => year.into(),
        None => "published".into(),
    }
}

/// Lines without their line ends, and their positions.
fn lines(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut from = 0;
    text.split_inclusive('\n').map(move |line| {
        let span = from..from + line.len();
        from += line.len();
        (span, line.trim_end_matches(['\n', '\r']))
    })
}

fn published(line: &str) -> Result<Published, String> {
    let cells = cells(line)?;
    let [subject, workload, point, figure, value, note] = cells.as_slice() else {
        return Err(format!("{} columns where {HEADER} is expected", cells.len()));
    };
    let figure = Figure::named(figure)?;
    let point = match point.as_str() {
        "peak" => None,
        place => Some(number(place).filter(|&place| 0.0 < place).ok_or_else(|| {
            format!("`{}` is no load; write a number above 0, or peak", shown(place))
        })?),
    };
    let value = number(value).filter(|&value| 0.0 <= value);
    [subject, workload].into_iter().try_for_each(|name| file_name(name))?;
    Ok(Published {
        subject: subject.clone(),
        workload: workload.clone(),
        point,
        figure,
        value: value.ok_or_else(|| format!("{} needs a number, not below 0", figure.name()))?,
        note: note.clone(),
    })
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn shown(text: &str) -> std::str::EscapeDebug<'_> {
    text.escape_debug()
}

/// The cells of a line: `"` around a cell keeps its commas, `""` in it is a quotation mark.
fn cells(line: &str) -> Result<Vec<String>, String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let cell = cells.last_mut().expect("there is always one");
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    if is_quoted { Err("a quotation that does not end".into()) } else { Ok(cells) }
}

fn twice(figures: &[Published]) -> Option<&Published> {
    let key = |published: &Published| {
        let point = published.point.map(f64::to_bits);
        (published.subject.clone(), published.workload.clone(), point, published.figure)
    };
    let mut seen = std::collections::BTreeSet::new();
    figures.iter().find(|published| !seen.insert(key(published)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PublishedFigures, String> {
        let source =
            SourceFile { name: "experiments/history/x-2011.csv".into(), text: text.into() };
        PublishedFigures::parse(&source).map_err(|error| error.to_string())
    }

    const TEXT: &str = "# An article\nsubject,workload,point,figure,value,note\n\
                        a-b,echo-xml,100,response_sd_ms,1.49,\n\
                        c,echo-xml,peak,throughput_per_s,9700,\"few, or \"\"none\"\"\"\n";

    #[test]
    fn figures_are_read_with_what_is_said_about_them() {
        let history = read(TEXT).unwrap();
        assert_eq!(
            (history.label.as_str(), history.about.as_slice()),
            ("2011", &["An article".into()][..])
        );
        assert_eq!(history.figures[1].note, "few, or \"none\"");
        let found = |point| history.find("a-b", "echo-xml", point, Figure::ResponseSd);
        assert_eq!(found(Some(100.0)).map(|published| published.value), Some(1.49));
        assert_eq!(found(None), None);
        assert_eq!(history.find("c", "echo-xml", None, Figure::Throughput).unwrap().value, 9_700.0);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (old, new, says) in [
            (
                "response_sd_ms",
                "response_ds_ms",
                "x-2011.csv:3: unknown figure `response_ds_ms`; did you mean `response_sd_ms`?",
            ),
            (
                "response_sd_ms",
                "zebra",
                "x-2011.csv:3: unknown figure `zebra`; known are throughput",
            ),
            ("a-b,", "a/b,", "x-2011.csv:3: `a/b` is not a name"),
            (",100,", ",0,", "x-2011.csv:3: `0` is no load"),
            (",100,", ",,", "x-2011.csv:3: `` is no load"),
            ("1.49", "NaN", "x-2011.csv:3: response_sd_ms needs a number"),
            ("9700", "-1", "x-2011.csv:4: throughput_per_s needs a number"),
            ("a-b,", "", "x-2011.csv:3: 5 columns"),
            ("\"few", "few", "x-2011.csv:4: 7 columns"),
            ("\"\"\"\n", "\n", "x-2011.csv:4: a quotation that does not end"),
            ("subject,", "server,", "x-2011.csv:2: the first line is `subject,"),
            (
                "c,echo-xml,peak,throughput_per_s",
                "a-b,echo-xml,100,response_sd_ms",
                "x-2011.csv: `response_sd_ms` of a-b at 100 is given twice",
            ),
        ] {
            assert!(TEXT.contains(old), "{old}");
            let said = read(&TEXT.replace(old, new)).unwrap_err();
            assert!(said.starts_with(&format!("experiments/history/{says}")), "{said}");
        }
    }

    #[test]
    fn every_article_s_file_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/history");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let source = SourceFile::read(&path, &path.to_string_lossy()).unwrap();
            let history = PublishedFigures::parse(&source).unwrap();
            assert!(!history.about.is_empty() && !history.figures.is_empty(), "{path:?}");
            assert_eq!(history.label.len(), 4, "{path:?} has a year");
        }
    }

    #[test]
    fn hostile_names_are_shown_and_not_obeyed() {
        let said = read(&TEXT.replace("a-b,", "\u{1b}[31m,")).unwrap_err();
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}
