//! Why something was not done, in a sentence that ends with the way out.

use std::fmt;

/// Why a command was not carried out. It ends with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    pub fn new(says: impl Into<String>) -> Refusal {
        Refusal(says.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<store::StoreError> for Refusal {
    fn from(error: store::StoreError) -> Refusal {
        Refusal::new(error.to_string())
    }
}
