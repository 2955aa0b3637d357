//! A run whose servers are on another machine: it takes place there as a whole, and its loads are carried out from here.

mod host_session;
mod ordered_loads;
mod place;
mod relay;
mod remote_session;
mod sole_agent;

pub use crate::carrier::child::plain;
pub use crate::identity::host_name as machine_name;
pub use host_session::HostSession;
pub use ordered_loads::{Carried, Terms, carry_out};
pub use place::ServersOn;
pub use post::{Host, ProjectFiles, RunOrder, TrustedFolder};
pub use relay::Relayed;
pub use remote_session::{Load, RemoteSession, Vitals};
pub use sole_agent::{SoleAgent, load_host_facts};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What both ends of the lines share with their threads. A thread that has panicked has left nothing half done.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
