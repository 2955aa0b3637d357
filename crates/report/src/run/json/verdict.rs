//! The verdicts, and their reasons, as JSON.

use analysis::{Board, Doubt, Gravity, Row, Table, Verdict};
use lab::experiment::Point;
use serde::Serialize;

use super::{EstimateJson, estimate};
use crate::doubt;

#[derive(Serialize)]
pub(super) struct BoardJson {
    verdict: Option<&'static str>,
    valid: usize,
    suspect: usize,
    invalid: usize,
    untried: usize,
}

pub(super) fn of_board(board: &Board) -> BoardJson {
    let worth = board.worth();
    BoardJson {
        verdict: board.verdict().map(Verdict::name),
        valid: worth.valid,
        suspect: worth.suspect,
        invalid: worth.invalid,
        untried: worth.untried,
    }
}

/// Why a trial or a table has no better verdict.
#[derive(Serialize)]
pub(super) struct DoubtJson {
    id: &'static str,
    gravity: &'static str,
    says: String,
    what_to_do: &'static str,
}

pub(super) fn of_doubt(found: &Doubt) -> DoubtJson {
    DoubtJson {
        id: doubt::id(found),
        gravity: found.gravity().name(),
        says: doubt::says(found),
        what_to_do: doubt::way_out(found, doubt::By::Experiment),
    }
}

/// Alarms first.
pub(super) fn of_table(table: &Table) -> Vec<DoubtJson> {
    let alarms = table.alarms().into_iter().map(|alarm| DoubtJson {
        id: "alike",
        gravity: Gravity::Suspect.name(),
        says: doubt::alarm(&alarm),
        what_to_do: "see how busy dyno and the CPUs were",
    });
    let remarks = table.remarks.iter().map(|remark| DoubtJson {
        id: doubt::remark_id(remark),
        gravity: remark.gravity().name(),
        says: doubt::remark_says(remark),
        what_to_do: doubt::remark_way_out(remark),
    });
    alarms.chain(remarks).collect()
}

/// Why a row has no better verdict: each kind of doubt once, and in how many rounds.
#[derive(Serialize)]
pub(super) struct ReasonJson {
    id: &'static str,
    gravity: &'static str,
    rounds: usize,
    of: usize,
    says: String,
    what_to_do: &'static str,
}

pub(super) fn of_row(row: &Row) -> Vec<ReasonJson> {
    let reasons = row.reasons().into_iter().map(|reason| ReasonJson {
        id: doubt::id(&reason.doubt),
        gravity: reason.doubt.gravity().name(),
        rounds: reason.rounds,
        of: reason.of,
        says: doubt::says(&reason.doubt),
        what_to_do: doubt::way_out(&reason.doubt, doubt::By::Experiment),
    });
    reasons.collect()
}

/// What the best reference reached at a place.
#[derive(Serialize)]
pub(super) struct CeilingJson {
    point: f64,
    point_unit: &'static str,
    achieved_per_s: EstimateJson,
}

pub(super) fn ceilings(table: &Table) -> Vec<CeilingJson> {
    let mut points: Vec<Point> = Vec::new();
    for row in &table.rows {
        if !points.contains(&row.point) {
            points.push(row.point);
        }
    }
    points.sort_by(|one, other| one.value().total_cmp(&other.value()));
    let at = |point: Point| {
        let achieved = table.ceiling(point)?;
        Some(CeilingJson {
            point: point.value(),
            point_unit: point.unit(),
            achieved_per_s: estimate(&achieved),
        })
    };
    points.into_iter().filter_map(at).collect()
}
