//! A server under test: how to build, run and reach it. A folder in `subjects/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use toml::Spanned;

use crate::amounts;
use crate::command::{Command, Holes};
use crate::misread::{Misread, Page};
use crate::need::Need;
use crate::record::Setting;

/// A server under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its folder's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The folder whose files are laid first.
    pub from: Option<PathBuf>,
    /// Its manifest's text.
    pub page: Page,
    /// For people.
    pub title: String,
    /// What it is written in.
    pub language: String,
    /// Where it lives.
    pub home: String,
    /// How many processes it is.
    pub processes: Processes,
    /// Whether anything was tuned.
    pub tier: Tier,
    /// The workloads that it answers.
    pub speaks: Vec<String>,
    /// What must be there before it can be built and run.
    pub needs: Vec<Need>,
    /// The Debian packages that bring it.
    pub debian: Vec<String>,
    /// How to get what they cannot bring.
    pub advice: Option<String>,
    /// Run once, in a copy of the folder.
    pub build: Vec<Command>,
    /// The command that is measured.
    pub run: Command,
    /// Prints the version.
    pub version: Option<Command>,
    /// Variables for all of them.
    pub env: Vec<(String, String)>,
    /// Variables of the user's that are let through.
    pub passes: Vec<String>,
    /// What reports from inside its virtual machine.
    pub probe: Option<String>,
    /// How long it may take to its first right answer.
    pub ready: Duration,
    /// What a reader of the numbers should know.
    pub notes: String,
    /// What the library does by itself, and what this entry says instead.
    pub settings: Vec<Setting>,
}

/// How many processes a subject is: not the same thing, so it is shown beside the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Processes {
    /// One.
    One,
    /// One for each of its CPUs.
    PerCpu,
    /// A pool of workers.
    Many,
}

impl Processes {
    /// As the manifest writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Processes::One => "one",
            Processes::PerCpu => "per-cpu",
            Processes::Many => "many",
        }
    }
}

/// Whether anything was changed for speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// As the library comes.
    #[default]
    Default,
    /// Tuned; `[changes]` says what.
    Tuned,
}

impl Tier {
    /// As the manifest writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tier::Default => "default",
            Tier::Tuned => "tuned",
        }
    }
}

/// The manifest's keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    title: String,
    language: String,
    home: String,
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
    run: Spanned<String>,
    version: Option<Spanned<String>>,
    #[serde(default)]
    env: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    passes: Vec<Spanned<String>>,
    probe: Option<Spanned<String>>,
    ready: Option<Spanned<String>>,
    #[serde(default)]
    notes: String,
    #[serde(default)]
    defaults: Settings,
    #[serde(default)]
    changes: Settings,
}

/// What can differ between subjects and spoil a comparison.
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
    headers: Option<Scalar>,
    runtime: Option<Scalar>,
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
                "a {} where a text or a whole number belongs",
                other.type_str()
            ))),
        }
    }
}

/// Holes that `run` may have. The first three are known only to a trial.
pub const RUN_HOLES: [&str; 6] = ["port", "address", "cpus", "work", "build", "dyno"];
/// Holes that the other commands and the variables may have.
pub const BUILD_HOLES: [&str; 2] = ["build", "dyno"];

impl Subject {
    /// Reads `subjects/NAME/subject.toml` below the project's root.
    pub fn read(root: &Path, name: &str) -> Result<Subject, Misread> {
        let folder = root.join("subjects").join(name);
        let page =
            Page::read(&folder.join("subject.toml"), &format!("subjects/{name}/subject.toml"))?;
        Subject::parse(root, name, &page)
    }

    /// Reads a manifest's text.
    pub fn parse(root: &Path, name: &str, page: &Page) -> Result<Subject, Misread> {
        Subject::of(root, name, page, page.parse()?)
    }

