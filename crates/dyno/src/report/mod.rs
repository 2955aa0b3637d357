//! A run as text and as JSON. Computes no number that it prints.

pub(crate) mod evidence;
mod figures;
pub(crate) mod histogram;
pub(crate) mod json;
mod json_findings;
mod json_order;
pub(crate) mod paint;
mod sentence;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod units;
