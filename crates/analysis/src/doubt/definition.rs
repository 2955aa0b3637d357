//! How a doubt is defined: once, with its name, its gravity, the ways out and its row of docs/validity.md. A file has a
//! family of doubts: beside each definition stands the check that finds the doubt and says it with its figures.

use schemars::JsonSchema;
use serde::Serialize;
use units::{TIMES, chosen, count, fitting};

use crate::verdict::Gravity;

/// What is known of a doubt before it is found.
#[derive(Clone, Copy)]
pub struct Definition {
    id: &'static str,
    gravity: Gravity,
    graver: Option<Graver>,
    /// When it is raised, with `{}` for each of the thresholds: for docs/validity.md, as `because` is.
    when: &'static str,
    thresholds: &'static [Threshold],
    because: &'static str,
    way_out: WayOut,
}

/// When a doubt is graver than usual.
#[derive(Clone, Copy)]
enum Graver {
    /// Above a share of a whole, and how grave it is then.
    Above(f64, &'static str, Gravity),
    /// Where it is found so; the page says it in these words.
    AsFound(&'static str),
}

/// A constant of a check, as docs/validity.md has it.
#[derive(Clone, Copy)]
pub(crate) enum Threshold {
    /// Of a whole that is 1.
    Share(f64),
    /// In nanoseconds.
    Time(f64),
    Count(u64),
    Number(f64),
    /// Any of several.
    AnyOf(&'static [u64]),
}

/// What to do about a doubt, or why nothing can be done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct WayOut {
    usual: &'static str,
    /// Where flags of a command do what an experiment expresses differently.
    #[serde(skip)]
    by_flags: Option<&'static str>,
}

/// Where the remedy is applied: in the files of an experiment, or by the flags of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Experiment,
    Flags,
}

/// One reason to doubt a trial, a row or a profile, as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ProfileDoubt")]
pub struct Doubt {
    /// its stable name; validity.md has its threshold
    pub(super) id: &'static str,
    /// `invalid`, `suspect`, or `note`: the reader should know it, and the figures are as good
    #[schemars(with = "String")]
    pub(super) gravity: Gravity,
    /// it in a sentence, with its figures
    pub(super) says: String,
    /// what to do about it
    #[schemars(with = "String")]
    pub(super) way_out: WayOut,
    /// It is about agents, and not about the dyno that this is.
    #[serde(skip)]
    pub(crate) is_of_agents: bool,
    /// The names of the doubts that a file states; empty where dyno found it itself.
    #[serde(skip)]
    pub(super) stated: Vec<String>,
}

impl Definition {
    /// A doubt with this stable name.
    pub(crate) const fn new(id: &'static str, gravity: Gravity) -> Definition {
        let way_out = WayOut { usual: "", by_flags: None };
        Definition { id, gravity, graver: None, when: "", thresholds: &[], because: "", way_out }
    }

    /// It is so grave above a share of a whole; `of` says of what.
    pub(crate) const fn graver_above(self, share: f64, of: &'static str, then: Gravity) -> Self {
        Definition { graver: Some(Graver::Above(share, of, then)), ..self }
    }

    /// It may be found to be graver: the words are those of the page for all cases.
    pub(crate) const fn graver_as_found(self, words: &'static str) -> Self {
        Definition { graver: Some(Graver::AsFound(words)), ..self }
    }

    pub(crate) const fn when(self, when: &'static str) -> Self {
        Definition { when, ..self }
    }

    pub(crate) const fn thresholds(self, thresholds: &'static [Threshold]) -> Self {
        Definition { thresholds, ..self }
    }

    pub(crate) const fn because(self, because: &'static str) -> Self {
        Definition { because, ..self }
    }

    pub(crate) const fn way_out(self, usual: &'static str) -> Self {
        Definition { way_out: WayOut { usual, ..self.way_out }, ..self }
    }

    pub(crate) const fn by_flags(self, by_flags: &'static str) -> Self {
        Definition { way_out: WayOut { by_flags: Some(by_flags), ..self.way_out }, ..self }
    }

    pub(crate) fn id(self) -> &'static str {
        self.id
    }

    pub(crate) fn gravity(self) -> Gravity {
        self.gravity
    }

