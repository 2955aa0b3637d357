//! Builds subjects and probes in copies of their folders, once: a build is stored under the hash of everything that
//! shaped it.

mod caller;
mod env;
pub(crate) mod plan;
mod salt;
mod sources;
pub(crate) mod step;

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use machine::process::{Marker, Spec, launch_with_lock};
use machine::unprivileged::nobody;
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};

use crate::arrival::names_error;
use crate::command::{Command, Placeholders, shown};
use crate::need::Surroundings;
use crate::probe::Probe;
use crate::service::{PrivateFolder, ReadyService, Service, copy_all, private_root};
use crate::subject::Subject;

use caller::Caller;
pub use caller::{caller_home, give_to_caller};
pub use plan::{BuildPlan, Built};
pub use salt::{SALT, salt};
use sources::sources;
use step::{Failed, ends_within, run_to_end};

/// Where builds are kept, and what they may see.
#[derive(Clone, Debug)]
pub struct BuildCache {
    /// `.dyno` below the project's root, or a folder in the user's cache.
    pub state: PathBuf,
    /// This program.
    pub dyno: PathBuf,
    /// The user's environment.
    pub variables: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// The folder in which its builds lie.
    kind: &'a str,
    /// The file that says how it is built; its other keys shape no build.
    manifest: &'a str,
    name: &'a str,
    /// Files of the first folder are laid first.
    folders: [Option<&'a Path>; 2],
    plan: &'a BuildPlan,
}

impl<'a> From<&'a Subject> for Recipe<'a> {
    fn from(Subject { name, folder, from, plan, .. }: &'a Subject) -> Recipe<'a> {
        let folders = [from.as_deref(), Some(folder)];
        Recipe { kind: "builds", manifest: "subject.toml", name, folders, plan }
    }
}

impl<'a> From<&'a Probe> for Recipe<'a> {
    fn from(Probe { name, folder, plan, .. }: &'a Probe) -> Recipe<'a> {
        let folders = [None, Some(folder.as_path())];
        Recipe { kind: "probes", manifest: "probe.toml", name, folders, plan }
    }
}

impl<'a> From<&'a Service> for Recipe<'a> {
    fn from(Service { name, folder, plan, .. }: &'a Service) -> Recipe<'a> {
        let folders = [None, Some(folder.as_path())];
        Recipe { kind: SERVICES, manifest: "service.toml", name, folders, plan }
    }
}

/// How far a subject has been built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// It can run.
    Built(Built),
    /// Everything that it needs is there, but it is not built yet.
    Buildable,
    /// These needs are missing.
    Missing(Vec<String>),
}

#[derive(Debug)]
pub enum BuildError {
    Failed {
        /// The command, how it ended, and its last line.
        says: String,
        /// The whole of what it wrote.
        log: PathBuf,
    },
    /// A file could not be read or written.
    Io(PathBuf, io::Error),
    /// The user asked for the end.
    Halted,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Failed { says, log } => write!(f, "{says} (all of it: {})", log.display()),
            BuildError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            BuildError::Halted => f.write_str("interrupted"),
        }
    }
}

/// Templates of services are made in a folder of their own, by a user of their own.
const SERVICES: &str = "services";
/// No build takes longer than this.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// How long a build that is interrupted has to end before it is killed.
const GRACE_MS: u64 = 1_000;

impl BuildCache {
    /// The command that starts a warden: this dyno's own, which ends up in `warden_main`.
    pub(crate) fn warden(&self) -> [OsString; 2] {
        [self.dyno.clone().into_os_string(), "warden".into()]
    }

