//! The answer in plain words.

use analysis::gate::{
    Answer, Bounds, Rule, Unclear, Verdict, Weighed, Weighing, WhyUnclear, WhyWorse,
};
use units::{chosen, counted, percent};

use super::{Early, name, ratio};
use crate::conduct;
use crate::paired::listed;

/// `newly_broken` are the cases that the head breaks and the base keeps, or why they are not known; none where
/// conformance is not gated.
pub(crate) fn sentence(
    weighing: &Weighing,
    newly_broken: Option<&Result<Vec<String>, String>>,
) -> String {
    let named = ["the base", "the head"].into_iter().zip(weighing.conduct);
    let (within, beyond): (Vec<_>, Vec<_>) = named.partition(|(_, it)| it.is_tolerated());
    let [within, beyond] = [within, beyond].map(|sides| -> Vec<String> {
        sides.into_iter().filter_map(|(name, conduct)| conduct::says(name, &conduct)).collect()
    });
    let tolerated = within.iter().map(|says| format!(" Tolerated: {says}."));
    answer(weighing, newly_broken, &beyond.join("; and ")) + &tolerated.collect::<String>()
}

/// The sentence without what is tolerated; `faulty` says what is not.
fn answer(
    weighing: &Weighing,
    newly_broken: Option<&Result<Vec<String>, String>>,
    faulty: &str,
) -> String {
    let detect = chosen_share(weighing.rule.detect);
    let gated = || weighing.figures.iter().filter(|it| it.is_gated);
    let answered = |answer: Answer| gated().filter(move |it| it.finding.answer == answer);
    let list = |all: Vec<String>| all.join("; ");
    match weighing.verdict {
        Verdict::NotWorse => {
            let figures = list(gated().map(figure).collect());
            let ruled_out = format!("a head that is {detect} worse is ruled out; {figures}");
            let kept = "the head breaks no clause of the RFCs that the base keeps";
            match (figures.is_empty(), newly_broken) {
                (true, _) => format!("Not worse: {kept}."),
                (false, None) => format!("Not worse: {ruled_out}."),
                (false, Some(_)) => format!("Not worse: {ruled_out}; and {kept}."),
            }
        }
        Verdict::Worse(WhyWorse::Figures) => {
            format!("Worse: {}.", list(answered(Answer::Worse).map(figure).collect()))
        }
        Verdict::Worse(WhyWorse::Failed) => {
            "Worse: the head did not start, died or answered wrongly, where the base was measured.".into()
        }
        Verdict::Worse(WhyWorse::Faults) => {
            format!("Worse: {faulty}, which is more than is tolerated; the base did not.")
        }
        Verdict::CannotTell(WhyUnclear::Base) => {
            format!("Cannot tell: {faulty}, so there is nothing to compare with.")
        }
        Verdict::Worse(WhyWorse::Conformance) => {
            let cases = newly_broken.and_then(|it| it.as_ref().ok()).map(|it| it.join(", "));
            format!("Worse: the head newly breaks {}.", cases.unwrap_or_default())
        }
        Verdict::CannotTell(WhyUnclear::Disturbed) => {
            let lost = weighing.tried - weighing.counted;
            let why = weighing.disturbances.first();
            let why = why.map_or(String::new(), |why| format!("; the first: {}", why.says()));
            let pairs = counted(weighing.tried as u64, "pair", "pairs");
            format!("Cannot tell: {lost} of {pairs} were disturbed and did not count{why}.")
        }
        Verdict::CannotTell(WhyUnclear::Control) => {
            "Cannot tell: two builds of the base differ as well, so on this machine equal code seems to differ.".into()
        }
        Verdict::CannotTell(WhyUnclear::Conformance) => {
            let why = newly_broken.and_then(|it| it.as_ref().err()).map_or("", String::as_str);
            format!("Cannot tell whether the head newly breaks a clause of the RFCs: {why}.")
        }
        Verdict::CannotTell(WhyUnclear::Limit) => {
            format!("Cannot tell whether the head is {detect} worse: --max-time was over before the load at a fixed rate.")
        }
        Verdict::CannotTell(WhyUnclear::Figures) => {
            let open = gated().filter_map(|it| Some(listed(&name(it), None, Some(&why(it)?))));
            format!("Cannot tell whether the head is {detect} worse; {}.", list(open.collect()))
        }
    }
}

/// Why a gate ended before its pairs, from what happened.
pub(super) fn early(early: Early, says: &str, rule: Rule) -> String {
    let whole = |head: String| format!("{head}: {}.", says.trim_end_matches('.'));
    whole(match early {
        Early::HeadFails => "Worse: the head failed twice, and the base did not".into(),
        Early::Limit => {
            format!("Cannot tell whether the head is {} worse", chosen_share(rule.detect))
        }
        Early::Disturbed => "Cannot tell".into(),
        Early::Refused => "Not compared".into(),
        Early::Interrupted => "Interrupted".into(),
    })
}

/// A share that somebody chose.
pub(super) fn chosen_share(share: f64) -> String {
    format!("{} %", chosen(100.0 * share))
}

/// `throughput/s, 16 connections: 0.91× [0.88–0.94]`.
fn figure(weighed: &Weighed) -> String {
    listed(&name(weighed), ratio(weighed), None)
}

/// Why a figure has no answer.
pub(super) fn why(weighed: &Weighed) -> Option<String> {
    let Answer::CannotTell(why) = weighed.finding.answer else { return None };
    let finding = weighed.finding;
    let counted = counted(finding.pairs as u64, "pair", "pairs");
    let pairs = match finding.units < finding.pairs {
        true => format!("{counted} of {} builds", finding.units),
        false => counted,
    };
    Some(match why {
        Unclear::FewPairs if finding.pairs == 0 => "no pair measured it".into(),
        Unclear::FewPairs => format!("{pairs} are too few"),
        Unclear::Wide => match weighed.least {
            Some(least) => {
                format!("with this noise, {pairs} can detect a difference of {}", percent(least))
            }
            None => format!("with this noise, {pairs} can detect no difference"),
        },
        Unclear::Serial => format!("consecutive pairs of {pairs} are correlated"),
        Unclear::OnePair if finding.units < finding.pairs => {
            format!("the result depends on a single build of {pairs}")
        }
        Unclear::OnePair => format!("the result depends on a single one of {pairs}"),
        Unclear::Bounds => format!(
            "{} times are lower bounds, because requests were given up",
            match weighed.finding.bounds {
                Bounds { may_be_worse: true, may_be_better: true } => "the base's and the head's",
                Bounds { may_be_worse: true, .. } => "the head's",
                Bounds { .. } => "the base's",
            }
        ),
    })
}
