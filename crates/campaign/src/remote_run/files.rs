//! The files of a project that take part in a run: read where they are, and written where they are sent.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use lab::Refusal;
use lab::subject::Subject;
use post::{PROJECT_BYTES_MAX, PROJECT_FOLDERS, ProjectFile, ProjectFiles};

use crate::Campaign;
use crate::remains::part_in;

/// So many projects that were sent are kept.
const KEPT: usize = 16;

/// All files that a campaign needs where its servers run: its subjects with what they are laid over and their probes,
/// all workloads, and the published figures. The experiment travels as a text.
pub fn files_of(campaign: &Campaign) -> Result<ProjectFiles, Refusal> {
    let root = &campaign.project.root;
    let mut folders = BTreeSet::new();
    let subjects = campaign.members.iter().filter_map(|member| member.subject.as_ref().ok());
    for Subject { name, from, probe, .. } in subjects {
        folders.insert(PathBuf::from("subjects").join(name));
        let from = from.as_deref().and_then(|folder| folder.strip_prefix(root).ok());
        folders.extend(from.map(Path::to_path_buf));
        folders.extend(probe.iter().map(|probe| PathBuf::from("probes").join(probe)));
    }
    let workloads = campaign.project.workloads().into_iter();
    let mut alone: BTreeSet<PathBuf> =
        workloads.map(|name| PathBuf::from("workloads").join(format!("{name}.toml"))).collect();
    alone.extend(campaign.history.iter().map(|file| PathBuf::from(&file.name)));
    let mut files = Collected::default();
    for folder in folders {
        // Of a subject that cannot be read nothing travels.
        if root.join(&folder).is_dir() {
            files.folder(root, &folder)?;
        }
    }
    alone.iter().try_for_each(|file| files.file(root, file))?;
    files.done()
}

/// All files of a folder that is a project's, or that was sent as one.
pub(super) fn files_below(root: &Path) -> Result<ProjectFiles, Refusal> {
    let mut files = Collected::default();
    for room in PROJECT_FOLDERS.map(Path::new) {
        if root.join(room).is_dir() {
            files.folder(root, room)?;
        }
    }
    files.done()
}

/// The files of one folder, as those of `subjects/NAME` or `probes/NAME`.
pub(super) fn files_in(folder: &Path, name: &str) -> Result<ProjectFiles, Refusal> {
    let mut files = Collected::default();
    files.folder(folder, Path::new(""))?;
    for file in &mut files.all {
        file.name = format!("{name}/{}", file.name);
    }
    files.done()
}

#[derive(Default)]
struct Collected {
    all: Vec<ProjectFile>,
    bytes: u64,
}

impl Collected {
    fn folder(&mut self, root: &Path, below: &Path) -> Result<(), Refusal> {
        let folder = root.join(below);
        for entry in fs::read_dir(&folder).map_err(|error| Refusal::at(&folder, error))? {
            let entry = entry.map_err(|error| Refusal::at(&folder, error))?;
            let kind = entry.file_type().map_err(|error| Refusal::at(&entry.path(), error))?;
            let path = below.join(entry.file_name());
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => self.folder(root, &path)?,
                (false, true) => self.file(root, &path)?,
                (false, false) => {
                    let says = io::Error::other("it is neither a file nor a folder");
                    return Err(Refusal::at(&entry.path(), says));
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, root: &Path, name: &Path) -> Result<(), Refusal> {
        let path = root.join(name);
        let failed = |error: io::Error| Refusal::at(&path, error);
        let Some(name) = name.to_str() else {
            return Err(failed(io::Error::other("its name is not text")));
        };
        let about = fs::metadata(&path).map_err(failed)?;
        self.bytes += about.len();
        // Nothing is read that is longer than what may travel.
        if (PROJECT_BYTES_MAX as u64) < self.bytes {
            return Err(failed(io::Error::other(format!(
                "the files are more than {} MiB; was something built in place?",
                PROJECT_BYTES_MAX >> 20
            ))));
        }
        let is_executable = about.permissions().mode() & 0o100 != 0;
        let bytes = fs::read(&path).map_err(failed)?;
        self.all.push(ProjectFile { name: name.into(), is_executable, bytes });
        Ok(())
    }

    fn done(self) -> Result<ProjectFiles, Refusal> {
        ProjectFiles::new(self.all).map_err(Refusal::new)
    }
}

/// The folder that has exactly the files of this digest, if they were sent before.
pub(super) fn sent_before(folder: &Path, digest: &str) -> Option<(PathBuf, ProjectFiles)> {
    let root = folder.join(digest);
    if !is_digest(digest) || !root.is_dir() {
        return None;
    }
    let files = files_below(&root).ok()?;
    (files.digest() == digest).then_some((root, files))
}

fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Writes files that were sent into a folder named after their digest; whole, or not at all.
pub(super) fn unpack(folder: &Path, files: &ProjectFiles) -> Result<PathBuf, Refusal> {
    let root = folder.join(files.digest());
    let part = part_in(folder);
    let done = write_all(files, &part, &root);
    if done.is_err() {
        let _ = remove(&part);
    }
    done.map_err(|error| Refusal::at(folder, error))?;
    remove_oldest(folder);
    Ok(root)
}

/// Writes the files into `part`, which then becomes `root`.
fn write_all(files: &ProjectFiles, part: &Path, root: &Path) -> io::Result<()> {
    remove(part)?;
    let mut owned = DirBuilder::new();
    owned.recursive(true).mode(0o700);
    owned.create(part)?;
    for file in files.all() {
        let path = part.join(&file.name);
        owned.create(path.parent().unwrap_or(part))?;
        let mode = if file.is_executable { 0o700 } else { 0o600 };
        let mut to = File::options().write(true).create_new(true).mode(mode).open(&path)?;
        to.write_all(&file.bytes)?;
    }
    remove(root)?;
    fs::rename(part, root)
}

/// Of the projects that were sent, the newest are kept: they may be used again.
fn remove_oldest(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sent: Vec<_> = entries
        .filter(|entry| is_digest(&entry.file_name().to_string_lossy()))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    sent.sort();
    for (_, path) in sent.iter().rev().skip(KEPT) {
        // What cannot be removed now can be later.
        let _ = remove(path);
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
