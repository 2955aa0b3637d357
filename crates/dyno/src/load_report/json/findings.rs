//! The part of the JSON about schedules, steps and queues.

use analysis::OnTime;
use load::Section;
use report::json::DistributionJson;
use report::units::seconds;
use schemars::JsonSchema;
use serde::Serialize;

use crate::verdict::Queue;

/// Whether the server kept up.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "on_time")]
pub(super) struct OnTimeJson {
    /// `on_time` divided by `due`; null if nothing was due
    share: Option<f64>,
    /// requests that were answered correctly within `within_s` of when they were due
    on_time: u64,
    /// requests that were due
    due: u64,
    /// the limit
    within_s: f64,
}

pub(super) fn on_time(found: OnTime) -> OnTimeJson {
    OnTimeJson {
        share: found.share(),
        on_time: found.on_time,
        due: found.due,
        within_s: seconds(found.within),
    }
}

/// A tenth of a ramp, or a step: what was due there.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "section")]
pub(super) struct SectionJson {
    /// its beginning
    from_s: f64,
    /// its end
    until_s: f64,
    /// requests that were due in it
    due: u64,
    /// requests of these that were answered as expected
    correct: u64,
    /// requests of these that were answered on time
    on_time: u64,
    /// requests of these that failed
    failed: u64,
    /// correct answers that came in it, whenever they were due
    correct_inside: u64,
    /// response times of what was due in it
    response: DistributionJson,
}

pub(super) fn section(section: &Section) -> SectionJson {
    SectionJson {
        from_s: seconds(section.from),
        until_s: seconds(section.until),
        due: section.due,
        correct: section.correct,
        on_time: section.on_time,
        failed: section.failed,
        correct_inside: section.correct_inside,
        response: (&section.response).into(),
    }
}

/// The server's accept queue.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "queue")]
pub(super) struct QueueJson {
    /// how many connections it holds; null if the kernel does not report it
    backlog: Option<u32>,
    /// connections that found a queue of this machine full during the run
    overflows: u64,
}

pub(super) fn queue(Queue { backlog, overflows }: Queue) -> QueueJson {
    QueueJson { backlog, overflows }
}
