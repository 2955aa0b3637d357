//! The result of a run, for the shell and for a list of runs.

use analysis::Verdict;
use units::count;

use super::findings::Findings;

/// How a run that was finished ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// Every row that can be ranked is valid or suspect.
    Measured,
    /// So many rows are of servers with more wrong answers or failures than are tolerated.
    Failing(usize),
    /// No trial is a measurement.
    Unmeasured,
    /// Rows that would be ranked, but whose figures answer nothing: the first, and how many.
    InVain(String, usize),
}

impl RunOutcome {
    /// Why it did not end well; that of a failing server stands in the answer.
    pub fn says(&self) -> Option<String> {
        match self {
            RunOutcome::Measured | RunOutcome::Failing(_) => None,
            RunOutcome::Unmeasured => Some("nothing was measured, for the reasons above".into()),
            RunOutcome::InVain(first, rows) => {
                let (are, others) = match rows {
                    1 => ("1 row is".into(), ""),
                    _ => (format!("{} rows are", count(*rows as u64)), " and others"),
                };
                Some(format!(
                    "{are} invalid or not measured, for the reasons above: {first}{others}"
                ))
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Brief {
    /// None before the first trial.
    pub verdict: Option<Verdict>,
    /// The answer's first sentence.
    pub answer: String,
    /// The processor, by its maker's name.
    pub machine: String,
    /// The kernel and dyno, with their versions.
    pub programs: String,
}

impl Findings<'_> {
    pub fn brief(&self) -> Brief {
        let answer = crate::sentence::all(self).into_iter().next().unwrap_or_default();
        let end = answer.find(". ").map_or(answer.len(), |end| end + 1);
        let dyno = format!("dyno {}", self.run.dyno);
        let programs: Vec<&str> = self.fact("kernel").into_iter().chain([&dyno[..]]).collect();
        Brief {
            verdict: self.verdict(),
            answer: answer[..end].into(),
            machine: self.fact("cpu.model").unwrap_or_default().into(),
            programs: programs.join(", "),
        }
    }

    pub fn outcome(&self) -> RunOutcome {
        let failing = self.rows().filter(|(_, row)| !row.conduct.is_tolerated()).count();
        if self.rows().all(|(_, row)| row.measured() == 0) {
            RunOutcome::Unmeasured
        } else if 0 < failing {
            // Known of this server, whatever cannot be told of others.
            RunOutcome::Failing(failing)
        } else if let Some((first, rows)) = self.in_vain() {
            RunOutcome::InVain(first, rows)
        } else {
            RunOutcome::Measured
        }
    }

    /// The first of the rows that would be ranked, but whose figures answer nothing, and how many there are.
    pub(super) fn in_vain(&self) -> Option<(String, usize)> {
        if self.is_search() {
            return self.unknown();
        }
        let mut in_vain = self.board.in_vain();
        let (table, row) = in_vain.next()?;
        let place = self.place(row.point);
        let first =
            format!("{}, {} at {place}", self.title(&row.subject), self.task(&table.workload));
        Some((first, 1 + in_vain.count()))
    }
}
