//! Random loads: each number of their sentence stands in their JSON, rounded as it is printed, and no two things that
//! the sentence says contradict each other or what was measured.

use std::ops::Range;

use analysis::{Conduct, Faults, Gravity, KEPT_UP, on_time};
use load::{
    Cut, Distribution, End, Failure, Folded, LaneReport, Load, Recording, SECOND, Sessions, Still,
    Tally, Window,
};
use serde_json::Value;
use wire::Chance;

use super::super::fixture::{self, MS, closed, finished, open, order};
use super::super::{FinishedLoad, json};
use crate::tests::any;
use crate::tests::forbidden::{Told, said};

/// A load, and what each of its requests took at least.
struct Made {
    run: FinishedLoad,
    took: Vec<(u64, u64)>,
}

/// From 10 µs to 4.9 s, each power of ten as often as any other.
fn some_time(chance: &mut Chance) -> u64 {
    10_f64.powf(4.0 + 5.69 * chance.unit()) as u64
}

fn made(seed: u64) -> Made {
    let mut chance = Chance::new(seed);
    let kind = match chance.below(4) {
        0 => closed(),
        1 => order(Load::Closed { connections: 1 }),
        2 => open(),
        _ => order(Load::Sessions {
            arrivals: open().load.arrivals().unwrap().clone(),
            calls: any(&mut chance, &[1, 10, 100]),
            max_connections: 100,
        }),
    };
    let mut recording = Recording {
        lanes: vec![LaneReport { wall: 10 * SECOND, idle: 5 * SECOND, ..LaneReport::default() }],
        scheduled_until: Some(10 * SECOND),
        on_time_within: any(&mut chance, &[5 * SECOND, 100 * MS]),
        ..Recording::new(Tally::new(5 * SECOND), 0..10 * SECOND, 5 * SECOND)
    };
    let total = &mut recording.total;
    let mut took = Vec::new();
    for _ in 0..=chance.below(3) {
        let (times, ns) = (any(&mut chance, &[1, 20, 900, 1_500]), some_time(&mut chance));
        total.correct += times;
        let is_on_time = ns <= recording.on_time_within;
        total.on_time += if is_on_time { times } else { 0 };
        for all in [&mut total.response, &mut total.service, &mut total.first_byte] {
            all.record_many(ns, times);
        }
        took.push((times, ns));
    }
    for class in ["recv.deadline", "recv.reset", "content.mismatch", "own.blocked", "own.late"] {
        let times = any(&mut chance, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9, 400]);
        let failure = Failure::named(class).unwrap();
        total.failed[failure.index()] = times;
        if failure.is_censored() {
            give_up(total, times, 5 * SECOND);
            took.push((times, 5 * SECOND));
        }
    }
    total.under_way = any(&mut chance, &[0, 0, 0, 2]);
    give_up(total, total.under_way, SECOND);
    took.push((total.under_way, SECOND));
    total.attempted = total.correct + total.failed_in_all() + total.under_way;
    total.due = total.attempted;
    total.correct_inside = total.correct - any(&mut chance, &[0, 0, total.correct / 5]);
    if let Load::Sessions { calls, .. } = kind.load {
        let cut = any(&mut chance, &[0, 0, 3, 50]).min(u64::from(calls - 1) * 50);
        let complete = any(&mut chance, &[1, 10, 5_000]);
        let failed = total.failed_in_all() + cut;
        let fewest = 1 + chance.below(calls as usize - 1 + usize::from(calls == 1)) as u32;
        let unreached = cut * u64::from(calls - fewest);
        let cut = Cut { sessions: cut, unreached, calls_min: fewest, calls_max: calls - 1 };
        let cut = if cut.sessions == 0 { Cut::default() } else { cut };
        total.sessions = Sessions { attempted: complete + failed, complete, failed, cut };
        total.due += cut.unreached;
    }
    if chance.below(4) == 0 {
        total.late.record_many(3 * MS, 400);
        total.blocked.record_many(30 * MS, 300);
    }
    if chance.below(6) == 0 {
        let sum = some_time(&mut chance);
        total.still = Still { sum, overslept: sum / 2, kept_waiting: 0 };
    }
    if chance.below(5) == 0 {
        recording.lanes[0].idle = SECOND / 5;
        recording.lanes[0].cpu_time = 9 * SECOND;
    }
    if chance.below(4) == 0 {
        recording.windows = (0..60).map(|at| window(at, 10 + at * 10)).collect();
    }
    recording.end = match chance.below(8) {
        0 => End::Halted,
        1 => End::GaveUp(Failure::ConnectRefused),
        _ => End::Done,
    };
    Made { run: finished(kind, recording), took }
}

