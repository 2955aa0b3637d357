//! The tasks of an experiment, and the subjects that have something to be compared.

use super::{Experiment, Subjects};
use crate::manner::{Protocol, Task};
use crate::subject::Subject;

impl Experiment {
    /// Every workload in every manner: what the tables are about.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + '_ {
        let of = |workload: &String, manner| Task { workload: workload.clone(), manner };
        self.workloads
            .iter()
            .flat_map(move |workload| self.manners.iter().map(move |manner| of(workload, *manner)))
    }

    /// Why a subject cannot take part, if it does not speak what is to be compared: one of the protocols or, where all
    /// subjects were requested and protocols are compared, two of them.
    #[must_use]
    pub fn lacks_protocol(&self, subject: &Subject) -> Option<String> {
        let asked = self.protocols();
        let names =
            |list: &[Protocol]| list.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
        let spoken: Vec<Protocol> =
            asked.iter().copied().filter(|it| subject.answers_over(*it)).collect();
        let (all, has) = (names(&asked), names(&subject.protocols));
        let is_comparison = 1 < asked.len() && self.subjects == Subjects::All;
        match spoken.as_slice() {
            [] => Some(format!("it does not speak {all}; it speaks {has}")),
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
