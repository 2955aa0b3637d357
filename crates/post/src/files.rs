//! A project's files as they travel: their names are judged, and one digest is over all of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex;
use crate::line::{LineError, read};
use crate::parcel::{text, written};

/// The folders that a project has.
pub const PROJECT_FOLDERS: [&str; 4] = ["subjects", "workloads", "probes", "experiments"];
/// The folders whose files say what is run: what is below them is trusted folder by folder.
const TRUSTED: [&str; 2] = ["subjects", "probes"];
/// No project has more files, or longer ones in all.
const FILES_MAX: usize = 20_000;
pub const PROJECT_BYTES_MAX: usize = 128 << 20;
/// As they are written.
const WRITTEN_MAX: usize = 192 << 20;
const NAME_MAX: usize = 512;
const DEPTH_MAX: usize = 24;

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// From the project's root, with `/`.
    pub name: String,
    pub is_executable: bool,
    #[serde(with = "text")]
    pub bytes: Vec<u8>,
}

/// The files of a project that take part in a run; sorted, and none twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFiles(Vec<ProjectFile>);

/// A folder that has to be trusted, and the digest of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFolder {
    /// `subjects/NAME` or `probes/NAME`.
    pub name: String,
    pub digest: String,
}

impl ProjectFiles {
    /// These files, or what is wrong with them.
    pub fn new(mut files: Vec<ProjectFile>) -> Result<ProjectFiles, String> {
        let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
        if FILES_MAX < files.len() || PROJECT_BYTES_MAX < bytes {
            return Err(format!(
                "{} files with {} MiB are too many: a project has at most {FILES_MAX} with {} MiB in all; was \
                 something built in place?",
                files.len(),
                bytes >> 20,
                PROJECT_BYTES_MAX >> 20
            ));
        }
        if let Some(file) = files.iter().find(|file| !is_name(&file.name)) {
            return Err(format!("`{}` is not a file of a project", file.name.escape_debug()));
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        match files.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(format!("{} is there twice", pair[0].name)),
            None => Ok(ProjectFiles(files)),
        }
    }

    #[must_use]
    pub fn all(&self) -> &[ProjectFile] {
        &self.0
    }

    /// One SHA-256 over all names, modes and bytes.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(self.0.iter().map(|file| (file.name.as_str(), file)))
    }

    /// The folders whose owner must trust them, each with a digest that does not depend on where the folder is.
    #[must_use]
    pub fn folders(&self) -> Vec<TrustedFolder> {
        let mut folders: BTreeMap<&str, Vec<(&str, &ProjectFile)>> = BTreeMap::new();
        for file in &self.0 {
            let mut slashes = file.name.match_indices('/').map(|(at, _)| at);
            let room = slashes.next().map(|at| &file.name[..at]);
            if !room.is_some_and(|room| TRUSTED.contains(&room)) {
                continue;
            }
            // A file that is in no folder is a folder of its own.
            let end = slashes.next().unwrap_or(file.name.len());
            let rest = file.name.get(end + 1..).unwrap_or_default();
            folders.entry(&file.name[..end]).or_default().push((rest, file));
        }
        let trusted = |(name, files): (&str, Vec<(&str, &ProjectFile)>)| TrustedFolder {
            name: name.into(),
            digest: digest(files.into_iter()),
        };
        folders.into_iter().map(trusted).collect()
    }

    pub fn encode(&self) -> Result<Vec<u8>, LineError> {
        written(&self.0, WRITTEN_MAX)
    }

    /// Files that came from elsewhere.
    pub fn decode(bytes: &[u8]) -> Result<ProjectFiles, String> {
        let files: Vec<ProjectFile> = read(bytes).map_err(|error| error.to_string())?;
        ProjectFiles::new(files)
    }
}

fn digest<'f>(files: impl Iterator<Item = (&'f str, &'f ProjectFile)>) -> String {
    let mut hash = Sha256::new();
    hash.update(b"dyno files 1\n");
    for (name, file) in files {
        for part in [name.as_bytes(), &[u8::from(file.is_executable)], &file.bytes] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    hex(&hash.finalize())
}

