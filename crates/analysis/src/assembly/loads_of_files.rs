//! A board of loads of which only the figures are known: a file states them.

use lab::experiment::Point;
use lab::figure::{Figure, Number};
use lab::record::{Outcome, OutcomeKind};

use super::estimates;
use crate::board::{Board, JudgedTrial, Row, Table};
use crate::conduct::{Conduct, Faults, Tolerated};
use crate::doubt::stated;
use crate::figures::Figures;
use crate::judge::judge;
use crate::judgement::{Judgement, Promise};
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
        let promise = Promise::from(lab::experiment::Promised::default());
        let mut row = Row {
            subject: subject.into(),
            is_reference: false,
            unmet: None,
            faults: Faults::sum(loads.iter().map(|load| load.faults)),
            conduct: Conduct::Sound,
            evidence: Vec::new(),
            has_crashed: false,
            point,
            planned: trials.len(),
            stopped: None,
            estimates: estimates(&trials),
            trials,
            doubts: Vec::new(),
            shares: None,
            judgement: Judgement::default(),
        };
        row.judgement = judge(&row, promise);
        let mut rows = vec![row];
        unmet::mark(&mut rows, tolerated, false);
        let table = Table {
            workload: workload.into(),
            rows,
            peaks: Vec::new(),
            remarks: Vec::new(),
            promise,
            shares_cpu: false,
            by_cpu: false,
            service_ceilings: Vec::new(),
        };
        Board { tables: vec![table], ..Board::default() }
    }
}
