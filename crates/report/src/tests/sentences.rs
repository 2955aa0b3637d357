//! Random runs, races and comparisons: no sentence of theirs contradicts what was measured, and each number in one stands
//! in the same document's JSON, rounded as it is printed.

use std::collections::BTreeMap;

use analysis::Gate;
use lab::experiment::Point;
use lab::record::{Fact, OutcomeKind, RACE, RunRecord, TrialRecord};
use load::{Distribution, Failure, SECOND};
use serde_json::Value;
use wire::Chance;

use super::forbidden::{Told, said};
use super::printed::{Stated, check};
use super::{any, estimate, ratio, unit};
use crate::document::{Block, Document};
use crate::render::Shown;
use crate::run::{self, Compared, Findings, Side, race};
use crate::sentence;

const SIDES: [(&str, &str); 3] = [("quick", "Quick"), ("evil", "Other"), ("third", "Third")];
const KINDS: [&str; 3] = ["race", "run", "compare"];
/// Right answers of each trial, in ten seconds.
const CORRECT: u64 = 1_100;

/// A side, as it is in every round.
#[derive(Clone, Copy)]
struct World {
    /// The part of the answers that came within the measured time.
    speed: f64,
    noise: f64,
    times: usize,
    failure: Failure,
    failed: u64,
    own: u64,
    on_time: f64,
}

/// A run with what each side failed.
struct Made {
    kind: &'static str,
    record: RunRecord,
    trials: Vec<TrialRecord>,
    sides: usize,
    is_open: bool,
}

/// Response times of a thousand requests and more: from 0.1 ms to 10 s, with and without some that were given up.
fn times() -> Vec<Distribution> {
    let of = |at: usize| {
        let mut all = Distribution::new(5 * SECOND);
        let scale = 10_f64.powf(5.0 + (at % 12) as f64 / 3.0) * (1.0 + 0.03 * (at % 5) as f64);
        let tail = |n: u64| scale * (1.0 + (n as f64 / 1_100.0).powi(9) * 7.0);
        (0..CORRECT).for_each(|n| all.record(tail(n) as u64));
        (0..[0, 0, 0, 30][at % 4]).for_each(|_| all.record_censored(5 * SECOND));
        all
    };
    (0..48).map(of).collect()
}

fn world(chance: &mut Chance) -> World {
    World {
        speed: 0.2 * any(chance, &[0.2, 0.95, 0.99, 1.0, 1.0, 1.0, 1.02, 1.3, 4.0]),
        noise: any(chance, &[0.0, 0.001, 0.01, 0.1]),
        times: chance.below(48),
        failure: Failure::named(any(chance, &["recv.reset", "content.status", "content.mismatch"]))
            .unwrap(),
        failed: any(chance, &[0, 0, 0, 0, 0, 0, 1, 5, 12, 300]),
        own: any(chance, &[0, 0, 0, 0, 0, 0, 0, 0, 6, 60]),
        on_time: any(chance, &[1.0, 1.0, 1.0, 0.992, 0.989, 0.7]),
    }
}

fn made(seed: u64, times: &[Distribution]) -> Made {
    let mut chance = Chance::new(seed);
    let kind = KINDS[seed as usize % KINDS.len()];
    let sides = if kind == "compare" { 2 } else { 2 + chance.below(2) };
    let (rounds, is_open) = (1 + chance.below(4), chance.below(2) == 1);
    let worlds: Vec<World> = (0..sides).map(|_| world(&mut chance)).collect();
    let (load, point) = match is_open {
        true => ("open = { rate = 110 }", Point::Requests(110.0)),
        false => ("closed = { connections = 8 }", Point::Connections(8)),
    };
    let (mut record, trials) = run::tests::sides(sides, rounds, load, point, |side, trial| {
        let world = worlds[side];
        trial.outcome.kind = match chance.below(40) {
            0 => OutcomeKind::Died,
            _ => OutcomeKind::Measured,
        };
        let noise = 1.0 + world.noise * (2.0 * chance.unit() - 1.0);
        let recording = &mut trial.loaded.as_mut().unwrap().recording;
        let total = &mut recording.total;
        let speed = if is_open { 1.0 } else { world.speed * noise };
        (total.correct, total.answered) = (CORRECT, CORRECT);
        total.correct_inside = (CORRECT as f64 * speed) as u64;
        total.response = times[world.times].clone();
        (total.service, total.first_byte) = (total.response.clone(), total.response.clone());
        total.under_way = total.response.count() - CORRECT;
        total.failed[world.failure.index()] = world.failed;
        total.failed[Failure::NoPorts.index()] = world.own;
        total.attempted = CORRECT + world.failed + world.own + total.under_way;
        total.due = total.attempted;
        total.on_time = ((world.on_time * total.due as f64) as u64).min(CORRECT);
    });
    if kind == "race" {
        record.facts.push(Fact { name: RACE.into(), value: "dyno race quick other".into() });
    }
    Made { kind, record, trials, sides, is_open }
}

