//! Experiments, subjects, conditions, monitors, trials. No SQL, no printing.

pub mod amounts;
mod answer;
mod arrival;
pub mod ask;
pub mod build;
pub mod command;
pub mod conditions;
pub mod conformance;
pub mod experiment;
pub mod facts;
pub mod figure;
pub mod history;
pub mod misread;
pub mod monitor;
pub mod namespace;
pub mod need;
pub mod plan;
pub mod probe;
pub mod process;
pub mod record;
pub mod sockets;
pub mod subject;
pub mod trial;
pub mod visit;
pub mod workload;
