//! The part of the JSON about schedules, steps, queues and failures.

use analysis::OnTime;
use load::Section;
use serde::Serialize;

use super::json::{DistributionJson, distribution};
use crate::verdict::Queue;
use report::units::seconds;

#[derive(Serialize)]
pub(super) struct OnTimeJson {
    share: Option<f64>,
    on_time: u64,
    due: u64,
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

#[derive(Serialize)]
pub(super) struct SectionJson {
    from_s: f64,
    until_s: f64,
    due: u64,
    correct: u64,
    on_time: u64,
    failed: u64,
    correct_inside: u64,
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
        response: distribution(&section.response),
    }
}

#[derive(Serialize)]
pub(super) struct QueueJson {
    backlog: Option<u32>,
    overflows: u64,
}

pub(super) fn queue(Queue { backlog, overflows }: Queue) -> QueueJson {
    QueueJson { backlog, overflows }
}
