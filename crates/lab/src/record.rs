//! What a run and its trials leave behind: values that the store keeps and returns unchanged.

use std::net::IpAddr;

use agents::{AgentFacts, Place};
use load::{Holding, Nanos, Recording};
pub use machine::{Fact, Series};
use profile::Profile;
use serde::{Deserialize, Serialize, Serializer};
use units::named;
use wire::AnswerParts;

use crate::conformance::{Conformance, LEFT_OUT, Spot};
use crate::experiment::{Experiment, Point};
use crate::request_parts;

/// One run of one experiment: what it was to do, where, and with which program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// The experiment's name: its file's, without the ending.
    pub name: String,
    /// What was run, with all that flags said of it; none of a load that no experiment can say, as one of a list of times.
    pub experiment: Option<Experiment>,
    /// The text of every file that shaped it, by its path from the project's root: the experiment
    /// first, if it had a file, then its workloads and the manifests of its servers and their probes.
    pub files: Vec<(String, String)>,
    /// Times and repeats were shrunk.
    pub is_quick: bool,
    /// The seed of the order of the trials, the gaps and the random values.
    pub seed: u64,
    /// Wall time of the start, milliseconds since 1970. The only wall time, except for those of the trials.
    pub began_unix_ms: i64,
    /// dyno's version, and its commit where that is known.
    pub dyno: String,
    /// The machine: CPU, kernel, governor, relevant sysctls, limits.
    pub facts: Vec<Fact>,
    /// Every server that was to take part.
    pub entries: Vec<Entry>,
    /// Every trial, in the order in which they run.
    pub plan: Vec<TrialKey>,
    /// How far its servers conform to the RFCs: those that have been checked so far.
    pub conformance: Vec<Conformance>,
    /// What was sampled of its servers after the rounds, so far.
    pub profiles: Vec<ProfileRecord>,
}

/// A sampled trial: no figure is made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRecord {
    /// Which server and load it is of. Its number counts the sampled trials of the run, from 0, and `repeat` those of this
    /// server and load.
    pub key: TrialKey,
    /// What was found, or why nothing was.
    pub found: Result<Profile, String>,
}

/// The value of the fact of this name.
#[must_use]
pub fn fact<'f>(facts: &'f [Fact], name: &str) -> Option<&'f str> {
    facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

impl RunRecord {
    /// What it is a repetition of: its experiment, or if it is a race, its sides' names, or if it is of `dyno load`, what
    /// was requested over which protocol.
    #[must_use]
    pub fn group(&self) -> String {
        let fact = |name| fact(&self.facts, name);
        if fact(RACE).or(fact(CAPACITY)).is_some() {
            let sides = self.entries.iter().filter(|entry| entry.tier != "reference");
            let mut sides: Vec<&str> = sides.map(|entry| entry.title.as_str()).collect();
            sides.sort_unstable();
            return format!("{} of {}", self.name, sides.join(" and "));
        }
        match (fact(LOAD), fact(REQUEST)) {
            (Some(_), Some(request)) => {
                let streams = fact(STREAMS).map_or(String::new(), |streams| {
                    format!(", over HTTP/2 (--streams {streams})")
                });
                format!("{} of {request}{streams}", self.name)
            }
            _ => self.name.clone(),
        }
    }

    /// Whether its trials are those of searches for a capacity. Their loads are not planned: the plan only numbers them.
    #[must_use]
    pub fn is_search(&self) -> bool {
        self.facts.iter().any(|fact| fact.name.starts_with(CAPACITY_SEARCH))
    }

    /// The command that runs its experiment anew, changed as it was: by name, or by the file that was given if that is in
    /// no `experiments/`.
    #[must_use]
    pub fn again(&self) -> String {
        let usual = format!("experiments/{}.toml", self.name);
        let file = self.experiment.as_ref().map_or(&usual, |experiment| &experiment.source.name);
        let experiment = if *file == usual { &self.name } else { file };
        let words = ["dyno", "run", experiment].map(String::from);
        let quick = if self.is_quick { " --quick" } else { "" };
        let flags = self.experiment.iter().flat_map(|experiment| &experiment.changed.flags);
        let flags = flags.map(|flag| format!(" {flag}"));
        let is_unchecked = self.facts.iter().any(|fact| fact.name == LEFT_OUT);
        let unchecked = if is_unchecked { " --no-check" } else { "" };
        let on = self.place_flags();
        crate::command::shown(&words) + quick + unchecked + &on + &flags.collect::<String>()
    }

