//! Why something was not done, in a sentence that ends with the way out.

use std::error::Error;
use std::fmt;
use std::path::Path;

/// Why a command was not carried out. It ends with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    pub fn new(says: impl Into<String>) -> Refusal {
        Refusal(says.into())
    }

    /// Of a file or a folder.
    pub fn at(path: &Path, why: impl fmt::Display) -> Refusal {
        Refusal(format!("{}: {why}", path.display()))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// For errors that name the file and the way out themselves, as those of our own rooms do.
impl<E: Error> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal(error.to_string())
    }
}
