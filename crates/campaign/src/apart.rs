//! Keeps the sides of a gate apart: what a side runs lies in its own tree, and neither in the project's working tree nor
//! in the tree of the other side. Otherwise both sides could be one program, and no difference would ever be found.

use std::fs;
use std::path::{Path, PathBuf};

use lab::build::{BuildCache, Built};
use lab::command::Command;
use lab::subject::{Serving, Subject};

/// Where a side's files may lie, and where they must not. Of two trees of which one lies in the other, the inner one
/// counts.
#[derive(Clone, Debug)]
pub struct Apart {
    /// The side's tree, and what dyno itself makes for it.
    own: Vec<PathBuf>,
    foreign: Vec<PathBuf>,
}

impl Apart {
    /// A side with this tree; what lies in the others is not its own.
    #[must_use]
    pub fn new(own: &Path, foreign: &[&Path]) -> Apart {
        let foreign = foreign.iter().map(|tree| resolved(tree)).collect();
        Apart { own: vec![resolved(own)], foreign }
    }

    /// The same of a side that is built.
    #[must_use]
    pub fn built(&self, built: &Built, cache: &BuildCache) -> Apart {
        let mut apart = self.clone();
        // What is run as it is has no hash, and no build.
        let build = (!built.hash.is_empty()).then(|| built.folder.clone());
        let made = [cache.state.join("work"), cache.dyno.clone()].into_iter().chain(build);
        apart.own.extend(made.map(|path| resolved(&path)));
        apart
    }

    /// Refuses a subject that leads out of its tree: by the folder in which it runs, an argument, a variable, the program
    /// that `PATH` finds, or a symbolic link.
    pub fn check(
        &self,
        subject: &Subject,
        built: &Built,
        cache: &BuildCache,
    ) -> Result<(), String> {
        let folder = &built.folder;
        if depth(&self.own, &resolved(folder)) == 0 || self.is_foreign(folder) {
            return Err(self.says("the folder in which it runs", folder));
        }
        let commands: Vec<&Command> = match &subject.serving {
            Serving::Own(command, _) => vec![command],
            Serving::Built(starts) => {
                let others = starts.run_h2c.iter().chain(&starts.run_tls);
                subject.build.iter().chain([&starts.run]).chain(others).collect()
            }
            Serving::ByUrl(_) | Serving::Found(_) => Vec::new(),
        };
        for command in commands {
            for word in command.words() {
                self.check_text(&format!("the argument `{}`", word.escape_debug()), word, folder)?;
            }
            let program = on_path(command.program(), cache);
            if let Some(program) = program.filter(|program| self.is_foreign(program)) {
                return Err(self.says("the program that PATH finds", &program));
            }
        }
        let passed = cache.variables.iter().filter(|(name, _)| subject.passes.contains(name));
        for (name, value) in subject.env.iter().chain(passed) {
            self.check_text(&format!("the variable {name}"), value, folder)?;
        }
        let link = self.link_below(&self.own[0]);
        link.map_or(Ok(()), |link| Err(self.says("a symbolic link of its tree", &link)))
    }

    /// Refuses a subject of which a process runs, or has its program, in such a place.
    pub fn check_places(&self, places: &[PathBuf]) -> Result<(), String> {
        let foreign = places.iter().find(|place| self.is_foreign(place));
        foreign.map_or(Ok(()), |place| Err(self.says("a process of it", place)))
    }

    /// Leaves out what leads into other trees, and gives the names of the variables that had it. `PATH` stays: a program
    /// that it finds there is refused.
    pub fn clean(&self, variables: &mut Vec<(String, String)>) -> Vec<String> {
        let leads = |part: &str| part.starts_with('/') && self.is_foreign(Path::new(part));
        let mut cleaned = Vec::new();
        variables.retain_mut(|(name, value)| {
            if name == "PATH" || !value.split(':').any(leads) {
                return true;
            }
            cleaned.push(name.clone());
            *value = value.split(':').filter(|part| !leads(part)).collect::<Vec<_>>().join(":");
            !value.is_empty()
        });
        cleaned
    }

    fn is_foreign(&self, path: &Path) -> bool {
        let path = resolved(path);
        depth(&self.own, &path) < depth(&self.foreign, &path)
    }

    /// A path is all of a text, or a part of it: `--root=PATH`, `-IPATH`, `a:b`, `cd PATH && …`.
    fn check_text(&self, what: &str, text: &str, folder: &Path) -> Result<(), String> {
        let ends = |sign: char| sign.is_whitespace() || "=:,;'\"()<>|&".contains(sign);
        let parts = std::iter::once(text).chain(text.split(ends)).filter(|part| !part.is_empty());
        let path = |part: &str| match part.find('/') {
            Some(at) if part.starts_with('-') => folder.join(&part[at..]),
            Some(_) | None => folder.join(part),
        };
        let foreign = parts.map(path).find(|path| self.is_foreign(path));
        foreign.map_or(Ok(()), |path| Err(self.says(what, &path)))
    }

    fn says(&self, what: &str, path: &Path) -> String {
        format!(
            "{what} leads to {}, which is not in its own tree {}, so both sides could be the same files; write paths \
             relative to the project, as `dyno new` does (in = \".\"): they lead into each side's own tree",
            resolved(path).display(),
            self.own[0].display()
        )
    }

    /// The first symbolic link below a folder that leads into another tree.
    fn link_below(&self, folder: &Path) -> Option<PathBuf> {
        fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
            let (path, kind) = (entry.path(), entry.file_type().ok()?);
            if kind.is_dir() && entry.file_name() != ".git" {
                return self.link_below(&path);
            }
            (kind.is_symlink() && self.is_foreign(&path)).then_some(path)
        })
    }
}

/// The folders in which these processes run, and their programs.
pub(crate) fn places_of(processes: &[u32]) -> Vec<PathBuf> {
    let links =
        processes.iter().flat_map(|pid| ["cwd", "exe"].map(|it| format!("/proc/{pid}/{it}")));
    links.filter_map(|link| fs::read_link(link).ok()).collect()
}

/// Where the user's `PATH` finds a program that is named without a folder.
fn on_path(program: &str, cache: &BuildCache) -> Option<PathBuf> {
    let (_, folders) = cache.variables.iter().find(|(name, _)| name == "PATH")?;
    let found = folders.split(':').map(|folder| Path::new(folder).join(program));
    found.filter(|_| !program.contains('/')).find(|path| path.is_file())
}

/// How deep the innermost of these trees lies in which the path is; zero: it is in none.
fn depth(trees: &[PathBuf], path: &Path) -> usize {
    let around = trees.iter().filter(|tree| path.starts_with(tree));
    around.map(|tree| tree.components().count()).max().unwrap_or(0)
}

/// The path with all links followed, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => resolved(parent).join(name),
        (Err(_), ..) => path.to_path_buf(),
    }
}
