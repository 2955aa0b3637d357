//! A server under test: how to build, run and reach it. A folder in `subjects/`.

pub(crate) mod manifest;
mod taking_part;
mod unlisted;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tls::TlsOrder;
use units::named;
use wire::h2::Scheme;

use crate::build::plan::BuildPlan;
use crate::command::Command;
use crate::manner::Protocol;
use crate::record::Setting;
use crate::source_file::{ConfigError, SourceFile};

pub use crate::location::Location;

/// A server under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its folder's name.
    pub name: String,
    pub folder: PathBuf,
    /// The folder whose files are laid first, if there is one.
    pub from: Option<PathBuf>,
    /// Its manifest's text.
    pub source: SourceFile,
    pub title: String,
    /// The language that it is written in.
    pub language: String,
    pub home: String,
    pub processes: Processes,
    /// Whether anything was tuned.
    pub tier: Tier,
    /// The workloads that it can answer.
    pub speaks: Vec<String>,
    /// The protocols over which it can answer them; at least one.
    pub protocols: Vec<Protocol>,
    /// Whether it takes bodies in chunks; where it does not, it is sent the other requests of a workload.
    pub takes_chunks: bool,
    /// In a profile, so many bytes of each stack are copied and followed by DWARF, because its code keeps no frame pointers.
    pub dwarf_bytes: Option<u32>,
    /// How it is built.
    pub plan: BuildPlan,
    /// The Debian packages that provide what it needs.
    pub debian: Vec<String>,
    /// How to get what those packages cannot provide.
    pub advice: Option<String>,
    /// Where the server comes from: this is what is measured.
    pub serving: Serving,
    /// The command that prints the version.
    pub version: Option<Command>,
    /// The probe that reports from inside its virtual machine.
    pub probe: Option<String>,
    /// How long it may take until its first correct answer.
    pub ready: Duration,
    /// What a reader of the numbers should know.
    pub notes: String,
    /// What the library does by itself, and what this entry says instead.
    pub settings: Vec<Setting>,
}

/// Where a subject's server comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serving {
    /// It is started for each trial, where it was built.
    Built(Starts),
    /// It is started for each trial as its user would start it: in this folder, with all of the user's variables.
    Own(Command, PathBuf),
    /// It runs already, where this URL leads: its name has not been looked up yet.
    ByUrl(Location),
    /// It runs already: dyno neither starts it nor stops it.
    Found(Site),
}

/// The commands that start a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starts {
    /// For HTTP/1.1 in cleartext, and for all that has no command of its own.
    pub run: Command,
    /// For HTTP/2 in cleartext, if that takes another command.
    pub run_h2c: Option<Command>,
    /// For TLS.
    pub run_tls: Option<Command>,
}

impl Starts {
    /// The command that starts it for this protocol.
    #[must_use]
    pub fn over(&self, protocol: Protocol) -> &Command {
        let own = match protocol {
            Protocol::Http1 => None,
            Protocol::H2c => self.run_h2c.as_ref(),
            Protocol::Http1Tls | Protocol::H2 => self.run_tls.as_ref(),
        };
        own.unwrap_or(&self.run)
    }
}

impl Serving {
    /// The command that starts it for HTTP/1.1, if dyno does.
    #[must_use]
    pub fn command(&self) -> Option<&Command> {
        match self {
            Serving::Built(starts) => Some(&starts.run),
            Serving::Own(command, _) => Some(command),
            Serving::ByUrl(_) | Serving::Found(_) => None,
        }
    }
}

/// Where a server that runs already is found, and what is requested of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    pub address: SocketAddr,
    /// The value of `Host`.
    pub host: String,
    /// Path and query in place of the workload's, if it has its own.
    pub target: Option<String>,
    /// How connections are secured; none: not at all.
    pub tls: Option<TlsOrder>,
}

impl Site {
    /// What requests to it say of themselves over HTTP/2; none if this protocol is HTTP/1.1.
    #[must_use]
    pub fn scheme(&self, protocol: Protocol) -> Option<Scheme> {
        let scheme = if self.tls.is_some() { Scheme::Https } else { Scheme::Http };
        protocol.is_http2().then_some(scheme)
    }
}

named! {
    /// How many processes a subject has: it matters for the numbers, so it is shown beside them.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Processes {
        One = "one",
        /// One for each of its CPUs.
        PerCpu = "per-cpu",
        /// A pool of workers.
        Many = "many",
        /// Not stated, as for a command or an address of a race.
        #[default]
        Unstated = "unstated",
    }
}

named! {
    /// Whether anything was changed for speed.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Tier {
        /// As the library is by default.
        #[default]
        Default = "default",
        /// Tuned; `[changes]` says what.
        Tuned = "tuned",
        /// Not a competitor: it does almost nothing, and shows the limit of the load and the machine.
        Reference = "reference",
    }
}

/// Placeholders that `run` may have. Most are known only to a trial.
pub(crate) const RUN_HOLES: [&str; 9] =
    ["port", "address", "cpus", "work", "build", "dyno", "dataset", "files", "protocol"];
