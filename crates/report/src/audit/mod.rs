//! An audit of what others measured: as a document, and as JSON.

mod document;
mod explanation;
pub(crate) mod json;

use audit::Audit;

use crate::document::Document;
use crate::json::written;
use crate::render::Shown;

impl Shown for Audit {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&json::AuditDocument::from(self))
    }
}

#[cfg(test)]
mod tests;