    fn around(&self) -> Surroundings<'_> {
        Surroundings { variables: &self.variables }
    }

    /// Where its build is, or will be.
    pub fn folder(&self, recipe: Recipe<'_>) -> Result<PathBuf, BuildError> {
        self.place(recipe).map(|built| built.folder)
    }

    /// How far it has been built. Runs nothing.
    pub fn fitness(&self, recipe: Recipe<'_>) -> Result<Fitness, BuildError> {
        let missing = recipe.plan.needs.iter().filter(|need| !need.is_met(self.around()));
        let missing: Vec<String> = missing.map(ToString::to_string).collect();
        if !missing.is_empty() {
            return Ok(Fitness::Missing(missing));
        }
        let built = self.place(recipe)?;
        Ok(if mark(&built.folder).exists() { Fitness::Built(built) } else { Fitness::Buildable })
    }

    /// Builds it if that has not been done; `report` is called with each command before it runs.
    pub fn build(
        &self,
        recipe: Recipe<'_>,
        halt: &dyn Fn() -> bool,
        report: &mut dyn FnMut(&str),
    ) -> Result<Built, BuildError> {
        let built = self.place(recipe)?;
        let shelf = built.folder.parent().expect("a build lies on its shelf");
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| BuildError::Io(path, error)
        };
        make_folder(shelf).map_err(io(shelf))?;
        let caller = self.caller();
        let give = |path: &Path| match &caller {
            Some(caller) => caller.give(path).map_err(io(path)),
            None => Ok(()),
        };
        let kind = shelf.parent().expect("a shelf lies in the state's folder");
        [&self.state, kind, shelf].into_iter().try_for_each(give)?;
        let ignored = self.state.join(GITIGNORE);
        if ignored.exists() {
            give(&ignored)?;
        }
        let lock = beside(&built.folder, "lock");
        // Another dyno may be building the same: this one waits for it, and then there is nothing to do.
        let held = File::create(&lock).map_err(io(&lock))?;
        flock(&held, FlockOperation::LockExclusive).map_err(|error| io(&lock)(error.into()))?;
        if mark(&built.folder).exists() {
            return Ok(built);
        }
        if built.folder.exists() {
            // What built it may still run, if its warden was killed, too.
            let _ = machine::process::sweep();
            fs::remove_dir_all(&built.folder).map_err(io(&built.folder))?;
        }
        for (from, path) in sources(recipe)? {
            let to = built.folder.join(&path);
            let parent = to.parent().expect("it lies in the build");
            fs::create_dir_all(parent).map_err(io(parent))?;
            fs::copy(&from, &to).map_err(io(&from))?;
        }
        fs::create_dir_all(&built.folder).map_err(io(&built.folder))?;
        let log = beside(&built.folder, "log");
        File::create(&log).map_err(io(&log))?;
        [lock.as_path(), &log].into_iter().try_for_each(give)?;
        if let Some(caller) = &caller {
            caller.give_all(&built.folder).map_err(io(&built.folder))?;
        }
        self.make(recipe, &built.folder, &log, &held, halt, report)?;
        let done = mark(&built.folder);
        File::create(&done).and_then(|file| file.sync_all()).map_err(io(&done))?;
        give(&done)?;
        Ok(built)
    }

    /// Runs the commands of a build: in its folder, or for a service in a private folder, which then takes its place.
    fn make(
        &self,
        recipe: Recipe<'_>,
        folder: &Path,
        log: &Path,
        lock: &File,
        halt: &dyn Fn() -> bool,
        report: &mut dyn FnMut(&str),
    ) -> Result<(), BuildError> {
        let io = |error| BuildError::Io(folder.into(), error);
        let caller = self.caller();
        let private = (recipe.kind == SERVICES).then(|| self.private(folder));
        let private = private.transpose().map_err(io)?;
        let (place, user) = match &private {
            Some(private) => (private.path(), private.user()),
            None => (folder, caller.as_ref().map(|caller| (caller.uid, caller.gid))),
        };
        for command in &recipe.plan.commands {
            let words = self.fill(command, place);
            let typed = shown(&words);
            report(&typed);
            let mut written = File::options().append(true).open(log).map_err(io)?;
            writeln!(written, "$ {typed}").map_err(io)?;
            let spec = Spec { user, log: Some(log.into()), ..self.spec(recipe, place, words) };
            // The build's lock is not free before all processes of the command have ended.
            let launched = launch_with_lock(&self.warden(), &spec, lock);
            run_to_end(launched, &typed, log, LONGEST, halt).map_err(|failed| match failed {
                Failed::Halted => BuildError::Halted,
                failed => BuildError::Failed { says: failed.to_string(), log: log.into() },
            })?;
        }
        if let Some(private) = &private {
            let emptied = fs::remove_dir_all(folder).and_then(|()| fs::create_dir(folder));
            emptied.and_then(|()| copy_all(private.path(), folder, None)).map_err(io)?;
            caller.map_or(Ok(()), |caller| caller.give_all(folder)).map_err(io)?;
        }
        Ok(())
    }

    /// The process of a build's command.
    fn spec(&self, recipe: Recipe<'_>, folder: &Path, mut words: Vec<String>) -> Spec {
        let seen = self.for_builds(&recipe.plan.passes);
        let mut env: Vec<(String, String)> =
            seen.map(|(name, value)| (name.into(), value.into())).collect();
        env.extend(self.caller().iter().flat_map(Caller::variables));
        env.extend(self.env(&recipe.plan.env, folder));
        words[0] = program(folder, &words[0]).display().to_string();
        Spec {
            env,
            may_gain_privileges: true,
            grace_ms: GRACE_MS,
            oom_score_adj: 0,
            ..Spec::new(Marker::unique(), words, folder.to_path_buf())
        }
    }

    /// A copy of what is to be built, in which a template is made.
    fn private(&self, sources: &Path) -> io::Result<PrivateFolder> {
        let root = private_root(&self.variables);
        PrivateFolder::copy_of(sources, &root, &Marker::unique(), nobody())
    }

    /// Makes a service's template if that has not been done, and reads what is said of it.
    pub fn service(
        &self,
        service: &Service,
        halt: &dyn Fn() -> bool,
        report: &mut dyn FnMut(&str),
    ) -> Result<ReadyService, BuildError> {
        let built = self.build(service.into(), halt, report)?;
        let env = self.env(&service.plan.env, &built.folder);
        let version = service.manifest.version.as_ref();
        let version = version.and_then(|command| self.printed(command, &built, env));
        let lines = match service.manifest.settings.as_ref().map(|file| built.folder.join(file)) {
            None => String::new(),
            Some(file) => fs::read_to_string(&file).map_err(|error| BuildError::Io(file, error))?,
        };
        let settings = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        let settings = settings.filter(|line| !line.starts_with('#')).map(String::from).collect();
        let service = service.clone();
        Ok(ReadyService { service, built, version: version.unwrap_or_default(), settings })
    }

    /// What the version command prints, in one line; nothing if it fails.
    #[must_use]
    pub fn version(&self, subject: &Subject, built: &Built) -> Option<String> {
        self.printed(subject.version.as_ref()?, built, self.scrubbed(subject, built, &self.state))
    }

    /// The first line that a command prints; nothing if it fails.
    fn printed(
        &self,
        command: &Command,
        built: &Built,
        env: Vec<(String, String)>,
    ) -> Option<String> {
        let words = self.fill(command, &built.folder);
        let mut child = std::process::Command::new(program(&built.folder, &words[0]))
            .args(&words[1..])
            .current_dir(&built.folder)
            .env_clear()
            .envs(env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .ok()?;
        if !ends_within(&mut child, Duration::from_secs(20)) {
            return None;
        }
        let mut text = Vec::new();
        child.stdout.take()?.take(4 << 10).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().filter(|letter| !letter.is_control()).take(120).collect())
    }

    /// The variables that a running subject sees, and no others.
    #[must_use]
    pub fn scrubbed(&self, subject: &Subject, built: &Built, work: &Path) -> Vec<(String, String)> {
        let around = self.around();
        let work = work.display().to_string();
        let mut variables = vec![
            ("PATH".to_string(), around.variable("PATH").unwrap_or("/usr/bin:/bin").to_string()),
            ("HOME".into(), work.clone()),
            ("TMPDIR".into(), work),
            ("LANG".into(), "C.UTF-8".into()),
            ("TZ".into(), "UTC".into()),
        ];
        for name in &subject.plan.passes {
            if let Some(value) = around.variable(name) {
                variables.push((name.clone(), value.to_string()));
            }
        }
        variables.extend(self.env(&subject.plan.env, &built.folder));
        variables
    }

    /// The variables of a manifest, with their placeholders filled.
    pub(crate) fn env(&self, env: &[(String, String)], folder: &Path) -> Vec<(String, String)> {
        let (build, dyno) = (folder.display().to_string(), self.dyno.display().to_string());
        let placeholders = Placeholders { known: &[("build", &build), ("dyno", &dyno)] };
        let fill = |value: &str| {
            placeholders.fill(value).expect("placeholders were checked when it was read")
        };
        env.iter().map(|(name, value)| (name.clone(), fill(value))).collect()
    }

    fn fill(&self, command: &Command, folder: &Path) -> Vec<String> {
        let (build, dyno) = (folder.display().to_string(), self.dyno.display().to_string());
        let placeholders = Placeholders { known: &[("build", &build), ("dyno", &dyno)] };
        command.fill(placeholders).expect("placeholders were checked when it was read")
    }

    /// Where a recipe's build is: under the hash of the files, the commands and the variables that shape it.
    fn place(&self, recipe: Recipe<'_>) -> Result<Built, BuildError> {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(b"dyno build 1");
        for command in &recipe.plan.commands {
            part(format!("{command:?}").as_bytes());
        }
        for (name, value) in &recipe.plan.env {
            part(format!("{name}={value}").as_bytes());
        }
        for name in &recipe.plan.passes {
            part(format!("{name}={:?}", self.around().variable(name)).as_bytes());
        }
        // A build with one version of a program is not the build with another version.
        for need in &recipe.plan.needs {
            part(need.trace(self.around()).as_bytes());
        }
        for (from, path) in sources(recipe)? {
            if path.ends_with(recipe.manifest) {
                continue;
            }
            part(path.as_os_str().as_encoded_bytes());
            part(&fs::read(&from).map_err(|error| BuildError::Io(from.clone(), error))?);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let hash = units::hex(&digest[..8]);
        let name = match &recipe.plan.salt {
            Some(salt) => format!("{hash}-{salt}"),
            None => hash.clone(),
        };
        Ok(Built { folder: self.state.join(recipe.kind).join(recipe.name).join(name), hash })
    }
}

