//! What all documents for programs share: the words, the units, the histograms. docs/json.md and the schemas beside it
//! are made from these types.

mod conformance;
mod distribution;
mod figures;
pub(crate) mod typed;

use serde::Serialize;

pub use conformance::{AreaJson, FindingJson, ProtocolJson, TallyJson, escaped};
pub(crate) use distribution::distribution;
pub use distribution::{DistributionJson, bounds};
pub use figures::{ByFigure, figure_values};
pub(crate) use typed::json_type;

json_type! {
    /// What was checked of the answers.
    pub(crate) struct CheckedJson as "checked" of it: lab::checked::Checked {
        /// it, in a sentence
        sentence: String = crate::number_format::checked(it),
        /// whole answers to measured requests
        answers: u64,
    }
}

/// The document as text, with a line end.
pub fn written(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| text + "\n")
}
