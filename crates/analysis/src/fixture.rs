//! A healthy trial, made by hand: ten seconds of 2,000 requests a second, each answered after a millisecond.

use lab::experiment::{Experiment, Point};
use lab::figure::{Number, Terms};
use lab::probe::ProbeReading;
use lab::record::{
    Check, Entry, Fact, LoadRecord, Outcome, OutcomeKind, Phase, RunRecord, Series, TrialKey,
    TrialRecord,
};
use lab::source_file::SourceFile;
use load::{
    Chance, Distribution, Failure, Folded, LaneReport, Nanos, Recording, SECOND, Section, Tally,
    Window,
};

use crate::board::{Board, Row, Table};
use crate::doubt::Doubt;

/// Normally distributed, approximately: a sum of twelve.
pub(crate) fn normal(chance: &mut Chance) -> f64 {
    (0..12).map(|_| chance.unit()).sum::<f64>() - 6.0
}

/// How often something holds.
pub(crate) fn share(times: usize, mut holds: impl FnMut() -> bool) -> f64 {
    (0..times).filter(|_| holds()).count() as f64 / times as f64
}

/// Rounds around a true value, spread by factors.
pub(crate) fn rounds(chance: &mut Chance, count: usize, truth: f64, spread: f64) -> Vec<Number> {
    (0..count).map(|_| number(truth * (spread * normal(chance)).exp())).collect()
}

pub(crate) fn number(value: f64) -> Number {
    Number { value, is_bound: false, is_supported: true }
}

pub(crate) fn numbers(values: &[f64]) -> Vec<Number> {
    values.iter().copied().map(number).collect()
}

pub(crate) const MS: Nanos = 1_000_000;

/// A part of a load that changes, in which so many requests were due.
pub(crate) fn part(due: u64) -> Section {
    Section {
        from: 0,
        until: 1,
        due,
        correct: 0,
        on_time: 0,
        failed: 0,
        correct_inside: 0,
        response: Distribution::new(SECOND),
    }
}

pub(crate) fn healthy() -> TrialRecord {
    let mut total = Tally::new(5 * SECOND);
    for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
        times.record_many(MS, 20_000);
    }
    total.late.record_many(10_000, 20_000);
    (total.attempted, total.correct, total.correct_inside) = (20_000, 20_000, 20_000);
    (total.due, total.on_time) = (20_000, 20_000);
    (total.answered, total.bytes_received) = (20_000, 2_000_000);
    total.received_inside = 2_000_000;
    total.in_flight_area = u128::from(20_000 * MS);
    (total.flight.area, total.flight.correct) = (total.in_flight_area, total.in_flight_area);
    let lane = LaneReport {
        wall: 10 * SECOND,
        idle: 5 * SECOND,
        cpu_time: 5 * SECOND,
        ..LaneReport::default()
    };
    let recording = Recording {
        lanes: vec![lane],
        scheduled_until: Some(11 * SECOND),
        ..Recording::new(total, SECOND..11 * SECOND, 5 * SECOND)
    };
    TrialRecord {
        loaded: Some(LoadRecord { began: SECOND, in_turns: None, agents: Vec::new(), recording }),
        ..TrialRecord::new(key("a", 2_000.0, 0), 0)
    }
}

/// A healthy trial of this subject at this place.
pub(crate) fn at(subject: &str, point: Point, repeat: u32) -> TrialRecord {
    TrialRecord { key: TrialKey { point, ..key(subject, 1.0, repeat) }, ..healthy() }
}

pub(crate) fn recording(trial: &mut TrialRecord) -> &mut Recording {
    &mut trial.loaded.as_mut().expect("it was loaded").recording
}

/// Each of its correct requests took so long.
pub(crate) fn responding(trial: &mut TrialRecord, time: Nanos) {
    let total = &mut recording(trial).total;
    total.response = equal(time, total.correct);
}

pub(crate) fn end(trial: &mut TrialRecord, kind: OutcomeKind) {
    trial.outcome = Outcome { kind, says: "so it ended".into() };
}

pub(crate) fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

/// An answer to a request before the load, with a digest of these bytes.
pub(crate) fn checked(ask: &str, request: &[u8], response: &[u8], digest: u8) -> Check {
    Check {
        phase: Phase::Before,
        ask: ask.into(),
        wrong: None,
        request: request.into(),
        response: response.into(),
        head_len: 100 + u64::from(digest),
        rest_len: 13,
        digest: Some([digest; 32]),
    }
}

/// A tenth of a second of a load, with so many answers that took so long each.
pub(crate) fn window(from: Nanos, correct: u64, time: Nanos) -> Window {
    let times = Folded::of(&equal(time, correct));
    Window {
        from,
        until: from + SECOND / 10,
        is_warmup: false,
        attempted: correct,
        correct,
        failed: [0; Failure::COUNT],
        bytes_sent: 0,
        bytes_received: 0,
        in_flight_area: 0,
        cpu: 0,
        response: times.clone(),
        service: times,
    }
}

/// The board of servers of which `idle` is a reference.
pub(crate) fn board(trials: &[TrialRecord]) -> Board {
    Board::of(&run(&[("a", "default"), ("b", "default"), ("idle", "reference")]), trials)
}

/// Its first table.
pub(crate) fn table(trials: &[TrialRecord]) -> Table {
    board(trials).tables.remove(0)
}

/// The first row of a subject.
pub(crate) fn row<'t>(table: &'t Table, subject: &str) -> &'t Row {
    table.rows.iter().find(|row| row.subject == subject).expect("it has a row")
}

