//! A run as its public file carries it.

use std::collections::BTreeMap;

use lab::record::{RunRecord, TrialRecord};
use report::run::Findings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::RunEnd;

use crate::arguments;
use crate::claims::claims;
use crate::content::{self, Content, digest};
use crate::privacy::{Words, pass, pass_packed};
use crate::reduce::reduce;

/// A run that was read from a public file. Nothing in it is known to be true.
#[derive(Clone, Debug)]
pub struct PublicRun {
    /// SHA-256 over its content, as 64 hexadecimal digits.
    pub id: String,
    pub record: RunRecord,
    pub trials: Vec<TrialRecord>,
    /// When and how it ended; none if it did not.
    pub ended: Option<(i64, RunEnd)>,
    pub lineage: Lineage,
    /// What the exporter computed of the content: a part of the document `dyno.run/1`.
    pub claims: Value,
}

/// How often the experiment was run in the exporter's store: a claim, which nothing in the file can prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    /// Runs of the experiment that ended, this one among them.
    pub finished: u32,
    /// Runs that were interrupted or killed.
    pub unfinished: u32,
}

/// No run in a public file has more planned trials, or servers: comparing all servers of a table takes time like the
/// square of their number.
pub(crate) const PLANNED_MAX: usize = 20_000;
pub(crate) const ENTRIES_MAX: usize = 250;

/// The fact of a run that it repeats another one: the id of that one's file.
pub const REPEATS: &str = "repeat.of";

impl PublicRun {
    /// A kept run without what is private, and with what is claimed of it; and how often what was replaced or left out.
    pub fn of(
        mut record: RunRecord,
        mut trials: Vec<TrialRecord>,
        ended: Option<(i64, RunEnd)>,
        lineage: Lineage,
        words: &Words,
    ) -> Result<(PublicRun, BTreeMap<String, usize>), String> {
        let mut notes = BTreeMap::new();
        let mut note = |what: &str| *notes.entry(what.to_string()).or_default() += 1;
        reduce(&mut record, &mut trials, &mut note);
        pass_packed(&mut record, &mut trials, words, &mut note);
        let mut content = Content::of(&record, &trials, ended);
        pass(&mut content, words, &mut note);
        arguments::pass(&mut content, &mut note);
        let profiles = std::mem::take(&mut record.profiles);
        let lines = content.lines();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let id = digest(lines.iter().copied());
        let (record, trials, ended) = content::read(&lines)?;
        let record = RunRecord { profiles, ..record };
        let mut run = PublicRun { id, record, trials, ended, lineage, claims: Value::Null };
        run.claims = claims(&run.findings());
        Ok((run, notes))
    }

    /// The id of the run that this one says it repeats.
    #[must_use]
    pub fn repeats(&self) -> Option<&str> {
        lab::record::fact(&self.record.facts, REPEATS)
    }

    /// All that is found in it, computed anew. Addresses carry this much of the id.
    #[must_use]
    pub fn findings(&self) -> Findings<'_> {
        Findings::of(&self.short_id(), &self.record, &self.trials, Vec::new())
    }

    /// The first 128 bits of the id, as 32 digits.
    #[must_use]
    pub fn short_id(&self) -> String {
        self.id.chars().take(32).collect()
    }

    /// The sources of a server, by their paths within its folder; none if they do not travel in the file.
    #[must_use]
    pub fn folder(&self, server: &str) -> Vec<(&str, &str)> {
        let inside = format!("subjects/{server}/");
        let files = self.record.files.iter();
        files
            .filter_map(|(path, text)| Some((path.strip_prefix(&inside)?, text.as_str())))
            .collect()
    }
}
