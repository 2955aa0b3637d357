//! The possible participants: every subject, how far it is on this machine, and the next step for it.

use std::path::{Path, PathBuf};

use lab::build::{BuildCache, BuildError, Built, Fitness};
use lab::probe::Probe;
use lab::subject::{Serving, Subject};

use crate::event::{Event, Watch};
use crate::project::Project;

/// What installs Debian packages.
const APT: &str = "apt-get";

/// A subject on this machine.
#[derive(Clone)]
pub struct Member {
    pub name: String,
    /// Its manifest as it was read, or what is wrong with it.
    pub subject: Result<Subject, String>,
    pub state: Availability,
    /// Whether this machine installs Debian packages.
    pub has_apt: bool,
}

/// How far it is.
#[derive(Clone)]
pub enum Availability {
    Built {
        built: Built,
        version: Option<String>,
    },
    Buildable,
    /// These programs or files are missing.
    Missing(Vec<String>),
    /// Its folder cannot be used.
    Broken(String),
}

impl Availability {
    /// What runs as it is has no hash, so that nothing known of it is taken for lasting.
    fn nothing_to_build(folder: PathBuf) -> Availability {
        Availability::Built { built: Built { folder, hash: String::new() }, version: None }
    }
}

impl Member {
    /// Reads a manifest and checks for what it needs. Runs nothing.
    pub fn read(project: &Project, cache: &BuildCache, name: &str) -> Member {
        match Subject::read(&project.root, name) {
            Ok(subject) => Member::of(subject, cache),
            Err(error) => {
                let says = error.to_string();
                let (subject, state) = (Err(says.clone()), Availability::Broken(says));
                Member { name: name.into(), subject, state, has_apt: cache.has_program(APT) }
            }
        }
    }

    /// Checks for what a subject needs. Runs nothing.
    pub fn of(subject: Subject, cache: &BuildCache) -> Member {
        let state = match &subject.serving {
            Serving::Own(_, folder) => Availability::nothing_to_build(folder.clone()),
            Serving::ByUrl(_) | Serving::Found(_) => {
                Availability::nothing_to_build(cache.state.clone())
            }
            Serving::Built(_) => match cache.fitness((&subject).into()) {
                Ok(Fitness::Built(built)) => Availability::Built { built, version: None },
                Ok(Fitness::Buildable) => Availability::Buildable,
                Ok(Fitness::Missing(needs)) => Availability::Missing(needs),
                Err(error) => Availability::Broken(error.to_string()),
            },
        };
        let has_apt = cache.has_program(APT);
        Member { name: subject.name.clone(), subject: Ok(subject), state, has_apt }
    }

    /// Why it cannot take part, and what to do about it, in a sentence.
    pub fn lack(&self) -> Option<String> {
        match &self.state {
            Availability::Built { .. } | Availability::Buildable => None,
            Availability::Broken(says) => Some(says.clone()),
            Availability::Missing(needs) => Some(match &self.subject {
                Ok(Subject { name, debian, home, advice, .. }) => {
                    lacking(needs, (name, debian, home, advice.as_deref()), self.has_apt)
                }
                Err(says) => says.clone(),
            }),
        }
    }
}

/// What is missing, and how to get it, of a subject or a service with this name, these packages, this home and this
/// advice.
pub(crate) fn lacking(
    needs: &[String],
    (name, debian, home, advice): (&str, &[String], &str, Option<&str>),
    has_apt: bool,
) -> String {
    let needs: Vec<String> = needs.iter().map(|need| format!("`{need}`")).collect();
    let packages = debian.join(" ");
    let way = match (packages.is_empty(), has_apt) {
        (true, _) => None,
        (false, true) => Some(format!("`dyno servers setup {name} --yes` installs {packages}")),
        (false, false) => {
            Some(format!("on Debian these are the packages {packages}; elsewhere see {home}"))
        }
    };
    let parts = [Some(format!("needs {}", needs.join(" and "))), way, advice.map(String::from)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Whether this machine installs Debian packages.
pub fn has_apt(cache: &BuildCache) -> bool {
    cache.has_program(APT)
}

/// The command that installs packages, if there are any.
pub fn debian_command(packages: &[String]) -> Option<Vec<String>> {
    let fixed = [APT, "install", "-y", "--no-install-recommends"].map(String::from);
    (!packages.is_empty()).then(|| fixed.into_iter().chain(packages.iter().cloned()).collect())
}

/// The one command that makes a subject able to run, as a user would type it.
pub fn next_command(member: &Member) -> Option<String> {
    match (&member.state, &member.subject) {
        (Availability::Buildable, Ok(_)) => Some(format!("dyno servers setup {}", member.name)),
        (Availability::Missing(_), Ok(subject)) => Some(match debian_command(&subject.debian) {
            Some(_) if member.has_apt => format!("dyno servers setup {} --yes", member.name),
            Some(_) | None if subject.advice.is_some() => return None,
            Some(_) | None => format!("see {}", subject.home),
        }),
        _ => None,
    }
}

/// All subjects, with the versions of those that are built; their version commands run side by side.
pub fn all_subjects(project: &Project, cache: &BuildCache, names: &[String]) -> Vec<Member> {
    let mut members: Vec<Member> =
        names.iter().map(|name| Member::read(project, cache, name)).collect();
    std::thread::scope(|scope| {
        for member in &mut members {
            let Member {
                subject: Ok(subject), state: Availability::Built { built, version }, ..
            } = member
            else {
                continue;
            };
            scope.spawn(move || *version = cache.version(subject, built));
        }
    });
    members
}

/// A subject's probe, if it has one; an error if the probe cannot be read.
pub fn probe(root: &Path, subject: &Subject) -> Result<Option<Probe>, String> {
    match &subject.probe {
        None => Ok(None),
        Some(name) => Probe::read(root, name).map(Some).map_err(|error| error.to_string()),
    }
}

/// Why something cannot be built, in words; its log is handed on.
pub(crate) fn unbuilt(name: &str, error: &BuildError, what: &str, watch: Watch<'_>) -> String {
    if let BuildError::Failed { log, .. } = error {
        watch(&Event::BuildFailed { name, log });
    }
    format!("{what} cannot be built: {error}")
}