fn give_up(total: &mut Tally, times: u64, after: u64) {
    for all in [&mut total.response, &mut total.service, &mut total.first_byte] {
        (0..times).for_each(|_| all.record_censored(after));
    }
}

/// A window of 100 ms with a request that took so many milliseconds.
fn window(at: u64, ms: u64) -> Window {
    let mut response = Distribution::new(5 * SECOND);
    response.record(ms * MS);
    let span = at * SECOND / 10..(at + 1) * SECOND / 10;
    fixture::window(span, 1, &Folded::of(&response))
}

/// Every number of a document as it may be printed: by the unit in its name; counts as shares of one another within
/// one object.
fn printed(value: &Value, name: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let counts: Vec<u64> = fields.values().filter_map(Value::as_u64).collect();
            for whole in counts.iter().filter(|whole| 0 < **whole) {
                let parts = counts.iter().filter(|part| *part <= whole);
                into.extend(parts.map(|part| units::percent(*part as f64 / *whole as f64)));
            }
            fields.iter().for_each(|(name, value)| printed(value, name, into));
        }
        Value::Array(all) => all.iter().for_each(|value| printed(value, name, into)),
        Value::Number(number) => {
            let of = number.as_f64().unwrap();
            into.push(match name.rsplit('_').next() {
                Some("ns") => units::time(of),
                Some("s") if name.ends_with("per_s") => units::rate(of),
                Some("s") => units::time(of * 1e9),
                Some("share") => units::percent(of),
                _ => units::count(of as u64),
            });
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The numbers of a text with their units, without names that have digits.
fn numbers(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split([' ', '(', ')', ';', ':']).filter(|it| !it.is_empty()).collect();
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let numbers = words.iter().enumerate().filter_map(|(place, word)| {
        let bare = word.trim_end_matches([',', '.']).trim_end_matches("/s");
        let unit = words.get(place + 1).map_or("", |unit| unit.trim_end_matches([',', '.']));
        let is_unit = ["%", "ns", "µs", "ms", "s"].contains(&unit);
        is_number(word).then(|| if is_unit { format!("{bare} {unit}") } else { bare.into() })
    });
    numbers.collect()
}

/// Which share took how long, as the sentence has it.
fn longer(sentence: &str) -> Option<(f64, Range<f64>)> {
    let (before, after) = sentence.split_once(" took ")?;
    let share = before.rsplit(' ').nth(1)?.parse().ok()?;
    let (time, _) = after.split_once(" or longer")?;
    let (digits, unit) = time.split_once(' ')?;
    let scale = units::TIMES.iter().find(|(_, name)| *name == unit)?.0;
    let least = digits.parse::<f64>().ok()? * scale;
    Some((share, least * 0.994..least * 1.006))
}

/// What a sentence must not say of what was measured.
fn contradictions(Made { run, took }: &Made, sentence: &str) -> Vec<&'static str> {
    let recording = &run.recording;
    let mut found = Vec::new();
    let contains = |text: &str| sentence.contains(text);
    let scheduled = run.order.load.arrivals().and_then(|_| on_time(recording, None).share());
    let conduct = Conduct::of(Faults::of([&recording.total]), run.tolerated);
    let named = |is_so: bool, name: &str| is_so.then(|| name.to_string()).into_iter().collect();
    found.extend(said(&Told {
        sentence: sentence.into(),
        failing: named(!conduct.is_tolerated(), "The server"),
        tolerated: named(matches!(conduct, Conduct::Tolerated(_)), "it"),
        // Without a schedule nothing can fall behind.
        on_time: vec![("The server".into(), scheduled.unwrap_or(1.0))],
        ..Told::default()
    }));
    let (throughput, offered) =
        (analysis::throughput_per_s(recording), analysis::offered_per_s(recording));
    let is_slow = throughput < offered.map(|offered| KEPT_UP * offered);
    if contains("100 % of")
        && contains("on time")
        && is_slow
        && !contains("within the measured time")
    {
        found.push("a throughput that is not what was offered is not said");
    }
    if let Some((share, least)) = longer(sentence) {
        let all: u64 = took.iter().map(|(times, _)| times).sum();
        let beyond = |limit: f64| {
            let longer = took.iter().filter(|(_, ns)| limit <= *ns as f64);
            let share = longer.map(|(times, _)| times).sum::<u64>() as f64 / all as f64;
            units::percent(share).trim_end_matches(" %").parse().unwrap_or(0.0)
        };
        if share < beyond(least.end) || beyond(least.start) < share {
            found.push("another share took so long");
        }
    }
    let graver = run.verdict.doubts.iter().filter(|doubt| doubt.gravity != Gravity::Note);
    let reason = graver
        .clone()
        .find(|doubt| doubt.id != "failures")
        .and_then(|doubt| place(doubt.id, &doubt.says, sentence));
    if graver.clone().any(|doubt| doubt.id != "failures") {
        let notes = run.verdict.doubts.iter().filter(|doubt| doubt.gravity == Gravity::Note);
        let first = notes.filter_map(|note| place(note.id, &note.says, sentence)).min();
        if reason.is_none_or(|reason| first.is_some_and(|note| note < reason)) {
            found.push("the gravest doubt is not named before notes");
        }
    }
    found
}

