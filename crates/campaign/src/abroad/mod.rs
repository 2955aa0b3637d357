//! A run whose servers are on another machine: it takes place there as a whole (`there.rs`); its loads, its events, its
//! store and its page are here (`here.rs`).

mod files;
mod here;
mod sealed;
mod telling;
mod there;
mod trust;

pub use files::files_of;
pub use here::{Abroad, Begun};
pub use there::{HostTerms, NO_SEARCH_THERE, serve};
pub use trust::{path as trusted_list, trust};
