//! A service that works beside a server, such as a database: a folder in `services/`. Its manifest says by which commands
//! it is made, started, seeded and read; dyno knows none of them.

mod ceiling;
mod private_folder;
mod running;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use crate::amounts;
use crate::build::plan::{BuildPlan, Built};
use crate::command::Command;
use crate::need::{Need, Surroundings};
use crate::source_file::{ConfigError, SourceFile};
use crate::subject::BUILD_HOLES;
use crate::subject::manifest::{self, READY, command, package};

pub use ceiling::{CEILING, ServiceCeiling};
pub use private_folder::private_root;
pub(crate) use private_folder::{PrivateFolder, copy_all};
pub use running::Counters;
pub(crate) use running::{RunningService, ServiceStart, Unstarted};

/// What a workload needs beside the server.
#[derive(Clone, Debug)]
pub struct Service {
    /// Its folder's name.
    pub name: String,
    pub folder: PathBuf,
    /// Its manifest.
    pub source: SourceFile,
    pub title: String,
    pub home: String,
    /// How its template is made: each trial gets a copy of it.
    pub plan: BuildPlan,
    /// The Debian packages that provide what it needs.
    pub debian: Vec<String>,
    /// How to get what those packages cannot provide.
    pub advice: Option<String>,
    /// What installing these packages would start, and the commands that prevent it, run before.
    pub starts: Option<(String, Vec<Command>)>,
    /// The command that is the service: it runs until it is asked to end.
    pub run: Command,
    /// The signal that asks it to end.
    pub stop_signal: i32,
    /// Succeeds once it can be used.
    pub ready: Command,
    /// How long that may take.
    pub ready_within: Duration,
    /// Run in order, once it is ready.
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
    pub settings: Option<PathBuf>,
    /// What a reader of the numbers should know.
    pub notes: String,
    /// Variables of its own commands in a trial.
    pub env: Vec<(String, String)>,
    /// Variables that the server is given.
    pub gives: Vec<(String, String)>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    #[serde(default)]
    home: String,
    #[serde(default)]
    needs: Vec<Spanned<String>>,
    programs: Option<Spanned<String>>,
    #[serde(default)]
    debian: Vec<Spanned<String>>,
    advice: Option<String>,
    starts: Option<Spanned<String>>,
    #[serde(default)]
    prevent: Vec<Spanned<String>>,
    #[serde(default)]
    build: Vec<Spanned<String>>,
    run: Spanned<String>,
    stop: Option<Spanned<String>>,
    ready: Spanned<String>,
    ready_within: Option<Spanned<String>>,
    #[serde(default)]
    seed: Vec<Spanned<String>>,
    read: Option<Spanned<String>>,
    insert: Option<Spanned<String>>,
    counters: Option<Spanned<String>>,
    ceiling: Option<Spanned<String>>,
    version: Option<Spanned<String>>,
    settings: Option<Spanned<PathBuf>>,
    #[serde(default)]
    notes: String,
    #[serde(default)]
    env: BTreeMap<Spanned<String>, Spanned<String>>,
    gives: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Placeholders of its commands in a trial. The password is in variables alone: whoever may list processes sees what
/// stands in a command.
const HOLES: [&str; 3] = ["port", "work", "dyno"];
const READ_HOLES: [&str; 4] = ["port", "work", "dyno", "table"];
const CEILING_HOLES: [&str; 6] = ["port", "work", "dyno", "workload", "connections", "seconds"];
/// Those of its variables.
const ENV_HOLES: [&str; 4] = ["port", "work", "dyno", "password"];
/// The signal that asks it to end, where nothing is said.
const TERM: i32 = 15;
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
        let some =
            |text: &Option<_>, holes: &[&str]| source.some_text(text, |text| command(text, holes));
        let path = programs(&source, manifest.programs.as_ref(), variables)?;
        let env = [("PATH".to_string(), path), ("HOME".into(), "{build}".into())];
        Ok(Service {
            name: name.into(),
            folder: root.join("services").join(name),
            plan: BuildPlan {
                needs: source.texts(&manifest.needs, Need::parse)?,
                commands: source.texts(&manifest.build, |text| command(text, &BUILD_HOLES))?,
                env: env.to_vec(),
                ..BuildPlan::default()
            },
            starts: starts(&source, &manifest)?,
            run: source.text(&manifest.run, |text| command(text, &HOLES))?,
            stop_signal: source.some_text(&manifest.stop, stop_signal)?.unwrap_or(TERM),
            ready: source.text(&manifest.ready, |text| command(text, &HOLES))?,
            ready_within: source.some_text(&manifest.ready_within, amounts::time)?.unwrap_or(READY),
            seed: source.texts(&manifest.seed, |text| command(text, &HOLES))?,
            read: some(&manifest.read, &READ_HOLES)?,
            insert: some(&manifest.insert, &HOLES)?,
            counters: some(&manifest.counters, &HOLES)?,
            ceiling: some(&manifest.ceiling, &CEILING_HOLES)?,
            version: some(&manifest.version, &BUILD_HOLES)?,
            settings: manifest.settings.as_ref().map(|file| inside(&source, file)).transpose()?,
            env: manifest::variables(&source, &manifest.env, &ENV_HOLES)?,
            gives: manifest::variables(&source, &manifest.gives, &ENV_HOLES)?,
            title: manifest.title,
            home: manifest.home,
            debian: source.texts(&manifest.debian, package)?,
            advice: manifest.advice,
            notes: manifest.notes,
            source,
        })
    }
}

/// The PATH of its commands: its own programs first.
fn programs(
    source: &SourceFile,
    folder: Option<&Spanned<String>>,
    variables: &[(String, String)],
) -> Result<String, ConfigError> {
    let Some(folder) = folder else { return Ok(PATH.into()) };
    if !folder.get_ref().starts_with('/') {
        let says = "the folder of its programs is a path from /";
        return Err(source.wrong_here(folder, says));
    }
    let need = source.text(folder, Need::parse)?;
    // Where it is missing, `needs` says so.
    let found = need.found(Surroundings { variables });
    Ok(found.map_or(PATH.into(), |found| format!("{}:{PATH}", found.display())))
}

fn starts(
    source: &SourceFile,
    manifest: &Manifest,
) -> Result<Option<(String, Vec<Command>)>, ConfigError> {
    let commands = source.texts(&manifest.prevent, |text| command(text, &[]))?;
    match (&manifest.starts, manifest.prevent.first()) {
        (None, None) => Ok(None),
        (Some(starts), Some(_)) => Ok(Some((starts.get_ref().clone(), commands))),
        (Some(starts), None) => {
            let says = "what a package starts is to be prevented: say how, in `prevent`";
            Err(source.wrong_here(starts, says))
        }
        (None, Some(first)) => Err(source.wrong_here(first, "say in `starts` what this prevents")),
    }
}

fn stop_signal(name: &str) -> Result<i32, String> {
    match name {
        "TERM" => Ok(TERM),
        "INT" => Ok(2),
        "QUIT" => Ok(3),
        other => {
            let shown = other.escape_debug();
            Err(format!("`{shown}` does not ask it to end; write TERM, INT or QUIT"))
        }
    }
}

/// A file of the template.
fn inside(source: &SourceFile, file: &Spanned<PathBuf>) -> Result<PathBuf, ConfigError> {
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    match file.get_ref().components().all(is_plain) {
        true => Ok(file.get_ref().clone()),
        false => {
            let says = "a file of the template is named by a path from the template's folder";
            Err(source.wrong_here(file, says))
        }
    }
}

#[cfg(test)]
mod tests;
