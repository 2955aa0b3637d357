//! What written documents say of equal servers, and of one that is faster: a small sample of `make difference-truth`.

use load::Chance;

use super::*;

#[path = "../../../examples/difference_truth/documents.rs"]
mod documents;
#[path = "../../../examples/difference_truth/simulated.rs"]
mod simulated;

use documents::{KINDS, Said, said};
use simulated::{Law, World};

/// How many documents of each kind are read.
const OUTPUTS: usize = 150;

const LAWS: [Law; 5] = [Law::Normal, Law::LogNormal, Law::OneInTen, Law::Drifting, Law::OneNoisy];

fn world(number: usize, truth: f64) -> World {
    World { sides: 3, rounds: 3, law: LAWS[number % LAWS.len()], spread: 0.015, truth }
}

#[test]
fn documents_of_equal_servers_seldom_name_a_difference_and_never_contradict_themselves() {
    for (kind, name) in KINDS {
        let mut chance = Chance::new(31);
        let all: Vec<Said> =
            (0..OUTPUTS).map(|number| said(kind, world(number, 1.0), &mut chance)).collect();
        let named = all.iter().filter(|said| said.is_any()).count();
        // 5 %, and three standard errors.
        assert!(named <= OUTPUTS / 20 + 8, "{name}: {named} of {OUTPUTS}");
        let wrong = all.iter().find(|said| !said.agrees);
        assert_eq!(wrong, None, "{name}");
    }
}

#[test]
fn documents_name_a_server_that_is_faster_and_say_so_in_words_and_figures() {
    for (kind, name) in KINDS {
        let mut chance = Chance::new(32);
        let all: Vec<Said> =
            (0..OUTPUTS / 3).map(|_| said(kind, world(0, 1.6), &mut chance)).collect();
        let found = all.iter().filter(|said| !said.headline.is_empty()).count();
        assert!(OUTPUTS / 3 * 9 / 10 <= found, "{name}: {found}");
        let wrong = all.iter().find(|said| !said.agrees);
        assert_eq!(wrong, None, "{name}");
    }
}