/// The experiment with this text.
pub(crate) fn experiment(text: &str) -> Option<Experiment> {
    let source = SourceFile { name: "experiments/x.toml".into(), text: text.into() };
    Some(Experiment::parse("x", source).expect("the experiment can be read"))
}

/// An experiment in pairs of these subjects, with more settings of the pairs.
pub(crate) fn paired(subjects: &str, pairs: &str) -> Experiment {
    let text = format!(
        "question = 'x'\nsubjects = [{subjects}]\nworkload = 'hello'\n\
         load = {{ closed = {{ connections = 8 }}, duration = '10s' }}\n\
         trials = {{ slices = '100ms', pairs = {{ detect = 0.05, level = 0.01, missed = 0.05, \
         figures = ['throughput_per_s'], {pairs} }} }}"
    );
    experiment(&text).unwrap()
}

/// A trial of a closed loop of eight connections, with this throughput.
pub(crate) fn closed(subject: &str, repeat: u32, per_s: f64) -> TrialRecord {
    let mut trial = at(subject, Point::Connections(8), repeat);
    recording(&mut trial).total.correct_inside = (per_s * 10.0) as u64;
    trial
}

/// A run without a plan, of these subjects and their tiers.
pub(crate) fn run(subjects: &[(&str, &str)]) -> RunRecord {
    let entry = |(name, tier): &(&str, &str)| Entry {
        name: (*name).into(),
        tier: (*tier).into(),
        ..Entry::default()
    };
    RunRecord {
        name: "x".into(),
        seed: 1,
        entries: subjects.iter().map(entry).collect(),
        ..RunRecord::default()
    }
}

/// The readings of a probe whose manifest has this text.
pub(crate) fn declared(manifest: &str) -> Vec<ProbeReading> {
    let file = |path: &str, text: &str| (path.to_string(), text.to_string());
    lab::probe::declared(&[
        file("subjects/a/subject.toml", "probe = \"jvm\""),
        file("probes/jvm/probe.toml", manifest),
    ])
}

pub(crate) fn key(subject: &str, rate: f64, repeat: u32) -> TrialKey {
    TrialKey::new(0, subject, "hello", Point::Requests(rate), repeat)
}

/// So many requests were due; so many of them were answered in time, all of those inside the measured time, and the
/// connections of the others were reset.
pub(crate) fn counted(trial: &mut TrialRecord, due: u64, answered: u64) {
    let total = &mut recording(trial).total;
    (total.due, total.attempted, total.correct) = (due, due, answered);
    (total.on_time, total.correct_inside) = (answered, answered);
    total.failed[Failure::RecvReset.index()] = due - answered;
    remake(total);
}

/// So many requests were due, and all of them were answered as expected: so many in time and inside the measured time,
/// and the others after it.
pub(crate) fn late(trial: &mut TrialRecord, due: u64, in_time: u64) {
    let total = &mut recording(trial).total;
    (total.due, total.attempted, total.correct) = (due, due, due);
    (total.on_time, total.correct_inside) = (in_time, in_time);
    remake(total);
}

/// Response, service and first-byte times of all correct requests, a millisecond each.
fn remake(total: &mut Tally) {
    let all = equal(MS, total.correct);
    for distribution in [&mut total.response, &mut total.service, &mut total.first_byte] {
        let censored = distribution.censored();
        *distribution = all.clone();
        (0..censored).for_each(|_| distribution.record_censored(5 * SECOND));
    }
}

/// So many times the same.
pub(crate) fn equal(time: Nanos, times: u64) -> Distribution {
    let mut all = Distribution::new(5 * SECOND);
    all.record_many(time, times);
    all
}

/// One call a session.
pub(crate) const ONE: Terms = Terms { calls: 1, is_load: false };

pub(crate) fn series(name: &str, unit: &str, points: &[(Nanos, f64)]) -> Series {
    Series { name: name.into(), unit: unit.into(), points: points.to_vec() }
}

/// A reading that grows by so much over the measured time (second 2 to 12 of the trial), at an even pace.
pub(crate) fn growing(trial: &mut TrialRecord, name: &str, unit: &str, by: f64) {
    trial.series.push(series(name, unit, &[(0, 0.0), (2 * SECOND, 0.0), (12 * SECOND, by)]));
}

/// Turns so many of the correct answers into failures.
pub(crate) fn fail(trial: &mut TrialRecord, failure: Failure, times: u64) {
    let recording = recording(trial);
    recording.total.failed[failure.index()] += times;
    recording.total.correct -= times;
    recording.total.correct_inside -= times;
    recording.total.on_time -= times;
    // Removing their times from the distributions of the correct ones makes no difference among so many.
    remake(&mut recording.total);
    if failure.is_censored() {
        for distribution in [
            &mut recording.total.response,
            &mut recording.total.service,
            &mut recording.total.first_byte,
        ] {
            (0..times).for_each(|_| distribution.record_censored(5 * SECOND));
        }
    }
}

/// What is said of each doubt of these trials, with its name and gravity: a line for each.
pub(crate) fn told<'d>(trials: impl IntoIterator<Item = &'d Vec<Doubt>>) -> String {
    let line =
        |doubt: &Doubt| format!("{} ({}): {}", doubt.id(), doubt.gravity().name(), doubt.says());
    let lines: Vec<String> = trials
        .into_iter()
        .flat_map(|doubts| match doubts.is_empty() {
            true => vec!["no doubt".into()],
            false => doubts.iter().map(line).collect(),
        })
        .collect();
    lines.join("\n")
}
