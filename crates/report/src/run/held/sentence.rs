//! Held connections in words: prices, causes, legends.

use std::collections::BTreeSet;

use analysis::{Basis, Cause, Estimate, FirstFailure, HeldSubject, Memory, Ramps};
use lab::experiment::{Experiment, Shape};
use lab::figure::{Figure, Unit};
use units::{count, duration};

use super::shown_in;
use crate::held;
use crate::number_format::number;

/// How often it was measured.
pub(super) fn rounds(subjects: &[(&Ramps, &HeldSubject)]) -> String {
    let rounds: BTreeSet<usize> = subjects.iter().map(|(_, held)| held.measured).collect();
    let said: Vec<String> = rounds.iter().map(|rounds| count(*rounds as u64)).collect();
    match said.as_slice() {
        [one] if one == "1" => "one round".into(),
        many => format!("{} rounds", many.join(" to ")),
    }
}

/// How the price of a connection was computed.
pub(super) fn price_legend(subjects: &[(&Ramps, &HeldSubject)]) -> String {
    let slopes = || subjects.iter().filter_map(|(_, held)| held.price.memory);
    let has_slope = |memory: Memory| slopes().any(|slope| slope.of == memory);
    let by = |basis| slopes().any(|slope| slope.basis == basis && slope.interval.is_some());
    let memory = match (has_slope(Memory::Pss), has_slope(Memory::Rss)) {
        (true, true) => "mean memory (PSS, else RSS)",
        (false, true) => "mean memory (RSS)",
        (_, false) => "mean memory (PSS)",
    };
    let mut parts = vec![format!(
        "KiB each: slope of {memory} over open connections, by least squares over the plateaus"
    )];
    if by(Basis::Rounds) {
        parts.push("[95 %]: by Student's t over the rounds' slopes".into());
    }
    if by(Basis::Line) {
        parts.push(
            "~[95 %]: of one round's line (its slope's standard error); how far rounds differ is not in it".into(),
        );
    }
    parts.join(" · ")
}

/// What a table of plateaus means.
pub(super) fn plateau_legend(ramps: &Ramps) -> String {
    let mut parts =
        vec!["connections: since the step began; all else: in its measured part".to_string()];
    let plateaus = || ramps.subjects.iter().flat_map(|held| &held.plateaus);
    if plateaus().any(|plateau| 1 < plateau.rounds) {
        parts.push("failed, lost, silent, waiting, missed: sums over n rounds; all else: the mean of the rounds".into());
    }
    parts.push("late: how long after it was due a message arrived; own: the most of it that dyno itself may have \
        added".into());
    if plateaus().any(|plateau| plateau.estimate(Figure::Messages).is_none()) {
        parts.push("messages/s: – where a step measured for less than one interval".into());
    }
    parts.join(" · ")
}

/// How it gave way with all causes, and what they mean.
pub(super) fn gave_way_in_full(held: &HeldSubject) -> Option<String> {
    let found = held.price.gave_way.as_ref()?;
    let causes: Vec<String> = found.causes.iter().map(full).collect();
    let (many, open) = (count(found.connections as u64), count(found.open));
    let causes = causes.join("; ");
    Some(format!("with {many}, of which {open} were open at the end{}; {causes}", some(found)))
}

fn some(found: &FirstFailure) -> String {
    match found.of {
        1 => String::new(),
        of => format!(
            " (round {}; {} of {} rounds gave way)",
            found.repeat + 1,
            count(found.rounds as u64),
            count(of as u64)
        ),
    }
}

/// A cause with what it means.
fn full(cause: &Cause) -> String {
    let meaning = match cause {
        Cause::Ended(_) => "the trial ended there".into(),
        Cause::Failed(loss, _) | Cause::Lost(loss, _) => loss.meaning().to_string(),
        Cause::Waiting(_) => "neither opened nor failed".into(),
        Cause::Silent(_) => "open, and received nothing".into(),
        Cause::Late { bound_ms, .. } => {
            format!("a tenth of the interval is {}", number(Unit::Milliseconds, *bound_ms))
        }
    };
    format!("{} ({meaning})", held::cause(cause))
}

/// By plateau and cause; each cause's meaning once.
pub(super) fn losses(held: &HeldSubject) -> Option<String> {
    let mut known = BTreeSet::new();
    let mut texts = Vec::new();
    for plateau in held.plateaus.iter().filter(|plateau| !plateau.gone.is_empty()) {
        let mut causes = Vec::new();
        for gone in &plateau.gone {
            let how = if gone.was_open { "lost" } else { "failed" };
            let own = if gone.loss.is_own() { "dyno's own: " } else { "" };
            let meaning = match known.insert(gone.loss) {
                true => format!(" ({})", gone.loss.meaning()),
                false => String::new(),
            };
            causes.push(format!("{own}{} {how}, {}{meaning}", count(gone.times), gone.loss));
        }
        texts.push(format!("at {}: {}", count(plateau.connections as u64), causes.join("; ")));
    }
    (!texts.is_empty()).then(|| texts.join(" · "))
}

/// Memory before, at most and after.
pub(super) fn after(held: &HeldSubject) -> Option<String> {
    let after = held.price.after.as_ref()?;
    let shown = |estimate: &Estimate| shown_in(Unit::Bytes, estimate);
    let given_back = after.given_back_percent.map_or(String::new(), |share| {
        format!(": {} of what they took was given back", shown_in(Unit::Percent, &share))
    });
    Some(format!(
        "{} before, {} at most, {} after ({}){given_back}",
        shown(&after.before),
        shown(&after.peak),
        shown(&after.after),
        after.of.name().to_uppercase()
    ))
}

/// For how long it was observed.
pub(super) fn watched(experiment: Option<&Experiment>) -> String {
    match experiment.map(|experiment| experiment.shape) {
        Some(Shape::Held(holds)) => {
            format!("  {} later; means of the rounds", duration(holds.drain))
        }
        Some(Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. }) | None => String::new(),
    }
}
