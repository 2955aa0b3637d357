//! HTTP/1.1: what only some cases ask of its answers. The cases are in `catalogue/http1`.

pub(crate) mod answers;
pub(crate) mod conditions;
pub(crate) mod connections;
pub(crate) mod methods;
pub(crate) mod slow;

/// The passive case: it sends nothing and judges every answer that was seen.
pub(crate) const PASSIVE: &str = "H1-V02";

/// Another case that sends nothing: it checks whether the server was there all the time.
pub(crate) const STAYING: &str = "H1-E06";
