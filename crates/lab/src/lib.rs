//! Experiments, subjects, plans and trials. No SQL, no printing.

pub mod amounts;
mod arrival;
pub mod ask;
pub mod build;
pub mod checked;
pub mod command;
pub mod conformance;
pub mod experiment;
pub mod figure;
pub mod history;
pub mod hold;
pub mod identity;
mod location;
pub mod manner;
pub mod need;
pub mod pattern;
pub mod plain_words;
pub mod plan;
pub mod probe;
pub mod record;
mod refusal;
mod request_parts;
pub mod schedule;
pub mod search_goal;
pub mod service;
pub mod source_file;
pub mod subject;
pub mod trial;
pub mod visit;
pub mod workload;

pub use refusal::Refusal;
pub use units::named;
