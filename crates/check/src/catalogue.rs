//! All cases, with the version and the hash that say whether two checks can be compared.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::finding::Stamp;

/// Raised by hand when a case is added, changed or removed.
const VERSION: &str = "1.1";

/// The ten cheapest cases; they are run before and after a load.
pub const CHEAP: [&str; 10] = [
    "H1-B01", "H1-B03", "H1-B04", "H1-A10", "H1-C01", "H1-C03", "H1-H01", "H1-L01", "H1-T01",
    "H1-V01",
];

/// The table that the build makes of the files in `catalogue`.
mod table {
    use std::time::Duration;

    use crate::case::{Area, Case, Clause, Level, Need, Scheduling, Tag};
    use crate::h2::{Act, Hello, Piece, Sign};
    use crate::script::{Crowd, Rule, Step, Then, Trickle};

    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

/// Every case, in the order in which they are listed.
#[must_use]
pub fn catalogue() -> &'static [Case] {
    table::CASES
}

#[must_use]
pub fn case(id: &str) -> Option<&'static Case> {
    catalogue().iter().find(|case| case.id == id)
}

#[must_use]
pub fn stamp() -> Stamp {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let mut hash = Sha256::new();
        for case in catalogue() {
            hash.update(described(case));
        }
        units::hex(&hash.finalize()[..4])
    });
    Stamp { version: VERSION.into(), hash: HASH.clone() }
}

/// Everything in a case that decides what a server scores. A rule that is a function counts by its words.
fn described(case: &Case) -> String {
    let words = |rules: &[crate::script::Rule]| crate::script::joined(rules, "|");
    let steps: Vec<String> = case.steps.iter().map(|step| format!("{step:?}")).collect();
    format!(
        "{}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{}\n{}\n{}\n{}\n\n",
        case.id,
        case.level,
        case.weight,
        case.tags,
        case.twin,
        (case.needs, case.scheduling, case.limit, words(case.applies)),
        steps.join("|"),
        case.answers,
        words(case.pass),
        words(case.warn),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Rule;
    use crate::{h1, h2, ws};

    /// Whether the rule can hold only if the server did what was requested.
    fn demands_success(rule: &Rule) -> bool {
        match rule {
            Rule::Ok
            | Rule::Echo(_)
            | Rule::Successes(_)
            | Rule::Opened
            | Rule::Pong(_)
            | Rule::Said(_) => true,
            Rule::Http2(sign) => sign.is_success(),
            Rule::All(rules) => rules.iter().any(demands_success),
            Rule::Any(rules) => rules.iter().all(demands_success),
            // Any other rule counts as a refusal, and needs a twin.
            _ => false,
        }
    }

    fn waits(rule: &Rule) -> bool {
        match rule {
            Rule::Waits => true,
            Rule::All(rules) | Rule::Any(rules) => rules.iter().any(waits),
            _ => false,
        }
    }

    #[test]
    fn cases_that_are_named_here_exist() {
        let named = [h1::PASSIVE, h1::STAYING, h2::PASSIVE, h2::STAYING, h2::PLAIN, ws::PASSIVE];
        for id in CHEAP.iter().chain(&named) {
            assert!(case(id).is_some(), "{id} is in no catalogue");
        }
    }

    #[test]
    fn no_text_has_a_gap() {
        for case in catalogue() {
            for text in [case.title, case.demand, case.doubt] {
                assert!(!text.contains("  ") && text == text.trim(), "{}: {text}", case.id);
            }
        }
    }

    #[test]
    fn silence_never_passes_and_a_refusal_has_a_twin() {
        for case in catalogue().iter().filter(|case| !case.steps.is_empty()) {
            assert!(!case.pass.is_empty(), "{} cannot pass", case.id);
            assert!(!case.pass.iter().any(waits), "{} passes by a time-out", case.id);
            let is_refusal = !case.pass.iter().all(demands_success);
            assert!(!is_refusal || case.twin.is_some(), "{} is a refusal without a twin", case.id);
        }
    }

    #[test]
    fn a_twin_is_a_case_that_is_accepted_and_needs_no_more_than_its_own() {
        for case in catalogue() {
            let Some(id) = case.twin else { continue };
            let twin = super::case(id).unwrap();
            let can_fail = twin.pass.iter().any(demands_success);
            assert!(can_fail, "{}: its twin {id} is no well-formed request", case.id);
        }
    }
}
