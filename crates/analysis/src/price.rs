//! What servers pay for TLS, for HTTP/2 and for full handshakes, or save by them: the same workload in two manners of one
//! run, round by round.

use lab::experiment::Point;
use lab::figure::{Better, Figure};
use lab::manner::{Manner, Protocol, Task};
use lab::named;

use crate::board::{Board, Row, Table};
use crate::compare::{Pair, decide_all, pair, primary, share_spreads};
use crate::difference::common_spread;
use crate::judgement::Unranked;
use crate::verdict::Verdict;

named! {
    /// What one of two manners has, and the other has not.
    pub enum PaidFor {
        Tls = "tls" => "TLS",
        Http2 = "http2" => "HTTP/2",
        /// Sessions that are resumed, against full handshakes.
        Resumption = "resumption" => "resumption",
    }
}

/// What servers pay for one thing at one place of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct MannerPrice<'b> {
    pub paid_for: PaidFor,
    /// Without it, then with it.
    pub tasks: [Task; 2],
    pub point: Point,
    /// The servers' rows without it (A) and with it (B): by their primary figure, best first; references last.
    pub pairs: Vec<Pair<'b>>,
    /// Rows that are no measurement or not ranked: their servers have no price.
    pub left_out: Vec<LeftOut<'b>>,
}

/// A row because of which its server has no price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut<'b> {
    /// The name of its task.
    pub task: &'b str,
    pub row: &'b Row,
    pub why: &'b Unranked,
}

impl MannerPrice<'_> {
    /// The figure that a sentence about it names: in a closed loop throughput, at an offered rate the CPU time of answers.
    #[must_use]
    pub fn primary(&self) -> Figure {
        self.pairs.first().map_or(Figure::Throughput, |pair| primary(pair.a))
    }
}

impl Board {
    /// Every price that this run can tell, in the order of its tables; all are decided together.
    #[must_use]
    pub fn prices(&self) -> Vec<MannerPrice<'_>> {
        let tasks: Vec<(Task, &Table)> =
            self.tables.iter().map(|table| (Task::named(&table.workload), table)).collect();
        let mut prices = Vec::new();
        for (with, table) in &tasks {
            for (paid_for, manner) in bases(with.manner) {
                let is_base = |(other, _): &&(Task, &Table)| {
                    (&other.workload, other.manner) == (&with.workload, manner)
                };
                let Some((without, base)) = tasks.iter().find(is_base) else { continue };
                let tasks = [without.clone(), with.clone()];
                for point in table.points() {
                    prices.extend(price(paid_for, tasks.clone(), [base, table], point));
                }
            }
        }
        decide_all(prices.iter_mut().flat_map(|price| price.pairs.iter_mut()), None);
        // One workload after the other, and of each first all that is paid for TLS.
        let of_workload = |one: &MannerPrice<'_>, other: &MannerPrice<'_>| {
            one.tasks[0].workload == other.tasks[0].workload
        };
        for prices in prices.chunk_by_mut(of_workload) {
            prices.sort_by_key(|price| price.paid_for);
        }
        prices
    }
}

/// What a manner has more than another: for each, what that other one is.
fn bases(with: Manner) -> Vec<(PaidFor, Manner)> {
    let tls = match with.protocol {
        Protocol::Http1Tls => Some(Protocol::Http1),
        Protocol::H2 => Some(Protocol::H2c),
        Protocol::Http1 | Protocol::H2c => None,
    };
    let http2 = match with.protocol {
        Protocol::H2c => Some(Protocol::Http1),
        Protocol::H2 => Some(Protocol::Http1Tls),
        Protocol::Http1 | Protocol::Http1Tls => None,
    };
    let one = Manner::default().streams;
    let tls = tls.map(|protocol| (PaidFor::Tls, Manner { protocol, resumed: 0, ..with }));
    let http2 = http2.map(|protocol| (PaidFor::Http2, Manner { protocol, streams: one, ..with }));
    let resumed =
        (0 < with.resumed).then_some((PaidFor::Resumption, Manner { resumed: 0, ..with }));
    [tls, http2, resumed].into_iter().flatten().collect()
}

/// Nothing if no server has both rows.
fn price<'b>(
    paid_for: PaidFor,
    tasks: [Task; 2],
    [without, with]: [&'b Table; 2],
    point: Point,
) -> Option<MannerPrice<'b>> {
    let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
    for b in with.rows.iter().filter(|row| row.point == point) {
        let is_same = |row: &&Row| (&row.subject, row.point) == (&b.subject, point);
        let Some(a) = without.rows.iter().find(is_same) else { continue };
        let lacking = [(without, a), (with, b)].map(|(table, row)| lacks(table, row));
        match lacking.iter().any(Option::is_some) {
            true => left_out.extend(lacking.into_iter().flatten()),
            false => pairs.push(pair(&with.workload, [a, b], true, None)),
        }
    }
    if pairs.is_empty() && left_out.is_empty() {
        return None;
    }
    share_spreads(&mut pairs, |_, made| common_spread(made.iter().map(|comparison| &**comparison)));
    let mut price = MannerPrice { paid_for, tasks, point, pairs, left_out };
    let primary = price.primary();
    sort(&mut price.pairs, primary);
    Some(price)
}

/// A row that is not ranked has no price, unless it is a reference's: that shows what dyno and the machine pay.
fn lacks<'b>(table: &'b Table, row: &'b Row) -> Option<LeftOut<'b>> {
    let why = match &row.judgement.unranked {
        None => return None,
        Some(Unranked::Reference) if row.verdict() == Some(Verdict::Invalid) => &Unranked::Invalid,
        Some(Unranked::Reference) if row.measured() == 0 => &Unranked::Unmeasured,
        Some(Unranked::Reference) => return None,
        Some(why) => why,
    };
    Some(LeftOut { task: &table.workload, row, why })
}

fn sort(pairs: &mut [Pair<'_>], figure: Figure) {
    let ratio = |pair: &Pair<'_>| {
        let made = pair.made(figure).ok().map(|made| made.ratio);
        made.or(pair.single_ratio(figure))
    };
    let worth = |pair: &Pair<'_>| match (ratio(pair), figure.better()) {
        (None, _) => f64::NEG_INFINITY,
        (Some(ratio), Better::Higher) => ratio,
        (Some(ratio), Better::Lower | Better::Neither) => -ratio,
    };
    pairs.sort_by(|one, other| {
        let by_reference = one.b.is_reference.cmp(&other.b.is_reference);
        by_reference.then(worth(other).total_cmp(&worth(one)))
    });
}

#[cfg(test)]
mod tests;
