//! Held connections as JSON: the price list, and every plateau with its rounds.

use std::collections::BTreeMap;

use analysis::{
    After, By, Cause, Estimate, FirstFailure, HeldSubject, LossCount, Plateau, PlateauFigure,
    Price, Ramps, Round, RoundPlateau, Slope, Sums,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::rows::EndedJson;
use crate::json::json_type;
use crate::run::findings::Findings;
use crate::verdict::ExplainedVerdict;

json_type! {
    /// Held connections of a workload.
    pub(super) struct RampsJson<'t> as "ramps" of ramps: Ramps, with findings: Findings<'_> {
        /// the workload
        workload: &'t str = &ramps.workload,
        /// each server, with each number of connections that it was to hold in the end
        subjects: Vec<HeldSubjectJson<'t>> =
            ramps.subjects.iter().map(|found| held_subject(findings, ramps, found)).collect(),
    }
}

// `HeldSubject` has only the word of the verdict; here its reasons stand with it.
/// A server and the steps of its ramp. A trial of held connections is a whole ramp, and its plateaus are the loads of
/// the axis.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "held_server")]
struct HeldSubjectJson<'t> {
    /// the server
    subject: &'t str,
    /// it is no competitor
    is_reference: bool,
    /// connections in the end
    connections: u32,
    /// rounds that were measured
    rounds_measured: usize,
    /// what its figures are worth, which is its row's verdict
    verdict: ExplainedVerdict,
    /// what a connection costs
    price: PriceJson<'t>,
    /// from low to high, over the measured rounds
    plateaus: Vec<PlateauJson<'t>>,
    /// every trial that held connections, measured or not
    rounds: Vec<RoundJson<'t>>,
}

json_type! {
    /// What a connection costs.
    struct PriceJson<'t> as "price" of price: Price {
        /// memory of a connection
        memory_per_connection: Option<SlopeJson> = price.memory.as_ref().map(SlopeJson::from),
        /// CPU time for 1,000 messages on the last plateau
        cpu_ms_per_1000: Option<Estimate>,
        /// the most connections that were open on a plateau where no more than 0.1 % of those requested failed or were
        /// lost
        reached: Option<Estimate>,
        /// the first plateau, of any round, on which something gave way; null: none
        gave_way: Option<GaveWayJson<'t>> = price.gave_way.as_ref().map(GaveWayJson::from),
        /// memory after all connections were closed
        memory_after: Option<AfterJson> = price.after.as_ref().map(AfterJson::from),
    }
}

json_type! {
    /// The slope of mean memory over open connections, by least squares over the plateaus; for several rounds the mean.
    struct SlopeJson as "slope" of slope: Slope {
        /// the slope
        bytes: f64,
        /// lower end of its 95 % interval
        low: Option<f64> = slope.interval.map(|(low, _)| low),
        /// its upper end
        high: Option<f64> = slope.interval.map(|(_, high)| high),
        /// what the interval is about: the rounds' slopes (rounds), or the plateaus of the one round (line)
        interval_of: &'static str = slope.basis.name(),
        /// which kind of memory: pss where every plateau of every round has it, else rss
        memory: &'static str = slope.of.name(),
        /// how many rounds
        rounds: usize,
    }
}

json_type! {
    /// The first plateau, of any round, on which something gave way.
    struct GaveWayJson<'t> as "gave_way" of found: FirstFailure {
        #[serde(flatten)]
        found: &'t FirstFailure = found,
        /// what gave way, the main cause first
        causes: Vec<CauseJson> = found.causes.iter().map(CauseJson::from).collect(),
    }
}

// `Cause` is an enum whose values have different data; readers of JSON want the same names for each.
json_type! {
    /// What gave way.
    struct CauseJson as "cause" of cause: Cause;
        let (what, name, times, p99_ms) = match cause {
            Cause::Ended(kind) => ("ended", Some(kind.name()), None, None),
            Cause::Failed(loss, times) => ("failed", Some(loss.name()), Some(*times), None),
            Cause::Lost(loss, times) => ("lost", Some(loss.name()), Some(*times), None),
            Cause::Waiting(times) => ("waiting", None, Some(*times), None),
            Cause::Silent(times) => ("silent", None, Some(*times), None),
            Cause::Late { p99_ms, .. } => ("late", None, None, Some(*p99_ms)),
        };
    {
        /// ended, failed, lost, waiting, silent or late
        what: &'static str = what,
        /// the class of the loss, or the trial's outcome
        name: Option<&'static str> = name,
        /// how many connections
        times: Option<u64> = times,
        /// lateness of 99 % of the messages, where it was beyond a tenth of the interval
        p99_ms: Option<f64> = p99_ms,
        /// it is dyno's own fault
        is_own: bool = cause.is_own(),
    }
}

