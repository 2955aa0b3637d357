//! Before the load, one request is sent to each side: a side that cannot answer is known at once, and it is seen whether
//! all of them do the same work.

use units::count;

use crate::separate_trees::places_of;
use crate::trials::rest;
use crate::{Campaign, Entrant};
use lab::ask::{Asked, ask};
use lab::record::{Check, Fact, Outcome, OutcomeKind, Phase};
use lab::subject::Serving;
use lab::visit::Visit;
use load::Halt;
use std::path::PathBuf;
use std::time::Duration;
use tls::Client;
use wire::{BodyRule, Values};

/// How long a server that runs already may take for its first answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was seen of a side.
pub struct Look {
    pub title: String,
    pub first: Check,
    /// It took another port than the one that it was given.
    pub moved: Option<Fact>,
    /// That port.
    pub moved_to: Option<u16>,
    /// Whether three answers over more than two seconds had the same body; none where that was not looked at.
    pub is_steady: Option<bool>,
    /// Where its processes ran, and their programs; none of one that runs already.
    pub places: Vec<PathBuf>,
}

/// Between two of these answers: a clock of whole seconds in the body shows.
const APART: Duration = Duration::from_millis(1_050);

/// Whether bodies can be compared under load: there is one request, the same each time, and no rule for its body.
#[must_use]
fn may_compare(campaign: &Campaign) -> bool {
    let [question] = campaign.workloads[0].questions.as_slice() else { return false };
    let expect = &question.ask.expect;
    expect.body == BodyRule::Any && question.ask.is_constant() && question.method != "HEAD"
}

fn is_steady(first: &Check, halt: &Halt, again: impl Fn() -> Option<Check>) -> bool {
    (0..2).all(|_| {
        rest(APART, halt);
        !halt.is_asked()
            && again().is_some_and(|it| it.wrong.is_none() && it.content() == first.content())
    })
}

/// Starts one of a side's builds, sends it one request, and ends it; one that runs already is only sent the request.
pub fn look(
    campaign: &Campaign,
    entrant: &Entrant,
    build: usize,
    halt: &Halt,
) -> Result<Look, Outcome> {
    seen(campaign, (entrant, build), halt, false)
}

/// Sends three requests, where bodies may be compared under load, to see whether they stay the same.
pub fn look_thrice(campaign: &Campaign, entrant: &Entrant, halt: &Halt) -> Result<Look, Outcome> {
    seen(campaign, (entrant, 0), halt, may_compare(campaign))
}

fn seen(
    campaign: &Campaign,
    (entrant, build): (&Entrant, usize),
    halt: &Halt,
    compares: bool,
) -> Result<Look, Outcome> {
    let (title, (subject, built)) = (entrant.title(build), entrant.build(build));
    let fail = |kind, says: String| Outcome { kind, says };
    let workload = &campaign.workloads[0];
    let protocol = campaign.experiment.manners[0].protocol;
    if let Serving::Found(site) = &subject.serving {
        let aimed = workload
            .aimed(site, site.scheme(protocol))
            .map_err(|says| fail(OutcomeKind::Unable, says))?;
        let values = Values { seq: 0, random: 0 };
        let tls = site.tls.as_ref().map(Client::new).transpose();
        let tls = tls.map_err(|says| fail(OutcomeKind::Unable, says))?;
        let server = Asked { address: site.address, tls: tls.as_ref() };
        let asked = || ask(server, &aimed.questions[0], values, Phase::Before, PATIENCE);
        let first = asked();
        return match &first.wrong {
            None => {
                let is_steady = compares.then(|| is_steady(&first, halt, || Some(asked())));
                Ok(Look {
                    title,
                    first,
                    moved: None,
                    moved_to: None,
                    is_steady,
                    places: Vec::new(),
                })
            }
            Some(wrong) if first.response.is_empty() => {
                Err(fail(OutcomeKind::NotReady, format!("it does not answer: {wrong}")))
            }
            Some(wrong) => Err(fail(OutcomeKind::Wrong, format!("its first answer: {wrong}"))),
        };
    }
    let visit = Visit::begin(campaign.visits(protocol, halt), subject, built)?;
    let first = visit.first_answer().cloned();
    let moved = visit.moved();
    let moved_to = moved.as_ref().map(|_| visit.address().port());
    let is_steady = match &first {
        Some(first) if compares => Some(is_steady(first, halt, || visit.ask_again(PATIENCE))),
        _ => None,
    };
    let places = places_of(&visit.processes());
    visit.end();
    let first = first.ok_or_else(|| fail(OutcomeKind::Unable, "it got no request".into()))?;
    Ok(Look { title, first, moved, moved_to, is_steady, places })
}

/// The body that all sides gave each time; or why theirs are not compared under load.
pub fn usual_body(looks: &[Look]) -> Result<Vec<u8>, String> {
    let Some(first) = looks.first() else { return Err("there is no server".into()) };
    let varying: Vec<&str> =
        looks.iter().filter(|it| it.is_steady == Some(false)).map(|it| it.title.as_str()).collect();
    if !varying.is_empty() {
        return Err(format!("the body varies: not compared ({})", varying.join(", ")));
    }
    let body = first.first.content();
    if looks.iter().any(|look| look.first.content() != body) {
        return Err("the servers' bodies differ: not compared".into());
    }
    match looks.iter().all(|look| look.first.is_kept_whole()) {
        true => Ok(body),
        false => Err("the body is larger than 64 KiB: not compared".into()),
    }
}

