//! `dyno compare`: two kept runs, or two subjects of them.

use std::fmt;
use std::path::PathBuf;

use analysis::{Better, Gate, GateAnswer, better};
use clap::Args;
use lab::amounts;
use lab::figure::{Figure, Fold};
use lab::record::{RunRecord, TrialRecord};
use store::{RunId, Store};

use super::report::kept;
use super::{Answer, Refusal};
use crate::board::{Compared, Side, Told};
use crate::project::Project;
use crate::terminal;

/// Compare two kept runs, or two subjects of them
///
/// Two runs of one experiment, row by row (`dyno compare 1 3`), or two subjects (`dyno compare 1:hyper 3:axum`, or
/// `dyno compare --run 3 hyper axum`). Each figure is a ratio with its 95 % interval. Nothing is measured.
#[derive(Args)]
#[command(
    after_help = "Each row is judged by one figure: a closed loop by its throughput, a schedule of requests or \
                        sessions by its CPU time for 1,000 answers (and by its throughput where A keeps up and B does not), \
                        held connections by the memory that each takes; or by --figure.\n\n\
                        Exit codes: 0 the worse end of every 95 % interval is within the tolerance · 1 in some row B is worse by \
                        more than the tolerance, beyond chance, or a later run of the same subject breaks a clause that it kept \
                        · 2 this data cannot tell: an interval is too wide, there is one round, rounds are in doubt, or nothing \
                        can be compared."
)]
pub(crate) struct CompareFlags {
    /// A run, RUN:SUBJECT, or with --run a subject
    a: String,
    /// The same: what is compared with A
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
    /// Write JSON, as docs/compare.md says
    #[arg(long)]
    json: bool,
    /// The store [default: .dyno/runs.sqlite of the project]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

pub(crate) fn run(flags: &CompareFlags) -> Result<Answer, Refusal> {
    let (a, b) = sides(flags)?;
    let path = match &flags.store {
        Some(path) => path.clone(),
        None => Project::find()?.store_path(),
    };
    if !path.is_file() {
        return Err(Refusal::new(format!(
            "{}: no run has been kept here; `dyno run EXPERIMENT` makes one",
            path.display()
        )));
    }
    let store = Store::open(&path).map_err(|error| Refusal::new(error.to_string()))?;
    let gate = Gate { tolerance: flags.tolerance, figure: flags.figure };
    compared(&store, &a, &b, gate, |compared| {
        let text = match flags.json {
            true => compared.json().map_err(|error| Refusal::new(error.to_string()))?,
            false => compared.text(terminal::stdout_width(), terminal::stdout_is_coloured()),
        };
        terminal::tell(&text).map_err(|error| Refusal::new(format!("standard output: {error}")))?;
        Ok(match compared.answer() {
            GateAnswer::Within => Answer::Yes,
            GateAnswer::Worse => Answer::No,
            GateAnswer::CannotTell => Answer::CouldNotTell,
        })
    })
}

/// Two sides, named as on the command line, as a page's part.
pub(crate) fn page(store: &Store, a: &str, b: &str) -> Result<String, Refusal> {
    let (a, b) = (named(a)?, named(b)?);
    differ(&a, &b)?;
    compared(store, &a, &b, Gate::default(), |compared| Ok(compared.page()))
}

/// Both sides as they were kept, matched; refused if they do not match.
fn compared<T>(
    store: &Store,
    a: &Named,
    b: &Named,
    gate: Gate,
    then: impl FnOnce(&Compared<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let (a_loaded, b_loaded) = (load(store, a)?, load(store, b)?);
    if a.subject.is_none() && a_loaded.0.name != b_loaded.0.name {
        return Err(Refusal::new(format!(
            "run {} is of `{}`, run {} of `{}`: their rows do not match; compare two runs of one experiment, or \
             two subjects as RUN:SUBJECT RUN:SUBJECT",
            a.run, a_loaded.0.name, b.run, b_loaded.0.name
        )));
    }
    let (a_told, b_told) = (told(a, &a_loaded), told(b, &b_loaded));
    then(&Compared::of(
        Side { told: &a_told, subject: a.subject.as_deref() },
        Side { told: &b_told, subject: b.subject.as_deref() },
        gate,
    ))
}

/// How much worse B may be, as a share.
fn tolerance(text: &str) -> Result<f64, String> {
    match amounts::percent(text)? {
        percent if 0.0 < percent && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("write a percentage above 0 % and below 100 %, like 5%".into()),
    }
}

/// A figure of which one side can be worse, with an interval.
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

/// What one argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    run: RunId,
    subject: Option<String>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            None => write!(f, "{}", self.run),
            Some(subject) => write!(f, "{}:{subject}", self.run),
        }
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

/// Both are whole runs, or both subjects; and not the same.
fn differ(a: &Named, b: &Named) -> Result<(), Refusal> {
    if a.subject.is_some() != b.subject.is_some() {
        return Err(Refusal::new(format!(
            "`{a}` and `{b}`: one names a subject and the other a whole run; name two runs, or RUN:SUBJECT twice"
        )));
    }
    if a == b {
        return Err(Refusal::new("A and B are the same: there is nothing to compare; name two"));
    }
    Ok(())
}

fn named(text: &str) -> Result<Named, Refusal> {
    match text.split_once(':') {
        None => Ok(Named { run: number(text)?, subject: None }),
        Some((run, subject)) => Ok(Named { run: number(run)?, subject: Some(subject.into()) }),
    }
}

fn number(text: &str) -> Result<RunId, Refusal> {
    text.parse().map_err(|error: store::RunIdError| {
        Refusal::new(format!("{error}; two subjects of one run are `--run RUN SUBJECT SUBJECT`"))
    })
}

type Loaded = (RunRecord, Vec<TrialRecord>, Vec<String>);

/// A run as it was kept, which has the subject that is asked for.
fn load(store: &Store, side: &Named) -> Result<Loaded, Refusal> {
    let loaded = kept(store, side.run)?;
    if let Some(subject) = &side.subject {
        let entries: Vec<&str> = loaded.0.entries.iter().map(|entry| entry.name.as_str()).collect();
        if !entries.contains(&subject.as_str()) {
            return Err(Refusal::new(format!(
                "run {} has no subject `{}`; it has {}",
                side.run,
                subject.escape_debug(),
                entries.join(", ")
            )));
        }
    }
    Ok(loaded)
}

fn told<'t>(side: &Named, (run, trials, damaged): &'t Loaded) -> Told<'t> {
    Told::of(&side.run, run, trials, damaged.clone(), None)
}
