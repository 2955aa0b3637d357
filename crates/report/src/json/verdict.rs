//! What figures are worth, and why, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// What figures are worth, and why.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "verdict")]
pub struct VerdictJson {
    /// valid, suspect or invalid; null before anything was measured
    #[schemars(extend("enum" = ["valid", "suspect", "invalid", null]))]
    pub word: Option<&'static str>,
    /// why it is no better, the gravest first
    pub doubts: Vec<DoubtJson>,
}

/// One reason for doubt.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "doubt")]
pub struct DoubtJson {
    /// its stable name; validity.md has its threshold
    pub id: &'static str,
    /// note, suspect or invalid
    #[schemars(extend("enum" = ["note", "suspect", "invalid"]))]
    pub gravity: &'static str,
    /// the reason in words, with its figures
    pub says: String,
    /// the way out
    pub what_to_do: String,
    /// in how many rounds it was found; null where it is not about a row
    pub rounds: Option<usize>,
    /// how many rounds were run; null where it is not about a row
    pub of: Option<usize>,
}

impl DoubtJson {
    pub fn new(
        id: &'static str,
        gravity: analysis::Gravity,
        says: String,
        what_to_do: impl Into<String>,
    ) -> DoubtJson {
        let what_to_do = what_to_do.into();
        DoubtJson { id, gravity: gravity.name(), says, what_to_do, rounds: None, of: None }
    }
}
