//! Holds: experiments, subjects, conditions, monitors, trials. No SQL, no printing.

pub mod amounts;
mod answer;
pub mod ask;
pub mod command;
pub mod experiment;
pub mod misread;
pub mod need;
pub mod plan;
pub mod record;
pub mod subject;
pub mod workload;
