//! `dyno servers init DIR`: writes the subjects and experiments that dyno carries into a folder, to be changed there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use archive::keep;
use campaign::embedded;
use clap::Args;
use units::count;

use crate::shell::{ExitStatus, Refusal, print};

/// Write dyno's own servers, experiments and workloads into a folder, to be changed there
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct InitFlags {
    /// The folder: a new one, or one that is empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

const AFTER_HELP: &str = "\
In this folder and below it, dyno uses these files instead of its own, and keeps builds and runs in `.dyno` there.

Examples:
  dyno servers init my-servers
  cd my-servers && dyno servers list

Exit codes:
  0    written
  2    the folder is not empty, or cannot be written to";

pub(super) fn run(flags: &InitFlags) -> Result<ExitStatus, Refusal> {
    let folder = &flags.folder;
    let refused = |error: std::io::Error| Refusal::at(folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(refused(error)),
    };
    if 0 < entries {
        return Err(Refusal::new(format!(
            "{}: this folder is not empty, and nothing in it is to be overwritten; name a new one",
            folder.display()
        )));
    }
    let files = embedded::FILES.iter().map(|file| (file.path, file.bytes, file.is_executable));
    keep::create(folder, files).map_err(|(_, error)| refused(error))?;
    print(&says(folder))
}

fn says(folder: &Path) -> String {
    let files = |prefix: &str, ending: &str| {
        let is_one = |path: &&str| path.starts_with(prefix) && path.ends_with(ending);
        count(embedded::FILES.iter().map(|file| file.path).filter(is_one).count() as u64)
    };
    format!(
        "{} files written into {}:\n  \
         subjects/     {} servers, a folder each\n  \
         experiments/  {} comparisons, a file each, and the figures of the articles that they repeat\n  \
         workloads/    {} kinds of requests and their right answers, a file each\n  \
         probes/       {} probe, which looks inside a runtime\n  \
         services/     {} service, which works beside a server\n\
         next: cd {}; dyno servers list; dyno run demo\n",
        count(embedded::FILES.len() as u64),
        folder.display(),
        files("subjects/", "/subject.toml"),
        files("experiments/", ".toml"),
        files("workloads/", ".toml"),
        files("probes/", "/probe.toml"),
        files("services/", "/service.toml"),
        folder.display(),
    )
}
