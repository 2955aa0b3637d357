//! Runs that were kept: read back from the store, compared, left as pages, served to a browser, and deleted.

pub mod history;
pub mod keep;
pub mod kept;
pub mod page;
pub mod removal;
pub mod view;
