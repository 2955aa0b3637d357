//! The result of a run, for the shell and for a list of runs.

use analysis::Verdict;

use super::Findings;

pub struct RunOutcome {
    /// Whether any trial is a measurement.
    pub is_measured: bool,
    /// Rows that would be ranked but whose figures answer nothing: the first, and how many.
    pub in_vain: Option<(String, usize)>,
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
        let fact = |name: &str| {
            let fact = self.run.facts.iter().find(|fact| fact.name == name);
            fact.map(|fact| fact.value.clone())
        };
        let dyno = Some(format!("dyno {}", self.run.dyno));
        let programs: Vec<String> = [fact("kernel"), dyno].into_iter().flatten().collect();
        Brief {
            verdict: self.verdict(),
            answer: answer[..end].into(),
            machine: fact("cpu.model").unwrap_or_default(),
            programs: programs.join(", "),
        }
    }

    pub fn outcome(&self) -> RunOutcome {
        if self.is_search() {
            let is_measured = self.rows().any(|(_, row)| 0 < row.measured());
            return RunOutcome { is_measured, in_vain: self.unknown() };
        }
        let mut in_vain = self.board.in_vain();
        let first = in_vain.next().map(|(table, row)| {
            let place = self.place(row.point);
            format!("{}, {} at {place}", self.title(&row.subject), self.task(&table.workload))
        });
        RunOutcome {
            is_measured: self.rows().any(|(_, row)| 0 < row.measured()),
            in_vain: first.map(|first| (first, 1 + in_vain.count())),
        }
    }
}
