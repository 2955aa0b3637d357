//! One honest sentence.

use analysis::{
    Gravity, KEPT_UP, generator_busy, offered_per_s, on_time, silent_share, throughput_per_s,
};
use load::{Distribution, Failure, Nanos, Recording, Tally};
use units::{count, counted, nanos, percent, rate};

use super::known::{Kind, KnownLoad};
use super::{FinishedLoad, repeat};
use crate::Findings;
use crate::conduct;
use crate::verdict::ExplainedDoubt;

/// Of a load that has just ended.
pub(super) fn of(run: &FinishedLoad) -> String {
    sentence(&KnownLoad::ended(run))
}

/// Of a run of `dyno load`: what happened to its load, or what all of them have in common.
pub(crate) fn of_run(findings: &Findings<'_>) -> String {
    let only = findings.only_load().and_then(|trial| KnownLoad::of(findings, trial));
    only.map_or_else(|| repeat::sentence(findings), |load| sentence(&load))
}

/// What happened, in plain words. Faults that are not tolerated come first; then the figures, faults that are
/// tolerated, and what made the load suspect.
fn sentence(load: &KnownLoad<'_>) -> String {
    let total = &load.recording.total;
    if total.attempted == 0 {
        return "Nothing was measured: not one request was due.".into();
    }
    if total.correct == 0 {
        return nothing_but_failures(load);
    }
    let conduct = load.conduct;
    let figures = [answered(load), latency(&total.response)].concat();
    let answer = match (conduct.is_tolerated(), conduct::says("The server", &conduct)) {
        (_, None) => format!("The server {figures}"),
        (false, Some(first)) => format!("{first}; it {figures}"),
        (true, Some(_)) => {
            let failed = conduct::says("it", &conduct).unwrap_or_default();
            format!("The server {figures}; {failed}")
        }
    };
    answer + &doubtful(load) + "."
}

fn nothing_but_failures(load: &KnownLoad<'_>) -> String {
    let total = &load.recording.total;
    let Some((failure, _)) = most(total) else {
        return format!(
            "Not one of {} attempts was answered before the end.",
            count(total.attempted)
        );
    };
    let why = match failure {
        Failure::ConnectRefused => {
            format!("no server listens on {}", load.server)
        }
        _ => {
            let instead = if failure.is_about_status() { &load.instead[..] } else { "" };
            let meaning = reason(failure, total).unwrap_or_else(|| failure.meaning().into());
            format!("{failure}, {meaning}{instead}")
        }
    };
    let mostly = if total.failures(failure) == total.attempted { "" } else { "mostly: " };
    match total.attempted {
        1 => format!("The one attempt failed: {}", ended(&why)),
        attempted => {
            let attempted = count(attempted);
            let then = if load.verdict.has("gave_up") { ", then it gave up" } else { "" };
            let failed = match total.under_way {
                0 => format!("Every one of {attempted} attempts failed"),
                // Some had neither failed nor been answered when it ended.
                _ => format!("Not one of {attempted} attempts was answered as expected"),
            };
            format!("{failed}{then}: {mostly}{}", ended(&why))
        }
    }
}

/// With a full stop, unless it ends as a question.
fn ended(why: &str) -> String {
    if why.ends_with('?') { why.into() } else { format!("{why}.") }
}

/// Why it was, in words of its own: that of TLS that was seen most, or the first that was kept.
fn reason(failure: Failure, total: &Tally) -> Option<String> {
    let class = format!("{failure}: ");
    let of_tls = total.security.iter().flat_map(|seen| seen.agreed.reasons.sorted());
    let of_tls = of_tls.filter_map(|(reason, _)| reason.strip_prefix(&class));
    let kept = total.evidence.iter().find(|kept| kept.failure == failure);
    let of_answer = kept.and_then(|kept| kept.reason.as_deref());
    of_tls.chain(of_answer).find(|reason| !reason.is_empty()).map(String::from)
}

fn most(total: &Tally) -> Option<(Failure, u64)> {
    Failure::ALL
        .into_iter()
        .map(|failure| (failure, total.failures(failure)))
        .filter(|(_, times)| 0 < *times)
        .max_by_key(|(_, times)| *times)
}

