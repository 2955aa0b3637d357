//! The order of a table's rows: one for every table, chart and sentence, so that they cannot contradict one another.
//!
//! Closed loops are ordered by throughput. A rate that a schedule sets cannot order servers: of those that are offered
//! the same rate, the ones that kept up are first, by p99; those that fell behind follow, by their shares on time. Over
//! several offered rates servers are ordered by their capacity under the promise. Where the service of the workload has
//! no CPU of its own, or where the experiment wants it, the server's CPU time for an answer takes the place of all three.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use lab::experiment::Point;
use lab::figure::Figure;

use crate::board::{Row, Table};
use crate::compare::ranks;
use crate::difference::HEADLINE;
use crate::judgement::Unranked;

/// A row and its rank.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'t> {
    /// The row.
    pub row: &'t Row,
    /// From this rank to that: the order within this range is not known. None: it is not ranked, or there is only one
    /// round to judge by.
    pub rank: Option<(usize, usize)>,
}

impl Row {
    /// Whether a schedule determined when requests are due, whatever the server did.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.point.is_scheduled()
    }
}

impl Table {
    /// The places of the axis, from low to high.
    #[must_use]
    pub fn points(&self) -> Vec<Point> {
        let points: BTreeSet<Point> = self.rows.iter().map(|row| row.point).collect();
        points.into_iter().collect()
    }

    /// The competitors at one place, best first.
    #[must_use]
    pub fn at(&self, point: Point) -> Vec<Placed<'_>> {
        let rows = self.rows.iter().filter(|row| !row.is_reference && row.point == point);
        self.placed(rows.collect())
    }

    /// Every competitor once, best first: where its throughput was highest, or, if rates were offered, at the highest
    /// place at which it kept the promise.
    #[must_use]
    pub fn bests(&self) -> Vec<Placed<'_>> {
        match self.points().as_slice() {
            [] => Vec::new(),
            [only] => self.at(*only),
            _ if self.rows.iter().any(Row::is_offered) && !self.by_cpu => self.by_capacity(),
            _ => {
                let rows = self.competitors();
                self.placed(one_each(rows, |row| {
                    let peak = self.peaks.iter().find(|peak| peak.subject == row.subject);
                    peak.is_none_or(|peak| peak.point == row.point)
                }))
            }
        }
    }

    /// If rates were offered, the highest throughput of a server is its schedule's rate: peaks are in the order of the
    /// capacities.
    pub(crate) fn order_peaks(&mut self) {
        if self.rows.iter().any(Row::is_offered) {
            let order: Vec<String> =
                self.bests().iter().map(|placed| placed.row.subject.clone()).collect();
            let place = |subject: &String| order.iter().position(|other| other == subject);
            self.peaks.sort_by_key(|peak| place(&peak.subject).unwrap_or(order.len()));
        }
    }

    /// Whether too many of its competitors are invalid for any to be ranked: a rank among the few others is none.
    #[must_use]
    pub fn is_mostly_invalid(&self) -> bool {
        is_mostly_invalid(&self.competitors().collect::<Vec<_>>())
    }

    /// Whether too many of the competitors at one place are invalid for any of them to be ranked.
    #[must_use]
    pub fn is_mostly_invalid_at(&self, point: Point) -> bool {
        let here = self.competitors().filter(|row| row.point == point);
        is_mostly_invalid(&here.collect::<Vec<_>>())
    }

    /// Rows of one place, or each of another place, best first.
    fn placed<'t>(&self, rows: Vec<&'t Row>) -> Vec<Placed<'t>> {
        let is_void = is_mostly_invalid(&rows);
        let (ranked, rest): (Vec<&Row>, Vec<&Row>) =
            rows.into_iter().partition(|row| !is_void && row.judgement.is_ranked());
        let has_figure =
            |row: &&Row| !self.by_cpu || row.estimate(Figure::CpuPerThousand).is_some();
        let has_rounds =
            ranked.iter().all(|row| 1 < row.measured()) && ranked.iter().all(has_figure);
        let (behind, kept_up): (Vec<&Row>, Vec<&Row>) =
            ranked.into_iter().partition(|row| row.is_offered() && row.is_behind());
        let (offered, closed): (Vec<&Row>, Vec<&Row>) =
            kept_up.into_iter().partition(|row| row.is_offered());
        let mut groups = Vec::new();
        let instead = |figure| if self.by_cpu { Figure::CpuPerThousand } else { figure };
        let orders = [
            (closed, instead(Figure::Throughput)),
            (offered, instead(Figure::ResponseP99)),
            (behind, Figure::OnTime),
        ];
        let compared = orders.iter().filter(|(rows, _)| 1 < rows.len()).count().max(1) as f64;
        for (rows, figure) in orders {
            let found = ranks(&rows, figure, HEADLINE / self.orders() / compared);
            let is_found =
                |row: &&Row| found.iter().flatten().any(|other| std::ptr::eq(*other, *row));
            let lacking: Vec<&Row> = rows.iter().copied().filter(|row| !is_found(row)).collect();
            groups.extend(found);
            groups.extend(lacking.into_iter().map(|row| vec![row]));
        }
        let mut rest = rest;
        let rate = |row: &Row| row.estimate(Figure::Throughput).map_or(-1.0, |rate| rate.value);
        rest.sort_by(|one, other| {
            let by_rate = rate(other).total_cmp(&rate(one));
            one.unmet.is_some().cmp(&other.unmet.is_some()).then(by_rate)
        });
        groups.extend(rest.into_iter().map(|row| vec![row]));
        // At another rate than the others an answer may cost another amount.
        let is_apart = |row: &Row| self.by_cpu && row.is_offered() && row.is_behind();
        numbered(groups, |row| {
            !is_void && has_rounds && row.judgement.is_ranked() && !is_apart(row)
        })
    }

    fn by_capacity(&self) -> Vec<Placed<'_>> {
        let capacities = self.capacities();
        let good = |row: &Row| {
            let found = capacities.iter().find(|(subject, _)| *subject == row.subject);
            found.and_then(|(_, capacity)| capacity.good).map(Point::value)
        };
        let rows = self.competitors();
        let mut rows = one_each(rows, |row| good(row).is_none_or(|good| good == row.point.value()));
        let is_void = is_mostly_invalid(&rows);
        let key =
            |row: &Row| (is_void || row.judgement.is_ranked(), good(row).map_or(0, f64::to_bits));
        rows.sort_by_key(|row| Reverse(key(row)));
        let has_rounds =
            rows.iter().filter(|row| row.judgement.is_ranked()).all(|row| 1 < row.measured());
        let groups = rows.chunk_by(|one, other| key(one) == key(other));
        let groups: Vec<Vec<&Row>> = groups.map(<[&Row]>::to_vec).collect();
        numbered(groups, |row| !is_void && has_rounds && row.judgement.is_ranked())
    }
}