/// Those of `run_tls`: also the files with the certificate and its key.
pub(crate) const TLS_HOLES: [&str; 11] = [
    "port", "address", "cpus", "work", "build", "dyno", "dataset", "files", "protocol", "cert",
    "key",
];
/// Placeholders that the other commands and the variables may have.
pub(crate) const BUILD_HOLES: [&str; 2] = ["build", "dyno"];

impl Subject {
    /// Reads `subjects/NAME/subject.toml` below the project's root.
    pub fn read(root: &Path, name: &str) -> Result<Subject, ConfigError> {
        let folder = root.join("subjects").join(name);
        let source = SourceFile::read(
            &folder.join("subject.toml"),
            &format!("subjects/{name}/subject.toml"),
        )?;
        Subject::parse(root, name, &source)
    }

    /// Reads a folder that need not be a project's.
    pub fn read_folder(folder: &Path) -> Result<Subject, ConfigError> {
        let shown = folder.join("subject.toml");
        let source = SourceFile::read(&shown, &shown.display().to_string())?;
        // Beside it are the other subjects of a project, if it is in one.
        let above = folder.parent().filter(|above| above.ends_with("subjects"));
        let root = above.and_then(Path::parent).unwrap_or(folder);
        let subject = Subject::parse(root, "x", &source)?;
        Ok(Subject { folder: folder.to_path_buf(), probe: None, ..subject })
    }

    /// Reads a manifest's text.
    pub fn parse(root: &Path, name: &str, source: &SourceFile) -> Result<Subject, ConfigError> {
        manifest::subject(root, name, source)
    }

    /// Whether it answers over a protocol.
    #[must_use]
    pub fn answers_over(&self, protocol: Protocol) -> bool {
        self.protocols.contains(&protocol)
    }

    /// Whether it answers a workload.
    #[must_use]
    pub fn answers(&self, workload: &str) -> bool {
        self.speaks.iter().any(|spoken| spoken == workload)
    }
}

/// A name that cannot lead out of its folder.
pub(crate) fn file_name(text: &str) -> Result<(), String> {
    match is_file_name(text) {
        true => Ok(()),
        false => {
            Err(format!("`{}` is not a name; names are of a-z, 0-9 and -", text.escape_debug()))
        }
    }
}

/// Names of subjects, workloads and experiments.
#[must_use]
pub fn is_file_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= 64 && !text.starts_with('-') && text.bytes().all(allowed)
}

#[cfg(test)]
pub(crate) mod tests {
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

