//! The end of a race: one sentence for each side against the first, a small table, what to doubt. Whether a run is a
//! race is a fact that it keeps.

pub(crate) mod json;

use analysis::gate::{Verdict as Gated, Weighing};
use analysis::{Change, Comparison, Pair, Row, Verdict, Why};
use lab::figure::Figure;
use lab::record::{OutcomeKind, RACE};

use super::{Findings, conditions, results, trouble};
use crate::conduct;
use crate::document::{
    self, Block, Cell, Column, Depth, Document, MORE, Paragraph, Section, Sign, Table, Tone,
};
use crate::gate;
use crate::paired::Ratio;
use crate::sentence;
use crate::time::utc;
use crate::written::{self, Written};

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
        let is_wrong = |row: &&Row| {
            let is_own = |(kind, _): &(OutcomeKind, usize)| {
                matches!(kind, OutcomeKind::NotReady | OutcomeKind::Wrong | OutcomeKind::Died)
            };
            row.unmeasured().iter().any(is_own) || !row.conduct.is_tolerated()
        };
        if sides.iter().any(is_wrong) {
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
        gate::of_run(self.experiment.as_ref()?, self.trials)
    }
}

/// How a race ended, for the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceOutcome {
    Measured,
    /// A side failed, or answered wrongly; or the second one is worse than the first, where that was to be found.
    Failed,
    /// A side was not measured for another reason, or its figures are invalid.
    CannotTell,
}

/// The rows of the sides, in the order in which they were named.
fn sides<'t>(findings: &'t Findings<'_>) -> Vec<&'t Row> {
    let Some(table) = findings.board.tables.first() else { return Vec::new() };
    let mut rows: Vec<&Row> = crate::competing(table);
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
    let is_failing = |row: &&Row| !row.conduct.is_tolerated();
    let (failing, tolerated): (Vec<&Row>, Vec<&Row>) =
        sides(findings).into_iter().partition(is_failing);
    let named = |row: &Row, end: &str| {
        Some(conduct::says(findings.title(&row.subject), row.conduct)? + end)
    };
    let mut says: Vec<String> =
        failing.iter().filter_map(|row| named(row, ". Not compared.")).collect();
    // The pairs of a race with a difference to be found are of two sides.
    if failing.is_empty() {
        says.extend(findings.gate().map(|gate| gate::sentence(&gate, None)));
    }
    let compared = all.iter().filter(|pair| [pair.a, pair.b].iter().all(|row| !is_failing(row)));
    says.extend(compared.map(|pair| self::says(findings, pair)));
    says.extend(tolerated.iter().filter_map(|row| named(row, ".")));
    says
}

fn says(findings: &Findings<'_>, pair: &Pair<'_>) -> String {
    let name = |row: &Row| {
        let doubt = if row.is_doubtful() { " (in doubt)" } else { "" };
        format!("{}{doubt}", findings.title(&row.subject))
    };
    let (a, b) = (name(pair.a), name(pair.b));
    let found = |figure: Figure| {
        let mut figures = pair.figures.iter();
        figures.find(|(of, _)| *of == figure).map_or(Err(Why::Missing), |(_, made)| *made)
    };
    if let Some(says) = unmeasured(findings, [pair.a, pair.b]) {
        return says;
    }
    let p99 = found(Figure::ResponseP99).ok();
    let answered = if pair.a.is_offered() { Figure::OnTime } else { Figure::Throughput };
    // What was offered is the schedule's: then the price of an answer is the servers' own.
    let primary = match found(answered) {
        Err(Why::KeptUp) => found(Figure::CpuPerThousand),
        found => found,
    };
    match (primary, p99) {
        (Ok(made), None) if is_unshown(&made) => {
            format!("No difference is shown: {b} {}.", compared(&made, &a))
        }
        (Ok(made), None) => format!("{b} {}.", compared(&made, &a)),
        (Ok(made), Some(p99)) => both(&made, &p99, (&a, &b)),
        (Err(Why::Missing), Some(p99)) if found(answered) == Err(Why::KeptUp) => {
            let alike = if is_unshown(&p99) { "No difference is shown: " } else { "" };
            let place = findings.place(pair.a.point);
            format!("{alike}{b} {}; both kept up with {place}.", compared(&p99, &a))
        }
        (Err(why), _) => unknown(findings, pair, (&a, &b), why),
    }
}

