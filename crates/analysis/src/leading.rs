//! The leading figure of each server in a run: the one by which its table is ordered and its headline answers. Over the
//! runs of an experiment it shows whether a server changes.

use crate::board::{Row, Table};

/// Which figure leads in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leading {
    /// Closed loops: correct answers a second, at the place where a server had the most.
    Throughput,
    /// One offered rate, which sets the throughput: the time within which 99 % of the answers came.
    P99,
    /// A service on the server's CPUs, which a rate is of, too, or an experiment that wants it: the server's own CPU time
    /// for an answer.
    CpuPerAnswer,
    /// Several offered rates: the highest that kept the promise.
    Capacity,
    /// Held connections: the memory that each of them takes.
    Memory,
}

impl Table {
    /// Which of its figures leads.
    #[must_use]
    pub fn leading(&self) -> Leading {
        if self.is_held() {
            return Leading::Memory;
        }
        match (self.rows.iter().any(Row::is_offered), self.points().len()) {
            _ if self.by_cpu => Leading::CpuPerAnswer,
            (false, _) => Leading::Throughput,
            (true, 1) => Leading::P99,
            (true, _) => Leading::Capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{at, counted, table};
    use lab::experiment::Point;

    /// What leads where one server had these loads.
    fn leading(points: &[Point]) -> Leading {
        let trials = points.iter().map(|point| {
            let mut trial = at("a", *point, 0);
            counted(&mut trial, 5_000, 5_000);
            trial
        });
        table(&trials.collect::<Vec<_>>()).leading()
    }

    #[test]
    fn throughput_leads_unless_a_schedule_sets_the_rate() {
        let closed = [Point::Connections(8), Point::Connections(64)];
        assert_eq!(leading(&closed), Leading::Throughput);
        assert_eq!(leading(&[Point::Requests(500.0)]), Leading::P99);
        let rates = [Point::Requests(500.0), Point::Requests(900.0)];
        assert_eq!(leading(&rates), Leading::Capacity);
    }
}
