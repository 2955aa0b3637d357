//! What a gate says as a whole: of the figures of all its loads, of what was disturbed, of equal code, and of the RFCs.

use lab::experiment::Point;
use lab::figure::{Better, Figure};
use lab::named;

use super::{
    Against, Answer, Bounds, Difference, Finding, GateCourse, PairOf, Rule, concluded,
    false_alarms, judged, judged_pairs, least_shown, looks, means,
};
use crate::conduct::Conduct;
use crate::doubt::Doubt;

/// How often signs are flipped to see what the rule says of a figure's own noise.
const FLIPPED: u32 = 2_000;

/// So many failed trials of the head, while the base was measured, are no accident.
const FAILED: usize = 2;

/// A load of a gate: its pairs, and the figures that are gated and those that are only shown.
pub struct Gated<'c> {
    pub course: &'c GateCourse,
    pub gated: Vec<Figure>,
    pub shown: Vec<Figure>,
}

/// One figure of one load.
#[derive(Clone, Debug)]
pub struct Weighed {
    pub figure: Figure,
    /// The load.
    pub point: Point,
    pub is_gated: bool,
    pub finding: Finding,
    /// The geometric means of base and head: over the pairs of the finding, or over all where none counts.
    pub means: Option<[f64; 2]>,
    /// What the pairs showed, those that do not count among them.
    pub pairs: Vec<PairOf>,
    /// The head's divided by the base's, with its 95 % interval; none where both are bounds.
    pub ratio: Option<f64>,
    pub interval: Option<(f64, f64)>,
    /// The base's times are bounds, so that the true ratio may be less; the head's are, and it may be more. The interval
    /// is open there.
    pub bounds: [bool; 2],
    /// The least difference that its pairs would have shown: 0.05 is 5 %.
    pub least: Option<f64>,
    /// How often the rule calls this noise worse where it is only noise: with signs by chance. None for fewer pairs than
    /// the first look needs.
    pub false_alarms: Option<f64>,
    /// The base against itself, where it has a second build.
    pub control: Option<Finding>,
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    NotWorse,
    Worse(WhyWorse),
    CannotTell(WhyUnclear),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyWorse {
    Figures,
    /// The head breaks clauses of the RFCs that the base keeps.
    Conformance,
    /// The head was not ready, died or answered wrongly, and the base was measured.
    Failed,
    /// The head gave more wrong answers, or failed more requests, than is tolerated, and the base did not.
    Faults,
}

named! {
    pub enum WhyUnclear {
        /// The base gave more wrong answers, or failed more requests, than is tolerated.
        Base = "base",
        /// More than a third of the pairs were disturbed, or none counts.
        Disturbed = "disturbed",
        /// Equal code differs on this machine as well.
        Control = "control",
        /// Pairs have no answer.
        Figures = "figures",
        /// It is not known which clauses of the RFCs the head newly breaks.
        Conformance = "conformance",
        /// The time was over before a load began that is gated.
        Limit = "limit",
    }
}

impl Weighed {
    /// Which of the means, the base's and the head's, are bounds.
    #[must_use]
    pub fn are_bounds(&self) -> [bool; 2] {
        let judged = || judged_pairs(&self.pairs, self.finding.pairs);
        [0, 1].map(|side| judged().any(|pair| pair.are_bounds[side]))
    }
}

/// Everything that is known of a gate's figures.
#[derive(Clone, Debug)]
pub struct Weighing {
    pub rule: Rule,
    pub figures: Vec<Weighed>,
    pub verdict: Verdict,
    /// How base and head answered.
    pub conduct: [Conduct; 2],
    /// Pairs that were tried, and those that count, over all loads.
    pub tried: usize,
    pub counted: usize,
    pub disturbances: Vec<Doubt>,
}

impl Weighing {
    /// Nothing was measured.
    #[must_use]
    pub fn of_nothing(rule: Rule) -> Weighing {
        weigh(&[], rule, 0)
    }