/// Two figures of a side against the first: what differs comes first, and nothing is said to differ that does not.
fn both(made: &Comparison, p99: &Comparison, (a, b): (&str, &str)) -> String {
    let ratio = Ratio::from(p99);
    match (is_unshown(made), is_unshown(p99)) {
        (true, true) => {
            format!("No difference is shown: {b} {}, at {ratio} the p99.", compared(made, a))
        }
        (true, false) => format!(
            "{b} {}; no difference of the {} is shown ({}).",
            compared(p99, a),
            noun(made.figure),
            Ratio::from(made)
        ),
        (false, true) => {
            format!("{b} {}; no difference of the p99 is shown ({ratio}).", compared(made, a))
        }
        (false, false) => format!("{b} {}, at {ratio} the p99.", compared(made, a)),
    }
}

/// `answers 0.9× [0.8–0.9] as many requests as A`.
fn compared(made: &Comparison, a: &str) -> String {
    let ratio = Ratio::from(made);
    match made.figure {
        Figure::OnTime => format!("answers {ratio} as many requests on time as {a}"),
        Figure::CpuPerThousand => format!("uses {ratio} the CPU time of {a} for each answer"),
        Figure::ResponseP99 => format!("has {ratio} the p99 of {a}"),
        _ => format!("answers {ratio} as many requests as {a}"),
    }
}

fn noun(figure: Figure) -> &'static str {
    match figure {
        Figure::OnTime => "share on time",
        Figure::CpuPerThousand => "CPU time for an answer",
        _ => "throughput",
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

/// Whether the interval that decides holds 1.
fn is_unshown(made: &Comparison) -> bool {
    made.finding() == Change::NotShown
}

fn unknown(findings: &Findings<'_>, pair: &Pair<'_>, (a, b): (&str, &str), why: Why) -> String {
    // The rate of a schedule says nothing of a server.
    let (figure, unit) = match pair.a.is_offered() {
        true => (Figure::OnTime, " of the requests on time"),
        false => (Figure::Throughput, "/s"),
    };
    let rate = |row: &Row| {
        row.estimate(figure).map_or("nothing".into(), |estimate| {
            format!("{}{unit}", Written::estimate(figure.unit(), &estimate).value)
        })
    };
    match why {
        Why::OneRound => format!(
            "After one round it cannot be said whether they differ: {b} answered {}, {a} {}.",
            rate(pair.b),
            rate(pair.a)
        ),
        Why::Missing => format!(
            "{b} and {a} both kept up with {}; what an answer costs them is not known.",
            findings.place(pair.a.point)
        ),
        Why::Nothing | Why::KeptUp | Why::Bounds | Why::Faults => format!(
            "{b} answered {}, {a} {}: a ratio cannot be formed.",
            rate(pair.b),
            rate(pair.a)
        ),
    }
}

/// The whole race as one JSON object.
pub(super) fn json(findings: &Findings<'_>) -> serde_json::Result<String> {
    json::of(findings)
}

/// The end report, for a terminal or a README.
pub(super) fn document(findings: &Findings<'_>) -> Document {
    let load = findings.load_in_words();
    let mut conditions: Vec<String> = load.into_iter().collect();
    conditions.extend(findings.checked().as_ref().map(written::checked));
    conditions.push(conditions::machine(findings.run, findings.trials));
    let entries = |id: &'static str, heading: &str, entries: Vec<document::Entry>| {
        let blocks = (!entries.is_empty()).then_some(Block::Entries(entries));
        Section::new(id, heading, Depth::Brief).with(blocks)
    };
    let doubtful = |text: String| Block::paragraph(Tone::Doubtful, text);
    let table = findings.board.tables.first();
    let remarks = table.map_or(Vec::new(), |table| trouble::remarks(findings, table));
    let mut sections = vec![
        Section::new("sides", "", Depth::Brief)
            .with([Block::Table(self::table(findings))])
            .with(remarks),
        Section::new("limit", "Something else may be the limit", Depth::Brief)
            .with(trouble::alarms(findings).into_iter().map(doubtful)),
        entries("doubt", trouble::DOUBTS, trouble::doubts(findings)),
        entries("failed", trouble::FAILED, trouble::under_load(findings)),
        entries("wrong", trouble::WRONG, trouble::failures(findings)),
    ];
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        label: format!("race · run {} · {}", findings.id, utc(findings.run.began_unix_ms)),
        title: findings.question().into(),
        notes: conditions::warnings(findings)
            .into_iter()
            .map(|says| Paragraph::new(Tone::Doubtful, says))
            .collect(),
        answer: sentence::all(findings),
        verdict: findings.board.verdict(),
        worth: findings.board.verdict().map(|_| findings.board.worth()),
        conditions,
        sections,
        ending: Vec::new(),
    }
}