json_type! {
    /// Memory after all connections were closed.
    struct AfterJson as "memory_after" of after: After {
        /// which kind of memory: pss or rss
        memory: &'static str = after.of.name(),
        /// before the first connection
        before_bytes: Estimate = after.before,
        /// while connections were held
        peak_bytes: Estimate = after.peak,
        /// at the end of the drain
        after_bytes: Estimate = after.after,
        /// of what had been added
        given_back_percent: Option<Estimate>,
    }
}

// `Plateau` has its figures as an array; here each has its name, and those that were not measured are left out.
json_type! {
    /// A plateau, over the measured rounds. Connections are counted from the beginning of its step; everything else is
    /// of its measured part.
    struct PlateauJson<'t> as "plateau" of plateau: Plateau, with findings: Findings<'_>;
        let named = |figure: PlateauFigure<'t>| Some((figure.name(), plateau.estimate(figure)?));
    {
        /// connections that were to be there
        connections: usize,
        /// rounds that reached it
        rounds: usize,
        /// sums over these rounds
        sums: Sums,
        /// the interval is not known, so `messages_per_s` may have up to one message of each connection too many or too
        /// few
        cuts_beats: bool,
        /// connections that are gone, by cause, most first
        gone: Vec<GoneJson> = plateau.gone.iter().map(GoneJson::from).collect(),
        /// each figure by its name in figures.md or in a probe's manifest
        figures: BTreeMap<&'t str, Estimate> =
            findings.board.plateau_figures().filter_map(named).collect(),
    }
}

json_type! {
    /// Connections that are gone, by cause.
    struct GoneJson as "gone" of gone: LossCount {
        /// failed or lost
        what: &'static str = if gone.was_open { "lost" } else { "failed" },
        /// the class
        name: &'static str = gone.loss.name(),
        /// how many
        times: u64,
        /// it is dyno's own fault
        is_own: bool = gone.loss.is_own(),
    }
}

json_type! {
    /// A trial that held connections.
    struct RoundJson<'t> as "round" of round: Round, with findings: Findings<'_> {
        #[serde(flatten)]
        ended: EndedJson<'t> = EndedJson::of(round.number, round.repeat, &round.outcome),
        /// the plateaus that it reached
        plateaus: Vec<RoundPlateauJson<'t>> =
            round.plateaus.iter().map(|one| RoundPlateauJson::of(findings, one)).collect(),
    }
}

json_type! {
    /// A plateau of one round.
    struct RoundPlateauJson<'t> as "round_plateau" of plateau: RoundPlateau,
        with findings: Findings<'_>;
        let number = |figure: PlateauFigure<'t>| {
            Some((figure.name(), plateau.figures.get(figure)?.value))
        };
    {
        /// connections that were to be there
        connections: usize,
        /// each figure by its name in figures.md or in a probe's manifest
        figures: BTreeMap<&'t str, f64> =
            findings.board.plateau_figures().filter_map(number).collect(),
    }
}

/// Everything that was held; empty if the run has another load.
pub(super) fn all<'t>(findings: &'t Findings<'_>) -> Vec<RampsJson<'t>> {
    findings.board.ramps.iter().map(|ramps| RampsJson::of(findings, ramps)).collect()
}

fn held_subject<'t>(
    findings: &'t Findings<'_>,
    ramps: &Ramps,
    held: &'t HeldSubject,
) -> HeldSubjectJson<'t> {
    let row = crate::run::held::row(findings, &ramps.workload, held);
    HeldSubjectJson {
        subject: &held.subject,
        is_reference: held.is_reference,
        connections: held.connections,
        rounds_measured: held.measured,
        verdict: row.map_or(ExplainedVerdict::default(), |row| {
            ExplainedVerdict::of_row(row, By::Experiment)
        }),
        price: PriceJson::from(&held.price),
        plateaus: held.plateaus.iter().map(|one| PlateauJson::of(findings, one)).collect(),
        rounds: held.rounds.iter().map(|one| RoundJson::of(findings, one)).collect(),
    }
}