    /// The text of every file, and behind them its experiment as JSON, under a name that no file has.
    #[must_use]
    pub fn texts(&self) -> Vec<(String, String)> {
        let made = self.experiment.as_ref().map(|it| (self.experiment_path(), it.json()));
        self.files.iter().cloned().chain(made).collect()
    }

    fn experiment_path(&self) -> String {
        format!("experiments/{}.json", self.name)
    }

    /// Takes its files and its experiment from what `texts` gave.
    pub fn set_texts(&mut self, mut texts: Vec<(String, String)>) -> Result<(), String> {
        let path = self.experiment_path();
        if let Some((_, json)) = texts.pop_if(|(name, _)| *name == path) {
            let mut experiment =
                Experiment::of_json(&json).map_err(|it| format!("{path}: {it}"))?;
            let source = &mut experiment.source;
            let file = texts.iter().find(|(name, _)| *name == source.name);
            source.text = file.map(|(_, text)| text.clone()).unwrap_or_default();
            self.experiment = Some(experiment);
        }
        self.files = texts;
        Ok(())
    }

    /// The flags that say on which machines the run took place, each after a blank; none if it was this one alone.
    #[must_use]
    pub fn place_flags(&self) -> String {
        let shown = |(flag, place): (&str, &str)| {
            format!(" {}", crate::command::shown(&[flag.into(), place.into()]))
        };
        self.places().into_iter().map(shown).collect()
    }

    /// The flags that say on which machines the run took place, with their values.
    #[must_use]
    pub fn places(&self) -> Vec<(&'static str, &str)> {
        let fact = |name| fact(&self.facts, name);
        let is_far = |text: &&str| text.parse().is_ok_and(|it: IpAddr| !it.is_loopback());
        let all = [
            ("--server-on", fact(SUBJECT_ON)),
            // Where this names no place, the machine from which the run was ordered has loaded.
            ("--load-on", fact(LOAD_ON).filter(|name| Place::parse(name).is_ok())),
            ("--listen-on", fact(SUBJECT_ADDRESS).filter(is_far)),
        ];
        all.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect()
    }
}

/// The fact of a run that its servers were on another machine: as the command line named it.
pub const SUBJECT_ON: &str = "subject.on";

/// The condition of a trial that names other dynos which loaded servers on this machine during the trial.
pub const OTHER_DYNO: &str = "another-dyno";

/// The fact of a run that it is a race: the command line that made it.
pub const RACE: &str = "race.command";
/// The fact of a race that its sides answered differently before the load.
pub const RACE_ANSWERS: &str = "race.answers";
/// The fact of a race whose bodies were not compared under load: why.
pub const RACE_BODIES: &str = "race.bodies";

/// The fact of a run that it is a search for a capacity: the command line that made it.
pub const CAPACITY: &str = "capacity.command";
/// Its flags, as JSON: what it goes on with.
pub const CAPACITY_FLAGS: &str = "capacity.flags";
/// The fact of a run that says what is searched for, as `analysis` writes it: of one search, or, in a run of an experiment,
/// of each with its server and its task behind a colon, in the order of the plan.
pub const CAPACITY_SEARCH: &str = "capacity.search";
/// The fact of such a run that says how many answers a second the reference gives: of the only task, or of each behind a
/// colon.
pub const CAPACITY_CEILING: &str = "capacity.ceiling";
/// So many trials of the plan belong to one search, which never has more; those of the next follow.
pub const SEARCH_TRIALS: u32 = 1_000;

/// The fact of a run that it is of `dyno load`, whose loads are judged as each was when it ended: the command line.
pub const LOAD: &str = "load.command";

