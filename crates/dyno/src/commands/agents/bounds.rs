//! What an agent's owner allows it: flags of `dyno agents run`, which `dyno agents key` writes down for sshd.

use std::path::PathBuf;
use std::time::Duration;

use agents::{Allow, Allowed, Caps};
use clap::Args;
use lab::amounts;
use lab::source_file::SourceFile;

use crate::shell::Refusal;

/// Their names, for flags with which they have no meaning.
pub(super) const BOUNDS: [&str; 5] =
    ["allow", "allow_file", "max_rate", "max_connections", "max_duration"];

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args)]
pub(super) struct BoundFlags {
    /// What may be loaded, as ADDRESS[/BITS]:PORT[-PORT]; may be given again [this machine alone]
    #[arg(long, value_name = "TARGET")]
    allow: Vec<Allowed>,
    /// A file of this machine with what may be loaded, one on a line
    #[arg(long, value_name = "FILE")]
    pub(super) allow_file: Option<PathBuf>,
    /// The most requests (all calls of sessions), texts or new connections that the agent begins each second. A closed loop,
    /// which has no rate of its own, is refused
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    max_rate: Option<u64>,
    /// The most connections that the agent opens at once
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    max_connections: Option<u64>,
    /// The longest load, its warm-up and its time-out included; in whole seconds
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    max_duration: Option<Duration>,
}

impl BoundFlags {
    /// What may be loaded is not named: that is this machine.
    pub(super) fn is_this_machine_alone(&self) -> bool {
        self.allow.is_empty() && self.allow_file.is_none()
    }

    pub(super) fn allow(&self) -> Result<Allow, Refusal> {
        if self.is_this_machine_alone() {
            return Ok(Allow::loopback());
        }
        let mut these = self.allow.clone();
        if let Some(path) = &self.allow_file {
            let name = format!("--allow-file {}", path.display());
            let text = SourceFile::read(path, &name)?.text;
            let refused = |says| Refusal::new(format!("{name}: {says}"));
            these.extend(Allow::of_text(&text).map_err(refused)?);
        }
        Ok(Allow::These(these))
    }

    pub(super) fn caps(&self) -> Caps {
        Caps {
            rate: self.max_rate,
            connections: self.max_connections,
            seconds: self.max_duration.map(|longest| longest.as_secs()),
        }
    }

    /// The flags, as they are typed.
    pub(super) fn words(&self) -> Vec<String> {
        let allow = self.allow.iter().map(|rule| ("--allow", rule.to_string()));
        let file = self.allow_file.iter().map(|path| ("--allow-file", path.display().to_string()));
        let caps = [("--max-rate", self.max_rate), ("--max-connections", self.max_connections)];
        let caps = caps.into_iter().filter_map(|(flag, most)| Some((flag, most?.to_string())));
        let longest =
            self.max_duration.map(|it| ("--max-duration", format!("{}ms", it.as_millis())));
        let all = allow.chain(file).chain(caps).chain(longest);
        all.flat_map(|(flag, value)| [flag.to_string(), value]).collect()
    }
}
