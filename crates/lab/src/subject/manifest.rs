//! The manifest's keys, and how they are read: no code after this file checks a name or a command again.

mod starts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use units::named;
use wire::{Ask, Expect, Request};

use super::{BUILD_HOLES, Location, Processes, Serving, Site, Subject, Tier, file_name};
use crate::amounts;
use crate::build::plan::BuildPlan;
use crate::command::{Command, Placeholders};
use crate::manner::Protocol;
use crate::need::Need;
use crate::probe::why::Stacks;
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
    speaks: Vec<String>,
    from: Option<String>,
    #[serde(default)]
    needs: Vec<Need>,
    #[serde(default)]
    debian: Vec<String>,
    advice: Option<String>,
    #[serde(default)]
    build: Vec<Command>,
    #[serde(default)]
    protocols: Vec<Protocol>,
    run: Option<Command>,
    run_h2c: Option<Command>,
    run_tls: Option<Command>,
    #[serde(rename = "in")]
    within: Option<PathBuf>,
    site: Option<Site>,
    url: Option<Location>,
    version: Option<Command>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    passes: Vec<String>,
    #[serde(default)]
    chunked: Chunked,
    probe: Option<String>,
    #[serde(default)]
    stacks: Stacks,
    #[serde(default = "usual_ready", deserialize_with = "amounts::read_time")]
    ready: Duration,
    #[serde(default)]
    notes: String,
    #[serde(default)]
    defaults: BTreeMap<SettingName, Scalar>,
    #[serde(default)]
    changes: BTreeMap<SettingName, Scalar>,
}

named! {
    /// Whether bodies are taken in chunks.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Chunked {
        #[default]
        Yes = "yes",
        No = "no",
    }
}

named! {
    /// Settings that can differ between subjects and spoil a comparison.
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum SettingName {
        AccessLog = "access_log",
        DatabasePool = "database_pool",
        Backlog = "backlog",
        ConnectionsMax = "connections_max",
        Headers = "headers",
        Http2 = "http2",
        IdleTimeout = "idle_timeout",
        Nodelay = "nodelay",
        RequestsPerConnection = "requests_per_connection",
        Runtime = "runtime",
        StreamLimit = "stream_limit",
        Tls = "tls",
        Workers = "workers",
    }
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
    manifest.check(source)?;
    let reader = Reader { root, name, manifest: &manifest, source };
    Ok(Subject {
        name: name.into(),
        folder: root.join("subjects").join(name),
        from: manifest.from.as_ref().map(|other| reader.from(other)).transpose()?,
        serving: reader.serving()?,
        protocols: reader.protocols()?,
        takes_chunks: manifest.chunked == Chunked::Yes,
        version: manifest.version,
        probe: manifest.probe,
        dwarf_bytes: manifest.stacks.dwarf_bytes,
        ready: manifest.ready,
        plan: BuildPlan {
            needs: manifest.needs,
            commands: manifest.build,
            env: manifest.env.into_iter().collect(),
            passes: manifest.passes,
            salt: None,
        },
        speaks: manifest.speaks,
        debian: manifest.debian,
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

impl Manifest {
    fn check(&self, source: &SourceFile) -> Result<(), ConfigError> {
        source.check("speaks", &self.speaks, |name| file_name(name))?;
        source.check("debian", &self.debian, |name| package(name))?;
        source.check("build", &self.build, |step| step.has_only(&BUILD_HOLES))?;
        source.check("version", &self.version, |command| command.has_only(&BUILD_HOLES))?;
        check_variables(source, "env", &self.env, &BUILD_HOLES)?;
        source.check("passes", &self.passes, |name| variable(name))?;
        source.check("probe", &self.probe, |name| file_name(name))
    }
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
                Ok(Serving::ByUrl(url.clone()))
            }
            (None, None, None) => {
                let says = "the key `run`, the command that starts it, is missing, or `url`, where it runs already";
                Err(self.source.wrong(None, says))
            }
            (Some(_), _, _) => {
                let says = "it is started or it runs already: `run`, or `url`";
                Err(self.source.wrong_at(&["run"], says))
            }
            (None, Some(_), Some(_)) => {
                Err(self.source.wrong_at(&["url"], "one address is enough: `url`, or `site`"))
            }
        }
    }

    /// What goes with a server that dyno builds or starts.
    fn refuse_start(&self) -> Result<(), ConfigError> {
        let keys = ["in", "run_h2c", "run_tls", "build", "from", "probe", "version", "ready"];
        let refusal =
            |key| format!("this server runs already, and is not started; leave `{key}` out");
        keys.into_iter().try_for_each(|key| self.source.refuse(&[(key, &refusal(key))]))
    }

    /// The user's own command, in a folder of the project; braces that dyno does not know are the command's.
    fn own(&self, run: &Command, folder: &Path) -> Result<Serving, ConfigError> {
        let other = "what runs in its own folder has one command, `run`; leave this out";
        let step = "what runs in its own folder is not built; leave `build` or `in` out";
        self.source.refuse(&[("run_tls", other), ("run_h2c", other), ("build", step)])?;
        Ok(Serving::Own(run.clone(), self.root.join(folder)))
    }

    fn found(&self, site: &Site) -> Result<Serving, ConfigError> {
        let target = site.target.as_deref().unwrap_or("/");
        // Whether a request can be made of it is known as soon as one is.
        Ask::new(&Request::get(&site.host, target), Expect::default())
            .map_err(|error| self.source.wrong_at(&["site"], error.to_string()))?;
        Ok(Serving::Found(site.clone()))
    }

    /// The folder of the subject whose files are laid first.
    fn from(&self, other: &str) -> Result<PathBuf, ConfigError> {
        let wrong = |says: String| self.source.wrong_at(&["from"], says);
        if other == self.name {
            return Err(wrong("a server cannot be laid over itself".into()));
        }
        file_name(other).map_err(wrong)?;
        let folder = self.root.join("subjects").join(other);
        match folder.join("subject.toml").is_file() {
            true => Ok(folder),
            false => Err(wrong(format!("there is no server `{other}` to be laid first"))),
        }
    }
}

