//! The manifest's keys, and how they are read: no code after this file checks a name or a command again.

mod starts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;
use wire::{Ask, Expect, Request};

use super::{BUILD_HOLES, Location, Processes, Serving, Site, Subject, Tier, is_file_name};
use crate::amounts;
use crate::build::plan::BuildPlan;
use crate::command::{Command, Placeholders};
use crate::need::Need;
use crate::probe::why;
use crate::record::Setting;
use crate::source_file::{ConfigError, SourceFile};

/// The manifest's keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    home: String,
    #[serde(default)]
    processes: Processes,
    #[serde(default)]
    tier: Tier,
    speaks: Vec<Spanned<String>>,
    from: Option<Spanned<String>>,
    #[serde(default)]
    needs: Vec<Spanned<String>>,
    #[serde(default)]
    debian: Vec<Spanned<String>>,
    advice: Option<String>,
    #[serde(default)]
    build: Vec<Spanned<String>>,
    #[serde(default)]
    protocols: Vec<Spanned<String>>,
    run: Option<Spanned<String>>,
    run_h2c: Option<Spanned<String>>,
    run_tls: Option<Spanned<String>>,
    #[serde(rename = "in")]
    within: Option<Spanned<String>>,
    site: Option<Spanned<Site>>,
    url: Option<Spanned<String>>,
    version: Option<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    passes: Vec<Spanned<String>>,
    chunked: Option<Spanned<String>>,
    probe: Option<Spanned<String>>,
    stacks: Option<Spanned<String>>,
    ready: Option<Spanned<String>>,
    #[serde(default)]
    notes: String,
    #[serde(default)]
    defaults: Settings,
    #[serde(default)]
    changes: Settings,
}

/// Settings that can differ between subjects and spoil a comparison.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    backlog: Option<Scalar>,
    connections_max: Option<Scalar>,
    requests_per_connection: Option<Scalar>,
    idle_timeout: Option<Scalar>,
    stream_limit: Option<Scalar>,
    nodelay: Option<Scalar>,
    workers: Option<Scalar>,
    access_log: Option<Scalar>,
    database_pool: Option<Scalar>,
    headers: Option<Scalar>,
    runtime: Option<Scalar>,
    tls: Option<Scalar>,
    http2: Option<Scalar>,
}

/// A text, a whole number, or yes or no.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Scalar, D::Error> {
        match toml::Value::deserialize(reader)? {
            toml::Value::String(text) => Ok(Scalar(text)),
            toml::Value::Integer(number) => Ok(Scalar(number.to_string())),
            toml::Value::Boolean(truth) => Ok(Scalar(if truth { "yes" } else { "no" }.into())),
            other => Err(D::Error::custom(format!(
                "a {} where a text or a whole number is expected",
                other.type_str()
            ))),
        }
    }
}

/// Reads a manifest's text.
pub(super) fn subject(
    root: &Path,
    name: &str,
    source: &SourceFile,
) -> Result<Subject, ConfigError> {
    let manifest: Manifest = source.parse()?;
    let reader = Reader { source };
    reader.variables(manifest.passes.iter().chain(manifest.env.keys()))?;
    reader.values(manifest.env.values())?;
    reader.packages(&manifest.debian)?;
    for workload in &manifest.speaks {
        reader.name(workload)?;
    }
    let from = manifest.from.as_ref().map(|other| reader.from(root, name, other)).transpose()?;
    let probe = manifest.probe.as_ref().map(|probe| reader.name(probe)).transpose()?;
    let build = manifest.build.iter().map(|text| reader.command(text, &BUILD_HOLES));
    let version = manifest.version.as_ref().map(|text| reader.command(text, &BUILD_HOLES));
    Ok(Subject {
        name: name.into(),
        folder: root.join("subjects").join(name),
        from,
        serving: reader.serving(root, &manifest)?,
        protocols: reader.protocols(&manifest)?,
        takes_chunks: reader.takes_chunks(manifest.chunked.as_ref())?,
        version: version.transpose()?,
        probe: probe.map(String::from),
        dwarf_bytes: why::stacks(source, manifest.stacks.as_ref())?,
        ready: reader.ready(manifest.ready.as_ref())?,
        plan: BuildPlan {
            needs: reader.needs(&manifest.needs)?,
            commands: build.collect::<Result<_, _>>()?,
            env: manifest
                .env
                .into_iter()
                .map(|(name, value)| (name.into_inner(), value.into_inner()))
                .collect(),
            passes: texts(manifest.passes),
            salt: None,
        },
        title: manifest.title,
        language: manifest.language,
        home: manifest.home,
        processes: manifest.processes,
        tier: manifest.tier,
        speaks: texts(manifest.speaks),
        debian: texts(manifest.debian),
        advice: manifest.advice,
        notes: manifest.notes.trim().to_string(),
        settings: settings(manifest.defaults, manifest.changes),
        source: source.clone(),
    })
}

