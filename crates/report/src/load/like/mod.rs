//! A load in the shape that other tools print, for scripts that read it: the numbers are dyno's own.

mod hey;
mod wrk;
mod zrk;

use load::Failure;
use units::named;

use super::{FinishedLoad, sentence};

named! {
    /// A tool whose output is read by scripts.
    pub enum Tool {
        Wrk = "wrk" => "Thread Stats, Latency Distribution (--latency), Requests/sec, Transfer/sec",
        Hey = "hey" => "Summary, histogram, Latency distribution, Status code distribution",
        Zrk = "zrk"
            => "JSON: achieved_rate, rate_ratio, latency_us, status_codes, errors, latency_histogram",
    }
}

/// What the tool would print of such a load; of wrk with its distribution of latencies, or without.
pub fn text(run: &FinishedLoad, tool: Tool, has_latency: bool) -> String {
    match tool {
        Tool::Wrk => wrk::text(run, has_latency),
        Tool::Hey => hey::text(run),
        Tool::Zrk => zrk::text(run),
    }
}

/// What such an output has no place for: the answer, the verdict, and the doubts, a line each.
pub fn beside(run: &FinishedLoad) -> Vec<String> {
    let verdict = run.verdict.word.map_or("none", analysis::Verdict::name);
    let mut lines = vec![sentence::of(run), format!("verdict: {verdict}")];
    for doubt in &run.verdict.doubts {
        let (gravity, says, way_out) = (doubt.gravity.name(), &doubt.says, &doubt.what_to_do);
        lines.push(format!("{gravity}: {says} What to do: {way_out}"));
    }
    let given_up = run.recording.total.response.censored();
    if 0 < given_up {
        let requests = units::counted(given_up, "request was", "requests were");
        lines.push(format!(
            "bounds: {requests} given up and counted at the time until then, so the mean, the deviation, the longest time \
             and the percentiles that they may move are no less than printed, and may be more"
        ));
    }
    lines.extend(super::requirements::lines(run));
    lines
}

/// What failed, by the classes that wrk and zrk know.
struct Errors {
    connect: u64,
    read: u64,
    write: u64,
    timeout: u64,
    /// Answers with another status than 2xx and 3xx, or than was asked for.
    status: u64,
}

impl Errors {
    fn of(run: &FinishedLoad) -> Errors {
        let read = |failure| {
            let is_tls = matches!(failure, Failure::Tls(_)) && !failure.is_unreached();
            is_tls || matches!(failure, Failure::RecvReset | Failure::Wire(_))
        };
        let status = match run.asked.status.as_str() {
            // Where no other status was asked for, redirects are no errors, as they are none to wrk.
            "2xx" => {
                let is_other = |(status, _): &&(u16, u64)| !(200..400).contains(status);
                let others = run.recording.total.answers.statuses().iter().filter(is_other);
                others.map(|(_, times)| times).sum()
            }
            _ => failed(run, |failure| failure.name() == "content.status"),
        };
        let is_connect =
            |failure: Failure| failure.is_unreached() || failure == Failure::ConnectReset;
        Errors {
            connect: failed(run, is_connect),
            read: failed(run, read),
            write: failed(run, |failure| failure == Failure::SendReset),
            timeout: failed(run, is_timeout),
            status,
        }
    }
}

fn is_timeout(failure: Failure) -> bool {
    matches!(
        failure,
        Failure::SendTimeout
            | Failure::SendWindow
            | Failure::NoStream
            | Failure::FirstByteTimeout
            | Failure::Deadline
            | Failure::Late
            | Failure::Still
            | Failure::Blocked
    )
}

/// How many of these classes failed.
fn failed(run: &FinishedLoad, belongs: fn(Failure) -> bool) -> u64 {
    let classes = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    classes.map(|failure| run.recording.total.failures(failure)).sum()
}

#[cfg(test)]
mod tests;
