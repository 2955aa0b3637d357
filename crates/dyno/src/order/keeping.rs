//! The flags of `dyno load` about what becomes of its results: kept, repeated, or shown in another tool's shape.

use std::path::PathBuf;

use clap::Args;
use lab::amounts;
use report::load::Tool;

use crate::history::HistoryFlags;
use crate::one_of::one_of;
use crate::shell::Refusal;
use crate::stores::StoreFlag;

#[derive(Args)]
#[command(mut_arg("store", |store| store.requires("keep")))]
pub(crate) struct KeepingFlags {
    /// Keep the load in the store, for `dyno report`, `dyno view` and `dyno compare`
    #[arg(long)]
    pub(crate) keep: bool,
    #[command(flatten)]
    pub(crate) store: StoreFlag,
    /// How often the load is repeated; each figure then gets a 95 % interval over the rounds [1]
    #[arg(long, value_name = "N", value_parser = rounds)]
    pub(crate) rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) history: HistoryFlags,
    /// Print what this tool would print, for scripts that read it; the verdict goes to standard error
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["format", "json", "markdown", "rounds"])]
    #[arg(value_parser = one_of(Tool::ALL, Tool::name, Tool::meaning))]
    pub(crate) like: Option<Tool>,
    /// wrk's scripts are not run
    #[arg(short = 's', long = "script", value_name = "FILE", hide = true)]
    script: Option<PathBuf>,
}

/// A run has no more rounds than this.
const ROUNDS_MAX: u64 = 1_000;

fn rounds(text: &str) -> Result<u32, String> {
    match amounts::count(text)? {
        count if count <= ROUNDS_MAX => Ok(count as u32),
        _ => Err("at most 1,000 rounds".into()),
    }
}

impl KeepingFlags {
    pub(crate) fn refuse_script(&self) -> Result<(), Refusal> {
        match &self.script {
            None => Ok(()),
            Some(path) => Err(Refusal::new(format!(
                "-s {}: dyno runs no Lua script; say by flags what the script does: --method, --header, --body, and \
                 {{seq}} or {{random:8}} where each request is to differ",
                path.display()
            ))),
        }
    }

    /// How many loads there are.
    pub(crate) fn loads(&self) -> u32 {
        self.rounds.unwrap_or(1)
    }
}