/// How the first answer of a side differs from that of the first side.
pub struct Difference {
    pub says: String,
    /// Their status and content are equal: the sides do the same work.
    pub is_of_fields: bool,
}

/// What differs between the first answers of the sides, against the first side: one for each that differs.
pub fn differences(looks: &[Look]) -> Vec<Difference> {
    let Some((first, others)) = looks.split_first() else { return Vec::new() };
    others.iter().filter_map(|other| difference(first, other)).collect()
}

fn difference(a: &Look, b: &Look) -> Option<Difference> {
    if a.first.digest.is_some() && a.first.digest == b.first.digest {
        return None;
    }
    let (a_says, b_says) = (&a.title, &b.title);
    let [a_status, b_status] = [a, b].map(|look| look.first.status());
    if a_status != b_status {
        let says = format!("{b_says} answers with status {b_status}, {a_says} with {a_status}.");
        return Some(Difference { says, is_of_fields: false });
    }
    let [a_body, b_body] = [a, b].map(|look| look.first.content());
    if a_body != b_body {
        let length = |body: &[u8]| match body.len() {
            1 => "1 byte".into(),
            length => format!("{} bytes", count(length as u64)),
        };
        let body = |body: &[u8]| format!("{} ({})", excerpt(body), length(body));
        let is_long = SHOWN < a_body.len().max(b_body.len());
        let place = wire::first_difference(&a_body, &b_body, !b.first.is_kept_whole());
        let place = place.filter(|_| is_long).map_or(String::new(), |place| {
            let wire::Difference { equal, expected, came } = place;
            format!(
                "; the bodies differ after {} equal bytes: {came} and {expected}",
                count(equal as u64)
            )
        });
        let says = format!(
            "{b_says} answers {}, {a_says} answers {}{place}.",
            body(&b_body),
            body(&a_body)
        );
        return Some(Difference { says, is_of_fields: false });
    }
    let says =
        format!("{b_says} and {a_says} answer with the same content and different header fields.");
    Some(Difference { says, is_of_fields: true })
}

/// So many bytes of a body are shown.
const SHOWN: usize = 60;

/// The beginning of a body, safe to show.
fn excerpt(bytes: &[u8]) -> String {
    let text = bytes[..bytes.len().min(SHOWN)].escape_ascii();
    if bytes.len() <= SHOWN { format!("`{text}`") } else { format!("`{text}…`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(title: &str, response: &str, digest: u8) -> Look {
        let first = Check {
            phase: Phase::Before,
            ask: "ask".into(),
            wrong: None,
            request: Vec::new(),
            response: response.into(),
            head_len: 0,
            rest_len: 0,
            digest: Some([digest; 32]),
        };
        let (title, places) = (title.into(), Vec::new());
        Look { title, first, moved: None, moved_to: None, is_steady: Some(true), places }
    }

    #[test]
    fn bodies_are_compared_where_all_sides_gave_the_same_one_each_time() {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        let side = |title: &str, body: &str, is_steady| Look {
            is_steady: Some(is_steady),
            ..look(title, &format!("{ok}{body}"), 1)
        };
        let usual = |a, b| usual_body(&[a, b]);
        assert_eq!(usual(side("A", "hi", true), side("B", "hi", true)), Ok(b"hi".to_vec()));
        let varies = usual(side("A", "hi", true), side("B", "hi", false)).unwrap_err();
        assert_eq!(varies, "the body varies: not compared (B)");
        let differ = usual(side("A", "hi", true), side("B", "ho", true)).unwrap_err();
        assert_eq!(differ, "the servers' bodies differ: not compared");
    }

    #[test]
    fn what_differs_is_said_in_the_order_of_its_weight() {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
        let says = |other: &str, digest| {
            let a = look("A", &format!("{ok}hi"), 1);
            let found = differences(&[a, look("B", other, digest)]);
            assert!(found.iter().all(|it| it.is_of_fields == it.says.contains("header fields")));
            found.into_iter().map(|it| it.says).collect::<String>()
        };
        assert_eq!(says(&format!("{ok}hi"), 1), "");
        assert_eq!(says("HTTP/1.1 404 No\r\n\r\n", 2), "B answers with status 404, A with 200.");
        assert_eq!(
            says(&format!("{ok}h\u{1b}"), 2),
            "B answers `h\\x1b` (2 bytes), A answers `hi` (2 bytes)."
        );
        assert!(says(&format!("{ok}hi"), 2).contains("different header fields"));
        let long = format!("{ok}{}", "x".repeat(999));
        assert!(says(&long, 2).contains("xxx…` (999 bytes)") && says(&long, 2).len() < 300);
        assert!(says(&long, 2).contains("; the bodies differ after 0 equal bytes: `xxx"));
    }
}
