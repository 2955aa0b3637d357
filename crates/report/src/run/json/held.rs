//! Held connections as JSON: the price list, and every plateau with its rounds.

use std::collections::BTreeMap;

use analysis::{
    After, Cause, Climb, GaveWay, Gone, HeldFigure, HeldNumbers, Plateau, Ramps, Round, Slope,
};
use serde::Serialize;

use super::{EstimateJson, estimate};
use crate::run::Findings;

#[derive(Serialize)]
pub(super) struct RampsJson<'t> {
    workload: &'t str,
    subjects: Vec<ClimbJson<'t>>,
}

#[derive(Serialize)]
struct ClimbJson<'t> {
    subject: &'t str,
    is_reference: bool,
    connections: u32,
    rounds_measured: usize,
    verdict: Option<&'static str>,
    price: PriceJson,
    plateaus: Vec<PlateauJson>,
    rounds: Vec<RoundJson<'t>>,
}

#[derive(Serialize)]
struct PriceJson {
    memory_per_connection: Option<SlopeJson>,
    cpu_ms_per_1000: Option<EstimateJson>,
    reached: Option<EstimateJson>,
    gave_way: Option<GaveWayJson>,
    memory_after: Option<AfterJson>,
}

#[derive(Serialize)]
struct SlopeJson {
    bytes: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// What the interval is about.
    interval_of: &'static str,
    memory: &'static str,
    rounds: usize,
}

#[derive(Serialize)]
struct GaveWayJson {
    connections: usize,
    open: u64,
    round: u32,
    rounds: usize,
    of: usize,
    causes: Vec<CauseJson>,
}

#[derive(Serialize)]
struct CauseJson {
    what: &'static str,
    name: Option<&'static str>,
    times: Option<u64>,
    p99_ms: Option<f64>,
    is_own: bool,
}

#[derive(Serialize)]
struct AfterJson {
    memory: &'static str,
    before_bytes: EstimateJson,
    peak_bytes: EstimateJson,
    after_bytes: EstimateJson,
    given_back_percent: Option<EstimateJson>,
}

#[derive(Serialize)]
struct PlateauJson {
    connections: usize,
    rounds: usize,
    sums: SumsJson,
    gone: Vec<GoneJson>,
    figures: BTreeMap<&'static str, EstimateJson>,
}

#[derive(Serialize)]
struct SumsJson {
    failed: u64,
    lost: u64,
    silent: u64,
    waiting: u64,
    begun_again: u64,
    missed: u64,
}

#[derive(Serialize)]
struct GoneJson {
    what: &'static str,
    name: &'static str,
    times: u64,
    is_own: bool,
}

#[derive(Serialize)]
struct RoundJson<'t> {
    number: u32,
    round: u32,
    outcome: &'static str,
    says: &'t str,
    plateaus: Vec<RoundPlateauJson>,
}

#[derive(Serialize)]
struct RoundPlateauJson {
    connections: usize,
    figures: BTreeMap<&'static str, f64>,
}

/// Everything that was held; empty if the run has another load.
pub(super) fn all<'t>(findings: &'t Findings<'_>) -> Vec<RampsJson<'t>> {
    let one = |ramps: &'t Ramps| RampsJson {
        workload: &ramps.workload,
        subjects: ramps.climbs.iter().map(climb).collect(),
    };
    findings.board.ramps.iter().map(one).collect()
}

fn climb(climb: &Climb) -> ClimbJson<'_> {
    let price = &climb.price;
    ClimbJson {
        subject: &climb.subject,
        is_reference: climb.is_reference,
        connections: climb.connections,
        rounds_measured: climb.measured,
        verdict: climb.verdict.map(analysis::Verdict::name),
        price: PriceJson {
            memory_per_connection: price.memory.as_ref().map(slope),
            cpu_ms_per_1000: price.cpu_ms_per_1000.as_ref().map(estimate),
            reached: price.reached.as_ref().map(estimate),
            gave_way: price.gave_way.as_ref().map(gave_way),
            memory_after: price.after.as_ref().map(after),
        },
        plateaus: climb.plateaus.iter().map(plateau).collect(),
        rounds: climb.rounds.iter().map(round).collect(),
    }
}

fn slope(slope: &Slope) -> SlopeJson {
    SlopeJson {
        bytes: slope.bytes,
        low: slope.interval.map(|(low, _)| low),
        high: slope.interval.map(|(_, high)| high),
        interval_of: slope.basis.name(),
        memory: slope.of.name(),
        rounds: slope.rounds,
    }
}

fn gave_way(found: &GaveWay) -> GaveWayJson {
    GaveWayJson {
        connections: found.connections,
        open: found.open,
        round: found.repeat + 1,
        rounds: found.rounds,
        of: found.of,
        causes: found.causes.iter().map(cause).collect(),
    }
}

fn cause(cause: &Cause) -> CauseJson {
    let (what, name, times, p99_ms) = match cause {
        Cause::Ended(kind) => ("ended", Some(kind.name()), None, None),
        Cause::Failed(loss, times) => ("failed", Some(loss.name()), Some(*times), None),
        Cause::Lost(loss, times) => ("lost", Some(loss.name()), Some(*times), None),
        Cause::Waiting(times) => ("waiting", None, Some(*times), None),
        Cause::Silent(times) => ("silent", None, Some(*times), None),
        Cause::Late { p99_ms, .. } => ("late", None, None, Some(*p99_ms)),
    };
    CauseJson { what, name, times, p99_ms, is_own: cause.is_own() }
}

fn after(after: &After) -> AfterJson {
    AfterJson {
        memory: after.of.name(),
        before_bytes: estimate(&after.before),
        peak_bytes: estimate(&after.peak),
        after_bytes: estimate(&after.after),
        given_back_percent: after.given_back_percent.as_ref().map(estimate),
    }
}

fn plateau(plateau: &Plateau) -> PlateauJson {
    let named = |figure: HeldFigure| Some((figure.name(), estimate(&plateau.estimate(figure)?)));
    let sums = &plateau.sums;
    PlateauJson {
        connections: plateau.connections,
        rounds: plateau.rounds,
        sums: SumsJson {
            failed: sums.failed,
            lost: sums.lost,
            silent: sums.silent,
            waiting: sums.waiting,
            begun_again: sums.begun_again,
            missed: sums.missed,
        },
        gone: plateau.gone.iter().map(gone).collect(),
        figures: HeldFigure::ALL.into_iter().filter_map(named).collect(),
    }
}

fn gone(gone: &Gone) -> GoneJson {
    GoneJson {
        what: if gone.was_open { "lost" } else { "failed" },
        name: gone.loss.name(),
        times: gone.times,
        is_own: gone.loss.is_own(),
    }
}

fn round(round: &Round) -> RoundJson<'_> {
    let plateaus = round.plateaus.iter().map(|one| RoundPlateauJson {
        connections: one.connections,
        figures: numbers(&one.figures),
    });
    RoundJson {
        number: round.number,
        round: round.repeat + 1,
        outcome: round.outcome.kind.name(),
        says: &round.outcome.says,
        plateaus: plateaus.collect(),
    }
}

fn numbers(numbers: &HeldNumbers) -> BTreeMap<&'static str, f64> {
    let named = |figure: HeldFigure| Some((figure.name(), numbers.get(figure)?.value));
    HeldFigure::ALL.into_iter().filter_map(named).collect()
}