    /// The subject of a manifest that is called `x`, or what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Subject, String> {
        let source = SourceFile { name: "x".into(), text: text.into() };
        Subject::parse(Path::new("/nowhere"), "x", &source).map_err(|error| error.to_string())
    }

    /// The result of reading the manifest when one text in it is replaced by another.
    fn check(old: &str, new: &str) -> Result<Subject, String> {
        assert!(WHOLE.contains(old), "{old}");
        read(&WHOLE.replace(old, new))
    }

    #[test]
    fn a_manifest_is_read() {
        let subject = check("", "").unwrap();
        assert_eq!((subject.ready, subject.tier), (Duration::from_secs(10), Tier::Default));
        assert!(subject.answers("hello") && !subject.answers("poll"));
        let setting = |name: &str, default: &str, change: Option<&str>| Setting {
            name: name.into(),
            default: Some(default.into()),
            change: change.map(String::from),
        };
        let settings =
            [setting("backlog", "128", Some("1024: why")), setting("nodelay", "yes", None)];
        assert_eq!(subject.settings, settings);
        for tier in [Tier::Default, Tier::Tuned, Tier::Reference] {
            let stated = format!("tier = \"{}\"\nprocesses = ", tier.name());
            assert_eq!(check("processes = ", &stated).unwrap().tier, tier);
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let ready = "ready = \"10s\"";
        for (old, new, says) in [
            (
                "processes = ",
                "proceses = ",
                ":5: unknown key `proceses`; did you mean `processes`?",
            ),
            ("\"one\"", "\"won\"", ":5: unknown word `won`; did you mean `one`?"),
            (
                ready,
                "tier = \"referenc\"",
                ":12: unknown word `referenc`; did you mean `reference`?",
            ),
            (ready, "chunked = \"perhaps\"", ":12: unknown word `perhaps`; known are yes, no"),
            ("{port}", "{prot}", ":9: `{prot}` is not a placeholder here"),
            ("-o server server.c", "-o {port}", ":8: `{port}` is not a placeholder"),
            ("\"sh\"", "\"a/b\"", ":7: `a/b` is neither"),
            ("[\"hello\"]", "[\"../x\"]", ":6: `../x` is not a name"),
            (ready, "ready = 10", ":12: `10` is given where a text is expected"),
            (ready, "ready = \"soon\"", ":12: `soon` is not a time"),
            (ready, "from = \"y\"", ":12: there is no server `y`"),
            ("MODE = ", "\"A B\" = ", ":11: `A B` is not a variable's name"),
            ("title = \"Some server\"", "", ":1: the key `title` is missing"),
            ("backlog = 128", "backlog = 1.5", ":15: a float where"),
        ] {
            let found = check(old, new).unwrap_err();
            assert!(found.starts_with(&format!("x{says}")), "{new}: {found}");
        }
    }

    #[test]
    fn a_server_that_runs_already_speaks_what_can_be_spoken_where_it_is_reached() {
        let protocols = |keys: &str| {
            let read = read(&format!("title = 's'\nspeaks = ['w']\n{keys}\n"));
            read.map(|subject| subject.protocols)
        };
        let url = |rest: &str| protocols(&format!("url = 'http://localhost:8080'\n{rest}"));
        assert_eq!(url("").unwrap(), [Protocol::Http1, Protocol::H2c]);
        assert_eq!(url("protocols = ['h2c']").unwrap(), [Protocol::H2c]);
        let says = url("protocols = ['http/1.1+tls']").unwrap_err();
        assert!(says.starts_with("x:4: `http/1.1+tls` cannot be spoken with"), "{says}");
        let site = |tls: &str| {
            let tls = match tls {
                "" => String::new(),
                alpn => format!(
                    ", tls = {{ host = 'h', trust = 'all', suites = [], groups = [], resume_percent = 0, alpn = '{alpn}' }}"
                ),
            };
            let address = "address = '127.0.0.1:1', host = 'h', target = '/'";
            protocols(&format!("site = {{ {address}{tls} }}"))
        };
        assert_eq!(site("").unwrap(), [Protocol::Http1, Protocol::H2c]);
        assert_eq!(site("h2").unwrap(), [Protocol::H2]);
        assert_eq!(site("http/1.1").unwrap(), [Protocol::Http1Tls, Protocol::Http1]);
    }

    #[test]
    fn a_protocol_has_the_command_that_starts_the_server_for_it() {
        assert_eq!(check("", "").unwrap().protocols, [Protocol::Http1]);
        let declare = |keys: &str| check("speaks = ", &format!("{keys}\nspeaks = "));
        let subject = declare(
            "protocols = ['http/1.1', 'h2', 'h2c']\nrun_h2c = 'two {port}'\nrun_tls = 'tls {cert} {key} {protocol}'",
        );
        let subject = subject.unwrap();
        assert!(subject.answers_over(Protocol::H2) && !subject.answers_over(Protocol::Http1Tls));
        let Serving::Built(starts) = &subject.serving else { panic!("built") };
        let program = |protocol| starts.over(protocol).words()[0].as_str();
        let programs = Protocol::ALL.map(program);
        assert_eq!(programs, ["./server", "tls", "two", "tls"]);
        for (keys, says) in [
            ("protocols = ['http/2']", "unknown word `http/2`; did you mean `http/1.1`?"),
            ("protocols = ['h2c', 'h2c']", "`h2c` is given twice"),
            ("protocols = ['h2']", "`h2` needs the key `run_tls`"),
            ("run_tls = 'x {cert} {key}'", "no protocol within TLS is declared"),
            ("run_h2c = 'x'", "`protocols` does not name h2c"),
            ("protocols = ['h2c']\nrun_h2c = 'x {cert}'", "`{cert}` is not a placeholder here"),
            ("protocols = ['h2']\nrun_tls = 'x {crt}'", "`{crt}` is not a placeholder here"),
        ] {
            let found = declare(keys).unwrap_err();
            assert!(found.starts_with("x:") && found.contains(says), "{keys}: {found}");
        }
    }

    #[test]
    fn a_server_that_runs_already_has_a_url_and_nothing_that_starts_it() {
        let read = |keys: &str| read(&format!("title = 'x'\nspeaks = ['hello']\n{keys}\n"));
        let not_started = ":4: this server runs already, and is not started; leave";
        let subject = read("url = 'http://localhost:8080'").unwrap();
        assert!(matches!(&subject.serving, Serving::ByUrl(at) if at.port == 8080));
        assert_eq!((subject.processes, subject.home.as_str()), (Processes::Unstated, ""));
        let found = subject.found_at("127.0.0.1:8080".parse().unwrap());
        let Serving::Found(site) = &found.serving else { panic!("found") };
        assert_eq!((site.host.as_str(), &site.target), ("localhost:8080", &None));
        assert!(found.notes.contains("runs already, at 127.0.0.1:8080"), "{}", found.notes);
        for (keys, says) in [
            ("url = 'http://h/x'", ":3: `http://h/x`: the workload says which paths"),
            ("url = 'http://h'\nrun = 'x'", ":4: it is started or it runs already"),
            ("url = 'http://h'\nbuild = ['make']", &format!("{not_started} `build`")),
            ("url = 'http://h'\nin = '/x'", &format!("{not_started} `in`")),
            ("url = 'http://h'\nprobe = 'beam'", &format!("{not_started} `probe`")),
            ("", ": the key `run`, the command that starts it, is missing, or `url`"),
        ] {
            let found = read(keys).unwrap_err();
            assert!(found.contains(says), "{keys}: {found}");
        }
    }
}
