//! A gate as JSON, `dyno.gate/1`.

use std::collections::BTreeSet;

use analysis::gate::{Answer, PairOf, Weighed};
use analysis::why::Explained;
use analysis::{By, Conduct, Doubt, Faults};
use lab::experiment::Point;

use super::FinishedGate;
use crate::json::json_type;
use crate::run::findings::Findings;
use crate::verdict::ExplainedDoubt;

json_type! {
    /// A gate: whether the head is worse than the base, with known error rates. gate.md explains the rule.
    pub(crate) struct GateDocument<'t> as "gate", "dyno.gate/1" of gate: FinishedGate<'_>;
        let weighing = gate.weighing;
        let rule = weighing.rule;
        let disturbances = weighing.disturbances.iter().map(Doubt::id).collect::<BTreeSet<_>>();
        let first = weighing.disturbances.first();
        let [base_faults, head_faults] = weighing.conduct.map(Conduct::faults);
        let explained = gate.why.as_ref().and_then(|why| why.as_ref().ok());
    {
        /// the answer in plain words
        sentence: String = gate.sentence(),
        /// not_worse, worse, cannot_tell, refused or interrupted: exit codes 0, 1, 2, 2, 130
        #[schemars(extend("enum" = ["not_worse", "worse", "cannot_tell", "refused", "interrupted"]))]
        answer: &'static str = gate.word().name(),
        /// why there is no answer: base (it answers wrongly or fails), disturbed, control, figures, limit, conformance;
        /// null: there is one, or nothing was compared
        unclear: Option<&'static str> = gate.unclear(),
        /// what the base is
        base: &'t str,
        /// what the head is
        head: &'t str,
        /// the command line
        command: &'t str,
        /// the ids of the kept runs: the closed loop, and the load at a fixed rate
        runs: &'t [String] = &gate.runs,
        /// when the first of them began: milliseconds since 1970; null: none did
        began_unix_ms: Option<i64> = gate.run.map(|run| run.began_unix_ms),
        /// the probability that equal code is called worse, over all that is gated
        alpha_percent: f64 = 100.0 * rule.alpha,
        /// a head that is worse by so much is to be found
        detect_percent: f64 = 100.0 * rule.detect,
        /// the probability that such a head is called no worse
        missed_percent: f64 = 100.0 * rule.missed,
        /// so many builds of base and of head took turns, and each counts once; null: all pairs are of one build
        builds: Option<usize> = rule.builds,
        /// pairs that were tried
        pairs_tried: usize = weighing.tried,
        /// pairs in which neither was disturbed
        pairs_counted: usize = weighing.counted,
        /// the doubts about the other pairs, one of each
        disturbances: Vec<&'static str> = disturbances.into_iter().collect(),
        /// what disturbed the first of them; null: nothing did, or it is not known
        disturbed_by: Option<ExplainedDoubt> =
            first.map(|found| ExplainedDoubt::of(found, By::Experiment)),
        /// what the base answered wrongly or failed, over all pairs of a load: of the load in which that is more than
        /// is tolerated, else of the first one; null: nothing
        base_faults: Option<Faults> = base_faults,
        /// the same of the head
        head_faults: Option<Faults> = head_faults,
        /// the throughput of pairs of the base against itself, measured beforehand; the head of such a pair is the base
        /// again
        equal_pairs: Vec<PairJson> = gate.equal.iter().map(PairJson::from).collect(),
        /// the figures that are gated, and those that are only shown
        figures: Vec<FigureJson> = weighing.figures.iter().map(FigureJson::from).collect(),
        /// cases of the RFCs that the head breaks and the base keeps; null: this was not compared
        newly_broken: Option<&'t [String]> =
            gate.newly_broken.as_ref().and_then(|it| it.as_ref().ok()).map(Vec::as_slice),
        /// where the CPU time of answers of base and head goes; empty where they were not sampled
        why: &'t [Explained] = explained.map_or(&[], Findings::explained),
        /// why no profile says where it is worse; null: one does, or it is not worse by a figure
        why_unknown: Option<&'t str> =
            gate.why.as_ref().and_then(|why| why.as_ref().err()).map(String::as_str),
    }
}

