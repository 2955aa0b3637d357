//! `dyno audit`: which rows of published results cannot be true or should not be ranked.

use std::path::Path;

use ::audit::{Format, Source, Stated, Unreadable};
use clap::Args;
use lab::amounts;
use report::paint::Line;
use requests::file;

use crate::one_of::one_of;
use crate::results::{OF_FIGURES, ResultFlags};
use crate::shell::{ExitStatus, Refusal};

/// Say which results of other load generators cannot be true, and why
///
/// Reads what wrk, wrk2, oha, hey, ab, k6 and h2load print, oha's and k6's JSON, the data files of TechEmpower, HttpArena
/// and the-benchmarker, and `dyno load --json`, and says which rows cannot be true or should not be ranked. A format is
/// recognised by its content. Nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AuditFlags {
    /// Results; - is standard input
    #[arg(required = true)]
    files: Vec<String>,
    /// The most requests that were in flight at once, for files that do not say it (oha, hey, k6, h2load)
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    connections: Option<u64>,
    /// The unit of times that have none in the file
    #[arg(long, value_name = "UNIT", value_parser = one_of(UNITS, |it| it.0, |it| it.1))]
    times_in: Option<Unit>,
    /// Also list every row that was found
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    results: ResultFlags<OF_FIGURES>,
}

/// A unit's name, what it means, and its nanoseconds.
type Unit = (&'static str, &'static str, f64);

const UNITS: [Unit; 4] = [
    ("ns", "nanoseconds", 1.0),
    ("us", "microseconds", 1e3),
    ("ms", "milliseconds", 1e6),
    ("s", "seconds", 1e9),
];

const AFTER_HELP: &str = "\
docs/audit.md has the rules. Those for which a file lacks the figures are not applied, and are listed.

Examples:
  # one result
  dyno audit wrk.txt
  # hey does not print how many connections it had
  dyno audit hey.txt --connections 50
  # a board's data, every row that was found
  dyno audit data.json --times-in s --full
  # for an issue
  dyno audit results.json --markdown

Exit codes:
  0    no row raises a doubt
  1    rows were found that cannot be true or should not be ranked
  2    a file cannot be read or has none of the formats (the others are shown), or no file has a row";

/// A board's data is a few megabytes.
const LARGEST: u64 = 64 << 20;

pub(crate) fn run(flags: &AuditFlags) -> Result<ExitStatus, Refusal> {
    let read: Vec<_> = flags.files.iter().map(|file| ("FILE", Path::new(file))).collect();
    flags.results.check(&read)?;
    flags.results.to_the_end(|| audited(flags))
}

fn audited(flags: &AuditFlags) -> Result<ExitStatus, Refusal> {
    let stated = Stated {
        connections: flags.connections.map(|connections| connections as f64),
        time_unit_ns: flags.times_in.map(|(.., ns)| ns),
    };
    let (sources, refused) = read_all(&flags.files, stated);
    let refusal = || {
        let formats: Vec<&str> = Format::ALL.into_iter().map(Format::meaning).collect();
        let (why, formats) = (refused.join("\ndyno: "), formats.join(", "));
        Refusal::new(format!("{why}\nWhat can be audited: {formats}."))
    };
    if sources.is_empty() {
        return Err(refusal());
    }
    let audit = ::audit::audit(sources);
    let Some(verdict) = audit.verdict() else {
        return Err(Refusal::new("none of the files has a row; name files that hold results"));
    };
    flags.results.deliver(&audit, flags.full)?;
    if !refused.is_empty() {
        return Err(refusal());
    }
    Ok(match verdict {
        analysis::Verdict::Valid => ExitStatus::Yes,
        analysis::Verdict::Suspect | analysis::Verdict::Invalid => ExitStatus::No,
    })
}

/// All files that can be read, and why the others cannot.
fn read_all(files: &[String], stated: Stated) -> (Vec<Source>, Vec<String>) {
    let (mut sources, mut refused) = (Vec::new(), Vec::new());
    for file in files {
        let name = if file == "-" { "standard input" } else { file };
        // A file's name may hold what a terminal would obey.
        let shown = Line::plain(name).shown(false);
        match content(file) {
            Err(why) => refused.push(format!("{shown}: {why}")),
            Ok(content) => match ::audit::read(name, &content, stated) {
                Ok(source) => sources.push(source),
                Err(why) => refused.push(format!("{shown}: {}", unreadable(&why))),
            },
        }
    }
    (sources, refused)
}

fn content(file: &str) -> Result<Vec<u8>, String> {
    let content = file::read(Path::new(file), LARGEST).map_err(|error| error.to_string())?;
    content.ok_or_else(|| format!("it is larger than {} MiB; audit a part of it", LARGEST >> 20))
}

fn unreadable(why: &Unreadable) -> String {
    match why {
        Unreadable::NoJson(error) => format!(
            "it begins like JSON, but is not JSON: {error}; NaN and Infinity, which Python writes, are not JSON: \
             write null"
        ),
        Unreadable::Unknown => "it has none of the formats that can be audited".into(),
        Unreadable::OwnDocument(schema) => format!(
            "its schema is `{}`, and of what dyno writes only the results of `dyno load --json` are audited, with and \
             without --rounds",
            schema.escape_debug()
        ),
        Unreadable::Empty => "it is empty".into(),
    }
}
