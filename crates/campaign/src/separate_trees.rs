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
pub struct SeparateTrees {
    /// The side's tree, and what dyno itself makes for it.
    own: Vec<PathBuf>,
    foreign: Vec<PathBuf>,
}

impl SeparateTrees {
    /// A side with this tree; what lies in the others is not its own.
    #[must_use]
    pub fn new(own: &Path, foreign: &[&Path]) -> SeparateTrees {
        let foreign = foreign.iter().map(|tree| resolved(tree)).collect();
        SeparateTrees { own: vec![resolved(own)], foreign }
    }

    /// The side with the folder of its build.
    #[must_use]
    pub fn built(&self, built: &Built, cache: &BuildCache) -> SeparateTrees {
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
                subject.plan.commands.iter().chain([&starts.run]).chain(others).collect()
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
        let passed = cache.variables.iter().filter(|(name, _)| subject.plan.passes.contains(name));
        for (name, value) in subject.plan.env.iter().chain(passed) {
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
            "{what} leads to {}, which is not in its own tree {}, so base and head could be the same files; write \
             paths \
             relative to the project, as `dyno servers new` does (in = \".\"): they lead into the version's own tree",
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use lab::source_file::SourceFile;

    use super::*;
    use crate::fixture::Folder;

    /// A working tree with dyno's own folder in it, and the trees of two sides elsewhere.
    struct Trees {
        root: PathBuf,
        _folder: Folder,
    }

    impl Trees {
        fn new() -> Trees {
            let folder = Folder::new();
            let root = fs::canonicalize(&folder.0).unwrap();
            for folder in ["working/.dyno/builds/base", "working/bin", "own/.git", "own/x", "other"]
            {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            let trees = Trees { root, _folder: folder };
            fs::write(trees.at("working/bin/tool"), "").unwrap();
            // None of these leads out of the side's tree into another one.
            symlink(trees.at("working"), trees.at("own/.git/link")).unwrap();
            symlink(trees.at("own"), trees.at("own/x/link")).unwrap();
            symlink("/usr", trees.at("own/usr")).unwrap();
            trees
        }

        fn at(&self, path: &str) -> PathBuf {
            self.root.join(path)
        }

        fn apart(&self) -> SeparateTrees {
            SeparateTrees::new(&self.at("own"), &[&self.at("working"), &self.at("other")])
        }

        fn cache(&self) -> BuildCache {
            let variables = [("PATH", "working/bin"), ("HERE", "working/lib")];
            let variable =
                |(name, value)| (String::from(name), self.at(value).display().to_string());
            BuildCache {
                state: self.at("working/.dyno"),
                dyno: self.at("working/target/dyno"),
                variables: variables.into_iter().map(variable).collect(),
            }
        }

        fn build(&self) -> Built {
            Built { folder: self.at("working/.dyno/builds/base"), hash: "1".into() }
        }

        fn check(&self, keys: &str) -> Result<(), String> {
            self.check_by(&self.apart(), keys)
        }

        fn check_by(&self, apart: &SeparateTrees, keys: &str) -> Result<(), String> {
            let text = format!("title = 'x'\nspeaks = ['x']\n{keys}");
            let text = text.replace("ROOT", &self.root.display().to_string());
            let source = SourceFile { name: "subject.toml".into(), text };
            let subject = Subject::parse(&self.at("own"), "x", &source).unwrap();
            let built = match &subject.serving {
                Serving::Own(_, folder) => Built { folder: folder.clone(), hash: String::new() },
                Serving::Built(_) | Serving::ByUrl(_) | Serving::Found(_) => self.build(),
            };
            let cache = self.cache();
            apart.built(&built, &cache).check(&subject, &built, &cache)
        }

        #[track_caller]
        fn refuses(&self, keys: &str, says: &str) {
            let says = says.replace("ROOT", &self.root.display().to_string());
            let found = self.check(keys).expect_err(keys);
            assert!(found.starts_with(&says), "{keys}: {found}");
        }
    }

    #[test]
    fn whatever_of_a_subject_leads_out_of_its_tree_is_refused() {
        let trees = Trees::new();
        for keys in [
            "run = 'sh serve.sh {port} -I/usr/lib --root=ROOT/own/x'",
            "in = 'x'\nrun = 'sh serve.sh {port}'",
            "run = 'sh'\nenv = { THERE = 'ROOT/own:/usr' }",
        ] {
            assert_eq!(trees.check(keys), Ok(()), "{keys}");
        }
        let folder = "the folder in which it runs leads to";
        trees.refuses("in = 'ROOT/working'\nrun = 'sh'", &format!("{folder} ROOT/working,"));
        trees.refuses("in = '../other'\nrun = 'sh'", &format!("{folder} ROOT/other,"));
        trees.refuses("in = '/usr'\nrun = 'sh'", &format!("{folder} /usr,"));
        let outer = SeparateTrees::new(&trees.root, &[&trees.at("working")]);
        let found = trees.check_by(&outer, "in = 'ROOT/working/bin'\nrun = 'sh'").unwrap_err();
        assert!(found.starts_with(folder), "the working tree lies in the side's own: {found}");
        for word in [
            "ROOT/working/serve.sh",
            "--root=ROOT/working",
            "-IROOT/working/lib",
            "/usr/lib:ROOT/other",
            "'cd ROOT/working && exec ./serve'",
            "../../../serve.sh",
            "../head/serve.sh",
        ] {
            trees.refuses(&format!("run = \"sh {word}\""), "the argument `");
        }
        let all = "protocols = ['http/1.1', 'h2c', 'http/1.1+tls']\nrun = 'sh'";
        let tls = "run_tls = 'sh {cert} {key}'";
        assert_eq!(trees.check(&format!("{all}\nrun_h2c = 'sh'\n{tls}")), Ok(()));
        trees.refuses(&format!("{all}\nrun_h2c = 'sh ROOT/other/x'\n{tls}"), "the argument `");
        trees
            .refuses(&format!("{all}\n{}", tls.replace("sh", "sh ROOT/other/x")), "the argument `");
        trees.refuses("run = 'sh'\nbuild = ['cp ROOT/working/x .']", "the argument `");
        trees
            .refuses("run = 'tool'", "the program that PATH finds leads to ROOT/working/bin/tool,");
        trees.refuses("run = 'sh'\nenv = { THERE = 'x=ROOT/working' }", "the variable THERE leads");
        trees.refuses("run = 'sh'\npasses = ['HERE']", "the variable HERE leads to");
        symlink(trees.at("working"), trees.at("own/x/out")).unwrap();
        trees.refuses("run = 'sh'", "a symbolic link of its tree leads to ROOT/working,");
        trees.refuses("run = 'sh ROOT/own/x/out/not/there'", "the argument `");
    }

    #[test]
    fn a_process_runs_in_its_own_tree_in_its_build_or_in_what_dyno_makes_for_it() {
        let trees = Trees::new();
        let check = |apart: &SeparateTrees, place: &str| {
            apart.check_places(&[trees.at("own/x"), trees.at(place)]).is_ok()
        };
        let built = trees.apart().built(&trees.build(), &trees.cache());
        for own in ["own", "working/.dyno/builds/base/x", "working/.dyno/work/7", "/usr/bin/sh"] {
            assert!(check(&built, own), "{own}");
        }
        assert!(check(&built, "working/target/dyno"), "dyno's own server");
        for foreign in ["working", "working/.dyno", "working/.dyno/builds/head", "other/x"] {
            assert!(!check(&built, foreign), "{foreign}");
        }
        // What is run as it is has no build: the folder in which it runs is not its own for that.
        let plain = Built { folder: trees.at("working"), hash: String::new() };
        assert!(!check(&trees.apart().built(&plain, &trees.cache()), "working"));
        // Of two trees of which one lies in the other, the inner one counts.
        let inner = SeparateTrees::new(&trees.at("working/bin"), &[&trees.at("working")]);
        assert!(check(&inner, "working/bin/tool") && !check(&inner, "working/serve.sh"));
        let outer = SeparateTrees::new(&trees.at(""), &[&trees.at("working")]);
        assert!(check(&outer, "other") && !check(&outer, "working/bin"));
        let places = [std::env::current_dir().unwrap(), std::env::current_exe().unwrap()];
        assert_eq!(places_of(&[std::process::id()]), places);
    }

    #[test]
    fn a_command_gets_no_variable_that_leads_into_another_tree() {
        let trees = Trees::new();
        let root = trees.root.display().to_string();
        let variables = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            let of =
                |(name, value): &(&str, &str)| (name.to_string(), value.replace("ROOT", &root));
            all.iter().map(of).collect()
        };
        let mut all = variables(&[
            ("PATH", "ROOT/working/bin:/usr/bin"),
            ("LIBS", "/usr/lib:ROOT/working/lib:ROOT/other"),
            ("ONLY", "ROOT/working"),
            ("TEXT", "working: bin"),
            ("OWN", "ROOT/own/x"),
        ]);
        assert_eq!(trees.apart().clean(&mut all), ["LIBS", "ONLY"]);
        let kept = variables(&[
            ("PATH", "ROOT/working/bin:/usr/bin"),
            ("LIBS", "/usr/lib"),
            ("TEXT", "working: bin"),
            ("OWN", "ROOT/own/x"),
        ]);
        assert_eq!(all, kept);
    }
}
