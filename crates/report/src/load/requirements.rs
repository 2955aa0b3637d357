//! What was required of a load, and whether it was met: in words and as JSON.

use analysis::{JudgedRequirement, Required, RequirementAnswer, WhyUnknown};
use lab::figure::Unit;
use units::{self, count, fixed};

use super::FinishedLoad;
use crate::document::{Block, Depth, Entry, Section, Tone};
use crate::json::json_type;
use crate::verdict::ExplainedVerdict;

const NS_PER_MS: f64 = 1e6;

/// What was required of loads that have just ended.
pub(crate) fn required(loads: &[FinishedLoad]) -> Section {
    let entries = match loads {
        [load] => of_load(load),
        loads => of_all(loads),
    };
    Section::new("required", "What was required", Depth::Brief).with([Block::Entries(entries)])
}

/// A line for each requirement, and why it cannot be judged where it cannot.
fn of_load(run: &FinishedLoad) -> Vec<Entry> {
    let mut said = None;
    let entries = run.requirements.iter().map(|judged| {
        let tone = match judged.answer {
            RequirementAnswer::Met => Tone::Good,
            RequirementAnswer::NotMet => Tone::Bad,
            RequirementAnswer::CannotTell(_) => Tone::Doubtful,
        };
        let (head, why) = (head(judged), why(judged, &run.verdict));
        // One reason for several requirements in a row is given once.
        let is_new = why != said;
        said.clone_from(&why);
        match why.filter(|_| is_new) {
            None => Entry::new(tone, head),
            Some(why) => Entry::new(tone, head).with(Tone::Dim, why),
        }
    });
    entries.collect()
}

/// The requirements in sentences, for where there is no document.
pub(super) fn lines(run: &FinishedLoad) -> impl Iterator<Item = String> {
    run.requirements.iter().map(|judged| {
        let why = why(judged, &run.verdict).map_or(String::new(), |why| format!(". {why}"));
        format!("{}{why}", head(judged))
    })
}

fn head(judged: &JudgedRequirement) -> String {
    let measured = measured(judged).map_or(String::new(), |value| format!(", measured {value}"));
    format!("{}: {}{measured}", word(judged.answer), judged.requirement.written)
}

/// What was required of each of several loads: in how many it was met, and what came of the others.
fn of_all(loads: &[FinishedLoad]) -> Vec<Entry> {
    let required = loads.first().map_or(0, |load| load.requirements.len());
    (0..required).map(|place| in_all(loads, place)).collect()
}

/// In how many of the loads the requirement at this place was met, and why it was not in the others.
fn in_all(loads: &[FinishedLoad], place: usize) -> Entry {
    let all: Vec<&JudgedRequirement> =
        loads.iter().filter_map(|load| load.requirements.get(place)).collect();
    let met = all.iter().filter(|judged| judged.answer == RequirementAnswer::Met).count();
    let not_met = all.iter().filter(|judged| judged.answer == RequirementAnswer::NotMet).count();
    let tone = match (met == all.len(), 0 < not_met) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Bad,
        (false, false) => Tone::Doubtful,
    };
    let written = all.first().map_or("", |judged| judged.requirement.written.as_str());
    let head = format!(
        "{written}: met in {met} of {}, not met in {not_met}",
        units::counted(all.len() as u64, "load", "loads")
    );
    let mut entry = Entry::new(tone, head);
    for (number, load) in loads.iter().enumerate() {
        let is_met = |judged: &JudgedRequirement| judged.answer == RequirementAnswer::Met;
        if load.requirements.get(place).is_some_and(|judged| !is_met(judged))
            && let Some(says) = lines(load).nth(place)
        {
            entry = entry.with(Tone::Dim, format!("load {}: {says}", number + 1));
        }
    }
    entry
}

fn word(answer: RequirementAnswer) -> &'static str {
    match answer {
        RequirementAnswer::Met => "met",
        RequirementAnswer::NotMet => "not met",
        RequirementAnswer::CannotTell(_) => "cannot tell",
    }
}

