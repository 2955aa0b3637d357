//! What a race has found: a sentence for each side against the first, and how it ended. Whether a run is a race is a fact
//! that it keeps.

pub(crate) mod json;
pub(super) mod picture;

use analysis::gate::{Verdict as Gated, Weighing};
use analysis::{Comparison, Pair, Row, Verdict, Why};
use lab::figure::Figure;
use lab::named;
use lab::record::{OutcomeKind, RACE};

use super::findings::Findings;
use super::trouble;
use crate::conduct;
use crate::gate;
use crate::number_format::Written;
use crate::paired;

impl Findings<'_> {
    /// Whether this run is a race.
    pub(crate) fn is_race(&self) -> bool {
        self.race_command().is_some()
    }

    /// The command line that made this race, if it is one.
    pub(crate) fn race_command(&self) -> Option<&str> {
        self.fact(RACE)
    }

    /// Whether all sides were measured, and none of them failed or answered wrongly.
    pub fn race(&self) -> RaceOutcome {
        let sides: Vec<&Row> = sides(self);
        if sides.iter().any(|row| is_wrong(row)) {
            return RaceOutcome::Failed;
        }
        let is_unclear =
            |row: &&Row| row.measured() == 0 || row.verdict() == Some(Verdict::Invalid);
        let is_invalid = self.board.verdict() == Some(Verdict::Invalid);
        let found = self.gate().map(|gate| gate.verdict);
        match (sides.is_empty() || sides.iter().any(is_unclear), found) {
            (true, _) | (false, Some(Gated::CannotTell(_))) => RaceOutcome::CannotTell,
            (false, Some(Gated::Worse(_))) => RaceOutcome::Failed,
            (false, Some(Gated::NotWorse)) => RaceOutcome::Measured,
            (false, None) if is_invalid => RaceOutcome::CannotTell,
            (false, None) => RaceOutcome::Measured,
        }
    }

    /// What the pairs say, where a difference was to be found.
    pub(crate) fn gate(&self) -> Option<Weighing> {
        gate::of_run(self.run.experiment.as_ref()?, self.trials)
    }
}

/// Whether a side failed or answered wrongly.
fn is_wrong(row: &Row) -> bool {
    let is_own = |(kind, _): &(OutcomeKind, usize)| {
        matches!(kind, OutcomeKind::NotReady | OutcomeKind::Wrong | OutcomeKind::Died)
    };
    row.unmeasured().iter().any(is_own) || !row.conduct.is_tolerated()
}

named! {
    /// How a race ended, for the shell.
    pub enum RaceOutcome {
        Measured = "measured",
        /// A side failed, or answered wrongly; or the second one is worse than the first, where that was to be found.
        Failed = "failed",
        /// A side was not measured for another reason, or its figures are invalid.
        CannotTell = "cannot_tell",
    }
}

/// The rows of the sides, in the order in which they were named.
fn sides<'t>(findings: &'t Findings<'_>) -> Vec<&'t Row> {
    let Some(table) = findings.board.tables.first() else { return Vec::new() };
    let mut rows: Vec<&Row> = table.competitors().collect();
    rows.sort_by_key(|row| findings.slot(&row.subject));
    rows
}

/// Each side against the first.
fn against_first<'t>(findings: &'t Findings<'_>) -> Vec<Pair<'t>> {
    let table = findings.board.tables.first();
    table.map_or(Vec::new(), |table| analysis::against_first(&table.workload, &sides(findings)))
}

/// The sides that answered wrongly or failed too often come first; then a sentence for each side but the first; then
/// what the compared sides failed.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    let all = against_first(findings);
    let named =
        sides(findings).into_iter().map(|row| (findings.title(&row.subject).into(), row.conduct));
    let [mut says, tolerated] = conduct::sentences(named, " Not compared.");
    // The pairs of a race with a difference to be found are of two sides.
    if says.is_empty() {
        says.extend(findings.gate().map(|gate| gate::sentence(&gate, None)));
    }
    let is_compared =
        |pair: &&Pair<'_>| [pair.a, pair.b].iter().all(|row| row.conduct.is_tolerated());
    let compared = all.iter().filter(is_compared);
    says.extend(compared.map(|pair| self::says(findings, pair)));
    says.extend(tolerated);
    says
}

