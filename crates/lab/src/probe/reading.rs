//! What a probe's manifest declares of its readings: their titles and units, and which figures are made of them.
//! docs/subjects.md explains the keys.

use std::collections::BTreeSet;
use std::slice;

use serde::Deserialize;
use toml::Spanned;
use units::named;

use crate::figure::{Figure, Fold, Unit};
use crate::source_file::{ConfigError, SourceFile};
use machine::monitor::{is_probe_name, reading_unit};

/// How many readings a probe may declare, and how long their titles, headings and names may be.
const READINGS_MAX: usize = 32;
const TITLE_MAX: usize = 60;
const HEADING_MAX: usize = 20;
const NAME_MAX: usize = 64;

/// A reading that a probe declares.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeReading {
    /// Its name, as the probe sends it.
    pub name: String,
    /// What it is called above a chart.
    pub title: String,
    /// What is made of it: at least one figure, and all have the same unit.
    pub figures: Vec<ProbeFigure>,
}

/// A figure that is made of a probe's reading, for one step of held connections.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeFigure {
    /// The stable name that stands in results.
    pub name: String,
    /// The heading of its column.
    pub heading: String,
    /// What it is, in words that follow its heading.
    pub meaning: String,
    /// What it counts.
    pub unit: Unit,
    /// The name of the reading.
    pub reading: String,
    /// How the readings of one round become one number.
    pub fold: ProbeFold,
    /// That number times this is the figure in its unit.
    pub scale: f64,
}

/// How the readings of one round become one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeFold {
    /// Their mean.
    Mean,
    /// The greatest.
    Max,
    /// How much they grow each second.
    Growth,
    /// Their mean, divided by the mean of the reading with this name.
    Per(String),
}

impl ProbeFold {
    /// How the rounds of a figure in this unit become one number.
    #[must_use]
    pub fn rounds(&self, unit: Unit) -> Fold {
        match (self, unit) {
            // 100 % is one CPU, and a server may have several.
            (ProbeFold::Growth, Unit::Percent) => Fold::Amounts,
            _ => unit.fold(),
        }
    }
}

/// The keys of a reading.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keys {
    name: Spanned<String>,
    title: Spanned<String>,
    heading: Option<Spanned<String>>,
    unit: Option<Spanned<Counts>>,
    fold: Spanned<Folds>,
    per: Option<Per>,
    figure: Option<Spanned<String>>,
}

/// One fold, or a list of them.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected \"mean\", \"max\" or \"growth\", or a list of \"mean\" and \"max\""
)]
enum Folds {
    One(FoldWord),
    Many(Vec<FoldWord>),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FoldWord {
    Mean,
    Max,
    Growth,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Per {
    name: Spanned<String>,
    one: Spanned<String>,
}

named! {
    /// What a reading counts.
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Counts {
        Bytes = "bytes",
        Ns = "ns",
        Ratio = "ratio",
        Hertz = "hertz",
        Count = "count",
    }
}

impl Counts {
    /// By the name of the reading, which ends in its unit or counts something.
    fn of(reading: &str) -> Counts {
        Counts::named(reading_unit(reading)).unwrap_or(Counts::Count)
    }

    /// The unit of a figure, and how much of it one of this is.
    fn figure(self) -> (Unit, f64) {
        match self {
            Counts::Bytes => (Unit::Bytes, 1.0),
            Counts::Ns => (Unit::Milliseconds, 1e-6),
            Counts::Ratio => (Unit::Percent, 100.0),
            Counts::Hertz => (Unit::PerSecond, 1.0),
            Counts::Count => (Unit::Count, 1.0),
        }
    }

    /// The unit of a figure of how much it grows each second, and how much of it one of this is, if that says anything.
    fn growth(self) -> Option<(Unit, f64)> {
        match self {
            Counts::Bytes => Some((Unit::KibPerSecond, 1.0 / 1_024.0)),
            Counts::Ns => Some((Unit::Percent, 1e-7)),
            Counts::Count => Some((Unit::PerSecond, 1.0)),
            Counts::Ratio | Counts::Hertz => None,
        }
    }
}

/// The readings that a manifest declares.
pub(super) fn read(page: &SourceFile, declared: &[Keys]) -> Result<Vec<ProbeReading>, ConfigError> {
    let mut readings: Vec<ProbeReading> = Vec::new();
    for keys in declared {
        let wrong = |says: String| page.wrong_here(&keys.name, says);
        let reading = Reader { page, keys }.reading()?;
        if let Some(taken) = taken(&readings, &reading) {
            return Err(wrong(format!(
                "another reading has `{taken}` already; give this one another `figure`, or remove it"
            )));
        }
        readings.push(reading);
        if READINGS_MAX < readings.len() {
            return Err(wrong(format!("a probe declares at most {READINGS_MAX} readings")));
        }
    }
    Ok(readings)
}

/// A name of the reading or of its figures that others have already.
pub(super) fn taken<'r>(others: &[ProbeReading], reading: &'r ProbeReading) -> Option<&'r str> {
    let known: BTreeSet<&str> = others.iter().flat_map(names).collect();
    names(reading).find(|name| known.contains(name))
}

