//! Latencies whose distribution has a known cause.

use lab::figure::{
    rates::{measured_s, throughput_per_s},
    readings,
};
use lab::record::TrialRecord;
use load::{Recording, SECOND};
use units::{percent, time};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::{Number, Share};
use crate::rule::{ROUNDING, SPREAD, mean_reaches_p99, mean_s_by_littles_law};
use crate::verdict::Gravity::Suspect;

/// Linux delays an acknowledgement by 40 ms; a timer may seem a little early or late to dyno.
const DELAYED_MS: (f64, f64) = (38.0, 46.0);
/// The middle half of the requests is near that value, too: it is a timer, not a distribution with its median there.
const DELAYED_HALF_MS: (f64, f64) = (36.0, 50.0);
/// A subject that uses more of a CPU may well have worked for that time.
const IDLE: f64 = 0.5;
/// If fewer of the connections are in flight on average, the loop did not keep them busy: mostly at its end.
const KEPT_BUSY: f64 = 0.9;

pub(super) const ALL: &[Definition] = &[DELAYED_ACK, MEAN_ABOVE_P99];

/// Half the requests took as long as a delayed acknowledgement takes, and the subject was idle.
pub(crate) const DELAYED_ACK: Definition = Definition::new("delayed_ack", Suspect)
    .when("p50 of the service time from {} to {} ms, the middle half from {} to {} ms, the server and its service \
        together below {} of a CPU")
    .thresholds(&[Number(DELAYED_MS.0), Number(DELAYED_MS.1),
        Number(DELAYED_HALF_MS.0), Number(DELAYED_HALF_MS.1), Share(IDLE)])
    .because("Nagle's algorithm and the delayed acknowledgement of 40 ms")
    .way_out("let it send head and body in one write, or set TCP_NODELAY; and see what its subject.toml says of it");

/// The mean is above the p99: a few exchanges make up most of the time, or one of the two is wrong.
pub(crate) const MEAN_ABOVE_P99: Definition = Definition::new("mean_above_p99", Suspect)
    .when("the mean is more than {} above the p99; or within {} of it, while the median is below {} of it. In a closed \
        loop that was kept busy, also the mean that connections ÷ rate demands")
    .thresholds(&[Share(ROUNDING - 1.0), Share(ROUNDING - 1.0), Number(SPREAD)])
    .because("a few exchanges were so slow that they raised the mean above the p99, or the p99 is not a request's \
        time, \
        or it is an average")
    .way_out("look at p99.9, max and the slowest exchanges before either is quoted");

/// Nagle's algorithm at one end waits for an acknowledgement that the other end delays.
pub(super) fn delayed_ack(trial: &TrialRecord) -> Option<Doubt> {
    let service = &trial.loaded.as_ref()?.recording.total.service;
    let service_ns = readings::growth_ns_per_s(trial, "service.cpu.total").unwrap_or(0.0);
    let cpu_share = (readings::cpu_ns_per_s(trial)? + service_ns) / SECOND as f64;
    let quantile_ms = |q: f64| service.quantile(q).map(|quantile| quantile.value as f64 / 1e6);
    let (p25, p50_ms, p75) = (quantile_ms(0.25)?, quantile_ms(0.5)?, quantile_ms(0.75)?);
    let is_between = |value: f64, (low, high): (f64, f64)| low <= value && value <= high;
    let is_timer = is_between(p50_ms, DELAYED_MS)
        && is_between(p25, DELAYED_HALF_MS)
        && is_between(p75, DELAYED_HALF_MS);
    (is_timer && cpu_share < IDLE).then(|| DELAYED_ACK.found(format!(
        "half the answers took {}, and the server used {} of a CPU: this looks like Nagle's algorithm waiting for a \
         delayed acknowledgement (40 ms), not like work",
        time(p50_ms * 1e6),
        percent(cpu_share)
    )))
}

/// Where connections are kept busy, mean response = connections / rate, whatever was measured: a p99 below it describes
/// no client, and one that equals it when times are spread is an average. (Published figures were found to be wrong in
/// this way.)
pub(super) fn mean_above_p99(recording: &Recording, connections: Option<u32>) -> Option<Doubt> {
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
    let (mean, p99) = (time(mean_ms * 1e6), time(p99_ms * 1e6));
    let says = if is_by_rate {
        format!(
            "p99 is {p99}, but at this rate the connections must have waited {mean} on average (Little's law): this \
             p99 is not that of one distribution, or it is an average"
        )
    } else {
        format!(
            "the mean ({mean}) reaches the p99 ({p99}): a few requests were so slow that they raised the mean above \
             it, or it is an average"
        )
    };
    mean_reaches_p99(mean_ms, p99_ms, Some(p50_ms)).then(|| MEAN_ABOVE_P99.found(says))
}

/// The mean by Little's law for a closed loop in which every exchange ended.
fn demanded_ms(recording: &Recording, connections: u32) -> Option<f64> {
    let total = &recording.total;
    let wall_s = measured_s(recording);
    let in_flight = total.in_flight_area as f64 / SECOND as f64 / wall_s;
    let is_busy = total.failed_in_all() == 0 && KEPT_BUSY * f64::from(connections) <= in_flight;
    let per_s = throughput_per_s(recording).filter(|_| is_busy)?;
    // Time between two segments of a head is in no response time.
    let held_back = total.forms.map_or(0.0, |_| total.flight.unsent as f64 / 1e6);
    let held_back_ms = held_back / total.correct.max(1) as f64;
    let mean_s = mean_s_by_littles_law(f64::from(connections), per_s)?;
    Some(mean_s * 1e3 - held_back_ms)
}
