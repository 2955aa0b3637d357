//! `dyno publish --init DIR`: writes the files of a new board.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use units::count;

use crate::shell::{ExitStatus, Refusal, print};

/// A file's path in the board, its text, and whether it is a program.
type NewFile = (&'static str, String, bool);

pub(super) fn init(folder: &Path) -> Result<ExitStatus, Refusal> {
    let files = board::init::files();
    write(folder, &files)
        .map_err(|why| Refusal::new(format!("--init {}: {why}", folder.display())))?;
    let (shown, number) = (folder.display(), count(files.len() as u64));
    print(&format!(
        "{number} files are in {shown}: set the question in board.toml, and where dyno's source is in .github/workflows/verify.yml\n\
         next: dyno runs export RUN --public -o {shown}/runs/ID.dyno; {shown}/README.md says how to name and sign it\n\
         then: dyno publish {shown} -o site; and put the folder, without the site, into a repository that people can fork\n"
    ))
}

/// All of them, or none.
fn write(folder: &Path, files: &[NewFile]) -> Result<(), String> {
    let is_new = match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => false,
        Ok(false) => {
            return Err(
                "this folder is not empty, and nothing in it is to be overwritten; name a new one"
                    .into(),
            );
        }
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(format!("{error}; name a new folder")),
    };
    let written = files.iter().try_for_each(|file| write_one(folder, file));
    written.map_err(|error| {
        remove(folder, is_new);
        error.to_string()
    })
}

fn write_one(folder: &Path, (path, text, is_program): &NewFile) -> io::Result<()> {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    let mode = if *is_program { 0o777 } else { 0o666 };
    File::options().write(true).create_new(true).mode(mode).open(path)?.write_all(text.as_bytes())
}

/// What is in the folder was written by this process: it was empty.
fn remove(folder: &Path, with_itself: bool) {
    if with_itself {
        let _ = fs::remove_dir_all(folder);
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gets_all_files_or_none_and_only_if_it_is_empty() {
        let root = std::env::temp_dir().join(format!("dyno-publish-init-{}", std::process::id()));
        fs::create_dir(&root).unwrap();
        let (new, empty) = (root.join("a/new"), root.join("empty"));
        fs::create_dir(&empty).unwrap();
        let file = |path| (path, String::new(), false);
        let no_board = [file("a"), file(".b/c"), file("a/d")];
        write(&new, &no_board).unwrap_err();
        write(&empty, &no_board).unwrap_err();
        assert!(!new.exists() && fs::read_dir(&empty).unwrap().next().is_none());

        init(&new).unwrap();
        init(&empty).unwrap();
        fs::write(new.join("board.toml"), "mine").unwrap();
        let refused = init(&new).err().map(|refusal| refusal.to_string()).unwrap_or_default();
        assert!(refused.contains("--init") && refused.contains("not empty"), "{refused}");
        assert_eq!(fs::read_to_string(new.join("board.toml")).unwrap(), "mine");
        let is_program = |path: &str| {
            let mode = fs::metadata(empty.join(path)).unwrap();
            0 != std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o100
        };
        assert!(is_program("ci/verify.sh") && !is_program(".github/workflows/verify.yml"));
        fs::remove_dir_all(&root).unwrap();
    }
}
