//! What others say of a load of which only the figures are known.

use super::definition::{Weight, family};
use crate::verdict::{Gravity, Verdict};

family! {
    /// What a file says.
    StatedDoubt;

    /// A file that says what a load measured says this of its verdict, with the names of its doubts.
    Stated { verdict: Verdict, ids: Vec<String> }
    id: "stated",
    gravity: Weight::ByData(
        match verdict {
            Verdict::Valid => Gravity::Note,
            Verdict::Suspect => Gravity::Suspect,
            Verdict::Invalid => Gravity::Invalid,
        },
        "note, suspect or invalid, as the file says",
    ),
    when: "`dyno compare` of files: the load was judged so when it was measured",
    because: "only its figures are in the file, not what they were made of",
    says: format!("the load was judged {}: {}", verdict.name(), ids.join(", ")),
    way_out: "see what its own report says",
    examples: [{ verdict: Verdict::Suspect, ids: vec!["failures".into()] }],
}

/// A doubt if the file names any, or its verdict is no valid one.
pub(crate) fn stated(verdict: Verdict, ids: &[String]) -> Option<StatedDoubt> {
    let is_any = !ids.is_empty() || verdict != Verdict::Valid;
    is_any.then(|| StatedDoubt::Stated { verdict, ids: ids.to_vec() })
}
