//! What the command line changes of an experiment, for one run.

use std::num::NonZeroU16;
use std::time::Duration;

use super::Experiment;
use crate::amounts;
use crate::manner::Protocol;
use crate::source_file::{ConfigError, SourceFile};

/// What the command line changed for one run; empty if it is run as its file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    pub flags: Vec<String>,
    /// The same in words.
    pub says: Vec<String>,
}

/// A value that the command line changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These subjects of those that would take part.
    Subjects(Vec<String>),
    Connections(Vec<usize>),
    Duration(Duration),
    Rounds(u64),
    /// The percentage of requests that may fail.
    Failures(f64),
    Protocols(Vec<Protocol>),
    /// Requests at once on each connection.
    Streams(Vec<NonZeroU16>),
}

impl Change {
    /// As the file's reader reads it.
    fn line(&self) -> String {
        match self {
            Change::Subjects(names) => format!("subjects = {names:?}"),
            Change::Connections(values) => format!("connections = {values:?}"),
            Change::Duration(time) => format!("duration = \"{}\"", amounts::written(*time)),
            Change::Rounds(rounds) => format!("repeat = {rounds}"),
            Change::Failures(percent) => format!("failures = \"{percent}%\""),
            Change::Protocols(all) => {
                let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
                format!("protocol = {names:?}")
            }
            Change::Streams(values) => format!("streams = {values:?}"),
        }
    }
}

impl Experiment {
    /// The same with a few values changed for one run. They are written under its text, so that the run keeps them, and
    /// whatever reads that text reads what was run.
    pub fn with(&self, changes: &[Change]) -> Result<Experiment, ConfigError> {
        if self.changed != Changed::default() {
            let says = "it has `[changed]`, which dyno writes when the command line changes a run; leave that out";
            return Err(self.source.wrong(None, says));
        }
        let lines: Vec<String> = changes.iter().map(Change::line).collect();
        let text = format!(
            "{}\n\n# on the command line of this run\n[changed]\n{}\n",
            self.source.text.trim_end(),
            lines.join("\n")
        );
        Experiment::parse(&self.name, SourceFile { text, ..self.source.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(more: &str) -> Experiment {
        let load = "load = { open = { rate = 50 }, duration = '1s', timeout = '3s' }";
        let text = format!(
            "question = 'x'\nsubjects = ['a']\nworkload = 'u'\n{load}\n[promise]\n{more}\n"
        );
        Experiment::parse("x", SourceFile { name: "experiments/x.toml".into(), text }).unwrap()
    }

    #[test]
    fn a_request_is_on_time_within_the_time_out_unless_the_file_says_another_limit() {
        let within = |more: &str| read(more).on_time_within().unwrap();
        assert_eq!(within("failures = '5%'"), Duration::from_secs(3), "no limit that is not said");
        assert_eq!(within("p99 = '20ms'"), Duration::from_millis(20));
    }

    #[test]
    fn the_failures_that_are_tolerated_may_be_changed_for_one_run() {
        let changed = read("failures = '5%'").with(&[Change::Failures(2.5)]).unwrap();
        assert_eq!((changed.promise.failed_percent, changed.promise.is_stated), (2.5, false));
        assert_eq!(changed.changed.flags, ["--max-failures 2.5%"]);
        assert_eq!(changed.changed.says, ["at most 2.5% failed"]);
    }
}
