//! Whether a case can be repeated by sending its bytes once, from a shell, and where to read its clause.

use crate::case::{Case, Scheduling};
use crate::finding::Finding;
use crate::script::{Rule, Step};

impl Case {
    /// Why sending its bytes at once does not repeat it; none if it does.
    #[must_use]
    pub fn beyond_bytes(&self) -> Option<&'static str> {
        let is_after_an_answer = self.steps.split(is_heard).skip(1).any(|rest| !rest.is_empty());
        let of_step = self.steps.iter().find_map(|step| match step {
            Step::Crowd(_) => Some("it opens many connections at once"),
            Step::Drip(..) | Step::Trickle(_) => {
                Some("its octets must arrive apart from each other")
            }
            Step::Idle(_) => Some("it depends on how long the client waits"),
            Step::Tls(_) => Some("it begins TLS by hand"),
            Step::Http2(_) => Some("a client of HTTP/2 answers frames of the server as it goes"),
            Step::Quote(_) => Some("it sends back what the first answer said"),
            Step::HalfClose => Some("it ends its half of the connection and goes on to read"),
            Step::Send(_) | Step::Raw(_) | Step::Fill(..) | Step::Repeat(..) | Step::Frames(..) => {
                None
            }
            Step::Receive(_) | Step::ReceiveToEnd | Step::ReceivePong(_) => None,
        });
        let is_passive = self.steps.is_empty();
        of_step
            .or(is_passive.then_some("it looks at the answers of all other cases"))
            .or(is_after_an_answer.then_some("it waits for an answer before it sends the rest"))
            .or(self
                .pass
                .iter()
                .any(Rule::wants_failure)
                .then_some("it sends a ping after a while"))
            .or((self.scheduling == Scheduling::Alone)
                .then_some("the server's memory must be watched meanwhile"))
    }
}

fn is_heard(step: &Step) -> bool {
    matches!(step, Step::Receive(_) | Step::ReceiveToEnd | Step::ReceivePong(_))
}

impl Finding {
    /// As `Case::beyond_bytes`, of what was really sent.
    #[must_use]
    pub fn beyond_bytes(&self) -> Option<&'static str> {
        let sent = &self.evidence;
        let by_case = crate::catalogue::case(&self.id).and_then(Case::beyond_bytes);
        by_case
            .or(sent.sent.is_empty().then_some("nothing was sent"))
            .or(((sent.sent.len() as u64) < sent.sent_len)
                .then_some("it sends more than the check keeps"))
    }

    /// The clause on the pages of the RFC Editor.
    #[must_use]
    pub fn clause_link(&self) -> String {
        let numbers = self.clause.strip_prefix("RFC ").unwrap_or(&self.clause);
        let (rfc, rest) = numbers.split_once(", ").unwrap_or((numbers, ""));
        let section = rest.split(' ').next().unwrap_or_default();
        format!("https://www.rfc-editor.org/rfc/rfc{rfc}#section-{section}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Protocol;
    use crate::catalogue::{case, catalogue};

    #[test]
    fn a_case_that_sends_once_needs_only_its_bytes() {
        let of = |id: &str| case(id).unwrap().beyond_bytes();
        assert_eq!((of("H1-B01"), of("H1-H02")), (None, None));
        for case in catalogue() {
            let needs_more = case.scheduling != Scheduling::Together
                || !matches!(case.steps, [Step::Send(_) | Step::Raw(_)])
                || case.pass.iter().any(Rule::wants_failure);
            assert!(needs_more || case.beyond_bytes().is_none(), "{}", case.id);
            let waits = case.scheduling == Scheduling::Slow
                || case.protocol() == Protocol::Socket && case.steps.len() > 2;
            assert!(!waits || case.beyond_bytes().is_some(), "{}", case.id);
        }
    }

    #[test]
    fn clauses_are_linked_by_their_section() {
        let link = |id: &str| Finding::of(case(id).unwrap()).clause_link();
        assert_eq!(link("H1-H02"), "https://www.rfc-editor.org/rfc/rfc9112#section-3.2");
        for case in catalogue() {
            let link = Finding::of(case).clause_link();
            let section = link.split_once("#section-").unwrap().1;
            assert_eq!(section, case.clause.section, "{}", case.id);
        }
    }
}
