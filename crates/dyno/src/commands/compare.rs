//! `dyno compare`: two kept runs, or two subjects of them.

use std::path::PathBuf;

use analysis::{Better, Gate, GateAnswer, better};
use clap::Args;
use lab::amounts;
use lab::figure::{Figure, Fold};
use report::render::{self, Screen};
use store::Store;

use crate::kept::{Named, compared, differ, named, number, store_of};
use crate::shell::{ExitStatus, Refusal, print};

/// Compare two kept runs, or two subjects of them
///
/// Two runs of one experiment, row by row (`dyno compare 1 3`), or two subjects (`dyno compare 1:hyper 3:axum`, or
/// `dyno compare --run 3 hyper axum`). Each figure is a ratio with its 95 % interval. Nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CompareFlags {
    /// A run, RUN:SUBJECT, or with --run a subject
    a: String,
    /// What is compared with A, in the same form
    b: String,
    /// The run of both subjects
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// How much worse B may be
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = tolerance)]
    tolerance: f64,
    /// Judge every row by this figure, by its name in the JSON (`response_p99_ms`)
    #[arg(long, value_name = "KEY", value_parser = figure)]
    figure: Option<Figure>,
    /// Write JSON, as docs/json.md says
    #[arg(long)]
    json: bool,
    /// All of the text: every case of the conformance check that differs
    #[arg(long, conflicts_with = "json")]
    full: bool,
    /// The store [default: .dyno/runs.sqlite of the project, else ~/.local/state/dyno/runs.sqlite]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
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
  # a gate: p99 may be at most 10 % worse
  dyno compare 1 3 --figure response_p99_ms --tolerance 10%

Exit codes:
  0    the worse end of every 95 % interval is within the tolerance
  1    B is worse beyond the tolerance and beyond chance, or newly breaks a clause of the RFCs
  2    could not tell: too wide an interval, one round, rounds in doubt, or nothing to compare";

pub(crate) fn run(flags: &CompareFlags) -> Result<ExitStatus, Refusal> {
    let (a, b) = sides(flags)?;
    let (_, path) = store_of(flags.store.as_deref())?;
    let store = Store::open(&path).map_err(|error| Refusal::new(error.to_string()))?;
    let gate = Gate { tolerance: flags.tolerance, figure: flags.figure };
    compared(&store, &a, &b, gate, |compared| {
        let text = match flags.json {
            true => compared.json().map_err(|error| Refusal::new(error.to_string()))?,
            false => {
                let screen = Screen { is_full: flags.full, ..terminal::screen() };
                render::text(&compared.document(), screen)
            }
        };
        print(&text)?;
        Ok(match compared.answer() {
            GateAnswer::Within => ExitStatus::Yes,
            GateAnswer::Worse => ExitStatus::No,
            GateAnswer::CannotTell => ExitStatus::CouldNotTell,
        })
    })
}

/// How much worse B may be, as a share.
fn tolerance(text: &str) -> Result<f64, String> {
    match amounts::percent(text)? {
        percent if 0.0 < percent && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("write a percentage above 0 % and below 100 %, like 5%".into()),
    }
}

/// A figure for which one side can be worse, with an interval.
fn figure(text: &str) -> Result<Figure, String> {
    let figure = Figure::named(text)?;
    let is_judged = better(figure) != Better::Neither && figure.fold() == Fold::Factors;
    match is_judged {
        true => Ok(figure),
        false => Err(format!(
            "`{text}` cannot be judged: neither way is better, or it may be zero; name a rate, a time or a memory"
        )),
    }
}

fn sides(flags: &CompareFlags) -> Result<(Named, Named), Refusal> {
    let (a, b) = match &flags.run {
        Some(run) => {
            let of = |subject: &String| {
                Ok::<Named, Refusal>(Named { run: number(run)?, subject: Some(subject.clone()) })
            };
            (of(&flags.a)?, of(&flags.b)?)
        }
        None => (named(&flags.a)?, named(&flags.b)?),
    };
    differ(&a, &b)?;
    Ok((a, b))
}
