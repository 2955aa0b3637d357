//! An audit of what others measured: as a document, and as JSON.

mod document;
pub(crate) mod json;
mod words;

pub use document::document;
pub use json::json;

#[cfg(test)]
mod tests;
