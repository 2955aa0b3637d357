//! A service that works beside a server, such as a database: a folder in `services/`. Its manifest says by which commands
//! it is made, started, seeded and read; dyno knows none of them.

mod ceiling;
mod private_folder;
mod running;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

use serde::Deserialize;
use units::named;

use crate::amounts;
use crate::build::plan::{BuildPlan, Built};
use crate::command::Command;
use crate::need::{Need, Surroundings};
use crate::source_file::{ConfigError, SourceFile};
use crate::subject::BUILD_HOLES;
use crate::subject::manifest::{self, check_variables, package};

pub use ceiling::{CEILING, ServiceCeiling};
pub use private_folder::private_root;
pub(crate) use private_folder::{PrivateFolder, copy_all};
pub use running::Counters;
pub(crate) use running::{RunningService, ServiceStart};

/// What a workload needs beside the server.
#[derive(Clone, Debug)]
pub struct Service {
    /// Its folder's name.
    pub name: String,
    pub folder: PathBuf,
    /// Its manifest's text.
    pub source: SourceFile,
    pub manifest: Manifest,
    /// How its template is made: each trial gets a copy of it.
    pub plan: BuildPlan,
}

/// What its file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub title: String,
    #[serde(default)]
    pub home: String,
    #[serde(default)]
    needs: Vec<Need>,
    /// The folder of its programs, whose name may have stars.
    programs: Option<String>,
    /// The Debian packages that provide what it needs.
    #[serde(default)]
    pub debian: Vec<String>,
    /// How to get what those packages cannot provide.
    pub advice: Option<String>,
    /// What installing these packages would start, and the commands that prevent it, run before.
    pub starts: Option<String>,
    #[serde(default)]
    pub prevent: Vec<Command>,
    #[serde(default)]
    build: Vec<Command>,
    /// The command that is the service: it runs until it is asked to end.
    pub run: Command,
    /// The signal that asks it to end.
    #[serde(default)]
    pub(crate) stop: StopSignal,
    /// Succeeds once it can be used.
    pub ready: Command,
    /// How long that may take.
    #[serde(default = "manifest::usual_ready", deserialize_with = "amounts::read_time")]
    pub ready_within: Duration,
    /// Run in order, once it is ready.
    #[serde(default)]
    pub seed: Vec<Command>,
    /// Prints a table as CSV.
    pub read: Option<Command>,
    /// Inserts a row of `fortune` while the server is under load.
    pub insert: Option<Command>,
    /// Prints what it has counted since it was seeded: `name=number` pairs.
    pub counters: Option<Command>,
    /// Puts it under the load of the workload's queries, with no server before it, and prints how many answers that
    /// makes.
    pub ceiling: Option<Command>,
    /// Prints its version.
    pub version: Option<Command>,
    /// The file of the template whose lines are its settings.
    pub(crate) settings: Option<PathBuf>,
    /// What a reader of the numbers should know.
    #[serde(default)]
    pub notes: String,
    /// Variables of its own commands in a trial.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables that the server is given.
    pub gives: BTreeMap<String, String>,
}

named! {
    /// The signals that ask a process to end, by their numbers.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub(crate) enum StopSignal {
        #[default]
        Term = "TERM",
        Int = "INT",
        Quit = "QUIT",
    }
}

/// A service with its template, and what is said of both in a run.
#[derive(Clone, Debug)]
pub struct ReadyService {
    pub service: Service,
    pub built: Built,
    /// As its version command prints it; empty if it does not.
    pub version: String,
    /// Its settings, one each.
    pub settings: Vec<String>,
}

