//! The page that a run leaves: where it lies, and how it is written.

use std::path::{Path, PathBuf};
use std::{fs, io};

use report::render::Shown;
use report::run::Findings;
use store::{RunId, Store};

use crate::keep;
use crate::kept::{findings, kept};

/// Writes the run's page, whole or not at all.
pub fn leave(findings: &Findings<'_>, pages: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(pages)?;
    let path = path(pages, &findings.id, &findings.run.name);
    keep::write(&path, findings.page())?;
    Ok(path)
}

/// The file of a run's page.
pub fn path(pages: &Path, id: &str, name: &str) -> PathBuf {
    pages.join(format!("{id}-{}.html", file_name(name)))
}

/// A name as a part of a file's name: letters, digits, and other characters without a meaning for the shell.
fn file_name(name: &str) -> String {
    const LONGEST: usize = 60;
    let is_safe = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    name.chars().take(LONGEST).map(|c| if is_safe(c) { c } else { '-' }).collect()
}

/// The shortest path to a file from the current folder.
pub fn near(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let inside = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    inside.unwrap_or_else(|| path.to_path_buf()).display().to_string()
}

/// Writes the page of a run that goes on. What goes wrong is reported at the end, when the page is written again.
pub fn leave_first(store: &Path, id: RunId, pages: &Path) {
    let Ok(store) = Store::open_to_read(store) else { return };
    let Ok(loaded) = kept(&store, id) else { return };
    let findings = findings(&store, id, &loaded);
    if let Ok(path) = leave(&findings, pages) {
        terminal::notice(&format!(
            "the page after the first round: {} (written again at the end)",
            near(&path)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_s_name_is_a_harmless_part_of_a_file_name() {
        assert_eq!(file_name("five-servers_2011.v2"), "five-servers_2011.v2");
        assert_eq!(file_name("../a b/$(x)\n\u{1b}é"), "..-a-b---x----");
        assert_eq!(file_name(&"x".repeat(500)).len(), 60);
    }
}