    fn of(root: &Path, name: &str, page: &Page, manifest: Manifest) -> Result<Subject, Misread> {
        let wrong = |text: &Spanned<String>, says: String| page.wrong(Some(text.span()), says);
        let command = |text: &Spanned<String>, holes: &[&str]| {
            let command =
                Command::parse(text.get_ref()).map_err(|error| wrong(text, error.to_string()))?;
            let known: Vec<(&str, &str)> = holes.iter().map(|name| (*name, "")).collect();
            let filled = command.fill(Holes { known: &known });
            filled.map_err(|error| wrong(text, error.to_string()))?;
            Ok(command)
        };
        let from = match &manifest.from {
            None => None,
            Some(other) if other.get_ref() == name => {
                return Err(wrong(other, "a subject cannot be laid over itself".into()));
            }
            Some(other) => {
                let there = root.join("subjects").join(file_name(page, other)?);
                if !there.join("subject.toml").is_file() {
                    let says =
                        format!("there is no subject `{}` to be laid first", other.get_ref());
                    return Err(wrong(other, says));
                }
                Some(there)
            }
        };
        let mut needs = Vec::new();
        for text in &manifest.needs {
            needs.push(Need::parse(text.get_ref()).map_err(|says| wrong(text, says))?);
        }
        for package in &manifest.debian {
            if !is_package(package.get_ref()) {
                return Err(wrong(
                    package,
                    format!("`{}` is no package's name", package.get_ref()),
                ));
            }
        }
        for variable in manifest.passes.iter().chain(manifest.env.keys()) {
            if !is_variable(variable.get_ref()) {
                return Err(wrong(
                    variable,
                    format!("`{}` is no variable's name", variable.get_ref()),
                ));
            }
        }
        let known: Vec<(&str, &str)> = BUILD_HOLES.iter().map(|name| (*name, "")).collect();
        for value in manifest.env.values() {
            let filled = Holes { known: &known }.fill(value.get_ref());
            filled.map_err(|error| wrong(value, error.to_string()))?;
        }
        for workload in &manifest.speaks {
            file_name(page, workload)?;
        }
        let ready = match &manifest.ready {
            None => Duration::from_secs(30),
            Some(text) => amounts::time(text.get_ref()).map_err(|says| wrong(text, says))?,
        };
        let probe = manifest.probe.as_ref().map(|probe| file_name(page, probe)).transpose()?;
        let build = manifest.build.iter().map(|text| command(text, &BUILD_HOLES));
        let build = build.collect::<Result<Vec<_>, _>>()?;
        let run = command(&manifest.run, &RUN_HOLES)?;
        let version =
            manifest.version.as_ref().map(|text| command(text, &BUILD_HOLES)).transpose()?;
        let texts =
            |list: Vec<Spanned<String>>| list.into_iter().map(Spanned::into_inner).collect();
        Ok(Subject {
            name: name.into(),
            folder: root.join("subjects").join(name),
            from,
            title: manifest.title,
            language: manifest.language,
            home: manifest.home,
            processes: manifest.processes,
            tier: manifest.tier,
            speaks: texts(manifest.speaks),
            needs,
            debian: texts(manifest.debian),
            advice: manifest.advice,
            build,
            run,
            version,
            env: manifest
                .env
                .into_iter()
                .map(|(name, value)| (name.into_inner(), value.into_inner()))
                .collect(),
            passes: texts(manifest.passes),
            probe: probe.map(String::from),
            ready,
            notes: manifest.notes.trim().to_string(),
            settings: settings(manifest.defaults, manifest.changes),
            page: page.clone(),
        })
    }

    /// Whether it answers a workload.
    #[must_use]
    pub fn answers(&self, workload: &str) -> bool {
        self.speaks.iter().any(|spoken| spoken == workload)
    }
}

/// A name that cannot lead out of its folder.
fn file_name<'a>(page: &Page, text: &'a Spanned<String>) -> Result<&'a str, Misread> {
    match is_file_name(text.get_ref()) {
        true => Ok(text.get_ref()),
        false => Err(page.wrong(
            Some(text.span()),
            format!("`{}` is no name; names are of a-z, 0-9 and -", text.get_ref().escape_debug()),
        )),
    }
}

