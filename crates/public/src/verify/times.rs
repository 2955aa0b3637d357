//! Dates and times of a file that contradict each other. No clock is read: dates that were all moved together are not found.

use lab::record::{SUBJECT_ON, TrialRecord, fact};

use super::Found;
use crate::class::cpus;
use crate::run::PublicRun;

/// Wall clocks are set while a run goes on: so much is no contradiction.
const SLACK_MS: i64 = 2_000;

/// What lies between two instants, in milliseconds since 1970.
struct Span {
    name: String,
    from: i64,
    until: i64,
}

pub(super) fn contradictions(run: &PublicRun, found: &mut Found) {
    let record = &run.record;
    // Of another machine the clock is another one, and the facts are not these.
    if fact(&record.facts, SUBJECT_ON).is_some() {
        return;
    }
    let instant = |name: &str, at| Span { name: name.into(), from: at, until: at };
    let mut spans: Vec<Span> = run.trials.iter().map(span).collect();
    spans.sort_by_key(|span| span.from);
    spans.insert(0, instant("the beginning", record.began_unix_ms));
    spans.extend(run.ended.map(|(at, _)| instant("the end", at)));
    for (before, after) in spans.iter().zip(spans.iter().skip(1)) {
        let early = before.until.saturating_sub(after.from);
        if SLACK_MS < early {
            let claimed = format!("{early} ms before {} is over", before.name);
            found.differs(after.name.clone(), &claimed, "behind it");
        }
    }
    let online = cpus(&record.facts, "cpu.online").map(|all| all.count());
    run.trials.iter().for_each(|trial| cpu_times(trial, online, found));
}

/// Whether its clock stood still while other servers had their turns.
fn took_turns(trial: &TrialRecord) -> bool {
    trial.loaded.as_ref().is_some_and(|loaded| loaded.in_turns.is_some())
}

/// From a trial's beginning to the last instant that it knows of. Trials that took turns lie within each other.
fn span(trial: &TrialRecord) -> Span {
    let read = trial.series.iter().filter_map(|series| Some(series.points.last()?.0));
    let loaded = trial.loaded.iter().map(|it| it.began.saturating_add(it.recording.ended));
    let last = if took_turns(trial) { 0 } else { read.chain(loaded).max().unwrap_or(0) };
    let from = trial.began_unix_ms;
    let until = from.saturating_add((last / 1_000_000) as i64);
    Span { name: format!("trial {}", trial.key.number), from, until }
}

/// Nothing uses more CPU time than there is: a thread that of one CPU, a server that of all.
fn cpu_times(trial: &TrialRecord, online: Option<usize>, found: &mut Found) {
    // Clocks of CPU time are read a little later than others, and go in steps.
    let most = |ns: u64| ns as f64 * 1.02 + 2e8;
    let lanes = trial.loaded.iter().flat_map(|loaded| &loaded.recording.lanes);
    let threads = lanes.map(|lane| ("a thread", lane.cpu_time as f64, most(lane.wall)));
    let read = trial.series.iter().find(|series| series.name == "subject.cpu.total");
    let read = read.filter(|_| !took_turns(trial)).map(|series| &series.points[..]);
    let server = read.zip(online).and_then(|(points, online)| {
        let (first, last) = (points.first()?, points.last()?);
        let time = most(last.0.saturating_sub(first.0));
        Some(("the server", last.1 - first.1, time * online as f64))
    });
    for (what, used, most) in threads.chain(server).filter(|(_, used, most)| most < used) {
        let [used, most] = [used, most].map(|ns| format!("{:.2} s", ns / 1e9));
        let at = format!("trial {}, CPU time of {what}", trial.key.number);
        found.differs(at, &used, &format!("at most {most}"));
    }
}