/// Reads parts of one manifest.
pub(crate) struct Reader<'p> {
    pub(crate) source: &'p SourceFile,
}

impl Reader<'_> {
    pub(crate) fn wrong(&self, text: &Spanned<String>, says: String) -> ConfigError {
        self.source.wrong(Some(text.span()), says)
    }

    fn takes_chunks(&self, key: Option<&Spanned<String>>) -> Result<bool, ConfigError> {
        match key.map(|key| (key, key.get_ref().as_str())) {
            None | Some((_, "yes")) => Ok(true),
            Some((_, "no")) => Ok(false),
            Some((key, other)) => {
                let says = format!("`{}` is neither \"yes\" nor \"no\"", other.escape_debug());
                Err(self.wrong(key, says))
            }
        }
    }

    pub(crate) fn command(
        &self,
        text: &Spanned<String>,
        placeholders: &[&str],
    ) -> Result<Command, ConfigError> {
        let known = empty(placeholders);
        let command = Command::parse(text.get_ref());
        let filled = command
            .and_then(|command| command.fill(Placeholders { known: &known }).map(|_| command));
        filled.map_err(|says| self.wrong(text, says))
    }

    /// One of `run`, `url` and `site`; `in` goes with `run`, and with nothing that is built.
    fn serving(&self, root: &Path, manifest: &Manifest) -> Result<Serving, ConfigError> {
        let within = manifest.within.as_ref();
        match (&manifest.run, &manifest.site, &manifest.url) {
            (Some(run), None, None) => match within {
                None => Ok(Serving::Built(self.starts(run, manifest)?)),
                Some(folder) => self.own(run, (root, folder), manifest),
            },
            (None, Some(site), None) => {
                self.refuse_start(manifest)?;
                self.found(site)
            }
            (None, None, Some(url)) => {
                self.refuse_start(manifest)?;
                let location = Location::parse(url.get_ref());
                location.map(Serving::ByUrl).map_err(|says| self.wrong(url, says))
            }
            (None, None, None) => {
                let says = "the key `run`, the command that starts it, is missing, or `url`, where it runs already";
                Err(self.source.wrong(None, says))
            }
            (Some(run), _, _) => {
                Err(self.wrong(run, "it is started or it runs already: `run`, or `url`".into()))
            }
            (None, Some(_), Some(url)) => {
                Err(self.wrong(url, "one address is enough: `url`, or `site`".into()))
            }
        }
    }

    /// What goes with a server that dyno builds or starts.
    fn refuse_start(&self, manifest: &Manifest) -> Result<(), ConfigError> {
        let keys = [
            ("in", manifest.within.as_ref()),
            ("run_h2c", manifest.run_h2c.as_ref()),
            ("run_tls", manifest.run_tls.as_ref()),
            ("build", manifest.build.first()),
            ("from", manifest.from.as_ref()),
            ("probe", manifest.probe.as_ref()),
            ("version", manifest.version.as_ref()),
            ("ready", manifest.ready.as_ref()),
        ];
        match keys.into_iter().find_map(|(key, value)| Some((key, value?))) {
            None => Ok(()),
            Some((key, value)) => {
                let says =
                    format!("this server runs already, and is not started; leave `{key}` out");
                Err(self.wrong(value, says))
            }
        }
    }

    /// The user's own command, in a folder of the project; braces that dyno does not know are the command's.
    fn own(
        &self,
        run: &Spanned<String>,
        (root, folder): (&Path, &Spanned<String>),
        manifest: &Manifest,
    ) -> Result<Serving, ConfigError> {
        if let Some(other) = manifest.run_tls.as_ref().or(manifest.run_h2c.as_ref()) {
            let says = "what runs in its own folder has one command, `run`; leave this out";
            return Err(self.wrong(other, says.into()));
        }
        if let Some(step) = manifest.build.first() {
            let says = "what runs in its own folder is not built; leave `build` or `in` out";
            return Err(self.wrong(step, says.into()));
        }
        let command = Command::parse(run.get_ref());
        let command = command.map_err(|says| self.wrong(run, says))?;
        Ok(Serving::Own(command, root.join(folder.get_ref())))
    }

    fn found(&self, site: &Spanned<Site>) -> Result<Serving, ConfigError> {
        let Site { host, target, .. } = site.get_ref();
        // Whether a request can be made of it is known as soon as one is.
        Ask::new(&Request::get(host, target.as_deref().unwrap_or("/")), Expect::default())
            .map_err(|error| self.source.wrong(Some(site.span()), error.to_string()))?;
        Ok(Serving::Found(site.get_ref().clone()))
    }

    /// A name that cannot lead out of its folder.
    fn name<'a>(&self, text: &'a Spanned<String>) -> Result<&'a str, ConfigError> {
        match is_file_name(text.get_ref()) {
            true => Ok(text.get_ref()),
            false => {
                let shown = text.get_ref().escape_debug();
                Err(self
                    .wrong(text, format!("`{shown}` is not a name; names are of a-z, 0-9 and -")))
            }
        }
    }

    /// The folder of the subject whose files are laid first.
    fn from(
        &self,
        root: &Path,
        name: &str,
        other: &Spanned<String>,
    ) -> Result<PathBuf, ConfigError> {
        if other.get_ref() == name {
            return Err(self.wrong(other, "a server cannot be laid over itself".into()));
        }
        let folder = root.join("subjects").join(self.name(other)?);
        match folder.join("subject.toml").is_file() {
            true => Ok(folder),
            false => {
                let says = format!("there is no server `{}` to be laid first", other.get_ref());
                Err(self.wrong(other, says))
            }
        }
    }

    pub(crate) fn needs(&self, needs: &[Spanned<String>]) -> Result<Vec<Need>, ConfigError> {
        let need = |text: &Spanned<String>| {
            Need::parse(text.get_ref()).map_err(|says| self.wrong(text, says))
        };
        needs.iter().map(need).collect()
    }

    pub(crate) fn packages(&self, packages: &[Spanned<String>]) -> Result<(), ConfigError> {
        match packages.iter().find(|package| !is_package(package.get_ref())) {
            None => Ok(()),
            Some(odd) => {
                Err(self.wrong(odd, format!("`{}` is not a package's name", odd.get_ref())))
            }
        }
    }

    pub(crate) fn variables<'a>(
        &self,
        mut names: impl Iterator<Item = &'a Spanned<String>>,
    ) -> Result<(), ConfigError> {
        match names.find(|name| !is_variable(name.get_ref())) {
            None => Ok(()),
            Some(odd) => {
                Err(self.wrong(odd, format!("`{}` is not a variable's name", odd.get_ref())))
            }
        }
    }

    fn values<'a>(
        &self,
        values: impl Iterator<Item = &'a Spanned<String>>,
    ) -> Result<(), ConfigError> {
        let known = empty(&BUILD_HOLES);
        for value in values {
            let filled = Placeholders { known: &known }.fill(value.get_ref());
            filled.map_err(|says| self.wrong(value, says))?;
        }
        Ok(())
    }

    pub(crate) fn ready(&self, text: Option<&Spanned<String>>) -> Result<Duration, ConfigError> {
        text.map_or(Ok(Duration::from_secs(30)), |text| {
            amounts::time(text.get_ref()).map_err(|says| self.wrong(text, says))
        })
    }
}

