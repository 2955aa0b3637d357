//! The folder in which all names are looked up: it has `subjects/` and `workloads/`. Where there is none, it is the tree
//! that every dyno carries.

use std::fs;
use std::path::{Path, PathBuf};

use lab::Refusal;
use lab::build::{BuildCache, WORK, give_to_caller};
use lab::command::shown;
use lab::experiment::Experiment;
use lab::subject::is_file_name;
use units::nearest;

use crate::{embedded, places};

#[derive(Clone, Debug)]
pub struct Project {
    pub root: PathBuf,
    /// Builds, and temporary files of trials.
    work: PathBuf,
    /// Runs and their pages.
    results: PathBuf,
    is_embedded: bool,
}

impl Project {
    /// The nearest project folder, from the current folder upwards; if there is none, the embedded one.
    pub fn find() -> Result<Project, Refusal> {
        Project::around().map_or_else(Project::embedded, Ok)
    }

    /// The nearest project folder, from the current folder upwards.
    pub fn around() -> Option<Project> {
        let here = std::env::current_dir().ok();
        here.as_deref().and_then(Project::above)
    }

    fn above(folder: &Path) -> Option<Project> {
        let is_one =
            |folder: &&Path| folder.join("subjects").is_dir() && folder.join("workloads").is_dir();
        folder.ancestors().find(is_one).map(|root| Project {
            root: root.to_path_buf(),
            work: root.join(WORK),
            results: root.join(WORK),
            is_embedded: false,
        })
    }

    /// The tree that every dyno carries, unpacked in the user's cache folder. It is built there, and its runs are kept in
    /// the user's store.
    pub fn embedded() -> Result<Project, Refusal> {
        let (cache, results) = (places::cache()?, places::state()?);
        // Under `sudo` what is new in the caller's home belongs to the caller.
        let new = cache.ancestors().take_while(|folder| !folder.exists()).last();
        let unpacked = embedded::unpack(&cache).and_then(|root| {
            give_to_caller(&places::environment(), new.unwrap_or(&root))?;
            Ok(root)
        });
        let root = unpacked.map_err(|error| {
            Refusal::new(format!(
                "{}: dyno's own servers cannot be unpacked there: {error}; set XDG_CACHE_HOME to a folder that you \
                 may write to",
                cache.display()
            ))
        })?;
        Ok(Project { root, work: cache, results, is_embedded: true })
    }

    /// Whether it is the tree that this dyno carries.
    pub fn is_embedded(&self) -> bool {
        self.is_embedded
    }

    /// The user's own folders, for what belongs to no project: no name is known in them.
    pub fn of_user() -> Result<Project, Refusal> {
        let results = places::state()?;
        Ok(Project { root: results.clone(), work: places::cache()?, results, is_embedded: false })
    }

    /// The folder in which projects lie that were sent here, each named after the digest of its files.
    pub(crate) fn sent_folder() -> Result<PathBuf, Refusal> {
        Ok(places::state()?.join("lab"))
    }

    /// A project that was sent here. Builds are in the user's cache, so that those of another version of it are used
    /// again; one run at a time is under way of all that were sent.
    pub(crate) fn sent(root: PathBuf) -> Result<Project, Refusal> {
        let (work, results) = (places::cache()?, Project::sent_folder()?);
        Ok(Project { root, work, results, is_embedded: false })
    }

    /// A project whose files were written into a folder of their own. It is built there, and its runs are kept where those
    /// of another project are.
    pub fn in_folder(root: PathBuf, around: &Project) -> Project {
        let (work, results) = (root.join(WORK), around.results.clone());
        Project { root, work, results, is_embedded: false }
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
            let otherwise = match project.is_embedded {
                false => "`dyno servers list` shows them",
                true => {
                    "this folder is in no project (`subjects/` and `workloads/` make one), and `dyno servers list` \
                     shows dyno's own"
                }
            };
            return Err(unknown("experiment", name, &known, otherwise));
        }
        let path = project.root.join("experiments").join(format!("{name}.toml"));
        let experiment = read(&path, &format!("experiments/{name}.toml"))?;
        Ok((project, experiment))
    }

    /// The folder for builds and temporary files of trials.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// The folder for runs and their pages, and for the lock of the one that is under way.
    pub(crate) fn results(&self) -> &Path {
        &self.results
    }

    /// The file that keeps the runs.
    pub fn store_path(&self) -> PathBuf {
        self.results.join("runs.sqlite")
    }

    /// ` --store FILE`, for a command that is to find this store from the current folder; nothing where it is the one
    /// that commands read there.
    pub fn store_option(store: &Path) -> String {
        let here = Project::around().map_or_else(Project::of_user, Ok);
        match here.is_ok_and(|project| is_same(&project.store_path(), store)) {
            true => String::new(),
            false => format!(" --store {}", shown(&[store.to_string_lossy().into_owned()])),
        }
    }

    /// The folder for a run's page: `reports` beside the project's own store, a folder with the store's name beside any
    /// other store, so that the pages of two stores do not overwrite each other.
    pub fn reports(&self, store: &Path) -> PathBuf {
        if is_same(store, &self.store_path()) {
            return self.results.join("reports");
        }
        let name = store.file_name().unwrap_or_default().to_string_lossy();
        store.with_file_name(format!("{name}.reports"))
    }

    pub fn cache(&self) -> Result<BuildCache, Refusal> {
        let dyno = std::env::current_exe()
            .map_err(|error| Refusal::new(format!("where this program is: {error}")))?;
        Ok(BuildCache { state: self.work.clone(), dyno, variables: places::environment() })
    }

    /// The names of all subjects, sorted.
    pub fn subjects(&self) -> Vec<String> {
        self.folders_with("subjects", "subject.toml")
    }

    /// The names of all services, sorted.
    pub fn services(&self) -> Vec<String> {
        self.folders_with("services", "service.toml")
    }

    /// The names of all probes, sorted.
    pub fn probes(&self) -> Vec<String> {
        self.folders_with("probes", "probe.toml")
    }

    fn folders_with(&self, folder: &str, file: &str) -> Vec<String> {
        names(&self.root.join(folder), |path| {
            path.join(file).is_file().then(|| path.file_name()).flatten()
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

/// Whether both name one file, which need not be there yet.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    real(one) == real(other)
}

fn read(path: &Path, shown: &str) -> Result<Experiment, Refusal> {
    Experiment::read(path, shown).map_err(Refusal::from)
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
