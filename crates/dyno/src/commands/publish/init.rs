//! `dyno publish --init DIR`: writes the files of a new board.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use archive::keep;
use units::count;

use crate::shell::{ExitStatus, Refusal, print};

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
fn write(folder: &Path, files: &[(&str, String, bool)]) -> Result<(), String> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => {}
        Ok(false) => {
            return Err(
                "this folder is not empty, and nothing in it is to be overwritten; name a new one"
                    .into(),
            );
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(format!("{error}; name a new folder")),
    }
    let files = files.iter().map(|(path, text, is_program)| (*path, text.as_bytes(), *is_program));
    keep::create(folder, files).map_err(|(_, error)| error.to_string())
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
