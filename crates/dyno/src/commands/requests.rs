//! `dyno requests`: writes a file of requests from what a browser or a proxy recorded.

use std::path::PathBuf;

use archive::keep;
use clap::Args;
use requests::{file, har};

use crate::shell::{self, ExitStatus, Refusal};

/// Write a file of requests for `dyno load --requests` from what a browser recorded
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RequestsFlags {
    /// A HAR file, as the network panel of a browser saves it; - is standard input
    #[arg(long, value_name = "FILE")]
    from_har: PathBuf,
    /// Take the requests to this origin, https://shop.example:8443 [that of the first request]
    #[arg(long, value_name = "ORIGIN", value_parser = har::origin)]
    origin: Option<String>,
    /// Write the requests to this file [standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Each request becomes a line: method, path, headers, body, and the status that was answered as the status that is \
expected. What belongs to a connection (Host, Content-Length, …) is left out. Requests to other origins and those that \
cannot be sent again are left out, and counted on standard error.

Examples:
  dyno requests --from-har shop.har -o shop.jsonl
  dyno load localhost:8080 --requests shop.jsonl

Exit codes:
  0  written
  2  there is no request in it, it is no HAR file, or the output cannot be written";

pub(crate) fn run(flags: &RequestsFlags) -> Result<ExitStatus, Refusal> {
    if let Some(path) = &flags.output {
        keep::check_all(&[("--output", path)], &[("--from-har", &flags.from_har)])?;
    }
    let source = file::text("--from-har", &flags.from_har)?;
    let taken = har::take(&source, flags.origin.as_deref())?;
    match &flags.output {
        Some(path) => keep::write_for("--output", path, &taken.text)?,
        None => drop(shell::print(&taken.text)?),
    }
    taken.notes.iter().for_each(|note| terminal::notice(&format!("dyno: {note}")));
    Ok(ExitStatus::Yes)
}