/// Where a program is: a path with a slash in it that does not start with one is the build's.
pub(crate) fn program(folder: &Path, word: &str) -> PathBuf {
    if word.contains('/') { folder.join(word) } else { PathBuf::from(word) }
}

/// The file that marks a build as complete.
fn mark(folder: &Path) -> PathBuf {
    beside(folder, "whole")
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    folder.with_extension(ending)
}

/// The folder in a project for builds and runs.
pub const WORK: &str = ".dyno";
const GITIGNORE: &str = ".gitignore";

/// Makes a folder with those above it. The one for builds and runs tells git to ignore all that is in it.
pub fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let work = path.ancestors().find(|folder| folder.ends_with(WORK));
    match work.map(|folder| File::create_new(folder.join(GITIGNORE))) {
        None => Ok(()),
        Some(Ok(mut file)) => file.write_all(b"*\n"),
        // Somebody else's is left as it is, and a folder that is read only is needed for nothing here.
        Some(Err(_)) => Ok(()),
    }
}

/// The last line of a log that names an error, or else the last one that is not empty, for a message of one line.
fn last_line(log: &Path) -> String {
    let text = last_bytes(log, 8 << 10).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // Before the output of each command stands the command.
    let last = || text.lines().rev().take_while(|line| !line.starts_with("$ "));
    let error = last().find(|line| names_error(line));
    match error.or_else(|| last().find(|line| !line.trim().is_empty())).map(str::trim) {
        Some(line) => {
            let line: String =
                line.chars().filter(|letter| !letter.is_control()).take(300).collect();
            format!(": {line}")
        }
        None => String::new(),
    }
}

/// The end of a log, of so many bytes at most.
pub fn last_bytes(log: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
