//! A load in the shape that other tools print, for scripts that read it: the numbers are dyno's own.

mod hey;
mod wrk;
mod zrk;

use load::Failure;

use super::{FinishedLoad, sentence};

/// A tool whose output is read by scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// With its distribution of latencies, or without.
    Wrk {
        has_latency: bool,
    },
    Hey,
    /// JSON.
    Zrk,
}

/// What the tool would print of such a load.
pub fn text(run: &FinishedLoad, tool: Tool) -> String {
    match tool {
        Tool::Wrk { has_latency } => wrk::text(run, has_latency),
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

/// How many of these classes failed.
fn failed(run: &FinishedLoad, belongs: fn(Failure) -> bool) -> u64 {
    let classes = Failure::ALL.into_iter().filter(|&failure| belongs(failure));
    classes.map(|failure| run.recording.total.failures(failure)).sum()
}

#[cfg(test)]
mod tests;
