//! What something is worth, and how a doubt affects that. A whole is worth what most of its parts are.

use lab::named;
use serde::Serialize;

named! {
    /// What something is worth.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Verdict {
        /// Nothing was found that speaks against it.
        Valid = "valid",
        /// Some of it may not be what it seems; the doubts say what.
        Suspect = "suspect",
        /// It does not answer the question.
        Invalid = "invalid",
    }
}

named! {
    /// How a doubt affects the verdict.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Gravity {
        /// The reader should know it; the numbers stand.
        Note = "note",
        /// Some of the numbers may be wrong, or not the subject's.
        Suspect = "suspect",
        /// The numbers do not answer the question.
        Invalid = "invalid",
    }
}

impl Verdict {
    /// The verdict by the gravest doubt.
    #[must_use]
    pub fn by(gravities: impl Iterator<Item = Gravity>) -> Verdict {
        match gravities.max() {
            None | Some(Gravity::Note) => Verdict::Valid,
            Some(Gravity::Suspect) => Verdict::Suspect,
            Some(Gravity::Invalid) => Verdict::Invalid,
        }
    }

    /// The verdict on a whole: invalid if most of its parts are, suspect if any is less than valid; none without parts.
    #[must_use]
    pub fn of_parts(parts: &[Verdict]) -> Option<Verdict> {
        let worst = parts.iter().max()?;
        let invalid = parts.iter().filter(|part| **part == Verdict::Invalid).count();
        Some(match worst {
            Verdict::Invalid if parts.len() < 2 * invalid => Verdict::Invalid,
            Verdict::Invalid | Verdict::Suspect => Verdict::Suspect,
            Verdict::Valid => Verdict::Valid,
        })
    }
}
