//! What the rule of `dyno gate` does, over simulated pairs: `make gate-truth`. It prints the bounds of
//! `crates/analysis/src/gate/bound.rs` and the tables of results/error-rates.md.
#![allow(clippy::print_stdout)] // a program for its author

mod simulated;

use analysis::gate::{Answer, LOOKS, MOST, Rule, Unclear, decided, least_shown};
use load::Chance;
use simulated::{Law, bounds, noise, of_builds};

const SEED: u64 = 19;
const PATHS: usize = 4_000_000;
const GATES: usize = 10_000;

/// The laws of the tables, with their names there.
const LAWS: [(Law, &str); 5] = [
    (Law::Normal, "normal"),
    (Law::HeavyTails, "Student's t, 3 degrees"),
    (Law::OneInTen, "one in ten × 3"),
    (Law::AlikeSlices, "slices alike, 0.5"),
    (Law::AlikePairs, "pairs alike, 0.5"),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |what: &str| asked.is_empty() || asked.iter().any(|it| it == what);
    if is_asked("bounds") {
        for level in [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2] {
            let found = bounds(level, &LOOKS, PATHS, SEED);
            let found: Vec<String> = found.iter().map(|bound| format!("{bound:.3}")).collect();
            println!("    [{}], // {level}", found.join(", "));
        }
        println!("above this, one in ten correlations of neighbours lies: {:?}", tenths());
    }
    if is_asked("errors") {
        errors();
    }
    if is_asked("builds") {
        several_builds();
    }
}

/// For each look, the ninth of ten quantiles of the correlation of neighbours that know nothing of one another.
fn tenths() -> Vec<f64> {
    let mut chance = Chance::new(SEED);
    // The fewest builds are five.
    [5].iter().chain(&LOOKS).map(|&count| tenth(count, &mut chance)).collect()
}

/// The correlation that one series in ten of so many independent values exceeds.
fn tenth(count: usize, chance: &mut Chance) -> f64 {
    let mut found: Vec<f64> =
        (0..400_000).map(|_| correlation(&noise(Law::Normal, chance, count))).collect();
    found.sort_by(f64::total_cmp);
    (found[found.len() * 9 / 10] * 1_000.0).round() / 1_000.0
}

fn correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / squares
}

/// How often the rule says what, for each law, for a difference to be found that so many pairs just show, that ten
/// show, and for one that is easily shown.
fn errors() {
    println!(
        "| pairs' noise | spread | true | worse | not worse | cannot tell | of these alike | pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let rule = Rule::usual();
    for (law, title) in LAWS {
        for shown_by in [MOST, 10, 6] {
            // The spread of which so many pairs show 5 %.
            let unit = least_shown(0.001, shown_by, rule, rule.alpha).unwrap_or(1.0).ln_1p();
            let spread = 0.001 * rule.detect.ln_1p() / unit;
            for share in [0.0, 0.5, 1.0] {
                row((law, title), rule, spread, share);
            }
        }
    }
}

/// The spread from build to build, and that from pair to pair of one build.
const APART: (f64, f64) = (0.02, 0.01);

/// How often the rule says what where builds differ: of one build of each side, of several whose pairs are counted, and
/// of several that count once.
fn several_builds() {
    println!(
        "| builds | what counts | truly worse by | says worse | not worse | cannot tell | pairs |"
    );
    println!("|---|---|---|---|---|---|---|");
    let usual = Rule::usual();
    let detect = usual.detect.ln_1p();
    for (builds, counts) in [
        (1, None),
        (5, None),
        (5, Some(5)),
        (6, Some(6)),
        (8, Some(8)),
        (10, Some(10)),
        (20, Some(20)),
    ] {
        let rule = Rule { builds: counts, ..usual };
        for share in [0.0, 0.5, 1.0] {
            let found = Answers::of(rule, |chance| {
                let noise = of_builds(Law::Normal, chance, (builds, APART.0, APART.1), MOST);
                noise.iter().map(|it| share * detect + it).collect()
            });
            println!(
                "| {builds} | {} | {:.1} % | {:.2} % | {:.1} % | {:.1} % | {:.1} |",
                if counts.is_some() { "builds" } else { "pairs" },
                100.0 * (share * detect).exp_m1(),
                percent(found.worse),
                percent(found.not_worse),
                percent(GATES - found.worse - found.not_worse),
                found.pairs as f64 / GATES as f64
            );
        }
    }
    for builds in [5, 6, 8, 10, 20] {
        let rule = Rule { builds: Some(builds), ..usual };
        let times = least_shown(0.000_1, builds, rule, rule.alpha).map(|it| it / 0.000_1);
        println!("{builds} builds show {times:.1?} times the spread of a pair");
    }
}

fn row((law, title): (Law, &str), rule: Rule, spread: f64, share: f64) {
    let truth = share * rule.detect.ln_1p();
    let found = Answers::of(rule, |chance| {
        noise(law, chance, MOST).iter().map(|it| truth + spread * it).collect()
    });
    println!(
        "| {} | {:.1} % | {:.1} % | {:.2} % | {:.1} % | {:.1} % | {:.1} % | {:.1} |",
        title,
        100.0 * spread,
        100.0 * truth.exp_m1(),
        percent(found.worse),
        percent(found.not_worse),
        percent(GATES - found.worse - found.not_worse),
        percent(found.alike),
        found.pairs as f64 / GATES as f64
    );
}

/// How many of the gates have which answer, and how many pairs they had in all.
#[derive(Default)]
struct Answers {
    worse: usize,
    not_worse: usize,
    /// No answer, because neighbouring pairs are too alike.
    alike: usize,
    pairs: usize,
}

impl Answers {
    /// Those of gates whose pairs are made so.
    fn of(rule: Rule, mut pairs: impl FnMut(&mut Chance) -> Vec<f64>) -> Answers {
        let (mut chance, mut answers) = (Chance::new(SEED), Answers::default());
        for _ in 0..GATES {
            let Some(found) = decided(&pairs(&mut chance), rule, rule.alpha) else { continue };
            answers.pairs += found.pairs;
            match found.answer {
                Answer::Worse => answers.worse += 1,
                Answer::NotWorse => answers.not_worse += 1,
                Answer::CannotTell(Unclear::Serial) => answers.alike += 1,
                Answer::CannotTell(_) => {}
            }
        }
        answers
    }
}

fn percent(count: usize) -> f64 {
    100.0 * count as f64 / GATES as f64
}
