//! Whether B is as good as A, within a tolerance: the answer of a gate, which may be that this data cannot decide.

use lab::experiment::Point;
use lab::figure::Figure;
use lab::named;

use super::{Pair, Versus};
use crate::board::Row;
use crate::difference::{Change, Comparison, Why};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// B may be worse by so much: 0.05 is 5 %.
    pub tolerance: f64,
    /// The figure by which it is judged; none: by what each load is about, see [`primary`].
    pub figure: Option<Figure>,
}

impl Default for Gate {
    fn default() -> Gate {
        Gate { tolerance: 0.05, figure: None }
    }
}

named! {
    pub enum GateAnswer {
        /// The worse end of B's interval is within the tolerance.
        Within = "within",
        /// This data cannot decide.
        CannotTell = "cannot_tell",
        /// B is worse by more than the tolerance: its whole interval is beyond it.
        Worse = "worse",
        /// A side answered more requests wrongly, or failed more of them, than is tolerated: nothing is compared.
        Failing = "failing",
    }
}

/// Why a pair cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// It could not be compared.
    Not(Why),
    /// The interval reaches across the tolerance.
    Wide,
    /// There are doubts about its rounds: A's, B's, or both sides'.
    Doubt,
    /// A round has too few samples for it.
    FewSamples,
}

/// One figure of a pair, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gated<'v, 'a> {
    pub pair: &'v Pair<'a>,
    pub figure: Figure,
    pub made: Result<Comparison, Why>,
    /// The answer, or why there is none.
    pub answer: Result<GateAnswer, Unsure>,
}

impl Pair<'_> {
    /// Why nothing is said of a comparison although it was made.
    #[must_use]
    pub fn unsure(&self, made: &Comparison) -> Option<Unsure> {
        if self.a.is_doubtful() || self.b.is_doubtful() {
            return Some(Unsure::Doubt);
        }
        (!made.is_supported).then_some(Unsure::FewSamples)
    }
}

/// What a load is about: for a closed loop, how much it does; for a schedule, what its requests cost, because their
/// number is given, and also where how much is done is not the server's alone; for held connections, what one of them
/// takes.
#[must_use]
pub(crate) fn primary(row: &Row) -> Figure {
    match row.point {
        Point::Connections(_) if !row.shares_cpu => Figure::Throughput,
        Point::Connections(_) | Point::Requests(_) | Point::Sessions(_) => Figure::CpuPerThousand,
        Point::Held(_) => Figure::MemoryPerConnection,
    }
}

impl Gated<'_, '_> {
    /// What it means for the answer as a whole.
    #[must_use]
    pub fn verdict(&self) -> GateAnswer {
        self.answer.unwrap_or(GateAnswer::CannotTell)
    }
}

impl<'a> Versus<'a> {
    /// Each pair, judged by its primary figure, as all its figures were decided; one of which a side is failing is not
    /// compared. Where A keeps up with a schedule and B does not, it is also judged by its share on time.
    #[must_use]
    pub fn gate(&self, gate: Gate) -> Vec<Gated<'_, 'a>> {
        let mut all: Vec<Gated<'_, 'a>> = Vec::new();
        for pair in &self.pairs {
            for figure in judged_by(pair, gate) {
                // What A does not have either is no loss.
                let is_any = 0 < pair.a.measured() + pair.b.measured();
                let made = pair.figures.iter().find(|(of, _)| *of == figure).map(|(_, made)| *made);
                if let Some(made) = made.filter(|_| is_any) {
                    all.push(Gated { pair, figure, made, answer: judge(pair, made) });
                }
            }
        }
        all
    }

    /// The answer for all pairs: failing if a side of any is; worse if any is; otherwise undecided if any is, if A measured rows that B does not
    /// have, or if there is nothing to judge.
    #[must_use]
    pub fn answer(&self, gated: &[Gated<'_, '_>]) -> GateAnswer {
        let is_open = self.alone[0].iter().any(|(_, row)| 0 < row.measured());
        let least = match gated.is_empty() || is_open {
            true => GateAnswer::CannotTell,
            false => GateAnswer::Within,
        };
        gated.iter().map(Gated::verdict).fold(least, GateAnswer::max)
    }
}

fn judged_by(pair: &Pair<'_>, gate: Gate) -> Vec<Figure> {
    if let Some(figure) = gate.figure {
        return vec![figure];
    }
    let fell = pair.a.judgement.kept_up == Some(true) && pair.b.judgement.kept_up == Some(false);
    let on_time = fell.then_some(Figure::OnTime);
    [primary(pair.a)].into_iter().chain(on_time).collect()
}

fn judge(pair: &Pair<'_>, made: Result<Comparison, Why>) -> Result<GateAnswer, Unsure> {
    let made = match made {
        Ok(made) => made,
        Err(Why::Faults) => return Ok(GateAnswer::Failing),
        Err(why) => return Err(Unsure::Not(why)),
    };
    if let Some(unsure) = pair.unsure(&made) {
        return Err(unsure);
    }
    match made.finding() {
        Change::Worse => Ok(GateAnswer::Worse),
        Change::Better | Change::Within => Ok(GateAnswer::Within),
        Change::Differs | Change::NotShown => Err(Unsure::Wide),
    }
}

#[cfg(test)]
mod tests;
