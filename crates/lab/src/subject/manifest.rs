//! The manifest's keys, and how they are read: no code after this file checks a name or a command again.

mod starts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;
use wire::{Ask, Expect, Request};

use super::{BUILD_HOLES, Location, Processes, Serving, Site, Subject, Tier, file_name};
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
    let reader = Reader { root, name, manifest: &manifest, source };
    Ok(Subject {
        name: name.into(),
        folder: root.join("subjects").join(name),
        from: manifest.from.as_ref().map(|other| reader.from(other)).transpose()?,
        serving: reader.serving()?,
        protocols: reader.protocols()?,
        takes_chunks: source.some_text(&manifest.chunked, takes_chunks)?.unwrap_or(true),
        version: source.some_text(&manifest.version, |text| command(text, &BUILD_HOLES))?,
        probe: source.some_text(&manifest.probe, file_name)?,
        dwarf_bytes: source.some_text(&manifest.stacks, why::stacks)?.flatten(),
        ready: source.some_text(&manifest.ready, amounts::time)?.unwrap_or(READY),
        plan: BuildPlan {
            needs: source.texts(&manifest.needs, Need::parse)?,
            commands: source.texts(&manifest.build, |text| command(text, &BUILD_HOLES))?,
            env: variables(source, &manifest.env, &BUILD_HOLES)?,
            passes: source.texts(&manifest.passes, variable)?,
            salt: None,
        },
        speaks: source.texts(&manifest.speaks, file_name)?,
        debian: source.texts(&manifest.debian, package)?,
        title: manifest.title,
        language: manifest.language,
        home: manifest.home,
        processes: manifest.processes,
        tier: manifest.tier,
        advice: manifest.advice,
        notes: manifest.notes.trim().to_string(),
        settings: settings(manifest.defaults, manifest.changes),
        source: source.clone(),
    })
}

/// Reads what one manifest says of the server's start.
struct Reader<'p> {
    root: &'p Path,
    /// The subject's name.
    name: &'p str,
    manifest: &'p Manifest,
    source: &'p SourceFile,
}

impl Reader<'_> {
    /// One of `run`, `url` and `site`; `in` goes with `run`, and with nothing that is built.
    fn serving(&self) -> Result<Serving, ConfigError> {
        let Manifest { run, site, url, within, .. } = self.manifest;
        match (run, site, url) {
            (Some(run), None, None) => match within {
                None => Ok(Serving::Built(self.starts(run)?)),
                Some(folder) => self.own(run, folder),
            },
            (None, Some(site), None) => {
                self.refuse_start()?;
                self.found(site)
            }
            (None, None, Some(url)) => {
                self.refuse_start()?;
                self.source.text(url, Location::parse).map(Serving::ByUrl)
            }
            (None, None, None) => {
                let says = "the key `run`, the command that starts it, is missing, or `url`, where it runs already";
                Err(self.source.wrong(None, says))
            }
            (Some(run), _, _) => {
                let says = "it is started or it runs already: `run`, or `url`";
                Err(self.source.wrong_here(run, says))
            }
            (None, Some(_), Some(url)) => {
                Err(self.source.wrong_here(url, "one address is enough: `url`, or `site`"))
            }
        }
    }

    /// What goes with a server that dyno builds or starts.
    fn refuse_start(&self) -> Result<(), ConfigError> {
        let manifest = self.manifest;
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
                Err(self.source.wrong_here(value, says))
            }
        }
    }

    /// The user's own command, in a folder of the project; braces that dyno does not know are the command's.
    fn own(&self, run: &Spanned<String>, folder: &Spanned<String>) -> Result<Serving, ConfigError> {
        let Manifest { run_tls, run_h2c, build, .. } = self.manifest;
        if let Some(other) = run_tls.as_ref().or(run_h2c.as_ref()) {
            let says = "what runs in its own folder has one command, `run`; leave this out";
            return Err(self.source.wrong_here(other, says));
        }
        if let Some(step) = build.first() {
            let says = "what runs in its own folder is not built; leave `build` or `in` out";
            return Err(self.source.wrong_here(step, says));
        }
        let command = self.source.text(run, Command::parse)?;
        Ok(Serving::Own(command, self.root.join(folder.get_ref())))
    }

    fn found(&self, site: &Spanned<Site>) -> Result<Serving, ConfigError> {
        let Site { host, target, .. } = site.get_ref();
        // Whether a request can be made of it is known as soon as one is.
        Ask::new(&Request::get(host, target.as_deref().unwrap_or("/")), Expect::default())
            .map_err(|error| self.source.wrong_here(site, error.to_string()))?;
        Ok(Serving::Found(site.get_ref().clone()))
    }

    /// The folder of the subject whose files are laid first.
    fn from(&self, other: &Spanned<String>) -> Result<PathBuf, ConfigError> {
        if other.get_ref() == self.name {
            return Err(self.source.wrong_here(other, "a server cannot be laid over itself"));
        }
        let folder = self.root.join("subjects").join(self.source.text(other, file_name)?);
        match folder.join("subject.toml").is_file() {
            true => Ok(folder),
            false => {
                let says = format!("there is no server `{}` to be laid first", other.get_ref());
                Err(self.source.wrong_here(other, says))
            }
        }
    }
}

/// How long a start may take, where nothing is said.
pub(crate) const READY: Duration = Duration::from_secs(30);

/// Whether bodies are taken in chunks.
fn takes_chunks(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(format!("`{}` is neither \"yes\" nor \"no\"", other.escape_debug())),
    }
}

/// A command that has no placeholders but these.
pub(crate) fn command(text: &str, placeholders: &[&str]) -> Result<Command, String> {
    let command = Command::parse(text)?;
    command.fill(Placeholders { known: &empty(placeholders) })?;
    Ok(command)
}

/// Variables, whose values have no placeholders but these.
pub(crate) fn variables(
    source: &SourceFile,
    env: &BTreeMap<Spanned<String>, Spanned<String>>,
    placeholders: &[&str],
) -> Result<Vec<(String, String)>, ConfigError> {
    let checked = |(name, value): (&Spanned<String>, &Spanned<String>)| {
        let filled = |text: &str| Placeholders { known: &empty(placeholders) }.fill(text);
        source.text(value, filled)?;
        Ok((source.text(name, variable)?, value.get_ref().clone()))
    };
    env.iter().map(checked).collect()
}

/// Placeholders that are filled with nothing, to check that there are no others.
fn empty<'a>(names: &[&'a str]) -> Vec<(&'a str, &'static str)> {
    names.iter().map(|name| (*name, "")).collect()
}

/// The name of a Debian package.
pub(crate) fn package(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.')
    };
    match !text.is_empty() && !text.starts_with('-') && text.bytes().all(allowed) {
        true => Ok(text.into()),
        false => Err(format!("`{text}` is not a package's name")),
    }
}

/// The name of a variable.
fn variable(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_begun = text.starts_with(|first: char| !first.is_ascii_digit());
    match is_begun && text.bytes().all(allowed) {
        true => Ok(text.into()),
        false => Err(format!("`{text}` is not a variable's name")),
    }
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