fn names(reading: &ProbeReading) -> impl Iterator<Item = &str> {
    let figures = reading.figures.iter().map(|figure| figure.name.as_str());
    std::iter::once(reading.name.as_str()).chain(figures)
}

/// What the name of a figure begins with.
fn first_word(name: &str) -> &str {
    name.split('_').next().unwrap_or_default()
}

/// Growth by what it is counted in.
fn growth(unit: Unit) -> &'static str {
    match unit {
        Unit::KibPerSecond => "growth each second, in units of 1,024 bytes",
        Unit::Percent => "growth as a share of the time",
        Unit::PerSecond | Unit::Count | Unit::Milliseconds | Unit::Bytes => "growth each second",
    }
}

/// Reads one declaration.
struct Reader<'p> {
    page: &'p SourceFile,
    keys: &'p Keys,
}

impl Reader<'_> {
    fn reading(&self) -> Result<ProbeReading, ConfigError> {
        let Reader { page, keys } = self;
        let name = page.text(&keys.name, sent)?;
        let title = page.text(&keys.title, |text| line(text, TITLE_MAX))?;
        let heading = page.some_text(&keys.heading, |text| line(text, HEADING_MAX))?;
        let heading = heading.unwrap_or(title.clone());
        let counts = self.counts()?;
        let start = self.start(counts)?;
        let mut figures = Vec::new();
        for fold in self.folds()? {
            let (unit, scale) = match fold {
                ProbeFold::Mean | ProbeFold::Max | ProbeFold::Per(_) => counts.figure(),
                ProbeFold::Growth => counts.growth().ok_or_else(|| {
                    let says = format!("what is a {} does not grow", counts.name());
                    page.wrong_here(&keys.fold, format!("{says}; fold it by `mean` or `max`"))
                })?,
            };
            let ending = match unit {
                Unit::Count => String::new(),
                Unit::PerSecond
                | Unit::Percent
                | Unit::Milliseconds
                | Unit::Bytes
                | Unit::KibPerSecond => format!("_{}", unit.name()),
            };
            figures.push(ProbeFigure {
                name: match (&fold, &keys.per) {
                    (ProbeFold::Mean, _) => format!("{start}_mean{ending}"),
                    (ProbeFold::Max, _) => format!("{start}_max{ending}"),
                    (ProbeFold::Per(_), Some(per)) => {
                        format!("{start}{ending}_per_{}", page.text(&per.one, word)?)
                    }
                    (ProbeFold::Growth | ProbeFold::Per(_), _) => format!("{start}{ending}"),
                },
                heading: match fold {
                    ProbeFold::Max => format!("{heading} max"),
                    ProbeFold::Mean | ProbeFold::Growth | ProbeFold::Per(_) => heading.clone(),
                },
                meaning: match &fold {
                    ProbeFold::Mean => format!("{title} (`{name}`), on average"),
                    ProbeFold::Max => format!("{title} (`{name}`), the most"),
                    ProbeFold::Growth => format!("{title} (`{name}`), {}", growth(unit)),
                    ProbeFold::Per(other) => {
                        format!("{title} (`{name}` divided by `{other}`), on average")
                    }
                },
                unit,
                reading: name.clone(),
                fold,
                scale,
            });
        }
        Ok(ProbeReading { name, title, figures })
    }

    fn counts(&self) -> Result<Counts, ConfigError> {
        let by_name = Counts::of(self.keys.name.get_ref());
        match &self.keys.unit {
            None => Ok(by_name),
            Some(unit) if by_name == Counts::Count || by_name == *unit.get_ref() => {
                Ok(*unit.get_ref())
            }
            Some(unit) => Err(self.page.wrong_here(
                unit,
                format!("the reading's name ends in `_{}`, which is another unit", by_name.name()),
            )),
        }
    }

    /// How the names of its figures begin.
    fn start(&self, counts: Counts) -> Result<String, ConfigError> {
        let name = self.keys.name.get_ref();
        let ending = format!("_{}", counts.name());
        let plain = name.strip_suffix(&ending).unwrap_or(name).replace('.', "_");
        let (place, start) = match &self.keys.figure {
            Some(figure) => (figure, self.page.text(figure, word)?),
            None => (&self.keys.name, plain),
        };
        let first = first_word(&start);
        let probe = name.split('.').next().unwrap_or_default();
        // The figures of a probe and dyno's own stand in one table.
        if Figure::OF_STEPS.iter().any(|figure| first_word(figure.name()) == first) {
            let says = format!("dyno has figures of its own that begin with `{first}`");
            return Err(self.page.wrong_here(place, format!("{says}; use another word")));
        }
        if start != probe && !start.starts_with(&format!("{probe}_")) {
            let says = format!("figures of `{name}` begin with `{probe}`");
            let says = format!("{says}, as in figure = \"{probe}_memory\"");
            return Err(self.page.wrong_here(place, says));
        }
        Ok(start)
    }

    fn folds(&self) -> Result<Vec<ProbeFold>, ConfigError> {
        let Reader { page, keys } = self;
        let words = match keys.fold.get_ref() {
            Folds::One(word) => slice::from_ref(word),
            Folds::Many(words) => words,
        };
        let mut folds = Vec::new();
        for word in words {
            let fold = match word {
                FoldWord::Mean => ProbeFold::Mean,
                FoldWord::Max => ProbeFold::Max,
                FoldWord::Growth => ProbeFold::Growth,
            };
            if folds.contains(&fold) {
                return Err(page.wrong_here(&keys.fold, "the same fold twice; name each once"));
            }
            folds.push(fold);
        }
        let is_level = |fold: &ProbeFold| *fold != ProbeFold::Growth;
        match (&keys.per, folds.as_slice()) {
            (_, []) => Err(page.wrong_here(&keys.fold, "no fold; name `mean`, `max` or `growth`")),
            (Some(per), [ProbeFold::Mean]) => Ok(vec![ProbeFold::Per(page.text(&per.name, sent)?)]),
            (Some(_), _) => {
                Err(page.wrong_here(&keys.fold, "`per` divides a mean; write fold = \"mean\""))
            }
            (None, [_, _, ..]) if !folds.iter().all(is_level) => Err(page.wrong_here(
                &keys.fold,
                "what grows has neither a mean nor a greatest value; write fold = \"growth\"",
            )),
            (None, _) => Ok(folds),
        }
    }
}

/// A name under which a probe may send.
fn sent(name: &str) -> Result<String, String> {
    match is_probe_name(name) {
        true => Ok(name.into()),
        false => {
            let shown = name.escape_debug();
            Err(format!(
                "a probe cannot send `{shown}`; docs/readings.md says which names it may use"
            ))
        }
    }
}

/// Words for people, on one line.
fn line(words: &str, most: usize) -> Result<String, String> {
    let is_short = (1..=most).contains(&words.chars().count());
    match is_short && !words.chars().any(char::is_control) {
        true => Ok(words.into()),
        false => Err(format!("a line of 1 to {most} letters is expected here")),
    }
}

/// A part of a figure's name.
fn word(word: &str) -> Result<String, String> {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    match (1..=NAME_MAX).contains(&word.len()) && word.bytes().all(is_plain) {
        true => Ok(word.into()),
        false => {
            let shown = word.escape_debug();
            Err(format!("`{shown}` is not a part of a figure's name; use a-z, 0-9 and `_`"))
        }
    }
}