impl Made {
    /// What is true of the sides, which are called by these names.
    fn told(&self, sentence: String, names: &[String], findings: &Findings<'_>) -> Told {
        let mut told = Told { sentence, ..Told::default() };
        for (name, (subject, _)) in names.iter().zip(SIDES) {
            let measured = |trial: &&TrialRecord| {
                trial.key.subject == subject && trial.outcome.kind == OutcomeKind::Measured
            };
            let totals = || {
                let trials = self.trials.iter().filter(measured);
                trials.filter_map(|trial| Some(&trial.loaded.as_ref()?.recording.total))
            };
            let sum = |of: fn(&load::Tally) -> u64| totals().map(of).sum::<u64>() as f64;
            let of = sum(|total| total.attempted);
            let times = |is_wrong: bool| -> f64 {
                let all = Failure::ALL.into_iter().filter(|it| !it.is_own());
                let all = all.filter(|it| it.is_wrong_content() == is_wrong);
                all.map(|it| totals().map(|total| total.failures(it)).sum::<u64>() as f64).sum()
            };
            if of == 0.0 {
                continue;
            }
            match (times(true), times(false)) {
                (0.0, 0.0) => {}
                (0.0, failed) if failed <= 0.01 * of => told.tolerated.push(name.clone()),
                _ => told.failing.push(name.clone()),
            }
            let rows = findings.board.tables.iter().flat_map(|table| &table.rows);
            let mut verdicts =
                rows.filter(|row| row.subject == subject).map(analysis::Row::verdict);
            if verdicts.any(|verdict| verdict == Some(analysis::Verdict::Invalid)) {
                told.invalid.push(name.clone());
            }
            if self.is_open {
                told.on_time
                    .push((name.clone(), sum(|total| total.on_time) / sum(|total| total.due)));
            }
        }
        let placed = findings.board.tables.first().map_or(Vec::new(), analysis::Table::bests);
        let last_rank = placed.iter().filter_map(|placed| placed.rank).max();
        let last = placed.iter().filter(|placed| placed.rank == last_rank && last_rank.is_some());
        told.last = last.map(|placed| findings.title(&placed.row.subject).into()).collect();
        told
    }

    /// Its sentence, what is true, and with its JSON if that is wanted.
    fn says(&self, wants_json: bool) -> (Told, Option<Value>) {
        let findings = Findings::of(&7, &self.record, &self.trials, Vec::new());
        let side = |subject| Side { findings: &findings, subject: Some(subject) };
        let compared = || Compared::of(side("quick"), side("evil"), Gate::default());
        let names = SIDES.iter().zip(["A", "B", ""]).take(self.sides);
        let names: Vec<String> = names
            .map(|((_, title), side)| match self.kind {
                "compare" => format!("{side} ({title})"),
                _ => (*title).into(),
            })
            .collect();
        let document = (self.kind == "compare").then(|| compared().document());
        let sentence = match &document {
            Some(document) => document.answer.join(" "),
            None => sentence::all(&findings).join(" "),
        };
        let json = wants_json.then(|| match self.kind {
            "race" => race::json::of(&findings),
            "run" => findings.json(),
            _ => compared().json(),
        });
        let json = json.map(|text| serde_json::from_str(&text.unwrap()).unwrap());
        let mut told = self.told(sentence, &names, &findings);
        if let Some(document) = &document {
            told.worse = figures_that_are("worse", document);
            told.open = figures_that_are("cannot tell", document);
        }
        (told, json)
    }
}

/// The figures of which a comparison's tables say this.
fn figures_that_are(word: &str, document: &Document) -> Vec<String> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let tables = blocks.filter_map(|block| match block {
        Block::Table(table) => Some(table),
        Block::Heading(_)
        | Block::Paragraph(_)
        | Block::Entries(_)
        | Block::Facts(_)
        | Block::Drawing(_)
        | Block::Fold(_) => None,
    });
    let rows = tables.flat_map(|table| &table.views[0].rows);
    let of_word = rows.filter(|row| row.cells.last().is_some_and(|cell| cell.text == word));
    of_word.map(|row| row.cells[0].text.clone()).collect()
}

/// Every number of a document, as it may stand in a sentence: estimates and ratios with their intervals, counts also as
/// shares of one another within one object.
fn stated(of: &Value, name: &str, into: &mut Vec<Stated>) {
    let plain = |value: f64| Stated { value, ..Stated::default() };
    match of {
        Value::Object(fields) => {
            if of["value"].is_number() {
                let mut exact = estimate(name, of);
                exact.marks.clear();
                into.push(exact);
            }
            into.extend(ratio(of));
            let counts: Vec<f64> =
                fields.values().filter_map(Value::as_u64).map(|it| it as f64).collect();
            for whole in counts.iter().filter(|whole| 0.0 < **whole) {
                into.extend(counts.iter().map(|part| plain(part / whole * 100.0)));
            }
            fields.iter().for_each(|(name, value)| stated(value, name, into));
        }
        Value::Array(all) => all.iter().for_each(|value| stated(value, name, into)),
        Value::Number(number) => {
            let value = number.as_f64().unwrap() * unit(name);
            into.push(plain(value));
            // What is less than 99 % is not shown as 99 %.
            into.extend(
                (98.0..99.0).contains(&value).then(|| plain((value * 100.0).floor() / 100.0)),
            );
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// What doubts, refusals and the like say: it stands in the JSON as it is.
fn texts<'t>(of: &'t Value, into: &mut Vec<&'t str>) {
    match of {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
            Value::String(text) if name == "says" => into.push(text.trim_end_matches('.')),
            value => texts(value, into),
        }),
        Value::Array(all) => all.iter().for_each(|value| texts(value, into)),
        _ => {}
    }
}

