//! Latencies whose distribution has a known cause.

use lab::record::TrialRecord;
use load::{Recording, SECOND};
use units::{percent, time};

use super::definition::{family, in_percent};
use crate::rates::{measured_s, throughput_per_s};
use crate::readings;
use crate::rule::{ROUNDING, SPREAD, mean_reaches_p99, mean_s_by_littles_law};
use crate::verdict::Gravity;

/// Linux delays an acknowledgement by 40 ms; a timer may seem a little early or late to dyno.
const DELAYED_MS: (f64, f64) = (38.0, 46.0);
/// The middle half of the requests is near that value, too: it is a timer, not a distribution with its median there.
const DELAYED_HALF_MS: (f64, f64) = (36.0, 50.0);
/// A subject that uses more of a CPU may well have worked for that time.
const IDLE: f64 = 0.5;
/// If fewer of the connections are in flight on average, the loop did not keep them busy: mostly at its end.
const KEPT_BUSY: f64 = 0.9;

family! {
    /// The shape of the latencies has a known cause.
    ShapeDoubt;

    /// Half the requests took as long as a delayed acknowledgement takes, and the subject was idle.
    DelayedAck {
        /// The median of the service time, milliseconds.
        p50_ms: f64,
        /// The subject's CPU time, as a share of one CPU.
        cpu_share: f64,
    }
    id: "delayed_ack",
    gravity: Gravity::Suspect,
    when: format!(
        "p50 of the service time from {} to {} ms, the middle half from {} to {} ms, the subject below {} of a CPU",
        DELAYED_MS.0,
        DELAYED_MS.1,
        DELAYED_HALF_MS.0,
        DELAYED_HALF_MS.1,
        in_percent(IDLE)
    ),
    because: "Nagle's algorithm and the delayed acknowledgement of 40 ms",
    says: format!(
        "half the answers took {}, and the subject used {} of a CPU: this looks like Nagle's algorithm waiting for a \
         delayed acknowledgement (40 ms), not like work",
        time(p50_ms * 1e6),
        percent(*cpu_share)
    ),
    way_out: "let it send head and body in one write, or set TCP_NODELAY; and see what its entry says of it",
    examples: [{ p50_ms: 41.0, cpu_share: 0.03 }],

    /// The mean is above the p99: a few exchanges make up most of the time, or one of the two is wrong.
    MeanAboveP99 {
        /// The mean, milliseconds.
        mean_ms: f64,
        /// The p99, milliseconds.
        p99_ms: f64,
        /// The mean was not measured: it is the time that so many connections must wait at such a rate.
        is_by_rate: bool,
    }
    id: "mean_above_p99",
    gravity: Gravity::Suspect,
    when: format!(
        "the mean is more than {rounding} above the p99; or within {rounding} of it, while the median is below {SPREAD} of \
         it. In a closed loop that was kept busy, also the mean that connections ÷ rate demands",
        rounding = in_percent(ROUNDING - 1.0)
    ),
    because: "a few exchanges were so slow that they raised the mean above the p99, or the p99 is no request's time, or it \
        is an average",
    says: if *is_by_rate {
        format!(
            "p99 is {}, but at this rate the connections must have waited {} on average (Little's law): this p99 is of no \
             distribution, or an average",
            time(p99_ms * 1e6),
            time(mean_ms * 1e6)
        )
    } else {
        format!(
            "the mean ({}) reaches the p99 ({}): a few requests were so slow that they raised the mean above it, or it is an \
             average",
            time(mean_ms * 1e6),
            time(p99_ms * 1e6)
        )
    },
    way_out: "look at p99.9, max and the slowest exchanges before either is quoted",
    examples: [
        { mean_ms: 50.0, p99_ms: 9.0, is_by_rate: true },
        { mean_ms: 50.0, p99_ms: 9.0, is_by_rate: false },
    ],
}

/// Nagle's algorithm at one end waits for an acknowledgement that the other end delays.
pub(super) fn delayed_ack(trial: &TrialRecord) -> Option<ShapeDoubt> {
    let service = &trial.loaded.as_ref()?.recording.total.service;
    let cpu_share = readings::cpu_ns_per_s(trial)? / SECOND as f64;
    let at = |q: f64| service.quantile(q).map(|quantile| quantile.value as f64 / 1e6);
    let (p25, p50_ms, p75) = (at(0.25)?, at(0.5)?, at(0.75)?);
    let is_between = |value: f64, (low, high): (f64, f64)| low <= value && value <= high;
    let is_timer = is_between(p50_ms, DELAYED_MS)
        && is_between(p25, DELAYED_HALF_MS)
        && is_between(p75, DELAYED_HALF_MS);
    (is_timer && cpu_share < IDLE).then_some(ShapeDoubt::DelayedAck { p50_ms, cpu_share })
}

/// Where connections are kept busy, mean response = connections / rate, whatever was measured: a p99 below it describes
/// no client, and one that equals it when times are spread is an average. (Published figures were found to be wrong in
/// this way.)
pub(super) fn mean_above_p99(
    recording: &Recording,
    connections: Option<u32>,
) -> Option<ShapeDoubt> {
    let response = &recording.total.response;
    let p99 = response.quantile(0.99).filter(|p99| p99.is_supported && !p99.is_bound)?;
    let p99_ms = p99.value as f64 / 1e6;
    let measured_ms = response.mean() / 1e6;
    let (mean_ms, is_by_rate) =
        match connections.and_then(|connections| demanded_ms(recording, connections)) {
            Some(demanded_ms) if measured_ms < demanded_ms => (demanded_ms, true),
            Some(_) | None => (measured_ms, false),
        };
    let p50_ms = response.quantile(0.5)?.value as f64 / 1e6;
    mean_reaches_p99(mean_ms, p99_ms, Some(p50_ms)).then_some(ShapeDoubt::MeanAboveP99 {
        mean_ms,
        p99_ms,
        is_by_rate,
    })
}

/// The mean by Little's law for a closed loop in which every exchange ended.
fn demanded_ms(recording: &Recording, connections: u32) -> Option<f64> {
    let total = &recording.total;
    let wall_s = measured_s(recording);
    let in_flight = total.in_flight_area as f64 / SECOND as f64 / wall_s;
    let is_busy = total.failed_in_all() == 0 && KEPT_BUSY * f64::from(connections) <= in_flight;
    let per_s = throughput_per_s(recording).filter(|_| is_busy)?;
    mean_s_by_littles_law(f64::from(connections), per_s).map(|mean_s| mean_s * 1e3)
}
