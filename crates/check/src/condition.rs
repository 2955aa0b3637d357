//! Conditions: questions to an exchange that have a name, by which the files of the catalogue ask them. Each stands in
//! a table beside the functions that answer it.

use crate::observation::Observation;
use crate::script::Rule;
use crate::{h1, h2, ws};

/// A question, its name, and what is wanted in words.
pub(crate) struct Condition {
    name: &'static str,
    words: &'static str,
    holds: fn(&Observation) -> bool,
}

/// A row of a table of conditions.
pub(crate) const fn when(
    name: &'static str,
    words: &'static str,
    holds: fn(&Observation) -> bool,
) -> Condition {
    Condition { name, words, holds }
}

const TABLES: &[&[Condition]] = &[
    OF_THE_ROUND,
    h1::answers::CONDITIONS,
    h1::conditions::CONDITIONS,
    h1::connections::CONDITIONS,
    h1::methods::CONDITIONS,
    h1::slow::CONDITIONS,
    h2::CONDITIONS,
    ws::CONDITIONS,
];

/// What the cases that send nothing ask. No exchange answers them: the whole round does.
const OF_THE_ROUND: &[Condition] = &[
    when("every_answer_well_formed", "every answer well-formed", |_| false),
    when("every_frame_well_formed", "no frame that breaks a rule", |_| false),
    when("alive_after_every_case", "a plain request answered after every case", |_| false),
];

/// The rule of the condition with this name. The compiler looks for it, and stops with these words if there is none.
pub(crate) const fn named(name: &str, unknown: &'static str) -> Rule {
    let mut table = 0;
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let condition = &TABLES[table][row];
            if is_same(condition.name.as_bytes(), name.as_bytes()) {
                return Rule::When(condition.words, condition.holds);
            }
            row += 1;
        }
        table += 1;
    }
    panic!("{}", unknown)
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_condition_has_a_name_of_its_own() {
        let mut names = HashSet::new();
        for condition in TABLES.iter().copied().flatten() {
            assert!(names.insert(condition.name), "{} is there twice", condition.name);
            let Rule::When(words, _) = named(condition.name, "") else { panic!("no condition") };
            assert_eq!(words, condition.words);
        }
    }

    #[test]
    #[should_panic(expected = "http1/host.toml:7: unknown rule `has_hots`")]
    fn a_rule_that_is_neither_known_nor_a_condition_stops_the_build() {
        let _ = named("has_hots", "http1/host.toml:7: unknown rule `has_hots`");
    }
}
