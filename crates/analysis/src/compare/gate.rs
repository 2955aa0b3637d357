//! Whether B is as good as A, within a tolerance: the answer of a gate, which may be that this data cannot decide.

use lab::experiment::Point;
use lab::figure::{Better, Figure};

use super::{ALPHA, Comparison, Pair, Versus, Why};
use crate::student;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateAnswer {
    /// The worse end of B's interval is within the tolerance.
    Within,
    /// This data cannot decide.
    CannotTell,
    /// B is worse by more than the tolerance: its whole interval is beyond it.
    Worse,
    /// A side answered more requests wrongly, or failed more of them, than is tolerated: nothing is compared.
    Failing,
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

/// What a load is about: for a closed loop, how much it does; for a schedule, what its requests cost, because their
/// number is given; for held connections, what one of them takes.
#[must_use]
pub(crate) fn primary(point: Point) -> Figure {
    match point {
        Point::Connections(_) => Figure::Throughput,
        Point::Requests(_) | Point::Sessions(_) => Figure::CpuPerThousand,
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
    /// Each pair, judged by its primary figure; one of which a side is failing is not compared. Where A keeps up with a schedule and B does not, it is also judged by
    /// its share on time. The probability that even one of all pairs is called worse by chance is at most 1 in 40.
    #[must_use]
    pub fn gate(&self, gate: Gate) -> Vec<Gated<'_, 'a>> {
        let mut all: Vec<Gated<'_, 'a>> = Vec::new();
        for pair in &self.pairs {
            for figure in judged_by(pair, gate) {
                // What A does not have either is no loss.
                let is_any = 0 < pair.a.measured() + pair.b.measured();
                let made = pair.figures.iter().find(|(of, _)| *of == figure).map(|(_, made)| *made);
                if let Some(made) = made.filter(|_| is_any) {
                    all.push(Gated { pair, figure, made, answer: Err(Unsure::Wide) });
                }
            }
        }
        let beyond = beyond_chance(&all, gate.tolerance);
        for (gated, is_worse) in all.iter_mut().zip(beyond) {
            gated.answer = judge(gated, is_worse, gate.tolerance);
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
    [primary(pair.a.point)].into_iter().chain(on_time).collect()
}

/// For each, whether it is worse by more than the tolerance, and not by chance: Holm's correction of one-sided
/// p-values.
fn beyond_chance(all: &[Gated<'_, '_>], tolerance: f64) -> Vec<bool> {
    let p = |gated: &Gated<'_, '_>| gated.made.map_or(1.0, |made| made.worse_by_chance(tolerance));
    let mut order: Vec<(usize, f64)> = all.iter().map(p).enumerate().collect();
    order.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut beyond = vec![false; all.len()];
    for (place, (which, p)) in order.iter().enumerate() {
        if ALPHA / 2.0 <= p * (order.len() - place) as f64 {
            break;
        }
        beyond[*which] = true;
    }
    beyond
}

fn judge(gated: &Gated<'_, '_>, is_worse: bool, tolerance: f64) -> Result<GateAnswer, Unsure> {
    let made = match gated.made {
        Ok(made) => made,
        Err(Why::Faults) => return Ok(GateAnswer::Failing),
        Err(why) => return Err(Unsure::Not(why)),
    };
    if gated.pair.a.is_doubtful() || gated.pair.b.is_doubtful() {
        return Err(Unsure::Doubt);
    }
    if !made.is_supported {
        return Err(Unsure::FewSamples);
    }
    match (is_worse, made.is_within(tolerance)) {
        (true, _) => Ok(GateAnswer::Worse),
        (false, true) => Ok(GateAnswer::Within),
        (false, false) => Err(Unsure::Wide),
    }
}

impl Comparison {
    /// Whether the worse end of the interval is within the tolerance.
    #[must_use]
    pub fn is_within(&self, tolerance: f64) -> bool {
        let (low, high) = self.interval;
        match self.figure.better() {
            Better::Higher => 1.0 - tolerance <= low,
            Better::Lower => high <= 1.0 + tolerance,
            Better::Neither => 1.0 - tolerance <= low && high <= 1.0 + tolerance,
        }
    }

    /// How likely chance alone makes B seem so bad, if it is worse by no more than the tolerance.
    fn worse_by_chance(&self, tolerance: f64) -> f64 {
        // How far it is beyond the tolerance, in logarithms, on the worse side.
        let beyond = match self.figure.better() {
            Better::Higher => (1.0 - tolerance).ln() - self.ratio.ln(),
            Better::Lower => self.ratio.ln() - tolerance.ln_1p(),
            Better::Neither => return 1.0,
        };
        let two_sided = student::two_sided(beyond / self.error, self.freedom);
        if 0.0 < beyond { two_sided / 2.0 } else { 1.0 - two_sided / 2.0 }
    }
}

#[cfg(test)]
mod tests;
