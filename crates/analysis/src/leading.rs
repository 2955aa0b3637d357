//! The leading figure of each server in a run: the one by which its table is ordered and its headline answers. Over the
//! runs of an experiment it shows whether a server changes.

use lab::experiment::Point;
use lab::figure::Figure;

use crate::board::{Board, Row, Table};
use crate::capacity::Capacity;
use crate::estimate::Estimate;
use crate::held::Slope;

/// Which figure leads in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leading {
    /// Closed loops: correct answers a second, at the place where a server had the most.
    Throughput,
    /// One offered rate, which sets the throughput: the time within which 99 % of the answers came.
    P99,
    /// A service on the server's CPUs, which a rate is of, too: the server's own CPU time for an answer.
    CpuPerAnswer,
    /// Several offered rates: the highest that kept the promise.
    Capacity,
    /// Held connections: the memory that each of them takes.
    Memory,
}

/// The value of a server's leading figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Lead {
    /// Of the figure of one row.
    Row(Estimate),
    /// Of a curve.
    Capacity(Capacity),
    /// Of a ramp.
    Memory(Slope),
}

/// A server in a table with its leading figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Leader<'t> {
    /// Its row: for a curve, where it did best.
    pub row: &'t Row,
    /// None: it was not measured, or it kept the promise at no place.
    pub lead: Option<Lead>,
}

impl Table {
    /// Which of its figures leads.
    #[must_use]
    pub fn leading(&self) -> Leading {
        if self.is_held() {
            return Leading::Memory;
        }
        match (self.rows.iter().any(Row::is_offered), self.points().len()) {
            _ if self.shares_cpu => Leading::CpuPerAnswer,
            (false, _) => Leading::Throughput,
            (true, 1) => Leading::P99,
            (true, _) => Leading::Capacity,
        }
    }
}

impl Board {
    /// The leading figure of each competitor, best first.
    #[must_use]
    pub fn leaders<'t>(&'t self, table: &'t Table) -> Vec<Leader<'t>> {
        let capacities = table.capacities();
        let lead = |row: &Row| match row.measured() {
            0 => None,
            _ => self.lead(table, row, &capacities),
        };
        let bests = table.bests().into_iter();
        bests.map(|placed| Leader { row: placed.row, lead: lead(placed.row) }).collect()
    }

    fn lead(&self, table: &Table, row: &Row, capacities: &[(&str, Capacity)]) -> Option<Lead> {
        match table.leading() {
            Leading::Throughput => row.estimate(Figure::Throughput).map(Lead::Row),
            Leading::CpuPerAnswer => row.estimate(Figure::CpuPerThousand).map(Lead::Row),
            Leading::P99 => row.estimate(Figure::ResponseP99).map(Lead::Row),
            Leading::Capacity => {
                let (_, found) = capacities.iter().find(|(subject, _)| *subject == row.subject)?;
                found.good.is_some().then(|| Lead::Capacity(found.clone()))
            }
            Leading::Memory => self.memory(table, row).map(Lead::Memory),
        }
    }

    fn memory(&self, table: &Table, row: &Row) -> Option<Slope> {
        let ramps = self.ramps.iter().find(|ramps| ramps.workload == table.workload)?;
        let is_row = |held: &&crate::held::HeldSubject| {
            held.subject == row.subject && row.point == Point::Held(held.connections)
        };
        ramps.subjects.iter().find(is_row)?.price.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, counted, healthy, run};
    use lab::record::TrialRecord;
    use load::{Distribution, SECOND};

    /// Two rounds of one server at these places, each with so many answers in ten seconds.
    fn board(places: &[(Point, u64)]) -> Board {
        let trial = |repeat: u32, (point, answers): (Point, u64)| {
            let mut trial = healthy();
            (trial.key.subject, trial.key.point, trial.key.repeat) = ("a".into(), point, repeat);
            counted(&mut trial, answers, answers);
            let total = &mut trial.loaded.as_mut().unwrap().recording.total;
            total.response = Distribution::new(5 * SECOND);
            (0..2_000).for_each(|n| total.response.record(MS + n));
            trial
        };
        let all = (0..2).flat_map(|repeat| places.iter().map(move |place| trial(repeat, *place)));
        Board::of(&run(&[("a", "mature")]), &all.collect::<Vec<TrialRecord>>())
    }

    fn lead(places: &[(Point, u64)]) -> (Leading, Point, Lead) {
        let board = board(places);
        let table = &board.tables[0];
        let leaders = board.leaders(table);
        (table.leading(), leaders[0].row.point, leaders[0].lead.clone().unwrap())
    }

    #[test]
    fn a_closed_loop_is_led_by_its_highest_throughput() {
        let places = [(Point::Connections(8), 5_000), (Point::Connections(64), 9_000)];
        let (leading, point, lead) = lead(&places);
        assert_eq!((leading, point), (Leading::Throughput, Point::Connections(64)));
        assert!(matches!(lead, Lead::Row(rate) if (rate.value - 900.0).abs() < 1.0), "{lead:?}");
    }

    #[test]
    fn where_a_schedule_sets_the_rate_it_does_not_lead() {
        let (leading, _, lead) = lead(&[(Point::Requests(500.0), 5_000)]);
        assert_eq!(leading, Leading::P99);
        assert!(matches!(lead, Lead::Row(p99) if p99.value < 1.1), "{lead:?}");
    }

    #[test]
    fn over_several_rates_the_capacity_leads() {
        let places = [(Point::Requests(500.0), 5_000), (Point::Requests(900.0), 9_000)];
        let (leading, _, lead) = lead(&places);
        assert_eq!(leading, Leading::Capacity);
        let good = Some(Point::Requests(900.0));
        assert!(matches!(lead, Lead::Capacity(found) if found.good == good));
    }
}
