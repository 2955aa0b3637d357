//! What happens in a run, for the display.

use std::path::Path;

use analysis::search::{Press, Progress, RunSearch, Tried};
use lab::conformance::Conformance;
use lab::record::{TrialKey, TrialRecord};
use lab::trial;

/// One thing that happened.
pub enum Event<'a> {
    /// Something that a user should know, in a sentence.
    Notice(&'a str),
    /// A command of a build starts.
    Building { name: &'a str, command: &'a str },
    /// The command of a build failed; all that it wrote is in this file.
    BuildFailed { name: &'a str, log: &'a Path },
    /// The last lines of such a file, which is on another machine.
    BuildLog { name: &'a str, tail: &'a str },
    /// A subject does not take part.
    Excluded { subject: &'a str, why: &'a str },
    /// Checks begin: this many subjects, each with this many cases.
    Checks { subjects: usize, cases: usize },
    /// A check is under way: the subject's place among those to be checked, from 1, and how many cases are done.
    Checking { subject: &'a str, place: usize, subjects: usize, done: usize, cases: usize },
    /// The check of a subject is over, or its result was taken over from an earlier run.
    Checked(&'a Conformance),
    /// No other trials than these are still possible.
    Left(&'a [&'a TrialKey]),
    /// All trials of the first round are kept, and there is more to come.
    FirstRoundKept,
    /// A trial begins.
    Begun(&'a TrialKey),
    /// These trials live at once, and are under load in turns.
    Together(&'a [&'a TrialKey]),
    /// Something happened in a trial.
    Trial(&'a TrialKey, &'a trial::Event<'a>),
    /// What was under way was interrupted, and is not kept.
    Abandoned,
    /// An agent was lost in this trial; it is tried once more at the end of its round.
    Again(&'a TrialKey),
    /// A sampled trial begins, one of so many.
    Sampling { key: &'a TrialKey, place: usize, of: usize },
    /// The last sampled trial is over.
    SamplingEnded,
    /// It was kept.
    Kept(&'a TrialRecord),
    /// The searches of the run go on, each from here.
    Searching(&'a [(&'a RunSearch, Progress)]),
    /// What the trial that was kept has found for its search, and how far that search is.
    Tried { of: &'a RunSearch, press: Press, tried: &'a Tried, progress: Progress },
}

/// Receives what happens, in the order in which it happens.
pub type Watch<'w> = &'w mut (dyn FnMut(&Event<'_>) + Send);
