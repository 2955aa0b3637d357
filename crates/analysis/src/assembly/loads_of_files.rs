//! A board of loads of which only the figures are known: a file states them.

use lab::experiment::Point;
use lab::figure::{Figure, Number};
use lab::record::{Outcome, OutcomeKind};

use crate::board::{Board, JudgedTrial, Row, Table};
use crate::conduct::{Faults, Tolerated};
use crate::doubt::stated;
use crate::figures::Figures;
use crate::judge::judge;
use crate::unmet;
use crate::verdict::Verdict;

/// A load as a file states it.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedLoad {
    pub numbers: Vec<(Figure, Number)>,
    pub verdict: Verdict,
    /// The names of its doubts.
    pub doubts: Vec<String>,
    pub faults: Faults,
}

impl StatedLoad {
    fn as_round(&self, repeat: u32) -> JudgedTrial {
        let doubt = stated(self.verdict, &self.doubts);
        JudgedTrial {
            number: repeat,
            repeat,
            outcome: Outcome { kind: OutcomeKind::Measured, says: String::new() },
            figures: Figures::of_numbers(&self.numbers),
            steady: None,
            streams_capped: None,
            is_partial: false,
            doubts: doubt.into_iter().collect(),
        }
    }
}

impl Board {
    /// One row: each load is a round of it.
    #[must_use]
    pub fn of_stated(
        [subject, workload]: [&str; 2],
        point: Point,
        loads: &[StatedLoad],
        tolerated: Tolerated,
    ) -> Board {
        let trials: Vec<JudgedTrial> =
            loads.iter().enumerate().map(|(place, load)| load.as_round(place as u32)).collect();
        let promise = lab::experiment::Promised::default();
        let mut row = Row {
            faults: Faults::sum(loads.iter().map(|load| load.faults)),
            ..Row::of_rounds(subject, point, trials)
        };
        row.judgement = judge(&row, promise);
        let mut rows = vec![row];
        unmet::mark(&mut rows, tolerated, false);
        let table = Table::of_rows(workload.into(), rows, promise);
        Board { tables: vec![table], ..Board::default() }
    }
}
