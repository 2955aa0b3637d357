//! `dyno publish`: the site of a folder of public runs.

mod init;

use std::fs;
use std::path::{Path, PathBuf};

use board::{Built, Disk, PARTS};
use clap::Args;
use units::{bytes, count, counted};

use crate::shell::{ExitStatus, Refusal};
use crate::signing::signature;

/// Make a site of a folder of public runs
///
/// Reads board.toml and every file below runs/ in the folder, computes every figure anew from the counts in the files, and
/// writes pages: the newest round's answer, a page for each workload and class of machines, each server and each run,
/// badges, a feed, and the rows as data. Equal folders make equal sites, byte for byte. The site needs no server: its
/// pages work from a disk. A file that cannot be read is listed with its reason, and the rest is built.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PublishFlags {
    /// The folder, which has board.toml
    #[arg(value_name = "FOLDER", required_unless_present = "init")]
    folder: Option<PathBuf>,
    /// Where the site is written: a new folder, an empty one, or an earlier site, which it replaces
    #[arg(short = 'o', long, value_name = "SITE", required_unless_present = "init")]
    output: Option<PathBuf>,
    /// Write the files of a new board into this folder, a new or an empty one: settings, rules, and CI that verifies
    #[arg(long, value_name = "DIR", exclusive = true)]
    init: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
docs/board.md describes the folder and the pages.

Examples:
  # the site of the folder `board`
  dyno publish board -o site
  # the files of a new board, which people fork
  dyno publish --init my-board

Exit codes:
  0    the site or the new board was written; files that were refused are listed
  2    the folder cannot be read or is no place for a new board, or the site cannot be written";

/// So many files that were refused are named.
const NAMED: usize = 20;

pub(crate) fn run(flags: &PublishFlags) -> Result<ExitStatus, Refusal> {
    if let Some(folder) = &flags.init {
        return init::init(folder);
    }
    let both = flags.folder.as_ref().zip(flags.output.as_ref());
    let (folder, output) = both.expect("both are required without --init");
    if !folder.is_dir() {
        let says = "there is no such folder; `dyno publish --init DIR` makes one";
        return Err(Refusal::at(folder, says));
    }
    make_room(output)?;
    let disk = Disk { folder: folder.clone(), site: output.clone(), signed };
    let built = board::site(&disk).map_err(|says| Refusal::at(folder, says))?;
    tell(&built);
    let Built { runs, rows, files, bytes: size, .. } = built;
    let says = format!(
        "{}: {} with {} in {} ({})\n",
        output.join("index.html").display(),
        counted(runs as u64, "run", "runs"),
        counted(rows as u64, "row", "rows"),
        counted(files as u64, "file", "files"),
        bytes(size)
    );
    terminal::print(&says)?;
    Ok(ExitStatus::Yes)
}

fn signed(file: &Path, signers: &Path) -> String {
    signature(file, Some(signers).filter(|signers| signers.is_file())).says()
}

/// Removes what an earlier site left there, and nothing else.
fn make_room(output: &Path) -> Result<(), Refusal> {
    let refused = |error: std::io::Error| Refusal::new(format!("-o {}: {error}", output.display()));
    if !output.exists() {
        return Ok(());
    }
    let is_empty = fs::read_dir(output).map_err(refused)?.next().is_none();
    if !is_empty && !board::is_site(output) {
        return Err(Refusal::new(format!(
            "-o {}: it has other files than those of a site; name a new folder",
            output.display()
        )));
    }
    for part in PARTS.map(|part| output.join(part)) {
        let removed =
            if part.is_dir() { fs::remove_dir_all(&part) } else { fs::remove_file(&part) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(refused(error));
            }
            Err(_) | Ok(()) => {}
        }
    }
    Ok(())
}

/// What a maintainer of the board has to know.
fn tell(built: &Built) {
    for refused in built.refused.iter().take(NAMED) {
        terminal::notice(&format!("dyno: {}: refused: {}", refused.file, refused.why));
    }
    if NAMED < built.refused.len() {
        let more = (built.refused.len() - NAMED) as u64;
        terminal::notice(&format!(
            "dyno: {} more files are refused; r/index.html lists all",
            count(more)
        ));
    }
    for (round, answer) in &built.unfrozen {
        terminal::notice(&format!(
            "dyno: rounds/{round}.toml has no `sentences` yet; its runs answer: {}",
            answer.join(" ")
        ));
    }
}