/// Placeholders of its commands in a trial. The password is in variables alone: whoever may list processes sees what
/// stands in a command.
const HOLES: [&str; 3] = ["port", "work", "dyno"];
const READ_HOLES: [&str; 4] = ["port", "work", "dyno", "table"];
const CEILING_HOLES: [&str; 6] = ["port", "work", "dyno", "workload", "connections", "seconds"];
/// Those of its variables.
const ENV_HOLES: [&str; 4] = ["port", "work", "dyno", "password"];
/// Where programs are besides the service's own.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Service {
    /// Reads `services/NAME/service.toml` below the project's root. `variables` are the user's.
    pub fn read(
        root: &Path,
        name: &str,
        variables: &[(String, String)],
    ) -> Result<Service, ConfigError> {
        let file = format!("services/{name}/service.toml");
        Service::parse(root, name, SourceFile::read(&root.join(&file), &file)?, variables)
    }

    /// Reads a manifest's text.
    pub fn parse(
        root: &Path,
        name: &str,
        source: SourceFile,
        variables: &[(String, String)],
    ) -> Result<Service, ConfigError> {
        let manifest: Manifest = source.parse()?;
        manifest.check(&source)?;
        let env = [("PATH".to_string(), manifest.path(&source, variables)?)];
        let plan = BuildPlan {
            needs: manifest.needs.clone(),
            commands: manifest.build.clone(),
            env: env.into_iter().chain([("HOME".into(), "{build}".into())]).collect(),
            ..BuildPlan::default()
        };
        let folder = root.join("services").join(name);
        Ok(Service { name: name.into(), folder, source, manifest, plan })
    }
}

impl Manifest {
    fn check(&self, source: &SourceFile) -> Result<(), ConfigError> {
        let commands: [(&str, &[Command], &[&str]); 10] = [
            ("prevent", &self.prevent, &[]),
            ("build", &self.build, &BUILD_HOLES),
            ("run", slice::from_ref(&self.run), &HOLES),
            ("ready", slice::from_ref(&self.ready), &HOLES),
            ("seed", &self.seed, &HOLES),
            ("read", self.read.as_slice(), &READ_HOLES),
            ("insert", self.insert.as_slice(), &HOLES),
            ("counters", self.counters.as_slice(), &HOLES),
            ("ceiling", self.ceiling.as_slice(), &CEILING_HOLES),
            ("version", self.version.as_slice(), &BUILD_HOLES),
        ];
        for (key, commands, holes) in commands {
            source.check(key, commands, |command| command.has_only(holes))?;
        }
        source.check("debian", &self.debian, |name| package(name))?;
        source.check("settings", &self.settings, |file| is_inside(file))?;
        check_variables(source, "env", &self.env, &ENV_HOLES)?;
        check_variables(source, "gives", &self.gives, &ENV_HOLES)?;
        match (&self.starts, self.prevent.is_empty()) {
            (Some(_), true) => {
                let says = "what a package starts is to be prevented: say how, in `prevent`";
                Err(source.wrong_at(&["starts"], says))
            }
            (None, false) => {
                Err(source.wrong_at(&["prevent"], "say in `starts` what this prevents"))
            }
            (None, true) | (Some(_), false) => Ok(()),
        }
    }

    /// The PATH of its commands: its own programs first.
    fn path(
        &self,
        source: &SourceFile,
        variables: &[(String, String)],
    ) -> Result<String, ConfigError> {
        let Some(folder) = &self.programs else { return Ok(PATH.into()) };
        if !folder.starts_with('/') {
            let says = "the folder of its programs is a path from /";
            return Err(source.wrong_at(&["programs"], says));
        }
        let need = Need::parse(folder).map_err(|says| source.wrong_at(&["programs"], says))?;
        // Where it is missing, `needs` says so.
        let found = need.found(Surroundings { variables });
        Ok(found.map_or(PATH.into(), |found| format!("{}:{PATH}", found.display())))
    }
}

impl StopSignal {
    pub(crate) fn number(self) -> i32 {
        match self {
            StopSignal::Term => 15,
            StopSignal::Int => 2,
            StopSignal::Quit => 3,
        }
    }
}

/// A file of the template.
fn is_inside(file: &Path) -> Result<(), String> {
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    match file.components().all(is_plain) {
        true => Ok(()),
        false => Err("a file of the template is named by a path from the template's folder".into()),
    }
}

#[cfg(test)]
mod tests;
