//! What base and head are: revisions, folders, subjects of the project, or commands.

use std::path::{Path, PathBuf};

use ::report::history::{Commit, Side as Written};
use archive::history::commit;
use campaign::project::Project;
use campaign::race::side::{self, Side};
use campaign::separate_trees::SeparateTrees;
use campaign::trees;
use lab::experiment::{Experiment, Subjects};
use lab::manner::Protocol;
use lab::subject::{Subject, is_file_name};

use super::GateFlags;
use crate::shell::Refusal;
use crate::sides::{here, refuse_without_files};

/// A side, as a subject, and what a reader knows it by.
pub(super) struct Named {
    pub(super) subject: Subject,
    pub(super) title: String,
    /// What a history knows it by: without the values of a command's variables, which may be secret.
    pub(super) written: String,
    /// What it is a build of: a subject, or a command.
    pub(super) of: String,
    /// The commit that it is; none: it is in none.
    pub(super) commit: Option<Commit>,
    /// The tree in which all of it lies; none: a command, or a subject of the project as it is.
    pub(super) tree: Option<PathBuf>,
}

/// Two commands.
pub(super) fn of_commands(
    flags: &GateFlags,
    texts: [&str; 2],
    (names, workload, protocol): ([&str; 2], &str, Protocol),
) -> Result<[Named; 2], Refusal> {
    let here = here()?;
    let side = |place: usize| of_command(flags, names[place], texts[place], protocol, &here);
    let mut sides = [side(0)?, side(1)?];
    sides.iter_mut().for_each(|side| side.subject.speaks = vec![workload.to_string()]);
    Ok(sides)
}

fn of_command(
    flags: &GateFlags,
    name: &str,
    text: &str,
    protocol: Protocol,
    here: &Path,
) -> Result<Named, Refusal> {
    let refused = |says: String| Refusal::new(format!("--{name}-cmd: {says}"));
    let words = side::command(text).map_err(refused)?;
    let written = format!("`{}`", Written::command(&words).text);
    refuse_without_files(&[Side::Own { text: text.into(), words }], protocol)?;
    let subject = Subject::own(name, name, text, here).map_err(Refusal::new)?;
    Ok(Named {
        subject: Subject { ready: flags.at.ready, ..subject },
        title: format!("`{text}`"),
        written,
        of: text.into(),
        commit: None,
        tree: None,
    })
}

/// A side of an experiment, as the flag names it.
pub(super) fn of_tree(
    flags: &GateFlags,
    (project, experiment): (&Project, &Experiment),
    (text, name, workload): (&str, &str, &str),
) -> Result<Named, Refusal> {
    let subject = subject(flags, experiment)?;
    let (kind, rest) = text.split_once(':').unwrap_or(("", text));
    let history = flags.history.path().unwrap_or(Path::new(""));
    let (folder, title, of, commit, own) = match kind {
        "server" if is_file_name(rest) => {
            let folder = project.root.join("subjects").join(rest);
            (folder, text.into(), rest.to_string(), commit(&project.root, history), None)
        }
        "dir" => {
            let tree = std::fs::canonicalize(rest).map_err(|error| {
                Refusal::new(format!("--{name} {}: {error}", text.escape_debug()))
            })?;
            let commit = commit(&tree, history);
            let folder = in_folder(&tree, &subject);
            (folder, text.into(), subject, commit, Some(trees::top(&tree)))
        }
        "git" => {
            let found = trees::checked_out(&project.root, rest)?;
            let short = &found.commit[..found.commit.len().min(8)];
            if found.is_dirty {
                terminal::notice(&format!(
                    "dyno: the working tree has changes that are not in {short}: they are not measured; \
                     `dir:.` measures the tree as it is"
                ));
            }
            let tree = trees::in_tree(&project.root, &found.folder)?;
            let title = format!("{text} ({short})");
            let commit = Commit { hash: found.commit, is_dirty: false };
            let folder = in_folder(&tree, &subject);
            (folder, title, subject, Some(commit), Some(found.folder))
        }
        _ => {
            return Err(Refusal::new(format!(
                "--{name} `{}`: write git:REVISION, dir:FOLDER or server:NAME",
                units::without_password(text).escape_debug()
            )));
        }
    };
    if !folder.join("subject.toml").is_file() {
        return Err(Refusal::new(format!(
            "--{name} {}: there is no {}",
            text.escape_debug(),
            folder.join("subject.toml").display()
        )));
    }
    let read = Subject::read_folder(&folder)?;
    let subject = read.racing(name, name, workload);
    Ok(Named { subject, written: title.clone(), title, of, commit, tree: own })
}

/// What keeps each side that has a tree apart from the other one, and from the project's working tree.
pub(super) fn apart(project: &Project, sides: &[Named; 2]) -> [Option<SeparateTrees>; 2] {
    let working = trees::top(&project.root);
    [0, 1].map(|at| {
        let other = sides[1 - at].tree.as_deref().unwrap_or(&working);
        sides[at].tree.as_ref().map(|own| SeparateTrees::new(own, &[&working, other]))
    })
}

/// The subject's folder in a tree: the tree itself, if that is one.
fn in_folder(tree: &Path, subject: &str) -> PathBuf {
    let is_itself = subject == "." || tree.join("subject.toml").is_file();
    if is_itself { tree.to_path_buf() } else { tree.join("subjects").join(subject) }
}

/// The subject that is gated.
fn subject(flags: &GateFlags, experiment: &Experiment) -> Result<String, Refusal> {
    let refused = |says: String| Err(Refusal::new(says));
    match (&flags.server, &experiment.subjects) {
        (Some(name), _) if name == "." || is_file_name(name) => Ok(name.clone()),
        (Some(name), _) => refused(format!("--server `{}` is not a name", name.escape_debug())),
        (None, Subjects::Named(names)) if names.len() == 1 => Ok(names[0].clone()),
        (None, Subjects::Named(names)) => refused(format!(
            "{} has {} servers, and a gate is about one: name it with --server ({})",
            experiment.source.name,
            names.len(),
            names.join(", ")
        )),
        (None, Subjects::All) => refused(format!(
            "{} takes all servers, and a gate is about one: name it with --server",
            experiment.source.name
        )),
    }
}
