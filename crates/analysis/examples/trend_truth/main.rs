//! What `dyno trend` says of simulated series: `make trend-truth`. It prints the table of
//! `crates/analysis/src/trend/needed.rs` and the tables of results/error-rates.md.
#![allow(clippy::print_stdout)] // a program for its author

#[allow(dead_code)] // of the laws of pairs, runs have some
#[path = "../gate_truth/simulated.rs"]
mod pairs;
mod simulated;

use std::ops::Range;

use analysis::trend::{
    BEFORE, LOOKS, SEGMENT, SHARES, SHORTEST, SIZES, TRIED, announces, courses, is_steadier,
};
use load::Chance;
use simulated::{Law, series};

const SEED: u64 = 19;
const SERIES: usize = 10_000;
/// For each place of the table.
const STEPS: usize = 200;
/// How often a change must be announced after so many runs.
const SURE: f64 = 0.9;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |what: &str| asked.is_empty() || asked.iter().any(|it| it == what);
    if is_asked("needed") {
        table();
    }
    if is_asked("errors") {
        false_alarms();
        families();
        references();
    }
    if is_asked("ever") {
        ever();
    }
    if is_asked("found") {
        found();
    }
}

/// After how many runs of the new level a change is announced in nine of ten series.
fn table() {
    for share in SHARES {
        println!("    [ // {share}");
        for size in SIZES {
            let row = BEFORE.map(|before| fewest(share, size, before));
            let row: Vec<String> = row.iter().map(ToString::to_string).collect();
            println!("        [{}], // {size}", row.join(", "));
        }
        println!("    ],");
    }
}

fn fewest(share: f64, size: f64, before: usize) -> usize {
    // So many may be missed.
    let allowed = (STEPS as f64 * (1.0 - SURE)).round() as usize;
    let is_enough =
        |after: usize| found_in(share, size, [before, after], STEPS, false).nth(allowed).is_none();
    let (mut few, mut enough) = (SEGMENT - 1, SEGMENT);
    while !is_enough(enough) {
        if enough == TRIED {
            return 0;
        }
        (few, enough) = (enough, (enough + 2 * (enough - few)).min(TRIED));
    }
    while few + 1 < enough {
        let middle = usize::midpoint(few, enough);
        match is_enough(middle) {
            true => enough = middle,
            false => few = middle,
        }
    }
    enough
}

/// Of so many series with a step, those in which it is announced, or is not.
fn found_in(
    share: f64,
    size: f64,
    [before, after]: [usize; 2],
    count: usize,
    is_announced: bool,
) -> impl Iterator<Item = usize> {
    let mut chance = Chance::new(SEED);
    (0..count).filter(move |_| {
        let mut values = series(Law::NORMAL, &mut chance, before + after);
        values[before..].iter_mut().for_each(|value| *value += size);
        announces(&values, share) == is_announced
    })
}

/// How often a series announces a change in which there is none.
fn false_alarms() {
    println!("| noise | runs | announce a change |\n|---|---|---|");
    for (law, title) in Law::ALL {
        for runs in [15, 30, 100] {
            let mut chance = Chance::new(SEED);
            let is_alarm = |_: &usize| announces(&series(law, &mut chance, runs), 1.0);
            let alarms = (0..SERIES).filter(is_alarm).count();
            println!("| {title} | {runs} | {:.2} % |", percent(alarms, SERIES));
        }
    }
}

/// How many histories in which nothing changes ever announce a change, where they are looked at after each run.
fn ever() {
    const HISTORIES: usize = 2_000;
    println!("| noise | series | looks | ever announce a change |\n|---|---|---|---|");
    for (law, title) in Law::ALL.into_iter().chain(Law::CORRELATED) {
        for (members, looks) in [(1, LOOKS), (10, LOOKS), (1, 2 * LOOKS)] {
            let runs = SHORTEST..SHORTEST + looks;
            let mut chance = Chance::new(SEED);
            let alarms = (0..HISTORIES).filter(|_| alarms_ever(law, &mut chance, members, &runs));
            let percent = percent(alarms.count(), HISTORIES);
            println!("| {title} | {members} | {looks} | {percent:.2} % |");
        }
    }
}

/// Whether any of a history's series announces a change at any of its lengths.
fn alarms_ever(law: Law, chance: &mut Chance, members: u32, runs: &Range<usize>) -> bool {
    let all: Vec<Vec<f64>> = (0..members).map(|_| series(law, chance, runs.end - 1)).collect();
    // The first step of the method of Holm, as no other follows where it finds nothing.
    let share = 1.0 / f64::from(members);
    all.iter().any(|logs| runs.clone().any(|runs| announces(&logs[..runs], share)))
}

/// How often any of several series does.
fn families() {
    const FAMILIES: usize = 2_000;
    for members in [5, 20] {
        let mut chance = Chance::new(SEED);
        let alarms = (0..FAMILIES).filter(|_| family_alarms(members, &mut chance)).count();
        println!("{members} series of 30 runs: any announces {:.2} %", percent(alarms, FAMILIES));
    }
}

/// Whether any of so many series without a change announces one.
fn family_alarms(members: usize, chance: &mut Chance) -> bool {
    let all: Vec<Vec<f64>> =
        (0..members).map(|_| values(&series(Law::NORMAL, chance, 30))).collect();
    courses(&all).iter().any(|course| !course.shifts.is_empty())
}

fn values(logs: &[f64]) -> Vec<f64> {
    logs.iter().map(|log| (0.02 * log).exp()).collect()
}

/// How often a change is announced where the figure or its ratio to a reference is chosen by their spreads.
fn references() {
    let mut chance = Chance::new(SEED);
    let alarms = (0..SERIES).filter(|_| steadier_alarms(&mut chance)).count();
    println!("the steadier of figure and ratio, 30 runs: {:.2} %", percent(alarms, SERIES));
}

/// Whether the steadier of a figure and its ratio to a reference announces a change.
fn steadier_alarms(chance: &mut Chance) -> bool {
    // What both have in common has as much spread as each by itself.
    let [both, one, other] = [(); 3].map(|()| series(Law::NORMAL, chance, 30));
    let sum = |side: &[f64]| -> Vec<f64> { both.iter().zip(side).map(|(a, b)| a + b).collect() };
    let (figure, reference) = (sum(&one), sum(&other));
    let ratio: Vec<f64> = figure.iter().zip(&reference).map(|(a, b)| a - b).collect();
    let used = if is_steadier(&values(&ratio), &values(&figure)) { ratio } else { figure };
    announces(&used, 1.0)
}

/// How often steps are announced after as many runs as are said to be needed.
fn found() {
    println!("| step, in standard deviations | runs before | runs of the new level | announced |");
    println!("|---|---|---|---|");
    for size in SIZES {
        for before in [10, 20, 40] {
            let after = fewest(1.0, size, before);
            if after == 0 {
                println!("| {size} | {before} | more than {TRIED} | |");
                continue;
            }
            let found = found_in(1.0, size, [before, after], SERIES, true).count();
            println!("| {size} | {before} | {after} | {:.1} % |", percent(found, SERIES));
        }
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}
