//! What the lines of a history are of: an experiment, a load or a race, and how it is measured anew.

use std::time::Duration;

use lab::amounts;
use lab::record::{Fact, LOAD_ON, RunRecord};
use load::{Arrivals, Load};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::terms;

/// The command that measured.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum MadeBy {
    #[default]
    Run,
    Load,
    Race,
}

/// How the server of a race was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum SideKind {
    Command,
    Folder,
    Subject,
    Url,
}

/// How the command line of a race named a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "race_side")]
pub struct Side {
    /// what it is: command, folder, server or url
    pub kind: SideKind,
    /// what was typed; `…` stands for the values of a command's variables (`env NAME=…`) and of a URL's query
    pub text: String,
}

/// What was measured, and how it is measured anew; by itself, an experiment whose files say all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub made_by: MadeBy,
    /// What a load requested, or which servers raced, without what may be secret; none: the run's own group.
    pub experiment: Option<String>,
    /// The agents that a load came from, if any.
    pub from: Option<String>,
    /// What makes it another measurement, and stands in no file of its run.
    pub terms: Vec<String>,
    /// Those that make the same load.
    pub flags: Vec<String>,
    /// The servers of a race, in their order.
    pub sides: Vec<RaceSide>,
}

/// A server of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// What the run calls it.
    pub subject: String,
    /// What histories call it.
    pub name: String,
    pub side: Side,
}

impl Origin {
    /// Of a kept run of any kind, by what its store has of it.
    pub(super) fn of_kept(run: &RunRecord) -> Origin {
        let terms = run.facts.iter().filter(|fact| terms::is_one(&fact.name));
        let terms = terms.map(|fact| format!("{}: {}", fact.name, fact.value));
        Origin { terms: terms.collect(), ..Origin::default() }
    }

    /// Of a race between these.
    #[must_use]
    pub fn of_race(sides: Vec<RaceSide>, terms: Vec<String>, flags: Vec<String>) -> Origin {
        let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
        let experiment = Some(names.join(" against "));
        Origin { made_by: MadeBy::Race, experiment, from: None, terms, flags, sides }
    }

    /// The run's facts, and where a load came from.
    pub(super) fn facts(&self, run: &RunRecord) -> Vec<Fact> {
        let from =
            self.from.iter().map(|place| Fact { name: LOAD_ON.into(), value: place.clone() });
        run.facts.iter().cloned().chain(from).collect()
    }
}

/// What a race is to find.
pub(super) const DETECT: &str = "5%";

/// What stands in place of what is not written.
const NOT_WRITTEN: &str = "…";

/// Every flag that a line may name: a history comes from others, too, and what it proposes is no other command.
const KNOWN: [&str; 21] = [
    "-c",
    "-r",
    "-d",
    "-m",
    "-H",
    "-b",
    "--arrivals",
    "--detect",
    "--sessions",
    "--calls",
    "--max-connections",
    "--warmup",
    "--path",
    "--no-keepalive",
    "--vary",
    "--expect-status",
    "--expect-header",
    "--expect-body",
    "--streams",
    "--protocol",
    "--timeout",
];

/// What is wrong with the flags of a line.
pub(super) fn wrong_flag(flags: &[String]) -> Option<String> {
    let odd = flags.iter().find(|word| word.starts_with('-') && !KNOWN.contains(&word.as_str()))?;
    Some(format!("`{}` is not a flag of a load that a history can name", odd.escape_debug()))
}

/// The flags of a load, written one after the other.
#[derive(Clone, Debug, Default)]
pub struct Flags(Vec<String>);

