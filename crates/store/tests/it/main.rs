//! The store through its public functions: what is stored is read back unchanged, whatever happens to the process and
//! the file.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up may stop there

mod crash;
mod damage;
mod findings;
mod foreign;
mod held;
mod holding;
mod made_up;
mod opening;
mod page;
mod profiles;
mod room;
mod round_trip;
mod too_much;
mod transfer;
mod two_dynos;