/// Whether it is a file's name in one of a project's folders, on every system the same.
fn is_name(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is_part = |part: &&str| {
        !["", ".", ".."].contains(part)
            && part.len() <= 255
            && !part.chars().any(|letter| letter.is_control() || letter == '\\')
    };
    name.len() <= NAME_MAX
        && (2..=DEPTH_MAX).contains(&parts.len())
        && PROJECT_FOLDERS.contains(&parts[0])
        && parts.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> ProjectFile {
        ProjectFile { name: name.into(), is_executable: false, bytes: bytes.to_vec() }
    }

    #[test]
    fn a_file_outside_a_projects_folders_is_refused() {
        let bad = [
            "",
            "/etc/passwd",
            "subjects",
            "subjects/",
            "subjects/../x",
            "subjects//x",
            "./subjects/x",
            "other/x",
            "subjects/a\0b",
            "subjects/a\nb",
            "subjects/a\\b",
            "..",
            "subjects/./x",
        ];
        for name in bad {
            assert!(ProjectFiles::new(vec![file(name, b"")]).is_err(), "{name:?}");
        }
        let long = format!("subjects/{}", "x".repeat(256));
        assert!(ProjectFiles::new(vec![file(&long, b"")]).is_err());
        let deep = format!("subjects{}", "/x".repeat(DEPTH_MAX));
        assert!(ProjectFiles::new(vec![file(&deep, b"")]).is_err());
        let good = ["subjects/a/subject.toml", "workloads/x.toml", "subjects/ä b/..x"];
        assert!(ProjectFiles::new(good.map(|name| file(name, b"")).to_vec()).is_ok());
        let twice = vec![file("workloads/a", b"1"), file("workloads/a", b"2")];
        assert!(ProjectFiles::new(twice).unwrap_err().contains("twice"));
    }

    #[test]
    fn every_name_mode_and_byte_is_in_the_digest() {
        let digest = |files: Vec<ProjectFile>| ProjectFiles::new(files).unwrap().digest();
        let one = digest(vec![file("workloads/a", b"1"), file("workloads/b", b"2")]);
        assert_eq!(one, digest(vec![file("workloads/b", b"2"), file("workloads/a", b"1")]));
        let mut all = vec![one];
        all.push(digest(vec![file("workloads/a", b"12"), file("workloads/b", b"")]));
        all.push(digest(vec![file("workloads/a", b"1"), file("workloads/c", b"2")]));
        all.push(digest(vec![file("workloads/a", b"1")]));
        let runs = ProjectFile { is_executable: true, ..file("workloads/a", b"1") };
        all.push(digest(vec![runs, file("workloads/b", b"2")]));
        let mut once = all.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), all.len());
    }

    #[test]
    fn a_folder_is_the_same_wherever_it_is_and_another_if_a_file_is() {
        let files = |folder: &str, text: &[u8]| {
            let names = [format!("{folder}/subject.toml"), format!("{folder}/src/a.c")];
            let files =
                vec![file(&names[0], b"x"), file(&names[1], text), file("workloads/w", b"y")];
            ProjectFiles::new(files).unwrap().folders()
        };
        let [one] = &files("subjects/a", b"1")[..] else { panic!("one folder") };
        assert_eq!(one.name, "subjects/a");
        assert_eq!(files("subjects/b", b"1")[0].digest, one.digest);
        assert_ne!(files("subjects/a", b"2")[0].digest, one.digest);
        let alone = ProjectFiles::new(vec![file("probes/p", b"z")]).unwrap().folders();
        assert_eq!(alone[0].name, "probes/p");
    }

    #[test]
    fn files_are_read_as_they_were_written() {
        let files = ProjectFiles::new(vec![file("subjects/a/x", b"\0\xff\n")]).unwrap();
        assert_eq!(ProjectFiles::decode(&files.encode().unwrap()), Ok(files));
        assert!(ProjectFiles::decode(b"[{}]").is_err());
        let outside = br#"[{"name":"../x","is_executable":true,"bytes":""}]"#;
        assert!(ProjectFiles::decode(outside).unwrap_err().contains("not a file of a project"));
    }
}