impl Flags {
    #[must_use]
    pub fn of(load: &Load) -> Flags {
        let flags = Flags::default();
        match load {
            Load::Closed { connections } => flags.with("-c", connections),
            Load::Open { arrivals, connections, .. } => {
                let flags = flags.arriving("-r", arrivals).with("-c", connections);
                // What changes with time is not divided into the slices that this needs.
                match arrivals.length() {
                    None => flags.with("--detect", &DETECT),
                    Some(_) => flags,
                }
            }
            Load::Sessions { arrivals, calls, .. } => {
                flags.arriving("--sessions", arrivals).with("--calls", calls)
            }
        }
    }

    fn arriving(self, flag: &str, arrivals: &Arrivals) -> Flags {
        let number = |rate: &load::Rate| rate.as_f64().to_string();
        match arrivals {
            Arrivals::Constant(rate) => self.with(flag, &number(rate)),
            Arrivals::Poisson(rate) => {
                self.with(flag, &number(rate)).with("--arrivals", &"poisson")
            }
            Arrivals::Ramp { from, to, .. } => {
                self.with(flag, &format!("{}..{}", number(from), number(to)))
            }
            Arrivals::Steps(steps) => {
                let step = |(rate, length): &(load::Rate, Duration)| {
                    format!("{}:{}", number(rate), amounts::written(*length))
                };
                self.with(flag, &steps.iter().map(step).collect::<Vec<_>>().join(","))
            }
            Arrivals::Listed(_) => self.with("--arrivals", &NOT_WRITTEN),
        }
    }

    /// A flag and its value.
    #[must_use]
    pub fn with(mut self, flag: &str, value: &impl ToString) -> Flags {
        debug_assert!(KNOWN.contains(&flag), "{flag}");
        self.0.extend([flag.into(), value.to_string()]);
        self
    }

    /// A flag and its value, if there is one.
    #[must_use]
    pub fn with_any(self, flag: &str, value: Option<impl ToString>) -> Flags {
        match value {
            Some(value) => self.with(flag, &value),
            None => self,
        }
    }

    /// A flag without a value.
    #[must_use]
    pub fn with_switch(mut self, flag: &str, is_on: bool) -> Flags {
        debug_assert!(KNOWN.contains(&flag), "{flag}");
        if is_on {
            self.0.push(flag.into());
        }
        self
    }

    /// A flag whose value is not written.
    #[must_use]
    pub fn with_unwritten(self, flag: &str, is_given: bool) -> Flags {
        if is_given { self.with(flag, &NOT_WRITTEN) } else { self }
    }

    /// Header fields, whose values may be secret.
    #[must_use]
    pub fn with_fields(self, flag: &str, fields: &[(String, String)]) -> Flags {
        fields
            .iter()
            .fold(self, |flags, (name, _)| flags.with(flag, &format!("{name}: {NOT_WRITTEN}")))
    }

    #[must_use]
    pub fn words(self) -> Vec<String> {
        self.0
    }
}

/// A URL or a path without the values of its query, which may be secret: `/a?page=…&token=…`.
#[must_use]
pub fn without_values(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.into() };
    let without_value = |part: &str| match part.split_once('=') {
        Some((name, _)) => format!("{name}={NOT_WRITTEN}"),
        None => NOT_WRITTEN.into(),
    };
    format!("{path}?{}", query.split('&').map(without_value).collect::<Vec<_>>().join("&"))
}

impl Side {
    /// A command, without the values of the variables that `env` sets for it.
    #[must_use]
    pub fn command(words: &[String]) -> Side {
        let is_env = words.first().is_some_and(|word| word.rsplit('/').next() == Some("env"));
        let is_variable = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let mut words = words.to_vec();
        for word in words.iter_mut().skip(1).filter(|_| is_env) {
            if let Some((name, _)) = word.split_once('=')
                && is_variable(name)
            {
                *word = format!("{name}={NOT_WRITTEN}");
            }
        }
        Side { kind: SideKind::Command, text: lab::command::shown(&words) }
    }

    /// A server that runs already.
    #[must_use]
    pub fn url(shown: &str) -> Side {
        Side { kind: SideKind::Url, text: without_values(shown) }
    }
}
