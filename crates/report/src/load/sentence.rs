//! One honest sentence.

use analysis::{Verdict, generator_busy, offered_per_s, on_time, silent_share, throughput_per_s};
use load::{Distribution, Failure, Load, Tally};
use units::{count, counted, nanos, percent, rate};

use super::{FinishedLoad, answers, words};

/// What happened, in plain words, with the gravest doubt.
pub(super) fn of(run: &FinishedLoad) -> String {
    let total = &run.recording.total;
    if total.attempted == 0 {
        return "Nothing was measured: not one request was due.".into();
    }
    if total.correct == 0 {
        return nothing_but_failures(run);
    }
    let latency = latency(&total.response);
    let parts = [answered(run), latency, failed(total), doubtful(run)];
    parts.concat() + "."
}

fn nothing_but_failures(run: &FinishedLoad) -> String {
    let total = &run.recording.total;
    let Some((failure, _)) = most(total) else {
        return format!(
            "Not one of {} attempts was answered before the end.",
            count(total.attempted)
        );
    };
    let why = match failure {
        Failure::ConnectRefused => {
            format!("no server listens on {}", words::address(&run.order.target))
        }
        _ => {
            let instead = answers::instead(failure, &total.answers, &run.order);
            let meaning = reason(failure, run).unwrap_or_else(|| failure.meaning().into());
            format!("{failure}, {meaning}{instead}")
        }
    };
    let mostly = if total.failures(failure) == total.attempted { "" } else { "mostly: " };
    match total.attempted {
        1 => format!("The one attempt failed: {}", ended(&why)),
        attempted => {
            let attempted = count(attempted);
            let then = if run.verdict.has("gave_up") { ", then it gave up" } else { "" };
            format!("Every one of {attempted} attempts failed{then}: {mostly}{}", ended(&why))
        }
    }
}

/// With a full stop, unless it ends as a question.
fn ended(why: &str) -> String {
    if why.ends_with('?') { why.into() } else { format!("{why}.") }
}

/// Why it was, in words of its own: that of TLS that was seen most, or the first that was kept.
fn reason(failure: Failure, run: &FinishedLoad) -> Option<String> {
    let total = &run.recording.total;
    let class = format!("{failure}: ");
    let of_tls = total.security.iter().flat_map(|seen| seen.reasons.sorted());
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

fn answered(run: &FinishedLoad) -> String {
    let recording = &run.recording;
    let throughput = rate(throughput_per_s(recording).unwrap_or(0.0));
    match &run.order.load {
        Load::Closed { connections } => {
            let on = match *connections as u64 {
                1 => "one connection".into(),
                connections => format!("{} connections", count(connections)),
            };
            let begun = recording.total.connections.begun;
            let begun = match (*connections as u64) < begun {
                true => format!(" at a time ({} were begun)", count(begun)),
                false => String::new(),
            };
            format!("It answered {throughput} requests/s on {on}{begun}")
        }
        Load::Open { .. } => {
            let offered = rate(offered_per_s(recording).unwrap_or(0.0));
            let on_time = on_time(recording, None);
            let share = percent(on_time.share().unwrap_or(0.0));
            let within = nanos(on_time.within);
            format!("It answered {share} of {offered} requests/s correctly within {within}")
        }
        Load::Sessions { calls, .. } => {
            let sessions = &recording.total.sessions;
            format!(
                "It completed {} of {} sessions of {}, and answered {throughput} of {} requests/s",
                count(sessions.complete),
                count(sessions.attempted),
                counted(u64::from(*calls), "call", "calls"),
                rate(offered_per_s(recording).unwrap_or(0.0))
            )
        }
    }
}

/// The median, and the highest percentile with enough samples.
fn latency(response: &Distribution) -> String {
    let Some(median) = response.quantile(0.5) else {
        return String::new();
    };
    let median_words = match median.is_bound {
        true => format!(", half of them only after {} or more", nanos(median.value)),
        false => format!(", half of them within {}", nanos(median.value)),
    };
    let carried = [(0.99, "99 %", "1 %"), (0.9, "90 %", "10 %")]
        .into_iter()
        .filter_map(|(q, share, rest)| Some((response.quantile(q)?, share, rest)))
        .find(|(quantile, ..)| quantile.is_supported || quantile.is_bound);
    match carried {
        Some((tail, _, rest)) if tail.is_bound && !median.is_bound => {
            format!("{median_words}, but {rest} took {} or longer", nanos(tail.value))
        }
        Some((tail, share, _)) if !tail.is_bound => {
            format!("{median_words} and {share} within {}", nanos(tail.value))
        }
        Some(_) | None => median_words,
    }
}

fn failed(total: &Tally) -> String {
    let Some((failure, _)) = most(total) else {
        return String::new();
    };
    let failed = total.failed_in_all();
    let share = percent(failed as f64 / total.attempted as f64);
    format!("; {} attempts ({share}) failed, mostly {failure}", count(failed))
}

/// The busiest agent, or else dyno's own threads.
fn busiest(run: &FinishedLoad) -> String {
    let busy = run.agents.iter().filter_map(|agent| Some((agent.saw?.busy()?, &agent.name)));
    match busy.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((busy, name)) => format!("agent {name} was busy {}", percent(busy)),
        None => {
            let busy = generator_busy(&run.recording.lanes).unwrap_or(0.0);
            format!("the instrument was busy {}", percent(busy))
        }
    }
}

fn doubtful(run: &FinishedLoad) -> String {
    let verdict = &run.verdict;
    let is_behind = verdict.has("not_on_time") || verdict.has("growing");
    if verdict.has("gave_up") {
        "; then it gave up".into()
    } else if verdict.has("agents_lost") {
        let share: f64 = run.lost.iter().map(|lost| lost.share).sum();
        format!(
            "; {} of the load was lost with its agents, and this is of the rest",
            percent(share)
        )
    } else if verdict.has("instrument_stood_still") {
        "; dyno itself stood still for a while, and what the server did then is not known".into()
    } else if verdict.has("silence") {
        let share = silent_share(&run.recording).unwrap_or(0.0);
        format!("; for {} of the time no right answer came at all", percent(share))
    } else if is_behind && verdict.has("instrument_busy") {
        format!("; {} of the time, and may be what did not keep up", busiest(run))
    } else if is_behind && verdict.has("own_failures") {
        "; the instrument had its share in that".into()
    } else if is_behind {
        ", so it did not keep up".into()
    } else if verdict.has("instrument_busy") {
        format!("; {} of the time, so it may have been the limit", busiest(run))
    } else if verdict.has("instrument_late") {
        "; the instrument itself was late, so the truth is better than this".into()
    } else if verdict.has("too_few_samples") && verdict.word != Some(Verdict::Valid) {
        "; the sample is small".into()
    } else {
        String::new()
    }
}