/// The name of a run's fact that says what its loads requested.
pub const REQUEST: &str = "request";
/// The name of a fact of a load that says what is spoken on its connections.
pub const PROTOCOL: &str = "protocol (--http2)";
/// The protocol of a load that does not speak HTTP/2.
pub const HTTP_1: &str = "HTTP/1.x";
/// The name of a fact that says how many requests each connection carries at once over HTTP/2, in digits.
pub const STREAMS: &str = "streams (--streams)";
/// The conditions of a trial with a service that say how much it counted during the load begin so.
pub const COUNTED: &str = "service.counted";
/// The condition of a trial during whose load a row was inserted: when, or why not.
pub const INSERTED: &str = "service.inserted";
/// The conditions of a trial whose load changed a table: how many of its rows were answered, how many have none of the
/// numbers that they may have, and of how many of these a request without a right answer may be the cause.
pub const TABLE_ROWS: &str = "service.table.rows";
pub const TABLE_OTHERS: &str = "service.table.others";
pub const TABLE_NOT_JUDGED: &str = "service.table.not_judged";
/// The condition of such a trial whose table could not be read: why.
pub const TABLE_CANNOT_BE_READ: &str = "service.table.cannot_be_read";
/// The condition of such a load that says how many connections found an accept queue of the machine full.
pub const QUEUE_OVERFLOWS: &str = "queue.overflows";
/// The condition of such a load that says how many connections the server's queue holds.
pub const QUEUE_BACKLOG: &str = "queue.backlog";
/// The facts of a run whose load agents carried out: where they were, as `--load-on` said it, and on which host the
/// servers ran.
pub const LOAD_ON: &str = "load.on";
/// The fact of such a run that says on which address its servers listened.
pub const SUBJECT_ADDRESS: &str = "subject.address";
pub const SUBJECT_HOST: &str = "subject.host";
/// How many agents a load had, how many of them were lost, and which share of the load they had had.
pub const AGENTS: &str = "agents";
pub const AGENTS_LOST: &str = "agents.lost";
pub const AGENTS_LOST_SHARE: &str = "agents.lost.share";

/// A server as it took part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Entry {
    /// its name, which is that of its folder
    pub name: String,
    /// its title
    pub title: String,
    /// the language that it is written in
    pub language: String,
    /// how many processes it runs, as declared: one, per-cpu or many
    pub processes: String,
    /// what kind of server it is: default, tuned or reference
    pub tier: String,
    /// what its manifest says about it
    pub notes: String,
    /// its version: what its version command printed; empty if it did not run
    pub version: String,
    /// the hash of what was built
    pub build: String,
    /// why it took no part; null if it did
    pub skipped: Option<String>,
    /// The settings that differ between servers: a key, what the library does, what the entry says instead.
    #[serde(skip)]
    pub settings: Vec<Setting>,
}

/// One line of the fairness table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, such as `backlog`.
    pub name: String,
    /// What the library does by itself.
    pub default: Option<String>,
    /// What this entry says instead, and why.
    pub change: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrialKey {
    /// Its place in the plan, from 0.
    pub number: u32,
    /// The server under load.
    pub subject: String,
    /// What is requested and how: the name of a `Task`.
    pub workload: String,
    pub point: Point,
    /// Which round, from 0.
    pub repeat: u32,
}

impl TrialKey {
    #[must_use]
    pub fn new(number: u32, subject: &str, workload: &str, point: Point, repeat: u32) -> TrialKey {
        TrialKey { number, subject: subject.into(), workload: workload.into(), point, repeat }
    }
}

/// The record of one trial. Times are nanoseconds since it began, unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    pub key: TrialKey,
    /// Wall time of its start, milliseconds since 1970.
    pub began_unix_ms: i64,
    pub outcome: Outcome,
    /// The server's process, if the trial got that far.
    pub launch: Option<Launch>,
    /// What was done for the conditions, and what could not be: `memory` = `1.5 GiB by cgroup v1`.
    pub conditions: Vec<Fact>,
    /// Requests sent before and after the load, one by one, and their answers.
    pub checks: Vec<Check>,
    /// The cheapest cases of the RFCs, played before and after the load.
    pub spots: Vec<Spot>,
    /// The load, if the trial got that far.
    pub loaded: Option<LoadRecord>,
    /// Held connections, if they were requested and the trial got that far.
    pub held: Option<HeldRecord>,
    /// What the monitors read.
    pub series: Vec<Series>,
    pub ending: Ending,
}

/// How a server's process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Ending {
    /// how its process ended: `exit status 0`, `signal 11 (SEGV)`; empty if it never ran
    pub exit: String,
    /// how many processes had to be killed
    pub killed: u32,
    /// the last of its output
    #[serde(serialize_with = "as_utf8")]
    #[schemars(with = "String")]
    pub output_tail: Vec<u8>,
}

fn as_utf8<S: Serializer>(octets: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(octets))
}

impl TrialRecord {
    /// A record of a trial about which nothing is known yet.
    #[must_use]
    pub fn new(key: TrialKey, began_unix_ms: i64) -> TrialRecord {
        TrialRecord {
            key,
            began_unix_ms,
            outcome: Outcome { kind: OutcomeKind::Measured, says: String::new() },
            launch: None,
            conditions: Vec::new(),
            checks: Vec::new(),
            spots: Vec::new(),
            loaded: None,
            held: None,
            series: Vec::new(),
            ending: Ending::default(),
        }
    }

    /// From its start to the end of its load; 0 without a load.
    #[must_use]
    pub fn load_ended(&self) -> Nanos {
        self.loaded.as_ref().map_or(0, |loaded| loaded.began + loaded.recording.ended)
    }
}