/// Where a sentence names a doubt.
fn place(id: &str, says: &str, sentence: &str) -> Option<usize> {
    let short = match id {
        "not_on_time" => "did not keep up",
        "too_few_samples" => "the sample is small",
        "gave_up" => "then it gave up",
        "instrument_stood_still" => "was not running",
        "instrument_busy" => "was busy",
        "instrument_late" => "dyno itself sent late",
        "own_failures" if sentence.contains("dyno contributed") => "dyno contributed",
        _ => says.trim_end_matches('.'),
    };
    sentence.find(short)
}

/// What is wrong with the sentence of this load.
fn wrong(made: &Made, sentence: &str, document: &Value) -> Vec<String> {
    let mut all: Vec<String> =
        contradictions(made, sentence).iter().map(ToString::to_string).collect();
    // A doubt in full stands in the JSON as it is.
    let doubts = made.run.verdict.doubts.iter().map(|doubt| doubt.says.trim_end_matches('.'));
    let figures = doubts.fold(sentence.to_string(), |text, says| text.replace(says, ""));
    let mut known = vec!["99 %".into(), "90 %".into()];
    printed(document, "", &mut known);
    known.iter_mut().for_each(|it| *it = it.trim_start_matches(['<', '>', ' ']).into());
    let busy = analysis::generator_busy(&made.run.recording.lanes);
    known.extend(busy.map(units::percent));
    let took = longer(sentence).map(|(share, _)| share);
    let unknown = numbers(&figures).into_iter().filter(|number| {
        let is_share_that_took = took.is_some_and(|share| {
            number.strip_suffix(" %").is_some_and(|it| it.parse() == Ok(share))
        });
        !known.contains(number) && !is_share_that_took
    });
    all.extend(unknown.map(|number| format!("`{number}` is not in the JSON")));
    all
}

#[test]
fn no_sentence_contradicts_its_load_or_itself() {
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for seed in 0..10_000 {
        let made = made(seed);
        let sentence = super::of(&made.run);
        // A document takes some milliseconds, most of them for its histograms.
        let found = match seed % 20 {
            0 => wrong(
                &made,
                &sentence,
                &serde_json::from_str(&json(&made.run, &[]).unwrap()).unwrap(),
            ),
            _ => contradictions(&made, &sentence).iter().map(ToString::to_string).collect(),
        };
        assert!(found.is_empty(), "seed {seed}: {found:?}: {sentence}");
        for part in [
            "did not keep up",
            "or longer",
            "The server failed",
            "wrongly",
            "closed the connection",
            "on time",
            "grew",
        ] {
            *seen.entry(part).or_default() += u32::from(sentence.contains(part));
        }
    }
    assert!(seen.values().all(|times| 20 < *times), "each kind is among them: {seen:?}");
}

/// A load of 16 requests, of which so many timed out, and the others were under way when it was stopped.
fn timed_out(times: u64) -> FinishedLoad {
    let mut recording = Recording::new(Tally::new(5 * SECOND), 0..10 * SECOND, 5 * SECOND);
    recording.total.failed[Failure::Deadline.index()] = times;
    (recording.total.attempted, recording.total.due) = (16, 16);
    recording.total.under_way = 16 - times;
    finished(open(), recording)
}

#[test]
fn what_had_not_ended_is_not_said_to_have_failed() {
    let all = super::of(&timed_out(16));
    assert!(all.starts_with("Every one of 16 attempts failed: recv.deadline"), "{all}");
    let half = super::of(&timed_out(8));
    let says = "Not one of 16 attempts was answered as expected: mostly: recv.deadline";
    assert!(half.starts_with(says), "{half}");
}

#[test]
fn that_a_part_of_the_load_was_lost_is_said_before_any_other_doubt() {
    use crate::verdict::{ExplainedDoubt, ExplainedVerdict};
    let mut run = made(1).run;
    let doubt = |id: &'static str| ExplainedDoubt::new(id, Gravity::Invalid, "x.", "y");
    run.verdict =
        ExplainedVerdict::by(["instrument_stood_still", "agents_lost"].map(doubt).to_vec());
    assert!(
        super::of(&run)
            .ends_with("% of the load was lost with its agents, and this is of the rest.")
    );
}
