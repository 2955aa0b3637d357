//! TLS for every room that connects: what is offered and which certificates are accepted, what was agreed on, and why it failed.
//!
//! It opens no connection. `Connector` begins TLS on connections that belong to others; `Stream` is for those that wait
//! for each answer.

mod choice;
mod client;
mod fault;
mod key;
mod order;
mod sessions;
mod stream;
mod terms;
mod trust;

pub use choice::{GROUPS, SUITES, group, suite};
pub use client::{Client, Connector};
pub use fault::{TlsFault, alpn_reason, fault, reason};
pub use order::{HTTP_1_1, HTTP_2, Offer, Resume, TlsOrder, Trust, Version};
pub use stream::Stream;
pub use terms::{Kind, Terms};
pub use trust::authorities;

/// The library below, for the code that moves the bytes of a connection.
pub use rustls;