/// The measured value with its unit; with more digits where three would make it look like the limit.
fn measured(judged: &JudgedRequirement) -> Option<String> {
    let (value, limit) = (judged.measured?, judged.requirement.limit);
    let text = match judged.requirement.figure {
        Required::Time(..) => distinct(Unit::Milliseconds, value / NS_PER_MS, limit / NS_PER_MS),
        Required::FailedPercent => distinct(Unit::Percent, value, limit),
        Required::FailedCount => distinct(Unit::Count, value, limit),
        Required::Figure(figure) => distinct(figure.unit(), value, limit),
    };
    Some(if judged.is_bound { format!("≥ {text}") } else { text })
}

/// A value in this unit, with so many digits that it does not look like another one.
fn distinct(unit: Unit, value: f64, other: f64) -> String {
    let (rounded, suffix): (fn(f64) -> String, &str) = match unit {
        Unit::Milliseconds => (|value| units::time(value * NS_PER_MS), " ms"),
        Unit::Percent => (|value| units::percent(value / 100.0), " %"),
        Unit::PerSecond => (|value| format!("{}/s", units::rate(value)), "/s"),
        Unit::Count => return count(value as u64),
        Unit::Bytes => (|value| units::bytes(value as u64), " B"),
        Unit::KibPerSecond => (|value| format!("{} KiB/s", units::rate(value)), " KiB/s"),
    };
    let text = rounded(value);
    let is_alike = text == rounded(other) && value != other;
    if is_alike { format!("{}{suffix}", fixed(value, 6)) } else { text }
}

/// Why a requirement cannot be judged.
fn why(judged: &JudgedRequirement, verdict: &ExplainedVerdict) -> Option<String> {
    let RequirementAnswer::CannotTell(why) = judged.answer else { return None };
    Some(match why {
        WhyUnknown::Invalid => {
            let reason = verdict.doubts.first().map_or("", |doubt| doubt.says.as_str());
            format!("The load is invalid. {reason}").trim_end().into()
        }
        WhyUnknown::Nothing => "Nothing was measured of this.".into(),
        WhyUnknown::FewSamples { samples, needed } => format!(
            "There were {}, and this percentile takes {}; let it run longer (-d, -n).",
            units::counted(samples, "sample", "samples"),
            count(needed)
        ),
        WhyUnknown::FewBeyond => {
            "Fewer than ten samples lie beyond it; let it run longer (-d, -n).".into()
        }
        WhyUnknown::Bound => {
            "Requests were given up, so the true value may be larger; a longer --timeout may tell."
                .into()
        }
    })
}

json_type! {
    /// A requirement, and whether it was met.
    pub(super) struct RequirementJson as "requirement" of it: (&JudgedRequirement, &ExplainedVerdict);
        let judged = it.0;
        let verdict = it.1;
        // In nanoseconds.
        let time = match judged.requirement.figure {
            Required::Time(..) => Some(1.0),
            Required::Figure(figure) => (figure.unit() == Unit::Milliseconds).then_some(NS_PER_MS),
            Required::FailedPercent | Required::FailedCount => None,
        };
    {
        /// as it was written
        required: String = judged.requirement.written.clone(),
        /// met, not met, or cannot tell
        #[schemars(extend("enum" = ["met", "not met", "cannot tell"]))]
        word: &'static str = word(judged.answer),
        /// the measured value, if it is a time; null if it is none, or was not measured
        measured_ns: Option<f64> = judged.measured.zip(time).map(|(value, ns)| value * ns),
        /// the measured value, if it is no time: in the unit of the figure
        measured: Option<f64> = judged.measured.filter(|_| time.is_none()),
        /// the true value is no less than this, and may be more
        is_bound: bool = judged.is_bound,
        /// why it cannot be decided; null where it was
        why: Option<String> = why(judged, verdict),
    }
}

#[cfg(test)]
mod tests {
    use analysis::{Relation, Requirement, Statistic, TimeOf};

    use super::*;

    #[test]
    fn a_value_that_would_look_like_its_limit_is_written_in_full() {
        let of = |value: f64, limit: f64| {
            let figure = Required::Time(TimeOf::Response, Statistic::Max);
            let relation = Relation::Below;
            let requirement = Requirement { written: "max<50ms".into(), figure, relation, limit };
            let (measured, answer) = (Some(value), RequirementAnswer::NotMet);
            super::measured(&JudgedRequirement { requirement, measured, is_bound: false, answer })
        };
        assert_eq!(of(50_020_000.0, 50e6).as_deref(), Some("50.020000 ms"));
        assert_eq!(of(51_000_000.0, 50e6).as_deref(), Some("51.0 ms"));
    }
}
