//! What the command line changes of an experiment, for one run.

use std::num::NonZeroU16;
use std::time::Duration;

use campaign::project::Project;
use clap::Args;
use lab::amounts;
use lab::experiment::{Change, Experiment, Subjects};
use lab::manner::Protocol;
use lab::pattern::matches;
use lab::subject::Subject;

use super::flags::{VaryFlag, WhyFlag};
use super::http2::streams;
use super::protocol::protocol;
use crate::shell::Refusal;

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args)]
pub(crate) struct ChangeFlags {
    /// Only these of its servers: names, or patterns such as 'my-*'
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// How long each trial loads, instead of what the experiment says
    #[arg(short, short_alias = 'z', long, value_name = "TIME", value_parser = amounts::time)]
    duration: Option<Duration>,
    /// Connections, instead of those of the experiment: 50, or 1,10,100
    #[arg(short, long, value_name = "N", value_delimiter = ',', value_parser = amounts::connections)]
    connections: Vec<usize>,
    /// Rounds, instead of those of the experiment
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    rounds: Option<u64>,
    /// A server that fails more than this share of its requests is not ranked; instead of the share in the experiment
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent)]
    max_failures: Option<f64>,
    /// Protocols, instead of those of the experiment: http/1.1, http/1.1+tls, h2c, h2
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = protocol)]
    protocol: Vec<Protocol>,
    /// Over HTTP/2: requests at once on each connection, instead of those of the experiment: 1,10,100
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = streams)]
    streams: Vec<NonZeroU16>,
    #[command(flatten)]
    varying: VaryFlag,
    #[command(flatten)]
    why: WhyFlag,
}

impl ChangeFlags {
    /// The experiment with these changes, which its text then has, too.
    pub(crate) fn given_to(
        &self,
        experiment: Experiment,
        project: &Project,
    ) -> Result<Experiment, Refusal> {
        let mut changes = Vec::new();
        if !self.only.is_empty() {
            changes.push(Change::Subjects(self.chosen(&experiment, project)?));
        }
        if !self.connections.is_empty() {
            changes.push(Change::Connections(self.connections.clone()));
        }
        changes.extend(self.duration.map(Change::Duration));
        changes.extend(self.rounds.map(Change::Rounds));
        changes.extend(self.max_failures.map(Change::Failures));
        if !self.protocol.is_empty() {
            changes.push(Change::Protocols(self.protocol.clone()));
        }
        if !self.streams.is_empty() {
            changes.push(Change::Streams(self.streams.clone()));
        }
        changes.extend(self.varying.vary.then_some(Change::Varied));
        changes.extend(self.why.why.then_some(Change::Why));
        if changes.is_empty() {
            return Ok(experiment);
        }
        let file = experiment.source.name.clone();
        experiment.with(&changes).map_err(|flaw| {
            let (given, says) = (self.given(), flaw.says);
            Refusal::new(format!(
                "{given} with {file}: {says}; leave it out, or change a copy of the file"
            ))
        })
    }

    /// The flags that change a load, by name.
    fn given(&self) -> String {
        let flags = [
            ("--only", !self.only.is_empty()),
            ("-c", !self.connections.is_empty()),
            ("-d", self.duration.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--max-failures", self.max_failures.is_some()),
            ("--protocol", !self.protocol.is_empty()),
            ("--streams", !self.streams.is_empty()),
            ("--vary", self.varying.vary),
            ("--why", self.why.why),
        ];
        let given: Vec<&str> =
            flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect();
        given.join(", ")
    }

    /// The subjects that the patterns name, in the order of the experiment.
    fn chosen(&self, experiment: &Experiment, project: &Project) -> Result<Vec<String>, Refusal> {
        let names = match &experiment.subjects {
            Subjects::Named(names) => names.clone(),
            Subjects::All => {
                let takes_part = |name: &String| {
                    let subject = Subject::read(&project.root, name);
                    subject.is_ok_and(|it| experiment.workloads.iter().any(|name| it.answers(name)))
                };
                project.subjects().into_iter().filter(takes_part).collect()
            }
        };
        let is_idle = |pattern: &&String| !names.iter().any(|name| matches(pattern, name));
        if let Some(idle) = self.only.iter().find(is_idle) {
            return Err(Refusal::new(format!(
                "--only: no server of {} is called `{}`; it has {}",
                experiment.source.name,
                idle.escape_debug(),
                names.join(", ")
            )));
        }
        let is_chosen = |name: &String| self.only.iter().any(|pattern| matches(pattern, name));
        Ok(names.into_iter().filter(is_chosen).collect())
    }
}
