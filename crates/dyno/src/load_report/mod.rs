//! A run as text and as JSON. Computes no number that it prints.

pub(crate) mod document;
pub(crate) mod histogram;
pub(crate) mod json;
mod sentence;
