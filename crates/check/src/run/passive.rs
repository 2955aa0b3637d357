//! The cases that send nothing: they judge what arrived in all other cases.

use super::Round;
use super::sighting::Sighting;
use crate::finding::{CaseVerdict, Evidence};

/// RFC 9112, 2 and 6: what every answer must fulfil, in whichever case it arrived.
pub(super) fn form_of_all(round: &Round) -> Sighting {
    passive(round, "answers", |it| Some(it.flaw.map(|flaw| flaw.to_string())))
}

/// RFC 6455, 5: what every frame of a server must fulfil.
pub(super) fn frames_of_all(round: &Round) -> Sighting {
    // A case that has warned may have done so because of these very frames.
    passive(round, "frames", |it| {
        it.slips
            .as_ref()
            .filter(|_| it.verdict == CaseVerdict::Pass)
            .map(|slips| slips.first().map(ToString::to_string))
    })
}

/// RFC 9113: what every frame of a server of HTTP/2 must fulfil.
pub(super) fn breaches_of_all(round: &Round) -> Sighting {
    passive(round, "frames", |it| {
        it.breaches.as_ref().map(|breaches| breaches.first().map(ToString::to_string))
    })
}

/// Judges what arrived in all cases by its flaws; none if nothing arrived that could have any. A case that has failed
/// is left out, since the flaw is part of its own result.
fn passive(
    round: &Round,
    what: &str,
    wrong: impl Fn(&Sighting) -> Option<Option<String>>,
) -> Sighting {
    let mut ids: Vec<&&str> = round.keys().filter(|id| round[**id].is_asked).collect();
    ids.sort();
    let received = ids.iter().filter_map(|id| wrong(&round[**id]).map(|it| (**id, it)));
    let received: Vec<(&str, Option<String>)> = received.collect();
    let is_open = |id: &str| round[id].verdict < CaseVerdict::Fail;
    let bad = received.iter().filter_map(|(id, it)| it.as_ref().map(|it| (*id, it)));
    let bad: Vec<(&str, &String)> = bad.filter(|(id, _)| is_open(id)).collect();
    let (verdict, why, evidence) = match bad.first() {
        Some((id, slip)) => (
            CaseVerdict::Fail,
            format!("{id}: {slip} ({} cases in all)", bad.len()),
            round[id].evidence.clone(),
        ),
        None if received.is_empty() => {
            (CaseVerdict::NotTestable, format!("no {what} were received"), Evidence::default())
        }
        None => (
            CaseVerdict::Pass,
            format!("the {what} of {} cases are well-formed", received.len()),
            Evidence::default(),
        ),
    };
    Sighting { is_asked: !received.is_empty(), verdict, why, evidence, ..Sighting::untestable("") }
}
