//! The folder in which all names are looked up: it has `subjects/` and `workloads/`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use lab::build::BuildCache;
use lab::experiment::Experiment;
use lab::source_file::nearest;
use lab::subject::is_file_name;

use crate::refusal::Refusal;

#[derive(Clone, Debug)]
pub struct Project {
    pub root: PathBuf,
    /// Where builds and runs are kept, if not in the project's own folder.
    state: Option<PathBuf>,
}

impl Project {
    /// The nearest project folder, from the current folder upwards.
    pub fn find() -> Result<Project, Refusal> {
        let here = std::env::current_dir()
            .map_err(|error| Refusal::new(format!("the current folder: {error}")))?;
        Project::above(&here).ok_or_else(|| {
            Refusal::new(format!(
                "no project at {} or above it: no folder with `subjects/` and `workloads/` in it; go to \
                 dyno's own folder, or make these two",
                here.display()
            ))
        })
    }

    fn above(folder: &Path) -> Option<Project> {
        let is_one =
            |folder: &&Path| folder.join("subjects").is_dir() && folder.join("workloads").is_dir();
        folder
            .ancestors()
            .find(is_one)
            .map(|root| Project { root: root.to_path_buf(), state: None })
    }

    /// The user's own folder, for what belongs to no project: no name is known in it.
    pub fn of_user() -> Result<Project, Refusal> {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let whole = |path: &PathBuf| path.is_absolute();
        let state = folder("XDG_STATE_HOME").filter(whole);
        let state = state.or_else(|| Some(folder("HOME").filter(whole)?.join(".local/state")));
        let state = state.ok_or_else(|| {
            Refusal::new(
                "no folder to keep runs in: set HOME or XDG_STATE_HOME, or give --store FILE",
            )
        })?;
        let state = state.join("dyno");
        Ok(Project { root: state.clone(), state: Some(state) })
    }

    /// The nearest project; outside of any, the user's own folder.
    pub fn find_or_user() -> Result<Project, Refusal> {
        Project::find().or_else(|_| Project::of_user())
    }

    /// The project that an experiment belongs to, and the experiment's file: a name in `experiments/`, or a path.
    pub fn of_experiment(name: &str) -> Result<(Project, Experiment), Refusal> {
        if name.ends_with(".toml") || name.contains('/') {
            let path = fs::canonicalize(name)
                .map_err(|error| Refusal::new(format!("{name}: cannot be read: {error}")))?;
            let project = match Project::above(&path) {
                Some(project) => project,
                None => Project::find()?,
            };
            return Ok((project, read(&path, name)?));
        }
        let project = Project::find()?;
        let known = project.experiments();
        if !known.iter().any(|other| other == name) {
            return Err(unknown("experiment", name, &known, "`dyno list` shows them"));
        }
        let path = project.root.join("experiments").join(format!("{name}.toml"));
        let experiment = read(&path, &format!("experiments/{name}.toml"))?;
        Ok((project, experiment))
    }

    /// The folder for builds, runs and temporary files of trials.
    pub fn state(&self) -> PathBuf {
        self.state.clone().unwrap_or_else(|| self.root.join(".dyno"))
    }

    /// The file that keeps the runs.
    pub fn store_path(&self) -> PathBuf {
        self.state().join("runs.sqlite")
    }

    /// The folder for a run's page: `reports` beside the project's own store, a folder with the store's name beside any
    /// other store, so that the pages of two stores do not overwrite each other.
    pub fn reports(&self, store: &Path) -> PathBuf {
        let is_own = fs::canonicalize(store).ok() == fs::canonicalize(self.store_path()).ok();
        if is_own {
            return self.state().join("reports");
        }
        let name = store.file_name().unwrap_or_default().to_string_lossy();
        store.with_file_name(format!("{name}.reports"))
    }

    pub fn cache(&self) -> Result<BuildCache, Refusal> {
        let dyno = std::env::current_exe()
            .map_err(|error| Refusal::new(format!("where this program is: {error}")))?;
        let text = |text: OsString| text.into_string().ok();
        let variables = std::env::vars_os();
        let variables = variables.filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        Ok(BuildCache { state: self.state(), dyno, variables: variables.collect() })
    }

    /// The names of all subjects, sorted.
    pub fn subjects(&self) -> Vec<String> {
        names(&self.root.join("subjects"), |path| {
            path.join("subject.toml").is_file().then(|| path.file_name()).flatten()
        })
    }

    /// The names of all workloads, sorted.
    pub fn workloads(&self) -> Vec<String> {
        names(&self.root.join("workloads"), toml_stem)
    }

    /// The names of all experiments, sorted.
    pub fn experiments(&self) -> Vec<String> {
        names(&self.root.join("experiments"), toml_stem)
    }
}

fn read(path: &Path, shown: &str) -> Result<Experiment, Refusal> {
    Experiment::read(path, shown).map_err(|error| Refusal::new(error.to_string()))
}

fn toml_stem(path: &Path) -> Option<&std::ffi::OsStr> {
    path.extension().is_some_and(|ending| ending == "toml").then(|| path.file_stem()).flatten()
}

fn names(folder: &Path, name: impl Fn(&Path) -> Option<&std::ffi::OsStr>) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| name(&entry.path())?.to_str().map(String::from)).collect();
    names.retain(|name| is_file_name(name));
    names.sort();
    names
}

/// There is no such name.
pub fn unknown(kind: &str, name: &str, known: &[String], otherwise: &str) -> Refusal {
    let way_out = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.into(),
    };
    Refusal::new(format!("unknown {kind} `{}`; {way_out}", name.escape_debug()))
}
