//! A comparison as JSON, `dyno.compare/1`.

use analysis::why::Explained;
use analysis::{Change, Comparison, Faults, Pair, Single, Why};
use lab::experiment::Point;
use lab::figure::Figure;

use super::conformance::{Checks, ChecksJson};
use super::{Compared, Side, Unjudged, answer, conformance};
use crate::json::{json_type, written};

/// In place of a finding: the loads are not alike, so that no figure is judged.
pub(super) const UNLIKE: &str = "unlike_loads";

json_type! {
    /// Two runs, or two servers, compared. compare.md explains how.
    pub(crate) struct ComparisonDocument<'t> as "compare", "dyno.compare/1" of compared: Compared<'_>,
        with found: (Vec<Checks<'_>>, Vec<Explained>);
        let (checks, explained) = found;
        let gate = answer::GateJson::from(compared);
    {
        /// the gate's answer in plain words
        sentence: String = gate.sentence(),
        /// what is compared with
        a: SideJson<'t> = (&compared.sides[0]).into(),
        /// what is compared
        b: SideJson<'t> = (&compared.sides[1]).into(),
        /// whether B is as good as A
        gate: answer::GateJson = gate,
        /// how many comparisons of figures were made
        comparisons: usize = compared.versus.made().count(),
        /// comparisons that found B worse
        worse: usize = compared.count(Change::Worse),
        /// comparisons that found B better
        better: usize = compared.count(Change::Better),
        /// rows that both have
        rows: Vec<RowJson<'t>> = rows(compared),
        /// where the CPU time of an answer goes, for each row of which both were sampled: A's server comes first
        why: &'t [Explained] = explained,
        /// the RFCs' cases of each pair
        conformance: Vec<ChecksJson<'t>> = checks.iter().map(ChecksJson::from).collect(),
        /// what else a reader must know, a sentence each
        notes: Vec<String> = compared.notes(),
    }
}

json_type! {
    /// A or B of a comparison.
    struct SideJson<'t> as "side" of side: Side<'_> {
        /// the id of the run, or the file
        run: &'t str = &side.findings.id,
        /// its experiment
        experiment: &'t str = &side.findings.run.name,
        /// the server; null: all of them
        subject: Option<&'t str>,
        /// when the run began; 0 if a file does not say it
        began_unix_ms: i64 = side.findings.run.began_unix_ms,
    }
}

json_type! {
    /// A row that both have.
    pub(in crate::run) struct RowJson<'t> as "pair" of pair: Pair<'_> {
        /// the workload
        workload: &'t str,
        #[serde(flatten)]
        point: Point = pair.a.point,
        /// A's server
        a_subject: &'t str = &pair.a.subject,
        /// B's server
        b_subject: &'t str = &pair.b.subject,
        /// A has figures, and its verdict is not valid
        a_is_doubtful: bool = pair.a.is_doubtful(),
        /// B has figures, and its verdict is not valid
        b_is_doubtful: bool = pair.b.is_doubtful(),
        /// what went wrong through the doing of A's server
        a_faults: Faults = pair.a.faults,
        /// and of B's
        b_faults: Faults = pair.b.faults,
        /// each figure that is compared
        figures: Vec<FigureJson> =
            pair.figures.iter().map(|figure| FigureJson::of(pair, figure)).collect(),
    }
}

json_type! {
    /// A figure of both. What follows `finding` is null if it was not compared; of single rounds, whose ratio has no
    /// interval, the means and the ratio are there.
    struct FigureJson as "compared_figure" of made: (Figure, Result<Comparison, Why>),
        with pair: Pair<'_>;
        let (figure, made) = made;
        let got = made.as_ref().ok();
        let single = pair.single(*figure);
        let means = got.map(|made| made.means).or(single.map(|single| single.means));
        // A bound has no ratio of single rounds.
        let bounds = got.map_or([false; 2], Comparison::bounds);
        let [ratio_low, ratio_high] = got.map_or([None; 2], Comparison::ends);
        let rounds = got.map(|made| made.rounds).or(single.map(|single| single.rounds));
    {
        /// its name in figures.md
        figure: &'static str = figure.name(),
        /// its unit
        unit: &'static str = figure.unit().name(),
        /// better, worse, differs, no_difference_shown; of `dyno compare` worse is by more than the tolerance, and
        /// there are within_tolerance, and unlike_loads, in_doubt and few_samples, which are not judged; or
        /// not_compared_ and why: missing, one_round, zero, kept_up, bounds, faults (A or B answered wrongly or failed
        /// too often)
        finding: String = finding(made),
        /// A's geometric mean over its rounds
        a_mean: Option<f64> = means.map(|[a, _]| a),
        /// A's mean is a bound: requests were given up, and the true one is no less
        a_is_bound: Option<bool> = means.map(|_| bounds[0]),
        /// B's geometric mean over its rounds
        b_mean: Option<f64> = means.map(|[_, b]| b),
        /// B's mean is a bound
        b_is_bound: Option<bool> = means.map(|_| bounds[1]),
        /// rounds of A
        a_rounds: Option<usize> = rounds.map(|[a, _]| a),
        /// rounds of B
        b_rounds: Option<usize> = rounds.map(|[_, b]| b),
        /// B divided by A
        ratio: Option<f64> = got.map(|made| made.ratio).or(single.map(Single::ratio)),
        /// lower end of the ratio's interval that decides `finding`; null where it is open, because A is a bound
        ratio_low: Option<f64> = ratio_low,
        /// its upper end; null where it is open, because B is a bound
        ratio_high: Option<f64> = ratio_high,
        /// what interval this is, by the share of all statements that it has: 95, or more where there are others
        level_percent: Option<f64> = got.map(|made| (1.0 - made.outside) * 100.0),
        /// the probability of such a difference between equal servers, by the rounds of these two alone
        p: Option<f64> = got.map(|made| made.p),
        /// the probability of what is tested, that B differs, or is worse by more than the tolerance, among all
        /// statements
        p_adjusted: Option<f64> = got.map(|made| made.adjusted_p),
        /// half of the interval's width: the smallest difference that could have been shown; null where it is open
        smallest_shown_percent: Option<f64> =
            got.filter(|made| !made.is_bound).map(|made| made.smallest_shown() * 100.0),
        /// more rounds of each that it takes to show a difference of 5 %; null beyond 1,000
        more_rounds_for_5_percent: Option<usize> = got.and_then(|made| made.more_rounds(0.05)),
        /// one of the means is a bound, and the ratio is one, too: the true ratio is further from 1
        is_bound: Option<bool> = got.map(|made| made.is_bound),
        /// every round had enough samples
        is_supported: Option<bool> = got.map(|made| made.is_supported),
    }
}

pub(super) fn of(compared: &Compared<'_>) -> serde_json::Result<String> {
    let explained = compared.explained().into_iter().map(|(_, found)| found).collect();
    written(&ComparisonDocument::of(&(conformance::all(compared), explained), compared))
}

/// Figures that are not judged stand without a finding.
fn rows<'t>(compared: &'t Compared<'_>) -> Vec<RowJson<'t>> {
    let pairs = &compared.versus.pairs;
    let mut rows: Vec<RowJson<'t>> = pairs.iter().map(RowJson::from).collect();
    for (pair, row) in pairs.iter().zip(&mut rows) {
        for ((_, made), figure) in pair.figures.iter().zip(&mut row.figures) {
            let Ok(made) = made else { continue };
            let Err(unjudged) = compared.finding(pair, made) else { continue };
            figure.finding = match unjudged {
                Unjudged::Unlike => UNLIKE.into(),
                Unjudged::Unsure(unsure) => answer::why(unsure),
            };
            (figure.p, figure.p_adjusted) = (None, None);
            (figure.smallest_shown_percent, figure.more_rounds_for_5_percent) = (None, None);
        }
    }
    rows
}

fn finding(made: &Result<Comparison, Why>) -> String {
    let found = match made.as_ref().map(Comparison::finding) {
        Err(why) => return not_compared(*why),
        Ok(Change::Better) => "better",
        Ok(Change::Worse) => "worse",
        Ok(Change::Differs) => "differs",
        Ok(Change::Within) => "within_tolerance",
        Ok(Change::NotShown) => "no_difference_shown",
    };
    found.into()
}

pub(super) fn not_compared(why: Why) -> String {
    format!("not_compared_{}", why.name())
}
