//! Stores every run and every trial in one SQLite file. No arithmetic, no printing.
//!
//! A record becomes rows (`run_rows`, `conformance_rows`, `trial_rows`), by its columns (`columns`), and JSON texts in
//! rows (`bodies`); the rows are sealed (`seal`, `sealed`) and written (`ledger`). Reading goes the same way backwards. `foreign` bounds what a file
//! from elsewhere may cost. Only `foreign`, `ledger`, `opening`, `sealed`, `conformance`, `profiles` and `store`
//! contain SQL.

mod bodies;
mod cell;
mod columns;
mod conformance;
mod conformance_rows;
mod error;
mod foreign;
mod identity;
mod ledger;
mod opening;
pub mod plain;
mod profiles;
mod run;
mod run_rows;
mod seal;
mod sealed;
mod space;
mod store;
mod table;
mod trial_rows;

pub use error::{Fault, StoreError};
pub use run::{RunEnd, RunId, RunSummary};
pub use store::{Damage, Extent, Imported, Kept, Portion, Store};