json_type! {
    /// A figure of base and head of a pair.
    pub(crate) struct PairJson as "gate_pair" of pair: PairOf {
        /// the base's
        base: f64 = pair.base,
        /// whether the true one is no less: requests were given up
        base_is_bound: bool = pair.are_bounds[0],
        /// the head's
        head: f64 = pair.side,
        /// whether the true one is no less
        head_is_bound: bool = pair.are_bounds[1],
        /// whether the pair counts: neither was disturbed
        counts: bool,
    }
}

// `Weighed` has base and head as arrays; here each has a name, and an open end of an interval is null.
json_type! {
    /// A figure of a gate.
    pub(crate) struct FigureJson as "gate_figure" of weighed: Weighed {
        /// its name in figures.md
        figure: &'static str = weighed.figure.name(),
        /// its unit
        unit: &'static str = weighed.figure.unit().name(),
        #[serde(flatten)]
        point: Point,
        /// whether it decides; otherwise it is only shown
        is_gated: bool,
        /// not_worse, worse, or cannot_tell_ and why: few_pairs, wide, serial (neighbouring pairs are too alike), one_pair (one
        /// of them decides), bounds (the true times may be longer, and another answer)
        answer: String = answer(weighed.finding.answer),
        /// the pairs of which the answer is made
        pairs: usize = weighed.finding.pairs,
        /// how many of these know nothing of one another: all, or of several builds as many as builds
        units: usize = weighed.finding.units,
        /// each pair, whether it counts or not
        measured: Vec<PairJson> = weighed.pairs.iter().map(PairJson::from).collect(),
        /// the base's geometric mean over the pairs of the answer, or over all where none counts (pairs is 0)
        base_mean: Option<f64> = weighed.means.map(|means| means[0]),
        /// whether the true one is no less: requests were given up
        base_is_bound: bool = weighed.are_bounds()[0],
        /// the head's
        head_mean: Option<f64> = weighed.means.map(|means| means[1]),
        /// whether the true one is no less
        head_is_bound: bool = weighed.are_bounds()[1],
        /// the head's divided by the base's, over the pairs of the answer; null: no pair has the figure, or both are
        /// bounds
        ratio: Option<f64> = weighed.ratio.filter(|_| 0 < weighed.finding.pairs),
        /// lower end of the ratio's 95 % interval; the pairs ended when they sufficed; null: the true ratio may be less
        ratio_low: Option<f64> =
            weighed.interval.filter(|_| !weighed.bounds[0]).map(|(low, _)| low),
        /// its upper end; null: the true ratio may be more
        ratio_high: Option<f64> =
            weighed.interval.filter(|_| !weighed.bounds[1]).map(|(_, high)| high),
        /// whether the ratio is only the end of what it may be: where an end is null
        is_bound: bool = weighed.bounds.contains(&true),
        /// the standard deviation of the pairs' log ratios; of several builds, of the builds' means; null:
        /// there are fewer than two
        spread: Option<f64> = weighed.finding.known_spread(),
        /// the smallest difference that so many pairs can detect; null: more than 100 %
        least_shown_percent: Option<f64> = weighed.least.map(|least| 100.0 * least),
        /// how often the rule calls this figure worse when the signs of its pairs are random; null: they are too few
        false_alarms_percent: Option<f64> = weighed.false_alarms.map(|share| 100.0 * share),
        /// what a second build of the base says against the first; worse: they differ; null: there was none
        control: Option<String> = weighed.control.map(|control| self::answer(control.answer)),
    }
}

pub(crate) fn answer(answer: Answer) -> String {
    match answer {
        Answer::Worse => "worse".into(),
        Answer::NotWorse => "not_worse".into(),
        Answer::CannotTell(why) => format!("cannot_tell_{}", why.name()),
    }
}