/// The server's process, as it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// The command as it was run, placeholders filled.
    pub command: Vec<String>,
    pub pid: u32,
    /// Where it listens.
    pub port: u16,
    /// From the start of the process to the first correct answer.
    pub ready_after: Option<Nanos>,
    /// The backlog of its listening socket, as the kernel reports it.
    pub backlog: Option<u32>,
    /// How many processes it had when it was ready.
    pub processes: u32,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// In one word.
    pub kind: OutcomeKind,
    /// In a sentence, with the evidence; empty if there is nothing to say.
    pub says: String,
}

named! {
    /// How a trial ended: in one word, and as it reads after "not measured:".
    pub enum OutcomeKind {
        /// It was loaded to the end, and answered rightly before and after.
        Measured = "measured" => "measured",
        /// The server did not take part: it is not built, something is missing, or it does not speak this workload.
        Skipped = "skipped" => "skipped",
        /// No answer at all before the deadline.
        NotReady = "not-ready" => "no correct answer in time",
        /// It answers, but not rightly before the deadline; or it gave a wrong answer to a question before or after the
        /// load.
        Wrong = "wrong" => "wrong answer",
        /// The process ended by itself.
        Died = "died" => "died",
        /// What the workload needs beside the server, such as a database, ended by itself.
        ServiceDied = "service-died" => "what the workload needs beside the server died",
        /// Another process listens on the port.
        WrongServer = "wrong-server" => "another server on its port",
        /// The instrument could not do its part: files, ports, threads.
        Unable = "unable" => "a failure on dyno's side",
        /// The user asked for the end.
        Interrupted = "interrupted" => "interrupted",
    }
}

/// One request, sent on a connection of its own, and what came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Before or after the load.
    pub phase: Phase,
    /// The ask's name in its workload.
    pub ask: String,
    /// What was wrong; nothing if it was right.
    pub wrong: Option<String>,
    /// The bytes sent; of HTTP/2 they would be the fields, a line each, an empty line, and the content.
    pub request: Vec<u8>,
    /// The bytes received, up to a limit.
    pub response: Vec<u8>,
    /// How many bytes the head of the answer had.
    pub head_len: u64,
    /// Bytes after the head, framing included.
    pub rest_len: u64,
    /// A digest of the answer without what may differ (`Date`, `Server`, …): equal digests, equal answers.
    pub digest: Option<[u8; 32]>,
}

impl Check {
    /// Whether both servers were sent the same fields and content, whichever protocol carried them.
    #[must_use]
    pub fn requests_alike(&self, other: &Check) -> bool {
        request_parts::are_alike(&self.request, &other.request)
    }

    /// The answer's status, as it was sent.
    #[must_use]
    pub fn status(&self) -> &str {
        AnswerParts::of(&self.response).status().unwrap_or("none")
    }

    /// The answer's content, without its framing, as far as it was kept.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        AnswerParts::of(&self.response).content()
    }
}

named! {
    /// When a request was sent.
    pub enum Phase {
        Before = "before",
        /// After it.
        After = "after",
    }
}

/// The load, and what it measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// When the clock of the recording began.
    pub began: Nanos,
    /// The load took turns with others; none if it went on without a break.
    pub in_turns: Option<InTurns>,
    /// Which agents carried it out; none if dyno's own process did.
    pub agents: Vec<AgentFacts>,
    pub recording: Recording,
}

/// A load that took turns with those of other sides. The clock of the trial stood still meanwhile, and its readings
/// are those of its own turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTurns {
    /// How long a turn lasted at first, before what was under way was waited for.
    pub length: Nanos,
    /// How much of its turns it spent waiting for what was in flight when their time was over.
    pub waited: Nanos,
    /// The longest time in its own turns in which no monitor read anything, although it was to.
    pub looked_away: Option<Nanos>,
    /// How many it had.
    pub turns: u64,
    /// All of them together.
    pub own: Nanos,
    /// The time between the first and the last that was not its own.
    pub others: Nanos,
    /// The CPU time that its server used in its own turns; none if it could not be read.
    pub cpu_own: Option<Nanos>,
    /// The CPU time that its server used in the turns of the others.
    pub cpu_others: Option<Nanos>,
}

/// Held connections, and what was observed of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldRecord {
    /// When their clock began.
    pub began: Nanos,
    /// Which agents held them; none if dyno's own process did.
    pub agents: Vec<AgentFacts>,
    pub holding: Holding,
}

#[cfg(test)]
mod tests;
