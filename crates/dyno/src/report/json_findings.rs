//! What the JSON says of schedules, steps, queues and failures.

use analysis::OnTime;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use load::{Evidence, Section};
use serde::Serialize;

use super::json::{DistributionJson, distribution, seconds};
use crate::run::Queue;

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

/// The first few failures of each class. Bytes are base64.
#[derive(Serialize)]
pub(super) struct EvidenceJson {
    class: &'static str,
    at_s: f64,
    seq: u64,
    request: String,
    expected: String,
    received: String,
    lacks_beginning: bool,
    is_cut: bool,
}

pub(super) fn evidence(kept: &Evidence) -> EvidenceJson {
    EvidenceJson {
        class: kept.failure.name(),
        at_s: seconds(kept.at),
        seq: kept.seq,
        request: STANDARD.encode(&kept.request),
        expected: kept.expected.clone(),
        received: STANDARD.encode(&kept.received),
        lacks_beginning: kept.lacks_beginning,
        is_cut: kept.is_cut,
    }
}