/// More than half of the measured rows have figures that do not answer the question, or only one has others.
pub(crate) fn is_mostly_invalid(rows: &[&Row]) -> bool {
    let is_invalid = |row: &&&Row| row.judgement.unranked == Some(Unranked::Invalid);
    let invalid = rows.iter().filter(is_invalid).count();
    let ranked = rows.iter().filter(|row| row.judgement.is_ranked()).count();
    let measured = rows.iter().filter(|row| 0 < row.measured()).count();
    measured < 2 * invalid || 0 < invalid && ranked == 1
}

/// For each subject the first row for which this holds, or otherwise its first row.
fn one_each<'t>(
    rows: impl Iterator<Item = &'t Row>,
    is_the_one: impl Fn(&Row) -> bool,
) -> Vec<&'t Row> {
    let rows: Vec<&Row> = rows.collect();
    let of_subjects = rows.chunk_by(|one, other| one.subject == other.subject);
    let chosen = |rows: &[&'t Row]| {
        rows.iter().copied().find(|row| is_the_one(row)).or(rows.first().copied())
    };
    of_subjects.filter_map(chosen).collect()
}

fn numbered<'t>(groups: Vec<Vec<&'t Row>>, has_rank: impl Fn(&Row) -> bool) -> Vec<Placed<'t>> {
    let mut all = Vec::new();
    for group in groups {
        let range = (all.len() + 1, all.len() + group.len());
        let placed = |row: &'t Row| Placed { row, rank: has_rank(row).then_some(range) };
        all.extend(group.into_iter().map(placed));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::fixture::{MS, at, counted, fact, growing, late, recording, responding, run};
    use crate::remark::Remark;
    use lab::record::TrialRecord;

    /// Two rounds of each server at one place, which differ by an answer; `made` makes them of how many answers it has.
    fn board<T: Copy>(
        point: Point,
        servers: &[(&str, u64, T)],
        made: impl Fn(&mut TrialRecord, u64, T),
    ) -> Board {
        let mut trials: Vec<TrialRecord> = Vec::new();
        for repeat in 0..2 {
            for &(server, answers, about) in servers {
                let mut trial = at(server, point, repeat);
                made(&mut trial, answers + u64::from(repeat), about);
                trials.push(trial);
            }
        }
        let entries: Vec<(&str, &str)> =
            servers.iter().map(|(server, ..)| (*server, "mature")).collect();
        Board::of(&run(&entries), &trials)
    }

    /// For each server its answers in ten seconds, out of 20,000 that were due, and its response time.
    fn answering(point: Point, servers: &[(&str, u64, u64)]) -> Board {
        board(point, servers, |trial, answers, response| {
            late(trial, 20_000, answers.min(20_000));
            let total = &mut recording(trial).total;
            total.correct_inside = answers;
            total.carried_in = answers.saturating_sub(20_000);
            total.warmup_attempted = total.carried_in;
            responding(trial, response + answers % 2);
        })
    }

    fn order(placed: &[Placed<'_>]) -> Vec<String> {
        placed.iter().map(|placed| placed.row.subject.clone()).collect()
    }

    #[test]
    fn a_backlog_that_comes_late_ranks_no_server_first() {
        let point = Point::Requests(2_000.0);
        let board = answering(point, &[("stalls", 21_000, 90 * MS), ("steady", 20_000, MS)]);
        assert_eq!(order(&board.tables[0].at(point)), ["steady", "stalls"]);
    }

    #[test]
    fn servers_that_fell_behind_stand_after_those_that_kept_up_however_fast_they_answered() {
        let point = Point::Requests(2_000.0);
        let all =
            [("least", 5_000, MS / 10), ("behind", 15_000, MS / 10), ("kept", 20_000, 9 * MS)];
        let board = answering(point, &all);
        assert_eq!(order(&board.tables[0].at(point)), ["kept", "behind", "least"]);
    }

    #[test]
    fn closed_loops_are_ordered_by_throughput_and_invalid_rows_come_last() {
        let point = Point::Connections(10);
        let mut board = answering(point, &[("a", 5_000, MS), ("b", 9_000, MS), ("c", 7_000, MS)]);
        assert_eq!(order(&board.tables[0].at(point)), ["b", "c", "a"]);
        let worst = &mut board.tables[0].rows[1];
        worst.judgement.unranked = Some(Unranked::Unmet);
        let placed = board.tables[0].at(point);
        assert_eq!(order(&placed), ["c", "a", "b"]);
        let is_ranked: Vec<bool> = placed.iter().map(|placed| placed.rank.is_some()).collect();
        assert_eq!(is_ranked, [true, true, false]);
    }

    /// For each server its answers in ten seconds, and its CPU time in nanoseconds; none if it is not known.
    fn beside_a_service(point: Point, servers: &[(&str, u64, Option<f64>)]) -> Board {
        board(point, servers, |trial, answers, cpu_ns| {
            match point {
                Point::Requests(_) => late(trial, 20_000, answers),
                _ => counted(trial, answers, answers),
            }
            trial.conditions.push(fact("service", "a store"));
            if let Some(ns) = cpu_ns {
                growing(trial, "subject.cpu.total", "ns", ns);
            }
        })
    }

    #[test]
    fn beside_a_service_on_its_cpus_servers_are_ordered_by_their_own_cpu_time_for_an_answer() {
        let point = Point::Connections(10);
        let all = [("fast", 9_000, Some(9e9)), ("lean", 5_000, Some(1e9)), ("c", 6_000, Some(4e9))];
        let board = beside_a_service(point, &all);
        let table = &board.tables[0];
        assert!(table.by_cpu);
        let placed = table.at(point);
        assert_eq!(order(&placed), ["lean", "c", "fast"]);
        assert!(placed.iter().all(|placed| placed.rank.is_some()));
        let is_ceiling = |remark: &Remark| remark.id() == "no_ceiling";
        assert!(!table.remarks.iter().any(is_ceiling), "{:?}", table.remarks);
        assert!(table.remarks.contains(&Remark::SharesCpu));
        let unknown = [("fast", 9_000, Some(9e9)), ("unknown", 5_000, None)];
        let board = beside_a_service(point, &unknown);
        let table = &board.tables[0];
        assert!(table.at(point).iter().all(|placed| placed.rank.is_none()));
        assert!(table.remarks.contains(&Remark::CpuUnknown { lacking: vec!["unknown".into()] }));
    }

    #[test]
    fn beside_a_service_a_server_that_fell_behind_a_rate_has_no_rank() {
        let point = Point::Requests(2_000.0);
        let all =
            [("lean", 19_990, Some(1e9)), ("behind", 9_000, Some(1e8)), ("c", 19_990, Some(4e9))];
        let board = beside_a_service(point, &all);
        let placed = board.tables[0].at(point);
        assert_eq!(order(&placed), ["lean", "c", "behind"]);
        let has_rank: Vec<bool> = placed.iter().map(|placed| placed.rank.is_some()).collect();
        assert_eq!(has_rank, [true, true, false]);
    }

    #[test]
    fn where_most_rows_are_invalid_none_has_a_rank_and_all_are_in_the_order_of_their_figures() {
        let point = Point::Connections(10);
        let all = [("a", 5_000, MS), ("b", 9_000, MS), ("c", 7_000, MS), ("d", 8_000, MS)];
        let mut board = answering(point, &[&all[..], &[("e", 6_000, MS)]].concat());
        for row in &mut board.tables[0].rows[1..4] {
            row.judgement.unranked = Some(Unranked::Invalid);
        }
        let table = &board.tables[0];
        assert!(table.is_mostly_invalid());
        assert_eq!(order(&table.at(point)), ["b", "d", "c", "e", "a"]);
        assert!(table.at(point).iter().all(|placed| placed.rank.is_none()));
        assert!(table.ranks(Figure::Throughput, point).is_empty(), "in JSON, too");
    }
}