    /// Whether it says worse, and a figure does. What the RFCs or failed requests say has nothing to do with CPU time.
    #[must_use]
    pub fn is_worse_by_figures(&self) -> bool {
        let is_worse = |it: &Weighed| it.is_gated && it.finding.answer == Answer::Worse;
        matches!(self.verdict, Verdict::Worse(WhyWorse::Figures | WhyWorse::Conformance))
            && self.figures.iter().any(is_worse)
    }
}

impl GateCourse {
    /// Whether its pairs show that an answer of the head costs more CPU time, whether that is gated or not.
    #[must_use]
    pub fn shows_more_cpu(&self, rule: Rule) -> bool {
        let differences = self.compared(Figure::CpuPerThousand, Against::Head);
        let found = concluded(&differences, rule, rule.alpha);
        found.answer == Answer::Worse || found.half.is_some_and(|half| half < found.mean)
    }
}

/// Weighs the loads of a gate; `newly_broken` is how many clauses the head breaks and the base keeps.
#[must_use]
pub fn weigh(loads: &[Gated<'_>], rule: Rule, newly_broken: usize) -> Weighing {
    let differences: Vec<Vec<Difference>> = loads
        .iter()
        .flat_map(|load| load.gated.iter().map(|it| load.course.compared(*it, Against::Head)))
        .collect();
    let gated: Vec<&[Difference]> = differences.iter().map(Vec::as_slice).collect();
    let mut findings = judged(&gated, rule).into_iter();
    let level = rule.alpha / gated.len().max(1) as f64;
    let mut figures = Vec::new();
    for load in loads {
        for &figure in load.gated.iter().chain(&load.shown) {
            let finding = load.gated.contains(&figure).then(|| findings.next()).flatten();
            figures.push(weighed(load, figure, finding, (rule, level)));
        }
    }
    let is_failed =
        loads.iter().map(|load| load.course).any(|it| FAILED <= it.failed(Against::Head).len());
    // What disturbs figures does not disturb what else is gated.
    let mut timed = loads.iter().filter(|it| !it.gated.is_empty()).map(|load| load.course);
    let is_disturbed = timed.any(|it| it.is_disturbed() || it.counted() == 0);
    let conduct = [0, 1].map(|side| {
        let all = || loads.iter().map(|load| load.course.conduct()[side]);
        let worst = all().find(|it| !it.is_tolerated());
        worst.or_else(|| all().find(|it| *it != Conduct::Sound)).unwrap_or_default()
    });
    let verdict = match (conduct.map(Conduct::is_tolerated), newly_broken) {
        ([true, false], _) => Verdict::Worse(WhyWorse::Faults),
        ([false, _], _) => Verdict::CannotTell(WhyUnclear::Base),
        (_, 1..) => Verdict::Worse(WhyWorse::Conformance),
        _ if is_failed => Verdict::Worse(WhyWorse::Failed),
        _ if is_disturbed => Verdict::CannotTell(WhyUnclear::Disturbed),
        _ => by_figures(&figures),
    };
    Weighing {
        rule,
        verdict,
        conduct,
        figures,
        tried: loads.iter().map(|load| load.course.tried()).sum(),
        counted: loads.iter().map(|load| load.course.counted()).sum(),
        disturbances: loads.iter().flat_map(|it| it.course.disturbances().cloned()).collect(),
    }
}

fn by_figures(figures: &[Weighed]) -> Verdict {
    let gated = || figures.iter().filter(|it| it.is_gated);
    let answers = |of: Answer| gated().any(|it| it.finding.answer == of);
    let is_apart = |it: &Weighed| it.control.is_some_and(|it| it.answer == Answer::Worse);
    if gated().any(is_apart) {
        return Verdict::CannotTell(WhyUnclear::Control);
    }
    match (answers(Answer::Worse), gated().all(|it| it.finding.answer == Answer::NotWorse)) {
        (true, _) => Verdict::Worse(WhyWorse::Figures),
        (false, true) => Verdict::NotWorse,
        (false, false) => Verdict::CannotTell(WhyUnclear::Figures),
    }
}

fn weighed(
    load: &Gated<'_>,
    figure: Figure,
    finding: Option<Finding>,
    (rule, level): (Rule, f64),
) -> Weighed {
    let differences = load.course.compared(figure, Against::Head);
    let is_gated = finding.is_some();
    let finding = finding.unwrap_or_else(|| concluded(&differences, rule, level));
    let is_looked = looks(rule.builds).first().is_some_and(|first| *first <= differences.len());
    let around: Vec<f64> = differences.iter().map(|it| it.value - finding.mean).collect();
    let worse_is = if figure.better() == Better::Higher { -1.0 } else { 1.0 };
    let ratio = |difference: f64| (worse_is * difference).exp();
    let interval = finding.half.map(|half| {
        let ends = [ratio(finding.mean - half), ratio(finding.mean + half)];
        (ends[0].min(ends[1]), ends[0].max(ends[1]))
    });
    let Bounds { may_be_worse, may_be_better } = finding.bounds;
    let [may_be_less, may_be_more] = match figure.better() {
        Better::Higher => [may_be_worse, may_be_better],
        Better::Lower | Better::Neither => [may_be_better, may_be_worse],
    };
    let open = |(low, high): (f64, f64)| {
        (if may_be_less { 0.0 } else { low }, if may_be_more { f64::INFINITY } else { high })
    };
    let is_known = !(may_be_less && may_be_more);
    let pairs = load.course.pairs(figure, Against::Head);
    Weighed {
        figure,
        point: load.course.point(),
        is_gated,
        means: means(&pairs, finding.pairs),
        pairs,
        ratio: is_known.then(|| ratio(finding.mean)),
        interval: interval.filter(|_| is_known).map(open),
        bounds: [may_be_less, may_be_more],
        least: least_shown(finding.spread, finding.pairs, rule, level),
        false_alarms: is_looked.then(|| false_alarms(&around, rule, level, FLIPPED)),
        control: control(load.course, figure, rule, level),
        finding,
    }
}

/// Whether the second build of the base differs from the first, to either side.
fn control(course: &GateCourse, figure: Figure, rule: Rule, level: f64) -> Option<Finding> {
    let worse = course.compared(figure, Against::Control);
    if worse.is_empty() {
        return None;
    }
    let better: Vec<Difference> = worse.iter().map(|it| it.reversed()).collect();
    let sides = [worse, better].map(|side| concluded(&side, rule, level));
    Some(*sides.iter().find(|it| it.answer == Answer::Worse).unwrap_or(&sides[0]))
}

#[cfg(test)]
mod tests;
