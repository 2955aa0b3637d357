//! Searches for capacities as JSON: each as `dyno capacity` writes it, and how it stands to the others.

use crate::capacity::{CapacityDocument, FinishedSearch};
use crate::json::json_type;
use crate::run::findings::Findings;
use crate::run::searches::searches_by_task;

json_type! {
    /// What was found of one server's capacity.
    pub(super) struct SearchJson as "server_capacity" of it: FinishedSearch<'_> {
        /// the server
        subject: String = it.of.subject.clone(),
        /// the task
        workload: String = it.of.task.clone(),
        /// the best rank that it may have among the servers of its task: one more than are ahead of it for certain;
        /// null: it is not ranked
        rank_first: Option<usize> = it.rank.map(|(first, _)| first),
        /// the worst rank that it may have
        rank_last: Option<usize> = it.rank.map(|(_, last)| last),
        /// why it is not ranked, whatever it holds: wrong answers, or a requirement that is not met
        not_ranked: Option<String> = it.unmet().map(String::from),
        /// the search, as `dyno capacity --json` writes one
        search: CapacityDocument = it.into(),
    }
}

pub(super) fn all(findings: &Findings<'_>) -> Vec<SearchJson> {
    searches_by_task(findings).iter().flatten().map(SearchJson::from).collect()
}