/// What the brackets of ratios are, where there are any.
fn notes(findings: &Findings<'_>) -> Vec<String> {
    let pairs = against_first(findings);
    let mut figures = pairs.iter().flat_map(|pair| &pair.figures);
    let note = "ratios have the interval that decides: it excludes 1 where a difference is shown, and in 95 % of races of \
                equal servers none does";
    let is_any = figures.any(|(_, made)| made.is_ok());
    is_any.then(|| note.into()).into_iter().collect()
}

fn table(findings: &Findings<'_>) -> Table {
    let mut rows = sides(findings);
    let all = findings.board.tables.first().map_or(&[][..], |table| &table.rows);
    rows.extend(all.iter().filter(|row| row.is_reference));
    let is_silent = |row: &&Row| row.estimate(Figure::SilentShare).is_some_and(|it| 0.0 < it.value);
    let has_silence = rows.iter().any(is_silent);
    let is_offered = rows.iter().any(|row| row.is_offered());
    let has = |figure: Figure| rows.iter().any(|row| row.estimate(figure).is_some());
    // No column is left out for want of room, and a silence stands where there was one.
    let column = |figure: Figure| match figure {
        Figure::SilentShare => has_silence.then_some((figure, 0)),
        Figure::Offered | Figure::OnTime if !is_offered => None,
        _ => match results::priority(figure)? {
            0..MORE => Some((figure, 0)),
            more => has(figure).then_some((figure, more)),
        },
    };
    let shown: Vec<(Figure, u8)> = Figure::OF_TRIALS.into_iter().filter_map(column).collect();
    let mut columns = vec![Column::new("subject", "server", 0).left()];
    columns.extend(shown.iter().map(|&(figure, priority)| {
        let column = Column::new(figure.name(), findings.heading(figure), priority);
        column.meaning(figure.meaning())
    }));
    columns.push(Column::new("rounds", "rounds", 2));
    let row = |row: &Row| {
        let tone = if row.is_reference { Tone::Dim } else { Tone::Plain };
        let marks = match row.is_reference {
            true => document::Marks::default().with(document::Mark::Reference),
            false => results::verdict_mark(row),
        };
        let name = Cell::text(findings.title(&row.subject)).toned(tone).marked(marks);
        let mut cells = vec![Cell { sign: Sign::Slot, ..name }];
        cells.extend(shown.iter().map(|&(figure, _)| match row.estimate(figure) {
            None => Cell::text("–").toned(Tone::Dim),
            Some(estimate) => {
                let written = Written::estimate(figure.unit(), &estimate);
                let between = match figure {
                    Figure::Throughput => written.between(),
                    _ => String::new(),
                };
                let value = format!("{}{between}", written.value);
                Written { value, ..written }.cell(estimate.value)
            }
        }));
        cells.push(Cell::text(format!("{} of {}", row.measured(), row.planned)));
        document::Row {
            cells,
            slot: Some(findings.slot(&row.subject)),
            is_reference: row.is_reference,
            ..document::Row::default()
        }
    };
    Table::of("sides", columns, rows.into_iter().map(row)).noting(notes(findings))
}

#[cfg(test)]
mod tests;
