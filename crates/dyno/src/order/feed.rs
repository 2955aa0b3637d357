//! The flags of `dyno load` about what other programs see of a load while it is under way.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::keep;
use clap::Args;
use report::load::RequestSummary;
use terminal::feed::{Feed, Page, Stream};

use crate::shell::Refusal;

#[derive(Args)]
pub(crate) struct FeedFlags {
    /// Write a line of JSON for each second, while the load runs, to standard output (the report then goes to
    /// standard error), or to a file: --stream=FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "-")]
    pub(crate) stream: Option<PathBuf>,
    /// Write the counts so far to this file each second and at the end, in OpenMetrics' text format
    #[arg(long, value_name = "FILE")]
    pub(crate) openmetrics: Option<PathBuf>,
}

impl FeedFlags {
    /// Whether lines of JSON go to standard output, so that nothing else may.
    pub(crate) fn is_on_stdout(&self) -> bool {
        self.stream.as_deref() == Some(Path::new("-"))
    }

    /// Whether these lines appear on the user's terminal, where a live view would disturb them.
    pub(crate) fn is_on_terminal(&self) -> bool {
        self.is_on_stdout() && io::stdout().is_terminal()
    }

    /// Refuses what does not go together, before anything starts.
    pub(crate) fn check(&self, has_json: bool, loads: u32) -> Result<(), Refusal> {
        if 1 < loads && (self.stream.is_some() || self.openmetrics.is_some()) {
            return Err(Refusal::new(
                "--stream and --openmetrics show one load; leave --rounds out, or them",
            ));
        }
        if has_json && self.is_on_stdout() {
            return Err(Refusal::new(
                "--stream and --json, --markdown or --format both write to standard output; write --stream=FILE, or -o FILE for the \
                 results",
            ));
        }
        Ok(())
    }

    /// The files that are to be written, with their flags.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let stream = self.stream.as_deref().filter(|_| !self.is_on_stdout());
        let all = [("--stream", stream), ("--openmetrics", self.openmetrics.as_deref())];
        all.into_iter().filter_map(|(flag, path)| Some((flag, path?)))
    }

    /// Begins to write about a load.
    pub(crate) fn open(
        &self,
        asked: &RequestSummary,
        longest: Option<Duration>,
    ) -> Result<Feed, Refusal> {
        let stream: Option<Stream> = match &self.stream {
            None => None,
            Some(_) if self.is_on_stdout() => {
                Some(("standard output".into(), Box::new(io::stdout())))
            }
            Some(path) => {
                let name = format!("--stream {}", path.display());
                let file =
                    File::create(path).map_err(|error| Refusal::new(format!("{name}: {error}")))?;
                Some((name, Box::new(file)))
            }
        };
        let page = self.openmetrics.clone().map(|path| -> Page {
            let asked = asked.clone();
            Box::new(move |totals| {
                keep::write_for("--openmetrics", &path, totals.openmetrics(&asked))
            })
        });
        Feed::open(stream, page, longest)
    }
}
