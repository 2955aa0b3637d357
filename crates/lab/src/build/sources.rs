//! The files of which a build is made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{BuildError, Recipe};

/// No subject's folder is larger than this.
const SOURCES_MAX: u64 = 64 << 20;

/// The files that make up a recipe: where they are, and their places in the build; sorted, later folders over earlier.
pub(super) fn sources(recipe: Recipe<'_>) -> Result<Vec<(PathBuf, PathBuf)>, BuildError> {
    let mut files = std::collections::BTreeMap::new();
    let mut size = 0;
    for folder in recipe.folders.into_iter().flatten() {
        collect(folder, Path::new(""), &mut files, &mut size)
            .map_err(|error| BuildError::Io(folder.to_path_buf(), error))?;
    }
    Ok(files.into_iter().map(|(path, from)| (from, path)).collect())
}

fn collect(
    folder: &Path,
    below: &Path,
    files: &mut std::collections::BTreeMap<PathBuf, PathBuf>,
    size: &mut u64,
) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(folder, &path, files, size)?;
        } else if kind.is_file() {
            *size += entry.metadata()?.len();
            if SOURCES_MAX < *size {
                return Err(io::Error::other(
                    "more than 64 MiB of sources; was it built in place?",
                ));
            }
            files.insert(path, entry.path());
        } else {
            let says = format!("`{}` is neither a file nor a folder", path.display());
            return Err(io::Error::other(says));
        }
    }
    Ok(())
}
