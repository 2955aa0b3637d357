//! dyno-nats as its users start it, with a real nats-server. Skipped loudly where that is not installed.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "in a test that is how it fails")]

mod carrying;
mod hostile;
mod keys;
mod rig;
mod trouble;
