//! A run whose servers are on another machine: it takes place there as a whole, and its loads are carried out from here.

mod carry;
mod desk;
mod line;
mod place;
mod relay;
mod tether;

pub use crate::carrier::child::plain;
pub use crate::identity::host_name as machine_name;
pub use carry::{Carried, Seen, Terms, carry_out};
pub use desk::{Desk, desk_facts};
pub use line::HostLine;
pub use place::ServersOn;
pub use post::{Host, ProjectFiles, RunOrder, TrustedFolder};
pub use relay::Relayed;
pub use tether::{Load, Tether, Vitals};
