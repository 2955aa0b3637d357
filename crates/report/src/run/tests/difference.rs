//! What written documents say of equal servers, and of one that is faster: a small sample of `make difference-truth`.

use analysis::Gate;
use load::Chance;

use super::*;

#[path = "../../../examples/difference_truth/documents.rs"]
mod documents;
#[path = "../../../examples/difference_truth/simulated.rs"]
mod simulated;

use documents::Said;
use simulated::{Law, World};

/// How many documents of each kind are read.
const OUTPUTS: usize = 150;

fn parsed(text: serde_json::Result<String>) -> serde_json::Value {
    serde_json::from_str(&text.unwrap()).unwrap()
}

fn of_race(world: World, chance: &mut Chance) -> Said {
    let (run, trials) = simulated::run(world, true, chance);
    documents::race(&parsed(race::json::of(&Findings::of(&1, &run, &trials, Vec::new()))))
}

fn of_run(world: World, chance: &mut Chance) -> Said {
    let (run, trials) = simulated::run(world, false, chance);
    documents::run(&json(&Findings::of(&1, &run, &trials, Vec::new())))
}

fn of_comparison(world: World, chance: &mut Chance) -> Said {
    let (run, trials) = simulated::run(world, false, chance);
    let (other, before) = simulated::run(World { truth: 1.0, ..world }, false, chance);
    let b = Findings::of(&1, &run, &trials, Vec::new());
    let a = Findings::of(&2, &other, &before, Vec::new());
    let [a, b] = [&a, &b].map(|findings| Side { findings, subject: None });
    let gate = Gate { tolerance: 0.0, ..Gate::default() };
    documents::compare(&parsed(Compared::of(a, b, gate).json()))
}

type Read = fn(World, &mut Chance) -> Said;
const READ: [(&str, Read); 3] = [("race", of_race), ("run", of_run), ("comparison", of_comparison)];

const LAWS: [Law; 5] = [Law::Normal, Law::LogNormal, Law::OneInTen, Law::Drifting, Law::OneNoisy];

fn world(number: usize, truth: f64) -> World {
    World { sides: 3, rounds: 3, law: LAWS[number % LAWS.len()], spread: 0.015, truth }
}

#[test]
fn documents_of_equal_servers_seldom_name_a_difference_and_never_contradict_themselves() {
    for (kind, read) in READ {
        let mut chance = Chance::new(31);
        let all: Vec<Said> =
            (0..OUTPUTS).map(|number| read(world(number, 1.0), &mut chance)).collect();
        let named = all.iter().filter(|said| said.is_any()).count();
        // 5 %, and three standard errors.
        assert!(named <= OUTPUTS / 20 + 8, "{kind}: {named} of {OUTPUTS}");
        let wrong = all.iter().find(|said| !said.agrees);
        assert_eq!(wrong, None, "{kind}");
    }
}

#[test]
fn documents_name_a_server_that_is_faster_and_say_so_in_words_and_figures() {
    for (kind, read) in READ {
        let mut chance = Chance::new(32);
        let all: Vec<Said> = (0..OUTPUTS / 3).map(|_| read(world(0, 1.6), &mut chance)).collect();
        let found = all.iter().filter(|said| !said.headline.is_empty()).count();
        assert!(OUTPUTS / 3 * 9 / 10 <= found, "{kind}: {found}");
        let wrong = all.iter().find(|said| !said.agrees);
        assert_eq!(wrong, None, "{kind}");
    }
}
