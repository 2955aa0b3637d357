//! Before the load, one request is sent to each side: a side that cannot answer is known at once, and it is seen whether
//! all of them do the same work.

use units::count;

use crate::{Campaign, Entrant};
use lab::ask::{Asked, ask};
use lab::record::{Check, Fact, Outcome, OutcomeKind, Phase};
use lab::subject::Serving;
use lab::visit::{Visit, VisitSetup};
use load::Halt;
use std::time::Duration;
use tls::Client;
use wire::Values;

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
}

/// Starts a side, sends it one request, and ends it; one that runs already is only sent the request.
pub fn look(campaign: &Campaign, entrant: &Entrant, halt: &Halt) -> Result<Look, Outcome> {
    let title = entrant.subject.title.clone();
    let fail = |kind, says: String| Outcome { kind, says };
    let workload = &campaign.workloads[0];
    let protocol = campaign.experiment.manners[0].protocol;
    if let Serving::Found(site) = &entrant.subject.serving {
        let aimed = workload
            .aimed(site, site.scheme(protocol))
            .map_err(|says| fail(OutcomeKind::Unable, says))?;
        let values = Values { seq: 0, random: 0 };
        let tls = site.tls.as_ref().map(Client::new).transpose();
        let tls = tls.map_err(|says| fail(OutcomeKind::Unable, says))?;
        let server = Asked { address: site.address, tls: tls.as_ref() };
        let first = ask(server, &aimed.questions[0], values, Phase::Before, PATIENCE);
        return match &first.wrong {
            None => Ok(Look { title, first, moved: None, moved_to: None }),
            Some(wrong) if first.response.is_empty() => {
                Err(fail(OutcomeKind::NotReady, format!("it does not answer: {wrong}")))
            }
            Some(wrong) => Err(fail(OutcomeKind::Wrong, format!("its first answer: {wrong}"))),
        };
    }
    let warden = campaign.warden();
    let setup = VisitSetup {
        cache: &campaign.cache,
        warden: &warden,
        workloads: &campaign.spoken,
        protocol,
        identity: campaign.identity.as_deref(),
        halt,
    };
    let visit = Visit::begin(setup, &entrant.subject, &entrant.built)?;
    let first = visit.first_answer().cloned();
    let moved = visit.moved();
    let moved_to = moved.as_ref().map(|_| visit.address().port());
    visit.end();
    let first = first.ok_or_else(|| fail(OutcomeKind::Unable, "it got no request".into()))?;
    Ok(Look { title, first, moved, moved_to })
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
        let says =
            format!("{b_says} answers {}, {a_says} answers {}.", body(&b_body), body(&a_body));
        return Some(Difference { says, is_of_fields: false });
    }
    let says = format!("{b_says} and {a_says} answer the same content with other header fields.");
    Some(Difference { says, is_of_fields: true })
}

/// The beginning of a body, safe to show.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
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
        Look { title: title.into(), first, moved: None, moved_to: None }
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
        assert!(says(&format!("{ok}hi"), 2).contains("other header fields"));
        let long = format!("{ok}{}", "x".repeat(999));
        assert!(says(&long, 2).contains("xxx…` (999 bytes)") && says(&long, 2).len() < 200);
    }
}
