//! Holds: experiments, subjects, conditions, monitors, trials. No SQL, no printing.

pub mod experiment;
pub mod record;
