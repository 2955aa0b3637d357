//! `dyno compare`: two kept runs, two subjects of them, or two files of `dyno load`.

use std::path::Path;

use analysis::{Gate, GateAnswer};
use archive::kept::{Named, compared, differ, named, number, open};
use clap::Args;
use lab::figure::{Better, Figure, Fold};
use report::load::file::LoadsFile;
use report::run::{Compared, Side};
use requests::file;

use super::gate::share;
use crate::results::{OF_FIGURES, ResultFlags};
use crate::shell::{ExitStatus, Refusal};
use crate::stores::StoreFlag;

/// Compare two kept runs, two servers of them, or two files of `dyno load`
///
/// Two runs of one experiment, row by row (`dyno compare 1 3`), two servers (`dyno compare 1:hyper 3:axum`, or `dyno
/// compare --run 3 hyper axum`), or what `dyno load --json` wrote (`dyno compare a.json b.json`). Each figure is shown
/// as a ratio with its interval; single loads have no interval. Nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompareFlags {
    /// A run, RUN:SERVER, a file of `dyno load --json`, or with --run a server
    a: String,
    /// What is compared with A, in the same form
    b: String,
    /// The run of both servers
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// How much worse B may be
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    tolerance: f64,
    /// Judge every row by this figure, by its name in the JSON (`response_p99_ms`)
    #[arg(long, value_name = "KEY", value_parser = figure)]
    figure: Option<Figure>,
    /// Also print every case of the conformance check that differs
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    store: StoreFlag,
    #[command(flatten)]
    results: ResultFlags<OF_FIGURES>,
}

const AFTER_HELP: &str = "\
Each row is judged by one figure: a closed loop by its throughput, a schedule of requests or sessions by its CPU time \
for 1,000 answers (and by its throughput where A keeps up and B does not), held connections by the memory that each \
takes; or by --figure.

Examples:
  # run 3 against run 1, row by row
  dyno compare 1 3
  # two servers of one run
  dyno compare --run 3 hyper axum
  # two loads, as `dyno load -o FILE` wrote them
  dyno compare before.json after.json
  # a gate: p99 may be at most 10 % worse
  dyno compare 1 3 --figure response_p99_ms --tolerance 10%

Exit codes:
  0    the worse end of every 95 % interval is within the tolerance
  1    B is worse beyond the tolerance and beyond chance, or newly breaks a clause of the RFCs; or A
       or B answered wrongly, or failed more requests than its experiment allows
  2    could not tell: too wide an interval, one round, rounds in doubt, or nothing to compare";

pub(crate) fn run(flags: &CompareFlags) -> Result<ExitStatus, Refusal> {
    let read = [("A", Path::new(&flags.a)), ("B", Path::new(&flags.b))];
    flags.results.check(&read)?;
    flags.results.to_the_end(|| compare(flags))
}

fn compare(flags: &CompareFlags) -> Result<ExitStatus, Refusal> {
    let gate = Gate { tolerance: flags.tolerance, figure: flags.figure };
    if let Some(files) = files(flags)? {
        let [a, b] = files.map(read);
        let (a, b) = (a?, b?);
        let [first, second] = LoadsFile::findings(&a, &b);
        let compared = Compared::of(
            Side { findings: &first, subject: Some(a.subject()) },
            Side { findings: &second, subject: Some(b.subject()) },
            gate,
        );
        return show(flags, &compared);
    }
    let (a, b) = sides(flags)?;
    let (_, path) = flags.store.find()?;
    let store = open(&path)?;
    compared(&store, &a, &b, gate, |compared| show(flags, compared))
}

fn show(flags: &CompareFlags, compared: &Compared<'_>) -> Result<ExitStatus, Refusal> {
    flags.results.deliver(compared, flags.full)?;
    Ok(match compared.answer() {
        GateAnswer::Within => ExitStatus::Yes,
        GateAnswer::Worse | GateAnswer::Failing => ExitStatus::No,
        GateAnswer::CannotTell => ExitStatus::CouldNotTell,
    })
}

/// Both sides, if they are files; refused if only one is.
fn files(flags: &CompareFlags) -> Result<Option<[&str; 2]>, Refusal> {
    if flags.run.is_some() {
        return Ok(None);
    }
    let is_file = |text: &str| text.ends_with(".json") || Path::new(text).is_file();
    let (a, b) = (flags.a.as_str(), flags.b.as_str());
    let refused = |says: String| Err(Refusal::new(says));
    match (is_file(a), is_file(b)) {
        (false, false) => Ok(None),
        (true, true) if flags.store.named().is_some() => {
            refused("--store: files are compared without a store; leave it out".into())
        }
        (true, true) if a == b => {
            refused(format!("A and B are the same file, {}; name two", a.escape_debug()))
        }
        (true, true) => Ok(Some([a, b])),
        (true, false) | (false, true) => refused(format!(
            "`{}` and `{}`: one is a file and the other is not; name two files of `dyno load --json`, or two runs",
            a.escape_debug(),
            b.escape_debug()
        )),
    }
}

fn read(path: &str) -> Result<LoadsFile, Refusal> {
    let bytes = file::bytes("dyno compare", Path::new(path))?;
    let refused = |says: String| Refusal::new(format!("{}: {says}", path.escape_debug()));
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not text (UTF-8)".into()))?;
    LoadsFile::read(path, &text).map_err(refused)
}

/// A figure for which one side can be worse, with an interval.
fn figure(text: &str) -> Result<Figure, String> {
    let figure = Figure::named(text)?;
    let is_judged = figure.better() != Better::Neither && figure.fold() == Fold::Factors;
    match is_judged {
        true => Ok(figure),
        false => Err(format!(
            "`{text}` cannot be judged: it has no better direction, or it may be zero; name a rate, a time or a memory"
        )),
    }
}

fn sides(flags: &CompareFlags) -> Result<(Named, Named), Refusal> {
    let (a, b) = match &flags.run {
        Some(run) => {
            let side = |subject: &String| {
                Ok::<Named, Refusal>(Named { run: number(run)?, subject: Some(subject.clone()) })
            };
            (side(&flags.a)?, side(&flags.b)?)
        }
        None => (named(&flags.a)?, named(&flags.b)?),
    };
    differ(&a, &b)?;
    Ok((a, b))
}
