//! All cases, with the version and the hash by which two checks can be compared.

use std::fmt;
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::{h1, ws};

/// Raised by hand when a case is added, changed or taken away.
const VERSION: &str = "1.0";

/// The ten cases that cost least; they are asked before and after a load.
pub const CHEAP: [&str; 10] = [
    "H1-B01", "H1-B03", "H1-B04", "H1-A10", "H1-C01", "H1-C03", "H1-H01", "H1-L01", "H1-T01",
    "H1-V01",
];

/// Which catalogue: scores by different ones are not comparable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// `1.0`.
    pub version: String,
    /// Eight hexadecimal digits of all that decides.
    pub hash: String,
}

impl fmt::Display for Stamp {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "{} ({})", self.version, self.hash)
    }
}

/// Every case, in the order in which they are told.
#[must_use]
pub fn catalogue() -> &'static [Case] {
    static CATALOGUE: LazyLock<Vec<Case>> = LazyLock::new(|| {
        h1::CASES.iter().chain(ws::CASES).flat_map(|it| it.iter().copied()).collect()
    });
    &CATALOGUE
}

/// The case of this id.
#[must_use]
pub fn case(id: &str) -> Option<&'static Case> {
    catalogue().iter().find(|case| case.id == id)
}

/// This catalogue's.
#[must_use]
pub fn stamp() -> Stamp {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let mut hash = Sha256::new();
        for case in catalogue() {
            hash.update(deciding(case));
        }
        hash.finalize().iter().take(4).map(|octet| format!("{octet:02x}")).collect()
    });
    Stamp { version: VERSION.into(), hash: HASH.clone() }
}

/// All of a case that decides what a server scores. A question that is a function counts by its words.
fn deciding(case: &Case) -> String {
    let words = |rules: &[crate::script::Rule]| crate::judge::joined(rules, "|");
    let steps: Vec<String> = case.steps.iter().map(|step| format!("{step:?}")).collect();
    format!(
        "{}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{}\n{}\n{}\n{}\n\n",
        case.id,
        case.level,
        case.weight,
        case.tags,
        case.twin,
        (case.needs, case.pace, case.limit, words(case.applies)),
        steps.join("|"),
        case.answers,
        words(case.pass),
        words(case.warn),
    )
}
