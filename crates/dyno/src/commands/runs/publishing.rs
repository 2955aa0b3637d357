//! A kept run as a public file: without what is private, and with the sources of its servers.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use archive::kept::kept;
use campaign::project::Project;
use lab::build::Recipe;
use lab::record::{Entry, RunRecord};
use lab::subject::Subject;
use public::{Lineage, PublicRun, Words};
use sha2::{Digest, Sha256};
use store::{RunEnd, RunId, Store};

use crate::shell::Refusal;

/// The files of one folder are not larger together in a public file.
const FOLDER_MAX: usize = 200 << 10;
/// What stands in a folder of which a file does not travel.
pub(super) const LEFT_OUT: &str = "LEFT-OUT";

/// A run without what is private, and the notes of what was replaced or left out.
pub(super) fn public_run(
    store: &Store,
    id: RunId,
    project: Option<&Project>,
) -> Result<(PublicRun, BTreeMap<String, usize>), Refusal> {
    let (mut record, trials, damaged) = kept(store, id)?;
    if let Some(damaged) = damaged.first() {
        return Err(Refusal::new(format!(
            "run {id}: {}; a damaged run is not exported",
            damaged.says
        )));
    }
    let runs = store.runs()?;
    let own = runs.iter().find(|run| run.id == id).and_then(|run| run.ended);
    let alike = runs.iter().filter(|run| run.group == record.group());
    let (done, others): (Vec<_>, Vec<_>) =
        alike.partition(|run| matches!(run.ended, Some((_, RunEnd::Done))));
    let lineage = Lineage { finished: done.len() as u32, unfinished: others.len() as u32 };
    let mut notes = BTreeMap::new();
    if let Some(project) = project {
        add_sources(&mut record, project, &mut notes)?;
    }
    let made = PublicRun::of(record, trials, own, lineage, &words(project));
    let (run, replaced) = made.map_err(|says| Refusal::new(format!("run {id}: {says}")))?;
    notes.extend(replaced);
    Ok((run, notes))
}

fn words(project: Option<&Project>) -> Words {
    let variable = |name| std::env::var(name).unwrap_or_default();
    Words {
        home: variable("HOME"),
        project: project.map_or(String::new(), |project| project.root.display().to_string()),
        user: variable("USER"),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
    }
}

/// Adds the files of the folders of which its servers were built, if these are still what was measured.
fn add_sources(
    record: &mut RunRecord,
    project: &Project,
    notes: &mut BTreeMap<String, usize>,
) -> Result<(), Refusal> {
    let cache = project.cache()?;
    // Each with the page of what is in it.
    let mut folders: BTreeMap<PathBuf, String> = BTreeMap::new();
    let takes_part = |entry: &&Entry| entry.skipped.is_none();
    for entry in record.entries.iter().filter(takes_part) {
        let prefix = format!("subjects/{}/", entry.name);
        let manifest = format!("{prefix}subject.toml");
        let Some((_, text)) = record.files.iter().find(|(path, _)| *path == manifest) else {
            continue;
        };
        // An imported run brings its sources along.
        if record.files.iter().any(|(path, _)| path.starts_with(&prefix) && *path != manifest) {
            continue;
        }
        let subject = Subject::read(&project.root, &entry.name).ok();
        let subject = subject.filter(|subject| subject.source.text == *text);
        let folder = |subject: &Subject| cache.folder(Recipe::from(subject)).ok();
        let is_same = |folder: &PathBuf| folder.file_name().is_some_and(|it| *it == *entry.build);
        match subject.filter(|subject| folder(subject).as_ref().is_some_and(is_same)) {
            Some(subject) => {
                let probe = subject.probe.iter().map(|name| project.root.join("probes").join(name));
                folders.extend(probe.map(|folder| (folder, String::new())));
                let own = subject.from.into_iter().chain([subject.folder]);
                folders.extend(own.map(|folder| (folder, subject.home.clone())));
            }
            None => {
                let why = match entry.build.is_empty() {
                    true => "dyno did not build",
                    false => "are no longer those of the run",
                };
                notes.insert(format!("the sources of {}, which {why}", entry.name), 1);
            }
        }
    }
    let services = record.files.iter().filter_map(|(path, _)| {
        path.strip_prefix("services/")?.strip_suffix("/service.toml").map(String::from)
    });
    for name in services {
        folders.insert(project.root.join("services").join(name), String::new());
    }
    for (folder, page) in folders {
        let read = files_of(&folder, &project.root, &page);
        let (files, left_out) = read.map_err(|error| Refusal::at(&folder, error))?;
        if !left_out.is_empty() {
            *notes.entry("files that are too large or no text".into()).or_default() +=
                left_out.lines().count();
        }
        let left_out = (!left_out.is_empty())
            .then(|| (inside(&folder.join(LEFT_OUT), &project.root), left_out));
        for (path, text) in files.into_iter().chain(left_out) {
            if !record.files.iter().any(|(known, _)| *known == path) {
                record.files.push((path, text));
            }
        }
    }
    Ok(())
}

type Files = Vec<(String, String)>;

/// The texts below a folder by their paths from the root, sorted; and a line for each file that is none, with its hash and
/// the page, if that can be linked.
fn files_of(folder: &Path, root: &Path, page: &str) -> io::Result<(Files, String)> {
    let is_link = page.starts_with("https://") && !page.contains(char::is_whitespace);
    let page = if is_link { format!("{page} ") } else { String::new() };
    let (mut texts, mut left_out, mut size) = (Vec::new(), String::new(), 0);
    let mut open = vec![folder.to_path_buf()];
    let mut paths = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => open.push(entry.path()),
                kind if kind.is_file() => paths.push(entry.path()),
                _ => {}
            }
        }
    }
    paths.sort();
    for path in paths {
        let bytes = fs::read(&path)?;
        let name = inside(&path, root);
        match String::from_utf8(bytes) {
            Ok(text) if size + text.len() <= FOLDER_MAX => {
                size += text.len();
                texts.push((name, text));
            }
            other => {
                let bytes = other.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                let hash = units::hex(&Sha256::digest(&bytes));
                left_out.push_str(&format!("{hash} {} {page}{name}\n", bytes.len()));
            }
        }
    }
    Ok((texts, left_out))
}

fn inside(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Writes a public run into a store of its own.
pub(super) fn into_store(run: &PublicRun, path: &Path) -> Result<(), Refusal> {
    let mut store = Store::open(path)?;
    let id = store.begin(&run.record)?;
    store.keep_together(id, &run.trials)?;
    if let Some((at, how)) = run.ended {
        store.end(id, at, how)?;
    }
    Ok(())
}
