//! A search for a capacity as JSON, `dyno.capacity/1`.

use analysis::search::{Conclusion, Criterion, Judged, Place, Pooled};
use load::SECOND;

use super::{FinishedSearch, sentence};
use crate::json::{json_type, written};
use crate::run::findings::Findings;
use crate::verdict::ExplainedVerdict;

/// The first search of a run, with a line end; a run that searched for nothing as what it is.
pub(crate) fn json(findings: &Findings<'_>) -> serde_json::Result<String> {
    match findings.searches.first() {
        Some(found) => written(&CapacityDocument::from(&FinishedSearch::of(findings, found))),
        None => crate::run::json::of(findings),
    }
}

json_type! {
    /// A search for the highest rate at which a server meets the limits.
    pub(crate) struct CapacityDocument as "capacity_report", "dyno.capacity/1" of found: FinishedSearch<'_> {
        /// the answer in plain words
        sentence: String = sentence::sentences(found).join(" "),
        /// what the answer is worth
        verdict: ExplainedVerdict = super::verdict(found),
        /// the number of the run in which all trials are kept
        run: String = found.findings.id.clone(),
        /// the server
        server: String = found.server().into(),
        /// what is to be kept, all of it at once
        aim: Vec<CriterionJson> =
            found.of.search.aim.criteria().iter().map(CriterionJson::from).collect(),
        /// how requests arrive
        #[schemars(extend("enum" = ["poisson", "constant"]))]
        arrivals: &'static str = if found.is_poisson() { "poisson" } else { "constant" },
        /// whether each trial had a fresh process
        is_fresh: bool = found.of.search.is_fresh,
        /// how far the two ends may lie apart
        width_percent: f64 = 100.0 * found.of.search.width,
        /// the lowest rate that may be tried
        least_per_s: f64 = found.of.search.least,
        /// the highest rate that may be tried
        most_per_s: f64 = found.answer.most,
        /// answers each second of dyno's own server on this machine, and at least of the server itself; null where that is not
        /// known
        ceiling_per_s: Option<f64> = found.answer.ceiling,
        /// what was found
        capacity: BracketJson = found.into(),
        /// every rate that was tried, from the lowest to the highest
        tried: Vec<PlaceJson> = found.answer.places.iter().map(PlaceJson::from).collect(),
        /// a rate that was not held, and a higher one that was
        inversions: Vec<InversionJson> =
            found.answer.inversions.iter().map(InversionJson::from).collect(),
        /// how many trials there were
        trials: usize = found.answer.trials,
        /// how long they took
        took_s: f64 = found.answer.seconds,
    }
}

json_type! {
    /// What was found.
    struct BracketJson as "bracket" of found: FinishedSearch<'_> {
        /// the highest rate that is held, below all that are not; null: none is known
        lower_per_s: Option<f64> = found.answer.lower.as_ref().map(|end| end.rate),
        /// the lowest rate that is not held; null: none is known
        upper_per_s: Option<f64> = found.answer.upper.as_ref().map(|end| end.rate),
        /// how the search ended
        #[schemars(extend("enum" = ["found", "wider", "at_least", "not_met", "out_of_time", "unfinished", "collapsed", "cannot_tell"]))]
        conclusion: &'static str = found.answer.conclusion.name(),
        /// the two ends are as near to each other as was asked for
        is_narrow: bool = found.answer.is_narrow(),
        /// how many seconds more the width would take, if it ended before it was reached
        needed_s: Option<f64> = match found.answer.conclusion {
            Conclusion::OutOfTime { needed_s } | Conclusion::Unfinished { needed_s } => {
                Some(needed_s)
            }
            _ => None,
        },
        /// correct answers each second at the lower end
        answered_at_lower_per_s: Option<f64> =
            found.answer.lower.as_ref().map(|end| end.answered_per_s),
        /// correct answers each second at the upper end
        answered_at_upper_per_s: Option<f64> =
            found.answer.upper.as_ref().map(|end| end.answered_per_s),
        /// an end is known by short trials only
        is_by_short_trials: bool =
            [&found.answer.lower, &found.answer.upper].into_iter().flatten().any(|end| end.is_short),
    }
}

json_type! {
    /// A limit of a search.
    struct CriterionJson as "criterion" of it: Criterion {
        /// in words: p99 ≤ 10 ms, or failures
        says: String = sentence::criterion(it),
        /// answered later than this, from when it was due, a request is lost; null: only failures are
        within_ms: Option<f64> = it.limit.map(|limit| limit.within as f64 / SECOND as f64 * 1e3),
        /// so many of the requests may be lost
        allowed_percent: f64 = 100.0 * it.allowed,
    }
}

json_type! {
    /// A rate that was tried.
    struct PlaceJson as "tried_rate" of place: Place {
        /// requests each second
        per_s: f64 = place.rate,
        /// what its full trials say; null where it had none
        #[schemars(extend("enum" = ["holds", "breaks", "undecided", null]))]
        word: Option<&'static str> = place.judged.as_ref().map(|judged| judged.word.name()),
        /// full trials
        trials: usize = place.judged.as_ref().map_or(0, |judged| judged.of),
        /// of these, those that met the limits by themselves
        kept: usize = place.judged.as_ref().map_or(0, |judged| judged.kept),
        /// short trials
        short_trials: usize = place.short.as_ref().map_or(0, |judged| judged.of),
        /// of these, those that met the limits by themselves
        short_kept: usize = place.short.as_ref().map_or(0, |judged| judged.kept),
        /// full trials that ended early, because they could not meet the limits any more
        ended_early: usize = place.judged.as_ref().map_or(0, |judged| judged.ended_early),
        /// short trials that ended early
        short_ended_early: usize = place.short.as_ref().map_or(0, |judged| judged.ended_early),
        /// what all full trials lost, by the limits
        lost: Vec<LostJson> = lost(place.judged.as_ref()),
        /// what all short trials lost, which decides nothing
        short_lost: Vec<LostJson> = lost(place.short.as_ref()),
    }
}

json_type! {
    /// What was lost of the requests that were due.
    struct LostJson as "lost" of it: Pooled {
        /// lost requests of those due
        percent: f64 = 100.0 * it.loss,
        /// trials ended early: more may have been lost
        is_bound: bool = it.is_bound,
        /// the low end of its interval; null for one trial
        low_percent: Option<f64> = it.interval.map(|(low, _)| 100.0 * low),
        /// the high end of its interval; null for one trial, and of a bound
        high_percent: Option<f64> =
            it.interval.filter(|_| !it.is_bound).map(|(_, high)| 100.0 * high),
    }
}

fn lost(judged: Option<&Judged>) -> Vec<LostJson> {
    judged.iter().flat_map(|judged| &judged.pooled).map(LostJson::from).collect()
}

json_type! {
    /// A rate that was not held, and a higher one that was.
    struct InversionJson as "inversion" of rates: (f64, f64) {
        /// it was not held
        broke_per_s: f64 = rates.0,
        /// it was held
        held_per_s: f64 = rates.1,
    }
}
