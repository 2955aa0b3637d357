//! What others say of a load of which only the figures are known.

use super::Doubt;
use super::definition::Definition;
use crate::verdict::{Gravity, Verdict};

pub(super) const ALL: &[Definition] = &[STATED];

/// A file that says what a load measured says this of its verdict, with the names of its doubts.
pub(crate) const STATED: Definition = Definition::new("stated", Gravity::Note)
    .graver_as_found("note, suspect or invalid, as the file says")
    .when("`dyno compare` of files: the load was judged so when it was measured")
    .because("only its figures are in the file, not what they were made of")
    .way_out("see what its own report says");

/// A doubt if the file names any, or its verdict is no valid one.
pub(crate) fn stated(verdict: Verdict, ids: &[String]) -> Option<Doubt> {
    let gravity = match verdict {
        Verdict::Valid => Gravity::Note,
        Verdict::Suspect => Gravity::Suspect,
        Verdict::Invalid => Gravity::Invalid,
    };
    let is_any = !ids.is_empty() || verdict != Verdict::Valid;
    is_any.then(|| {
        let says = format!("the load was judged {}: {}", verdict.name(), ids.join(", "));
        Doubt { gravity, stated: ids.to_vec(), ..STATED.found(says) }
    })
}