/// How long a start may take, where nothing is said.
pub(crate) fn usual_ready() -> Duration {
    Duration::from_secs(30)
}

/// Refuses what are no variables, and placeholders in their values that are none of these.
pub(crate) fn check_variables(
    source: &SourceFile,
    key: &str,
    env: &BTreeMap<String, String>,
    holes: &[&str],
) -> Result<(), ConfigError> {
    let known: Vec<(&str, &str)> = holes.iter().map(|name| (*name, "")).collect();
    for (name, value) in env {
        let filled = Placeholders { known: &known }.fill(value);
        let checked = filled.and_then(|_| variable(name));
        checked.map_err(|says| source.wrong_at(&[&format!("{key}.{name}"), key], says))?;
    }
    Ok(())
}

/// The name of a Debian package.
pub(crate) fn package(text: &str) -> Result<(), String> {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.')
    };
    match !text.is_empty() && !text.starts_with('-') && text.bytes().all(allowed) {
        true => Ok(()),
        false => Err(format!("`{text}` is not a package's name")),
    }
}

/// The name of a variable.
fn variable(text: &str) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_begun = text.starts_with(|first: char| !first.is_ascii_digit());
    match is_begun && text.bytes().all(allowed) {
        true => Ok(()),
        false => Err(format!("`{text}` is not a variable's name")),
    }
}

fn settings(
    mut defaults: BTreeMap<SettingName, Scalar>,
    mut changes: BTreeMap<SettingName, Scalar>,
) -> Vec<Setting> {
    let laid = SettingName::ALL.into_iter().map(|name| Setting {
        name: name.to_string(),
        default: defaults.remove(&name).map(|scalar| scalar.0),
        change: changes.remove(&name).map(|scalar| scalar.0),
    });
    laid.filter(|setting| setting.default.is_some() || setting.change.is_some()).collect()
}
