//! `dyno runs verify`: computes what public files claim anew.

use std::path::{Path, PathBuf};

use clap::Args;
use public::{Level, PACKED_MAX, PublicRun, Verified, verify};
use requests::file;
use units::{counted, visible};

use crate::shell::{ExitStatus, Refusal, print};
use crate::signing::{Signed, signature};

/// Compute everything that public files claim anew from their counts, and compare
///
/// A file is *intact* if its content is that of its id, and *consistent* if besides every figure, interval, doubt and
/// verdict that it claims follows from its counts and histograms.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct VerifyFlags {
    /// Files that `dyno runs export --public` wrote
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Who may sign: lines of a name and a key, as ssh-keygen reads them
    #[arg(long, value_name = "FILE")]
    signers: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
What nothing in a file contradicts, no recomputation finds: counts that were invented together, or a whole server or \
run that was left out. A signature says who vouches for a file (FILE.sig beside it), and a repetition by somebody else \
whether it is true.

Examples:
  dyno runs verify run.dyno
  dyno runs verify --signers signers runs/*.dyno

Exit codes:
  0    every file is consistent
  1    a file is intact, and something that it claims differs or could not be recomputed
  2    a file cannot be read, is not intact, or its signature is wrong or could not be checked";

/// So many differences are printed of each file.
const SHOWN: usize = 20;

pub(super) fn run(flags: &VerifyFlags) -> Result<ExitStatus, Refusal> {
    let mut worst = ExitStatus::Yes;
    for path in &flags.files {
        let status = match read(path) {
            Ok(run) => {
                let found = verify(&run);
                let signed = signature(path, flags.signers.as_deref());
                print(&format!("{}  {}\n", says(path, &run, &found), signed.says()))?;
                match signed {
                    Signed::Bad(_) | Signed::Unchecked(_) => ExitStatus::CouldNotTell,
                    _ if found.level == Level::Consistent => ExitStatus::Yes,
                    Signed::No | Signed::By(_) | Signed::ByUnknown(_) => ExitStatus::No,
                }
            }
            Err(refusal) => {
                print(&format!("refused: {refusal}\n"))?;
                ExitStatus::CouldNotTell
            }
        };
        worst = if worst as u8 <= status as u8 { status } else { worst };
    }
    Ok(worst)
}

/// Reads a public file.
pub(super) fn read(path: &Path) -> Result<PublicRun, Refusal> {
    let unlike = |says: &str| {
        let way_out = "name a file that `dyno runs export --public` wrote";
        Refusal::at(path, format!("{says}; {way_out}"))
    };
    let bytes = file::read(path, PACKED_MAX as u64).map_err(|error| unlike(&error.to_string()))?;
    let bytes = bytes.ok_or_else(|| unlike("it is too large for a public file"))?;
    if !PublicRun::is_one(&bytes) {
        return Err(unlike("it is not a public file"));
    }
    PublicRun::read(&bytes).map_err(|says| Refusal::at(path, says))
}

fn says(path: &Path, run: &PublicRun, found: &Verified) -> String {
    let mut text = format!(
        "{}: {}\n  id {}\n  `{}`, {}, measured by dyno {}\n  its author claims: the store has {} and {}\n",
        path.display(),
        found.level.name(),
        run.id,
        visible(&run.record.name),
        counted(run.trials.len() as u64, "trial", "trials"),
        visible(&run.record.dyno),
        counted(
            u64::from(run.lineage.finished),
            "finished run of this experiment",
            "finished runs of this experiment"
        ),
        counted(u64::from(run.lineage.unfinished), "unfinished one", "unfinished ones"),
    );
    for difference in found.differences.iter().take(SHOWN) {
        text.push_str(&format!(
            "  {}: claimed {}, recomputed {}\n",
            visible(&difference.at),
            visible(&difference.claimed),
            visible(&difference.recomputed)
        ));
    }
    if SHOWN < found.differences.len() {
        let more = found.differences.len() - SHOWN;
        text.push_str(&format!(
            "  and {}\n",
            counted(more as u64, "difference more", "differences more")
        ));
    }
    let other = env!("CARGO_PKG_VERSION") != found.claimed_by;
    if other && !found.differences.is_empty() {
        text.push_str(&format!(
            "  dyno {} computed the claims, this is {}: a figure may have been defined otherwise then\n",
            visible(&found.claimed_by),
            env!("CARGO_PKG_VERSION")
        ));
    }
    for says in &found.unrecomputed {
        text.push_str(&format!("  not recomputed: {}\n", visible(says)));
    }
    text
}