fn says(findings: &Findings<'_>, pair: &Pair<'_>) -> String {
    let name = |row: &Row| {
        let doubt = if row.is_doubtful() { " (in doubt)" } else { "" };
        format!("{}{doubt}", findings.title(&row.subject))
    };
    let (a, b) = (name(pair.a), name(pair.b));
    if let Some(says) = unmeasured(findings, [pair.a, pair.b]) {
        return says;
    }
    let p99 = pair.made(Figure::ResponseP99).ok();
    let answered = if pair.a.is_offered() { Figure::OnTime } else { Figure::Throughput };
    // What was offered is the schedule's: then the price of an answer is the servers' own.
    let primary = match pair.made(answered) {
        Err(Why::KeptUp) => pair.made(Figure::CpuPerThousand),
        found => found,
    };
    match (primary, p99) {
        (Ok(made), p99) => {
            let figures: Vec<Comparison> = [made].into_iter().chain(p99).collect();
            format!("{}.", paired::against([&a, &b], &figures))
        }
        (Err(Why::Missing), Some(p99)) if pair.made(answered) == Err(Why::KeptUp) => {
            let place = findings.place(pair.a.point);
            format!("{}; both kept up with {place}.", paired::against([&a, &b], &[p99]))
        }
        (Err(why), _) => unknown(findings, pair, (&a, &b), why),
    }
}

/// The sides without a measurement: those whose trials went wrong, or else those that have had no trial yet.
fn unmeasured(findings: &Findings<'_>, rows: [&Row; 2]) -> Option<String> {
    let (untried, failed): (Vec<&Row>, Vec<&Row>) = rows
        .into_iter()
        .filter(|row| row.measured() == 0)
        .partition(|row| row.unmeasured().is_empty());
    let them = |rows: &[&Row]| {
        let names: Vec<&str> = rows.iter().map(|row| findings.title(&row.subject)).collect();
        names.join(" and ")
    };
    match (failed.is_empty(), untried.is_empty()) {
        (true, true) => None,
        (true, false) => Some(format!("No trial of {} has ended yet.", them(&untried))),
        (false, _) => {
            Some(format!("{} could not be measured: see \"{}\".", them(&failed), trouble::WRONG))
        }
    }
}

fn unknown(findings: &Findings<'_>, pair: &Pair<'_>, (a, b): (&str, &str), why: Why) -> String {
    // The rate of a schedule says nothing of a server.
    let (figure, unit) = match pair.a.is_offered() {
        true => (Figure::OnTime, " of the requests on time"),
        false => (Figure::Throughput, "/s"),
    };
    let [rate_a, rate_b] = [pair.a, pair.b].map(|row| {
        row.estimate(figure).map_or("nothing".into(), |estimate| {
            format!("{}{unit}", Written::estimate(figure.unit(), &estimate).value)
        })
    });
    let answered = format!("{b} answered {rate_b}, {a} {rate_a}");
    match why {
        Why::OneRound => {
            let is_only = [pair.a, pair.b].iter().all(|row| row.measured() == 1);
            let after = if is_only { "After one round" } else { "By the one round that both have" };
            format!("{after} it cannot be said whether they differ: {answered}.")
        }
        Why::Missing if matches!(pair.made(figure), Err(Why::KeptUp)) => format!(
            "{b} and {a} both kept up with {}; what an answer costs them is not known.",
            findings.place(pair.a.point)
        ),
        Why::Missing => {
            format!("{b} and {a} have no round in which both were measured: {answered}.")
        }
        Why::Nothing | Why::KeptUp | Why::Bounds | Why::Faults => {
            format!("{answered}: a ratio cannot be formed.")
        }
    }
}

/// What the brackets of its ratios are, where it is a race and there are any.
pub(super) fn note(findings: &Findings<'_>) -> Option<String> {
    let note = "the interval of a ratio excludes 1 where a difference is shown; in 95 % of races of equal servers, \
        none does";
    let pairs = if findings.is_race() { against_first(findings) } else { Vec::new() };
    let mut figures = pairs.iter().flat_map(|pair| &pair.figures);
    figures.any(|(_, made)| made.is_ok()).then(|| note.into())
}

#[cfg(test)]
mod tests;