    pub(crate) fn usual_way_out(self) -> &'static str {
        self.way_out.usual
    }

    /// The doubt in a sentence with its figures.
    pub(crate) fn found(&self, says: impl Into<String>) -> Doubt {
        debug_assert!(super::all().any(|listed| listed.id == self.id), "{} is not listed", self.id);
        self.raised(says)
    }

    /// A doubt about a profile, which is not listed among those of trials, in a sentence with its figures.
    pub(crate) fn raised(&self, says: impl Into<String>) -> Doubt {
        Doubt {
            id: self.id,
            gravity: self.gravity,
            says: says.into(),
            way_out: self.way_out,
            is_of_agents: false,
            stated: Vec::new(),
        }
    }

    /// The doubt as grave as a part of a whole makes it.
    pub(crate) fn found_in(&self, part: f64, whole: f64, says: impl Into<String>) -> Doubt {
        let gravity = match self.graver {
            Some(Graver::Above(share, _, graver)) if share * whole < part => graver,
            Some(Graver::Above(..) | Graver::AsFound(_)) | None => self.gravity,
        };
        Doubt { gravity, ..self.found(says) }
    }

    /// Its row of docs/validity.md.
    fn row(&self) -> String {
        let usual = self.gravity.name();
        let gravity = match self.graver {
            None => usual.into(),
            Some(Graver::AsFound(words)) => words.into(),
            Some(Graver::Above(share, of, graver)) => {
                format!("{usual}; {} above {} {of}", graver.name(), Threshold::Share(share).words())
            }
        };
        let mut thresholds = self.thresholds.iter().map(Threshold::words);
        let mut texts = self.when.split("{}");
        let first = texts.next().unwrap_or_default().to_owned();
        let when = texts.fold(first, |when, text| {
            when + &thresholds.next().expect("a threshold for each place") + text
        });
        format!("| `{}` | {gravity} | {when} | {} |\n", self.id, self.because)
    }
}

impl Doubt {
    /// Its stable name.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// How it affects the verdict.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        self.gravity
    }

    /// It in a sentence, with its figures.
    #[must_use]
    pub fn says(&self) -> &str {
        &self.says
    }

    /// What to do about it.
    #[must_use]
    pub fn way_out(&self, by: By) -> &'static str {
        match by {
            By::Flags => self.way_out.by_flags.unwrap_or(self.way_out.usual),
            By::Experiment => self.way_out.usual,
        }
    }

    /// Whether it is the one that is defined so.
    #[must_use]
    pub fn is(&self, definition: &Definition) -> bool {
        self.id == definition.id
    }

    /// Whether it is one of these.
    #[must_use]
    pub fn is_any(&self, definitions: &[Definition]) -> bool {
        definitions.iter().any(|definition| self.is(definition))
    }

    /// Whether a file states one of these.
    pub(super) fn states_any(&self, definitions: &[Definition]) -> bool {
        definitions.iter().any(|definition| self.stated.iter().any(|id| id == definition.id))
    }

    /// The doubt with another way out, wherever it is applied.
    pub(crate) fn with_way_out(self, usual: &'static str) -> Doubt {
        Doubt { way_out: WayOut { usual, by_flags: None }, ..self }
    }
}

impl Threshold {
    /// With no more digits than it has.
    fn words(&self) -> String {
        match *self {
            Threshold::Share(share) => format!("{} %", chosen(share * 100.0)),
            Threshold::Time(ns) => {
                let (scale, unit) = fitting(ns, &TIMES);
                format!("{} {unit}", chosen(ns / scale))
            }
            Threshold::Count(times) => count(times),
            Threshold::Number(value) => value.to_string(),
            Threshold::AnyOf(values) => {
                let texts: Vec<String> = values.iter().map(u64::to_string).collect();
                let (last, first) = texts.split_last().expect("a threshold");
                format!("{} or {last}", first.join(", "))
            }
        }
    }
}

/// The table of all doubts in docs/validity.md.
#[must_use]
pub fn doubts_table() -> String {
    table("doubt | gravity | is raised when", super::all())
}

/// A table of docs/validity.md.
pub(crate) fn table<'d>(
    head: &str,
    definitions: impl IntoIterator<Item = &'d Definition>,
) -> String {
    let rows: String = definitions.into_iter().map(Definition::row).collect();
    format!("| {head} | because |\n|---|---|---|---|\n{rows}")
}

#[cfg(test)]
mod tests;