/// Names of subjects, workloads and experiments.
#[must_use]
pub fn is_file_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= 64 && !text.starts_with('-') && text.bytes().all(allowed)
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
    let mut settings: BTreeMap<&str, Setting> = BTreeMap::new();
    let mut lay = |name: &'static str, default: Option<Scalar>, change: Option<Scalar>| {
        if default.is_some() || change.is_some() {
            let text = |scalar: Scalar| scalar.0;
            let setting =
                Setting { name: name.into(), default: default.map(text), change: change.map(text) };
            settings.insert(name, setting);
        }
    };
    lay("backlog", defaults.backlog, changes.backlog);
    lay("connections_max", defaults.connections_max, changes.connections_max);
    lay(
        "requests_per_connection",
        defaults.requests_per_connection,
        changes.requests_per_connection,
    );
    lay("idle_timeout", defaults.idle_timeout, changes.idle_timeout);
    lay("stream_limit", defaults.stream_limit, changes.stream_limit);
    lay("nodelay", defaults.nodelay, changes.nodelay);
    lay("workers", defaults.workers, changes.workers);
    lay("access_log", defaults.access_log, changes.access_log);
    lay("headers", defaults.headers, changes.headers);
    lay("runtime", defaults.runtime, changes.runtime);
    settings.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
title = "Some server"
language = "C"
home = "https://example.org"
processes = "one"
speaks = ["hello"]
needs = ["sh"]
build = ["cc -o server server.c"]
run = "./server --port={port} --cpus={cpus}"
version = "./server --version"
env = { MODE = "{build}/x" }
ready = "10s"

[defaults]
backlog = 128
nodelay = true

[changes]
backlog = "1024: why"
"#;

    /// What is said of the manifest when one text in it stands for another.
    fn check(old: &str, new: &str) -> Result<Subject, String> {
        assert!(WHOLE.contains(old), "{old}");
        let page = Page { name: "subjects/x/subject.toml".into(), text: WHOLE.replace(old, new) };
        Subject::parse(Path::new("/nowhere"), "x", &page).map_err(|error| error.to_string())
    }

    #[test]
    fn a_manifest_is_read() {
        let subject = check("", "").unwrap();
        assert_eq!(subject.ready, Duration::from_secs(10));
        assert!(subject.answers("hello") && !subject.answers("poll"));
        assert_eq!(
            subject.settings[0],
            Setting {
                name: "backlog".into(),
                default: Some("128".into()),
                change: Some("1024: why".into())
            }
        );
        assert_eq!(subject.settings[1].default.as_deref(), Some("yes"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let says = |old: &str, new: &str| check(old, new).unwrap_err();
        let at = |line: u32, text: &str| format!("subjects/x/subject.toml:{line}: {text}");
        assert_eq!(
            says("processes = ", "proceses = "),
            at(5, "unknown key `proceses`; did you mean `processes`?")
        );
        assert_eq!(says("\"one\"", "\"won\""), at(5, "unknown word `won`; did you mean `one`?"));
        assert!(says("{port}", "{prot}").starts_with(&at(9, "`{prot}` is nothing here")));
        assert!(says("-o server server.c", "-o {port}").starts_with(&at(8, "`{port}` is nothing")));
        assert!(says("\"sh\"", "\"a/b\"").starts_with(&at(7, "`a/b` is neither")));
        assert!(says("[\"hello\"]", "[\"../x\"]").starts_with(&at(6, "`../x` is no name")));
        assert!(says("ready = \"10s\"", "ready = 10").starts_with(&at(12, "invalid type")));
        assert!(
            says("ready = \"10s\"", "ready = \"soon\"").starts_with(&at(12, "`soon` is no time"))
        );
        assert!(says("ready = \"10s\"", "from = \"y\"").contains("no subject `y`"));
        assert!(says("MODE = ", "\"A B\" = ").starts_with(&at(11, "`A B` is no variable's name")));
        assert!(says("title = \"Some server\"", "").contains("missing field `title`"));
        assert!(says("backlog = 128", "backlog = 1.5").starts_with(&at(15, "a float where")));
    }
}
