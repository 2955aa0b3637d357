//! An audit of what others measured: as a document, and as JSON.

mod document;
mod explanation;
pub(crate) mod json;

use audit::Audit;

use crate::document::Document;
use crate::render::Shown;

pub use document::document;
pub use json::json;

impl Shown for Audit {
    fn document(&self) -> Document {
        document(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        json(self)
    }
}

#[cfg(test)]
mod tests;