fn answered(load: &KnownLoad<'_>) -> String {
    let recording = load.recording;
    let throughput = rate(throughput_per_s(recording).unwrap_or(0.0));
    match load.kind {
        Kind::Closed { connections } => {
            let on = match connections {
                1 => "one connection".into(),
                connections => format!("{} connections", count(connections)),
            };
            let begun = recording.total.connections.begun;
            let begun = match connections < begun {
                true => format!(" at a time ({} were begun)", count(begun)),
                false => String::new(),
            };
            format!("answered {throughput} requests/s on {on}{begun}")
        }
        Kind::Open => {
            let offered = rate(offered_per_s(recording).unwrap_or(0.0));
            let on_time = on_time(recording, None);
            let share = percent(on_time.share().unwrap_or(0.0));
            let limit = nanos(on_time.within);
            let answered = format!(
                "answered {share} of {offered} requests/s correctly and on time (limit {limit})"
            );
            // Answers that came after the measured time were on time, and are in no throughput.
            match on_time.share().is_some_and(|share| KEPT_UP <= share) && is_slower(recording) {
                true => format!("{answered}, but only {throughput}/s within the measured time"),
                false => answered,
            }
        }
        Kind::Sessions { calls } => {
            let sessions = &recording.total.sessions;
            format!(
                "completed {} of {} sessions of {}, and answered {throughput} of {} requests/s",
                count(sessions.complete),
                count(sessions.attempted),
                counted(calls, "call", "calls"),
                rate(offered_per_s(recording).unwrap_or(0.0))
            )
        }
    }
}

/// Whether fewer answers came each second than requests were offered.
fn is_slower(recording: &Recording) -> bool {
    throughput_per_s(recording) < offered_per_s(recording).map(|offered| KEPT_UP * offered)
}

/// The median, and the highest percentile with enough samples; where requests were given up, how many of all.
fn latency(response: &Distribution) -> String {
    let Some(median) = response.quantile(0.5) else {
        return String::new();
    };
    let carried = [(0.99, "99 %"), (0.9, "90 %")]
        .into_iter()
        .filter_map(|(q, share)| Some((response.quantile(q)?, share)))
        .find(|(quantile, _)| quantile.is_supported || quantile.is_bound);
    if median.is_bound {
        return format!(", but {}", took_longer(response, median.value));
    }
    let half = format!(", half of them within {}", nanos(median.value));
    match carried {
        None => half,
        Some((tail, _)) if tail.is_bound => {
            format!("{half}, but {}", took_longer(response, tail.value))
        }
        Some((tail, share)) => format!("{half} and {share} within {}", nanos(tail.value)),
    }
}

/// `1.2 % took 5 s or longer`.
fn took_longer(response: &Distribution, least: Nanos) -> String {
    let longer = response.count_between(least, Nanos::MAX);
    let share = percent(longer as f64 / response.count() as f64);
    format!("{share} took {} or longer", nanos(least))
}

/// The busiest agent, or else dyno's own threads.
fn busiest(load: &KnownLoad<'_>) -> String {
    let busy = load.agents.iter().filter_map(|agent| Some((agent.saw?.busy()?, &agent.name)));
    match busy.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((busy, name)) => format!("agent {name} was busy {}", percent(busy)),
        None => {
            let busy = generator_busy(&load.recording.lanes).unwrap_or(0.0);
            format!("dyno was busy {}", percent(busy))
        }
    }
}

/// The gravest reason to doubt it that has not been said; a note only where nothing graver is left.
fn doubtful(load: &KnownLoad<'_>) -> String {
    let verdict = &load.verdict;
    let is_late = verdict.has("not_on_time");
    let graver = |doubt: &&ExplainedDoubt| doubt.gravity != Gravity::Note && doubt.id != "failures";
    // Of what was lost with an agent the figures say nothing.
    let lost = verdict.find("agents_lost");
    let Some(doubt) = lost.or_else(|| verdict.doubts.iter().find(graver)) else {
        return match verdict.find("growing") {
            _ if is_late => ", so it did not keep up".into(),
            Some(growing) => in_full(growing),
            None => String::new(),
        };
    };
    let instruments = match doubt.id {
        "gave_up" => "then it gave up".into(),
        "agents_lost" => {
            let share = percent(load.lost);
            format!("{share} of the load was lost with its agents, and this is of the rest")
        }
        "instrument_stood_still" => {
            "dyno was not running for a while, so some answers are timed too late".into()
        }
        "silence" => {
            let share = percent(silent_share(load.recording).unwrap_or(0.0));
            format!("for {share} of the time no correct answer came at all")
        }
        "instrument_busy" if is_late => {
            format!("{} of the time, and may be what did not keep up", busiest(load))
        }
        "own_failures" if is_late => "dyno contributed to that".into(),
        "instrument_busy" => {
            format!("{} of the time, so it may have been the limit", busiest(load))
        }
        "instrument_late" => "dyno itself sent late, so the truth is better than this".into(),
        "too_few_samples" if is_late => "the sample is small, and it did not keep up".into(),
        "too_few_samples" => "the sample is small".into(),
        _ => return in_full(doubt),
    };
    format!("; {instruments}")
}

/// A sentence of its own, whose full stop is the answer's.
fn in_full(doubt: &ExplainedDoubt) -> String {
    format!(". {}", doubt.says.trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
