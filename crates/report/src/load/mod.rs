//! A single load as text and as JSON: what was ordered, what was measured, and what it is worth.

mod answers;
mod details;
pub mod file;
pub(crate) mod finished;
pub(crate) mod json;
pub(crate) mod known;
pub mod like;
mod openmetrics;
pub mod order_text;
pub(crate) mod page;
pub(crate) mod repeat;
mod requirements;
pub(crate) mod sentence;
pub(crate) mod slice;
pub mod terms;
mod verdict;

pub use finished::{Costs, FinishedLoad, Queue, RequestSummary};
pub(crate) use json::json;
pub use like::Tool;
pub use openmetrics::Totals;
pub(crate) use repeat::{first_json, repeated_json};
pub(crate) use requirements::required;
pub use slice::Slice;
pub use verdict::weigh;

#[cfg(test)]
pub(crate) mod fixture;

#[cfg(test)]
mod tests;
