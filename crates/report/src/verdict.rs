//! What figures are worth, and why, in words: for readers and for programs.

use agents::LostAgent;
use analysis::{By, Doubt, Gravity, Reason, Row, Verdict, none_held};
use load::Holding;
use schemars::JsonSchema;
use serde::Serialize;
use units::count;

use crate::document::{Block, Depth, Entry, Section, Tone};

/// The heading under which doubts stand, in every report.
pub(crate) const DOUBTS: &str = "What to doubt";

/// What figures are worth, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "verdict")]
pub struct ExplainedVerdict {
    /// valid, suspect or invalid; null before anything was measured
    #[schemars(with = "Option<String>", extend("enum" = ["valid", "suspect", "invalid", null]))]
    pub word: Option<Verdict>,
    /// why it is no better, the gravest first
    pub doubts: Vec<ExplainedDoubt>,
}

/// One reason for doubt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "doubt")]
pub struct ExplainedDoubt {
    /// its stable name; validity.md has its threshold
    pub id: &'static str,
    /// note, suspect or invalid
    #[schemars(with = "String", extend("enum" = ["note", "suspect", "invalid"]))]
    pub gravity: Gravity,
    /// the reason in words, with its figures
    pub says: String,
    /// the way out
    pub what_to_do: String,
    /// in how many rounds it was found; null where it is not about a row
    pub rounds: Option<usize>,
    /// how many rounds were run; null where it is not about a row
    pub of: Option<usize>,
}

impl ExplainedDoubt {
    pub(crate) fn new(
        id: &'static str,
        gravity: Gravity,
        says: impl Into<String>,
        what_to_do: impl Into<String>,
    ) -> ExplainedDoubt {
        let (says, what_to_do) = (says.into(), what_to_do.into());
        ExplainedDoubt { id, gravity, says, what_to_do, rounds: None, of: None }
    }

    /// In its own words. What one command found on its own is a sentence.
    pub(crate) fn of(found: &Doubt, by: By) -> ExplainedDoubt {
        let says = match by {
            By::Experiment => found.says().into(),
            By::Flags => sentence(found.says()),
        };
        ExplainedDoubt::new(found.id(), found.gravity(), says, found.way_out(by))
    }

    /// With whose it is before it, where there are several: `A: suspect, failures (in 1 of 3 rounds): …`.
    pub(crate) fn entry(&self, whose: &str) -> Entry {
        let times = match self.rounds.zip(self.of) {
            Some((rounds, of)) if rounds < of => {
                format!(" (in {} of {} rounds)", count(rounds as u64), count(of as u64))
            }
            Some(_) | None => String::new(),
        };
        let (gravity, name) = (self.gravity.name(), self.id.replace('_', " "));
        let head = format!("{whose}{gravity}, {name}{times}: {}", self.says);
        Entry::new(self.gravity.into(), head)
            .with(Tone::Dim, format!("what to do: {}", self.what_to_do))
    }
}

impl ExplainedVerdict {
    /// The verdict of the gravest doubt.
    pub(crate) fn by(mut doubts: Vec<ExplainedDoubt>) -> ExplainedVerdict {
        doubts.sort_by_key(|doubt| std::cmp::Reverse(doubt.gravity));
        let word = Some(Verdict::by(doubts.iter().map(|doubt| doubt.gravity)));
        ExplainedVerdict { word, doubts }
    }

    /// Each kind of doubt of a row once, and in how many rounds it was found.
    pub(crate) fn of_row(row: &Row, by: By) -> ExplainedVerdict {
        let explained = |Reason { doubt, rounds, of }: Reason| ExplainedDoubt {
            rounds: Some(rounds),
            of: Some(of),
            ..ExplainedDoubt::of(&doubt, by)
        };
        let doubts = row.reasons().into_iter().map(explained).collect();
        ExplainedVerdict { word: row.verdict(), doubts }
    }

    /// Of what this many threads held, and of the agents that were lost. Connections that failed, were lost or fell
    /// silent are in its table.
    pub fn of_held(holding: &Holding, lanes: u64, lost: &[LostAgent]) -> ExplainedVerdict {
        let mut found = analysis::of_holding(holding, lanes);
        found.extend(without(lost));
        found.extend(none_held(holding));
        let doubts = found.iter().map(|found| ExplainedDoubt::of(found, By::Flags));
        ExplainedVerdict::by(doubts.collect())
    }

    pub fn find(&self, id: &str) -> Option<&ExplainedDoubt> {
        self.doubts.iter().find(|doubt| doubt.id == id)
    }

    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Its doubts, with whose they are before them.
    pub(crate) fn entries(&self, whose: &str) -> impl Iterator<Item = Entry> {
        self.doubts.iter().map(move |doubt| doubt.entry(whose))
    }
}

/// Why figures have no better verdict, in every report.
pub(crate) fn section(doubts: Vec<Entry>) -> Section {
    let (depth, block) = match doubts.is_empty() {
        true => {
            let nothing = "None of the reasons for doubt that dyno knows was found.";
            (Depth::Full, Block::paragraph(Tone::Plain, nothing))
        }
        false => (Depth::Brief, Block::Entries(doubts)),
    };
    Section::new("doubt", DOUBTS, depth).with([block])
}

/// The doubt that agents are missing.
pub(crate) fn without(lost: &[LostAgent]) -> Option<Doubt> {
    let of = lost.first().map_or(0, |lost| lost.of as u64);
    analysis::agents_lost(lost.len() as u64, of, lost.iter().map(|lost| lost.share).sum())
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
