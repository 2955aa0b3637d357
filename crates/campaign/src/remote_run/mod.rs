//! A run whose servers are on another machine: it takes place there as a whole (`host.rs`); its loads, its events, its
//! store and its page are here (`coordinator.rs`).

mod coordinator;
mod events;
mod files;
mod host;
mod transfer;
mod trust;

pub use coordinator::RemoteRun;
pub use files::files_of;
pub use host::{HostTerms, NO_SEARCH_THERE, serve};
pub use trust::{path as trusted_list, trust};
