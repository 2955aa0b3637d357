//! A program that reports from inside a subject's virtual machine: a folder in `probes/`, the same for all subjects of
//! its kind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::command::{Command, Placeholders};
use crate::misread::{Misread, Page};
use crate::need::Need;
use crate::subject::BUILD_HOLES;

/// A probe: variables say where it is to report, and it joins the subject through variables only.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Its folder's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its manifest.
    pub page: Page,
    /// Its title, for people.
    pub title: String,
    /// What must be there before it can be built.
    pub needs: Vec<Need>,
    /// Run once, in a copy of the folder.
    pub build: Vec<Command>,
    /// Added to the subject's variables.
    pub env: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    #[serde(default)]
    needs: Vec<Spanned<String>>,
    #[serde(default)]
    build: Vec<Spanned<String>>,
    env: BTreeMap<String, Spanned<String>>,
}

impl Probe {
    /// Reads `probes/NAME/probe.toml` below the project's root.
    pub fn read(root: &Path, name: &str) -> Result<Probe, Misread> {
        let folder = root.join("probes").join(name);
        let page = Page::read(&folder.join("probe.toml"), &format!("probes/{name}/probe.toml"))?;
        let manifest: Manifest = page.parse()?;
        let wrong = |text: &Spanned<String>, says: String| page.wrong(Some(text.span()), says);
        let known: Vec<(&str, &str)> = BUILD_HOLES.iter().map(|name| (*name, "")).collect();
        let placeholders = Placeholders { known: &known };
        let mut needs = Vec::new();
        for text in &manifest.needs {
            needs.push(Need::parse(text.get_ref()).map_err(|says| wrong(text, says))?);
        }
        let mut build = Vec::new();
        for text in &manifest.build {
            let command = Command::parse(text.get_ref());
            let command = command.and_then(|command| command.fill(placeholders).map(|_| command));
            build.push(command.map_err(|error| wrong(text, error.to_string()))?);
        }
        for value in manifest.env.values() {
            placeholders.fill(value.get_ref()).map_err(|error| wrong(value, error.to_string()))?;
        }
        let env =
            manifest.env.into_iter().map(|(name, value)| (name, value.into_inner())).collect();
        Ok(Probe { name: name.into(), folder, title: manifest.title, needs, build, env, page })
    }
}
