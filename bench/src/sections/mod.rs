//! The sections of the measurement, a file for each.

mod checks;
mod closed;
mod http2;
mod judging;
mod machines;
mod memory;
mod oracle;
mod punctuality;
mod secured;
mod sessions;
mod sleep;
mod slices;
mod system_calls;
mod truth;

use crate::rig::{Contender, Rig, shown};
use crate::rounds::{Ratio, Series, ratio};
use crate::run::Run;
use crate::table::{Table, range};

/// A section of the report.
pub(crate) struct Entry {
    pub(crate) letter: &'static str,
    pub(crate) title: &'static str,
    pub(crate) measure: fn(&Rig) -> Section,
}

/// The result of a section.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) tables: Vec<Table>,
    pub(crate) verdicts: Vec<Verdict>,
}

impl Section {
    /// Several parts, one after the other.
    fn of(parts: impl IntoIterator<Item = Section>) -> Section {
        let mut all = Section::default();
        for part in parts {
            all.tables.extend(part.tables);
            all.verdicts.extend(part.verdicts);
        }
        all
    }
}

/// A figure against its target; unmet and unmeasured are different things.
pub(crate) struct Verdict {
    pub(crate) what: String,
    pub(crate) target: String,
    pub(crate) measured: String,
    /// None when it could not be measured.
    pub(crate) met: Option<bool>,
}

/// In the order of the report.
pub(crate) const ALL: &[Entry] = &[
    Entry { letter: "a", title: "What a request costs the generator", measure: closed::measure },
    Entry { letter: "b", title: "System calls a request", measure: system_calls::measure },
    Entry { letter: "c", title: "Are the reported times true?", measure: truth::measure },
    Entry { letter: "d", title: "Punctuality", measure: punctuality::measure },
    Entry { letter: "e", title: "Memory, and sessions", measure: memory::measure },
    Entry { letter: "f", title: "The oracle as a server", measure: oracle::measure },
    Entry { letter: "g", title: "Whole trials and slices", measure: slices::measure },
    Entry { letter: "h", title: "What a request costs over HTTP/2", measure: http2::measure },
    Entry { letter: "i", title: "What TLS costs", measure: secured::measure },
    Entry {
        letter: "j",
        title: "Are the reported times true over HTTP/2?",
        measure: truth::measure_over_http2,
    },
    Entry { letter: "k", title: "One load from several agents", measure: machines::measure },
    Entry { letter: "l", title: "How late an agent sends", measure: machines::measure_lateness },
    Entry {
        letter: "m",
        title: "What the client's sleep costs the server",
        measure: sleep::measure,
    },
    Entry { letter: "n", title: "What the check of an answer costs", measure: checks::measure },
    Entry { letter: "o", title: "What it costs to judge a workload", measure: judging::measure },
];

/// Contenders, and what each of them did in every round.
pub(crate) struct Compared {
    pub(crate) contenders: Vec<Contender>,
    pub(crate) all: Vec<Series<Run>>,
}

impl Compared {
    /// The series of one generator.
    fn series(&self, name: &str) -> Option<&Series<Run>> {
        let is_named = |contender: &Contender| contender.generator.name == name;
        self.all.get(self.contenders.iter().position(is_named)?)
    }

    /// A figure of one generator over the same figure of another, round by round.
    fn ratio(
        &self,
        (above, below): (&str, &str),
        figure: impl Fn(&Run) -> Option<f64>,
    ) -> Option<Ratio> {
        ratio(&self.series(above)?.figures(&figure), &self.series(below)?.figures(&figure))
    }

    /// A row for each contender; below it how often, the command lines, the failures, the complaints.
    fn table(
        &self,
        title: impl Into<String>,
        columns: &[&str],
        row: impl Fn(&Contender, &Series<Run>) -> Vec<String>,
    ) -> Table {
        let mut table = Table::new(title, columns);
        let all = self.contenders.iter().zip(&self.all);
        table.rows = all.map(|(contender, series)| row(contender, series)).collect();
        table.notes = notes(&self.contenders, &self.all);
        table
    }
}

/// A ratio that must not be above `most`.
fn at_most(what: String, against: &str, measured: Option<Ratio>, most: f64) -> Verdict {
    Verdict {
        what,
        target: format!("≤ {most:.2} × {against}"),
        measured: range(measured),
        met: measured.map(|ratio| ratio.median <= most),
    }
}

/// Below a table: how often, the command lines, the failures, the complaints.
fn notes(contenders: &[Contender], all: &[Series<Run>]) -> Vec<String> {
    let rounds = all.first().map_or(0, |series| series.runs.len());
    let mut notes = vec![format!("medians of {rounds} rounds; in brackets the range of a ratio")];
    if let Some(first) = contenders.first() {
        notes.push(format!("server: `{}`", first.server.command()));
    }
    for (contender, series) in contenders.iter().zip(all) {
        for note in notes_of(contender, series) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

fn notes_of(contender: &Contender, series: &Series<Run>) -> Vec<String> {
    let name = contender.generator.name;
    let failed = series.runs.iter().filter(|run| run.is_none()).count();
    let of = series.runs.len();
    let mut notes = Vec::new();
    if failed < of {
        notes.push(format!("`{}`", shown(contender)));
    }
    for failure in &series.failures {
        notes.push(format!("{name}, {failed} of {of} rounds: {failure}"));
    }
    if let Some(complaint) =
        series.runs.iter().flatten().find_map(|run| run.measured.complaint.as_ref())
    {
        notes.push(format!("{name} ended with an error: {complaint}"));
    }
    notes
}
