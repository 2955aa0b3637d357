//! A program that reports from inside a subject's virtual machine: a folder in `probes/`, the same for all subjects of
//! its kind. Its manifest says how it is built and started, and what its readings are.

mod reading;
pub(crate) mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::build::plan::BuildPlan;
use crate::command::Command;
use crate::need::Need;
use crate::source_file::{ConfigError, SourceFile};
use crate::subject::BUILD_HOLES;
use crate::subject::manifest::check_variables;

pub use reading::{ProbeFigure, ProbeFold, ProbeReading};
pub use why::Why;

/// A probe: variables say where it is to report, and it joins the subject through variables only. One that only says how a
/// runtime's functions are called joins nothing.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its folder's name.
    pub name: String,
    pub folder: PathBuf,
    /// Its manifest.
    pub source: SourceFile,
    pub title: String,
    /// How it is built: its own variables are only for the subject that it joins.
    pub plan: BuildPlan,
    /// Added to the subject's variables.
    pub env: Vec<(String, String)>,
    /// What it sends.
    pub readings: Vec<ProbeReading>,
    /// What it says of its runtime's functions.
    pub why: Option<Why>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    #[serde(default)]
    needs: Vec<Need>,
    #[serde(default)]
    build: Vec<Command>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    why: Option<why::Keys>,
    #[serde(default)]
    reading: Vec<reading::Keys>,
}

impl Probe {
    /// Reads `probes/NAME/probe.toml` below the project's root.
    pub fn read(root: &Path, name: &str) -> Result<Probe, ConfigError> {
        let file = manifest(name);
        Probe::parse(root, name, SourceFile::read(&root.join(&file), &file)?)
    }

    /// Reads a manifest's text.
    pub fn parse(root: &Path, name: &str, source: SourceFile) -> Result<Probe, ConfigError> {
        let folder = root.join("probes").join(name);
        let manifest: Manifest = source.parse()?;
        source.check("build", &manifest.build, |step| step.has_only(&BUILD_HOLES))?;
        check_variables(&source, "env", &manifest.env, &BUILD_HOLES)?;
        let (needs, commands) = (manifest.needs, manifest.build);
        let plan = BuildPlan { needs, commands, ..BuildPlan::default() };
        let env = manifest.env.into_iter().collect();
        let readings = reading::read(&source, &manifest.reading)?;
        let why = manifest.why.map(|keys| why::read(&source, keys)).transpose()?;
        let (name, title) = (name.into(), manifest.title);
        Ok(Probe { name, folder, title, plan, env, readings, why, source })
    }
}

/// A probe's manifest, from the project's root.
fn manifest(probe: &str) -> String {
    format!("probes/{probe}/probe.toml")
}

/// The readings that the probes of a run's subjects declare, by the files that were kept with the run. Of readings or
/// figures that have the same name in two probes, the first counts.
#[must_use]
pub fn declared(files: &[(String, String)]) -> Vec<ProbeReading> {
    let mut all: Vec<ProbeReading> = Vec::new();
    for reading in probes(files).iter().flat_map(|probe| declared_by(files, probe)) {
        if reading::taken(&all, &reading).is_none() {
            all.push(reading);
        }
    }
    all
}

/// The probes that the manifests of the run's subjects name.
fn probes(files: &[(String, String)]) -> BTreeSet<String> {
    #[derive(Deserialize)]
    struct Subject {
        probe: Option<String>,
    }
    let is_manifest = |path: &str| path.starts_with("subjects/") && path.ends_with("/subject.toml");
    let manifests = files.iter().filter(|(path, _)| is_manifest(path));
    manifests.filter_map(|(_, text)| toml::from_str::<Subject>(text).ok()?.probe).collect()
}

fn declared_by(files: &[(String, String)], probe: &str) -> Vec<ProbeReading> {
    #[derive(Deserialize)]
    struct Declared {
        #[serde(default)]
        reading: Vec<reading::Keys>,
    }
    let name = manifest(probe);
    let Some((_, text)) = files.iter().find(|(path, _)| *path == name) else { return Vec::new() };
    let source = SourceFile { text: text.clone(), name };
    // What another dyno wrote and this one cannot read is not shown.
    let readings =
        source.parse().and_then(|found: Declared| reading::read(&source, &found.reading));
    readings.unwrap_or_default()
}

#[cfg(test)]
mod tests;
