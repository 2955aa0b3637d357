//! The tasks of an experiment, and the subjects that have something to be compared.

use super::{Experiment, Subjects};
use crate::manner::{Protocol, Task};
use crate::subject::Subject;

impl Experiment {
    /// Every workload in every manner: what the tables are about.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + '_ {
        let manners = |workload| self.manners.iter().map(move |manner| (workload, *manner));
        self.workloads
            .iter()
            .flat_map(manners)
            .map(|(workload, manner): (&String, _)| Task { workload: workload.clone(), manner })
    }

    /// Why a subject cannot take part, if it does not speak what is to be compared: one of the protocols or, where all
    /// subjects were requested and protocols are compared, two of them; HTTP/2, if that is among them.
    #[must_use]
    pub fn lacks_protocol(&self, subject: &Subject) -> Option<String> {
        let asked = self.protocols();
        let names =
            |list: &[Protocol]| list.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
        let spoken: Vec<Protocol> =
            asked.iter().copied().filter(|it| subject.answers_over(*it)).collect();
        let (all, has) = (names(&asked), names(&subject.protocols));
        let is_comparison = 1 < asked.len() && self.subjects == Subjects::All;
        let has_http2 = |list: &[Protocol]| list.iter().any(|it| it.is_http2());
        match spoken.as_slice() {
            [] => Some(format!("it does not speak {all}; it speaks {has}")),
            _ if is_comparison && has_http2(&asked) && !has_http2(&spoken) => {
                Some(format!("it does not speak HTTP/2, which is compared here; it speaks {has}"))
            }
            [only] if is_comparison => {
                Some(format!("of {all} it speaks {only} alone, so there is nothing to compare"))
            }
            _ => None,
        }
    }

    /// The protocols that it compares, each once.
    #[must_use]
    pub fn protocols(&self) -> Vec<Protocol> {
        let mut protocols: Vec<Protocol> = self.manners.iter().map(|it| it.protocol).collect();
        protocols.dedup();
        protocols
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::tests::read;
    use crate::subject::tests::read as read_subject;

    fn lacks(protocols: &str, subjects: &str, speaks: &str) -> Option<String> {
        let text = format!(
            "question = '?'\nsubjects = {subjects}\nworkload = 'w'\n\
             load = {{ closed = {{ connections = 2 }}, total = 9, protocol = {protocols} }}\n"
        );
        let has_tls = speaks.contains("tls") || speaks.contains("h2'");
        let run = if has_tls { "run = 's'\nrun_tls = 's'" } else { "run = 's'" };
        let subject = format!("title = 's'\nspeaks = ['w']\n{run}\nprotocols = {speaks}\n");
        read(&text).unwrap().lacks_protocol(&read_subject(&subject).unwrap())
    }

    #[test]
    fn all_subjects_are_those_with_something_to_compare() {
        let found = |protocols: &str, speaks: &str| lacks(protocols, "'all'", speaks).is_some();
        const TLS: &str = "['http/1.1', 'http/1.1+tls']";
        const HTTP_2: &str = "['http/1.1', 'http/1.1+tls', 'h2c', 'h2']";
        for (protocols, speaks, is_lacking) in [
            ("'http/1.1'", "['http/1.1']", false),
            ("'h2'", "['http/1.1']", true),
            ("'h2'", "['h2']", false),
            (TLS, "['http/1.1']", true),
            (TLS, TLS, false),
            (HTTP_2, "['http/1.1']", true),
            (HTTP_2, TLS, true),
            (HTTP_2, "['http/1.1', 'h2c']", false),
            (HTTP_2, "['http/1.1+tls', 'h2']", false),
            (HTTP_2, "['h2c']", true),
        ] {
            assert_eq!(found(protocols, speaks), is_lacking, "{protocols}: {speaks}");
        }
        // A subject that is named takes part with what it speaks.
        assert_eq!(lacks(HTTP_2, "'s'", "['http/1.1']"), None);
        let says = lacks(HTTP_2, "'all'", TLS).unwrap();
        assert_eq!(
            says,
            "it does not speak HTTP/2, which is compared here; it speaks http/1.1, http/1.1+tls"
        );
    }
}
