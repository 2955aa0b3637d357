//! What the owner of a host lets others run on it: subjects and probes whose files have a known digest.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use lab::Refusal;
use lab::subject::is_file_name;
use post::{ProjectFiles, TrustedFolder};

use super::files::{files_below, files_in};
use crate::places;

/// The digests that are trusted, each with the folder that had it when it was.
#[derive(Default)]
pub(super) struct Trusted(BTreeMap<String, String>);

/// The list of what is trusted.
pub fn path() -> Result<PathBuf, Refusal> {
    Ok(places::state()?.join("trusted"))
}

impl Trusted {
    pub(super) fn read() -> Result<Trusted, Refusal> {
        let path = path()?;
        let about = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Trusted::default()),
            about => about.map_err(|error| Refusal::at(&path, error))?,
        };
        if about.permissions().mode() & 0o022 != 0 {
            let says = "others may write to it, so it is not trusted; chmod 600";
            return Err(Refusal::at(&path, says));
        }
        let text = fs::read_to_string(&path).map_err(|error| Refusal::at(&path, error))?;
        let pairs = text.lines().filter_map(|line| line.split_once("  "));
        Ok(Trusted(pairs.map(|(digest, name)| (digest.into(), name.into())).collect()))
    }

    fn write(&self) -> Result<(), Refusal> {
        let path = path()?;
        let part = path.with_extension(format!("part-{}", std::process::id()));
        let text: String =
            self.0.iter().map(|(digest, name)| format!("{digest}  {name}\n")).collect();
        replace(&path, &part, &text).map_err(|error| Refusal::at(&path, error))
    }

    /// Those of the folders with what is run that are not trusted.
    pub(super) fn lacks(&self, files: &ProjectFiles) -> Vec<TrustedFolder> {
        let mut folders = files.folders();
        folders.retain(|folder| !self.0.contains_key(&folder.digest));
        folders
    }
}

/// Writes a file whole or not at all.
fn replace(path: &Path, part: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(part, path)
}

/// Trusts the files of a subject or a probe, or of all of a project, as they are now.
pub fn trust(folder: &Path) -> Result<Vec<TrustedFolder>, Refusal> {
    let folder = fs::canonicalize(folder).map_err(|error| Refusal::at(folder, error))?;
    let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_file_name(name));
    let has = |file: &str| folder.join(file).is_file();
    let files = match (name, has("subject.toml"), has("probe.toml")) {
        (Some(name), true, _) => files_in(&folder, &format!("subjects/{name}"))?,
        (Some(name), false, true) => files_in(&folder, &format!("probes/{name}"))?,
        _ if folder.join("subjects").is_dir() => files_below(&folder)?,
        _ => {
            return Err(Refusal::new(format!(
                "{}: neither a project (`subjects/` and `workloads/` make one) nor the folder of a server or a probe",
                folder.display()
            )));
        }
    };
    let folders = files.folders();
    let mut trusted = Trusted::read()?;
    for TrustedFolder { name, digest } in &folders {
        trusted.0.insert(digest.clone(), name.clone());
    }
    trusted.write()?;
    Ok(folders)
}
