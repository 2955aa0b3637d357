//! How often an output names a difference: `make difference-truth`. Simulated trials take the path of a finished race, run
//! and comparison, and the written documents are read. It prints the tables of results/differences.txt.
//!
//! Its arguments are parts of the tables (`race`, `run`, `compare`, `equal`, `found`); `OUTPUTS` is the number of outputs
//! of each cell.
#![allow(clippy::print_stdout)] // a program for its author

mod documents;
mod simulated;

use documents::{KINDS, Kind, said};
use load::Chance;
use report::Findings;
use report::render::Shown;
use report::run::{Compared, OfCommand, Side};
use simulated::{Law, World};

const SEED: u64 = 23;
const OUTPUTS: usize = 10_000;
const SIDES: [usize; 3] = [2, 3, 5];
const ROUNDS: [u32; 3] = [3, 5, 20];
/// The spread of a side's throughput from round to round.
const SPREAD: f64 = 0.03;
const DIFFERENCE: f64 = 1.05;

const LAWS: [(Law, &str); 5] = [
    (Law::Normal, "normal"),
    (Law::LogNormal, "log-normal"),
    (Law::OneInTen, "one in ten × 3"),
    (Law::Drifting, "drifting"),
    (Law::OneNoisy, "one side × 5"),
];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |what: &str, of: &[&str]| {
        let mut named = asked.iter().filter(|it| of.contains(&it.as_str())).peekable();
        named.peek().is_none() || named.any(|it| it == what)
    };
    let outputs = std::env::var("OUTPUTS").ok().and_then(|it| it.parse().ok()).unwrap_or(OUTPUTS);
    for (kind, title) in KINDS {
        if !is_asked(title, &["race", "run", "compare"]) {
            continue;
        }
        for (what, truth) in [("equal", 1.0), ("found", DIFFERENCE)] {
            if is_asked(what, &["equal", "found"]) {
                println!(
                    "{title}, {what}, {outputs} outputs a cell\n\n| rounds | sides | law | headline | any | agrees |"
                );
                println!("|---|---|---|---|---|---|");
                cells(kind, outputs, truth);
                println!();
            }
        }
    }
}

fn cells(kind: Kind, outputs: usize, truth: f64) {
    for rounds in ROUNDS {
        for sides in SIDES {
            for (law, name) in LAWS {
                let world = World { sides, rounds, law, spread: SPREAD, truth };
                let mut chance = Chance::new(SEED);
                let (mut headline, mut any, mut agree) = (0_usize, 0_usize, 0_usize);
                for _ in 0..outputs {
                    let said = said(kind, world, &mut chance);
                    // Of a true difference, whether it is found.
                    let is_last = |place: &usize| truth == 1.0 || is_last(kind, world, *place);
                    headline += usize::from(said.headline.iter().any(is_last));
                    any += usize::from(said.is_any());
                    agree += usize::from(said.agrees);
                }
                let percent = |count: usize| 100.0 * count as f64 / outputs as f64;
                println!(
                    "| {rounds} | {sides} | {name} | {:.2} % | {:.2} % | {:.2} % |",
                    percent(headline),
                    percent(any),
                    percent(agree)
                );
            }
        }
    }
}

/// Whether what differs is the last side. Ranks have it first, because it answers more.
fn is_last(kind: Kind, world: World, place: usize) -> bool {
    match kind {
        Kind::Race => place + 2 == world.sides,
        Kind::Run => place == 1,
        Kind::Compare => place + 1 == world.sides,
    }
}