/// The figures of a text: a number with its unit and its interval. Rows and rounds that are counted are none.
fn figures(text: &str) -> Vec<String> {
    const UNITS: [&str; 5] = ["%", "ns", "µs", "ms", "s"];
    const COUNTED: [&str; 5] = ["rows", "of", "rounds", "round", "others"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(['(', ')', ',', ';', ':', '.']).to_string();
    let mut all = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let number = bare(word);
        let digits = number.trim_start_matches(['≥', '≤']);
        let next = words.get(place + 1).map_or(String::new(), |word| bare(word));
        let is_row = COUNTED.contains(&next.as_str()) && !number.contains(',') && number.len() < 3;
        let is_row = is_row
            || (next == "rows" || 0 < place && words[place - 1] == "of" && next.starts_with("row"));
        // The end of an interval, which is read with its figure.
        let is_end = 0 < place && words[place - 1] == "to" && word.contains(']');
        if !digits.starts_with(|first: char| first.is_ascii_digit()) || is_row || is_end {
            continue;
        }
        let is_less = 0 < place && bare(words[place - 1]) == "<";
        let less = if is_less { "<" } else { "" };
        let spaced = if UNITS.contains(&next.as_str()) { next.as_str() } else { "" };
        let mut figure = format!("{less}{}{spaced}", number.trim_end_matches("/s"));
        let rest = words[place + 1..].join(" ");
        if let Some(interval) = rest.strip_prefix('[').filter(|_| spaced.is_empty()) {
            figure += &format!(" [{}]", interval.split(']').next().unwrap_or_default());
        }
        all.push(figure);
    }
    all
}

/// The figures of a sentence that its document does not have.
pub(super) fn unknown(sentence: &str, json: &Value) -> Vec<String> {
    let (mut known, mut quoted) = (Vec::new(), Vec::new());
    stated(json, "", &mut known);
    texts(json, &mut quoted);
    // Comparisons that found neither.
    let [all, worse, better] = ["comparisons", "worse", "better"].map(|of| json[of].as_f64());
    let open = all.zip(worse).zip(better).map(|((all, worse), better)| all - worse - better);
    // And pairs that did not count.
    let [tried, counted] = ["pairs_tried", "pairs_counted"].map(|of| json[of].as_f64());
    let others = tried.zip(counted).map(|(tried, counted)| tried - counted);
    known.extend(open.into_iter().chain(others).map(|value| Stated { value, ..Stated::default() }));
    let text = quoted.iter().fold(sentence.to_string(), |text, says| text.replace(says, ""));
    // How far the first is ahead: the ratio of two rates that stand beside it.
    let ahead = text.split("× the rate of").collect::<Vec<_>>();
    let cut: String = ahead
        .iter()
        .enumerate()
        .map(|(place, part)| match place + 1 == ahead.len() {
            true => (*part).to_string(),
            false => part.rsplit_once(' ').map_or("", |(before, _)| before).to_string(),
        })
        .collect();
    let is_unknown = |figure: &String| !known.iter().any(|stated| check(figure, stated).is_ok());
    figures(&cut).into_iter().filter(is_unknown).collect()
}

#[test]
fn no_sentence_of_a_run_a_race_or_a_comparison_contradicts_it_or_itself() {
    let times = times();
    let (mut seen, mut wrong) = (BTreeMap::<&str, u32>::new(), Vec::new());
    for seed in 0..3_000 {
        let made = made(seed, &times);
        // A document takes some milliseconds: one of each kind among twenty of each.
        let wants_json = seed % 20 < 3;
        let (told, json) = made.says(wants_json);
        let (kind, sentence) = (made.kind, &told.sentence);
        let found = said(&told);
        let unknown = json.map_or(Vec::new(), |json| unknown(sentence, &json));
        if !found.is_empty() || !unknown.is_empty() {
            wrong
                .push(format!("{seed}, {kind}: {found:?}, not in the JSON: {unknown:?}: {told:?}"));
        }
        for part in [
            " failed ",
            "answered wrongly",
            "kept up with",
            "did not.",
            "No difference is shown",
            "no difference of the",
            "is fastest",
            "Worse: ",
            "Within ",
            "Cannot tell: ",
            "≥",
            "in doubt",
        ] {
            *seen.entry(part).or_default() += u32::from(sentence.contains(part));
        }
    }
    let first = wrong[..wrong.len().min(20)].join("\n");
    assert!(wrong.is_empty(), "{} of 3,000, by their seeds:\n{first}", wrong.len());
    assert!(seen.values().all(|times| 5 < *times), "each kind is among them: {seen:?}");
}