/// Placeholders that are filled with nothing, to check that there are no others.
pub(crate) fn empty<'a>(names: &[&'a str]) -> Vec<(&'a str, &'static str)> {
    names.iter().map(|name| (*name, "")).collect()
}

pub(crate) fn texts(list: Vec<Spanned<String>>) -> Vec<String> {
    list.into_iter().map(Spanned::into_inner).collect()
}

fn is_package(text: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.')
    };
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(allowed)
}

fn is_variable(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(allowed)
}

fn settings(defaults: Settings, changes: Settings) -> Vec<Setting> {
    // In the order of their names.
    let all = [
        ("access_log", defaults.access_log, changes.access_log),
        ("database_pool", defaults.database_pool, changes.database_pool),
        ("backlog", defaults.backlog, changes.backlog),
        ("connections_max", defaults.connections_max, changes.connections_max),
        ("headers", defaults.headers, changes.headers),
        ("http2", defaults.http2, changes.http2),
        ("idle_timeout", defaults.idle_timeout, changes.idle_timeout),
        ("nodelay", defaults.nodelay, changes.nodelay),
        (
            "requests_per_connection",
            defaults.requests_per_connection,
            changes.requests_per_connection,
        ),
        ("runtime", defaults.runtime, changes.runtime),
        ("stream_limit", defaults.stream_limit, changes.stream_limit),
        ("tls", defaults.tls, changes.tls),
        ("workers", defaults.workers, changes.workers),
    ];
    let text = |scalar: Scalar| scalar.0;
    let laid = all.into_iter().map(|(name, default, change)| Setting {
        name: name.into(),
        default: default.map(text),
        change: change.map(text),
    });
    laid.filter(|setting| setting.default.is_some() || setting.change.is_some()).collect()
}
